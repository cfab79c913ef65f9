"""Critics learn to distinguish machines from people, repeat themselves from the same seed, and resume training."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from captious import InputError, vectors
from captious.corpus import Captions
from captious.critic.critic_examples import Negatives, TrainingData, error_probabilities
from tests.critic.world import world

torch = pytest.importorskip("torch")
pytest.importorskip("safetensors")

from captious.critic import critic_training as learning  # noqa: E402
from captious.critic.critic_measure import CriticMeasure  # noqa: E402
from captious.critic.critic_network import (  # noqa: E402
    CriticShape,
    TrainedCritic,
    build,
    load_critic,
)
from captious.critic.critic_scoring import chances  # noqa: E402
from captious.critic.critic_training import PRESETS, CriticSettings, check_images, train  # noqa: E402
from captious.critic.protocol import CriticProtocol  # noqa: E402

WORLD = world()
IDS = list(WORLD.captions)
CLASSES = sorted({name for names in WORLD.objects.values() for name in names})
VECTORS = vectors.get(
    {word: np.random.default_rng(k).normal(size=12) for k, word in enumerate(["a", "the", *CLASSES])}
)
SMALL = CriticShape(hidden=16, classifier=16, sketch=64)
QUICK = CriticSettings(epochs=4, batch=20, rate=1e-2, least=1, save_every=1000)


def given(ids: list[str] = IDS) -> TrainingData:
    features = np.array(
        [[float(name in WORLD.objects[image]) for name in CLASSES] for image in ids], np.float32
    )
    return TrainingData(
        Captions.of([WORLD.captions[image] for image in ids], ids=ids),
        Captions.of([[WORLD.machine[image]] for image in ids], ids=ids),
        Captions.of([WORLD.samples[image] for image in ids], ids=ids),
        features,
        tuple(CLASSES),
    )


TAUGHT, HELD = given(IDS[:40]), given(IDS[40:])


def judged(
    critic: TrainedCritic, captions: Captions, *, own: bool = False, held: TrainingData = HELD
) -> np.ndarray:
    return chances(
        critic,
        captions.sentences,
        captions.image_of,
        held.references.sentences,
        held.references.image_offsets,
        held.features,
        own=own,
    )


def weights(critic: TrainedCritic) -> dict[str, Any]:
    return critic.model.state_dict()


def same(a: TrainedCritic, b: TrainedCritic) -> bool:
    return all(torch.equal(x, y) for x, y in zip(weights(a).values(), weights(b).values(), strict=True))


@pytest.fixture(scope="module")
def cbp() -> TrainedCritic:
    return train(TAUGHT, SMALL, QUICK, VECTORS)


@pytest.mark.parametrize("combine", ["cbp", "mlp", "linear"])
@pytest.mark.parametrize(
    "context",
    [("image", "reference"), ("reference",), ("image",), ()],
    ids=lambda context: "+".join(context) or "none",
)
def test_critics_tell_machines_from_people(combine: str, context: tuple[str, ...]) -> None:
    """On images that they have not seen, in every combination and context."""
    shape = replace(SMALL, combine=combine, context=context)
    if combine == "cbp" and not context:
        with pytest.raises(InputError, match="combine by linear or mlp"):
            train(TAUGHT, shape, QUICK, VECTORS)
        return
    critic = train(TAUGHT, shape, replace(QUICK, negatives=Negatives(("system",))), VECTORS)
    assert HELD.system is not None
    machine, people = judged(critic, HELD.system), judged(critic, HELD.references, own="reference" in context)
    assert machine.max() < 0.5 < people.min()
    assert critic.history["loss"][-1] < critic.history["loss"][0] < 1


def test_the_context_counts() -> None:
    """A critic trained with captions of other images ranks them below captions of this image."""
    wrong = Negatives(("pathological",), ("random caption",), (100.0, 100.0))
    critic = train(
        TAUGHT, replace(SMALL, context=("image",)), replace(QUICK, epochs=20, negatives=wrong), VECTORS
    )
    others = Captions.of([[texts[0]] for texts in WORLD.captions.values()], ids=IDS).take_images(
        np.arange(40, 60)[::-1].copy()
    )
    own = judged(critic, HELD.references).mean()
    differ = [i for i in range(20) if not set(WORLD.objects[IDS[40 + i]]) & set(WORLD.objects[IDS[59 - i]])]
    assert differ and judged(critic, others)[differ].mean() < own - 0.2


def test_the_same_seed_gives_the_same_weights() -> None:
    few = replace(QUICK, epochs=1)
    first, again, other = (train(TAUGHT, SMALL, replace(few, seed=seed), VECTORS) for seed in (1, 1, 2))
    assert same(first, again) and not same(first, other)


def test_the_rate_falls_after_each_epoch() -> None:
    """With a decay of almost 0, the second epoch changes nothing."""
    one, two = (train(TAUGHT, SMALL, replace(QUICK, epochs=epochs, decay=1e-9), VECTORS) for epochs in (1, 2))
    other = train(TAUGHT, SMALL, replace(QUICK, epochs=2), VECTORS)
    assert same(one, train(TAUGHT, SMALL, replace(QUICK, epochs=1), VECTORS))
    assert all(torch.allclose(x, y, atol=1e-6) for x, y in zip(weights(one).values(), weights(two).values()))
    assert not all(
        torch.allclose(x, y, atol=1e-3) for x, y in zip(weights(one).values(), weights(other).values())
    )


@pytest.mark.parametrize("stopped", [1, 3, 7])
def test_a_training_that_was_stopped_ends_with_the_same_weights(
    stopped: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = replace(QUICK, epochs=2, batch=60, save_every=2)
    whole = train(TAUGHT, SMALL, settings, VECTORS)
    path = tmp_path / "critic.safetensors"

    def dies(steps: Any, *_: Any, **__: Any) -> Iterator[Any]:
        yield from itertools.islice(steps, stopped)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(learning, "track", dies)
        with pytest.raises(KeyboardInterrupt):
            train(TAUGHT, SMALL, settings, VECTORS, output=path)
    assert path.exists() == (stopped > 1)
    if stopped > 1:
        with pytest.raises(InputError, match=f"stopped at step {stopped - stopped % 2}"):
            load_critic(path)
    resumed = train(TAUGHT, SMALL, settings, VECTORS, output=path, resume=True)
    assert same(whole, resumed) and resumed.history == whole.history
    # A finished training is not repeated. Its file holds all of it.
    assert same(whole, train(TAUGHT, SMALL, settings, VECTORS, output=path, resume=True))
    loaded = load_critic(path)
    assert (
        same(whole, loaded)
        and loaded.words == whole.words
        and loaded.classes == tuple(CLASSES)
        and loaded.tokenizer == "ptb"
    )


def test_other_captions_or_settings_are_not_gone_on_with(tmp_path: Path) -> None:
    path, settings = tmp_path / "critic.safetensors", replace(QUICK, epochs=1)
    train(TAUGHT, SMALL, settings, VECTORS, output=path)
    with pytest.raises(InputError, match="other settings"):
        train(TAUGHT, SMALL, replace(settings, rate=0.5), VECTORS, output=path, resume=True)
    with pytest.raises(InputError, match="other captions"):
        train(HELD, SMALL, settings, VECTORS, output=path, resume=True)
    with pytest.raises(InputError, match="other shape"):
        train(TAUGHT, replace(SMALL, hidden=8), settings, VECTORS, output=path, resume=True)


def test_files_that_are_no_critics_are_refused(tmp_path: Path) -> None:
    bad = tmp_path / "bad.safetensors"
    bad.write_bytes(b"no")
    with pytest.raises(InputError, match="not a critic"):
        load_critic(bad)
    with pytest.raises(InputError, match="no such critic"):
        load_critic(tmp_path / "none.safetensors")


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"epochs": 0}, "epochs must be a positive"), ({"batch": 7}, "even"), ({"batch": 0}, "even"),
        ({"rate": 0.0}, "above 0"),
        ({"rate": float("nan")}, "above 0"), ({"decay": 1.5}, "decay in"),
        ({"longest": 0}, "longest must be"),
    ],
)  # fmt: skip
def test_settings_that_mean_nothing_are_refused(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        train(TAUGHT, SMALL, replace(QUICK, **changed), VECTORS)


def test_images_and_captions_are_checked_first() -> None:
    with pytest.raises(InputError, match="no image features"):
        check_images(replace(TAUGHT, features=None), SMALL, QUICK)
    with pytest.raises(InputError, match="'samples' are requested"):
        check_images(replace(TAUGHT, samples=None), SMALL, QUICK)
    with pytest.raises(InputError, match="at least two images"):
        check_images(TAUGHT.take(np.array([0])), SMALL, QUICK)
    lone = replace(
        TAUGHT,
        references=Captions.of([texts[:1] for texts in list(WORLD.captions.values())[:40]], ids=IDS[:40]),
    )
    with pytest.raises(InputError, match=f"40 of 40 images have only one reference, such as {IDS[0]}"):
        check_images(lone, SMALL, QUICK)
    check_images(lone, replace(SMALL, context=("image",)), QUICK)
    for wrong, message in (
        ({"context": ("picture",)}, "unknown context 'picture'"),
        ({"combine": "sum"}, "unknown combination 'sum'"),
        ({"hidden": 0}, "hidden must be"),
    ):
        with pytest.raises(InputError, match=message):
            replace(SMALL, **wrong).check()  # type: ignore[arg-type]


def test_a_training_that_goes_astray_says_so() -> None:
    huge = replace(TAUGHT, features=np.full_like(TAUGHT.features, np.inf))  # type: ignore[arg-type]
    with pytest.raises(InputError, match="diverged at step 0"):
        train(huge, SMALL, QUICK, VECTORS)


def test_presets() -> None:
    """Those of Cui et al. (2018), section 4.1 and appendix A.4."""
    shape, settings = PRESETS["paper"]
    assert (shape.hidden, shape.layers, shape.classifier, shape.sketch) == (512, 1, 512, 8192)
    assert (settings.epochs, settings.batch, settings.rate, settings.decay) == (30, 100, 1e-3, 0.9)
    assert (settings.vocabulary, settings.least, settings.longest) == (10_000, 5, 15)
    quick = PRESETS["quick"]
    assert quick[0].hidden < shape.hidden and quick[1].epochs < settings.epochs


# Scoring


@pytest.mark.parametrize("combine", ["cbp", "mlp", "linear"])
@pytest.mark.parametrize(
    "context",
    [("image", "reference"), ("reference",), ("image",), ("fluency", "image", "reference")],
    ids="+".join,
)
def test_scores_are_what_the_network_says_of_each_pair(combine: str, context: tuple[str, ...]) -> None:
    """Batched scoring equals the network itself, pair by pair."""
    words = train(
        TAUGHT, replace(SMALL, combine="linear", context=("reference",)), replace(QUICK, epochs=1), VECTORS
    ).words
    model = build(
        replace(SMALL, combine=combine, context=context, layers=2), len(words), 12, len(CLASSES), 4
    ).eval()
    critic = TrainedCritic(model, words)
    assert HELD.system is not None and HELD.features is not None
    found = judged(critic, HELD.system)
    for image in range(3):
        candidate = model.encode(
            *map(torch.from_numpy, words.encode(HELD.system.sentences[image : image + 1]))
        )
        chance = []
        for text in HELD.references.sentences[3 * image : 3 * image + 3]:
            parts = {
                "image": lambda i=image: model.see(torch.from_numpy(HELD.features[i : i + 1])),
                "reference": lambda t=text: model.encode(*map(torch.from_numpy, words.encode([t]))),
            }  # type: ignore[index]
            errors = error_probabilities(HELD.system.sentences[image : image + 1])
            logits = model(
                candidate,
                [parts[name]() for name in context if name != "fluency"],
                torch.from_numpy(errors) if "fluency" in context else None,
            )
            chance.append(torch.softmax(logits, 1)[0, 1].item())
        assert found[image] == pytest.approx(np.mean(chance), abs=1e-5)


def test_a_critic_that_reads_fluency(tmp_path: Path) -> None:
    """The machine adds "and a" to people's captions. A critic that reads one word notices only through the detector."""
    people = [
        ["a man speaks while a dog barks", "a dog barks as a man talks", "people talk and a dog barks"],
        ["rain falls on a roof", "heavy rain hits a metal roof", "water drips while rain falls"],
        ["a car engine starts and idles", "an engine runs and then stops", "a vehicle drives past"],
    ] * 12
    cut = [[f"{texts[0]} and a"] for texts in people]
    ids = [str(k) for k in range(len(people))]
    data = TrainingData(Captions.of(people, ids=ids), Captions.of(cut, ids=ids))
    settings = replace(QUICK, negatives=Negatives(("system",)), longest=1, epochs=30)
    shape = CriticShape(context=("fluency", "reference"), combine="linear", hidden=8)

    def values(critic: TrainedCritic, captions: Captions) -> np.ndarray:
        refs = data.references
        return chances(critic, captions.sentences, captions.image_of, refs.sentences, refs.image_offsets)

    assert data.system is not None
    path = tmp_path / "critic.safetensors"
    critic = train(data, shape, settings, VECTORS, output=path)
    whole = Captions.of([texts[:1] for texts in people], ids=ids)
    machine = values(critic, data.system)
    assert np.all(values(critic, whole) > machine + 0.05)
    np.testing.assert_array_equal(values(load_critic(path), data.system), machine)
    mixed = Captions.of([[texts[0], texts[0], f"{texts[0]} and a"] for texts in people], ids=ids)
    np.testing.assert_allclose(values(critic, mixed)[2::3], machine, atol=1e-6)
    assert "detector" in CriticMeasure(path).resources()
    fields = [CriticProtocol(one, settings, VECTORS).fields() for one in (shape, SMALL)]
    assert "detector" in fields[0] and "detector" not in fields[1]
    blind = train(data, replace(shape, context=("reference",)), settings, VECTORS)
    np.testing.assert_array_equal(values(blind, whole), values(blind, data.system))
    with pytest.raises(InputError, match="cbp combines the caption with its context"):
        replace(shape, combine="cbp", context=("fluency",)).check()


def test_a_score_depends_on_nothing_but_caption_and_context(cbp: TrainedCritic) -> None:
    """Scores depend neither on the order of captions nor on the other captions."""
    assert HELD.system is not None
    every = judged(cbp, HELD.system)
    turned = np.arange(20)[::-1].copy()
    assert judged(cbp, HELD.system.take_images(turned), held=HELD.take(turned)) == pytest.approx(
        every[::-1], abs=1e-6
    )
    for image in (0, 7, 19):
        alone = HELD.take(np.array([image]))
        assert alone.system is not None
        assert judged(cbp, alone.system, held=alone) == pytest.approx(every[[image]], abs=1e-6)


def test_no_caption_is_its_own_context(cbp: TrainedCritic) -> None:
    one = HELD.take(np.array([3]))
    texts, offsets = one.references.sentences, np.array([0, 2], np.int64)
    image_of = np.zeros(3, np.int64)
    own = chances(cbp, texts, image_of, texts, one.references.image_offsets, one.features, own=True)
    for mine in range(3):
        others = [text for k, text in enumerate(texts) if k != mine]
        assert chances(cbp, [texts[mine]], image_of[:1], others, offsets, one.features) == pytest.approx(
            own[mine], abs=1e-6
        )
    with pytest.raises(InputError, match="at least two references"):
        chances(cbp, texts[:1], image_of[:1], texts[:1], np.array([0, 1], np.int64), one.features, own=True)


def test_odd_captions_have_scores(cbp: TrainedCritic) -> None:
    texts = ["", "zebra", " ".join(["dog"] * 500), "dog"]
    found = chances(
        cbp, texts, np.zeros(4, np.int64), ["a dog", ""], np.array([0, 2], np.int64), HELD.features
    )
    assert np.isfinite(found).all() and ((found > 0) & (found < 1)).all()
    assert chances(
        cbp, [], np.zeros(0, np.int64), ["a dog"], np.array([0, 1], np.int64), HELD.features
    ).shape == (0,)


def test_images_of_another_kind_are_refused(cbp: TrainedCritic) -> None:
    for features, message in (
        (np.zeros((20, 3), np.float32), "6 dimensions, not 3"),
        (None, "6 dimensions, not none"),
    ):
        with pytest.raises(InputError, match=message):
            judged(cbp, HELD.references, held=replace(HELD, features=features))
