"""Captions as numbers: references do not change, and candidates add numbers to theirs."""

from __future__ import annotations

import collections
import gc
import pickle
import random
import sys
import tracemalloc
import warnings
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pytest

import captious
from captious import References
from captious.corpus import Captions, Corpus
from captious.corpus.encoding import Encoding
from captious.data import demo_path
from captious.io import CaptionWarning, read
from captious.metrics import registry
from captious.metrics.captions.chair_table import table_from
from captious.metrics.learned.composite import WEIGHTS_FOLDER
from captious.text import ngrams
from captious.text.ngrams import NgramIndex, NgramTable
from captious.text.stemmer import stem
from tests.dual import vectors_for
from tests.memory import traced_bytes

MAX_N = 4


def words_of(captions: Captions, i: int, n: int) -> collections.Counter[tuple[str, ...]]:
    words = captions.words(i)
    return collections.Counter(tuple(words[k : k + n]) for k in range(len(words) - n + 1))


def numbers_by_ngram(*sides: Captions, n: int) -> dict[tuple[str, ...], int]:
    """Return the number of every n-gram of captions, from counts and positions alone, and check it."""
    numbers: dict[tuple[str, ...], int] = {}
    for captions in sides:
        table = captions.ngrams(n)
        numbered, positions = captions.encoding.first_positions(n)
        tokens, listed = captions.encoding.tokens, captions.encoding.words
        for number, at in zip(numbered.tolist(), positions.tolist()):
            gram = tuple(listed[tokens[at : at + n]].tolist())
            assert numbers.setdefault(gram, number) == number, gram
        for i in range(len(captions)):
            rows = slice(table.offsets[i], table.offsets[i + 1])
            expected = words_of(captions, i, n)
            assert dict(zip(table.number[rows].tolist(), table.count[rows].tolist())) == {
                numbers[gram]: count for gram, count in expected.items()
            }
            assert (np.diff(table.number[rows]) > 0).all()
            assert table.totals[i] == expected.total()
    assert len(set(numbers.values())) == len(numbers)
    return numbers


def random_groups(generator: random.Random, images: int, words: list[str], each: int = 2) -> list[list[str]]:
    return [
        [" ".join(generator.choices(words, k=generator.randint(0, 9))) for _ in range(each)]
        for _ in range(images)
    ]


@pytest.mark.parametrize("bits", [ngrams.BITS, 2], ids=["packed", "hashed"])
@pytest.mark.parametrize("seed", range(3))
def test_numbers_agree_between_candidates_and_references(
    seed: int, bits: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ngrams, "BITS", bits)
    generator = random.Random(seed)
    references = Captions.of(random_groups(generator, 10, list("abcdef")), "none")
    first = Captions.of(random_groups(generator, 10, list("defghi")), "none", over=references)
    second = Captions.of(random_groups(generator, 10, list("fxyz")), "none", over=references)
    for n in range(1, MAX_N + 1):
        ours = numbers_by_ngram(references, first, n=n)
        theirs = numbers_by_ngram(references, second, n=n)
        size = references.encoding.numbered(n).size
        # New n-grams follow those of the references without a gap.
        for numbers, captions in ((ours, first), (theirs, second)):
            grams = {g for i in range(len(references)) for g in words_of(references, i, n)}
            new = sorted(number for gram, number in numbers.items() if gram not in grams)
            if n > 1:
                assert new == list(range(size, captions.encoding.numbered(n).size))
            else:
                assert all(number >= size for number in new)


def many_words(count: int, prefix: str, per_caption: int = 1_000) -> list[list[str]]:
    words = [f"{prefix}{i}" for i in range(count)]
    return [[" ".join(words[i : i + per_caption])] for i in range(0, count, per_caption)]


@pytest.mark.parametrize(
    ("below", "above"),
    [(66_000, 10), (100, 66_000), (65_533, 2), (65_534, 2), (65_535, 2)],
    ids=["references", "candidates", "just below", "crossing", "just above"],
)
def test_more_words_than_can_be_packed(below: int, above: int) -> None:
    """Up to 65,536 words an n-gram is a 64-bit number, beyond that a hash. Either side may be the larger."""
    references = Captions.of(many_words(below, "r"), "none")
    shared = ["r3 r4 r5 r6", f"r{below - 5} r{below - 4} r{below - 3} r{below - 2}"]
    groups = [*many_words(above, "c"), [*shared, "r3 c1 r4 r5", "c0 r1"]]
    candidates = Captions.of(groups, "none", over=references)
    assert len(candidates.vocabulary) == below + above
    for n in range(1, MAX_N + 1):
        grams = {g for i in range(len(references)) for g in words_of(references, i, n)}
        own = {g for i in range(len(candidates)) for g in words_of(candidates, i, n)}
        assert references.encoding.numbered(n).size == len(grams)
        if n > 1:
            assert candidates.encoding.numbered(n).size == len(grams | own)
        # The shared captions are word for word in captions of the references.
        table, theirs = candidates.ngrams(n), references.ngrams(n)
        for i, start in ((len(candidates) - 4, 3), (len(candidates) - 3, below - 5)):
            found = table.number[table.offsets[i] : table.offsets[i + 1]].tolist()
            source = start // 1_000
            assert (start + 3) // 1_000 == source
            whole = theirs.number[theirs.offsets[source] : theirs.offsets[source + 1]].tolist()
            assert len(found) == 5 - n and set(found) <= set(whole)


def test_scores_do_not_depend_on_how_ngrams_are_packed() -> None:
    """With too many candidate words to pack, the first images score as without the others."""
    few = [
        ["a dog runs in the park", "the dog is running"],
        ["a cat sits on a mat", "cats sit"],
        ["two men talk", "men"],
    ]
    ids = ["1", "2", "3"]
    references = Captions.of(few, "none", ids=ids)
    own = [["a dog runs in a park"], ["the cat sits on the mat"], ["two men are talking"]]
    plain = Corpus.build(ids, own, references)
    crowded = Corpus.build(ids, [*own[:2], [*own[2], *(g[0] for g in many_words(70_000, "c"))]], references)
    assert len(crowded.candidates.vocabulary) > 1 << 16
    for name in ("BLEU-4", "CIDEr-D", "CIDEr", "ROUGE-L"):
        a, b = captious.score(plain, name)[name], captious.score(crowded, name)[name]
        assert a.per_caption.tolist() == b.per_caption[:3].tolist(), name


def test_an_encoding_never_lies_over_an_overlay() -> None:
    references = Captions.of([["a b"]], "none")
    candidates = Captions.of([["a c"]], "none", over=references)
    with pytest.raises(ValueError, match="not over another overlay"):
        Captions.of([["c d"]], "none", over=candidates)


def test_values_per_word_are_looked_up_once_for_the_base() -> None:
    asked: list[list[str]] = []

    def lengths(words: list[str]) -> np.ndarray:
        asked.append(list(words))
        return np.array([len(word) for word in words], dtype=np.int64)

    base = Encoding.of(["a bb", "ccc a"], "none")
    for text in ("bb dddd", "eeeee", "a"):
        over = Encoding.of([text], "none", base)
        values = over.per_word("lengths", lengths)
        assert values.tolist() == [len(word) for word in over.vocabulary.words]
    assert asked == [["a", "bb", "ccc"], ["dddd"], ["eeeee"]]


# References do not change -----------------------------------------------------------------------------------


def snapshot(references: Captions) -> bytes:
    """Return all parts of the references that a system could change."""
    encoding = references.encoding
    parts: list[Any] = [
        encoding.vocabulary.words,
        encoding.tokens,
        encoding.offsets,
        references.image_offsets,
        references.ids,
    ]
    for n in range(1, MAX_N + 1):
        table, size, index = encoding.numbered(n)
        parts += [table.number, table.count, table.offsets, table.totals, size]
        if index is not None:
            parts += [index.keys[: index.size], index.places, index.size, index.exact]
    return pickle.dumps(parts)


@pytest.fixture
def quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CaptionWarning)
        yield


def test_any_number_of_systems_leaves_the_references_byte_for_byte(quiet: None) -> None:
    references = References.read(demo_path("references"))
    before = snapshot(references.captions)
    systems = captious.load_systems(references, [demo_path(name) for name in ("good", "poor")])
    generator = random.Random(4)
    for step in range(2):
        new = [[f"a word{step}x{generator.random()} dog runs nowhere{step}"] for _ in range(60)]
        systems.append(Corpus.build(systems[0].ids, new, systems[0].references, name=f"new {step}"))
    vectors = vectors_for(*systems)
    for system in systems:
        captious.score(
            system,
            registry.names(),
            train=["a dog"],
            norms={"dog": 4.8},
            weights=str(WEIGHTS_FOLDER / "captious_score_lite.safetensors"),
            **vectors,
        )
    assert snapshot(references.captions) == before
    assert all(system.references is references.captions for system in systems)


# A training loop --------------------------------------------------------------------------------------------


def held_by(captions: Captions) -> dict[str, int]:
    """Return the size of references: words, cached values, locks, and the bytes of all arrays."""
    sizes = {"words": len(captions.vocabulary), "index": sys.getsizeof(captions.vocabulary._index)}
    for name, memo in (("captions", captions.memo), ("encoding", captions.encoding.memo)):
        sizes[f"{name} values"] = len(memo._values)
        sizes[f"{name} kinds"] = len(memo._kinds)
        sizes[f"{name} locks"] = len(memo._locks)
        sizes[f"{name} bytes"] = bytes_of(memo._values.values())
        sizes[f"{name} entries"] = sum(
            len(value) for value in memo._values.values() if isinstance(value, dict | list)
        )
    return sizes


def bytes_of(values: Iterable[Any]) -> int:
    total = 0
    for value in values:
        if isinstance(value, np.ndarray):
            total += value.nbytes
        elif isinstance(value, tuple | list):
            total += bytes_of(value)
        elif isinstance(value, NgramTable | NgramIndex):
            total += bytes_of(vars(value).values())
    return total


#: Small batches of many kinds: overlaps, tf-idf, alignments with synonyms, objects, sets.
LOOP = ("BLEU-4", "ROUGE-L", "CIDEr-D", "METEOR", "CHAIRi", "Self-CIDEr", "mBLEU-4", "Div-2")


class Loop:
    """64 images of 200, 5 captions each, and a new word in every caption."""

    def __init__(self, names: Iterable[str]) -> None:
        self.generator = random.Random(1)
        ids = [str(i) for i in range(200)]
        self.common = [f"w{i}" for i in range(300)]
        groups = [[" ".join(self.generator.choices(self.common, k=8)) for _ in range(3)] for _ in ids]
        self.references = Captions.of(groups, "none", ids=ids)
        self.measures = [registry.create(name) for name in names]
        self.states = [measure.prepare(self.references) for measure in self.measures]
        self.number = 0

    def step(self) -> float:
        self.number += 1
        batch = self.generator.sample(self.references.ids, 64)
        groups = [[self.caption() for _ in range(5)] for _ in batch]
        corpus = Corpus.build(batch, groups, self.references)
        return sum(
            captious.Score.of(measure, corpus, state).value
            for measure, state in zip(self.measures, self.states)
        )

    def caption(self) -> str:
        return " ".join(
            [*self.generator.choices(self.common, k=5), f"new{self.number}.{self.generator.random()}"]
        )


@pytest.mark.parametrize(
    ("names", "steps"), [(LOOP, 20), (("BLEU-2", "CIDEr-D"), 200)], ids=["many measures", "many steps"]
)
def test_the_references_of_a_training_loop_do_not_grow(
    names: tuple[str, ...], steps: int, quiet: None
) -> None:
    loop = Loop(names)
    loop.step()
    before = held_by(loop.references)
    for _ in range(steps):
        loop.step()
    assert held_by(loop.references) == before


@pytest.mark.parametrize("name", LOOP)
def test_the_process_of_a_training_loop_does_not_grow(
    name: str, quiet: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every step has 320 new words of over 70 bytes each. A cache of them grows by more than 20 kB a step."""
    # Stems are kept for a fixed number of words, which a short test does not reach.
    monkeypatch.setattr("captious.meteor.encoding_words.stem", stem.__wrapped__)
    loop = Loop([name])
    loop.step()
    loop.step()
    gc.collect()
    tracemalloc.start()
    try:
        loop.step()
        before = traced_bytes()
        for _ in range(4):
            loop.step()
        after = traced_bytes()
    finally:
        tracemalloc.stop()
    assert after - before < 4 * 2_500


def test_what_is_remembered_of_words_is_bounded() -> None:
    """CHAIR's table does not cache words, and the stemmer caches a bounded number."""
    table = table_from({"bus": ["coach"], "dog": ["puppy"]})
    sizes = set()
    for i in range(50):
        assert [m.object for m in table.mentions([f"word{i}", "puppies", "and", "dogs", f"buses{i}"])] == [
            "dog",
            "dog",
        ]
        sizes.add(len(pickle.dumps(table)))
    assert len(sizes) == 1
    assert stem.cache_info().maxsize is not None


def test_batches_of_a_file_leave_nothing_behind_either() -> None:
    """Parts of prepared references live as long as a corpus of theirs does."""
    references = References.read(demo_path("references"))
    file = read(demo_path("good"), "predictions")
    predictions = dict(zip(file.ids, (group[0] for group in file.captions)))
    sizes = []
    for start in range(4):
        some = dict(list(predictions.items())[start : start + 20])
        for how in ({"subset": True}, {"part": True}):
            captious.score(captious.load(references, some, **how), "BLEU-4,CIDEr-D")
        twice = captious.load_systems(references, [some, some], subset=True)
        assert twice[0].references is twice[1].references
        sizes.append(held_by(references.captions))
    assert all(size == sizes[0] for size in sizes)
    del twice
    gc.collect()
    assert len(references._parts) == 0
