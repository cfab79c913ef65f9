"""Concept frequencies: counting, files, and refused input."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from captious.core.errors import InputError
from captious.scene import ConceptTable

IMAGES = [[("dog",), ("dog", "brown"), ("dog", "on", "grass")], [("dog",), ("dog",)], [("cat",)], []]


def test_counts_images_not_mentions() -> None:
    table = ConceptTable.of(IMAGES)
    assert table.images == 4
    assert table.counts[("dog",)] == 2
    assert table.uniqueness(("dog",)) == 0.5
    assert table.uniqueness(("dog", "on", "grass")) == 0.75
    assert table.uniqueness(("unicorn",)) == 1.0


def test_round_trip(tmp_path: Path) -> None:
    table = ConceptTable.of(IMAGES)
    table.save(tmp_path / "a.concepts")
    table.save(tmp_path / "b.concepts")
    again = ConceptTable.load(tmp_path / "a.concepts")
    assert (again.images, again.counts, again.digest) == (table.images, table.counts, table.digest)
    assert (tmp_path / "a.concepts").read_bytes() == (tmp_path / "b.concepts").read_bytes()


def test_digest_depends_on_content() -> None:
    assert ConceptTable(4, {("dog",): 2}).digest != ConceptTable(5, {("dog",): 2}).digest


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("hello\n", "not a table of concepts"),
        ('{"format": "other", "version": 1, "images": 3, "concepts": 0}\n', "not a table of concepts"),
        ('{"format": "captious-concepts", "version": 9, "images": 3, "concepts": 0}\n', "version 9"),
        ('{"format": "captious-concepts", "version": 1, "images": 3, "concepts": 1}\nx\tdog\n', "line 2"),
        (
            '{"format": "captious-concepts", "version": 1, "images": 3, "concepts": 1}\n1\ta\tb\tc\td\n',
            "line 2",
        ),
        ('{"format": "captious-concepts", "version": 1, "images": 3, "concepts": 2}\n1\tdog\n', "damaged"),
        (
            '{"format": "captious-concepts", "version": 1, "images": 3, "concepts": 1}\n7\tdog\n',
            "7 of 3 images",
        ),
        ('{"format": "captious-concepts", "version": 1, "images": 0, "concepts": 0}\n', "at least one image"),
    ],
)
def test_bad_files_are_refused(content: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "x.concepts"
    path.write_bytes(gzip.compress(content.encode()))
    with pytest.raises(InputError, match=message) as error:
        ConceptTable.load(path)
    assert str(path) in str(error.value)


def test_no_images_no_table() -> None:
    with pytest.raises(InputError, match="at least one image"):
        ConceptTable.of([])
