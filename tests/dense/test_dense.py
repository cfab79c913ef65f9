"""Dense captions: matching, both protocols on videos of our own, bad input, and the published programs."""

from __future__ import annotations

import itertools
import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import captious
from captious.cli.app import app
from captious.core.errors import InputError
from captious.dense.matching import assign, assign_as_published, overlaps
from captious.io import CaptionWarning
from captious.io.event_files import Event, overlapping, read_events

REFERENCES: dict[str, Any] = {
    "pool": {
        "duration": 30.0,
        "timestamps": [[0, 10], [10, 20], [22, 30]],
        "sentences": ["A boy climbs a ladder.", "He jumps into the pool.", "Friends clap at the edge."],
    },
    "yard": {"duration": 8.0, "timestamps": [[0, 8]], "sentences": ["A cat sleeps on a wall."]},
}
OTHER: dict[str, Any] = {
    "pool": {"timestamps": [[1, 21]], "sentences": ["A boy dives into a pool."]},
}
PREDICTIONS: dict[str, Any] = {
    "results": {
        "pool": [
            {"timestamp": [11, 20], "sentence": "A boy jumps into a pool."},
            {"timestamp": [0, 9], "sentence": "A boy climbs a ladder."},
            {"timestamp": [28, 29], "sentence": "The end."},
        ]
    }
}


def test_overlap_is_intersection_over_the_smaller_union() -> None:
    ratio = overlaps([Event(0, 10, ""), Event(20, 30, "")], [Event(5, 15, ""), Event(20, 25, "")])
    # 5 of 15 seconds; apart: the hull is longer than the sum of lengths, and the intersection is 0.
    np.testing.assert_allclose(ratio, [[1 / 3, 0], [0, 0.5]], atol=1e-8)


def test_assignment_is_the_best_of_all_that_keep_the_order() -> None:
    random = np.random.default_rng(5)
    for _ in range(60):
        rows, columns = random.integers(1, 5, size=2)
        scores = np.round(random.random((rows, columns)) * (random.random((rows, columns)) < 0.6), 2)
        best = max(
            sum(scores[pair] for pair in zip(chosen, others))
            for size in range(min(rows, columns) + 1)
            for chosen in itertools.combinations(range(rows), size)
            for others in itertools.combinations(range(columns), size)
        )
        result = assign(scores)
        assert result.total == pytest.approx(best)
        assert sum(scores[pair] for pair in result.pairs) == pytest.approx(best)
        assert assign_as_published(scores).total == pytest.approx(best)


def test_the_program_of_soda_takes_the_last_match_of_each_row() -> None:
    # The best assignment leaves the second row out. The program takes it, because that row has a match.
    scores = np.array([[0.0, 0.9], [0.5, 0.1]])
    assert assign(scores).pairs == [(0, 1)]
    assert assign_as_published(scores).pairs == [(1, 0)]
    assert assign_as_published(scores).total == pytest.approx(0.9)


def _words(text: str) -> list[str]:
    return text.lower().rstrip(".").split()


def _rouge(candidate: str, reference: str) -> float:
    """ROUGE-L of two sentences, written plainly."""
    a, b = _words(candidate), _words(reference)
    table = np.zeros((len(a) + 1, len(b) + 1), int)
    for i, j in itertools.product(range(len(a)), range(len(b))):
        table[i + 1, j + 1] = table[i, j] + 1 if a[i] == b[j] else max(table[i, j + 1], table[i + 1, j])
    common = int(table[-1, -1])
    if not common:
        return 0.0
    precision, recall = common / len(a), common / len(b)
    return (1 + 1.2**2) * precision * recall / (recall + 1.2**2 * precision)


def _ratio(p: list[float], r: list[float]) -> float:
    shared = max(0.0, min(p[1], r[1]) - max(p[0], r[0]))
    return shared / (min(max(p[1], r[1]) - min(p[0], r[0]), p[1] - p[0] + r[1] - r[0]) + 1e-8)


def test_densevid_on_our_own_videos() -> None:
    scores = captious.score_dense(
        [REFERENCES, OTHER], PREDICTIONS, "ROUGE-L", protocols=["densevid"], thresholds=[0.3, 0.9]
    )
    rows = PREDICTIONS["results"]["pool"]
    for threshold in (0.3, 0.9):
        values = []
        for row in rows:
            pairs = [
                _rouge(row["sentence"], sentence)
                for one in (REFERENCES, OTHER)
                for time, sentence in zip(one["pool"]["timestamps"], one["pool"]["sentences"])
                if _ratio(row["timestamp"], time) >= threshold
            ]
            values += pairs or [0.0]
        # The video without predictions counts as 0.
        assert scores[f"densevid ROUGE-L@{threshold:g}"].value == pytest.approx(np.mean(values) / 2)
    # 11-20 and 0-9 cover 9 of 10 seconds of the first two events, up to 1e-9; at 0.3 both are detected.
    assert scores["densevid precision@0.3"].value == pytest.approx(2 / 3 / 2)
    assert scores["densevid recall@0.3"].value == pytest.approx(1 / 2)  # the second annotator's only event
    assert scores["densevid recall@0.9"].value == 0


def test_an_overlap_equal_to_the_threshold_pairs_captions_but_detects_nothing() -> None:
    event = {"timestamps": [[0, 10]], "sentences": ["a dog runs"]}
    rows = [{"timestamp": [0, 5], "sentence": "a dog runs"}]
    threshold = float(overlaps([Event(0, 10, "")], [Event(0, 5, "")])[0, 0])
    scores = captious.score_dense(
        {"v": event}, {"results": {"v": rows}}, "ROUGE-L", protocols=["densevid"], thresholds=[threshold]
    )
    assert scores["densevid ROUGE-L"].value == 1
    assert scores["densevid precision"].value == scores["densevid recall"].value == 0


def test_several_annotators() -> None:
    one = {"v": {"timestamps": [[0, 10], [10, 20]], "sentences": ["a dog runs", "a cat sits"]}}
    two = {"v": {"timestamps": [[50, 60]], "sentences": ["two birds"]}}
    rows = [
        {"timestamp": [0, 10], "sentence": "a dog runs"},
        {"timestamp": [10, 20], "sentence": "a cat sits"},
    ]
    predictions = {"results": {"v": rows}}
    for references in ([one, two], [two, one]):
        scores = captious.score_dense(references, predictions, "ROUGE-L")
        merged = captious.score_dense(references, predictions, "ROUGE-L", merge_references=True)
        # densevid pairs predictions with the events of all annotators; the other protocols take the best one.
        assert scores["densevid ROUGE-L"].value == scores["densevid precision"].value == pytest.approx(1)
        assert scores["densevid recall"].value == 1 and scores["SODA_c ROUGE-L"].value == pytest.approx(1)
        assert merged["SODA_c ROUGE-L P"].value == pytest.approx(1)
        assert merged["SODA_c ROUGE-L R"].value == pytest.approx(2 / 3)


def test_densevid_reads_a_thousand_predictions() -> None:
    rows = [{"timestamp": [8, 8], "sentence": "no"}] * 1000 + [{"timestamp": [0, 8], "sentence": "A cat."}]
    scores = captious.score_dense({"yard": REFERENCES["yard"]}, {"results": {"yard": rows}}, "ROUGE-L")
    assert scores["densevid recall"].value == 0 and scores["SODA_c ROUGE-L"].value > 0


def test_letters_outside_ascii_are_removed_as_published() -> None:
    references = {"v": {"timestamps": [[0, 10]], "sentences": ["a café"]}}
    predictions = {"results": {"v": [{"timestamp": [0, 10], "sentence": "a caf"}]}}

    def value(**options: bool) -> float:
        return captious.score_dense(references, predictions, "ROUGE-L", **options)["densevid ROUGE-L"].value

    assert value() < 1 and value(as_published=True) == 1


def test_soda_on_our_own_videos_by_hand() -> None:
    scores = captious.score_dense(REFERENCES, PREDICTIONS, "ROUGE-L", protocols=["soda"], kinds="abcd")
    climbs = _rouge("A boy climbs a ladder.", "A boy climbs a ladder.")
    jumps = _rouge("A boy jumps into a pool.", "He jumps into the pool.")
    ends = _rouge("The end.", "Friends clap at the edge.")

    def f(total: float) -> float:
        # Three predictions and three events: precision, recall and F are equal. One of two videos is empty.
        return total / 3 / 2

    assert scores["SODA_b ROUGE-L"].value == pytest.approx(f(climbs + jumps + ends))
    assert scores["SODA_c ROUGE-L"].value == pytest.approx(f(0.9 * climbs + 0.9 * jumps + ends / 8), abs=1e-8)
    assert scores["SODA_d"].value == pytest.approx(f(0.9 + 0.9 + 1 / 8), abs=1e-8)
    # 0.9 is not reached, because the union has 1e-8 seconds more.
    assert scores["SODA_a ROUGE-L"].value == pytest.approx(f(climbs + jumps) * 3 / 4, abs=1e-8)


def test_published_order_swaps_the_sentences_and_drops_videos() -> None:
    ours = captious.score_dense(REFERENCES, PREDICTIONS, "METEOR", protocols=["soda"])
    theirs = captious.score_dense(REFERENCES, PREDICTIONS, "METEOR", protocols=["soda"], as_published=True)
    assert ours["SODA_c METEOR"].ids == ("pool", "yard") and theirs["SODA_c METEOR"].ids == ("pool",)
    assert ours["SODA_c METEOR"].per_image["yard"] == 0
    assert ours["SODA_c METEOR"].per_image["pool"] != theirs["SODA_c METEOR"].per_image["pool"]
    assert "as:published" in theirs["SODA_c METEOR"].signature
    with pytest.raises(InputError):
        captious.compare(ours, theirs)


def test_the_program_of_soda_sorts_references_only_if_merged() -> None:
    """An annotator's file with the second event first: only one pair keeps that order."""
    references = {"v": {"timestamps": [[10, 20], [0, 10]], "sentences": ["a dog runs", "a cat sits"]}}
    rows = [
        {"timestamp": [10, 20], "sentence": "a dog runs"},
        {"timestamp": [0, 10], "sentence": "a cat sits"},
    ]

    def value(**options: bool) -> float:
        scores = captious.score_dense(
            references, {"results": {"v": rows}}, "ROUGE-L", protocols=["soda"], **options
        )
        return scores["SODA_c ROUGE-L"].value

    assert value() == pytest.approx(1.0)
    assert value(as_published=True) == pytest.approx(0.5)
    assert value(as_published=True, merge_references=True) == pytest.approx(1.0)


def test_soda_gives_the_metric_the_prediction_as_candidate() -> None:
    references = {"v": {"timestamps": [[0, 10]], "sentences": ["a dog runs in the park"]}}
    predictions = {"results": {"v": [{"timestamp": [0, 10], "sentence": "a dog"}]}}

    def value(**options: bool) -> float:
        return captious.score_dense(references, predictions, "ROUGE-L", **options)["SODA_c ROUGE-L"].value

    assert value() == pytest.approx(_rouge("a dog", "a dog runs in the park"), abs=1e-8)
    swapped = _rouge("a dog runs in the park", "a dog")
    assert value(as_published=True) == pytest.approx(swapped, abs=1e-8) and abs(value() - swapped) > 0.05


def test_densevid_counts_document_frequencies_inside_a_video() -> None:
    """A video's only pair has no rare words, so CIDEr-D is 0 there, whatever other videos have."""
    references = {
        name: {"timestamps": [[0, 10]], "sentences": [text]}
        for name, text in (("v", "a dog runs"), ("w", "two cats sit"))
    }
    rows = {
        name: [{"timestamp": [0, 10], "sentence": text}] for name, text in (("v", "a dog runs"), ("w", "no"))
    }
    scores = captious.score_dense(references, {"results": rows}, "CIDEr-D", protocols=["densevid"])
    assert scores["densevid CIDEr-D"].value == 0


def test_cider_counts_document_frequencies_over_all_events() -> None:
    """In a corpus of one repeated reference, every weight would be 0."""
    assert captious.score_dense(REFERENCES, PREDICTIONS, "CIDEr-D")["SODA_c CIDEr-D"].value > 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"timestamp": [9, 3], "sentence": "x"}, "ends at 3 s, before its start at 9 s"),
        ({"timestamp": [1], "sentence": "x"}, r"expected \[start, end\]"),
        ({"timestamp": [1, float("nan")], "sentence": "x"}, r"expected \[start, end\]"),
        ({"timestamp": [1, float("inf")], "sentence": "x"}, r"expected \[start, end\]"),
        ({"timestamp": [1, 10**400], "sentence": "x"}, r"expected \[start, end\]"),
        (
            {"timestamp": ["1", "2"], "sentence": "x"},
            r"expected \[start, end\] in seconds, found \['1', '2'\]",
        ),
        ({"timestamp": [False, True], "sentence": "x"}, r"expected \[start, end\]"),
        ({"timestamp": None, "sentence": "x"}, r"expected \[start, end\]"),
        ({"timestamp": [-1, 2], "sentence": "x"}, "before the video"),
        ({"timestamp": [1, 2], "sentence": 3}, "the sentence is text"),
        ({"sentence": "x"}, "'timestamp' and 'sentence'"),
    ],
)
def test_bad_events_are_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=f"the predictions, video 'pool', event 0: .*{message}"):
        captious.score_dense(REFERENCES, {"results": {"pool": [change]}}, "ROUGE-L")
    columns = {"timestamps": [change.get("timestamp")], "sentences": [change["sentence"]]}
    with pytest.raises(InputError, match="references 2, video 'pool', event 0: "):
        captious.score_dense([REFERENCES, {"pool": columns}], PREDICTIONS, "ROUGE-L")


def test_bad_files_are_refused() -> None:
    with pytest.raises(InputError, match="none of its 1 videos"):
        captious.score_dense(REFERENCES, {"results": {"v_pool": []}}, "ROUGE-L")
    with pytest.raises(InputError, match="2 timestamps, but 1 sentences"):
        captious.score_dense(
            {"a": {"timestamps": [[0, 1], [1, 2]], "sentences": ["x"]}}, PREDICTIONS, "ROUGE-L"
        )
    with pytest.raises(InputError, match="unknown kind of SODA 'e'"):
        captious.score_dense(REFERENCES, PREDICTIONS, "ROUGE-L", kinds="e")
    with pytest.warns(CaptionWarning, match="1 events end after their videos"):
        captious.score_dense(
            REFERENCES, {"results": {"yard": [{"timestamp": [2, 90], "sentence": "a cat"}]}}, "ROUGE-L"
        )
    with pytest.warns(CaptionWarning, match="left out 1 videos without references"):
        captious.score_dense(REFERENCES, {"results": {**PREDICTIONS["results"], "sea": []}}, "ROUGE-L")


def test_overlapping_events_and_events_without_length_are_scored() -> None:
    """Both protocols allow events of one annotator or system to overlap."""
    rows = [{"timestamp": time, "sentence": "A cat sleeps on a wall."} for time in ([0, 8], [0, 8], [2, 6])]
    scores = captious.score_dense({"yard": REFERENCES["yard"]}, {"results": {"yard": rows}}, "ROUGE-L")
    # SODA assigns one prediction to the only event. densevid detects the event with all three at 0.3.
    assert scores["SODA_c ROUGE-L P"].value == pytest.approx(1 / 3)
    assert scores["SODA_c ROUGE-L R"].value == pytest.approx(1)
    assert scores["densevid precision@0.3"].value == 1
    rows = [{"timestamp": [3, 3], "sentence": "A cat sleeps on a wall."}]
    scores = captious.score_dense({"yard": REFERENCES["yard"]}, {"results": {"yard": rows}}, "ROUGE-L")
    assert scores["SODA_c ROUGE-L"].value == 0


def test_overlapping_events_are_counted() -> None:
    def count(*times: list[float]) -> int:
        rows = [{"timestamp": list(time), "sentence": "a"} for time in times]
        return overlapping(read_events({"results": {"v": rows, "w": rows[:1]}}))

    assert count([0, 5], [5, 9], [9, 12]) == 0  # one begins where the other ends
    assert count([0, 10], [4, 5], [6, 7], [11, 12]) == 3  # the first holds two others
    assert count([8, 9], [0, 2], [1, 3]) == 2
    assert count([3, 3], [0, 9]) == 0  # no length
    assert count([0, 4], [0, 4]) == 2


@pytest.mark.parametrize("as_published", [False, True])
def test_empty_event_lists(as_published: bool) -> None:
    scores = captious.score_dense(
        REFERENCES, {"results": {"pool": [], "yard": []}}, "ROUGE-L", as_published=as_published
    )
    assert all(score.value == 0 for score in scores.values()) and len(scores["SODA_c ROUGE-L"].ids) == 2
    with pytest.raises(InputError, match="the references, video 'a': no event; leave the video out"):
        captious.score_dense({"a": {"timestamps": [], "sentences": []}}, PREDICTIONS, "ROUGE-L")
    for references, predictions in (({}, PREDICTIONS), (REFERENCES, {"results": {}})):
        with pytest.raises(InputError, match="has no videos"):
            captious.score_dense(references, predictions, "ROUGE-L", as_published=as_published)


def test_reversed_times_are_used_as_published_with_one_warning() -> None:
    rows = [{"timestamp": [9, 1], "sentence": "A boy climbs a ladder."}] * 3
    with pytest.warns(CaptionWarning) as messages:
        scores = captious.score_dense(
            REFERENCES, {"results": {"pool": rows}}, "ROUGE-L", protocols=["soda"], as_published=True
        )
    (message,) = (str(one.message) for one in messages)
    assert message.startswith("3 events end before they start") and "event 1" in message
    assert scores["SODA_c ROUGE-L"].value == 0


def test_swapped_arguments_are_refused() -> None:
    with pytest.raises(InputError, match="references come first"):
        captious.score_dense(PREDICTIONS, REFERENCES, "ROUGE-L")
    with pytest.raises(InputError, match="expected a path or the content of a file, not"):
        captious.score_dense(REFERENCES, 5, "ROUGE-L")  # type: ignore[arg-type]


def test_durations_are_checked() -> None:
    for duration in (float("nan"), 0, -3, "9", 10**400):
        broken = {"yard": {**REFERENCES["yard"], "duration": duration}}
        with pytest.raises(InputError, match="'duration' is a number of seconds above 0"):
            captious.score_dense(broken, PREDICTIONS, "ROUGE-L")
    # Published durations are rounded, so half a second is allowed.
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        captious.score_dense(
            {**REFERENCES, "yard": {**REFERENCES["yard"], "duration": 7.6}}, PREDICTIONS, "ROUGE-L"
        )
    with pytest.warns(CaptionWarning, match="the references: 1 events end after their videos"):
        captious.score_dense(
            {**REFERENCES, "yard": {**REFERENCES["yard"], "duration": 7}}, PREDICTIONS, "ROUGE-L"
        )


def test_bad_files_give_one_message_and_write_nothing(tmp_path: Path) -> None:
    bad = {"results": {"pool": [{"timestamp": ["0", "9"], "sentence": "a boy"}]}}
    late = {"results": {"pool": [{"timestamp": [0, 90], "sentence": "a boy"}]}}
    for name, value in (("r", REFERENCES), ("bad", bad), ("late", late)):
        (tmp_path / f"{name}.json").write_text(json.dumps(value))
    page = tmp_path / "page.html"
    command = ["dense", str(tmp_path / "r.json"), "-m", "ROUGE-L", "--report", str(page)]
    done = CliRunner().invoke(app, [*command, str(tmp_path / "bad.json")])
    assert isinstance(done.exception, InputError) and not page.exists()
    with warnings.catch_warnings(record=True) as messages:
        warnings.simplefilter("always")
        assert CliRunner().invoke(app, [*command, str(tmp_path / "late.json")]).exit_code == 0
    assert len([one for one in messages if "after their videos" in str(one.message)]) == 1


def test_command_compares_saves_and_reports(tmp_path: Path) -> None:
    hostile = {"results": {"pool": [{"timestamp": [0, 9], "sentence": "<script>alert(1)</script> a boy"}]}}
    for name, value in (("r", REFERENCES), ("o", OTHER), ("good", PREDICTIONS), ("poor", hostile)):
        (tmp_path / f"{name}.json").write_text(json.dumps(value))
    files = [str(tmp_path / f"{name}.json") for name in ("r", "o", "good", "poor")]
    page, saved = tmp_path / "page.html", tmp_path / "saved"
    run = CliRunner().invoke
    done = run(app, ["dense", *files, "-m", "ROUGE-L", "--ci", "--report", str(page), "-o", str(saved)])
    assert done.exit_code == 0 and "2 videos" in done.stdout, done.output
    assert "overlap others" not in done.output
    text = page.read_text()
    assert "<script>" not in text and "&lt;script&gt;" in text and text.count("<svg") == 2
    scores = [captious.load_scores(saved / f"{name}.scores") for name in ("good", "poor")]
    assert captious.compare(*scores, metrics=["SODA_c ROUGE-L"], trials=50)[0].difference < 0
    assert run(app, ["dense", *files, "-m", "ROUGE-L", "--compare"]).exit_code == 0
    error = run(app, ["dense", *files[:2]]).exception
    assert isinstance(error, InputError) and "no file has predictions" in str(error)


@pytest.mark.shared
def test_numbers_of_the_published_programs(shared_data: Path) -> None:
    folder = shared_data / "dense"
    references = [folder / "val_1.json", folder / "val_2.json"]
    names = {"Meteor": "METEOR", "Cider": "CIDEr-D"}
    for key, values in json.loads((folder / "soda.real.json").read_text()).items():
        kind, metric, several = key.split("/")
        scores = captious.score_dense(
            references, folder / "pred.json", names[metric], protocols=["soda"], kinds=kind,
            merge_references=several == "mr=False", as_published=True,
        )  # fmt: skip
        name = f"SODA_{kind}" + ("" if kind == "d" else f" {names[metric]}")
        ours = [scores[f"{name}{part}"].value for part in (" P", " R", "")]
        np.testing.assert_allclose(ours, values, rtol=0, atol=1e-14)
    gold = json.loads((folder / "densevid.real.json").read_text())
    metrics = {"METEOR": "METEOR", "ROUGE_L": "ROUGE-L", "CIDEr": "CIDEr-D", "Recall": "recall",
               "Precision": "precision", **{f"Bleu_{n}": f"BLEU-{n}" for n in (1, 2, 3, 4)}}  # fmt: skip
    scores = captious.score_dense(
        references, folder / "pred.json", "bleu,METEOR,ROUGE-L,CIDEr-D", protocols=["densevid"]
    )
    for key, values in gold.items():
        ours = [scores[f"densevid {metrics[key]}@{t:g}"].value for t in (0.3, 0.5, 0.7, 0.9)]
        np.testing.assert_allclose(ours, values, rtol=0, atol=1e-14)
