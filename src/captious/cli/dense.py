"""``captious dense``: events of videos with times, by densevid_eval's and SODA's protocols."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from captious.cli import options
from captious.cli.command import INPUT, Argument, Flag, command
from captious.cli.formatting import IntervalTables, look
from captious.cli.output import is_taken, note, say, write_json
from captious.cli.score_tables import show, systems_json, write_per_image
from captious.core.errors import InputError


def dense(
    inputs: Annotated[
        list[Path],
        Argument(
            metavar="REFS PRED",
            help="References (ActivityNet captions, one file per annotator), then predictions ('results').",
        ),
    ],
    metrics: options.Metrics = "METEOR",
    protocols: Annotated[
        str, Flag("--protocol", metavar="NAMES", help="densevid, soda, or both with a comma.")
    ] = "densevid,soda",
    kinds: Annotated[
        str, Flag("--soda", metavar="KINDS", help="Kinds of SODA: a, b, c, d; with commas.")
    ] = "c",
    thresholds: Annotated[
        str, Flag("--tiou", metavar="NUMBERS", help="Overlaps at which densevid scores, with commas.")
    ] = "0.3,0.5,0.7,0.9",
    each: Annotated[bool, Flag("--each-tiou", help="Also print densevid's score at each overlap.")] = False,
    merge_references: Annotated[
        bool,
        Flag(
            "--merge-references",
            help="SODA: events of all annotators as those of one (default: the best annotator).",
            heading=INPUT,
        ),
    ] = False,
    as_published: Annotated[
        bool,
        Flag(
            "--as-published",
            help="SODA as its program: swapped sentences, no empty videos, references in file order.",
            heading=INPUT,
        ),
    ] = False,
    ci: Annotated[bool, Flag("--ci", help="Show bootstrap confidence intervals over videos.")] = False,
    compare: Annotated[bool, Flag("--compare", help="Test the systems against each other.")] = False,
    signature: options.WithSignatures = False,
    tokenizer: options.Tokenizer = None,
    name: options.Names = None,
    json: options.JsonOut = None,
    per_video: Annotated[
        Path | None,
        options.writes_to(
            "--per-video", metavar="OUT", help="Write the score of every video (OUT.csv or OUT.json)."
        ),
    ] = None,
    report: Annotated[
        Path | None,
        options.writes_to("--report", metavar="OUT.html", help="Write a page with a time line per video."),
    ] = None,
    output: options.SaveTo = None,
    *,
    metric_options: options.MeasureOptions,
) -> None:
    """Score dense captions: events of videos with times and sentences.

    Predictions are recognised by their format, so any number of annotators and systems can be given. Saved
    scores (-o) can be compared later: captious compare A.scores B.scores.
    """
    from captious.cli.compare import show as show_comparison
    from captious.cli.report import check_page
    from captious.dense import score_dense_systems
    from captious.dense.dense_scores import DenseSettings
    from captious.results.comparison import compare as compare_all
    from captious.results.comparison import only
    from captious.results.saved_scores import check_target
    from captious.results.scores import Scores

    settings = DenseSettings(_parts(protocols), _parts(kinds), _numbers(thresholds))
    references, predictions = _sides(inputs)
    if compare and len(predictions) < 2:
        raise InputError("--compare needs two systems; give the predictions of both")
    check_target(output, len(predictions))
    if report is not None:
        check_page(report, "--report")
    results = score_dense_systems(
        references,
        predictions,
        metrics,
        protocols=settings.protocols,
        kinds=settings.kinds,
        thresholds=settings.thresholds,
        merge_references=merge_references,
        as_published=as_published,
        tokenizer=tokenizer,
        names=name,
        **metric_options,
    )
    if output is not None:
        Scores.save_all(results, output, texts=False)
    if per_video is not None:
        write_per_image(results, per_video)
    if json is not None:
        files = [str(path) for path in references]
        write_json({"references": files, "systems": systems_json(results, ci=ci)}, json)
    if report is not None:
        from captious.reporting.time_lines import time_line_page

        page = time_line_page(references, predictions, results, as_published=as_published)
        page.save(report)
        say(f"{report}: {len(page.videos):,} videos", report)
    if is_taken(json, per_video, output, report):
        return
    if not each:
        results = [only(scores, [one for one in scores if "@" not in one]) for scores in results]
    if compare:
        show_comparison(compare_all(*results))
    else:
        show(results, ci=ci, signature=signature, origin=False)
        videos = max(len(score.ids) for scores in results for score in scores.values())
        note(f"{videos:,} videos, {len(references)} files of references")
        _note_overlaps(predictions, as_published)
        if ci:
            how = look().bootstrap
            note(f"in brackets: {100 * how.level:g} % intervals, {how.resamples:,} resamples of the videos")


def _note_overlaps(predictions: list[Path], as_published: bool) -> None:
    """Say how many predicted events overlap each other: the protocols allow it, a system may not mean it."""
    import warnings

    from captious.io.event_files import overlapping, read_events

    for path in predictions:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the readers' warnings have been shown
            events = read_events(path, allow_reversed=as_published)
        if count := overlapping(events):
            total = sum(map(len, events.videos.values()))
            note(
                f"{path}: {count:,} of {total:,} events overlap others of their video; the protocols allow it"
            )


def _parts(text: str) -> tuple[str, ...]:
    return tuple(part.strip().lower() for part in text.split(",") if part.strip())


def _numbers(text: str) -> tuple[float, ...]:
    try:
        return tuple(float(part) for part in _parts(text))
    except ValueError:
        raise InputError(f"--tiou takes numbers with commas, such as 0.3,0.5, not '{text}'") from None


def _sides(inputs: list[Path]) -> tuple[list[Path], list[Path]]:
    """Divide the files into references and predictions by their format."""
    from captious.io.content import read_json
    from captious.io.event_files import is_prediction_file

    is_prediction = [is_prediction_file(read_json(path, "dense captions")) for path in inputs]
    references = [path for path, one in zip(inputs, is_prediction) if not one]
    predictions = [path for path, one in zip(inputs, is_prediction) if one]
    if not references or not predictions:
        side, form = (
            ("references", "video → 'timestamps' and 'sentences'")
            if not references
            else ("predictions", "'results': video → rows with 'timestamp' and 'sentence'")
        )
        raise InputError(f"no file has {side} ({form}); write 'captious dense REFS… PREDICTIONS'")
    return references, predictions


COMMAND = command("dense", dense, options.Jobs, IntervalTables)
