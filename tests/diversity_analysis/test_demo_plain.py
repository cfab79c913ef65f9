"""The demo's diversity through the public interface, against definitions written directly on the Stanford tokens."""

from __future__ import annotations

import itertools
import json
import math

import numpy as np
import pytest

import captious
import captious.text.ptb as ptb
from benchmarks import plain_diversity as plain
from captious.data import demo_path
from tests.gold import load


def words_of(caption: str) -> list[str]:
    """The Stanford tool's tokens, without punctuation."""
    return [token for token in load("tokens")[caption].split(" ") if token and token not in ptb.PUNCTUATION]


def demo_sets() -> dict[str, list[str]]:
    rows = map(json.loads, demo_path("sampling").read_text(encoding="utf-8").splitlines())
    return {str(row["image_id"]): row["captions"] for row in rows}


def demo_references() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for row in json.loads(demo_path("references").read_text(encoding="utf-8"))["annotations"]:
        found.setdefault(str(row["image_id"]), []).append(row["caption"])
    return found


def test_every_measure_of_the_sampled_sets() -> None:
    found = captious.diversity(demo_path("sampling"), references=demo_path("references"))
    references = {image: list(map(words_of, captions)) for image, captions in demo_references().items()}
    df = plain.document_frequencies(list(references.values()))
    values: dict[str, list[float]] = {}
    for image, captions in demo_sets().items():
        for name, value in plain.measure(
            list(map(words_of, captions)), references[image], df, len(references)
        ).items():
            assert found[name].per_image[image] == pytest.approx(value, rel=0, abs=1e-9), (image, name)
            values.setdefault(name, []).append(value)
    assert len(values) > 15
    for name, each in values.items():
        assert found[name].value == pytest.approx(np.mean(each), rel=0, abs=1e-9), name


def test_the_share_of_sampled_captions_that_are_new() -> None:
    sets = demo_sets()
    # Three of the ten are training captions, one of them with a capital and a full stop.
    train = {
        image: [captions[0].capitalize() + ".", captions[3], captions[7]] for image, captions in sets.items()
    }
    found = captious.diversity(sets, references=demo_references(), train=train, accuracy=())["Novel"]
    known = {
        tuple(words_of(caption))
        for captions in sets.values()
        for caption in (captions[0], captions[3], captions[7])
    }
    for image, captions in sets.items():
        new = [tuple(words_of(caption)) not in known for caption in captions]
        assert found.per_image[image] == pytest.approx(np.mean(new)), image
    assert 0.5 < found.value < 0.8


# The vocabulary of a whole system


def long_system() -> dict[str, str]:
    """All references of an image as one caption: enough words for segments of a thousand."""
    return {
        image: " ".join(" ".join(words_of(caption)) for caption in captions)
        for image, captions in demo_references().items()
    }


def test_the_vocabulary_of_a_system() -> None:
    system = long_system()
    found = (
        captious.corpus_diversity(demo_references(), system, tokenizer="none", parse=False).systems[0].values
    )
    text = [word for caption in system.values() for word in caption.split(" ")]
    assert len(text) > 2000
    lengths = [len(caption.split(" ")) for caption in system.values()]
    pairs = list(itertools.pairwise(text))
    once = [word for word in set(text) if text.count(word) == 1]

    def segments(items: list[object]) -> float:
        whole = [items[i : i + 1000] for i in range(0, len(items) - 999, 1000)]
        return float(np.mean([len(set(part)) / 1000 for part in whole]))

    expected = {
        "asl": np.mean(lengths),
        "sdsl": np.std(lengths),
        "types": len(set(text)),
        "ttr1": segments(list(text)),
        "ttr2": segments(list(pairs)),
        "hapax_share": len(once) / len(set(text)),
        "mtld": mtld(text),
    }
    for name, value in expected.items():
        assert found[name] == pytest.approx(value, rel=1e-12), name


def mtld(text: list[str]) -> float:
    """McCarthy & Jarvis (2010), read forwards and backwards."""

    def one_way(words: list[str]) -> float:
        factors, seen, length = 0.0, set(), 0
        for word in words:
            seen.add(word)
            length += 1
            if len(seen) / length < 0.72:
                factors, seen, length = factors + 1, set(), 0
        if length:
            factors += (1 - len(seen) / length) / (1 - 0.72)
        return len(words) / factors

    return (one_way(text) + one_way(text[::-1])) / 2


def test_novelty_coverage_and_negations_of_systems() -> None:
    references = demo_references()
    systems = [
        {str(r["image_id"]): r["caption"] for r in json.loads(demo_path(s).read_text(encoding="utf-8"))}
        for s in ("good", "generic")
    ]
    # The people who described even images wrote the training captions; "generic" says what it has learned by
    # heart.
    train = {image: captions for i, (image, captions) in enumerate(references.items()) if i % 2 == 0}
    train["x"] = list(systems[1].values())[::3]
    result = captious.corpus_diversity(
        references, systems, train=train, tokenizer="none", parse=False, names=["good", "generic"]
    )
    known = {tuple(caption.split()) for captions in train.values() for caption in captions}
    learned = {word for caption in known for word in caption if any(map(str.isalnum, word))}
    wanted = {
        word
        for captions in references.values()
        for c in captions
        for word in c.split()
        if any(map(str.isalnum, word))
    }
    for report, system in zip(result.systems, systems):
        captions = [caption.split() for caption in system.values()]
        assert report.values["novel"] == pytest.approx(np.mean([tuple(c) not in known for c in captions]))
        used = {word for caption in captions for word in caption}
        assert report.values["coverage"] == pytest.approx(
            len(used & learned & wanted) / len(learned & wanted)
        )
    assert result.systems[0].values["novel"] == 1.0
    assert 0 < result.systems[1].values["novel"] < 1
    assert not math.isnan(result.limit)
