"""Properties of every measure: of captions, of sets of captions, of whole corpora."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any

import numpy as np
import pytest

import captious
from captious.core.errors import InputError, MissingExtraError
from captious.corpus import Corpus
from captious.metrics import registry
from captious.metrics.base import Measure, Sequences, concatenate, pack, unpack
from captious.metrics.learned.composite import WEIGHTS_FOLDER
from captious.results.scores import Score, Scores
from captious.vectors import keyed_vectors as keyed
from captious.vectors.keyed_vectors import KeyedVectors

REFERENCES = {
    "1": ["two dogs run across a green field", "a pair of dogs running on grass", "dogs play in a field"],
    "2": [
        "a man rides a wave on a surfboard",
        "a surfer in a black wetsuit riding a wave",
        "the man is surfing",
    ],
    "3": [
        "a plate of pasta with a fork",
        "some spaghetti and tomato sauce on a white plate",
        "food on a plate",
    ],
    "4": [
        "a red bus parked beside a tall building",
        "a double decker bus on a city street",
        "the bus is red",
    ],
    "5": ["a cat sleeps on a bed", "a grey cat lying on a pillow", "no one is in the bed but a cat"],
}
SETS = {
    "1": ["two brown dogs run on the grass", "dogs in a field"],
    "2": ["a man is surfing a big wave", "a surfer on a wave in the ocean"],
    "3": ["a plate of food", "a dog on a plate"],
    "4": ["a red bus on a street", "a red bus on a street"],
    "5": ["a cat sleeps on a bed with no pillow", "the cat"],
}


def vectors_of(names: Iterable[str]) -> KeyedVectors:
    """A vector for each name, always the same for one name."""
    known = list(dict.fromkeys(names))
    return keyed.from_arrays(
        [np.random.default_rng(list(name.encode())).normal(0.3, 1, 8) for name in known], known
    )


#: Data that measures need besides captions.
GIVEN: dict[str, Any] = {
    "train": [
        "a red bus on a street",
        "a dog runs",
        "dog1 dog2 dog3 dog4 dog5 dog6 dog7 dog8 dog9 dog10 dog11 dog12",
        "a man on a wave",
        "the cat on a bed",
    ],
    "norms": {"dog": 4.8, "bus": 4.9, "no": 1.2, "wave": 4.5},
    "weights": str(WEIGHTS_FOLDER / "captious_score_lite.safetensors"),
    "image_vectors": vectors_of(REFERENCES),
    "text_vectors": vectors_of(
        text
        for texts in [*REFERENCES.values(), *SETS.values(), ["a bowl of noodles", "some noodles", "noodles"]]
        for text in texts
    ),
    "amber": {image: {"truth": ["dog", "bus"], "hallu": ["cat"]} for image in REFERENCES},
    "objects": {"1": ["dog"], "2": ["person", "surfboard"], "3": ["fork"], "4": ["bus"], "5": ["cat", "bed"]},
}
#: They read the captions as one text, so the order of images is part of what they measure.
ORDERED = {"TTR1", "TTR2", "MTLD"}
#: Undefined below 1,000 words.
LONG = {"TTR1", "TTR2"}
NAMES = registry.names()


@cache
def made(name: str) -> Measure:
    options = registry.option_table()
    try:
        measure = registry.create(name, {key: value for key, value in GIVEN.items() if key in options})
        measure.check()
    except MissingExtraError as error:
        pytest.skip(str(error))
    return measure


def corpus_of(
    sets: Mapping[str, list[str]],
    order: list[str] | None = None,
    references: Mapping[str, list[str]] | None = REFERENCES,
) -> Corpus:
    ids = list(sets) if order is None else order
    theirs = None if references is None else [references[i] for i in ids]
    return Corpus.build(ids, [sets[i] for i in ids], theirs, tokenizer="none")


#: Variants of the corpus: another order, another reference, no references, and so on.
VARIANTS: dict[str, Callable[[], Corpus]] = {
    "base": lambda: corpus_of(SETS),
    "again": lambda: corpus_of(SETS),
    "turned": lambda: corpus_of(SETS, list(SETS)[::-1]),
    "other reference": lambda: corpus_of(
        SETS, references={**REFERENCES, "3": ["a bowl of noodles", "some noodles", "noodles"]}
    ),
    "no references": lambda: corpus_of(SETS, references=None),
    "single captions": lambda: corpus_of({image: captions[:1] for image, captions in SETS.items()}),
    "one image": lambda: corpus_of({"1": SETS["1"]}),
    "two images": lambda: corpus_of({"1": SETS["1"], "2": SETS["2"]}),
    "an image per caption": lambda: corpus_of(
        {"1": SETS["1"][:1], "1b": SETS["1"][1:], "2": SETS["2"][:1], "2b": SETS["2"][1:]}, references=None
    ),
    "more text": lambda: long_corpus(),
}


@cache
def build(variant: str) -> Corpus:
    """Return a corpus. Each is built once, so that measures share what they derive from it, such as parses."""
    return VARIANTS[variant]()


def base() -> Corpus:
    return build("base")


def scored(name: str, corpus: Corpus | None = None) -> Score:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Score.of(made(name), corpus if corpus is not None else base())


def inside(values: Any, measure: Measure) -> bool:
    low, high = measure.bounds
    defined = np.atleast_1d(values)[~np.isnan(np.atleast_1d(values))]
    return bool(
        (low is None or (defined >= low - 1e-9).all()) and (high is None or (defined <= high + 1e-9).all())
    )


def equal(a: Any, b: Any) -> bool:
    """Rows of statistics, bit for bit."""
    first, second = pack(a), pack(b)
    return first.keys() == second.keys() and all(
        np.array_equal(first[k], second[k], equal_nan=True) for k in first
    )


@pytest.mark.parametrize("name", NAMES)
def test_a_finite_value_within_bounds_the_same_every_time(name: str) -> None:
    score = scored(name)
    assert np.isfinite(score.value) or name in LONG
    assert inside(score.value, score.measure)
    assert inside(score.per_caption, score.measure)
    assert equal(score.statistics, scored(name, build("again")).statistics)


@pytest.mark.parametrize("name", NAMES)
def test_rows_match_the_unit_of_the_measure(name: str) -> None:
    score = scored(name)
    assert len(score.statistics) == (
        len(base().candidates) if score.measure.rows == "caption" else len(base())
    )
    assert bool(score.per_image) == (score.measure.rows != "corpus")
    assert registry.FAMILIES[next(f for f, unit in registry.FAMILIES.items() if unit == score.measure.rows)]


@pytest.mark.parametrize("name", NAMES)
def test_the_signature_names_all_inputs(name: str) -> None:
    score = scored(name)
    measure, signature = score.measure, score.signature
    assert signature.startswith(name + "|")
    assert signature.fields["tok"] == "none"
    assert ("refs" in signature.fields) == measure.uses_references()
    for key, resource in measure.resources().items():
        assert resource.digest in signature.fields[key]
    if measure.uses_references():
        assert scored(name, build("other reference")).signature != signature


@pytest.mark.parametrize("name", [name for name in NAMES if name not in ORDERED])
def test_the_order_of_images_does_not_matter(name: str) -> None:
    turned, score = scored(name, build("turned")), scored(name)
    assert turned.value == pytest.approx(score.value, abs=1e-6)
    assert turned.per_image == pytest.approx(score.per_image, abs=1e-6, nan_ok=True)
    assert turned.signature == score.signature


@pytest.mark.parametrize("name", NAMES)
def test_one_image(name: str) -> None:
    try:
        score = scored(name, build("one image"))
    except InputError as error:
        # Frequencies of one image give no weight, and a message says so.
        assert "image" in str(error)
        return
    assert inside(score.value, score.measure)
    assert len(score.ids) == 1


@pytest.mark.parametrize("name", NAMES)
def test_statistics_add_up_to_the_value(name: str) -> None:
    score = scored(name, build("base" if "sets" in made(name).needs else "single captions"))
    assert float(score.measure.value(score.statistics.sum(axis=0))) == pytest.approx(score.value, nan_ok=True)
    halves = [score.statistics[:2], score.statistics[2:]]
    together = concatenate([unpack(pack(half)) for half in halves])
    assert float(score.measure.value(together.sum(axis=0))) == pytest.approx(score.value, nan_ok=True)


@pytest.mark.parametrize("name", NAMES)
def test_the_interval_holds_the_value(name: str) -> None:
    score = scored(name)
    low, high = score.interval(resamples=60)
    if np.isnan(score.value):
        assert np.isnan(low)
        assert np.isnan(high)
    else:
        assert low <= score.value + 1e-9
        assert high >= score.value - 1e-9
        assert score.interval(resamples=60) == (low, high)


@pytest.mark.parametrize("name", NAMES)
def test_no_difference_between_a_system_and_itself(name: str) -> None:
    score = scored(name)
    a, b = Scores("a", [score]), Scores("b", [scored(name, build("again"))])
    found = captious.compare(a, b, resamples=20, trials=20)[0]
    if not np.isnan(score.value):
        assert found.difference == 0
        assert found.p_randomisation == 1
        assert found.p_bootstrap == 1
        assert found.better == "neither"


@pytest.mark.parametrize("name", NAMES)
def test_prepared_state_is_picklable_and_never_changes(name: str) -> None:
    measure, corpus = made(name), base()
    state = measure.prepare(corpus.references)
    sent = pickle.loads(pickle.dumps(state))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        first = measure.statistics(corpus, state)
        assert equal(first, measure.statistics(corpus, state))
        again = (
            measure.statistics(build("again"), sent) if measure.rows == "corpus" or state is None else first
        )
    assert equal(first, again)


@pytest.mark.parametrize("name", NAMES)
def test_references_are_asked_for_only_where_they_are_needed(name: str) -> None:
    bare = build("no references")
    measure = made(name)
    if "references" in measure.needs:
        with pytest.raises(InputError, match="there are none"):
            scored(name, bare)
        return
    score = scored(name, bare)
    assert "refs" not in score.signature.fields
    if not measure.uses_references():
        assert score.value == pytest.approx(scored(name).value, nan_ok=True)
        assert score.signature == scored(name).signature


CORPUS = registry.of_family("corpus")


def long_corpus() -> Corpus:
    """More than 1,000 words, some of them rare, and no two resamples alike."""
    words = [caption for captions in [*SETS.values(), *REFERENCES.values()] for caption in captions]
    generator = np.random.default_rng(0)
    pick, rare = generator.integers(0, len(words), 400).tolist(), generator.zipf(1.5, 400).tolist()
    captions = {str(i): [words[k] if i % 2 else f"{words[k]} dog{rare[i]}"] for i, k in enumerate(pick)}
    references = {
        str(i): [f"{words[(k + step) % len(words)]} dog{rare[i - 1 - step]}" for step in (1, 2)]
        for i, k in enumerate(pick)
    }
    return corpus_of(captions, references=references)


@pytest.mark.parametrize("name", CORPUS)
def test_measures_of_a_corpus_on_more_text(name: str) -> None:
    score = scored(name, build("more text"))
    low, high = score.interval(resamples=200)
    assert low <= score.value <= high
    assert low < high
    assert np.isnan(score.per_caption).all()
    assert np.isnan(score.oracle)


@pytest.mark.parametrize(
    "name", [name for name in CORPUS if "references" not in registry.measure_class(name).needs]
)
def test_a_corpus_is_measured_with_all_captions_of_its_images(name: str) -> None:
    assert not made(name).uses_references()
    one, other = scored(name, build("two images")), scored(name, build("an image per caption"))
    assert one.value == pytest.approx(other.value, nan_ok=True)


def test_tables_of_words_of_different_runs_can_be_put_together() -> None:
    whole = scored("Types")
    parts = [scored("Types", corpus_of({i: SETS[i]}, references=None)).statistics for i in SETS]
    assert len({part.keys.tobytes() for part in parts}) > 1
    joined = Sequences.concatenate(parts)
    assert float(whole.measure.value(joined.sum(axis=0))) == whole.value


def test_two_systems_of_different_words_are_compared() -> None:
    same = corpus_of({image: ["a dog"] for image in SETS})
    rows = captious.compare(same, base(), "Types,MTLD,Hapax,ASL", resamples=200, trials=200)
    types = rows[0]
    assert (types.metric, types.better) == ("Types", "B")
    assert types.interval[0] <= types.difference <= types.interval[1]
    assert types.p_randomisation < 0.1


def test_no_two_measures_share_a_name_in_any_case() -> None:
    assert len({name.casefold() for name in NAMES}) == len(NAMES)
    assert not {name.casefold() for name in NAMES} & {*registry.GROUPS, *registry.FAMILIES}
    assert {"%Novel", "Novel", "Types", "Vocabulary", "Unique"} <= set(NAMES)
