"""``captious check``: a gate for continuous integration."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from captious.cli import options
from captious.cli.command import Argument, Flag, command
from captious.cli.formatting import ScoreTables, interval, look, number
from captious.cli.formatting import score as shown
from captious.cli.output import is_taken, note, print_table, print_tidy, write_json, write_text

FAILED = 1


def check(
    new: Annotated[Path, Argument(metavar="NEW.scores", help="Saved scores of the new run.")],
    against: Annotated[
        Path, Flag("--against", metavar="OLD.scores", help="Saved scores of the run to compare with.")
    ],
    fail: Annotated[
        list[str] | None,
        Flag(
            "--fail",
            metavar="RULE",
            help="Change that fails, such as 'CIDEr-D < -1%' or 'CHAIRs > +0.005'; repeatable (default: any "
            "metric gets worse).",
        ),
    ] = None,
    alpha: Annotated[
        float, Flag(help="Largest corrected p-value at which a change counts as significant.")
    ] = 0.05,
    trials: Annotated[int, Flag(min=10, help="Trials of the randomisation test.")] = 10_000,
    resamples: Annotated[int, Flag(min=10, help="Bootstrap resamples of the intervals.")] = 1000,
    seed: Annotated[int, Flag(min=0, help="Seed of both.")] = 12345,
    junit: Annotated[
        str | None,
        options.writes_to("--junit", metavar="OUT.xml", help="Write JUnit XML."),
    ] = None,
    markdown: Annotated[
        str | None,
        options.writes_to(
            "--markdown", metavar="OUT.md", help="Write a Markdown table, for the summary of a job."
        ),
    ] = None,
    json: options.JsonOut = None,
) -> None:
    """Check a new run against an old one. The exit code is 1 on a significant regression.

    A rule fails if the change is larger than it allows and a paired test calls it significant. Exit codes: 0
    if no rule failed, 1 if one did, 2 for mistakes such as scores that cannot be compared.
    """
    from captious.results.regression_check import check as run_check

    quiet = is_taken(junit, markdown, json)
    result = run_check(new, against, fail, alpha=alpha, trials=trials, resamples=resamples, seed=seed)
    if junit is not None:
        write_text(result.to_junit(), junit)
    if markdown is not None:
        write_text(result.to_markdown(), markdown)
    if json is not None:
        write_json(result.to_json(look().numbers), json)
    if not quiet and look().format == "csv":
        print_tidy(row.comparison.tidy_row() for row in result)
    elif not quiet:
        rows = []
        for one in result:
            row = one.comparison
            rows.append(
                [
                    one.verdict,
                    str(one.rule),
                    shown(row.a, row.format),
                    shown(row.b, row.format),
                    one.change_text if one.rule.relative else shown(one.change, "+" + row.format),
                    interval(row.interval, "+" + row.format),
                    number(row.p_corrected),
                ]
            )
        level = f"{100 * (1 - alpha):g} % interval"
        print_table(
            f"{result[0].comparison.images:,} images, paired tests",
            ["verdict", "fails if", result.old, result.new, "change", level, "p (Holm)"],
            rows,
            best=[[one.failed] + [False] * 6 for one in result],
            text=(0, 1),
            keys=2,
        )
        note(
            "failed: the change is larger than the rule allows and significant "
            f"(randomisation, {trials:,} trials, Holm, p ≤ {alpha:g})"
        )
        print(result.headline)
    if not result.passed:
        raise SystemExit(FAILED)


COMMAND = command("check", check, options.PrintedOutput, ScoreTables)
