"""``captious demo``: the sample that ships with the package."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from captious.cli import options
from captious.cli.command import Flag, command
from captious.cli.formatting import IntervalTables
from captious.cli.formatting import score as shown
from captious.cli.output import note
from captious.cli.report import check_page

DIVERSITY = ["Self-CIDEr", "LSA", "1-mBLEU-4", "Div-1", "Div-2"]


def demo(
    metrics: options.Metrics = "coco",
    ci: Annotated[bool, Flag("--ci", help="Show confidence intervals.")] = False,
    json: options.JsonOut = None,
    report: Annotated[
        Path | None,
        Flag(
            "--report",
            metavar="OUT.html",
            help="Also make a report of the demo, a page for the browser.",
            writes="file",
        ),
    ] = None,
) -> None:
    """Score three made-up systems on the 60 images that ship with captious, and measure the diversity of a
    fourth.
    """
    from captious.cli.formatting import look
    from captious.cli.output import is_taken, print_table, write_json
    from captious.cli.score_tables import show, systems_json
    from captious.data import demo_path
    from captious.diversity_analysis.sets import diversity, human
    from captious.metrics.registry import make_measures
    from captious.results.references import load, load_systems
    from captious.results.scores import Scores

    if report is not None:
        check_page(report, "--report")
    names = ["good", "generic", "poor"]
    corpora = load_systems(demo_path("references"), [demo_path(name) for name in names], names=names)
    results = Scores.of_corpora(corpora, make_measures(metrics, {}))
    sampled = load(demo_path("references"), demo_path("sampling"), name="sampling")
    sets = {"sampling": diversity(sampled, accuracy=()), "human": human(sampled, accuracy=())}
    if json is not None:
        chosen = {
            name: {measure: look().numbers.number(scores[measure].value) for measure in DIVERSITY}
            for name, scores in sets.items()
        }
        write_json({"systems": systems_json(results, ci=ci), "diversity": chosen}, json)
    if is_taken(json):
        return
    show(results, ci=ci, title=f"{len(corpora[0])} images × 5 references, written for this project")
    rows = [[name, *(shown(scores[measure].value) for measure in DIVERSITY)] for name, scores in sets.items()]
    print_table("diversity of ten samples per image, and of people", ["", *DIVERSITY], rows)
    note(
        f"\nThe same with your own files:\n  captious score {demo_path('references')} {demo_path('good')} "
        "--ci\n"
        f"  captious diversity {demo_path('references')} {demo_path('sampling')}"
    )
    if report is not None:
        from captious.reporting import report as make

        page = make(
            *corpora,
            samples=[sampled],
            objects=demo_path("objects"),
            title="The demo of captious: sixty imagined images",
        )
        note(f"\nA report of all this, for the browser: {page.save(report)}")


COMMAND = command("demo", demo, options.Jobs, options.PrintedOutput, IntervalTables)
