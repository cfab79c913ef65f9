"""BLEU, ROUGE-L and CIDEr-D against pycocoevalcap's own code, which is plain Python, on random captions."""

from __future__ import annotations

import random
import warnings

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from pycocoevalcap.bleu.bleu import Bleu
from pycocoevalcap.cider.cider import Cider
from pycocoevalcap.rouge.rouge import Rouge

import captious
from tests.gold import load

#: A caption and its references, already tokenized.
Images = list[tuple[str, list[str]]]

NAMES = ("BLEU-1", "BLEU-2", "BLEU-3", "BLEU-4", "ROUGE-L", "CIDEr-D")


def demo_words() -> list[str]:
    """Words of captions, common ones often."""
    return [word for line in list(load("tokens").values())[:500] for word in line.split() if word.isalpha()]


def theirs(images: Images) -> dict[str, tuple[float, list[float]]]:
    """Corpus value and values of images by the COCO tools."""
    references = {str(i): refs for i, (_, refs) in enumerate(images)}
    candidates = {str(i): [caption] for i, (caption, _) in enumerate(images)}
    values, rows = Bleu(4).compute_score(references, candidates, verbose=0)
    out = {f"BLEU-{n}": (values[n - 1], list(rows[n - 1])) for n in range(1, 5)}
    for name, scorer in (("ROUGE-L", Rouge()), ("CIDEr-D", Cider())):
        value, each = scorer.compute_score(references, candidates)
        out[name] = (float(value), list(each))
    return out


def check(images: Images) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # captions without words
        corpus = captious.load(
            {i: refs for i, (_, refs) in enumerate(images)},
            {i: caption for i, (caption, _) in enumerate(images)},
            tokenizer="none",
        )
    scores = captious.score(corpus, NAMES)
    for name, (value, each) in theirs(images).items():
        ours = [scores[name].per_image[str(i)] for i in range(len(images))]
        np.testing.assert_allclose(ours, each, rtol=0, atol=1e-12, err_msg=name)
        assert scores[name].value == pytest.approx(value, rel=0, abs=1e-12), name


@pytest.mark.parametrize("seed", range(8))
def test_random_captions_of_demo_words(seed: int) -> None:
    """Long and short captions, some that repeat a reference or a part of it, with 1 to 7 references."""
    generator = random.Random(seed)
    words = demo_words()

    def caption() -> list[str]:
        length = generator.choice([0, 1, 2, 3, 4, 5, 8, 8, 10, 12, 20, 60])
        return generator.choices(words, k=length)

    images: Images = []
    for _ in range(generator.choice([2, 3, 30, 60])):
        references = [caption() for _ in range(generator.randint(1, 7))]
        if generator.random() < 0.3:
            references.append(references[0])
        said = caption()
        kind = generator.random()
        if kind < 0.2:
            said = list(references[-1])
        elif kind < 0.5:
            said = generator.choice(references)[: generator.randint(0, 9)] + said[:3]
        elif kind < 0.6:
            said = said[:2] * generator.randint(1, 6)
        images.append((" ".join(said), [" ".join(reference) for reference in references]))
    check(images)


FEW = st.lists(st.sampled_from(["a", "the", "dog", "cat", "on", "mat"]), max_size=7).map(" ".join)


@given(st.lists(st.tuples(FEW, st.lists(FEW, min_size=1, max_size=7)), min_size=2, max_size=6))
@settings(max_examples=80, deadline=None)
def test_few_words_that_meet_often(images: Images) -> None:
    assume(any(words for _, references in images for words in references))  # else the COCO tools fail
    check(images)


ODD: dict[str, Images] = {
    "a tie between a shorter and a longer reference": [
        ("a b c d", ["a b c d e f", "a b"]),
        ("a b c", ["x y z w", "a b"]),
    ],
    "captions without words": [("", ["a dog"]), ("a dog", [""]), ("", [""])],
    "one word": [("dog", ["dog"]), ("dog", ["cat", "dog"]), ("cat", ["a cat sat"])],
    "the same reference again and again": [("a dog runs", ["a dog"] * 7), ("a cat", ["a cat"])],
    "a caption that stutters": [("a a a a a a", ["a b a", "a a"]), ("dog dog", ["dog"])],
    "lengths far apart": [("a b c d e f g h i j k l", ["a b", "k l"]), ("a b", ["a b c d e f g h i j k l"])],
    "the same references for every image": [("a dog", ["a dog runs"]), ("dog runs", ["a dog runs"])],
    "no word in common": [("x y z", ["a b c", "d e f"]), ("p q", ["r s"])],
}


@pytest.mark.parametrize("kind", ODD)
def test_odd_captions(kind: str) -> None:
    check(ODD[kind])


def test_brevity_is_measured_against_the_shorter_of_two_equally_near_references() -> None:
    """The known cause of the difference above: three words, references of two and of four."""
    corpus = captious.load({1: ["a b", "a b c d"], 2: ["e f"]}, {1: "a b c", 2: "e f"}, tokenizer="none")
    assert captious.score(corpus, "BLEU-1")["BLEU-1"].per_image["1"] == pytest.approx(1.0, abs=1e-8)
