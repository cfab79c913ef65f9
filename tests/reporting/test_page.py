"""Content of the report page, without a browser."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import subprocess
import sys
import zlib
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import captious
from captious.core.errors import InputError
from captious.data import demo_path
from captious.metrics import registry
from captious.metrics.learned import composite
from captious.metrics.learned.captious_score import LITE
from captious.metrics.learned.composite_network import Network, explain, sigmoid, to_bytes
from captious.metrics.learned.feature_table import Features
from captious.metrics.learned.own_features import OWN
from captious.reporting import image_links as pictures
from captious.reporting.document import NOTEBOOK
from captious.reporting.leaderboard import maximal_cliques
from captious.reporting.metric_descriptions import feature_words, words_of
from captious.reporting.report_data import plain_words
from tests import command
from tests.reporting import hostile


def blocks(page: str) -> dict[str, Any]:
    """The data of a page, as a browser reads it."""
    by_key = {}
    for kind, name, text in re.findall(r'<script type="([^"]+)" id="data-(\w+)">([^<]*)</script>', page):
        by_key[name] = json.loads(
            text if kind == "application/json" else zlib.decompress(base64.b64decode(text))
        )
    return by_key


def test_a_policy_allows_the_script_of_the_page_and_nothing_else(demo_report: captious.Report) -> None:
    page = demo_report.html()
    policy = unescape(re.search(r'Content-Security-Policy" content="([^"]+)"', page)[1])  # type: ignore[index]
    for kind in ("script", "style"):
        (text,) = re.findall(rf"<{kind}>(.*?)</{kind}>", page, flags=re.S)
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'") and "img-src 'none'" in policy and "unsafe" not in policy
    # Apart from the data, the page is small and loads nothing.
    assert len(re.findall(r"<script>(.*?)</script>", page, flags=re.S)[0]) < 200_000
    assert not re.search(r"(?:src|href)=", re.sub(r"<script.*?</script>", "", page, flags=re.S))


def test_no_text_ends_its_block(hostile_report: captious.Report) -> None:
    page = hostile_report.html()
    page_data = blocks(page)
    assert [system["name"] for system in page_data["meta"]["systems"]] == hostile.NAMES
    assert page_data["captions"]["ids"] == hostile.IDS
    assert page_data["captions"]["texts"][0] == hostile.TEXTS
    assert set(page_data) == {"meta", *page_data["meta"]["blocks"]}
    # Besides the data there is only the page's own script, without text of captions. The title is escaped.
    outside = re.sub(r'<script type="[^"]+" id="data-\w+">[^<]*</script>', "", page)
    assert len(re.findall(r"<script\b", outside)) == 1
    assert "alert(" not in re.sub(r"<script>.*?</script>|<title>[^<]*</title>", "", outside, flags=re.S)


def test_the_numbers_are_those_of_captious(demo_report: captious.Report) -> None:
    page_data = blocks(demo_report.html())
    scores = captious.score(demo_path("references"), demo_path("good"), "BLEU-4,ROUGE-L,CIDEr-D")
    for m, metric in enumerate(page_data["meta"]["metrics"]):
        if metric["name"] not in scores:
            continue
        own = scores[metric["name"]]
        assert metric["values"][0] == own.value
        assert metric["intervals"][0] == list(own.interval())
        assert metric["signatures"][0] == own.interval_signature()
        np.testing.assert_allclose(page_data["scores"][0][m], own.per_caption, rtol=1e-5)
    compared = captious.compare(
        *(captious.load(demo_path("references"), demo_path(name)) for name in ("good", "generic")),
        metrics="ROUGE-L",
    )
    row = compared[0]
    assert page_data["meta"]["pairs"]["ROUGE-L"][0][:7] == pytest.approx(
        [0, 1, row.difference, *row.interval, row.p_bootstrap, row.p_randomisation]
    )
    assert [metric["groups"] for metric in page_data["meta"]["metrics"]][:8] == [["a", "b", "c"]] * 8
    assert all(
        metric["sees"].endswith(".") and metric["misses"].endswith(".")
        for metric in page_data["meta"]["metrics"]
    )


def test_groups_share_a_letter_if_and_only_if_they_do_not_differ() -> None:
    near = {0: {1}, 1: {0, 2}, 2: {1}, 3: set()}
    assert sorted(map(sorted, maximal_cliques(near))) == [[0, 1], [1, 2], [3]]
    assert maximal_cliques({k: {j for j in range(6) if j != k} for k in range(6)}) == [set(range(6))]


def test_systems_that_do_not_differ_share_a_letter() -> None:
    refs = {str(i): [f"a dog number {i}", "the dog runs"] for i in range(30)}
    own = {str(i): f"a dog number {i}" for i in range(30)}
    report = captious.report(
        own,
        {**own, "0": "a cat"},
        dict.fromkeys(own, "blue sky"),
        references=refs,
        metrics="BLEU-1,ROUGE-L",
        corpus=False,
        names=["a", "b", "c"],
    )
    assert [metric["groups"] for metric in report.meta["metrics"]] == [["a", "a", "b"]] * 2


def test_incomparable_values_are_reported(tmp_path: Path) -> None:
    first = captious.score(
        captious.load({"1": ["a dog"], "2": ["a cat"]}, {"1": "a dog", "2": "a cat"}, name="x"),
        "BLEU-1,ROUGE-L",
    )
    second = captious.score(
        captious.load({"1": ["a dog"], "2": ["a cow"]}, {"1": "a dog", "2": ""}, name="x"), "BLEU-1"
    )
    report = captious.report(first, second)
    assert [system["name"] for system in report.meta["systems"]] == ["x", "x (2)"]
    assert (
        not any(metric["comparable"] or metric["groups"] for metric in report.meta["metrics"])
        and report.meta["pairs"] == {}
    )
    text = " ".join(report.meta["warnings"])
    assert (
        "BLEU-1 was computed differently for x and x (2) (refs:" in text
        and "ROUGE-L is missing for x (2)" in text
    )
    assert first.system == "x"


def test_things_to_know() -> None:
    refs = {"1": ["a dog", "the dog"], "2": ["a cat"], "3": ["a cow"]}
    with pytest.warns(UserWarning):
        report = captious.report(
            {"1": "a dog", "2": ""},
            references=refs,
            metrics="BLEU-1",
            corpus=False,
            subset=True,
            names=["mine"],
        )
    text = "\n".join(report.meta["warnings"])
    for part in (
        "mine: 1 of 2 captions have no words",
        "1 images of the references have no caption",
        "Images have 1 to 2 references",
        "fewer than 100 images",
    ):
        assert part in text


def test_a_warning_is_given_once() -> None:
    refs = {"1": ["a dog", "the dog"], "2": ["a cat", "cats"], "3": ["a cow", "cows"]}
    with pytest.warns(UserWarning) as result:
        captious.report(
            {"1": "a dog", "2": "", "3": "cow"}, references=refs, metrics="BLEU-1", names=["mine"]
        )
    empty = [str(one.message) for one in result if "have no words" in str(one.message)]
    assert len(empty) == len(set(empty)) == 1, empty


def test_saved_scores_with_references_are_explained(tmp_path: Path) -> None:
    corpus = captious.load(demo_path("references"), demo_path("good"), name="good")
    captious.score(corpus, "CIDEr-D,METEOR,SPICE").save(tmp_path / "good.scores")
    report = captious.report(tmp_path / "good.scores", references=demo_path("references"), corpus=False)
    assert report.meta["explanations"] == ["ngrams", "meteor", "scenes", "objects"]
    fresh = captious.report(
        demo_path("good"), references=demo_path("references"), metrics="CIDEr-D,METEOR,SPICE", corpus=False
    )
    assert report._blocks == fresh._blocks
    assert captious.report(tmp_path / "good.scores").meta["explanations"] == []


def test_scores_of_other_references_are_not_explained(tmp_path: Path) -> None:
    scores = captious.score({"1": ["a dog"], "2": ["a cat"]}, {"1": "a dog", "2": "a cat"}, "CIDEr-D,SPICE")
    with pytest.warns(UserWarning, match="computed with other settings"):
        report = captious.report(scores, references={"1": ["a cow"], "2": ["a horse"]}, corpus=False)
    assert "scenes" not in report.meta["explanations"]


def test_the_page_tells_plain_words_from_others() -> None:
    assert plain_words("A dog,  on the grass.") == "a dog on the grass"
    assert plain_words("ein Hündchen") is None
    report = blocks(
        captious.report(
            {"1": "A dog, runs.", "2": "the dog's toy"},
            references={"1": ["x"], "2": ["y"]},
            metrics="BLEU-1",
            corpus=False,
        ).html()
    )
    assert report["captions"]["words"] == [[None, "the dog 's toy"]]


def test_several_captions_per_image() -> None:
    report = captious.report(
        {"1": ["a dog", "a cat"], "2": ["a cow"]},
        references={"1": ["a dog"], "2": ["a cow"]},
        metrics="BLEU-1",
        corpus=False,
        several=True,
    )
    assert report._blocks["captions"]["texts"] == [[["a dog", "a cat"], "a cow"]]
    assert report._blocks["scores"][0][0] == [[1.0, 0.5], 1.0]
    assert report.meta["metrics"][0]["oracle"] == [pytest.approx(1.0)]


def test_pictures(tmp_path: Path) -> None:
    ids = ["7", "a b/ü", "COCO_val2014_000000000042.jpg"]
    pictures_found = pictures.find("https://x.test/{id:04}.jpg?of={id}", ids, None)
    assert pictures_found.addresses[:2] == [
        "https://x.test/0007.jpg?of=7",
        "https://x.test/a%20b%2F%C3%BC.jpg?of=a%20b%2F%C3%BC",
    ]
    assert pictures_found.policy == "https://x.test"
    for name in ("7.PNG", "42.jpeg", "note.txt"):
        (tmp_path / name).write_bytes(b"")
    assert pictures.find(tmp_path, ids, tmp_path / "out" / "page.html").addresses == [
        "../7.PNG",
        None,
        "../42.jpeg",
    ]
    for result, why in (
        (tmp_path / "none", "no such folder"),
        ("javascript://x/{id}", "http or https"),
        ("https://x.test/one.jpg", "has no {id}"),
        ("https://{id}.test/", "http or https"),
        ("https://x.test; script-src 'unsafe-inline'/{id}", "http or https"),
    ):
        with pytest.raises(InputError, match=why):
            pictures.find(result, ids, None)
    with pytest.raises(InputError, match="none is named like an image"):
        pictures.find(tmp_path, ["x"], None)


def test_bad_input_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nothing to report on"):
        captious.report()
    with pytest.raises(InputError, match="need references"):
        captious.report({"1": "a dog"})
    with pytest.raises(InputError, match="2 names"):
        captious.report({"1": "a dog"}, references={"1": ["a dog"]}, names=["a", "b"])
    scores = captious.score({"1": ["a dog"], "2": ["a"]}, {"1": "a dog", "2": "a"}, "BLEU-1")
    with pytest.raises(InputError, match="needs references"):
        captious.report(scores, samples=[{"1": ["a dog", "a cat"]}])


def test_notebooks_get_a_table_where_the_page_is_too_large(
    demo_report: captious.Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (
        demo_report._repr_html_().startswith("<iframe ")
        and 'sandbox="allow-scripts allow-downloads"' in demo_report._repr_html_()
    )
    monkeypatch.setattr("captious.reporting.document.NOTEBOOK", 1000)
    assert NOTEBOOK > 1000
    text = demo_report._repr_html_()
    assert "<table>" in text and "<iframe" not in text and "report.save" in text


def test_every_metric_has_words_for_people() -> None:
    captions = [
        name
        for name in registry.of_family("all")
        if registry.measure_class(name).__module__.startswith("captious.")
    ]
    assert {"CaptiousScore", "CaptiousScore-lite", "LCEval", "NNEval", "Learned", "METEOR"} <= set(captions)
    for name in captions:
        assert words_of(registry.create(name, {})).misses, name
    assert words_of(registry.create("CaptiousScore-lite", {})) != words_of(
        registry.create("CaptiousScore", {})
    )


def test_every_feature_has_words_for_people() -> None:
    rows = [feature_words(name) for name in OWN]
    assert len(set(rows)) == len(rows) and all(
        label[0].isupper() and note.endswith(f"· {name}") for name, (label, note) in zip(OWN, rows)
    )


def test_warning_of_captions_that_are_not_fluent() -> None:
    references = {k: ["a man rides a horse on a beach"] for k in range(20)}
    whole = dict.fromkeys(range(20), "a man rides a horse on a beach")
    description = "A dog sits on a bench. The dog looks at a man. The man is on the bench with a dog. " * 3
    for captions, warned in (
        (whole, False),
        (whole | {3: "a man rides a horse and a"}, False),  # one in twenty
        (whole | dict.fromkeys(range(2), "a man rides a horse and a"), True),
        (dict.fromkeys(range(20), description), False),
    ):
        page = captious.report(captions, references=references, metrics="BLEU-1")
        assert ("probably not fluent" in page.html()) == warned


LEARNED = "CaptiousScore-lite,NNEval"


@pytest.fixture(scope="module")
def learned_report() -> captious.Report:
    return captious.report(
        *(demo_path(name) for name in ("good", "poor")),
        references=demo_path("references"),
        metrics=LEARNED,
        names=["good", "poor"],
        corpus=False,
    )


def shares_of(block: dict[str, Any], system: int, name: str, image: int) -> tuple[Network, np.ndarray]:
    """The network and the features of a caption, from the data of the page alone."""
    which, columns = block["systems"][system][name]
    result = block["networks"][which]

    def array(values: Any) -> Any:
        return np.array(values, np.float64)

    layers = tuple((array(weights), array(bias)) for weights, bias in result["layers"])
    means, scales = (array([feature[key] for feature in result["features"]]) for key in ("mean", "scale"))
    values = [block["columns"][column][image] for column in columns]
    raw = array(
        [
            np.nan if value is None else value / 10 ** feature["digits"]
            for value, feature in zip(values, result["features"])
        ]
    )
    bounds = array(
        [
            [feature.get(side, end) for feature in result["features"]]
            for side, end in (("low", -np.inf), ("high", np.inf))
        ]
    )
    return Network(
        name, tuple(feature["label"] for feature in result["features"]), means, scales, layers, {}, bounds
    ), raw


def test_learned_scores_are_explained_by_the_data_of_the_page(learned_report: captious.Report) -> None:
    """Rounded features and weights give the score, and the shares that ``captious explain`` gives."""
    block = blocks(learned_report.html())["learned"]
    corpus = captious.load(demo_path("references"), demo_path("poor"))
    for name in LEARNED.split(","):
        measure = registry.create(name, {})
        assert isinstance(measure, composite.Composite)
        table = measure.table(corpus, measure.prepare(corpus.references))
        own = measure.network.score(table)
        for image in (0, 17, 59):
            network, raw = shares_of(block, 1, name, image)
            assert network.score(raw[None])[0] == pytest.approx(own[image], abs=2e-3)
            result, whole = explain(network, raw), explain(measure.network, table[image])
            np.testing.assert_allclose(result.shares, whole.shares, atol=0.02)
            assert result.start == pytest.approx(whole.start, abs=1e-5)
            logit = network.logits(network.standardised(raw[None]))[0]
            assert result.shares.sum() == pytest.approx(
                logit - network.logits(np.zeros((1, len(raw))))[0], abs=1e-9
            )


def test_a_feature_of_several_systems_and_metrics_stands_in_the_page_once(
    learned_report: captious.Report,
) -> None:
    block = learned_report._blocks["learned"]
    lite = [system["CaptiousScore-lite"][1] for system in block["systems"]]
    # It describes the references, so it is the same for all systems.
    agreement = LITE.index("mapped-caption-agreement")
    assert lite[0][agreement] == lite[1][agreement] and lite[0][0] != lite[1][0]
    used = {column for system in block["systems"] for _, columns in system.values() for column in columns}
    assert used == set(range(len(block["columns"]))) and len(block["networks"]) == 2
    assert all(len(column) == 60 for column in block["columns"])


def test_features_are_not_computed_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    result: list[str] = []
    table = Features.table
    monkeypatch.setattr(
        Features,
        "table",
        lambda self, corpus, states=None: (result.append(corpus.name), table(self, corpus, states))[1],
    )
    captious.report(
        {"1": "a dog runs", "2": "a cat"},
        references={"1": ["a dog", "the dog runs"], "2": ["a cat", "cats"]},
        metrics="CaptiousScore-lite",
        names=["x"],
        corpus=False,
    )
    assert result == ["x"]


def test_a_metric_of_ones_own_is_explained(tmp_path: Path) -> None:
    """With a feature that falls with quality, one that may be undefined, and scores that come back from a
    file.
    """
    names = ("CHAIRi", "word-agreement", "BLEU-1")

    def floats(*values: float) -> Any:
        return np.array(values, np.float32)

    network = Network(
        "mine",
        names,
        floats(-0.1, 0.5, 0.4),
        floats(0.2, 0.1, 0.3),
        ((floats(1, -0.5, 2).reshape(3, 1), floats(0.25)),),
        {},
    )
    (tmp_path / "mine.safetensors").write_bytes(to_bytes(network))
    refs = {"1": ["a dog on grass", "a dog"], "2": ["a cat"]}
    by_key = {"1": "a dog", "2": "a horse"}
    captious.score(refs, by_key, "Learned", weights=tmp_path / "mine.safetensors").save(tmp_path / "a.scores")
    report = captious.report(
        tmp_path / "a.scores", references=refs, corpus=False, weights=tmp_path / "mine.safetensors"
    )
    block = report._blocks["learned"]
    assert [feature["sign"] for feature in block["networks"][0]["features"]] == [-1, 1, 1]
    assert [feature["label"] for feature in block["networks"][0]["features"]] == [
        "CHAIRi",
        "How far the references agree",
        "BLEU-1",
    ]
    read, raw = shares_of(block, 0, "Learned", 1)
    assert np.isnan(raw[1]) and raw[0] == -1 and raw[2] == pytest.approx(0.5)
    assert report._blocks["scores"][0][0][1] == pytest.approx(
        float(sigmoid(read.logits(read.standardised(raw[None])))[0]), abs=1e-5
    )
    assert explain(read, raw).shares == pytest.approx([1 * -0.9 / 0.2, 0, 2 * 0.1 / 0.3], abs=1e-5)
    # Without the weights, the score cannot be explained.
    assert (
        "learned"
        not in captious.report(tmp_path / "a.scores", references=refs, corpus=False).meta["explanations"]
    )


def test_the_command(tmp_path: Path) -> None:
    def run(*arguments: object) -> subprocess.CompletedProcess[str]:
        return command.run("report", *arguments, folder=tmp_path)

    done = run(
        demo_path("references"),
        demo_path("good"),
        "-o",
        "page.html",
        "-m",
        "BLEU-1",
        "--no-corpus",
        "--title",
        "Mine",
        "--name",
        "ours",
    )
    assert done.returncode == 0, done.stderr
    assert "page.html: 1 system, 60 images" in done.stdout
    page_data = blocks((tmp_path / "page.html").read_text(encoding="utf-8"))["meta"]
    assert page_data["title"] == "Mine" and page_data["systems"][0]["name"] == "ours"
    for arguments, why in (
        (["x.scores", "y.json"], "need references"),
        ([demo_path("references")], "needs a system"),
        ([demo_path("references"), demo_path("good"), "-o", "page.txt"], "ends with .html"),
    ):
        failed = run(*arguments)
        assert failed.returncode == 2 and why in failed.stderr and failed.stderr.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]


def test_the_page_is_opened_in_the_browser_of_the_user(tmp_path: Path) -> None:
    """``BROWSER`` names the user's browser. This one writes the requested address to a file."""
    viewer = tmp_path / "viewer"
    viewer.write_text(f'#!/bin/sh\necho "$1" > {tmp_path}/asked\n')
    viewer.chmod(0o755)
    report = (
        "import captious; captious.report({'1': 'a dog', '2': 'a cat'}, "
        "references={'1': ['a dog'], '2': ['a cat']}, metrics='BLEU-1', corpus=False).open('page.html')"
    )
    done = subprocess.run(
        [sys.executable, "-c", report],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "BROWSER": str(viewer)},
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "asked").read_text().strip() == (tmp_path / "page.html").as_uri()
