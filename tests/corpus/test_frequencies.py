"""Document frequencies: counted, saved, imported, and refused."""

from __future__ import annotations

import collections
import gzip
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import captious
from captious.corpus import Captions, Corpus
from captious.corpus.frequencies import FrequencyTable, ReferenceFrequencies
from captious.io.frequency_files import read_frequencies, save_frequencies
from tests.forms import FORMS, form_of

REFERENCES = [["a dog runs", "the dog runs fast"], ["a cat"], ["a dog sleeps", "a dog"], [""]]
COUNTS = {("a",): 3, ("dog",): 2, ("a", "dog"): 2, ("the", "dog", "runs", "fast"): 1, ("cat", "a"): 0}


def corpus() -> Corpus:
    candidates = [["a dog runs"], ["a cat sits"], ["zebra"], ["a dog sleeps"]]
    return Corpus.build(list("1234"), candidates, REFERENCES, tokenizer="none")


def count(table: FrequencyTable, *words: str) -> int:
    captions = Captions.of([[" ".join(words)]], "none")
    n = len(words)
    return int(table.counts(captions, n)[0])


def test_counts_images_not_captions(tmp_path: Path) -> None:
    table = FrequencyTable.build(Captions.of(REFERENCES, "none"))
    save_frequencies(table, tmp_path / "x.df")
    for held in (table, read_frequencies(tmp_path / "x.df")):
        assert held.images == 4
        for words, expected in COUNTS.items():
            assert count(held, *words) == expected
        assert count(held, "unheard") == 0
        assert held.digest == table.digest
        assert held.tokenizer == "none"


def test_a_table_of_the_same_references_changes_nothing_but_the_signature() -> None:
    own = captious.score(corpus(), "CIDEr-D,CIDEr")
    table = FrequencyTable.build(Captions.of(REFERENCES, "none"))
    other = captious.score(corpus(), "CIDEr-D,CIDEr", df=table)
    for name in own:
        np.testing.assert_allclose(other[name].per_caption, own[name].per_caption, atol=1e-12)
        assert own[name].signature != other[name].signature


def test_large_vocabularies_look_up_by_hash(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("captious.text.ngrams.BITS", 2)
    table = FrequencyTable.build(Captions.of(REFERENCES, "none"))
    for words, expected in COUNTS.items():
        assert count(table, *words) == expected


@pytest.mark.parametrize("protocol", [0, 1, 2, 4])
@pytest.mark.parametrize("stated", [40, float(np.log(40)), np.float64(40)])
def test_pickles_of_the_coco_tools(tmp_path: Path, protocol: int, stated: float) -> None:
    table: dict[tuple[str, ...], float] = collections.defaultdict(float)
    table.update({k: float(30 * v if v else 1) for k, v in {("a",): 1, ("a", "dog"): 0}.items()})
    path = tmp_path / "coco-val-df.p"
    path.write_bytes(pickle.dumps({"document_frequency": table, "ref_len": stated}, protocol=protocol))
    loaded = read_frequencies(path)
    assert loaded.images == 40
    assert count(loaded, "a") == 30
    assert count(loaded, "a", "dog") == 1


def test_lists_of_ngrams(tmp_path: Path) -> None:
    path = tmp_path / "df.tsv.gz"
    path.write_bytes(gzip.compress("a\t3\na dog\t2\ncafé\t1\n".encode()))
    assert count(read_frequencies(path, images=9), "café") == 1
    with pytest.raises(captious.InputError, match=r"number of images is not in the file.*--images"):
        read_frequencies(path)


class Evil:
    def __reduce__(self) -> tuple[object, ...]:
        return (print, ("executed!",))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "empty file"),
        (pickle.dumps(Evil()), "asks for builtins.print"),
        (pickle.dumps({"document_frequency": {("a",): "many"}, "ref_len": 3}), "'many', not a number"),
        (pickle.dumps({"document_frequency": {3: 1.0}, "ref_len": 3}), "not an n-gram"),
        (pickle.dumps([1, 2]), "no table of n-grams needs"),
        (pickle.dumps({("a",): 50.0}), "number of images is not in the file"),
        (b"a dog\n", "line 1: expected an n-gram, a tab and a count"),
        (b"a\t1\na dog\tmany\n", "line 2"),
        (b"\xff\xfe\x00", "byte 0"),
        (b"PK\x03\x04broken", "a table of document frequencies was expected"),
        (b"\x1f\x8bbroken", "the gzip file"),
    ],
)
def test_bad_tables_are_refused(
    tmp_path: Path, content: bytes, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "bad"
    path.write_bytes(content)
    with pytest.raises(captious.InputError, match=message) as caught:
        read_frequencies(path)
    assert str(path) in str(caught.value)
    assert "executed!" not in capsys.readouterr().out


def test_too_few_images_for_the_counts(tmp_path: Path) -> None:
    path = tmp_path / "df.tsv"
    path.write_text("a\t30\n")
    with pytest.raises(captious.InputError, match="a count of 30"):
        read_frequencies(path, images=5)


def test_ngrams_that_the_references_do_not_have_count_nothing() -> None:
    # Every n-gram of these references is in both images, whichever has the last number.
    corpus = Corpus.build(["1", "2"], [["a dog sleeps here"], ["two cats"]], [["a dog"], ["a dog"]])
    source = ReferenceFrequencies(corpus.references)
    words = dict(zip(corpus.candidates.words(0), source.counts(corpus.candidates, 1)[:4].tolist()))
    assert sorted(words.values()) == [0, 0, 2, 2]
    assert sorted(source.counts(corpus.candidates, 2).tolist()) == [0, 0, 0, 2]


def doubled(depth: int) -> bytes:
    """Pickle a dictionary whose key nests a tuple twice at each level: hashing it takes 2**depth steps."""
    program = b"\x80\x02}U\x01a"
    for number in range(depth):
        program += b"q" + bytes([number]) + b"h" + bytes([number]) + b"\x86"
    return program + b"K\x01s."


@pytest.mark.parametrize(
    "content",
    [
        doubled(60),
        # The class itself gets an attribute, which would affect every later file.
        b"\x80\x02ccollections\ndefaultdict\nN}(U\x08__init__cbuiltins\nint\nu\x86b.",
        b"\x80\x02ccollections\ndefaultdict\nN}U\x06updateNs\x86b.",
        b"\x80\x02" + b"(" * 1000 + b"t" * 999 + b".",
        b"\x80\x02]q\x00h\x00a.",
        b"\x80\x02X\xff\xff\xff\x7fa.",
        b"\x80\x02h\x05.",
        b"\x80\x02U",
        b"\x80\x04\x8e\xff\xff\xff\xff\xff\xff\xff\xff.",
    ],
)
def test_pickles_that_would_hang_or_leave_something_behind(tmp_path: Path, content: bytes) -> None:
    from captious.io import pickled

    path = tmp_path / "df.p"
    path.write_bytes(content)
    before = dict(vars(pickled._Plain)), dict(vars(pickled._Kind))
    with pytest.raises(captious.InputError, match="was not loaded"):
        read_frequencies(path, 10)
    assert (dict(vars(pickled._Plain)), dict(vars(pickled._Kind))) == before


@pytest.mark.parametrize("protocol", [0, 1, 2, 3, 4, 5])
def test_both_forms_look_through_a_pickle_alike(protocol: int) -> None:
    from captious.io import pickled

    table = collections.defaultdict(float, {("a", "dog"): 3.0, ("café",): 2.0, ("a",): 1e3})
    counter = collections.Counter({("a",): 3})
    for value in (
        table,
        counter,
        {"document_frequency": table, "ref_len": np.float64(12.5)},
        [1],
        {("a", ("b",)): 1},
    ):
        data = np.frombuffer(pickle.dumps(value, protocol=protocol), np.uint8)
        room = len(data) + 16
        found = [
            form_of(pickled._check_program, form)(
                data, pickled._LAYOUT, pickled._ACTION, np.zeros(room, np.int8), np.zeros(room, np.int8)
            )
            for form in FORMS
        ]
        assert found[0] == found[1]
        assert (found[0] == 0) == (value != [1] and ("a", ("b",)) not in value)


def test_a_pickled_counter_keeps_its_counts(tmp_path: Path) -> None:
    path = tmp_path / "df.p"
    path.write_bytes(pickle.dumps(collections.Counter({("a",): 3, ("a", "dog"): 2})))
    assert count(read_frequencies(path, 5), "a") == 3


@pytest.mark.parametrize("number", ["-1", "nan", "inf", "1e308", "2.5", "9007199254740994"])
def test_counts_that_are_no_numbers_of_images(tmp_path: Path, number: str) -> None:
    path = tmp_path / "df.tsv"
    path.write_text(f"a\t{number}\n")
    with pytest.raises(captious.InputError, match="the count of"):
        read_frequencies(path, images=2**53)


def test_large_counts_are_stored_as_they_are(tmp_path: Path) -> None:
    table = FrequencyTable.from_counts([(["a"], 2**31 + 5), (["b"], 3)], 2**40)
    save_frequencies(table, tmp_path / "df")
    again = read_frequencies(tmp_path / "df")
    assert (again.images, count(again, "a"), count(again, "b")) == (2**40, 2**31 + 5, 3)
    assert again.digest == table.digest


def test_words_with_line_breaks_and_ngrams_listed_twice(tmp_path: Path) -> None:
    with pytest.raises(captious.InputError, match="line break"):
        FrequencyTable.from_counts([(["a\nb"], 1)], 5)
    path = tmp_path / "df.tsv"
    path.write_text("a dog\t1\na dog\t2\n")
    with pytest.raises(captious.InputError, match="listed twice"):
        read_frequencies(path, 5)


@pytest.mark.parametrize(
    "change",
    [
        {"counts_1": np.array([-1, 1])},
        {"counts_1": np.array([1.5, 2.0])},
        {"counts_1": np.array([99, 1])},
        {"counts_1": np.array([1])},
        {"grams_1": np.array([[0], [7]])},
        {"grams_1": np.array([[0], [-1]])},
        {"grams_1": np.array([0, 1])},
        {"grams_1": np.array([[0], [0]])},
        {"format": np.array([1, 0, 1])},
        {"format": np.array([1, 5, 99])},
        {"format": np.array([9, 5, 1])},
        {"words": np.frombuffer(b"\xff\xfe", np.uint8)},
        {"words": np.frombuffer(b"a\na", np.uint8)},
        {"counts_1": np.array(["x", "y"], dtype=object)},
    ],
)
def test_archives_that_are_no_tables(tmp_path: Path, change: dict[str, Any]) -> None:
    arrays = {
        "format": np.array([1, 5, 1]),
        "words": np.frombuffer(b"a\nb", np.uint8),
        "tokenizer": np.frombuffer(b"ptb", np.uint8),
        "grams_1": np.array([[0], [1]]),
        "counts_1": np.array([1, 2]),
    }
    np.savez(tmp_path / "good.npz", **arrays)
    assert count(read_frequencies(tmp_path / "good.npz"), "b") == 2
    np.savez(tmp_path / "bad.npz", **{**arrays, **change})
    with pytest.raises(captious.InputError, match=r"bad\.npz"):
        read_frequencies(tmp_path / "bad.npz")


def test_an_archive_that_promises_more_than_it_has(tmp_path: Path) -> None:
    import io as streams
    import zipfile

    header = streams.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<i8", "fortran_order": False, "shape": (10**12,)})
    path = tmp_path / "df.npz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("format.npy", header.getvalue() + bytes(16))
    with pytest.raises(captious.InputError, match="damaged"):
        read_frequencies(path)


def test_a_table_is_read_once_unless_it_was_touched(tmp_path: Path) -> None:
    path = tmp_path / "list.tsv"
    path.write_text("a dog\t3\n")
    first = read_frequencies(path, images=10)
    assert read_frequencies(path, images=10) is first
    assert read_frequencies(path, images=11).images == 11
    path.write_text("a dog\t4\n")
    assert read_frequencies(path, images=10).digest != first.digest
