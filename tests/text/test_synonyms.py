from __future__ import annotations

import zipfile
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from captious.core import container
from captious.core.errors import InputError, MissingExtraError
from captious.text import meteor_data, synonyms
from captious.text.synonyms import LISTS, Synonyms, read_meteor, shipped, write
from tests.forms import both_forms, running


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A data directory of our own, in the layout of METEOR's."""
    with zipfile.ZipFile(tmp_path / "meteor-1.5.jar", "w") as jar:
        jar.writestr(
            "synonym/english.synsets",
            "wolf\n00000012 7\nfox\n12\nglow\n3\nglower\n4\nki\n5\nfire_engine\n88\n"
            "goose\n21\ngander\n22\nkiss\n31\n",
        )
        jar.writestr("synonym/english.exceptions", "wolf\nwolves\ngoose\ngeese\ngander\ngeese ganders\n")
    (tmp_path / "paraphrase-en.gz").write_bytes(b"")
    return tmp_path


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("wolf", {12, 7}),  # leading zeros are no part of a number
        ("wolves", {12, 7}),  # irregular
        ("geese", {21, 22}),  # every base of an irregular form
        ("foxes", {12}),
        ("glows", {3}),
        ("glowed", {3}),
        ("glowing", {3}),
        ("glower", {4, 3}),  # its own meaning, and "glow" by the rule for adjectives
        ("fire_engines", {88}),
        ("kiss", {31}),  # words ending in -ss are not shortened to "kis"
        ("ki", {5}),
        ("nothing", set()),
        ("", set()),
    ],
)
def test_synsets(small: Path, word: str, expected: set[int]) -> None:
    assert Synonyms.load(small).synsets(word) == expected


@both_forms
def test_synsets_of_many_words(small: Path, form: str) -> None:
    """Irregular forms, other scripts and words without synsets among others."""
    expected = {
        "": [],
        "geese": [21, 22],
        "foxes": [12],
        "犬": [],
        "glower": [3, 4],
        "éing": [60],
        "nothing": [],
        "wolves": [7, 12],
        "kissing": [31],
        "kis": [5],
        "ki": [5],
        "és": [61],  # two letters, in three bytes
        "s": [],
        "éses": [61],
        "ss": [],
    }
    synsets = {"wolf": [12, 7], "fox": [12], "glow": [3], "glower": [4], "ki": [5], "kiss": [31], "és": [61]}
    synsets |= {"goose": [21], "gander": [22], "é": [60], "s": []}
    dictionary = Synonyms.of(synsets, {"geese": ["goose", "gander"], "wolves": ["wolf", "lycan"]})
    with running(form):
        offsets, joined = dictionary.synsets_of(list(expected))
    assert [joined[a:b].tolist() for a, b in pairwise(offsets.tolist())] == list(expected.values())


@both_forms
@given(
    listed=st.dictionaries(
        st.text("aeinsdé", max_size=4), st.lists(st.integers(0, 9), max_size=3), max_size=12
    ),
    bases=st.dictionaries(
        st.text("aeinsdé", max_size=4), st.lists(st.text("aeinsdé", min_size=1, max_size=3)), max_size=4
    ),
    words=st.lists(st.text("aeinsdé", max_size=6), max_size=12),
)
def test_synsets_are_those_of_a_plain_dictionary(
    listed: dict[str, list[int]], bases: dict[str, list[str]], words: list[str], form: str
) -> None:
    def synsets(word: str) -> list[int]:
        forms = bases.get(word)
        if forms is None:
            shortened = (
                word[: -len(ending)] + replacement
                for ending, replacement in synonyms._DETACHMENTS
                if word.endswith(ending) and not word.endswith("ss") and len(word) > 2
            )
            forms = [base for base in shortened if base in listed][:1]
        return sorted({number for form in (word, *forms) for number in listed.get(form, ())})

    with running(form):
        offsets, joined = Synonyms.of(listed, bases).synsets_of(words)
    assert [joined[a:b].tolist() for a, b in pairwise(offsets.tolist())] == list(map(synsets, words))


def test_the_shipped_table_is_that_of_meteor() -> None:
    """Our lists and the jar's have the same words, synsets and base forms: the digests are equal."""
    pytest.importorskip("pycocoevalcap")
    ours, theirs = Synonyms.load(), read_meteor(meteor_data.find())
    assert ours.digest == ours.computed_digest() == theirs.digest == theirs.computed_digest()
    assert len(ours) == len(theirs) == 147_306
    for word in ["dog", "sofa", "teeth", "running", "fire_engines", "bicycles", "geese", "zzz"]:
        assert ours.synsets(word) == theirs.synsets(word)


def test_the_shipped_table_needs_no_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CAPTIOUS_METEOR_DATA", raising=False)
    monkeypatch.setattr("captious.text.meteor_data.installed_folder", lambda: None)
    shipped.cache_clear()
    assert Synonyms.load().digest == "6ee7b8c1"


def test_writing_keeps_the_content(small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = read_meteor(meteor_data.find(small))
    write(meteor_data.find(small), tmp_path / "synonyms.table")
    monkeypatch.setattr(
        synonyms,
        "_shipped_file",
        lambda: container.read(tmp_path / "synonyms.table", synonyms.KIND, synonyms.VERSION, ""),
    )
    after = shipped.__wrapped__()
    assert after.digest == after.computed_digest() == before.computed_digest()
    assert after.synsets("geese") == {21, 22}


def test_meteors_lists_are_read_only_if_they_are_others(small: Path) -> None:
    pytest.importorskip("pycocoevalcap")
    installed = meteor_data.find()
    assert Synonyms.load(installed.jar.parent) is shipped()
    assert {name: synonyms.is_shipped(installed, name) for name in LISTS} == dict.fromkeys(LISTS, True)
    assert {name: installed.digest(name) for name in LISTS} == {
        name: found["digest"] for name, found in synonyms.shipped_lists().items()
    }
    assert not any(synonyms.is_shipped(meteor_data.find(small), name) for name in LISTS)
    assert not synonyms.is_shipped(installed, "function/english.words")


def test_every_byte_of_the_shipped_table_is_as_it_was_written() -> None:
    opened = container.read(synonyms.SHIPPED, synonyms.KIND, synonyms.VERSION, "")
    assert len(dict(opened.arrays)) == 11


def test_shipped_data() -> None:
    dictionary = Synonyms.load()
    assert dictionary.synsets("couch") & dictionary.synsets("sofa")
    assert dictionary.synsets("bicycles") & dictionary.synsets("bike")
    assert dictionary.synsets("teeth") >= dictionary.synsets("tooth") != frozenset()
    assert not dictionary.synsets("dog") & dictionary.synsets("cat")
    assert dictionary.synsets("fire_engines") == dictionary.synsets("fire_engine") != frozenset()
    assert Synonyms.load() is dictionary


def test_data_is_found_in_the_variable(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CAPTIOUS_METEOR_DATA", str(small))
    assert meteor_data.find().jar == small / "meteor-1.5.jar"


def test_missing_directory(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist"):
        meteor_data.find(tmp_path / "nowhere")


def test_directory_without_the_files(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"lacks meteor-1\.5\.jar and paraphrase-en\.gz"):
        meteor_data.find(tmp_path)


def test_damaged_jar(small: Path) -> None:
    (small / "meteor-1.5.jar").write_bytes(b"not a zip archive")
    with pytest.raises(InputError, match="cannot read"):
        meteor_data.find(small).lines("function/english.words")


def test_jar_without_the_list(small: Path) -> None:
    with pytest.raises(InputError, match=r"has no 'function/english\.words'"):
        meteor_data.find(small).lines("function/english.words")


def test_package_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CAPTIOUS_METEOR_DATA", raising=False)
    monkeypatch.setattr("captious.text.meteor_data.installed_folder", lambda: None)
    with pytest.raises(MissingExtraError, match=r"pip install 'captious\[meteor\]'") as caught:
        meteor_data.find()
    assert "\n" not in str(caught.value)
