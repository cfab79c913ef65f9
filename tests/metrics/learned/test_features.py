"""Features as a table, and learned metrics on top of them."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest

import captious
from captious.core.errors import InputError, MissingInputError
from captious.corpus import Corpus
from captious.metrics import registry
from captious.metrics.learned.captious_score import FULL, LITE
from captious.metrics.learned.composite import WEIGHTS_FOLDER, Composite, load
from captious.metrics.learned.composite_network import explain, to_bytes
from captious.metrics.learned.feature_table import GROUPS, Features, resolve
from captious.metrics.learned.own_features import OWN
from captious.training.linear_fit import fit
from tests.metrics.test_all import REFERENCES, SETS, scored
from tests.metrics.test_all import corpus_of as build

SHIPPED = {
    "LCEval": "lceval",
    "NNEval": "nneval",
    "CaptiousScore": "captious_score",
    "CaptiousScore-lite": "captious_score_lite",
}
#: Features that need no encoder.
LIGHT = [name for name, feature in OWN.items() if "encoder" not in feature.uses]


def test_groups_and_names_are_resolved() -> None:
    assert resolve(["lceval"]) == [*GROUPS["lexical"], *GROUPS["semantic"], *GROUPS["syntactic"]]
    assert len(resolve(["lceval"])) == 13
    assert len(resolve(["nneval"])) == 8
    assert resolve(["bleu4", "spice-f", "BLEU-4"]) == ["BLEU-4", "spice-f"]
    with pytest.raises(InputError, match="unknown feature 'METEROR'; did you mean 'METEOR'"):
        resolve(["METEROR"])
    with pytest.raises(InputError, match="unknown feature 'TTR1'"):
        resolve(["TTR1"])


def test_a_table_holds_the_values_of_the_metrics() -> None:
    features = Features(["ROUGE-L", "SPICE", "spice-f", "WEmbSim", "word-mean", "WMD", "word-mover"])
    table = features.table(build(SETS))
    for place, name in enumerate(features.names[:2]):
        np.testing.assert_array_equal(table[:, place], scored(name).per_caption)
    np.testing.assert_allclose(table[:, 1], table[:, 2])
    np.testing.assert_allclose(table[:, 3], table[:, 4], atol=1e-6)
    np.testing.assert_allclose(table[:, 5], table[:, 6])


def one_by_one(names: list[str]) -> None:
    features = Features(names)
    whole = features.table(build(SETS))
    for i, image in enumerate(SETS):
        alone = features.table(build({image: SETS[image]}))
        np.testing.assert_allclose(alone, whole[2 * i : 2 * i + 2], atol=1e-3, equal_nan=True)


def test_own_features_do_not_depend_on_other_captions() -> None:
    one_by_one(LIGHT)


def test_nor_do_those_of_the_encoder() -> None:
    pytest.importorskip("tokenizers")
    one_by_one([name for name in OWN if name not in LIGHT])


def test_a_single_reference_has_nothing_to_agree_with() -> None:
    names = [name for name in LIGHT if "agreement" in name]
    assert len(names) > 4
    single = {image: texts[:1] for image, texts in REFERENCES.items()}
    assert np.isnan(Features(names).table(build(SETS, references=single))).all()
    assert np.isfinite(Features(names).table(build(SETS))).all()


def test_agreement_is_the_score_of_references_against_each_other() -> None:
    """By hand: every reference as a candidate, with each other one as its only reference."""
    texts = REFERENCES["1"]
    pairs = [(a, b) for a in range(3) for b in range(3) if a != b]
    corpus = Corpus.build(
        [f"{a}{b}" for a, b in pairs],
        [[texts[a]] for a, _ in pairs],
        [[texts[b]] for _, b in pairs],
        tokenizer="none",
    )
    found = Features(["word-agreement", "soft-word-agreement-recall"]).table(build({"1": SETS["1"]}))
    among = Features(["word-mean", "soft-word-precision"]).table(corpus)
    assert found[0, 0] == pytest.approx(among[:, 0].mean(), abs=1e-5)
    # Between two references, the precision of one is the recall of the other.
    assert found[0, 1] == pytest.approx(among[:, 1].mean(), abs=1e-3)


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_weights_are_those_of_their_metric(name: str) -> None:
    path = WEIGHTS_FOLDER / f"{SHIPPED[name]}.safetensors"
    network = load(path)
    assert network.name == name
    assert path.stat().st_size < 40_000
    assert network.made["images"] == 1500
    expected = {
        "LCEval": GROUPS["lceval"],
        "NNEval": GROUPS["nneval"],
        "CaptiousScore": FULL,
        "CaptiousScore-lite": LITE,
    }[name]
    assert network.features == expected
    hidden = [layer[0].shape[1] for layer in network.layers[:-1]]
    assert hidden == {"LCEval": [12], "NNEval": [72, 72]}.get(name, [])


@pytest.mark.parametrize("name", ["CaptiousScore", "CaptiousScore-lite"])
def test_a_better_feature_never_lowers_our_own_score(name: str) -> None:
    network = load(WEIGHTS_FOLDER / f"{SHIPPED[name]}.safetensors")
    (weights, _), rises = network.layers[0], Features(network.features).rises()
    for feature, weight, sign in zip(network.features, weights[:, 0], rises):
        assert weight * sign >= 0, feature


@pytest.mark.parametrize("name", SHIPPED)
def test_learned_metrics_know_a_caption_of_the_image(name: str) -> None:
    right = {image: [texts[0]] for image, texts in REFERENCES.items()}
    others = {image: texts[1:] for image, texts in REFERENCES.items()}
    turned = dict(zip(right, [*list(right.values())[1:], next(iter(right.values()))]))
    try:
        good, bad = (
            captious.score(build(given, references=others), name)[name].per_caption
            for given in (right, turned)
        )
    except ImportError as error:
        pytest.skip(str(error))
    assert (good > bad).all()


def test_captious_score_lite_needs_nothing_but_the_base_install() -> None:
    features = Features(LITE)
    assert features.uses <= {"captions", "mapped captions", "scenes"}
    assert not {"METEOR", "SentenceSim"} & set(features.measures)


def test_earlier_weights_of_captious_score_lite_are_found_by_name() -> None:
    score = captious.score(build(SETS), "Learned", weights="captious_score_lite-0.7")["Learned"]
    assert score.signature.fields["weights"].startswith("CaptiousScore-lite@")
    now = captious.score(build(SETS), "CaptiousScore-lite")["CaptiousScore-lite"]
    assert now.signature.fields["weights"] != score.signature.fields["weights"]
    assert "vectors" in score.signature.fields and "captions" in now.signature.fields
    before = captious.score(build(SETS), "Learned", weights="captious_score_lite-0.8")["Learned"]
    assert "mapped" in now.signature.fields and "mapped" not in before.signature.fields
    assert before.value != now.value


def test_earlier_weights_of_captious_score_are_found_by_name() -> None:
    pytest.importorskip("tokenizers")
    try:
        before = captious.score(build(SETS), "Learned", weights="captious_score-0.8")["Learned"]
    except ImportError as error:
        pytest.skip(str(error))
    now = captious.score(build(SETS), "CaptiousScore")["CaptiousScore"]
    assert before.signature.fields["weights"] == "CaptiousScore@b410bd00"
    assert now.signature.fields["weights"] != before.signature.fields["weights"]
    assert "map" in now.signature.fields and "map" not in before.signature.fields
    assert before.value != now.value


def test_a_metric_of_ones_own(tmp_path: Path) -> None:
    features = Features(["ROUGE-L", "word-mean", "longer"])
    table = features.table(build(SETS))
    network = fit("Mine", features.names, features.rises(), table, np.arange(len(table)) % 2.0)
    path = tmp_path / "mine.safetensors"
    path.write_bytes(to_bytes(network))
    score = captious.score(build(SETS), "Learned", weights=str(path))["Learned"]
    np.testing.assert_allclose(score.per_caption, network.score(table))
    assert score.signature.fields["weights"] == f"Mine@{network.digest}"
    assert "vectors" in score.signature.fields
    measure = registry.create("Learned", {"weights": str(path)})
    again = pickle.loads(pickle.dumps(measure))
    assert (
        again.statistics(build(SETS), again.prepare(build(SETS).references)).tolist()
        == score.statistics.tolist()
    )
    with pytest.raises(MissingInputError, match="captious train"):
        captious.score(build(SETS), "Learned")
    with pytest.raises(InputError, match="cannot read the weights"):
        captious.score(build(SETS), "Learned", weights=str(tmp_path / "none"))


def test_explanations_add_up() -> None:
    measure = registry.create("CaptiousScore-lite")
    assert isinstance(measure, Composite)
    corpus = build(SETS)
    table = measure.table(corpus, measure.prepare(corpus.references))
    for i in (0, 5):
        told = explain(measure.network, table[i])
        odds = [np.log(p / (1 - p)) for p in (told.start, told.score)]
        assert told.shares.sum() == pytest.approx(odds[1] - odds[0], abs=1e-6)
        assert told.score == pytest.approx(measure.network.score(table[i : i + 1])[0])
        assert [abs(share) for _, _, share in told.ordered()] == sorted(np.abs(told.shares), reverse=True)


def test_explanations_of_a_network_with_hidden_layers_add_up() -> None:
    network = load(WEIGHTS_FOLDER / "lceval.safetensors")
    values = network.means + network.scales * np.linspace(-1, 1, len(network.means))
    told = explain(network, values.astype(np.float64))
    odds = [np.log(p / (1 - p)) for p in (told.start, told.score)]
    assert told.shares.sum() == pytest.approx(odds[1] - odds[0], abs=1e-6)
    # A feature at the mean moves nothing.
    still = explain(network, network.means.astype(np.float64))
    assert np.abs(still.shares).max() < 1e-6
