"""Check of a new run against an old one, for continuous integration: rules, paired tests, a verdict."""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from captious.core import notebook_html
from captious.core.errors import InputError, did_you_mean, printable, some
from captious.io import CaptionWarning
from captious.results import significance
from captious.results.comparison import compare
from captious.results.comparison_result import ALPHA, Comparison
from captious.results.result_rows import EXACT, NumberStyle
from captious.results.scores import Scores, json_number

#: Name, direction, number with its sign, and a percent sign for a share of the old value.
_RULE = re.compile(
    r"\s*(?P<metric>.+?)\s*(?P<side>[<>])\s*(?P<change>[-+\u2212]?\d+(?:\.\d+)?)\s*(?P<percent>%?)\s*"
)
_HOW = (
    "write METRIC < -1% (a fall by more than 1 % of the old value) "
    "or METRIC > +0.005 (a rise by more than 0.005)"
)


@dataclass(frozen=True)
class Rule:
    """A change of a metric that fails a check, such as ``CIDEr-D < -1%``."""

    metric: str
    #: "<": the rule is broken by a fall below ``change``; ">": by a rise above it.
    side: str
    #: Change from the old value to the new one: a share of the old value if ``relative``, else a difference.
    change: float
    relative: bool

    @classmethod
    def parse(cls, text: str) -> Rule:
        """Read a rule from text."""
        match = _RULE.fullmatch(text)
        if match is None:
            raise InputError(f"'{text}' is not a rule; {_HOW}")
        change, is_percent = match["change"].replace("\u2212", "-"), bool(match["percent"])
        number = float(change)
        if number and change[0] not in "+-":
            raise InputError(
                f"the rule '{text}' needs a sign, because it limits a change, not a value; {_HOW}"
            )
        if (match["side"] == "<") == (number > 0) and number:
            raise InputError(f"the rule '{text}' fails where nothing has changed; {_HOW}")
        return cls(match["metric"], match["side"], number / 100 if is_percent else number, is_percent)

    def __str__(self) -> str:
        """Return the rule as text."""
        if self.relative:
            return f"{self.metric} {self.side} {100 * self.change:+.10g}%"
        return f"{self.metric} {self.side} {f'{self.change:+.10g}' if self.change else '0'}"

    def amount(self, old: float, new: float) -> float:
        """Return the change in the unit of the rule. A relative change from 0 is infinite."""
        if not self.relative:
            return new - old
        if old == new:
            return 0.0
        return (new - old) / abs(old) if old else math.copysign(math.inf, new - old)

    def is_exceeded(self, old: float, new: float) -> bool:
        """Return whether the change is larger than the rule allows, significant or not."""
        amount = self.amount(old, new)
        return amount < self.change if self.side == "<" else amount > self.change


@dataclass(frozen=True)
class RuleResult:
    """A rule, and the paired test of its metric: A is the old run, B the new one."""

    rule: Rule
    comparison: Comparison

    @property
    def exceeded(self) -> bool:
        """Whether the change is larger than the rule allows, significant or not."""
        return self.rule.is_exceeded(self.comparison.a, self.comparison.b)

    @property
    def failed(self) -> bool:
        """Whether the change is larger than the rule allows, and significant."""
        return self.exceeded and self.comparison.significant

    @property
    def change(self) -> float:
        """Change in the unit of the rule."""
        return self.rule.amount(self.comparison.a, self.comparison.b)

    @property
    def change_text(self) -> str:
        """The change with its sign, in percent for a relative rule."""
        if not self.rule.relative:
            return format(self.change, "+" + self.comparison.format)
        if math.isinf(self.change):
            return "+∞ %" if self.change > 0 else "-∞ %"
        return f"{100 * self.change:+.2f} %"

    @property
    def verdict(self) -> str:
        """One of "failed", "not significant" (larger than allowed, but may be chance) and "passed"."""
        return "failed" if self.failed else "not significant" if self.exceeded else "passed"

    def sentence(self) -> str:
        """Describe the result in one line."""
        row = self.comparison
        form = row.format
        low, high = row.interval
        return (
            f"{row.metric}: {row.a:{form}} → {row.b:{form}} ({self.change_text}; "
            f"difference {row.difference:+{form}}, "
            f"{100 * (1 - row.alpha):g} % interval [{low:+{form}}, {high:+{form}}], "
            f"p = {row.p_corrected:.4f} after Holm's correction)"
        )

    def to_json(self, numbers: NumberStyle = EXACT) -> dict[str, Any]:
        """Return a JSON-ready description."""
        return {
            "rule": str(self.rule),
            "verdict": self.verdict,
            "change": json_number(self.change),
            "relative": self.rule.relative,
            "exceeded": self.exceeded,
            **self.comparison.to_json(numbers),
        }


class CheckResult(list[RuleResult]):
    """Results of all rules of a check."""

    def __init__(self, results: Iterable[RuleResult], new: str, old: str, alpha: float) -> None:
        super().__init__(results)
        #: Names of both runs, and the level of the tests.
        self.new, self.old, self.alpha = new, old, alpha

    @property
    def passed(self) -> bool:
        """Whether no rule failed."""
        return not self.failures

    @property
    def failures(self) -> list[RuleResult]:
        """Rules that failed."""
        return [result for result in self if result.failed]

    @property
    def headline(self) -> str:
        """The verdict in one line."""
        if not self.passed:
            return (
                f"failed: {_rules(len(self.failures))} of {len(self)} broken by {self.new} against {self.old}"
            )
        return f"passed: no significant regression of {self.new} against {self.old} ({_rules(len(self))})"

    def __repr__(self) -> str:
        return f"CheckResult({self.headline})"

    def _repr_html_(self) -> str:
        return notebook_html.check(self)

    def to_json(self, numbers: NumberStyle = EXACT) -> dict[str, Any]:
        """Return a JSON-ready description."""
        return {
            "new": self.new,
            "old": self.old,
            "passed": self.passed,
            "alpha": self.alpha,
            "rules": [result.to_json(numbers) for result in self],
        }

    def to_markdown(self) -> str:
        """Return a heading and a table, for the summary of a job."""
        lines = [
            f"### captious check: {'passed' if self.passed else 'FAILED'}",
            "",
            _markdown(self.headline[:1].upper() + self.headline[1:]) + ".",
            "",
            f"| verdict | fails if | {_markdown(self.old)} | {_markdown(self.new)} | change | "
            f"{100 * (1 - self.alpha):g} % interval of the difference | p (Holm) |",
            "|:--|:--|--:|--:|--:|--:|--:|",
        ]
        for result in self:
            row, mark = result.comparison, "**" if result.failed else ""
            low, high = row.interval
            cells = [
                f"{mark}{result.verdict}{mark}",
                _markdown(str(result.rule)),
                format(row.a, row.format),
                format(row.b, row.format),
                result.change_text,
                f"[{low:+{row.format}}, {high:+{row.format}}]",
                f"{row.p_corrected:.4f}",
            ]
            lines.append(f"| {' | '.join(cells)} |")
        images = self[0].comparison.images if self else 0
        lines += [
            "",
            f"A rule fails if the change is larger than it allows and significant: paired randomisation on "
            f"{images:,} images, p ≤ {self.alpha:g} after Holm's correction.",
        ]
        return "\n".join(lines) + "\n"

    def to_junit(self) -> str:
        """Return JUnit XML with a test case for each rule."""
        suites = ElementTree.Element("testsuites")
        suite = ElementTree.SubElement(
            suites,
            "testsuite",
            name="captious check",
            tests=str(len(self)),
            failures=str(len(self.failures)),
            errors="0",
            skipped="0",
        )
        for result in self:
            case = ElementTree.SubElement(
                suite,
                "testcase",
                classname=_xml(f"{self.new} against {self.old}"),
                name=_xml(str(result.rule)),
            )
            if result.failed:
                failure = ElementTree.SubElement(
                    case, "failure", type="regression", message=_xml(f"significant: {result.rule}")
                )
                failure.text = _xml(result.sentence())
            out = ElementTree.SubElement(case, "system-out")
            out.text = _xml(f"{result.verdict}. {result.sentence()}\n{result.comparison.signature}")
        ElementTree.indent(suites)
        return (
            '<?xml version="1.0" encoding="UTF-8"?>\n'
            + ElementTree.tostring(suites, encoding="unicode")
            + "\n"
        )


def check(
    new: Scores | str | Path,
    against: Scores | str | Path,
    fail: Iterable[str | Rule] | str | Rule | None = None,
    *,
    alpha: float = ALPHA,
    resamples: int = significance.RESAMPLES,
    trials: int = significance.TRIALS,
    seed: int = significance.SEED,
) -> CheckResult:
    """Check a new run against an old one: does a metric get significantly worse?

    Parameters
    ----------
    new, against
        Scores, or paths of saved scores, of the same images by the same settings.
    fail
        Rules such as ``"CIDEr-D < -1%"`` (a fall by more than 1 % of the old value) or ``"CHAIRs > +0.005"``
        (a rise by more than 0.005). By default, every metric that both runs have may not get worse at all.
        A rule fails if the change is larger than it allows and the paired test is significant.
    alpha
        Largest p-value of approximate randomisation, corrected by Holm's method over the metrics of all
        rules, that counts as significant.
    resamples, trials, seed
        As for :func:`captious.compare`.

    Returns
    -------
    CheckResult
        A :class:`RuleResult` for each rule. ``passed`` is the verdict.

    Examples
    --------
    >>> import captious
    >>> from captious.data import demo_path
    >>> good, poor = captious.score_systems(
    ...     demo_path("references"), [demo_path("good"), demo_path("poor")], "BLEU-4"
    ... )
    >>> check(poor, good, "BLEU-4 < -1%").passed
    False
    >>> check(good, poor, "BLEU-4 < -1%").passed
    True
    """
    new_scores, old_scores = (one if isinstance(one, Scores) else Scores.load(one) for one in (new, against))
    shared = [name for name in old_scores if name in new_scores]
    rules = _rules_of(fail, new_scores, old_scores, shared)
    metrics = list(dict.fromkeys(rule.metric for rule in rules))
    names = _names(new_scores.system, old_scores.system)
    rows = compare(
        Scores(names[1], [old_scores[name] for name in metrics]),
        Scores(names[0], [new_scores[name] for name in metrics]),
        alpha=alpha,
        resamples=resamples,
        trials=trials,
        seed=seed,
    )
    by_metric = {row.metric: row for row in rows}
    for row in rows:
        if math.isnan(row.difference):
            side = names[1] if math.isnan(row.a) else names[0]
            raise InputError(f"{row.metric} of {side} has no value and cannot be checked; leave its rule out")
    return CheckResult([RuleResult(rule, by_metric[rule.metric]) for rule in rules], *names, alpha)


def _names(new: str, old: str) -> tuple[str, str]:
    return (new, old) if new != old else (f"{new} (new)", f"{old} (old)")


def _rules_of(
    fail: Iterable[str | Rule] | str | Rule | None, new: Scores, old: Scores, shared: list[str]
) -> list[Rule]:
    """Return the rules, whose metrics both runs have."""
    given = [fail] if isinstance(fail, str | Rule) else list(fail or ())
    rules = []
    for one in given:
        rule = Rule.parse(one) if isinstance(one, str) else one
        for run in (new, old):
            if rule.metric not in run:
                raise InputError(
                    f"the rule '{rule}' needs {rule.metric}, which {run.system} lacks"
                    f"{did_you_mean(rule.metric, run)} (it has {some(run, 40)})"
                )
        # The metric's own spelling, whatever the rule's.
        rule = Rule(new[rule.metric].name, rule.side, rule.change, rule.relative)
        if (rule.side == ">") == new[rule.metric].measure.higher_is_better:
            better = "higher" if rule.side == ">" else "lower"
            warnings.warn(
                CaptionWarning(f"the rule '{rule}' fails if {rule.metric} improves: {better} is better"),
                stacklevel=3,
            )
        rules.append(rule)
    if not rules:
        if not shared:
            raise InputError(f"the runs have no metric in common ({some(new)} / {some(old)})")
        rules = [
            Rule(name, "<" if new[name].measure.higher_is_better else ">", 0.0, relative=False)
            for name in shared
        ]
    return rules


def _rules(count: int) -> str:
    return f"{count} rule{'s' if count != 1 else ''}"


def _markdown(text: str) -> str:
    """Escape text for a Markdown table."""
    return re.sub(r"([\\`*_{}\[\]<>|#&~])", r"\\\1", printable(text).replace("\n", " "))


def _xml(text: str) -> str:
    """Replace characters that XML does not allow."""
    return "\n".join(printable(line) for line in text.encode("utf-8", "replace").decode().split("\n"))
