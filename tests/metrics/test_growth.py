"""Captions of any length: time and memory of every measure grow in proportion to the length, or are limited."""

from __future__ import annotations

import tracemalloc
from functools import cache

import numpy as np
import pytest

import captious
from captious.core.errors import InputError
from captious.core.threads import working
from captious.kernels import plain_forms
from captious.metrics import registry
from captious.metrics.captions.rouge import longest_common
from captious.text.stemmer import stem
from tests.growth import Cost, corpus_of, costs
from tests.memory import traced_bytes

SHORT, LONG = 400, 3_200
#: They use the sentence encoder, which reads a limited number of tokens of each caption.
ENCODED = (
    *("SentenceSim", "TokenSim-P", "TokenSim-R", "TokenSim-R-idf", "TokenSim-P-union"),
    *("Soft-SPICE", "CaptiousScore", "ParaScore"),
)
#: METEOR tries up to 256 matches of a word. With few different words, there are fewer in short captions.
ALIGNED = ("METEOR", "LCEval", "NNEval")
NAMES = [name for name in registry.names() if name not in ENCODED]


@cache
def grown() -> dict[str, tuple[Cost, Cost]]:
    kinds = {"one": ALIGNED, "random": [name for name in NAMES if name not in ALIGNED]}
    for kind, names in kinds.items():
        costs(names, kind, 20)
    short, long = (
        {name: cost for kind, names in kinds.items() for name, cost in costs(names, kind, words).items()}
        for words in (SHORT, LONG)
    )
    return {name: (short[name], long[name]) for name in NAMES}


@pytest.mark.parametrize("name", NAMES)
def test_memory_grows_in_proportion(name: str) -> None:
    short, long = grown()[name]
    assert long.memory < 1.5 * LONG / SHORT * short.memory + 500_000


@pytest.mark.parametrize("name", NAMES)
def test_time_does_not_grow_with_the_square(name: str) -> None:
    """Eight times as many words take at most 24 times as long, where squared time would be 64 times."""
    short, long = grown()[name]
    assert long.seconds < 3 * LONG / SHORT * short.seconds + 0.05


def test_memory_of_kernels_is_linear_in_distinct_words() -> None:
    """ROUGE-L's kernel allocates memory itself, which is seen in its plain form."""

    def peak(words: int) -> int:
        corpus = corpus_of("new", words)
        assert len(corpus.pairs[0]) == 8
        tracemalloc.start()
        try:
            longest_common(corpus)
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    with plain_forms():
        peak(50)
        assert peak(800) < 1.5 * 4 * peak(200)


def test_the_encoder_reads_a_limited_number_of_tokens() -> None:
    pytest.importorskip("tokenizers")
    from captious.vectors.sentence_vectors import SentenceEncoder

    try:
        encoder = SentenceEncoder()
    except captious.CaptiousError as error:
        pytest.skip(str(error))
    lengths = [len(ids) for ids in encoder.token_numbers(["dog " * words for words in (10, 1_000, 100_000)])]
    assert lengths[0] == 10 and lengths[1] == lengths[2] <= 512


def test_wmd_refuses_captions_of_too_many_different_words(monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = corpus_of("varied", 300)
    assert np.isfinite(captious.score(corpus, "WMD")["WMD"].value)
    monkeypatch.setenv("CAPTIOUS_MAX_WMD_WORDS", "100")
    with pytest.raises(
        InputError, match=r"a caption of image 1: .* more than 100 distinct words, a limit.*MAX_WMD"
    ):
        captious.score(corpus_of("varied", 300), "WMD")
    assert np.isfinite(captious.score(corpus_of("random", 300), "WMD")["WMD"].value)


def test_spice_refuses_graphs_of_too_many_objects(monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = captious.load({"7": ["a dog"], "8": ["a cat"]}, {"7": "a dog", "8": "a dog, a man and a boat"})
    monkeypatch.setenv("CAPTIOUS_MAX_OBJECTS", "2")
    with pytest.raises(
        InputError, match=r"the captions of image 8: .* more than 2 objects, a limit.*MAX_OBJECTS"
    ):
        captious.score(corpus, "SPICE")
    monkeypatch.setenv("CAPTIOUS_MAX_OBJECTS", "3")
    assert captious.score(corpus, "SPICE")["SPICE"].value > 0


def test_meteor_remembers_a_limited_number_of_words() -> None:
    """Memory of a long-lived process does not grow with new words of candidates."""

    def score(first: int) -> None:
        texts = [
            " ".join(f"{'abcdefghij'[k]}w{n}ings" for k in range(10)) for n in range(first, first + 1_000)
        ]
        corpus = captious.load({"1": ["a dog runs"]}, {"1": texts}, several=True)
        captious.score(corpus, "METEOR")

    with working(1):
        tracemalloc.start()
        try:
            score(0)
            before = traced_bytes()
            for step in range(1, 4):
                score(1_000 * step)
            growth = traced_bytes() - before
        finally:
            tracemalloc.stop()
    # 30,000 new words.
    assert growth < 10 * 30_000, growth
    assert stem.cache_info().currsize <= 1 << 13
