"""The captioner learns a small world, decodes in every mode, and repeats itself from the same seed."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from captious import InputError
from captious.results.references import References
from tests.generate.world import world, write

torch = pytest.importorskip("torch")
pytest.importorskip("safetensors")

from captious.generate.captioner import captioner_checkpoint as checkpoint  # noqa: E402
from captious.generate.captioner import decoding  # noqa: E402
from captious.generate.captioner.caption_sets import CaptionPlan, generate, unit_likelihoods  # noqa: E402
from captious.generate.captioner.captioner_checkpoint import TrainedCaptioner  # noqa: E402
from captious.generate.captioner.captioners import CaptionerShape, Views  # noqa: E402
from captious.generate.captioner.decoding import Sampling  # noqa: E402
from captious.generate.captioner.image_features import ImageFeatures, read_images  # noqa: E402
from captious.generate.captioner.subword_units import END, Units  # noqa: E402
from captious.training.captioner_examples import lessons, train_matcher  # noqa: E402
from captious.training.captioner_trainer import CaptionerSettings, train  # noqa: E402

OBJECTS, CAPTIONS = world()
UNSEEN = [str(i) for i in range(50, 60)]
TAUGHT = [str(i) for i in range(50)]
QUICK = CaptionerSettings(steps=70, batch=50, rate=1e-2, evaluate_every=70, save_every=1000)


@pytest.fixture(scope="module")
def images(tmp_path_factory: pytest.TempPathFactory) -> ImageFeatures:
    return read_images(write(tmp_path_factory.mktemp("world"))[0])


@pytest.fixture(scope="module")
def references() -> References:
    return References.read(CAPTIONS)


@pytest.fixture(scope="module")
def fc(
    images: ImageFeatures, references: References, tmp_path_factory: pytest.TempPathFactory
) -> TrainedCaptioner:
    return train(
        images,
        references,
        tmp_path_factory.mktemp("fc") / "fc.safetensors",
        ids=TAUGHT,
        shape=CaptionerShape(hidden=48, dropout=0),
        settings=QUICK,
        least=1,
    )


def named(trained: TrainedCaptioner, images: ImageFeatures) -> float:
    """Return the share of objects in unseen images that greedy captions name."""
    made = generate(trained, images.take(UNSEEN), CaptionPlan("greedy", 1)).captions
    return float(
        np.mean(
            [[thing in texts[0].split() for thing in OBJECTS[image]] for image, texts in zip(UNSEEN, made)]
        )
    )


@pytest.mark.parametrize("kind", ["att", "relation"])
def test_models_learn_to_name_what_is_there(
    kind: str, images: ImageFeatures, references: References, tmp_path: Path
) -> None:
    rows: list[dict[str, Any]] = []
    settings = CaptionerSettings(
        steps=90,
        batch=50,
        rate=1.5e-2 if kind == "att" else 5e-3,
        evaluate_every=30,
        validate=10,
        save_every=1000,
    )
    trained = train(
        images,
        references,
        tmp_path / "x.safetensors",
        ids=TAUGHT,
        validation=UNSEEN,
        shape=CaptionerShape(kind, 32, 0.0),
        settings=settings,
        least=1,
        progress=rows.append,
    )
    assert named(trained, images) > 0.6  # a third by chance
    assert [row["step"] for row in rows] == [30, 60, 90]
    assert rows[-1]["validation loss"] < rows[0]["validation loss"] and rows[-1]["validation CIDEr-D"] > 0
    assert all(row.pop("seconds") >= 0 for row in rows) and trained.history[-1]["curve"] == rows


def test_fc_learns_and_its_file_holds_all_of_it(
    fc: TrainedCaptioner, images: ImageFeatures, tmp_path: Path
) -> None:
    assert named(fc, images) > 0.6
    checkpoint.save(tmp_path / "a.safetensors", fc)
    again = checkpoint.load(tmp_path / "a.safetensors")
    plan = CaptionPlan("rs", 3, seed=5)
    assert generate(again, images, plan) == generate(fc, images, plan)
    assert generate(fc, images, plan) != generate(fc, images, CaptionPlan("rs", 3, seed=6))
    assert again.units.names == fc.units.names and again.classes == images.classes


def test_geometry_moves_attention(tmp_path: Path) -> None:
    """The relation model's captions depend on the positions of boxes, if regions have boxes."""
    from captious.generate.captioner.captioners import build

    torch.manual_seed(0)
    model = build(CaptionerShape("relation", 16, 0.0, heads=2), 10, 4).eval()
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(3, 4)).astype(np.float32)
    boxes = np.array([[0, 0, 0.2, 0.2], [0.5, 0.5, 0.4, 0.3], [0.1, 0.6, 0.5, 0.2]], np.float32)
    units = torch.tensor([[1, 4, 5]])

    def scores(given: np.ndarray | None) -> torch.Tensor:
        seen = Views(ImageFeatures(("a",), np.array([0, 3]), vectors, given)).batch(np.array([0]))
        return model(seen, units)

    assert not torch.allclose(scores(boxes), scores(boxes[::-1].copy()))
    assert not torch.allclose(scores(boxes), scores(None))


@pytest.mark.parametrize("kind", ["words", "characters", "bpe", "unigram"])
def test_units_come_back_as_they_were(kind: str) -> None:
    sentences = ["a dog next to a cat", "two dogs running", "a cat sleeps"] * 5
    units = Units.learn(sentences, kind, 40 if kind in ("bpe", "unigram") else None, least=1)
    again = Units.from_json(json.loads(json.dumps(units.to_json())))
    rows = again.encode(sentences)
    assert again.decode([[*row, END, 5] for row in rows]) == sentences
    assert max(map(max, rows)) < len(units)
    with pytest.raises(InputError, match="unknown units"):
        Units.learn(sentences, "syllables")
    with pytest.raises(InputError, match="no word occurs 99 times"):
        Units.learn(sentences, "words", least=99)


@pytest.mark.parametrize("kind", ["characters", "unigram"])
def test_pieces_are_trained_rewarded_and_written(
    kind: str, images: ImageFeatures, references: References, tmp_path: Path
) -> None:
    settings = CaptionerSettings(steps=15, batch=30, rate=1e-2, evaluate_every=15, save_every=100)
    first = train(
        images,
        references,
        tmp_path / "a",
        ids=TAUGHT,
        shape=CaptionerShape(hidden=24, dropout=0),
        units=kind,
        vocabulary=40,
        settings=settings,
        least=1,
    )
    assert generate(first, images, CaptionPlan("rs", 2)).captions
    tuned = CaptionerSettings(
        steps=2, rewards={"CIDEr-D": 1.0}, images=8, samples=3, evaluate_every=2, save_every=9
    )
    train(images, references, tmp_path / "b", ids=TAUGHT, settings=tuned, start=first)
    assert len(checkpoint.load(tmp_path / "b").history) == 2


def test_beam_search_is_exhaustive_search_where_it_is_wide_enough(
    fc: TrainedCaptioner, images: ImageFeatures
) -> None:
    """Against all captions of up to two units, by brute force."""
    seen = Views(images).batch(np.array([3]))
    size = len(fc.units)
    units, log_p = decoding.beam(fc.model, seen, 2, width=size * size)
    best: list[tuple[float, tuple[int, ...]]] = []
    for pair in itertools.product([END, *range(3, size)], repeat=2):
        if pair[0] == END and pair[1] != END:
            continue
        row = torch.tensor([pair])
        best.append((float(decoding.unit_likelihoods(fc.model, seen, row).sum(1)), pair))
    best.sort(reverse=True)
    count = len(best)
    assert [tuple(row) for row in units[0, :5].tolist()] == [pair for _, pair in best[:5]]
    assert np.allclose(log_p[0, :count].numpy(), [value for value, _ in best], atol=1e-4)


def test_searches_give_the_models_own_likelihoods(fc: TrainedCaptioner, images: ImageFeatures) -> None:
    some = images.take(UNSEEN)
    for plan in (
        CaptionPlan("greedy", 1),
        CaptionPlan("beam", 4),
        CaptionPlan("diverse", 6, groups=3),
        CaptionPlan("rs", 3),
    ):
        made = generate(fc, some, plan)
        assert made.logprobs is not None and all(len(group) == plan.m for group in made.captions)
        again = [[sum(one.values) for one in group] for group in unit_likelihoods(fc, some, made.captions)]
        # A caption of the greatest length has no end sign.
        ended = np.array([[len(text.split()) <= fc.longest for text in group] for group in made.captions])
        assert ended.mean() > 0.8
        assert np.allclose(np.array(again)[ended], np.array(made.logprobs)[ended], atol=1e-3)
        if plan.how in ("beam", "diverse"):
            assert all(list(row) == sorted(row, reverse=True) for row in made.logprobs)
    beams = generate(fc, some, CaptionPlan("beam", 4))
    assert all(len(set(group)) == 4 for group in beams.captions)
    one = generate(fc, some, CaptionPlan("greedy", 1))
    assert (
        beams.logprobs
        and one.logprobs
        and all(b[0] >= g[0] - 1e-4 for b, g in zip(beams.logprobs, one.logprobs))
    )


def test_groups_of_a_beam_differ(fc: TrainedCaptioner, images: ImageFeatures) -> None:
    seen = Views(images.take(UNSEEN)).batch(np.arange(10))
    units, _ = decoding.beam(fc.model, seen, 12, 4, groups=4, penalty=50.0)
    first = units[:, :, 0]
    assert all(len(set(row)) == 4 for row in first.tolist())


def test_sampling_follows_the_model(fc: TrainedCaptioner, images: ImageFeatures) -> None:
    scores = torch.tensor([[3.0, 1.0, 2.0, 0.0]])
    assert Sampling(top_k=2).logits(scores).isfinite().tolist() == [[True, False, True, False]]
    assert Sampling(top_p=0.6).logits(scores).isfinite().tolist() == [[True, False, False, False]]
    assert Sampling(top_p=0.7).logits(scores).isfinite().tolist() == [[True, False, True, False]]
    assert torch.allclose(Sampling(temperature=2).logits(scores), scores / 2)
    cold = generate(fc, images.take(UNSEEN), CaptionPlan("rs", 2, sampling=Sampling(temperature=0.01)))
    assert [group[0] for group in cold.captions] == [
        group[0] for group in generate(fc, images.take(UNSEEN), CaptionPlan("greedy", 1)).captions
    ]
    with pytest.raises(InputError, match="temperature"):
        generate(fc, images, CaptionPlan("rs", sampling=Sampling(temperature=0)))
    # The first unit is drawn as often as the model says.
    seen = Views(images).batch(np.zeros(4000, np.int64))
    units, _ = decoding.sample(fc.model, seen, 1, generator=torch.Generator().manual_seed(0))
    scores, _ = fc.model.step(
        torch.ones(1, dtype=torch.long), fc.model.begin(Views(images).batch(np.array([0])))
    )
    scores[:, [1, 2]] = -torch.inf
    share = torch.bincount(units[:, 0], minlength=len(fc.units)) / 4000
    assert (share - scores.softmax(1)[0]).abs().max() < 0.04


def test_generators_of_sets(fc: TrainedCaptioner, images: ImageFeatures) -> None:
    some = images.take(UNSEEN)
    for plan in (CaptionPlan("gnc", 5, sigma=(0.5, 3.0)), CaptionPlan("crop", 5, keep=0.5)):
        made = generate(fc, some, plan)
        assert [len(group) for group in made.captions] == [5] * 10
        assert any(len(set(group)) > 1 for group in made.captions)
        assert made == generate(fc, some, plan)
    one = generate(fc, some, CaptionPlan("greedy", 1)).captions
    for plan in (CaptionPlan("gnc", 2, sigma=(0.0, 0.0)), CaptionPlan("crop", 2, keep=1.0)):
        assert [group[1:] for group in generate(fc, some, plan).captions] == one
    with pytest.raises(InputError, match="latent"):
        generate(fc, some, CaptionPlan("drv"))
    with pytest.raises(InputError, match="unknown way to generate captions 'magic'"):
        generate(fc, some, CaptionPlan("magic"))


def test_synonyms_vary_the_best_caption(fc: TrainedCaptioner, images: ImageFeatures) -> None:
    vectors = {
        "dog": [1.0, 0.1],
        "cat": [1.0, 0.2],
        "sofa": [0.1, 1.0],
        "boat": [0.2, 1.0],
        "man": [0.9, 0.3],
        "ball": [0.3, 0.9],
    }
    plan = CaptionPlan(
        "ss", 4, switch=(0.5, 1.0), vectors={w: np.array(v, np.float32) for w, v in vectors.items()}
    )
    made = generate(fc, images.take(UNSEEN), plan)
    best = generate(fc, images.take(UNSEEN), CaptionPlan("beam", 3)).captions
    assert made.logprobs is None
    assert [group[0] for group in made.captions] == [group[0] for group in best]
    assert any(group[3] != group[0] for group in made.captions)
    # With one word to choose from, every word that has a vector becomes it, or stays.
    few = generate(fc, images.take(UNSEEN), replace(plan, switch=(1.0, 1.0), vocabulary=["ball"]))
    written = {word for group in few.captions for text in group[1:] for word in text.split()}
    assert "ball" in written and not written & {"dog", "cat", "sofa", "man"}
    near = generate(fc, images.take(UNSEEN), replace(plan, switch=(1.0, 1.0), neighbours=1))
    assert all(len(set(group[1:])) == 1 for group in near.captions)


def test_a_latent_vector_varies_captions(
    images: ImageFeatures, references: References, tmp_path: Path
) -> None:
    settings = CaptionerSettings(
        steps=120, batch=60, rate=1e-2, divergence=0.02, evaluate_every=120, save_every=1000
    )
    rows: list[dict[str, Any]] = []
    trained = train(
        images,
        references,
        tmp_path / "v",
        ids=TAUGHT,
        shape=CaptionerShape(hidden=48, dropout=0, latent=4),
        settings=settings,
        least=1,
        progress=rows.append,
    )
    assert rows[0]["divergence"] > 0
    made = generate(trained, images.take(UNSEEN), CaptionPlan("drv", 8, sigma=(1.0, 1.0)))
    assert np.mean([len(set(group)) for group in made.captions]) > 1.5
    assert named(trained, images) > 0.45


def test_free_bits_keep_the_latent_vector_in_use(
    images: ImageFeatures, references: References, tmp_path: Path
) -> None:
    """A heavy divergence switches the vector off. Free bits keep it at their size."""
    divergences = {}
    for free_bits in (0.0, 0.5):
        rows: list[dict[str, Any]] = []
        settings = CaptionerSettings(
            steps=100, batch=40, rate=1e-2, divergence=1.0, annealing=0.0, free_bits=free_bits,
            evaluate_every=25, save_every=1000,
        )  # fmt: skip
        train(
            *(images, references, tmp_path / f"{free_bits}"),
            ids=TAUGHT,
            shape=CaptionerShape(hidden=32, dropout=0, latent=4),
            settings=settings,
            least=1,
            progress=rows.append,
        )
        divergences[free_bits] = rows[-1]["divergence"]
    assert divergences[0.0] < 0.05 and divergences[0.5] > 0.3


def test_a_mixture_as_prior_draws_vectors_of_the_objects(
    images: ImageFeatures, references: References, tmp_path: Path
) -> None:
    trained = train(
        *(images, references, tmp_path / "gmm"),
        ids=TAUGHT,
        shape=CaptionerShape(hidden=48, dropout=0, latent=6, prior="gmm"),
        settings=CaptionerSettings(
            steps=120, batch=50, rate=1e-2, free_bits=0.1, evaluate_every=120, save_every=1000
        ),
        least=1,
    )
    model, seen = trained.model, Views(images).batch(np.arange(60))
    latent = model.draw_latent(seen, 1.0, torch.Generator().manual_seed(1))
    near = torch.cdist(latent, model.centres).argmin(1)
    assert all(seen.vector[row, column] == 1 for row, column in enumerate(near.tolist()))
    assert named(checkpoint.load(tmp_path / "gmm"), images) > 0.45
    made = generate(trained, images.take(UNSEEN), CaptionPlan("drv", 8, sigma=(1.0, 1.0))).captions
    assert np.mean([len(set(group)) for group in made]) > 1.2


def test_an_adversary_learns_and_rewards(
    fc: TrainedCaptioner, images: ImageFeatures, references: References, tmp_path: Path
) -> None:
    """The evaluator prefers a right caption to another image's. Its reward rises, also without cross-entropy."""
    from captious.training.captioner_adversary import Adversary

    examples = lessons(images, references, TAUGHT, fc.units, fc.longest)
    adversary, draw = (
        Adversary(examples, len(fc.units), 1, hidden=16, rate=1e-2),
        torch.Generator().manual_seed(1),
    )
    rows = np.arange(len(TAUGHT))
    seen = examples.views.batch(rows)
    samples = torch.full((len(rows), 3), 3)
    for _ in range(80):
        loss = adversary.learn(rows, seen, samples, draw)
    right = examples.batch(examples.first[:-1])[1]
    assert (
        loss < 0.5
        and adversary.reward(seen, right).mean() > adversary.reward(seen, right.roll(7, 0)).mean() + 0.3
    )
    assert adversary.reward(seen, samples).mean() < 0.3
    curve: list[dict[str, Any]] = []
    settings = CaptionerSettings(
        steps=4, rate=1e-3, adversary=1.0, xe=0.0, adversary_steps=(5, 1), images=16, samples=3,
        evaluate_every=2, save_every=2,
    )  # fmt: skip
    options: dict[str, Any] = {"ids": TAUGHT, "settings": settings}
    start = tmp_path / "start"
    checkpoint.save(start, fc)
    train(
        *(images, references, tmp_path / "a"), start=checkpoint.load(start), progress=curve.append, **options
    )
    assert "xe" not in curve[-1] and 0 <= curve[-1]["reward"] <= 1 and curve[-1]["adversary loss"] > 0
    # A killed training continues to the same weights: the evaluator is part of the checkpoint.
    with pytest.raises(KilledError):
        train(
            *(images, references, tmp_path / "b"),
            start=checkpoint.load(start),
            progress=_killing(4),
            **options,
        )
    train(*(images, references, tmp_path / "b"), resume=True, **options)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_the_weight_of_cross_entropy(
    fc: TrainedCaptioner, images: ImageFeatures, references: References, tmp_path: Path
) -> None:
    checkpoint.save(tmp_path / "start", fc)
    curves: dict[float, list[dict[str, Any]]] = {}
    for weight in (0.0, 1.0, 3.0):
        curves[weight] = []
        train(
            *(images, references, tmp_path / f"{weight}"),
            ids=TAUGHT,
            start=checkpoint.load(tmp_path / "start"),
            settings=CaptionerSettings(
                steps=1, rewards={"CIDEr-D": 1.0}, xe=weight, images=16, samples=3, evaluate_every=1
            ),
            progress=curves[weight].append,
        )
    (alone,), (once,), (thrice,) = curves.values()
    assert "xe" not in alone and once["xe"] == pytest.approx(thrice["xe"])
    # The same samples and captions: the losses differ by the weight alone.
    assert once["loss"] == pytest.approx(alone["loss"] + once["xe"], abs=1e-5)
    assert thrice["loss"] == pytest.approx(alone["loss"] + 3 * once["xe"], abs=1e-5)


class KilledError(Exception):
    pass


def _killing(at: int) -> Callable[[dict[str, Any]], None]:
    def told(row: dict[str, Any]) -> None:
        if row["step"] == at:
            raise KilledError

    return told


@pytest.mark.parametrize("rewards", [{}, {"CIDEr-D": 2.0}])
def test_a_training_that_was_killed_goes_on_to_the_same_result(
    rewards: dict[str, float],
    fc: TrainedCaptioner,
    images: ImageFeatures,
    references: References,
    tmp_path: Path,
) -> None:
    settings = CaptionerSettings(
        steps=12,
        batch=20,
        rate=1e-2,
        rewards=rewards,
        images=10,
        samples=3,
        evaluate_every=4,
        save_every=3,
        validate=5,
    )

    def run(
        path: Path, told: Callable[[dict[str, Any]], None] | None = None, resume: bool = False
    ) -> TrainedCaptioner:
        start = checkpoint.load(tmp_path / "fc") if rewards else None
        return train(
            images,
            references,
            path,
            ids=TAUGHT,
            validation=UNSEEN,
            shape=CaptionerShape(hidden=24, dropout=0.3),
            settings=settings,
            least=1,
            start=start,
            resume=resume,
            progress=told,
        )

    checkpoint.save(tmp_path / "fc", fc)
    whole = run(tmp_path / "whole")
    with pytest.raises(KilledError):
        run(tmp_path / "parts", _killing(8))
    assert checkpoint.load_unfinished(tmp_path / "parts")[1] == 6
    with pytest.raises(InputError, match="stopped at step 6; continue it with --resume"):
        checkpoint.load(tmp_path / "parts")
    parts = run(tmp_path / "parts", resume=True)
    for name, tensor in whole.model.state_dict().items():
        assert torch.equal(tensor, parts.model.state_dict()[name]), name
    assert (tmp_path / "whole").read_bytes() == (tmp_path / "parts").read_bytes()
    done = run(tmp_path / "parts", resume=True)
    assert torch.equal(done.model.embed.weight, whole.model.embed.weight)
    with pytest.raises(InputError, match=r"other settings \(steps\)"):
        train(
            images,
            references,
            tmp_path / "parts",
            ids=TAUGHT,
            settings=CaptionerSettings(**{**settings.to_json(), "steps": 13}),
            resume=True,
        )


def test_a_reward_raises_what_it_rewards(
    fc: TrainedCaptioner, images: ImageFeatures, references: References, tmp_path: Path
) -> None:
    """With CIDEr-D as the reward, samples score higher in CIDEr-D and are less varied."""
    import copy

    from captious import reward

    judge = reward(references, "CIDEr-D")
    settings = CaptionerSettings(
        steps=25,
        rate=5e-3,
        rewards={"CIDEr-D": 10.0},
        images=25,
        samples=4,
        evaluate_every=25,
        save_every=100,
    )
    start = TrainedCaptioner(copy.deepcopy(fc.model), fc.units, fc.classes, fc.longest)
    before = generate(start, images.take(UNSEEN), CaptionPlan("rs", 6)).captions
    tuned = train(images, references, tmp_path / "t", ids=TAUGHT, settings=settings, start=start)
    after = generate(tuned, images.take(UNSEEN), CaptionPlan("rs", 6)).captions
    assert judge(UNSEEN, after).mean() > judge(UNSEEN, before).mean() + 0.1
    assert np.mean([len(set(group)) for group in after]) < np.mean([len(set(group)) for group in before])


def test_the_retrieval_reward_knows_the_right_image(
    fc: TrainedCaptioner, images: ImageFeatures, references: References, tmp_path: Path
) -> None:
    taught = lessons(images, references, TAUGHT, fc.units, fc.longest)
    matcher = train_matcher(taught, len(fc.units), steps=60, size=30)
    rows = np.arange(20)
    _, units = taught.batch(taught.first[rows])
    vectors = taught.views.vector[:20]
    owner = torch.arange(20)
    right = matcher.reward(vectors, units, owner)
    wrong = matcher.reward(vectors, units, (owner + 1) % 20)
    assert right.mean() > wrong.mean() + 0.2 and right.max() <= 0
    for baseline in ("leave-one-out", "greedy"):
        settings = CaptionerSettings(
            steps=2, retrieval=1.0, images=8, samples=2, baseline=baseline, evaluate_every=2, save_every=9
        )
        train(
            images, references, tmp_path / baseline, ids=TAUGHT, settings=settings, start=fc, matcher=matcher
        )


def test_bad_settings_are_refused_before_training(
    images: ImageFeatures, references: References, tmp_path: Path
) -> None:
    path = tmp_path / "x"
    for settings, message in (
        (CaptionerSettings(steps=0), "steps must be a positive"),
        (CaptionerSettings(rate=-1), "learning rate"),
        (CaptionerSettings(rewards={"CIDEr-D": 1.0}, samples=1), "at least 2 samples"),
        (CaptionerSettings(baseline="best"), "unknown baseline"),
        (CaptionerSettings(rewards={"CIDEr-D": float("nan")}), "finite number"),
    ):
        with pytest.raises(InputError, match=message):
            train(images, references, path, settings=settings)
    for shape, message in (
        (CaptionerShape("cnn"), "unknown model 'cnn'"),
        (CaptionerShape("att", latent=3), "latent"),
        (CaptionerShape(prior="gmm"), "--latent 32"),
        (CaptionerShape(latent=3, prior="mixed"), "unknown prior"),
        (CaptionerShape("relation", 30, heads=4), "multiple"),
    ):
        with pytest.raises(InputError, match=message):
            train(images, references, path, shape=shape)
    with pytest.raises(InputError, match="0 images have both objects"):
        train(images, References.read({"x": ["a"], "y": ["b"]}), path)
    assert not path.exists()


def test_damaged_files_are_refused(fc: TrainedCaptioner, tmp_path: Path) -> None:
    path = tmp_path / "m"
    with pytest.raises(InputError, match="no such captioner"):
        checkpoint.load(path)
    checkpoint.save(path, fc)
    content = path.read_bytes()
    for damaged in (b"", b"hello", content[:500], content[:-100]):
        path.write_bytes(damaged)
        with pytest.raises(InputError, match="not a captioner"):
            checkpoint.load(path)
