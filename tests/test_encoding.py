"""Captions as numbers: references stay as they are, candidates are numbered over them."""

from __future__ import annotations

import collections
import pickle
import random
import sys
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import captious
from captious import References
from captious.corpus import Captions, Corpus
from captious.data import demo_path
from captious.encoding import Encoding
from captious.io import CaptionWarning
from captious.measures import registry
from captious.memo import Memo
from captious.text import ngrams

MAX_N = 4


def words_of(captions: Captions, i: int, n: int) -> collections.Counter[tuple[str, ...]]:
    words = captions.words(i)
    return collections.Counter(tuple(words[k : k + n]) for k in range(len(words) - n + 1))


def numbers_by_ngram(*sides: Captions, n: int) -> dict[tuple[str, ...], int]:
    """The number of every n-gram of captions, read off tables by counts and positions alone, and checked on the way."""
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
    return [[" ".join(generator.choices(words, k=generator.randint(0, 9))) for _ in range(each)] for _ in range(images)]


@pytest.mark.parametrize("bits", [ngrams.BITS, 2], ids=["packed", "hashed"])
@pytest.mark.parametrize("seed", range(3))
def test_numbers_agree_between_candidates_and_references(seed: int, bits: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ngrams, "BITS", bits)
    generator = random.Random(seed)
    references = Captions.of(random_groups(generator, 10, list("abcdef")), "none")
    first = Captions.of(random_groups(generator, 10, list("defghi")), "none", over=references)
    second = Captions.of(random_groups(generator, 10, list("fxyz")), "none", over=references)
    for n in range(1, MAX_N + 1):
        ours = numbers_by_ngram(references, first, n=n)
        theirs = numbers_by_ngram(references, second, n=n)
        size = references.encoding.numbered(n).size
        # New n-grams come behind those of the references, without a gap.
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
    [(66_000, 10), (100, 66_000), (66_000, 66_000), (65_534, 1), (65_535, 1), (65_534, 3)],
    ids=["references", "candidates", "both", "just below", "just at", "crossing"],
)
def test_more_words_than_can_be_packed(below: int, above: int) -> None:
    """Up to 65,536 words an n-gram is a number of 64 bits, beyond that a hash of it: either side may be the larger."""
    references = Captions.of(many_words(below, "r"), "none")
    shared = ["r3 r4 r5 r6", f"r{below - 4} r{below - 3} r{below - 2} r{below - 1}"]
    groups = [*many_words(above, "c"), [*shared, "r3 c1 r4 r5", "c0 r1"]]
    candidates = Captions.of(groups, "none", over=references)
    assert len(candidates.vocabulary) == below + above
    for n in range(1, MAX_N + 1):
        assert len(references.ngrams(n).number) == below - (n - 1) * len(references)
        grams = {g for i in range(len(references)) for g in words_of(references, i, n)}
        own = {g for i in range(len(candidates)) for g in words_of(candidates, i, n)}
        assert references.encoding.numbered(n).size == len(grams)
        if n > 1:
            assert candidates.encoding.numbered(n).size == len(grams | own)
        # The shared captions have, word for word, the n-grams of the references' captions.
        table, theirs = candidates.ngrams(n), references.ngrams(n)
        at = len(candidates) - 4
        for i, source, start in ((at, 0, 3), (at + 1, (below - 4) // 1_000, (below - 4) % 1_000)):
            found = set(table.number[table.offsets[i] : table.offsets[i + 1]].tolist())
            whole = set(theirs.number[theirs.offsets[source] : theirs.offsets[source + 1]].tolist())
            if start + 4 <= 1_000:
                assert found <= whole and len(found) == 5 - n


def test_scores_do_not_depend_on_how_ngrams_are_packed() -> None:
    """References with few words and candidates with too many to pack: the first images score as without the others."""
    few = [["a dog runs in the park", "the dog is running"], ["a cat sits on a mat", "cats sit"], ["two men talk", "men"]]
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


# References stay as they are -------------------------------------------------------------------------------------------


def snapshot(references: Captions) -> bytes:
    """All of the references that a system could touch: words, tokens, offsets, and the n-gram tables with their index."""
    encoding = references.encoding
    parts: list[Any] = [encoding.vocabulary.words, encoding.tokens, encoding.offsets, references.image_offsets, references.ids]
    for n in range(1, MAX_N + 1):
        table, size, index = encoding.numbered(n)
        parts += [table.number, table.count, table.offsets, table.totals, size]
        if index is not None:
            parts += [index.slots, index.numbers, index.size, index.exact]
    return pickle.dumps(parts)


@pytest.fixture
def quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CaptionWarning)
        yield


def test_any_number_of_systems_leaves_the_references_byte_for_byte(quiet: None) -> None:
    references = References.read(demo_path("references"))
    before = snapshot(references.captions)
    systems = captious.load_systems(references, [demo_path(name) for name in ("good", "generic", "poor")])
    generator = random.Random(4)
    for step in range(5):
        new = [[f"a word{step}x{generator.random()} dog runs nowhere{step}"] for _ in range(60)]
        systems.append(systems[0].with_candidates(new, name=f"new {step}"))
    names = [name for name in registry.names() if name != "Novel"]
    for system in systems:
        captious.score(system, names)
    assert snapshot(references.captions) == before
    assert all(system.references is references.captions for system in systems)


# A training loop -------------------------------------------------------------------------------------------------------


def memos_of(captions: Captions) -> list[Memo]:
    return [captions.memo, captions.encoding.memo]


def held_by(captions: Captions) -> dict[str, int]:
    """How much the references hold: words, values kept, locks, bytes of the tables."""
    sizes = {"words": len(captions.vocabulary)}
    for name, memo in zip(("captions", "encoding"), memos_of(captions)):
        sizes[f"{name} values"] = len(memo._values)
        sizes[f"{name} locks"] = len(memo._locks)
        sizes[f"{name} bytes"] = deep_size(memo._values)
    sizes["index"] = sys.getsizeof(captions.vocabulary._index) + sys.getsizeof(captions.vocabulary.new)
    return sizes


def deep_size(value: Any, seen: set[int] | None = None) -> int:
    """Bytes of containers, arrays and what they hold."""
    seen = set() if seen is None else seen
    if id(value) in seen:
        return 0
    seen.add(id(value))
    size = value.nbytes if isinstance(value, np.ndarray) else sys.getsizeof(value)
    if isinstance(value, dict):
        size += sum(deep_size(k, seen) + deep_size(v, seen) for k, v in value.items())
    elif isinstance(value, list | tuple | set | frozenset):
        size += sum(deep_size(item, seen) for item in value)
    elif hasattr(value, "__dict__"):
        size += deep_size(vars(value), seen)
    return size


LOOP = "BLEU-4,ROUGE-L,CIDEr-D,CIDEr,METEOR,Precision-2,Recall-1,Self-CIDEr,mBLEU-4,Div-2"


def test_a_training_loop_leaves_nothing_behind(quiet: None) -> None:
    """64 images and 5 captions each a step, new words every time: the references hold after 300 steps what they held
    after the first, and so does the process, but for a few kilobytes."""
    import gc
    import tracemalloc

    generator = random.Random(1)
    ids = [str(i) for i in range(200)]
    common = [f"w{i}" for i in range(300)]
    references = Captions.of([[" ".join(generator.choices(common, k=8)) for _ in range(3)] for _ in ids], "none", ids=ids)
    measures = [registry.create(name) for name in registry.resolve(LOOP)]
    states = [measure.prepare(references) for measure in measures]

    def step(number: int) -> float:
        batch = generator.sample(ids, 64)
        captions = [
            [" ".join([*generator.choices(common, k=6), f"new{number}-{generator.random()}"]) for _ in range(5)] for _ in batch
        ]
        corpus = Corpus.build(batch, captions, references)
        return sum(captious.Score.of(m, corpus, s).value for m, s in zip(measures, states))

    step(0)
    step(1)
    before = held_by(references)
    gc.collect()
    tracemalloc.start()
    try:
        step(2)
        gc.collect()
        at_first = tracemalloc.get_traced_memory()[0]
        for number in range(3, 60):
            step(number)
        gc.collect()
        in_the_end = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    for number in range(60, 300):
        step(number)
    assert held_by(references) == before
    # 57 steps bring more than 18,000 new words of over 20 bytes each: kept, they would be a megabyte.
    assert in_the_end - at_first < 100_000


def test_batches_of_a_file_leave_nothing_behind_either() -> None:
    """Parts of prepared references live as long as a corpus of theirs does."""
    import gc

    from captious.io import read

    references = References.read(demo_path("references"))
    file = read(demo_path("good"), "predictions")
    predictions = dict(zip(file.ids, (group[0] for group in file.captions)))
    for start in range(10):
        some = dict(list(predictions.items())[start : start + 20])
        for how in ({"subset": True}, {"part": True}):
            captious.score(captious.load(references, some, **how), "BLEU-4,CIDEr-D")
        twice = captious.load_systems(references, [some, some], subset=True)
        assert twice[0].references is twice[1].references
    before = held_by(references.captions)
    del twice
    gc.collect()
    assert len(references._parts) == 0
    captious.score(captious.load(references, dict(list(predictions.items())[30:]), subset=True), "BLEU-4,CIDEr-D")
    assert held_by(references.captions) == before
