"""``captious likelihood``: how often a captioner finds a wrong generic caption likelier than a human one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from captious.cli import options
from captious.cli.command import Flag, command
from captious.cli.formatting import Tables
from captious.cli.output import (
    is_taken,
    note,
    print_table,
    rich_console,
    say,
    write_json,
    write_json_lines,
    write_text,
)
from captious.core.errors import InputError

if TYPE_CHECKING:
    from captious.rerank import LikelihoodReport
    from captious.rerank.likelihood import GenericCaptions


def likelihood(
    references: options.References,
    scored: Annotated[
        Path | None,
        Flag(
            "--scored",
            metavar="FILE",
            help="log P of the captions: JSONL, as 'captious generate MODEL IMAGES --score CAPTIONS' writes "
            "it.",
        ),
    ] = None,
    write: Annotated[
        Path | None,
        Flag(
            "--write",
            metavar="CAPTIONS",
            help="Write the captions whose log P the test needs, and stop.",
            writes="file",
        ),
    ] = None,
    training: Annotated[
        Path | None,
        Flag(
            "--training",
            metavar="CAPTIONS",
            help="Where the commonest captions are taken from (default: the references).",
        ),
    ] = None,
    common: Annotated[
        int, Flag("--common", "-k", min=1, help="Number of distractors: the most frequent captions.")
    ] = 5,
    objects: options.Objects = None,
    chair_synonyms: options.ChairSynonyms = None,
    models: Annotated[
        list[Path] | None,
        Flag(
            "--lm",
            metavar="MODEL",
            help="Also compare by log P(s|I) − λ log P(s) with this language model; twice to interpolate.",
        ),
    ] = None,
    lam: options.Lambda = None,
    alpha: options.Alpha = None,
    normalise: Annotated[
        bool, Flag("--normalise", help="Divide the formula of --lm by the number of words, too.")
    ] = False,
    words: Annotated[
        str | None,
        Flag(
            "--words",
            metavar="IMAGE",
            help="Show the captions of an image with the probability of each word (--scored with --tokens).",
        ),
    ] = None,
    figure: Annotated[
        Path | None,
        Flag("--figure", metavar="OUT", help="With --words: write it as .html or .svg.", writes="file"),
    ] = None,
    trials: Annotated[
        int, Flag("--trials", min=1, help="Trials of the randomisation test (before and after).")
    ] = 10_000,
    tokenizer: options.Tokenizer = None,
    json: options.JsonOut = None,
) -> None:
    """Test whether a captioner prefers wrong generic captions to human ones (Wang et al. 2020, §3.1).

    Distractors are the most frequent captions of the training corpus that name an object the image does not
    have.
    """
    from captious.rerank.likelihood import GenericCaptions, likelihood_study

    if (scored is None) == (write is None):
        raise InputError(
            "choose one of --scored FILE (log P of the captions) "
            "and --write CAPTIONS (write the captions that need log P)"
        )
    if figure is not None and (words is None or figure.suffix not in (".html", ".svg")):
        raise InputError(
            "--figure shows the words of one image; add --words IMAGE, and name a file .html or .svg"
        )
    is_taken(json, write, figure)
    if scored is not None and words is not None:
        _show_words(scored, words, figure)
        return
    generic = GenericCaptions.find(
        references,
        training,
        common=common,
        objects=objects,
        chair_synonyms=chair_synonyms,
        tokenizer=tokenizer,
    )
    if scored is None:
        assert write is not None
        rows = generic.to_score()
        write_json_lines(rows, write)
        say(f"{write}: {sum(len(row['captions']) for row in rows):,} captions of {len(rows):,} images", write)
        say(f"distractors: {_listed(generic)}", write)
        return
    report = likelihood_study(
        generic, scored, models=models or (), lam=lam, alpha=alpha, normalise=normalise, trials=trials
    )
    if json is not None:
        write_json(report.to_json(), json)
    if not is_taken(json):
        _show(report)


def _show(report: LikelihoodReport) -> None:
    heads = {"some": "some human caption", "every": "every human caption", "pairs": "pairs"}
    table = []
    for name, test in report.tests.items():
        shares = test.shares()
        table.append(
            [name, *(f"{v:.1%} [{low:.1%}, {high:.1%}]" for v, low, high in map(shares.__getitem__, heads))]
        )
    first = report.first
    print_table(
        f"Images with a wrong caption that is likelier than … ({len(first.ids):,} images)",
        ["", *heads.values()],
        table,
    )
    note(
        f"{first.left_out:,} images have no certainly wrong distractor and were left out. "
        f"Distractors: {_listed(report.generic)}"
    )
    if report.p is not None:
        note(f"With the language model, the first column differs with p = {report.p:.4f} (randomisation).")


def _listed(generic: GenericCaptions) -> str:
    return "; ".join(f"{text} ({count:,})" for text, count in generic.commonest)


def _show_words(scored: Path, image: str, figure: Path | None) -> None:
    """Show the captions of an image with the probability of each word, in the terminal or as a figure."""
    from captious.figures import word_colours
    from captious.rerank.likelihood import word_likelihoods

    lines = [word_colours.WordLine(*line) for line in word_likelihoods(scored, image)]
    if figure is None:
        rich_console(highlight=False, soft_wrap=True).print(word_colours.terminal(lines))
        return
    is_svg = figure.suffix == ".svg"
    text = word_colours.as_svg(lines) if is_svg else word_colours.as_html(lines, f"Image {image}")
    write_text(text, figure)
    say(f"{figure}: {len(lines):,} captions of image {image}", figure)


COMMAND = command("likelihood", likelihood, options.ColumnOptions, options.PrintedOutput, Tables)
