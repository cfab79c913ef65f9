"""``captious report``: everything about one or more systems in one HTML file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from captious.cli import options
from captious.cli.command import INPUT, Argument, Flag, command
from captious.cli.compare import split_inputs
from captious.cli.formatting import counted
from captious.cli.output import say
from captious.core.errors import InputError
from captious.core.writing import is_standard
from captious.results.references import distinct


def report(
    inputs: Annotated[
        list[Path],
        Argument(
            metavar="REFS SYSTEM…",
            help="Reference captions and predictions, one file per system; or saved scores alone.",
        ),
    ],
    output: Annotated[Path, options.to_file("OUT.html", "The page.")] = Path("report.html"),
    samples: Annotated[
        list[Path] | None,
        Flag(
            "--samples",
            metavar="FILE",
            help="Several captions per image of one system, for diversity; repeatable.",
        ),
    ] = None,
    images: Annotated[
        str | None,
        Flag(
            "--images",
            metavar="DIR|URL",
            help="Pictures: a folder, or a pattern such as https://…/{id}.jpg ({id:012} fills with zeros).",
        ),
    ] = None,
    embed: Annotated[
        float | None,
        Flag(
            "--embed",
            metavar="MB",
            min=0,
            help="Size of all thumbnails of a folder's pictures inside the page (default: 20; 0 links them).",
        ),
    ] = None,
    by_group: Annotated[
        str | None,
        Flag(
            "--group",
            metavar="COLUMNS",
            help="Also show groups of images, by columns (with commas), such as split, or length.",
        ),
    ] = None,
    group_file: Annotated[
        Path | None,
        Flag("--group-file", metavar="FILE", help="File of the columns (default: REFS).", heading=INPUT),
    ] = None,
    metrics: Annotated[
        str | None,
        options.metrics_flag(
            "Metrics, with commas (default: coco, and CHAIR with --objects; all of saved scores)."
        ),
    ] = None,
    title: Annotated[
        str | None, Flag("--title", help="Title of the page (default: the systems and the references).")
    ] = None,
    name: options.Names = None,
    open_it: Annotated[bool, Flag("--open", help="Show the page in the browser.")] = False,
    corpus: Annotated[
        bool,
        Flag(
            "--corpus/--no-corpus", help="The language of whole corpora, for which all captions are parsed."
        ),
    ] = True,
    alpha: Annotated[float, Flag(help="Level of the paired tests, corrected for all comparisons.")] = 0.05,
    tokenizer: options.Tokenizer = None,
    subset: options.Subset = False,
    allow_several: options.AllowSeveral = False,
    *,
    metric_options: options.MeasureOptions,
) -> None:
    """Make one HTML file about systems: leaderboard, all images, why each score, comparisons, diversity.

    The file has everything inside and needs no network. With references first, systems are captions or saved
    scores; saved scores alone make a page without references and explanations. '+' between inputs joins the
    reports of several data sets.
    """
    from captious.reporting import Report, join_reports
    from captious.reporting import report as make

    if group_file is not None and by_group is None:
        raise InputError("--group-file needs the names of the columns: give them with --group COLUMNS")
    check_page(output, "-o")
    parts = _data_sets(inputs)
    if name is not None and len(parts) > 1:
        raise InputError("--name names systems of one data set; with several ('+'), rename the files")

    def make_page(references: Path | None, systems: list[Path], own_title: str | None) -> Report:
        return make(
            *systems,
            references=references,
            samples=samples or (),
            images=images,
            embed=embed,
            group=by_group,
            group_file=group_file,
            metrics=metrics,
            names=name,
            title=own_title,
            corpus=corpus,
            alpha=alpha,
            tokenizer=tokenizer,
            subset=subset,
            several=allow_several or None,
            **metric_options,
        )

    pages = [make_page(*split_inputs(part, "report", least=1), title) for part in parts]
    if len(pages) == 1:
        page = pages[0]
    else:
        page = join_reports(dict(zip(distinct([_stem(part[0]) for part in parts]), pages)), title)
    saved = page.open(output) if open_it else page.save(output)
    systems, n_images = counted(len(page.meta["systems"]), "system"), counted(page.meta["images"], "image")
    say(f"{saved}: {systems}, {n_images}", output)


def _data_sets(inputs: list[Path]) -> list[list[Path]]:
    """Divide the inputs at '+' into data sets."""
    parts: list[list[Path]] = [[]]
    for one in inputs:
        if str(one) == "+":
            parts.append([])
        else:
            parts[-1].append(one)
    if not all(parts):
        raise InputError("'+' stands between data sets: captious report REFS SYSTEM… + REFS SYSTEM…")
    return parts


def _stem(path: Path) -> str:
    return path.name.partition(".")[0] or path.name


def check_page(path: Path, flag: str) -> None:
    """Refuse a name for a report that no browser opens."""
    if path.suffix.lower() not in (".html", ".htm") and not is_standard(path):
        raise InputError(f"a report is a page: give {flag} a name that ends with .html, not '{path}'")


COMMAND = command("report", report, options.Jobs, options.ColumnOptions)
