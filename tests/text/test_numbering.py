"""Words numbered from bytes: the numbers that texts would get, by loops that are plain or compiled; and the kept table of the lexer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from captious import encoding
from captious.container import Texts
from captious.encoding import Encoding
from captious.kernels import called_often
from captious.text import ptb
from captious.text.ptb import numbering, tables
from captious.text.ptb.automaton import Scanner
from captious.text.ptb.lexer import kept_lexer, lexer, make_scanner
from captious.text.words import HALF, MULTIPLIER, WordTable, number_text
from captious.threads import working
from tests.conftest import read_jsonl
from tests.text.test_ptb import EXAMPLES, nearly_plain, printable

captions = st.lists(st.one_of(nearly_plain, printable, st.text(max_size=20)), max_size=8)


def numbered(texts: list[str], known: list[str]) -> tuple[list[list[str]], list[str]]:
    """The words of captions by way of their numbers, and the words of the table."""
    table = WordTable.of(known)
    tokens, counts = numbering.number(*Texts.of(texts).arrays, table)
    words = table.words()
    ends = np.cumsum(counts).tolist()
    assert len(tokens) == (ends[-1] if ends else 0)
    return [[words[k] for k in tokens[end - count : end]] for end, count in zip(ends, counts.tolist())], words


def expected(texts: list[str], known: list[str]) -> tuple[list[list[str]], list[str]]:
    found = [ptb.tokenize(text) for text in texts]
    return found, list(dict.fromkeys([*known, *(word for words in found for word in words)]))


@settings(max_examples=300, deadline=None)
@given(captions, st.lists(st.sampled_from(["dog", "'s", "a", "ünder", "longer than eight bytes", "longer than eight bytes!"]), unique=True))
def test_words_are_numbered_as_they_appear(texts: list[str], known: list[str]) -> None:
    assert numbered(texts, known) == expected(texts, known)


@settings(max_examples=60, deadline=None)
@given(captions)
def test_compiled_code_gives_the_same(texts: list[str]) -> None:
    with called_often():
        assert numbered(texts, []) == expected(texts, [])


@settings(max_examples=300, deadline=None)
@given(captions)
def test_both_fast_paths_agree_on_what_is_plain(texts: list[str]) -> None:
    lines = [text.replace("\n", " ") for text in texts]
    _, counts, plain = ptb._plain_path().split("\n".join(["", *lines, ""]))
    found = numbering.count_plain(*Texts.of(texts).arrays)
    assert (found >= 0).tolist() == plain.tolist()
    assert found[plain].tolist() == counts[plain].tolist()


HARD = [
    *["cannot", "Gotta", "a Wanna", "xlemmex", "gimm", "ca nnot", "gonn", "bottom", "annoy", "Nn"],
    *["a dog's", "a dog's,", "a dog's.", "dog's's", "'s", "a 's", "dogS'S", "dog'S", "dogs'", "5's", "a-'s"],
    *["t-shirt", "-a", "a-", "a-1", "a--b", "5", "5 a", "55", "a5", "5.", "5,"],
    *["Mr.", "a st.", "best.", "a b.", "treas.", "treasy.", "xtreas.", "messrs.", "no.", "a ptys.", ".", ". .", "a . b", "a ,b", "a, b", "a.b"],
    *["", " ", "\t", "\n", "a\nb", "é", "a\r", "\x00", "a\x0bb", "http://a\x00b c", "ABCDEFGH", "abcdefghI", "Abcdefgh-J", "abcdefgh-k"],
    *[text for text, _ in EXAMPLES],
]


@pytest.mark.parametrize("compiled", [False, True])
def test_hard_captions(compiled: bool) -> None:
    if compiled:
        with called_often():
            assert numbered(HARD, []) == expected(HARD, [])
    else:
        assert numbered(HARD, []) == expected(HARD, [])


def test_tables_grow(monkeypatch: pytest.MonkeyPatch) -> None:
    """From stretch to stretch, with words that share their first eight bytes, and more of them than a new table has room for."""
    monkeypatch.setattr(numbering, "_STRETCH", 50)
    texts = [f"a shared-beginning-{chr(97 + i % 26)}{chr(97 + i // 26 % 26)}{chr(97 + i // 676)} b{'x' * (i % 40)}" for i in range(5000)]
    with called_often():
        assert numbered(texts, ["shared-b"]) == expected(texts, ["shared-b"])


@pytest.mark.parametrize("compiled", [False, True])
def test_words_that_begin_alike_are_told_apart(compiled: bool) -> None:
    """In a table so full that most of them are looked for in each other's places."""
    words = [f"abcdefgh{'x' * k}{end}" for k in range(5, -1, -1) for end in ("", "y", "z", "v", "w")]
    text = np.frombuffer("".join(f"{word}\n" for word in [*words, *words[::-1]]).encode(), np.uint8)
    run = number_text.compiled if compiled else number_text
    places, ends, heads = np.zeros(32, np.int32), np.zeros(40, np.int64), np.zeros(40, np.uint64)
    stored, tokens = np.zeros(900, np.uint8), np.zeros(60, np.int32)
    with np.errstate(over="ignore"):
        known = run(text, 0, len(text), numbering._folds()[1], MULTIPLIER, HALF, np.uint64(0), stored, places, ends, heads, 0, tokens, 0)
    assert known == 30 and tokens.tolist() == [*range(30), *range(29, -1, -1)]
    assert stored[: ends[30]].tobytes().decode() == "".join(words)


def test_a_copy_of_a_table_grows_by_itself() -> None:
    table = WordTable.of(["a", "dog"])
    copied = table.copy()
    numbering.number(*Texts.of(["a cat"]).arrays, copied)
    assert table.words() == ["a", "dog"] and copied.words() == ["a", "dog", "cat"] and copied.words(2) == ["cat"]


@pytest.mark.parametrize("jobs", [1, 3])
def test_captions_are_encoded_alike(jobs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    references, candidates = [*HARD, "A dog runs."] * 2, ["A new dog's “word”", "runs, runs", *HARD[::-1]]

    def both(large: int) -> list[Any]:
        monkeypatch.setattr(encoding, "LARGE", large)
        base = Encoding.of(references)
        over = Encoding.of(candidates, base=base)
        found: list[Any] = []
        for one in (base, over):
            found += [one.tokens.tolist(), one.tokens.dtype, one.offsets.tolist(), one.vocabulary.words, one.vocabulary.new, list(one.texts)]
        # Over a base that has no table of bytes yet.
        base.memo._values.pop(encoding._TABLE, None)
        return [*found, Encoding.of(candidates, base=base).tokens.tolist(), base.vocabulary.words]

    monkeypatch.setattr(numbering, "_FEW", 0)
    with working(jobs):
        assert both(0) == both(1 << 40)


def test_few_captions_load_no_compiled_code(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("the loops are for many captions")

    monkeypatch.setattr(numbering, "number", refuse)
    assert len(Encoding.of(["a dog"] * 10_000)) == 10_000
    with pytest.raises(AssertionError, match="many captions"):
        Encoding.of(["a dog"] * (encoding.LARGE // 5 + 1))
    assert len(Encoding.of(["a dog"] * (encoding.LARGE // 5 + 1), "none")) > 10_000


@pytest.mark.shared
@pytest.mark.parametrize("name", ["tokens_captions", "tokens_adversarial"])
def test_gold_captions_have_the_same_words(name: str, shared_data: Path) -> None:
    texts = [row["raw"] for row in read_jsonl(shared_data / "gold" / f"{name}.jsonl.gz")]
    words, counts = ptb.tokenize_flat(texts)
    ends = np.cumsum(counts).tolist()
    assert numbered(texts, [])[0] == [words[end - count : end] for end, count in zip(ends, counts.tolist())]


# The kept table ------------------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CAPTIOUS_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_the_table_is_made_once_and_read_where_it_lies(folder: Path) -> None:
    assert tables.open_table() is None and not folder.exists()
    made = tables.keep_table(lambda: make_scanner().table())
    assert made is not None and len(list(folder.glob("ptb-*.table"))) == 1

    def refuse() -> Any:
        raise AssertionError("it is there")

    again, opened = tables.keep_table(refuse), tables.open_table()
    assert again is not None and opened is not None
    assert np.array_equal(again.steps, made.steps) and np.array_equal(opened.steps, made.steps)
    # A damaged one is made again.
    path = next(folder.glob("ptb-*.table"))
    path.write_bytes(path.read_bytes()[:-1])
    assert tables.open_table() is None
    with pytest.raises(AssertionError, match="it is there"):
        tables.keep_table(refuse)


def test_where_nothing_can_be_kept_states_appear_as_they_are_needed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("CAPTIOUS_CACHE", str(tmp_path / "file" / "cache"))
    assert tables.keep_table(lambda: make_scanner().table()) is None
    for cached in (kept_lexer, lexer):
        cached.cache_clear()
    try:
        assert isinstance(kept_lexer().scanner, Scanner)
        assert kept_lexer().tokens('A "dog"') == ["A", "``", "dog", "''"]
    finally:
        for cached in (kept_lexer, lexer):
            cached.cache_clear()


def test_other_rules_have_another_table(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name, own = tables._named(), Path(tables.__file__)
    for part in ("automaton.py", "characters.py", "grammar.py"):
        sources = tmp_path / part.removesuffix(".py")
        sources.mkdir()
        for other in ("automaton.py", "characters.py", "grammar.py"):
            text = own.with_name(other).read_text(encoding="utf-8")
            (sources / other).write_text(text + "#" * (other == part), encoding="utf-8")
        monkeypatch.setattr(tables, "__file__", str(sources / "tables.py"))
        tables._named.cache_clear()
        assert tables._named() not in (None, name)
    monkeypatch.setattr(tables, "__file__", str(tmp_path / "none" / "tables.py"))
    tables._named.cache_clear()
    assert tables._named() is None and tables.open_table() is None
    tables._named.cache_clear()


_SCANNER = make_scanner()
_TABLE = make_scanner().table()


@settings(max_examples=300, deadline=None)
@given(st.one_of(printable, nearly_plain, st.text(max_size=30), st.sampled_from([text for text, _ in EXAMPLES])))
def test_the_table_scans_as_the_states_that_appear_when_needed(text: str) -> None:
    kinds = _SCANNER.classes(text + "\nA\n")
    assert kinds == _TABLE.classes(text + "\nA\n")
    for at in range(len(text)):
        assert _SCANNER.longest(kinds, at) == _TABLE.longest(kinds, at)
