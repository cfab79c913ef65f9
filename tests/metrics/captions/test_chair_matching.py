"""CHAIR's matching on arrays against a plain implementation of the same rules, word by word."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from captious.corpus import Captions, Corpus
from captious.metrics.captions.chair import ChairI, ChairS
from captious.metrics.captions.chair_matching import find
from captious.metrics.captions.chair_table import Mention, ObjectTable, default_table, table_from
from tests.forms import both_forms, running

ENDS = {"and", "on", "is", "a"}
RULED = {
    "format": "captious-chair",
    "version": 1,
    "objects": {
        "bear": ["grizzly bear", "cub"],
        "teddy bear": [],
        "person": ["baby", "fire fighter", "baby girl"],
        "orange": [],
        "chair": ["seat"],
        "toilet": [],
        "hydrant": ["fire hydrant"],
        "sign": ["old bear sign shop sign"],
    },
    "none": ["bear market", "seat belt", "old bear sign shop"],
    "modifiers": ["baby", "grandma"],
    "adjectives": ["orange"],
    "not_beside": {"seat": ["toilet", "bicycle"], "cub": ["scout"]},
}
WORDS = [
    "a",
    "and",
    "on",
    "is",
    "old",
    "bear",
    "bears",
    "grizzly",
    "cub",
    "cubs",
    "teddy",
    "baby",
    "babies",
    "fire",
    "fighter",
    "fighters",
    "girl",
    "orange",
    "oranges",
    "seat",
    "seats",
    "toilet",
    "bicycle",
    "scout",
    "hydrant",
    "sign",
    "shop",
    "market",
    "belt",
    "tree",
    "xyz",
    "Bear",
    "",
]


def plainly(table: ObjectTable, words: Sequence[str]) -> list[Mention]:
    """The rules as docs/reference/metrics/chair.md has them."""
    bases = ["" if word in table.unread else table._base(word) for word in words]
    found: list[tuple[Mention, int, int]] = []
    start = 0
    while start < len(words):
        lengths = [
            n for n in range(len(words) - start, 0, -1) if tuple(bases[start : start + n]) in table.phrases
        ]
        length = lengths[0] if lengths else 1
        kind = table.phrases[tuple(bases[start : start + length])] if lengths else None
        counts = kind is not None
        if length == 1 and table.not_beside.get(bases[start], frozenset()) & set(bases):
            counts = False
        if (
            length == 1
            and bases[start] in table.adjectives
            and words[start] == bases[start]
            and words[start + 1 : start + 2]
        ):
            counts = counts and words[start + 1] in ENDS
        if counts and kind is not None:
            found.append((Mention(" ".join(words[start : start + length]), kind), start, start + length))
        start += length
    starts = {first for _, first, _ in found}
    return [
        m
        for m, first, last in found
        if not (last in starts and last - first == 1 and bases[first] in table.modifiers)
    ]


def captions(seed: int, count: int, longest: int) -> list[list[str]]:
    draw = random.Random(seed)
    return [draw.choices(WORDS, k=draw.randint(0, longest)) for _ in range(count)]


@pytest.mark.parametrize(
    "table",
    [
        table_from(RULED),
        ObjectTable({("bear",): "bear", ("old", "bears"): "old", ("bus",): "bus"}, unread=["bus"]),
    ],
)
def test_the_walk_agrees_with_a_plain_reading(table: ObjectTable) -> None:
    some = [*captions(1, 600, 14), ["bus", "buses", "bus", "old", "bear"], ["bus"]]
    assert [table.mentions(words) for words in some] == [plainly(table, words) for words in some]
    named = {mention.object for words in some for mention in table.mentions(words)}
    assert named == set(table.kinds), "every class is met"


@both_forms
def test_both_forms_on_many_captions_at_once(form: str) -> None:
    table, some = table_from(RULED), captions(2, 400, 12)
    encoded = Captions.of([[" ".join(words)] for words in some], "none")
    with running(form):
        found = find(
            encoded.tokens, encoded.token_offsets, table.codes(encoded.vocabulary.words), table.rules
        )
    flat = encoded.encoding.words[encoded.tokens].tolist()
    for i in range(len(encoded)):
        here = slice(found.offsets[i], found.offsets[i + 1])
        told = [
            Mention(" ".join(flat[a:b]), table.kinds[kind])
            for a, b, kind in zip(found.start[here], found.end[here], found.kind[here])
        ]
        assert told == plainly(table, encoded.words(i))


def test_a_phrase_does_not_run_into_the_next_caption() -> None:
    corpus = Corpus.build(["1", "2"], [["a fire"], ["hydrant"]], [["a"], ["a"]])
    assert ChairI().statistics(corpus, None).tolist() == [[0, 0], [1, 1]]
    beside = Corpus.build(["1", "2", "3"], [["a toilet"], ["a seat"], ["an orange"]], [["a"], ["a"], ["cat"]])
    assert ChairI().statistics(beside, None).tolist() == [[1, 1]] * 3


def test_images_that_are_some_of_those_of_the_references() -> None:
    """Objects follow the candidates' images. References may have more images, in another order."""
    references = Captions.of([["a cat"], ["a dog", "a horse"], ["a cow"]], ids=["a", "b", "c"])
    corpus = Corpus.build(
        ["c", "b"], [["a cow", "a dog and a cow"], ["a dog on a horse beside two cats"]], references
    )
    assert ChairI().statistics(corpus, None).tolist() == [[0, 1], [1, 2], [1, 3]]
    assert ChairS().statistics(corpus, None).tolist() == [[0, 1], [1, 1], [1, 1]]
    given = ChairI({"b": ["cat"], "c": ["dog"], "a": ["person"]})
    assert given.statistics(corpus, None).tolist() == [[0, 1], [0, 2], [0, 3]]
    assert given.truth(corpus) == [{"cow", "dog"}, {"dog", "horse", "cat"}]
    rows = ChairI().mentions(corpus)
    assert [
        (row.image, row.caption, len(row.mentioned), [tuple(m) for m in row.hallucinated]) for row in rows
    ] == [
        ("c", "a cow", 1, []),
        ("c", "a dog and a cow", 2, [("dog", "dog")]),
        ("b", "a dog on a horse beside two cats", 3, [("cats", "cat")]),
    ]


def test_tables_of_equal_content_share_their_results() -> None:
    corpus = Corpus.build(["1"], [["a dog and a puppy"]], [["a cat"]])
    one, same, other = (table_from({"dog": names}) for names in (["puppy"], ["puppy"], []))
    assert ChairI(None, one).counts(corpus) is ChairI(None, same).counts(corpus)
    assert ChairI(None, other).statistics(corpus, None).tolist() == [[1, 1]]
    assert ChairI({"1": ["dog"]}, one).statistics(corpus, None).tolist() == [[0, 2]]


def test_a_file_of_objects_is_read_once_until_it_changes(tmp_path: Path) -> None:
    file = tmp_path / "objects.json"
    file.write_text('{"1": ["dog"]}')
    corpus = Corpus.build(["1"], [["a dog"]], [["a cat"]])
    first = ChairI(file)
    assert ChairS(str(file)).objects is first.objects
    assert first.statistics(corpus, None).tolist() == [[0, 1]]
    file.write_text('{"1": ["cat"]}')
    assert ChairI(file).statistics(corpus, None).tolist() == [[1, 1]]


def test_very_long_captions_are_walked_once() -> None:
    """A caption of 20,000 seats takes minutes if every one of them is compared with all words."""
    words = ["seat"] * 20_000
    table = default_table()
    assert len(table.mentions(words)) == 20_000
    assert [m.object for m in table.mentions([*words, "toilet"])] == ["toilet"]
    assert np.diff(table.rules.edges).max() > 1
