"""Two folds: critics never learn from an image that they judge. The command refuses bad input before any training."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import captious
from captious import InputError, load_scores, vectors
from captious.cli.app import app
from captious.critic.critic_examples import Negatives, TrainingData
from captious.io import CaptionWarning
from captious.results.references import load_systems
from tests.critic.world import Files, world, write

torch = pytest.importorskip("torch")
pytest.importorskip("safetensors")

from captious.critic import protocol  # noqa: E402
from captious.critic.critic_measure import CriticMeasure  # noqa: E402
from captious.critic.critic_network import CriticShape, load_critic  # noqa: E402
from captious.critic.critic_training import CriticSettings  # noqa: E402
from captious.critic.protocol import CriticProtocol, folds, hold_out, judge  # noqa: E402
from captious.critic.system_judging import CriticOptions  # noqa: E402
from captious.generate.captioner.image_features import read_images  # noqa: E402
from captious.training import train_critic  # noqa: E402

WORLD = world()
IDS = list(WORLD.captions)
SMALL = CriticProtocol(
    CriticShape(context=("reference",), combine="mlp", hidden=12, classifier=8),
    CriticSettings(epochs=2, batch=20, rate=2e-2, least=1, negatives=Negatives(("system",))),
    vectors.get({"a": [1.0] * 8, "dog": [-1.0] * 8}),
)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    return write(tmp_path_factory.mktemp("critic"))


def run(*words: object) -> str:
    done = CliRunner().invoke(app, ["critic", *map(str, words)])
    assert done.exit_code == 0, (done.output, done.exception)
    return done.output


def refused(*words: object) -> str:
    done = CliRunner().invoke(app, ["critic", *map(str, words)])
    assert isinstance(done.exception, InputError), (done.output, done.exception)
    return str(done.exception)


def test_folds_are_two_halves_whatever_the_order() -> None:
    first, second = folds(IDS, 1)
    assert sorted([*first, *second]) == list(range(60)) and len(first) == 30
    turned = IDS[::-1]
    assert {turned[i] for i in folds(turned, 1)[0]} == {IDS[i] for i in first}
    assert not np.array_equal(folds(IDS, 2)[0], first)


def test_no_critic_learns_from_what_it_judges(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every image is judged once in a run, by a critic that has not seen it."""
    taught: list[set[str]] = []
    judged: list[set[str]] = []
    real_train, real_chances = protocol.train, protocol.chances

    def train(given: TrainingData, *rest: Any, **named: Any) -> Any:
        taught.append(set(given.references.ids))
        assert given.system is not None and set(given.system.ids) == taught[-1]
        return real_train(given, *rest, **named)

    def chances(critic: Any, candidates: Any, *rest: Any, **named: Any) -> Any:
        if not named.get("own"):
            texts = set(candidates)
            judged.append({image for image, text in WORLD.machine.items() if text in texts})
            assert not texts & {f"machine {image}" for image in taught[-1]}
        return real_chances(critic, candidates, *rest, **named)

    monkeypatch.setattr(protocol, "train", train)
    monkeypatch.setattr(protocol, "chances", chances)
    machine = {image: f"machine {image}" for image in IDS}
    corpus = load_systems(WORLD.captions, [machine])[0]
    found = judge([corpus], replace(SMALL, runs=2))[0]
    assert len(taught) == 4 and taught[0] | taught[1] == set(IDS) and not taught[0] & taught[1]
    assert taught[:2] == taught[2:]
    assert np.isfinite(found.score.per_caption).all() and found.score.ids == tuple(IDS)


def test_scores_of_a_system() -> None:
    """Values, people by the same critics, runs and their spread; several captions per image have equal weight
    by image.
    """
    machine = {
        image: [text, *(["a dog"] if i % 2 else [])] for i, (image, text) in enumerate(WORLD.machine.items())
    }
    told: list[dict[str, Any]] = []
    corpora = load_systems(WORLD.captions, [machine], names=["machine"], several=True)
    one, two = (judge(corpora, replace(SMALL, runs=runs), progress=told.append)[0] for runs in (1, 2))
    assert one.score.value < 0.5 < one.human.value
    assert np.isnan(one.spread) and two.spread == pytest.approx(abs(two.runs[0] - two.runs[1]) / np.sqrt(2))
    assert two.runs[0] == pytest.approx(one.runs[0], abs=1e-12) and two.score.value == pytest.approx(
        np.mean(two.runs), abs=1e-12
    )
    assert two.human.value == pytest.approx(np.mean(two.human_runs), abs=1e-12)
    low, high = one.score.interval()
    assert low <= one.score.value <= high and len(one.human.statistics) == 180
    assert [(row["run"], row["fold"]) for row in told] == [(1, 1), (1, 2), (1, 1), (1, 2), (2, 1), (2, 2)]
    assert one.score.signature.fields["runs"] == "1" and "refs" in one.score.signature.fields
    described = json.loads(json.dumps(two.to_json(ci=True)))
    assert described["system"] == "machine" and described["runs"]["spread"] == pytest.approx(two.spread)


def test_people_as_a_system() -> None:
    rest, human = hold_out(WORLD.captions, 1)
    for image in IDS:
        assert (
            sorted([*rest[image], *human[image]]) == sorted(WORLD.captions[image]) and len(human[image]) == 1
        )
    assert hold_out(dict(reversed(WORLD.captions.items())), 1)[1] == human != hold_out(WORLD.captions, 2)[1]
    with pytest.raises(InputError, match="at least two"):
        hold_out({"1": ["a dog"]}, 1)


def test_critics_that_learned_nothing_are_told_of() -> None:
    corpus = load_systems(WORLD.captions, [WORLD.machine], names=["machine"])[0]
    with pytest.warns(CaptionWarning, match="machine: the critics learned next to nothing"):
        judge([corpus], replace(SMALL, settings=replace(SMALL.settings, epochs=1, rate=1e-9)))


def test_a_critic_by_its_file_in_every_command(files: Files, tmp_path: Path) -> None:
    """score, report, agreement, robustness and rerank take -m Critic=FILE; images are found by their ids."""
    from captious.agreement import agreement
    from captious.io.judgements.judged_sets import Protocol, RatedCaptions
    from captious.results.scores import Score
    from captious.robustness import robustness_curves

    corpus = load_systems(WORLD.captions, [WORLD.machine], names=["machine"])[0]
    shape = replace(SMALL.shape, context=("image", "reference"))
    judge([corpus], replace(SMALL, shape=shape), images=read_images(files.objects), output=tmp_path)
    first, second = sorted(tmp_path.rglob("*.safetensors"))
    images = read_images(files.objects)
    features = dict(zip(images.ids, images.counted()))
    expected = Score.of(CriticMeasure([load_critic(first)], features), corpus)
    options = {"critic_images": str(files.objects)}
    scored = captious.score(corpus, f"critic={first}", **options)["Critic"]
    assert scored.per_caption.tolist() == expected.per_caption.tolist()
    assert "critic:1 critic@" in scored.signature and "images:images@" in scored.signature
    both = captious.score(corpus, f"Critic={first},Critic={second},ROUGE-L", **options)
    assert list(both) == [f"Critic={first.stem}", f"Critic={second.stem}", "ROUGE-L"]
    mean = captious.score(corpus, f"Critic={first.parent}", **options)["Critic"]
    assert mean.value == pytest.approx(np.mean([score.value for score in list(both.values())[:2]]))
    again = captious.score(corpus, "Critic", critic=first, **options)["Critic"]
    assert again.signature == scored.signature

    # Entries of judgements are numbered, and their images are still found.
    rated = RatedCaptions(
        name="rated",
        images=IDS[10:20],
        captions=[WORLD.machine[image] for image in IDS[10:20]],
        references=[WORLD.captions[image] for image in IDS[10:20]],
        ratings=[[float(k)] for k in range(10)],
        protocol=Protocol("tau-c"),
    )
    (row,) = agreement(rated, f"Critic={first}", **options)
    assert np.isfinite(row.value)
    curves = robustness_curves(
        {image: WORLD.captions[image] for image in IDS[:20]}, f"Critic={first}", options=options, resamples=20
    )
    assert all(np.isfinite(curve.area) for curve in curves)


def test_a_critic_needs_its_file_and_its_images(files: Files, tmp_path: Path) -> None:
    corpus = load_systems(WORLD.captions, [WORLD.machine])[0]
    shape = replace(SMALL.shape, context=("image", "reference"))
    judge([corpus], replace(SMALL, shape=shape), images=read_images(files.objects), output=tmp_path)
    path = next(tmp_path.rglob("*.safetensors"))
    with pytest.raises(InputError, match="--critic-images FILE"):
        captious.score(corpus, f"Critic={path}")
    with pytest.raises(InputError, match="-m Critic=FILE"):
        captious.score(corpus, "Critic")
    with pytest.raises(InputError, match="no such critic"):
        captious.score(corpus, f"Critic={tmp_path / 'none.safetensors'}")
    with pytest.raises(InputError, match="has no critics"):
        captious.score(corpus, f"Critic={files.references.parent}")
    with pytest.raises(InputError, match="ROUGE-L is written without a file; Learned, Critic"):
        captious.score(corpus, "ROUGE-L=x")
    with pytest.raises(InputError, match="the file is missing"):
        captious.score(corpus, "Critic=")
    with pytest.raises(InputError, match="unknown metric 'Critik'; did you mean 'Critic'"):
        captious.score(corpus, "Critik=x")


def test_a_critic_as_a_measure(files: Files, tmp_path: Path) -> None:
    """Trained critics score any captions, with features by image id; several are averaged."""
    corpus = load_systems(WORLD.captions, [WORLD.machine])[0]
    shape = replace(SMALL.shape, context=("image", "reference"))
    judge([corpus], replace(SMALL, shape=shape), images=read_images(files.objects), output=tmp_path)
    critics = [load_critic(path) for path in sorted(tmp_path.rglob("*.safetensors"))]
    images = read_images(files.objects)
    features = dict(zip(images.ids, images.counted()))
    from captious.results.scores import Score

    each = [Score.of(CriticMeasure([critic], features), corpus).per_caption for critic in critics]
    both = Score.of(CriticMeasure(critics, features), corpus)
    assert (
        len(critics) == 2
        and both.per_caption == pytest.approx(np.mean(each, axis=0))
        and not np.allclose(*each)
    )
    assert captious.score(corpus, metrics=[CriticMeasure(critics, features)])["Critic"].value == both.value
    with pytest.raises(InputError, match="no vector for image"):
        Score.of(CriticMeasure(critics, {"nowhere": np.zeros(6)}), corpus)
    with pytest.raises(InputError, match="-m Critic=FILE"):
        Score.of(CriticMeasure(), corpus)


# The command

QUICK = ["--epochs", "1", "--hidden", "8", "--least", "1"]


def test_the_command(files: Files, tmp_path: Path) -> None:
    other = tmp_path / "other.jsonl"
    other.write_text("".join(json.dumps({"image_id": i, "caption": "a dog"}) + "\n" for i in IDS))
    words = [
        files.references,
        files.machine,
        other,
        "--features",
        files.objects,
        "--samples",
        files.samples,
        "--combine",
        "mlp",
        *QUICK,
    ]
    shown = run(*words, "--human", "-o", tmp_path / "out", "--json", tmp_path / "out.json")
    for text in (
        "machine",
        "other",
        "people",
        "image and reference",
        "negative captions: of the system, corrupted, sampled",
        "p (Holm)",
    ):
        assert text in shown, text
    saved = load_scores(tmp_path / "out" / "machine.scores")
    described = json.loads((tmp_path / "out.json").read_text())
    assert [row["system"] for row in described["systems"]] == ["machine", "other", "people"]
    assert saved["Critic"].value == described["systems"][0]["score"]["value"] and saved[
        "Critic"
    ].ids == tuple(IDS)
    assert len(described["comparison"]["metrics"]) == 3
    fields = saved["Critic"].signature.fields
    assert (
        fields["context"] == "image+reference"
        and fields["negatives"] == "system+pathological+samples"
        and fields["refs"].startswith("60x2@")
    )
    # Saved scores are compared like any other metric's.
    done = CliRunner().invoke(
        app, ["compare", *(str(tmp_path / "out" / f"{name}.scores") for name in ("machine", "other"))]
    )
    assert done.exit_code == 0 and "Critic" in done.output
    # Stored critics are not trained again and never overwritten.
    assert "already has critics" in refused(*words, "--human", "-o", tmp_path / "out")
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "out" / "critics").rglob("*.safetensors")}
    run(*words, "--human", "-o", tmp_path / "out", "--resume")
    assert len(before) == 6 and before == {path: path.stat().st_mtime_ns for path in before}
    assert "other" in refused(*words, "--human", "--seed", "2", "-o", tmp_path / "out", "--resume")


def test_one_system_in_one_file_and_no_augmentation(files: Files, tmp_path: Path) -> None:
    run(
        files.references,
        files.machine,
        "--no-augmentation",
        "--context",
        "none",
        "--combine",
        "linear",
        *QUICK,
        "-o",
        tmp_path / "machine.scores",
    )
    fields = load_scores(tmp_path / "machine.scores")["Critic"].signature.fields
    assert fields["negatives"] == "system" and fields["context"] == "none" and "transformations" not in fields
    assert len(list((tmp_path / "machine.critics").rglob("*.safetensors"))) == 2


def test_samples_from_a_captioner(files: Files, tmp_path: Path) -> None:
    """Captions drawn by this package's captioner from the same objects."""
    model = tmp_path / "captioner.safetensors"
    done = CliRunner().invoke(
        app,
        [
            "train",
            "captioner",
            str(files.objects),
            str(files.references),
            "-o",
            str(model),
            "--steps",
            "2",
            "--hidden",
            "8",
            "--validation",
            "2",
            "--least",
            "1",
        ],
    )
    assert done.exit_code == 0, done.output
    run(
        files.references,
        files.machine,
        "--features",
        files.objects,
        "--samples",
        model,
        *QUICK,
        "-o",
        tmp_path / "m.scores",
    )
    assert "samples" in load_scores(tmp_path / "m.scores")["Critic"].signature.fields
    assert "is a captioner and needs image features" in refused(
        files.references, files.machine, "--samples", model, *QUICK
    )


def test_bad_input_is_refused_before_training(
    files: Files, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def untouched(*_: Any, **__: Any) -> Any:
        raise AssertionError("a training began")

    monkeypatch.setattr(protocol, "train", untouched)
    plain = [files.references, files.machine, *QUICK]

    def features(ids: list[str], rows: np.ndarray) -> Path:
        path = tmp_path / "f.npz"
        np.savez(path, ids=np.array(ids), features=rows)
        return path

    rows = np.ones((60, 4), np.float32)
    assert "no features for 60 of 60 images" in refused(
        *plain, "--features", features([f"x{i}" for i in IDS], rows)
    )
    broken = rows.copy()
    broken[3, 2] = np.nan
    assert f"image {IDS[3]} have values that are no numbers" in refused(
        *plain, "--features", features(IDS, broken)
    )
    assert "59 rows of features and 60 ids" in refused(*plain, "--features", features(IDS, rows[:59]))
    np.savez(tmp_path / "w.npz", **{image: np.ones(4 if i else 5) for i, image in enumerate(IDS)})
    assert "others have vectors of 5 numbers" in refused(*plain, "--features", tmp_path / "w.npz")
    half = tmp_path / "half.jsonl"
    half.write_text("\n".join(files.machine.read_text().splitlines()[:30]) + "\n")
    assert "30" in refused(files.references, half, *QUICK)
    for count, message in ((1, "1 image is too few"), (3, "3 images are too few")):
        few = [tmp_path / "r.jsonl", tmp_path / "s.jsonl"]
        for path, source in zip(few, (files.references, files.machine)):
            path.write_text("\n".join(source.read_text().splitlines()[:count]) + "\n")
        assert message in refused(*few, *QUICK)
    lone = tmp_path / "lone.jsonl"
    lone.write_text(
        "".join(
            json.dumps({"image_id": i, "captions": texts[:1]}) + "\n" for i, texts in WORLD.captions.items()
        )
    )
    assert "have only one" in refused(lone, files.machine, *QUICK)
    assert "samples have no captions for 30 of 60" in refused(*plain, "--samples", half)
    assert "add --features, or set --context reference" in refused(*plain, "--context", "image")
    assert "unknown context 'pictures'" in refused(*plain, "--context", "pictures")
    assert "unknown combination 'sum'" in refused(*plain, "--combine", "sum")
    assert "did you mean 'quick'" in refused(*plain, "--preset", "quik")
    assert "part of augmentation" in refused(*plain, "--samples", files.samples, "--no-augmentation")
    assert "--resume continues" in refused(*plain, "--resume")
    assert "is one file" in refused(*plain, files.machine, "-o", tmp_path / "x.scores")
    assert "name a network" in refused(*plain, "--features", tmp_path)
    assert "combine by linear or mlp" in refused(*plain, "--context", "none")


def test_without_torch_one_line_says_what_to_install(files: Files, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    from captious.core.errors import MissingExtraError

    monkeypatch.setitem(sys.modules, "torch", None)
    done = CliRunner().invoke(app, ["critic", str(files.references), str(files.machine)])
    assert isinstance(done.exception, MissingExtraError) and "captious[train]" in str(done.exception)


def test_a_critic_trained_by_one_command_scores_captions(files: Files, tmp_path: Path) -> None:
    """Right captions score higher than those of other images, from training to scoring on the command line."""
    from captious.cli.app import app

    critic = tmp_path / "critic.safetensors"
    negatives = ["--negatives", "random-caption", "--strength", "100"]
    small = ["--least", "1", "--epochs", "30", "--hidden", "16", "--seed", "2"]
    command = ["train", "critic", str(files.references), "-o", str(critic), *negatives, *small]
    result = CliRunner().invoke(app, command, catch_exceptions=False)
    assert result.exit_code == 0 and f"-m Critic={critic}" in result.output
    wrong = {image: [WORLD.captions[other][0]] for image, other in zip(IDS, [*IDS[1:], IDS[0]])}
    right = {image: texts[:1] for image, texts in WORLD.captions.items()}
    rest = {image: texts[1:] for image, texts in WORLD.captions.items()}
    scores = [
        captious.score(rest, captions, f"Critic={critic}")["Critic"].value for captions in (right, wrong)
    ]
    assert scores[0] > scores[1] + 0.2
    with pytest.raises(InputError, match="already exists"):
        train_critic(files.references, critic)
    with pytest.raises(InputError, match="'system' need captions"):
        train_critic(files.references, tmp_path / "b", options=CriticOptions(negatives=["system"]))
    with pytest.raises(InputError, match="leave one of the two options out"):
        CriticOptions(negatives=["system"], augmentation=False).shape_and_settings(False)
    with pytest.raises(InputError, match="not used by these --negatives"):
        CriticOptions(negatives=["system"], samples="x").shape_and_settings(False)
    seen = train_critic(
        files.references,
        tmp_path / "seen.safetensors",
        [files.machine, files.samples],
        CriticOptions(hidden=8, epochs=1, least=1, combine="mlp"),
        images=files.objects,
    )
    assert seen.images == len(IDS) and seen.trained.model.shape.context == ("image", "reference")
    assert seen.trained.history["settings"]["negatives"]["kinds"] == ["system", "pathological"]
