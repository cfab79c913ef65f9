"""Examples, the trainer and the fit of a monotone model: tiny ones, trained in seconds."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from captious.core.errors import InputError
from captious.metrics.learned.composite_network import Network, read, to_bytes
from captious.training.composite_examples import KINDS, SETS, Examples, build_examples, images_in_tests
from captious.training.composite_trainer import Judged, TrainingPlan, train
from captious.training.linear_fit import Part, fit, weigh

PEOPLE = {
    f"{thing}{place}": [
        f"a {thing} {verb} {where}"
        for verb in ("sits", "stands", "waits")
        for where in (f"by the {place}", f"near a {place}")
    ]
    for thing in ("dog", "cat", "man", "bus", "horse")
    for place in ("door", "tree", "road", "house")
}
MACHINES = {
    system: {image: f"{system} sees {image}" for image in PEOPLE}
    for system in ("alpha", "beta", "gamma", "delta")
}


@pytest.fixture(scope="module")
def examples() -> Examples:
    return build_examples(PEOPLE, MACHINES, seed=3)


def test_a_person_is_never_compared_with_the_own_caption(examples: Examples) -> None:
    names = list(PEOPLE)
    for text, references, kind in zip(examples.candidates, examples.references, examples.kind):
        assert len(references) == len(set(references)) == 4
        if KINDS[kind] == "human":
            assert text not in references
    assert {KINDS[kind] for kind in examples.kind} == set(KINDS)
    assert sorted(np.bincount(examples.image).tolist()) == [18] * len(names)


def test_worse_captions_match_their_kind(examples: Examples) -> None:
    for text, references, kind, system in zip(
        examples.candidates, examples.references, examples.kind, examples.system
    ):
        own = next(image for image, texts in PEOPLE.items() if set(references) <= set(texts))
        if KINDS[kind] in ("other", "neighbour"):
            assert text not in PEOPLE[own]
        elif KINDS[kind] == "machine":
            assert text == MACHINES[system][own]
        elif KINDS[kind].endswith("-machine"):
            assert text in MACHINES[system].values()
            assert text != MACHINES[system][own]


@pytest.mark.parametrize("name", SETS)
def test_training_sets_are_balanced(examples: Examples, name: str) -> None:
    rows = examples.chosen(name)
    assert examples.labels[rows].mean() == pytest.approx(0.5, abs=0.02)
    assert {KINDS[kind] for kind in examples.kind[rows]} == {"human", *SETS[name]}
    assert examples.chosen(name).tolist() == rows.tolist()


def test_captions_of_validation_sets_are_left_out_and_seeds_decide() -> None:
    banned = PEOPLE["dogdoor"]
    found = build_examples(PEOPLE, MACHINES, without=banned, seed=3)
    assert not set(banned) & set(found.candidates)
    assert any(set(banned) & set(references) for references in found.references)
    assert (
        build_examples(PEOPLE, MACHINES, seed=4).candidates
        != build_examples(PEOPLE, MACHINES, seed=3).candidates
    )
    with pytest.raises(InputError, match="unknown training set 'other'; did you mean 'others'"):
        found.chosen("other")
    with pytest.raises(InputError, match="more than 4 references"):
        build_examples({"1": ["a", "b"]}, {})


def toy(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    table = generator.normal(size=(400, 3)) * [1, 5, 0.1] + [0, 3, 1]
    return table, (table[:, 0] + (table[:, 1] - 3) / 10 > 0).astype(float)


def test_a_network_learns_and_a_seed_gives_the_same_weights_again() -> None:
    pytest.importorskip("torch")
    table, labels = toy()
    plan = TrainingPlan(epochs=40, rate=5e-3)
    one, again, other = (
        train("T", "abc", table, labels, p).network
        for p in (plan, plan, TrainingPlan(epochs=40, rate=5e-3, seed=2))
    )
    assert ((one.score(table) > 0.5) == (labels > 0.5)).mean() > 0.95
    assert to_bytes(one) == to_bytes(again)
    assert one.digest != other.digest


def test_a_run_that_was_killed_goes_on_to_the_same_weights(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    table, labels = toy()
    judged = [Judged("toy", *toy(1))]
    plan = TrainingPlan(epochs=25)
    checkpoint = tmp_path / "x.checkpoint"

    class KilledError(Exception):
        pass

    def stop(epoch: int) -> None:
        if epoch == 17:
            raise KilledError

    with pytest.raises(KilledError):
        train("T", "abc", table, labels, plan, validate=judged, checkpoint=checkpoint, after_epoch=stop)
    seen: list[int] = []
    resumed = train(
        "T", "abc", table, labels, plan, validate=judged, checkpoint=checkpoint, after_epoch=seen.append
    )
    whole = train("T", "abc", table, labels, plan, validate=judged)
    assert seen[0] == 11
    assert to_bytes(resumed.network) == to_bytes(whole.network)
    assert resumed.agreement == whole.agreement
    with pytest.raises(InputError, match="checkpoint of another run"):
        train(
            "T", "abc", table, labels, TrainingPlan(epochs=25, seed=5), validate=judged, checkpoint=checkpoint
        )


def test_the_best_epoch_is_taken_and_patience_ends() -> None:
    pytest.importorskip("torch")
    table, labels = toy()
    # Ratings that go against the labels: the first epochs agree best, and training makes it worse.
    contrary = [Judged("contrary", table, -labels)]
    run = train("T", "abc", table, labels, TrainingPlan(epochs=200, patience=5, rate=5e-3), validate=contrary)
    assert run.agreement[run.epoch - 1] == max(run.agreement)
    assert len(run.agreement) == run.epoch + 5
    with pytest.raises(InputError, match="all examples are of one kind"):
        train("T", "abc", table, np.ones(len(table)), TrainingPlan(epochs=1))


def test_a_monotone_fit_keeps_signs_and_separates() -> None:
    generator = np.random.default_rng(0)
    good = generator.normal(size=500)
    # The second feature is the first with noise: an unbounded fit would subtract it.
    table = np.stack(
        [
            good,
            good + 0.5 * generator.normal(size=500),
            -good + generator.normal(size=500),
            generator.normal(size=500),
        ],
        axis=1,
    )
    labels = (good - 0.8 * (table[:, 1] - good) + 0.3 * table[:, 3] > 0).astype(float)
    free = fit("T", "abcd", (0, 0, 0, 0), table, labels).layers[0][0][:, 0]
    bound = fit("T", "abcd", (1, 1, -1, 0), table, labels)
    assert free[1] < 0
    weights = bound.layers[0][0][:, 0]
    assert (weights[:2] >= 0).all()
    assert weights[2] <= 0
    assert ((bound.score(table) > 0.5) == (labels > 0.5)).mean() > 0.8


def test_a_given_sum_counts_within_its_bounds_and_is_a_probability() -> None:
    generator = np.random.default_rng(0)
    labels = np.arange(4000) % 2.0
    table = generator.normal(size=(4000, 3)) * [1, 2, 3] + labels[:, None] * [1, 2, 0]
    parts = {"a": Part(1.0, high=25), "b": Part(0.5, low=50), "c": Part(-0.1)}
    people = table[labels == 1]
    network = weigh("T", parts, table, people, labels, np.ones(4000))
    assert network.bounds is not None
    assert network.bounds[1, 0] == pytest.approx(np.percentile(people[:, 0], 25), rel=1e-5)
    assert network.bounds[0, 1] == pytest.approx(np.percentile(people[:, 1], 50), rel=1e-5)
    score = network.score(table)
    within = np.stack(
        [
            np.minimum(table[:, 0], network.bounds[1, 0]),
            np.maximum(table[:, 1], network.bounds[0, 1]),
            table[:, 2],
        ],
        axis=1,
    )
    sums = within / table.std(axis=0) @ [1, 0.5, -0.1]
    assert np.corrcoef(np.log(score / (1 - score)), sums)[0, 1] == pytest.approx(1, abs=1e-6)
    # No other scale or offset has a higher likelihood.
    assert score.mean() == pytest.approx(0.5, abs=1e-3)
    assert (score * sums).mean() == pytest.approx((labels * sums).mean(), abs=2e-3)
    # Nothing is gained beyond a bound, and a mean caption is the start of an explanation.
    better = table[:1].copy()
    better[0, 0] = network.bounds[1, 0]
    assert network.score(better + np.array([[9.0, 0, 0]])) == network.score(better)
    assert network.standardised(table).mean(axis=0) == pytest.approx([0, 0, 0], abs=1e-5)


def test_files_come_back_and_damage_is_refused(tmp_path: Path) -> None:
    table, labels = toy()
    network = fit("T", ("SPICE", "WMD", "longer"), (1, 1, -1), table, labels, made={"set": "others"})
    path = tmp_path / "t.safetensors"
    path.write_bytes(to_bytes(network))
    again = read(path)
    assert again.digest == network.digest
    assert again.made == {"set": "others"}
    np.testing.assert_array_equal(again.score(table), network.score(table))
    path.write_bytes(to_bytes(network)[:-4])
    with pytest.raises(InputError, match="not a whole safetensors file"):
        read(path)
    bound = replace(network, bounds=np.array([[0, 0, 0], [1, 2, 3]], np.float32))
    path.write_bytes(to_bytes(bound))
    np.testing.assert_array_equal(read(path).score(table), bound.score(table))
    assert read(path).digest == bound.digest != network.digest
    path.write_bytes(to_bytes(replace(network, bounds=np.array([[0, 0, 4], [1, 2, 3]], np.float32))))
    with pytest.raises(InputError, match="do not fit its 3 features"):
        read(path)
    wrong = Network("T", ("SPICE",), network.means, network.scales, network.layers, {})
    path.write_bytes(to_bytes(wrong))
    with pytest.raises(InputError, match="do not fit its 1 features"):
        read(path)
    path.write_bytes(b"\x02\0\0\0\0\0\0\0{}")
    with pytest.raises(InputError, match="no description by captious"):
        read(path)
    with pytest.raises(InputError, match="cannot read the weights"):
        read(tmp_path / "gone")


def test_gaps_count_as_the_mean() -> None:
    table, labels = toy()
    network = fit("T", "abc", (1, 1, 1), table, labels)
    gap, mean = table[:1].copy(), table[:1].copy()
    gap[0, 1], mean[0, 1] = np.nan, network.means[1]
    assert network.score(gap) == pytest.approx(network.score(mean), abs=1e-6)


def test_scoring_agrees_with_torch() -> None:
    torch = pytest.importorskip("torch")
    draw = np.random.default_rng(0)
    table = draw.normal(size=(40, 3))
    layers = [
        (draw.normal(size=shape).astype(np.float32), draw.normal(size=shape[1]).astype(np.float32))
        for shape in ((3, 5), (5, 4), (4, 2))
    ]
    means, scales = np.array([0.1, -0.2, 0.3], np.float32), np.array([1.0, 2.0, 0.5], np.float32)
    network = Network("T", ("a", "b", "c"), means, scales, tuple(layers), {})
    steps = []
    for weights, bias in layers:
        step = torch.nn.Linear(*weights.shape)
        step.load_state_dict({"weight": torch.from_numpy(weights.T.copy()), "bias": torch.from_numpy(bias)})
        steps += [step, torch.nn.ReLU()]
    given = torch.from_numpy(((table - means) / scales).astype(np.float32))
    with torch.no_grad():
        expected = torch.nn.Sequential(*steps[:-1])(given).softmax(dim=1)[:, 1].numpy()
    np.testing.assert_allclose(network.score(table), expected, atol=1e-5)


def test_images_of_test_sets_are_left_out() -> None:
    images = list(PEOPLE)
    theirs = [[text.upper() + " ." for text in PEOPLE[images[0]][:2]], ["a caption of nothing here"]]
    assert images_in_tests(PEOPLE, theirs) == {images[0]}
    # One caption in common may be generic.
    assert images_in_tests(PEOPLE, [list(PEOPLE[images[1]][:1])]) == set()
    found = build_examples(PEOPLE, MACHINES, without_references=theirs, seed=3)
    assert not {text for texts in found.references for text in texts} & set(PEOPLE[images[0]])
