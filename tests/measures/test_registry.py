"""Properties that hold for every metric there is, and the names by which they are found."""

from __future__ import annotations

import numpy as np
import pytest

import captious
from captious.corpus import Corpus
from captious.measures import registry

IMAGES = {
    "1": ["two dogs run across a green field", "a pair of dogs running on grass", "dogs play in a field"],
    "2": ["a man rides a wave on a surfboard", "a surfer in a black wetsuit riding a wave", "the man is surfing"],
    "3": ["a plate of pasta with a fork", "some spaghetti and tomato sauce on a white plate", "food on a plate"],
    "4": ["a red bus parked beside a tall building", "a double decker bus on a city street", "the bus is red"],
}
CANDIDATES = {"1": "two brown dogs run on the grass", "2": "a man is surfing a big wave", "3": "a cat on a bed", "4": "a red bus on a street"}

#: Every measure of single captions.
NAMES = registry.of_family("all")


def corpus_of(order: list[str], candidates: dict[str, str], references: dict[str, list[str]] = IMAGES) -> Corpus:
    return Corpus.build(order, [[candidates[i]] for i in order], [references[i] for i in order], tokenizer="none")


@pytest.fixture(scope="module")
def base() -> Corpus:
    return corpus_of(list(IMAGES), CANDIDATES)


@pytest.mark.parametrize("name", NAMES)
def test_finite_within_bounds_and_reproducible(name: str, base: Corpus) -> None:
    score = captious.score(base, name)[name]
    low, high = score.metric.bounds
    values = score.per_caption[~np.isnan(score.per_caption)]
    assert np.isfinite(score.value)
    assert low is None or (values >= low - 1e-9).all()
    assert high is None or (values <= high + 1e-9).all()
    assert captious.score(base, name)[name].value == score.value
    assert score.signature.startswith(name + "|")


@pytest.mark.parametrize("name", NAMES)
def test_order_of_images_does_not_matter(name: str, base: Corpus) -> None:
    turned = captious.score(corpus_of(list(IMAGES)[::-1], CANDIDATES), name)[name]
    score = captious.score(base, name)[name]
    assert turned.value == pytest.approx(score.value, abs=1e-6)
    assert turned.per_image == pytest.approx(score.per_image, abs=1e-6, nan_ok=True)


@pytest.mark.parametrize("name", NAMES)
def test_a_copied_reference_is_perfect_and_beats_the_rest(name: str, base: Corpus) -> None:
    perfect = captious.score(corpus_of(list(IMAGES), {i: r[0] for i, r in IMAGES.items()}), name)[name]
    score = captious.score(base, name)[name]
    sign = 1 if score.metric.higher_is_better else -1
    assert sign * perfect.value >= sign * score.value
    bound = score.metric.bounds[1 if sign > 0 else 0]
    if score.metric.perfect_is_maximum and bound is not None:
        assert perfect.value == pytest.approx(bound, abs=1e-5)


@pytest.mark.parametrize("name", NAMES)
def test_empty_captions_are_scored(name: str) -> None:
    candidates = {**CANDIDATES, "2": ""}
    score = captious.score(corpus_of(list(IMAGES), candidates), name)[name]
    assert len(score.per_caption) == 4
    assert np.isfinite(score.value)


@pytest.mark.parametrize("name", NAMES)
def test_statistics_add_up_to_the_value_and_carry_intervals(name: str, base: Corpus) -> None:
    score = captious.score(base, name)[name]
    assert float(score.metric.value(score.statistics.sum(axis=0))) == pytest.approx(score.value)
    low, high = score.interval(resamples=50)
    assert low <= score.value + 1e-9 or np.isnan(low)
    assert high >= score.value - 1e-9 or np.isnan(high)


def test_names_in_any_case_groups_and_lists() -> None:
    assert registry.resolve("cider-d, rouge-l") == ["CIDEr-D", "ROUGE-L"]
    assert registry.resolve("bleu,BLEU-4") == ["BLEU-1", "BLEU-2", "BLEU-3", "BLEU-4"]
    assert set(registry.resolve("all")) == set(NAMES)
    assert registry.resolve("SPICE") == registry.resolve("spice") == ["SPICE"]
    assert not {name.casefold() for name in NAMES} & set(registry.GROUPS)
    assert all(member in NAMES for members in registry.GROUPS.values() for member in members)


@pytest.mark.parametrize(("wrong", "meant"), [("CIDER-E", "CIDEr-D"), ("rogue-l", "ROUGE-L"), ("bluu-4", "BLEU-4")])
def test_unknown_names_get_a_hint(wrong: str, meant: str) -> None:
    with pytest.raises(captious.InputError, match=f"unknown metric '{wrong}'.*did you mean.*{meant}"):
        registry.resolve(wrong)


def test_unknown_options_get_a_hint(base: Corpus) -> None:
    with pytest.raises(captious.InputError, match=r"unknown option 'dff'.*'df'"):
        captious.score(base, "CIDEr-D", dff=3)
