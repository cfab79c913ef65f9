"""Training examples of a critic: half by people, the rest in equal parts of three kinds. No caption is its own
context.
"""

from __future__ import annotations

import collections

import numpy as np
import pytest

from captious import InputError, vectors
from captious.corpus import Captions
from captious.critic.critic_examples import CriticExamples, Negatives, TrainingData, error_probabilities
from captious.critic.critic_vocabulary import FILLING, UNKNOWN, CriticVocabulary
from tests.critic.world import MACHINE, THINGS, world

WORLD = world()
IDS = list(WORLD.captions)


def given() -> TrainingData:
    return TrainingData(
        Captions.of(list(WORLD.captions.values()), ids=IDS),
        Captions.of([[text] for text in WORLD.machine.values()], ids=IDS),
        Captions.of(list(WORLD.samples.values()), ids=IDS),
        np.eye(60, dtype=np.float32),
    )


def lessons(
    negatives: Negatives | None = None, *, other: bool = True, features: bool = False
) -> CriticExamples:
    data = given()
    return CriticExamples(
        data,
        CriticVocabulary.learn(data.references.sentences, least=1),
        negatives or Negatives(),
        other_reference=other,
        by_features=features,
    )


def said(made: CriticExamples, row: int, tokens: np.ndarray, lengths: np.ndarray) -> str:
    names = ["", "?", *made.words.names]
    return " ".join(names[number] for number in tokens[row, : lengths[row]])


def as_read(made: CriticExamples, text: str) -> str:
    """A caption as the critic reads it: words that no reference has are unknown."""
    return " ".join(word if word in made.words.names else "?" for word in text.split())


def test_words_are_the_commonest_and_captions_are_cut() -> None:
    words = CriticVocabulary.learn(["b a a", "c b a", "d"], size=2, least=1, longest=3)
    assert words.names == ("a", "b") and len(words) == 4
    encoded = words.encode(["a zebra b a", "", "b"])
    assert encoded.tokens.tolist() == [[2, UNKNOWN, 3], [FILLING] * 3, [3, FILLING, FILLING]]
    assert encoded.lengths.tolist() == [3, 1, 1]
    assert CriticVocabulary.learn(["b a a", "c b a", "d"], least=2).names == ("a", "b")
    assert CriticVocabulary.from_json(words.to_json()) == words
    with pytest.raises(InputError, match="--least"):
        CriticVocabulary.learn(["a b c"], least=2)


def test_embeddings_are_the_directions_of_the_vectors_where_there_are_any() -> None:
    words = CriticVocabulary(("cat", "dog", "zzz", "nil"))
    table = vectors.get({"dog": [0.6, 0.8], "cat": [-30.0, 40.0], "nil": [0.0, 0.0]})
    found = words.embeddings(table, 1)
    length = 0.4 * 2**0.5
    assert np.allclose(found[2], [-0.6 * length, 0.8 * length]) and np.allclose(
        found[3], [0.6 * length, 0.8 * length]
    )
    assert found[FILLING].tolist() == [0, 0]
    assert np.allclose(np.linalg.norm(found[[UNKNOWN, 4, 5]], axis=1), length)
    assert np.array_equal(found, words.embeddings(table, 1)) and not np.array_equal(
        found, words.embeddings(table, 2)
    )


def test_errors_are_those_of_each_candidate() -> None:
    data = given()
    made = CriticExamples(
        data, CriticVocabulary.learn(data.references.sentences, least=1, longest=30), Negatives(),
        other_reference=True, by_features=False, reads_fluency=True,
    )  # fmt: skip
    texts = {*data.references.sentences, *WORLD.machine.values(), *(t[0] for t in WORLD.samples.values())}
    known = {as_read(made, text): error_probabilities([text])[0] for text in texts}
    batch = made.batch(1, 0, 60)
    assert batch.errors is not None and len(batch.errors) == len(batch.labels)
    said_rows = [said(made, row, *batch.candidates) for row in range(len(batch.labels))]
    pairs = [(known[text], batch.errors[row]) for row, text in enumerate(said_rows) if text in known]
    assert len(pairs) > 40 and len({ours for ours, _ in pairs}) > 5
    for ours, theirs in pairs:
        assert ours == theirs
    wrong = [row for row, text in enumerate(said_rows) if text not in known and "?" not in text]
    np.testing.assert_array_equal(batch.errors[wrong], error_probabilities([said_rows[row] for row in wrong]))
    assert lessons().batch(1, 0, 60).errors is None


def test_half_of_a_batch_are_people_with_another_reference_as_context() -> None:
    made = lessons()
    seen: list[str] = []
    for step in range(made.steps(20)):
        batch = made.batch(1, step, 20)
        half = len(batch.labels) // 2
        assert batch.labels.tolist() == [1] * half + [0] * half
        for row in range(half):
            text = said(made, row, *batch.candidates)
            image = IDS[batch.images[row]]
            assert text in WORLD.captions[image]
            assert made.image_of[batch.contexts[row]] == batch.images[row]
            assert said(made, int(batch.contexts[row]), *made.references) != text
            seen.append(f"{image} {text}")
    # Each caption of a person is an example once in an epoch.
    assert sorted(seen) == sorted(
        f"{image} {text}" for image, texts in WORLD.captions.items() for text in texts
    )


def test_other_captions_are_of_three_kinds_alike() -> None:
    made = lessons()
    counts: collections.Counter[str] = collections.Counter()
    for step in range(60):
        batch = made.batch(1, step % made.steps(60), 60) if step < made.steps(60) else made.batch(2, step, 60)
        half = len(batch.labels) // 2
        for row in range(half, 2 * half):
            text, image = said(made, row, *batch.candidates), IDS[batch.images[row]]
            assert made.image_of[batch.contexts[row]] == batch.images[row]
            kind = (
                "system"
                if text == as_read(made, WORLD.machine[image])
                else "samples"
                if text == as_read(made, WORLD.samples[image][0])
                else "pathological"
            )
            counts[kind] += 1
            if kind != "pathological":
                continue
            words, own = sorted(text.split()), [caption.split() for caption in WORLD.captions[image]]
            context = said(made, int(batch.contexts[row]), *made.references)
            if any(words == sorted(caption) for caption in own) and text not in WORLD.captions[image]:
                counts["permuted"] += 1
                assert words != sorted(context.split())
            elif any(text in texts for other, texts in WORLD.captions.items() if other != image):
                counts["another"] += 1
            else:
                counts["random"] += 1
    total = counts["system"] + counts["samples"] + counts["pathological"]
    assert all(abs(counts[kind] / total - 1 / 3) < 0.05 for kind in ("system", "samples", "pathological"))
    assert all(
        abs(counts[kind] / counts["pathological"] - 1 / 3) < 0.09
        for kind in ("permuted", "another", "random")
    )


def test_kinds_can_be_left_out() -> None:
    made = lessons(Negatives(("system",)))
    batch = made.batch(1, 0, 40)
    assert all(
        said(made, row, *batch.candidates) == as_read(made, WORLD.machine[IDS[batch.images[row]]])
        for row in range(20, 40)
    )
    made = lessons(Negatives(("pathological",), ("random caption",), (100.0, 100.0)))
    batch = made.batch(1, 0, 40)
    everything = {text for texts in WORLD.captions.values() for text in texts}
    assert all(said(made, row, *batch.candidates) in everything for row in range(20, 40))
    with pytest.raises(InputError, match="did you mean 'samples'"):
        Negatives(("sample",)).check()
    with pytest.raises(InputError, match="no negatives selected"):
        Negatives(()).check()
    with pytest.raises(InputError, match="between 0 and 100"):
        Negatives(strength=(0, 200)).check()


def test_weak_strengths_take_captions_of_near_images() -> None:
    """With features, images are near if their features are."""
    data = given()
    near = np.zeros((60, 2), np.float32)
    near[:30, 0], near[30:, 1] = 1, 1
    data = TrainingData(data.references, data.system, data.samples, near)
    negatives = Negatives(("pathological",), ("random caption",), (40.0, 40.0))
    made = CriticExamples(
        data,
        CriticVocabulary.learn(data.references.sentences, least=1),
        negatives,
        other_reference=True,
        by_features=True,
    )
    batch = made.batch(1, 0, 60)
    by_text = collections.defaultdict(set)
    for image, texts in enumerate(WORLD.captions.values()):
        for text in texts:
            by_text[text].add(image // 30)
    assert all(
        int(batch.images[row]) // 30 in by_text[said(made, row, *batch.candidates)] for row in range(30, 60)
    )


def test_examples_depend_on_seed_and_step_alone() -> None:
    a, b = lessons(), lessons()
    b.batch(1, 0, 30)  # earlier calls do not matter
    first, again, other = a.batch(1, 3, 30), b.batch(1, 3, 30), b.batch(2, 3, 30)
    assert np.array_equal(first.candidates.tokens, again.candidates.tokens) and np.array_equal(
        first.contexts, again.contexts
    )
    assert not np.array_equal(first.candidates.tokens, other.candidates.tokens)


def test_captions_with_nothing_to_change_become_those_of_other_images() -> None:
    ids = [str(i) for i in range(6)]
    data = TrainingData(Captions.of([["", "dog dog dog"] for _ in ids], ids=ids))
    made = CriticExamples(
        data,
        CriticVocabulary(("dog", "cat")),
        Negatives(("pathological",)),
        other_reference=True,
        by_features=False,
    )
    for step in range(6):
        assert len(made.batch(1, step, 4).labels) == 4


def test_a_digest_names_the_content() -> None:
    data = given()
    assert data.digest == given().digest
    assert data.take(np.arange(60)).digest == data.digest
    assert data.take(np.arange(1, 60)).digest != data.digest
    assert TrainingData(data.references, data.system, data.samples, data.features * 2).digest != data.digest  # type: ignore[operator]
    assert TrainingData(data.references, data.references, data.samples, data.features).digest != data.digest


def test_the_world_is_what_it_says() -> None:
    assert all(MACHINE.split()[0] == text.split()[0] for text in WORLD.machine.values()) and len(THINGS) == 6


def test_negatives_by_name() -> None:
    only = Negatives.of(["random-caption"], (100.0, 100.0))
    assert only.kinds == ("pathological",) and only.transformations == ("random caption",)
    assert Negatives.of(["system", "pathological", "samples"]) == Negatives()
    assert Negatives.of(["samples", "system"]).kinds == ("system", "samples")
    with pytest.raises(InputError, match="did you mean 'random caption'"):
        Negatives.of(["random-captions"])


def test_full_strength_draws_any_other_image_without_a_search() -> None:
    made = lessons(Negatives.of(["random caption"], (100.0, 100.0)))
    assert made.neighbours is None
    drawn = collections.Counter()
    for step in range(40):
        batch = made.batch(3, step, 60)
        half = len(batch.labels) // 2
        for row in range(half, 2 * half):
            text, image = said(made, row, *batch.candidates), IDS[batch.images[row]]
            others = [other for other, texts in WORLD.captions.items() if text in texts and other != image]
            assert others  # the caption belongs to another image
            drawn.update(others[:1])
    assert len(drawn) > 20
    # Weaker captions still come from near images.
    assert lessons(Negatives.of(["random caption"], (50.0, 100.0))).neighbours is not None
