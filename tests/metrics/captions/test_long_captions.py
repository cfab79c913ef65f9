"""Captions of any length: the same results as for short ones, in time that does not grow with the square."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import captious
from captious.core.ragged import offsets_of
from captious.corpus import Corpus
from captious.meteor import align as alignment
from captious.meteor import matches
from captious.meteor.relations import related_words
from captious.metrics.captions import rouge
from captious.text.spacy_like import split_chunk
from tests.forms import both_forms, form_of

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
@both_forms
def test_rows_of_bits_give_the_longest_common_subsequence(
    form: str, ours: list[list[int]], theirs: list[list[int]]
) -> None:
    pairs = [(i, j) for i in range(len(ours)) for j in range(len(theirs))]
    flat = [
        (np.array([w for own in side for w in own], np.int32), offsets_of([len(own) for own in side]))
        for side in (ours, theirs)
    ]
    candidate, reference = (np.array(column, np.int64) for column in zip(*pairs))
    last_place, found = np.full(61, -1, np.int32), np.zeros(len(pairs), np.int64)
    form_of(rouge.common_subsequences, form)(*flat[0], *flat[1], candidate, reference, last_place, found)
    assert found.tolist() == [longest_common_subsequence(ours[i], theirs[j]) for i, j in pairs]
    assert (last_place == -1).all()


@both_forms
@pytest.mark.parametrize("vocabulary", [3, 60])
def test_rows_of_several_words_of_bits(form: str, vocabulary: int) -> None:
    """Captions of more than two rows of bits, where carries cross, each compared with several references."""
    draw = np.random.default_rng(vocabulary)
    sides = [[draw.integers(0, vocabulary, length).tolist() for length in (200, 150, 70)] for _ in range(2)]
    pairs = [(i, j) for i in range(3) for j in range(3)]
    flat = [
        (np.array([w for own in side for w in own], np.int32), offsets_of([len(own) for own in side]))
        for side in sides
    ]
    candidate, reference = (np.array(column, np.int64) for column in zip(*pairs))
    last_place, found = np.full(61, -1, np.int32), np.zeros(len(pairs), np.int64)
    form_of(rouge.common_subsequences, form)(*flat[0], *flat[1], candidate, reference, last_place, found)
    assert found.tolist() == [longest_common_subsequence(sides[0][i], sides[1][j]) for i, j in pairs]


def test_rouge_l_of_a_hundred_thousand_words() -> None:
    words = [f"w{n}" for n in np.random.default_rng(1).integers(0, 30_000, 100_000)]
    text = " ".join(words)
    corpus = Corpus.build(["1"], [[text]], [[text, " ".join(words[::-1])]], tokenizer="none")
    assert captious.score(corpus, "ROUGE-L")["ROUGE-L"].value == pytest.approx(1.0)


def random_lines(
    rng: np.random.Generator, count: int, vocabulary: int
) -> tuple[matches.Lines, matches.Lines, matches.WordRelations, matches.PhraseRelations]:
    """Two random lines over words some of which share stems or synonyms, or begin paraphrases."""
    sides = []
    for _ in range(2):
        spans = [
            [int(phrase) for phrase in (rng.integers(0, 3), rng.integers(3, 6)) if rng.random() < 0.2]
            for _ in range(count)
        ]
        # Phrases 0–2 have one word, 3–5 two.
        spans[-1] = [phrase for phrase in spans[-1] if phrase < 3]
        offsets = offsets_of([len(some) for some in spans]).astype(np.int32)
        tokens = rng.integers(0, vocabulary, count).astype(np.int32)
        sides.append(
            matches.Lines(
                tokens, np.array([0, count]), np.array([p for some in spans for p in some], np.int32), offsets
            )
        )
    key = np.arange(vocabulary, dtype=np.uint32) // 2
    offsets = 3 * np.arange(vocabulary + 1)
    related = related_words(
        key,
        key // 2,
        offsets,
        rng.integers(0, vocabulary, 3 * vocabulary).astype(np.int32),
        np.ones(vocabulary, np.bool_),
    )
    lengths = np.array([1, 1, 1, 2, 2, 2], np.int32)
    lists = [
        (p, matches.KINDS * (vocabulary + q) + side, rank)
        for side in range(2)
        for p in range(6)
        for rank, q in enumerate(rng.permutation(6)[:3].tolist())
    ]
    lists.sort(key=lambda row: row[0])
    phrases = matches.PhraseRelations(
        lengths,
        6 * np.arange(7),
        np.array([row[1] for row in lists], np.int32),
        np.array([row[2] for row in lists], np.int32),
        np.arange(6, dtype=np.int32),
        lengths,
    )
    words = matches.WordRelations(key, np.zeros(vocabulary, np.bool_), *related)
    return sides[0], sides[1], words, phrases


def gathered(
    parts: tuple[matches.Lines, matches.Lines, matches.WordRelations, matches.PhraseRelations],
    identical: bool = False,
) -> tuple[list[list[list[int]]], list[int]]:
    """Return the matches of each position (start, length, other length, module), and the certain ones."""
    ours, theirs, words, phrases = parts
    room = alignment.scratch(*parts, np.array([0]), np.array([0]))
    vocabulary, length1 = len(words.function), len(ours.tokens)
    matches.mark.plain(theirs, phrases, vocabulary, 0, room.wanted, 1)
    index = room.lists._replace(
        entries=np.zeros((matches.room_for.plain(ours, words, phrases, 0), 3), np.int32)
    )
    matches.turn_round.plain(
        ours,
        words,
        phrases,
        0,
        room.wanted,
        1,
        index,
        np.zeros((len(index.entries), 4), np.int32),
        room.filled,
    )
    matches.gather.plain(
        theirs,
        phrases,
        vocabulary,
        0,
        length1,
        identical,
        index,
        room.keys,
        room.uses,
        room.used,
        room.cover,
        room.matches,
        room.bounds,
        room.fixed,
    )
    assert not room.uses.any()
    bounds = room.bounds.tolist()
    return [room.matches[a:b, :4].tolist() for a, b in pairwise(bounds)], [
        int(m) - a if m >= 0 else -1 for m, a in zip(room.fixed, bounds)
    ]


def all_matches(
    parts: tuple[matches.Lines, matches.Lines, matches.WordRelations, matches.PhraseRelations],
) -> list[list[list[int]]]:
    """Plain form: compare every position with every other, in the order of the reference implementation."""
    ours, theirs, words, phrases = parts
    count = len(ours.tokens)
    goes_to = [set(words.related[a:b].tolist()) for a, b in pairwise(words.related_offsets.tolist())]
    spans1, spans2 = (
        [side.spans[a:b].tolist() for a, b in pairwise(side.span_offsets.tolist())] for side in (ours, theirs)
    )
    vocabulary = len(words.function)
    lists = [
        {int(key): int(rank) for key, rank in zip(phrases.related[a:b], phrases.ranks[a:b])}
        for a, b in pairwise(phrases.offsets.tolist())
    ]
    found: list[list[list[int]]] = []
    for j, token in enumerate(theirs.tokens.tolist()):
        here = [
            [i, 1, 1, module]
            for module in range(3)
            for i, own in enumerate(ours.tokens.tolist())
            if matches.KINDS * token + module in goes_to[own]
        ]
        places = [(i, p) for i in range(count) for p in spans1[i]]
        lengths = phrases.lengths.tolist()
        for q in spans2[j]:
            there = matches.KINDS * (vocabulary + q) + matches.THERE
            here += [
                [i, lengths[p], lengths[q], 3]
                for _, i, p in sorted((lists[p][there], i, p) for i, p in places if there in lists[p])
            ]
        back = [
            (i, lengths[p], lists[p][key], lengths[q])
            for i, p in places
            for q in spans2[j]
            if (key := matches.KINDS * (vocabulary + q) + matches.BACK) in lists[p]
        ]
        here += [[i, length, length2, 3] for i, length, _, length2 in sorted(back)]
        found.append(here)
    return found


@pytest.mark.parametrize("seed", range(6))
def test_meteor_finds_the_matches_that_comparing_all_finds(seed: int) -> None:
    parts = random_lines(np.random.default_rng(seed), 40, 12 if seed % 2 else 1_000)
    expected = all_matches(parts)
    found, fixed = gathered(parts)
    assert found == expected
    cover = np.zeros((2, 40), int)
    for j, here in enumerate(expected):
        for i, length, length2, _ in here:
            cover[0, i : i + length] += 1
            cover[1, j : j + length2] += 1
    alone = [
        len(here) == 1
        and (cover[0, here[0][0] : here[0][0] + here[0][1]] == 1).all()
        and (cover[1, j : j + here[0][2]] == 1).all()
        for j, here in enumerate(expected)
    ]
    assert fixed == [0 if one else -1 for one in alone]
    assert any(alone) or seed % 2
    assert gathered(parts, identical=True)[0] == [
        [row for row in here if row[3] == matches.EXACT] for here in expected
    ]


@pytest.mark.parametrize("seed", range(5))
def test_meteor_tries_the_nearest_of_many_matches(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matches, "MOST_TRIED", 4)
    monkeypatch.setattr(alignment, "MOST_TRIED", 4)
    parts = random_lines(np.random.default_rng(seed), 30, 8)
    ours = parts[0]
    longer = matches.Lines(
        np.tile(ours.tokens, 2),
        np.array([0, 60]),
        np.tile(ours.spans, 2),
        np.concatenate([ours.span_offsets, ours.span_offsets[1:] + ours.span_offsets[-1]]),
    )
    parts = longer, *parts[1:]
    found, fixed = gathered(parts)
    for j, every in enumerate(all_matches(parts)):
        away = sorted(abs(row[0] - 2 * j) for row in every)
        # At most four matches per word; those at one distance are taken together or not at all.
        far = max(d for d in range(-1, 60) if sum(one <= d for one in away) <= 4)
        assert found[j] == (
            every if len(every) <= 4 else [row for row in every if abs(row[0] - 2 * j) <= far]
        )
        # Of many equal words, it is not certain which remain unmatched.
        assert fixed[j] == -1 or len(every) == 1


@pytest.mark.parametrize("count", [30, 70])
def test_meteor_has_room_for_thousands_of_places(count: int) -> None:
    """Space for the positions of a line is allocated when they are counted."""
    parts = random_lines(np.random.default_rng(7), count, 20)
    rows = []
    for room in (1, 100_000):
        row, own = np.zeros((1, 23), np.int32), alignment.scratch(*parts, np.array([0]), np.array([0]))
        own = own._replace(
            hits=np.empty((room, 4), np.int32),
            lists=own.lists._replace(entries=np.empty((room, 3), np.int32)),
        )
        alignment.align(
            *parts,
            np.array([0]),
            np.array([0]),
            row,
            np.zeros((1, 2)),
            np.zeros((0, 5), np.int32),
            np.zeros(0, np.int64),
            own,
        )
        rows.append(row.tolist())
    assert rows[0] == rows[1]


def test_hostile_chunks_are_split_in_linear_time() -> None:
    """With quadratic time, this test would take hours."""
    many = 200_000
    assert split_chunk("a.a." * many)[-1] == "."
    assert split_chunk("a.a." * many + ")" * many)[-many:] == [")"] * many
    assert split_chunk("(" * many + "www." + "a." * many)[:many] == ["("] * many
    assert split_chunk("(www.example.com/a.b)") == ["(", "www.example.com/a.b", ")"]
