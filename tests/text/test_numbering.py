"""Words numbered from bytes: the numbers that texts would get, by both forms of the kernels."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from captious.core.container import StoredTexts
from captious.core.threads import working
from captious.corpus import encoding
from captious.corpus.encoding import Encoding
from captious.kernels import plain_forms
from captious.text import ptb
from captious.text.ptb import numbering
from captious.text.vocabulary import WordTable, number_text
from tests.conftest import read_jsonl
from tests.forms import both_forms, running
from tests.text.test_ptb import EXAMPLES, nearly_plain, printable

captions = st.lists(st.one_of(nearly_plain, printable, st.text(max_size=20)), max_size=8)


def numbered(texts: list[str], known: list[str]) -> tuple[list[list[str]], list[str]]:
    """The words of captions by way of their numbers, and the words of the table."""
    table = WordTable.of(known)
    tokens, counts = numbering.number(*StoredTexts.of(texts).arrays, table)
    words = table.words()
    ends = np.cumsum(counts).tolist()
    assert len(tokens) == (ends[-1] if ends else 0)
    return [[words[k] for k in tokens[end - count : end]] for end, count in zip(ends, counts.tolist())], words


def expected(texts: list[str], known: list[str]) -> tuple[list[list[str]], list[str]]:
    found = [ptb.tokenize(text) for text in texts]
    return found, list(dict.fromkeys([*known, *(word for words in found for word in words)]))


@settings(max_examples=300, deadline=None)
@given(
    captions,
    st.lists(
        st.sampled_from(["dog", "'s", "a", "ünder", "longer than eight bytes", "longer than eight bytes!"]),
        unique=True,
    ),
)
def test_words_are_numbered_as_they_appear(texts: list[str], known: list[str]) -> None:
    assert numbered(texts, known) == expected(texts, known)


@settings(max_examples=60, deadline=None)
@given(captions)
def test_the_plain_form_gives_the_same(texts: list[str]) -> None:
    with plain_forms():
        assert numbered(texts, []) == expected(texts, [])


HARD = [
    *["cannot", "Gotta", "a Wanna", "xlemmex", "gimm", "ca nnot", "gonn", "bottom", "annoy", "Nn"],
    *["a dog's", "a dog's,", "a dog's.", "dog's's", "'s", "a 's", "dogS'S", "dog'S", "dogs'", "5's", "a-'s"],
    *["t-shirt", "-a", "a-", "a-1", "a--b", "5", "5 a", "55", "a5", "5.", "5,"],
    *[
        "Mr.",
        "a st.",
        "best.",
        "a b.",
        "treas.",
        "treasy.",
        "xtreas.",
        "messrs.",
        "no.",
        "a ptys.",
        ".",
        ". .",
        "a . b",
        "a ,b",
        "a, b",
        "a.b",
    ],
    *[
        "",
        " ",
        "\t",
        "\n",
        "a\nb",
        "é",
        "a\r",
        "\x00",
        "a\x0bb",
        "http://a\x00b c",
        "ABCDEFGH",
        "abcdefghI",
        "Abcdefgh-J",
        "abcdefgh-k",
    ],
    *[text for text, _ in EXAMPLES],
]


@both_forms
def test_hard_captions(form: str) -> None:
    with running(form):
        assert numbered(HARD, []) == expected(HARD, [])


def test_tables_grow(monkeypatch: pytest.MonkeyPatch) -> None:
    """From stretch to stretch, with words that share their first eight bytes, and more of them than a
    new table has room for."""
    monkeypatch.setattr(numbering, "_STRETCH", 50)
    texts = [
        f"a shared-beginning-{chr(97 + i % 26)}{chr(97 + i // 26 % 26)}{chr(97 + i // 676)} b{'x' * (i % 40)}"
        for i in range(5000)
    ]
    assert numbered(texts, ["shared-b"]) == expected(texts, ["shared-b"])


def test_words_that_begin_alike_are_told_apart() -> None:
    """In a table so full that most words collide."""
    words = [f"abcdefgh{'x' * k}{end}" for k in range(5, -1, -1) for end in ("", "y", "z", "v", "w")]
    text = np.frombuffer("".join(f"{word}\n" for word in [*words, *words[::-1]]).encode(), np.uint8)
    places, ends, heads = np.zeros(32, np.int32), np.zeros(40, np.int64), np.zeros(40, np.uint64)
    stored, tokens = np.zeros(900, np.uint8), np.zeros(60, np.int32)
    with np.errstate(over="ignore"):
        known = number_text(
            text,
            0,
            len(text),
            numbering._folds(False)[1],
            stored,
            places,
            ends,
            heads,
            0,
            tokens,
            0,
        )
    assert known == 30 and tokens.tolist() == [*range(30), *range(29, -1, -1)]
    assert stored[: ends[30]].tobytes().decode() == "".join(words)


def test_a_copy_of_a_table_grows_by_itself() -> None:
    table = WordTable.of(["a", "dog"])
    copied = table.copy()
    numbering.number(*StoredTexts.of(["a cat"]).arrays, copied)
    assert (
        table.words() == ["a", "dog"] and copied.words() == ["a", "dog", "cat"] and copied.words(2) == ["cat"]
    )


@pytest.mark.parametrize("jobs", [1, 3])
def test_captions_are_encoded_as_their_words(jobs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    references, candidates = [*HARD, "A dog runs."] * 2, ["A new dog's “word”", "runs, runs", *HARD[::-1]]
    monkeypatch.setattr(numbering, "_FEW", 0)

    def check(encoded: Encoding, texts: list[str], known: list[str]) -> None:
        words, vocabulary = expected(texts, known)
        number_of = {word: number for number, word in enumerate(vocabulary)}
        assert encoded.tokens.tolist() == [number_of[word] for caption in words for word in caption]
        assert encoded.offsets.tolist() == [0, *np.cumsum([len(caption) for caption in words]).tolist()]
        assert encoded.vocabulary.words == vocabulary and encoded.vocabulary.new == vocabulary[len(known) :]
        assert encoded.tokens.dtype == np.int32 and list(encoded.texts) == texts

    with working(jobs):
        base = Encoding.of(references)
        check(base, references, [])
        check(Encoding.of(candidates, base=base), candidates, base.vocabulary.words)
        # Over a base that has no table of words yet, as from a prepared file.
        base.memo._values.pop(encoding._TABLE, None)
        check(Encoding.of(candidates, base=base), candidates, base.vocabulary.words)


@pytest.mark.shared
@pytest.mark.parametrize("name", ["tokens_captions", "tokens_adversarial"])
def test_gold_captions_have_the_same_words(name: str, shared_data: Path) -> None:
    texts = [row["raw"] for row in read_jsonl(shared_data / "gold" / f"{name}.jsonl.gz")]
    words, counts = ptb.tokenize_flat(texts)
    ends = np.cumsum(counts).tolist()
    assert numbered(texts, [])[0] == [words[end - count : end] for end, count in zip(ends, counts.tolist())]
