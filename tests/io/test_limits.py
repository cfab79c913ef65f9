"""No file fills the memory or hangs a reader. The message names the limit and how to raise it."""

from __future__ import annotations

import gzip
import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from captious.core.errors import InputError
from captious.diversity_analysis.sets.diversity_study import read_human_scores
from captious.io import read
from captious.io.frequency_files import read_frequencies
from captious.io.judgements import load_judgements
from captious.io.object_files import read_objects
from captious.metrics.captions.chair_table import read_table
from captious.metrics.corpus.corpus_word_lists import read_norms
from captious.scene import ConceptTable
from captious.vectors import get
from captious.vectors.bert import read_safetensors

READERS: dict[str, Callable[[Path], object]] = {
    "captions": lambda path: read(path, "references"),
    "document frequencies": lambda path: read_frequencies(path, 10),
    "objects": read_objects,
    "synonyms": read_table,
    "concepts": ConceptTable.load,
    "human scores": read_human_scores,
    "norms": read_norms,
}
JSON = ("captions", "objects", "synonyms", "human scores")


@pytest.mark.parametrize("reader", READERS)
def test_gzip_that_unpacks_to_too_much(reader: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CAPTIOUS_MAX_BYTES", "50k")
    path = tmp_path / "bomb"
    path.write_bytes(gzip.compress(b" " * 1_000_000))
    with pytest.raises(InputError, match=r"unpacks to\) more than 50,000 bytes.*CAPTIOUS_MAX_BYTES"):
        READERS[reader](path)
    path.write_bytes(b" " * 60_000)
    with pytest.raises(InputError, match="CAPTIOUS_MAX_BYTES"):
        READERS[reader](path)


def test_a_bomb_is_stopped_before_it_is_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two hundred parts of 5 MB each, of which only the first few are decompressed."""
    monkeypatch.setenv("CAPTIOUS_MAX_BYTES", "10M")
    path = tmp_path / "bomb.gz"
    path.write_bytes(gzip.compress(bytes(5_000_000)) * 199 + b"\x1f\x8bnot even gzip")
    with pytest.raises(InputError, match="CAPTIOUS_MAX_BYTES"):
        read(path, "references")


@pytest.mark.parametrize("reader", JSON)
@pytest.mark.parametrize("opening", ["[", '{"a":', '{"a":[', '[{"a":"]]]]","b":'])
def test_json_nested_too_deeply(reader: str, opening: str, tmp_path: Path) -> None:
    path = tmp_path / "deep.json"
    path.write_text(opening * 100_000)
    with pytest.raises(InputError, match=r"nested deeper than 100 levels.*CAPTIOUS_MAX_DEPTH"):
        READERS[reader](path)


def test_the_depth_can_be_raised_and_brackets_in_captions_do_not_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "captions.json"
    path.write_text(
        json.dumps([{"image_id": 1, "caption": "[{" * 5_000, "extra": json.loads("[" * 150 + "]" * 150)}])
    )
    with pytest.raises(InputError, match="CAPTIOUS_MAX_DEPTH"):
        read(path, "predictions")
    monkeypatch.setenv("CAPTIOUS_MAX_DEPTH", "200")
    assert read(path, "predictions").captions == [["[{" * 5_000]]


@pytest.mark.parametrize(
    ("reader", "text"),
    [
        ("captions", '[{"image_id": 1, "caption": "a dog", "caption": "a cat"}]'),
        (
            "captions",
            '{"image_id": 1, "caption": "a"}\n{"image_id": 2, "caption": "a dog", "caption": "a cat"}\n',
        ),
        ("captions", '{"1": "a dog", "1": "a cat"}'),
        ("objects", '{"1": ["dog"], "1": ["cat"]}'),
        ("synonyms", '{"dog": ["puppy"], "dog": ["hound"]}'),
        ("human scores", '{"a": {"1": 1, "1": 2}}'),
    ],
)
def test_a_key_that_occurs_twice(reader: str, text: str, tmp_path: Path) -> None:
    path = tmp_path / "twice.json"
    path.write_text(text)
    with pytest.raises(InputError, match="occurs twice in one object, with different values"):
        READERS[reader](path)


@pytest.mark.parametrize("reader", ["captions", "document frequencies", "concepts", "norms", "vectors"])
def test_long_lines(reader: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CAPTIOUS_MAX_LINE", "1000")
    path = tmp_path / "long.txt"
    path.write_text(
        {"captions": "id,caption\n1,", "vectors": "dog 1 2 3\n"}.get(reader, "") + "x" * 2_000 + "\n"
    )
    with pytest.raises(
        InputError, match=r"a caption or line is longer than 1,000 characters.*CAPTIOUS_MAX_LINE"
    ):
        (READERS | {"vectors": get})[reader](path)


def test_human_judgements(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CAPTIOUS_MAX_BYTES", "50k")
    (tmp_path / "flickr8k").mkdir()
    for name in ("captions", "expert"):
        (tmp_path / "flickr8k" / f"{name}.jsonl.gz").write_bytes(gzip.compress(b" " * 1_000_000))
    with pytest.raises(InputError, match="CAPTIOUS_MAX_BYTES"):
        load_judgements("flickr8k-expert", tmp_path)


@pytest.mark.parametrize(
    "header",
    [b"[" * 5_000, b'{"a": ' * 5_000, b'{"a": {"dtype": "F32", "shape": [-1], "data_offsets": [0, 4]}}'],
)
def test_safetensors(header: bytes) -> None:
    data = np.frombuffer(len(header).to_bytes(8, "little") + header + bytes(8), np.uint8)
    with pytest.raises(InputError, match="model"):
        read_safetensors(data, "model")


def test_packed_encoder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("tokenizers")
    from captious.vectors.sentence_vectors import SentenceEncoder

    path = tmp_path / "model.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        for name in ("config.json", "tokenizer.json", "model.safetensors"):
            packed.writestr(name, b" " * 1_000_000)
    monkeypatch.setenv("CAPTIOUS_MAX_BYTES", "50k")
    with pytest.raises(InputError, match="CAPTIOUS_MAX_BYTES"):
        SentenceEncoder(path)


def test_a_limit_that_is_no_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CAPTIOUS_MAX_BYTES", "a lot")
    (tmp_path / "captions.json").write_text("{}")
    with pytest.raises(InputError, match="CAPTIOUS_MAX_BYTES is a number of bytes"):
        read(tmp_path / "captions.json", "references")
