"""The gate: rules, paired tests, verdicts, and their output."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml
from click.testing import CliRunner

import captious
from captious.cli.app import app
from captious.core.errors import InputError
from captious.data import demo_path
from captious.io import CaptionWarning
from captious.results.regression_check import Rule, check
from captious.results.scores import Scores
from tests import command

ROOT = Path(__file__).parents[2]
WORKFLOW = ROOT / "docs" / "workflows" / "caption-check.yml"
NAMES = ["good", "generic", "poor"]


@pytest.fixture(scope="module")
def scored() -> dict[str, Scores]:
    systems = captious.score_systems(
        demo_path("references"),
        [demo_path(name) for name in NAMES],
        "BLEU-4,CIDEr-D,CHAIRs",
        objects=demo_path("objects"),
        names=NAMES,
    )
    return {scores.system: scores for scores in systems}


@pytest.fixture(scope="module")
def folder(scored: dict[str, Scores], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    for name, scores in scored.items():
        scores.save(folder / f"{name}.scores")
    return folder


def run(folder: Path, *words: str) -> tuple[int, str, str]:
    done = command.run("check", *words, folder=folder)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("CIDEr-D < -1%", Rule("CIDEr-D", "<", -0.01, True)),
        ("CHAIRs>+0.5%", Rule("CHAIRs", ">", 0.005, True)),
        ("mean CIDEr-D  <  -0.02 ", Rule("mean CIDEr-D", "<", -0.02, False)),
        ("SPICE < 0", Rule("SPICE", "<", 0.0, False)),
        ("SPICE < −2%", Rule("SPICE", "<", -0.02, True)),
    ],
)
def test_rules_are_read(text: str, rule: Rule) -> None:
    assert Rule.parse(text) == rule
    assert Rule.parse(str(rule)) == rule


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("CIDEr-D", "is not a rule"),
        ("CIDEr-D <= -1%", "is not a rule"),
        ("< -1%", "is not a rule"),
        ("CIDEr-D < -1 percent", "is not a rule"),
        ("CIDEr-D < 1%", "needs a sign"),
        ("CHAIRs > 0.5", "needs a sign"),
        ("CIDEr-D < +1%", "fails where nothing has changed"),
        ("CHAIRs > -1%", "fails where nothing has changed"),
    ],
)
def test_what_is_no_rule_is_refused(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Rule.parse(text)


def test_a_rule_limits_a_share_or_a_difference() -> None:
    relative, absolute = Rule.parse("X < -10%"), Rule.parse("X < -0.1")
    assert relative.is_exceeded(1.0, 0.89) and not relative.is_exceeded(1.0, 0.91)
    assert relative.is_exceeded(0.5, 0.44) and not absolute.is_exceeded(0.5, 0.44)
    assert absolute.is_exceeded(0.5, 0.39)
    rise = Rule.parse("X > +1%")
    assert rise.is_exceeded(0.0, 0.01) and not rise.is_exceeded(0.0, 0.0)
    # A fall of a negative value is a fall.
    assert Rule.parse("X < -1%").is_exceeded(-1.0, -1.5) and not rise.is_exceeded(-1.0, -1.5)


def test_the_verdict_is_that_of_the_paired_test(scored: dict[str, Scores]) -> None:
    rules = ["cider-d < -1%", "CHAIRs > +0.5%"]
    worse = check(scored["generic"], scored["good"], rules)
    tests = captious.compare(scored["good"], scored["generic"], metrics=["CIDEr-D", "CHAIRs"])
    assert [one.comparison for one in worse] == list(tests)
    assert [one.verdict for one in worse] == ["failed", "not significant"] and not worse.passed
    assert worse[0].change == pytest.approx(
        scored["generic"]["CIDEr-D"].value / scored["good"]["CIDEr-D"].value - 1
    )
    better = check(scored["good"], scored["generic"], rules)
    assert better.passed and [one.verdict for one in better] == ["passed", "passed"]


def test_a_significant_fall_within_the_rule_passes(scored: dict[str, Scores]) -> None:
    result = check(scored["generic"], scored["good"], "CIDEr-D < -50%")
    assert result[0].comparison.significant and result.passed and result[0].verdict == "passed"


def test_every_rule_of_one_metric_shares_one_test(scored: dict[str, Scores]) -> None:
    result = check(scored["generic"], scored["good"], ["BLEU-4 < 0", "BLEU-4 < -99%"])
    assert [one.verdict for one in result] == ["failed", "passed"]
    assert result[0].comparison.family == 1


def test_without_rules_no_metric_may_get_worse(scored: dict[str, Scores]) -> None:
    result = check(scored["poor"], scored["good"])
    assert [str(one.rule) for one in result] == ["BLEU-4 < 0", "CIDEr-D < 0", "CHAIRs > 0"]
    assert all(one.failed for one in result)
    assert check(scored["good"], scored["good"]).passed


def test_a_rule_against_improvements_is_warned_about(scored: dict[str, Scores]) -> None:
    with pytest.warns(CaptionWarning, match="fails if CHAIRs improves: lower is better"):
        check(scored["good"], scored["poor"], "CHAIRs < -1%")


def test_scores_that_cannot_be_compared_are_refused(scored: dict[str, Scores]) -> None:
    other = captious.score(demo_path("references"), demo_path("good"), "BLEU-4", tokenizer="simple")
    with pytest.raises(InputError, match="cannot be compared"):
        check(other, scored["good"], "BLEU-4 < -1%")
    with pytest.raises(InputError, match="which good lacks; did you mean 'CIDEr-D'"):
        check(scored["good"], scored["poor"], "CIDrD < -1%")


def test_exit_codes(folder: Path) -> None:
    rule = ("--fail", "CIDEr-D < -1%")
    code, shown, _ = run(folder, "generic.scores", "--against", "good.scores", *rule)
    assert code == 1 and "failed: 1 rule of 1 broken by generic against good" in shown
    code, shown, _ = run(folder, "good.scores", "--against", "generic.scores", *rule)
    assert code == 0 and "passed: no significant regression of good against generic (1 rule)" in shown
    code, shown, _ = run(folder, "generic.scores", "--against", "good.scores", *rule, "-o", "kept.txt")
    assert code == 1 and not shown and "failed: 1 rule of 1" in (folder / "kept.txt").read_text()
    for words in (
        ["no.scores", "--against", "good.scores"],
        ["good.scores", "--against", "poor.scores", "--fail", "?"],
    ):
        code, shown, message = run(folder, *words)
        assert code == 2 and not shown and message.startswith("captious: ") and message.count("\n") == 1
    assert run(folder, "good.scores")[0] == 2


def test_files_for_continuous_integration(folder: Path, tmp_path: Path) -> None:
    words = [
        "generic.scores",
        "--against",
        "good.scores",
        "--fail",
        "CIDEr-D < -1%",
        "--fail",
        "CHAIRs > +0.5%",
    ]
    outputs = {name: tmp_path / name for name in ("check.xml", "summary.md", "check.json")}
    code, _, _ = run(
        folder, *words, "--junit", str(outputs["check.xml"]), "--markdown", str(outputs["summary.md"]),
        "--json", str(outputs["check.json"]),
    )  # fmt: skip
    assert code == 1
    suite = ElementTree.parse(outputs["check.xml"]).getroot().find("testsuite")
    assert suite is not None and suite.get("tests") == "2" and suite.get("failures") == "1"
    cases = {case.get("name"): case for case in suite}
    failure = cases["CIDEr-D < -1%"].find("failure")
    assert failure is not None and failure.text and "1.1185 → 0.6765 (-39.52 %" in failure.text
    assert cases["CHAIRs > +0.5%"].find("failure") is None
    summary = outputs["summary.md"].read_text()
    assert summary.startswith("### captious check: FAILED\n")
    assert "| **failed** | CIDEr-D \\< -1% | 1.1185 | 0.6765 | -39.52 % |" in summary
    data = json.loads(outputs["check.json"].read_text())
    assert data["passed"] is False and [rule["verdict"] for rule in data["rules"]] == [
        "failed",
        "not significant",
    ]


def test_hostile_names_stay_text(scored: dict[str, Scores]) -> None:
    name = 'x"]]><b>|\x1b[2J\n\x00\ud800'
    hostile = Scores(name, list(scored["poor"].values()))
    result = check(hostile, scored["good"], "BLEU-4 < 0")
    suites = ElementTree.fromstring(result.to_junit().split("\n", 1)[1])
    assert suites[0].get("failures") == "1"
    table = result.to_markdown()
    assert "<b>" not in table.replace("\\<b\\>", "") and "\x1b" not in table and "\x00" not in table
    assert all(line.replace("\\|", "").count("|") == 8 for line in table.splitlines() if line.startswith("|"))


def test_the_table_of_the_page_is_printed(folder: Path) -> None:
    words = [
        "generic.scores",
        "--against",
        "good.scores",
        "--fail",
        "CIDEr-D < -1%",
        "--fail",
        "CHAIRs > +0.5%",
    ]
    done = CliRunner().invoke(
        app, ["check", *(str(folder / w) if w.endswith(".scores") else w for w in words)]
    )
    page = (ROOT / "docs" / "howto" / "gate.md").read_text()
    assert "".join(f"    {line}\n" for line in done.stdout.splitlines()) in page


def _workflow(folder: Path, captions: str) -> tuple[int, str]:
    """Run the steps of the workflow as scripts in a repository, as GitHub would; return code and summary."""
    steps = yaml.safe_load(WORKFLOW.read_text())
    (job,) = steps["jobs"].values()
    data = folder / "data"

    def git(*words: str) -> None:
        subprocess.run(
            ["git", "-c", "user.name=a", "-c", "user.email=a@b", *words],
            cwd=folder,
            check=True,
            capture_output=True,
        )

    for name, source in ((steps["env"]["REFERENCES"], "references"), (steps["env"]["CAPTIONS"], "good")):
        target = folder / name
        target.parent.mkdir(parents=True)
        target.write_text(Path(demo_path(source)).read_text())
    assert data.is_dir()
    git("init", "-b", "main")
    git("add", ".")
    git("commit", "-m", "Base")
    git("update-ref", "refs/remotes/origin/main", "HEAD")
    (folder / steps["env"]["CAPTIONS"]).write_text(Path(demo_path(captions)).read_text())
    summary = folder / "step-summary"
    bin_folder = folder / "bin"
    bin_folder.mkdir()
    program = bin_folder / "captious"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m captious "$@"\n')
    program.chmod(0o755)
    environment = {
        **os.environ, **steps["env"], "GITHUB_BASE_REF": "main", "GITHUB_STEP_SUMMARY": str(summary),
        "PATH": f"{bin_folder}{os.pathsep}{os.environ['PATH']}",
    }  # fmt: skip
    code = 0
    for step in job["steps"]:
        if "run" not in step or step["name"] == "Install" or (code and step.get("if") != "always()"):
            continue
        done = subprocess.run(
            ["bash", "-e", "-c", step["run"]], cwd=folder, env=environment, capture_output=True
        )
        code = code or done.returncode
        assert done.returncode in (0, 1), done.stderr.decode()
    assert ElementTree.parse(folder / "check.xml").getroot().tag == "testsuites"
    return code, summary.read_text()


@pytest.mark.skipif(sys.platform == "win32", reason="the workflow runs bash on Linux")
def test_the_workflow_runs_as_a_script(tmp_path: Path) -> None:
    (tmp_path / "same").mkdir()
    code, summary = _workflow(tmp_path / "same", "good")
    assert code == 0 and "captious check: passed" in summary
    (tmp_path / "worse").mkdir()
    code, summary = _workflow(tmp_path / "worse", "poor")
    assert code == 1 and "captious check: FAILED" in summary and "| **failed** | SPICE" in summary
