"""Captions of any length: the same results as for short ones, in time that does not grow with the square."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import captious
from captious.corpus import Corpus
from captious.meteor import alignment, matches
from captious.metrics import rouge
from captious.ragged import offsets_of
from captious.scene import build
from captious.scene.flat import match
from captious.text.spacy_like import split_chunk

sequences = st.lists(st.integers(0, 5), max_size=200) | st.lists(st.integers(0, 60), max_size=200)


def longest_common_subsequence(a: list[int], b: list[int]) -> int:
    row = [0] * (len(b) + 1)
    for x in a:
        diagonal = 0
        for j, y in enumerate(b):
            above = row[j + 1]
            row[j + 1] = diagonal + 1 if x == y else max(above, row[j])
            diagonal = above
    return row[-1]


@settings(deadline=None, max_examples=60)
@given(st.lists(sequences, min_size=1, max_size=3), st.lists(sequences, min_size=1, max_size=3))
@pytest.mark.parametrize("form", ["plain", "compiled"])
def test_rows_of_bits_give_the_longest_common_subsequence(form: str, ours: list[list[int]], theirs: list[list[int]]) -> None:
    pairs = [(i, j) for i in range(len(ours)) for j in range(len(theirs))]
    flat = [(np.array([w for own in side for w in own], np.int32), offsets_of([len(own) for own in side])) for side in (ours, theirs)]
    candidate, reference = (np.array(column, np.int64) for column in zip(*pairs))
    row_of, found = np.full(61, -1, np.int32), np.zeros(len(pairs), np.int64)
    getattr(rouge.common_subsequences, form)(*flat[0], *flat[1], candidate, reference, row_of, found)
    assert found.tolist() == [longest_common_subsequence(ours[i], theirs[j]) for i, j in pairs]
    assert (row_of == -1).all()


@pytest.mark.parametrize("form", ["plain", "compiled"])
@pytest.mark.parametrize("vocabulary", [3, 60])
def test_rows_of_several_words_of_bits(form: str, vocabulary: int) -> None:
    """Captions of more than two rows of bits, where carries cross, each compared with several references in turn."""
    draw = np.random.default_rng(vocabulary)
    sides = [[draw.integers(0, vocabulary, length).tolist() for length in (200, 150, 70)] for _ in range(2)]
    pairs = [(i, j) for i in range(3) for j in range(3)]
    flat = [(np.array([w for own in side for w in own], np.int32), offsets_of([len(own) for own in side])) for side in sides]
    candidate, reference = (np.array(column, np.int64) for column in zip(*pairs))
    row_of, found = np.full(61, -1, np.int32), np.zeros(len(pairs), np.int64)
    getattr(rouge.common_subsequences, form)(*flat[0], *flat[1], candidate, reference, row_of, found)
    assert found.tolist() == [longest_common_subsequence(sides[0][i], sides[1][j]) for i, j in pairs]


def test_rouge_l_of_a_hundred_thousand_words() -> None:
    words = [f"w{n}" for n in np.random.default_rng(1).integers(0, 30_000, 100_000)]
    text = " ".join(words)
    corpus = Corpus.build(["1"], [[text]], [[text, " ".join(words[::-1])]], tokenizer="none")
    assert captious.score(corpus, "ROUGE-L")["ROUGE-L"].value == pytest.approx(1.0)


def lines_of(rng: np.random.Generator, count: int, vocabulary: int) -> tuple[matches.Lines, matches.Words, matches.Phrases]:
    """Random lines over words of which some share stems and synonyms, and some begin phrases with paraphrases."""
    tokens = rng.integers(0, vocabulary, 2 * count).astype(np.int32)
    offsets = np.array([0, count, 2 * count], np.int64)
    synonyms = [np.unique(rng.integers(0, vocabulary, 4)) for _ in range(vocabulary)]
    bounds = np.concatenate([[0], np.cumsum([len(part) for part in synonyms])]).astype(np.int64)
    words = matches.Words(
        key=np.arange(vocabulary, dtype=np.int32) // 2, stem=np.arange(vocabulary, dtype=np.int32) // 4,
        function=np.zeros(vocabulary, np.bool_), bits=np.left_shift(1, np.arange(vocabulary) % 62), synonym_offsets=bounds, synonyms=np.concatenate(synonyms).astype(np.int32),
    )  # fmt: skip
    spans = np.where(rng.random((2 * count, 2)) < 0.2, rng.integers(0, 6, (2 * count, 2)), -1).astype(np.int32)
    # Phrases 0–2 have one word, 3–5 two.
    spans[:, 0] = np.where(spans[:, 0] > 2, -1, spans[:, 0])
    spans[:, 1] = np.where((spans[:, 1] < 3) & (spans[:, 1] >= 0), -1, spans[:, 1])
    spans[[count - 1, 2 * count - 1], 1] = -1
    targets = [np.unique(rng.integers(0, 6, 3)) for _ in range(6)]
    phrases = matches.Phrases(
        np.array([1, 1, 1, 2, 2, 2], np.int32), np.concatenate([[0], np.cumsum([len(t) for t in targets])]).astype(np.int64),
        np.concatenate(targets).astype(np.int32), 2,
    )  # fmt: skip
    flat = spans[spans >= 0], np.concatenate([[0], np.cumsum((spans >= 0).sum(axis=1))]).astype(np.int64)
    return matches.gathered_lines(tokens, offsets, words, flat), words, phrases


def collected(lines: matches.Lines, words: matches.Words, phrases: matches.Phrases) -> list[list[int]]:
    found = np.zeros((100_000, 5), np.int32)
    longest = int(np.diff(lines.offsets).max())
    mark, chain = np.zeros((4, len(phrases.lengths)), np.int32), np.zeros((2, longest, 2), np.int32)
    n = matches.collect.plain(lines, words, phrases, 0, 1, mark, 1, chain, np.zeros((3, matches.SHORT), np.int64), found)
    rows: list[list[int]] = found[:n].tolist()
    return rows


@pytest.mark.parametrize("seed", range(6))
def test_meteor_finds_the_same_matches_by_looking_up_as_by_comparing_all(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(seed)
    parts = lines_of(rng, 40, 12 if seed % 2 else 60)
    compared = collected(*parts)
    with monkeypatch.context() as patch:
        patch.setattr(matches, "SHORT", 0)
        assert collected(*parts) == compared
    monkeypatch.setattr(matches, "LONG", 0)
    assert collected(*parts) == compared
    lines, _, phrases = parts
    spans = [lines.spans[a:b].tolist() for a, b in pairwise(lines.span_offsets.tolist())]
    # Paraphrases by comparing every place with every other.
    expected = []
    for side in range(2):
        for t in range(40):
            for phrase in spans[t + (40 if side == 0 else 0)]:
                own = phrases.lengths[phrase]
                for target in phrases.targets[phrases.offsets[phrase] : phrases.offsets[phrase + 1]]:
                    length = phrases.lengths[target]
                    for u in range(40):
                        if target in spans[u + (0 if side == 0 else 40)]:
                            expected.append([t, own, u, length] if side == 0 else [u, length, t, own])
    assert [row[:4] for row in compared if row[4] == matches.PARAPHRASE] == expected


def test_hostile_chunks_are_split_in_linear_time() -> None:
    """With quadratic time this test would never end."""
    many = 200_000
    assert split_chunk("a.a." * many)[-1] == "."
    assert split_chunk("a.a." * many + ")" * many)[-many:] == [")"] * many
    assert split_chunk("(" * many + "www." + "a." * many)[:many] == ["("] * many
    assert split_chunk("(www.example.com/a.b)") == ["(", "www.example.com/a.b", ")"]


def aligned(lines: matches.Lines, words: matches.Words, phrases: matches.Phrases, found: np.ndarray) -> list[float]:
    """The statistics of the two lines, with room for as many matches as there may be."""
    longest = int(np.diff(lines.offsets).max())
    mark, chain = np.zeros((4, len(phrases.lengths)), np.int32), np.zeros((2, longest, 2), np.int32)
    n = matches.collect.compiled(lines, words, phrases, 0, 1, mark, 1, chain, np.zeros((3, matches.SHORT), np.int64), found)
    bounds, order, fixed, cover = np.zeros(longest + 1, np.int64), np.zeros(n, np.int64), np.zeros(longest, np.int64), np.zeros((2, longest), np.int64)
    alignment.group.compiled(found, n, longest, longest, cover, bounds, order, fixed)
    beam, state = np.zeros((alignment.BEAM, 4), np.int64), np.zeros((2, alignment.BEAM, 5), np.int64)
    used, children = np.zeros((2 * alignment.BEAM, longest // 32 + 1), np.int64), np.zeros(2 * alignment.BEAM, np.int64)
    history, chosen, row = np.zeros((longest, alignment.BEAM, 2), np.int32), np.zeros(longest, np.int64), np.zeros(23)
    alignment.search.compiled(found, bounds, order, fixed, longest, longest, beam, state, used, children, history, chosen)
    alignment.count.compiled(lines, words, 0, 1, found, chosen, row)
    assert n > 4096
    return row.tolist()


def test_meteor_aligns_captions_with_thousands_of_matches() -> None:
    """Room for matches is made when they are counted. Going through them a second time must find the same."""
    lines, words, phrases = lines_of(np.random.default_rng(7), 150, 20)
    row = np.zeros((1, 23))
    assert alignment.align.compiled(lines, words, phrases, np.array([0]), np.array([1]), row) == -1
    assert row[0].tolist() == aligned(lines, words, phrases, np.zeros((100_000, 5), np.int32))


@pytest.mark.parametrize("seed", range(5))
def test_meteor_tries_the_nearest_of_many_matches(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(alignment, "MOST_TRIED", 4)
    rng = np.random.default_rng(seed)
    length1, length2 = 30, 20
    found = np.ones((120, 5), np.int32)
    found[:, 0], found[:, 2] = rng.integers(0, length2, 120) // 3, rng.integers(0, length1, 120)
    bounds, order, fixed, cover = np.zeros(31, np.int64), np.zeros(120, np.int64), np.zeros(30, np.int64), np.zeros((2, 30), np.int64)
    alignment.group.plain(found, 120, length1, length2, cover, bounds, order, fixed)
    for j in range(length2):
        every = [m for m in range(120) if found[m, 0] == j]
        away = sorted(abs(int(found[m, 2]) - j * length1 // length2) for m in every)
        # As far as there are not more than four, those at one distance all or none.
        far = max(d for d in range(-1, length1) if sum(one <= d for one in away) <= 4)
        kept = every if len(every) <= 4 else [m for m in every if abs(int(found[m, 2]) - j * length1 // length2) <= far]
        assert order[bounds[j] : bounds[j + 1]].tolist() == kept


@pytest.mark.parametrize("repeated, least, most", [(1, 5, 10), (12, 170, 400)])
def test_scenes_of_long_captions_are_much_work(repeated: int, least: int, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tuples are compared each with each, so what a caption takes grows with the square of what it says."""
    asked: list[float] = []

    class Asked:
        def pick(self, work: float) -> Any:
            asked.append(work)
            return counted.plain

    counted = match._count
    monkeypatch.setattr(match, "_count", Asked())
    monkeypatch.setattr(build, "worth_compiling", lambda words: True)
    nouns = iter(["dog", "cat", "man", "hill", "car", "bus", "tree", "road", "cow", "bird", "cup", "fork", "bed", "sofa", "lamp", "book"])
    text = " and ".join(f"a {next(nouns)} on a table" for _ in range(repeated))
    captious.score(Corpus.build(["1"], [[text]], [[text]]), "SPICE")
    # A table and other things, each with each, and the relations between them.
    assert len(asked) == 1 and least <= asked[0] / 50 < most
