"""TokenSim, Soft-SPICE and the centroid of references against plain implementations of their definitions."""

from __future__ import annotations

import numpy as np
import pytest

import captious
from captious.core.errors import InputError
from captious.corpus import Corpus
from captious.metrics.captions.encoded_captions import token_vectors
from captious.metrics.captions.sentence_sim import SentenceSim
from captious.metrics.captions.soft_spice import SoftSpice, tuple_phrases
from captious.metrics.captions.token_sim import TokenSim
from captious.metrics.captions.wembsim import MOWE, WEmbSim
from captious.metrics.learned.feature_table import Features
from captious.scene.graphs import scene_graph
from captious.vectors.sentence_vectors import SentenceEncoder, load_pieces
from tests.metrics.captions.test_vector_metrics import build, each, statistics_of

KINDS = ("P", "R", "R-idf", "P-union")


@pytest.fixture(scope="module")
def encoder() -> SentenceEncoder:
    pytest.importorskip("tokenizers")
    return SentenceSim().encoder


def tokens(text: str, encoder: SentenceEncoder) -> tuple[np.ndarray, np.ndarray]:
    made = encoder.encode_tokens([text])
    weights = load_pieces().weights(encoder.pieces)
    return made.rows.astype(np.float64), weights[made.ids]


def test_token_sim_is_the_mean_of_best_matches(encoder: SentenceEncoder) -> None:
    corpus = build()
    found = {kind: statistics_of(TokenSim(kind), corpus)[:, 0] for kind in KINDS}
    for i, (text, others) in enumerate(each(corpus)):
        ours, _ = tokens(text, encoder)
        theirs = [tokens(other, encoder) for other in others]
        similar = [ours @ rows.T for rows, _ in theirs]
        assert found["P"][i] == pytest.approx(np.mean([s.max(axis=1).mean() for s in similar]), abs=2e-3)
        assert found["R"][i] == pytest.approx(np.mean([s.max(axis=0).mean() for s in similar]), abs=2e-3)
        weighted = [np.average(s.max(axis=0), weights=w) for s, (_, w) in zip(similar, theirs)]
        assert found["R-idf"][i] == pytest.approx(np.mean(weighted), abs=2e-3)
        assert found["P-union"][i] == pytest.approx(
            np.concatenate(similar, axis=1).max(axis=1).mean(), abs=2e-3
        )


def test_one_run_of_the_encoder_serves_sentences_and_tokens(
    encoder: SentenceEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs: list[int] = []
    usual = SentenceEncoder._run

    def counted(self: SentenceEncoder, ids: list[np.ndarray], keep: object = None) -> np.ndarray:
        runs.append(len(ids))
        return usual(self, ids, keep)  # type: ignore[arg-type]

    monkeypatch.setattr(SentenceEncoder, "_run", counted)
    captious.score(build(), ["SentenceSim", "TokenSim-P", "TokenSim-R"])
    together = list(runs)
    corpus = build()
    runs.clear()
    captious.score(corpus, "SentenceSim")
    assert together == runs
    made = token_vectors(corpus.candidates, encoder)
    np.testing.assert_array_equal(made.sentences, encoder.encode(corpus.candidates.texts))


def test_a_caption_that_is_its_reference_matches_itself_and_nothing_matches_nothing() -> None:
    corpus = build([["a brown dog"], ["women at a table"], [""]], [["a brown dog"], ["a plane"], ["a child"]])
    values = statistics_of(TokenSim("P"), corpus)[:, 0]
    assert values[0] == pytest.approx(1.0, abs=1e-3)
    assert values[1] < 0.6
    assert values[2] == 0.0


def test_rare_words_weigh_more() -> None:
    table = load_pieces()
    assert table.captions == 107_302
    assert table.weight("a") < table.weight("dog") < table.weight("zebra") < table.weight("no such piece")
    assert table.weights({"a": 1, "dog": 3})[3] == pytest.approx(table.weight("dog"))


@pytest.mark.filterwarnings("ignore:candidates")
@pytest.mark.parametrize("kind", [SentenceSim, WEmbSim, MOWE])
def test_the_centroid_is_the_mean_divided_by_how_far_references_agree(kind: type) -> None:
    corpus = build()
    mean, centroid = (statistics_of(kind(combine=how), corpus)[:, 0] for how in ("mean", "centroid"))
    # The references of one image, each scored against all of them: their mean is the squared length of the
    # centroid.
    groups = [list(others) for _, others in each(corpus)]
    for i, others in enumerate(groups):
        among = Corpus.build(
            [str(k) for k in range(len(others))],
            [[text] for text in others],
            [others] * len(others),
            tokenizer="none",
        )
        length = np.sqrt(statistics_of(kind(combine="mean"), among)[:, 0].mean())
        assert centroid[i] == pytest.approx(mean[i] / length, abs=1e-5)
    for how in ("max", "min"):
        values = statistics_of(kind(combine=how), corpus)[:, 0]
        assert (values >= mean - 1e-9).all() if how == "max" else (values <= mean + 1e-9).all()
    score = captious.score(corpus, kind.name, combine="centroid")[kind.name]
    assert score.signature.fields["combine"] == "centroid"
    with pytest.raises(InputError, match="mean, max, min or centroid, not 'median'"):
        kind(combine="median")


def test_soft_spice_is_f1_of_the_nearest_phrases(encoder: SentenceEncoder) -> None:
    corpus = build()
    rows = statistics_of(SoftSpice(), corpus)
    for i, (text, others) in enumerate(each(corpus)):
        ours = tuple_phrases(scene_graph(text, tokenizer="none"))
        theirs = tuple_phrases(scene_graph(list(others), tokenizer="none"))
        similar = np.clip(encoder.encode(ours) @ encoder.encode(theirs).T, 0, 1)
        precision, recall = similar.max(axis=1).mean(), similar.max(axis=0).mean()
        expected = [2 * precision * recall / (precision + recall), 1, precision, recall]
        np.testing.assert_allclose(rows[i], expected, atol=1e-5)


def test_phrases_of_a_scene() -> None:
    graph = scene_graph("a brown dog on a table")
    assert set(tuple_phrases(graph)) == {"dog", "table", "brown dog", "dog on table"}
    assert tuple_phrases(scene_graph("the of and")) == []


def test_an_image_that_is_judged_several_times_has_the_values_it_has_alone(encoder: SentenceEncoder) -> None:
    dogs, bus = ["two dogs run", "a pair of dogs on grass"], ["a red bus on a street", "the bus is parked"]
    said = ["a dog on grass", "a bus", "two dogs", "a dog on grass", "two red dogs"]
    corpus = build([[text] for text in said], [dogs, bus, dogs, dogs, dogs])
    names = (
        "token-recall-idf",
        "token-shared-recall",
        "token-agreement-recall",
        "token-union",
        "soft-word-recall-idf",
        "tuple-precision",
        "tuple-recall",
    )
    together = Features(names).table(corpus)
    for place, (text, others) in enumerate(zip(said, [dogs, bus, dogs, dogs, dogs])):
        np.testing.assert_allclose(
            together[place], Features(names).table(build([[text]], [others]))[0], atol=1e-3
        )
    assert together[0].tolist() == together[3].tolist()
    assert together[0].tolist() != together[2].tolist()
