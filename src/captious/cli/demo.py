"""``captious demo``: the sample that ships with the package."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from captious.cli import options
from captious.cli.look import score as shown
from captious.cli.look import takes_look
from captious.cli.tables import note

DIVERSITY = ["Self-CIDEr", "LSA", "1-mBLEU-4", "Div-1", "Div-2"]


def register(app: typer.Typer) -> None:
    app.command("demo")(options.takes_jobs(options.takes_output(takes_look(demo))))


def demo(
    metrics: options.Metrics = "coco",
    ci: Annotated[bool, typer.Option("--ci", help="Show confidence intervals.")] = False,
    json: options.JsonOut = None,
    report: Annotated[
        Path | None, typer.Option("--report", metavar="OUT.html", help="Also make a report of the demo, a page for the browser.")
    ] = None,
) -> None:
    """Score three made-up systems on the 60 images that ship with captious, and measure the diversity of a fourth."""
    from captious.cli.look import look
    from captious.cli.output import is_taken, print_table, write_json
    from captious.cli.score import show
    from captious.data import demo_path
    from captious.measures.making import make_measures
    from captious.records import ScoredCaptions
    from captious.references import load, load_systems
    from captious.scores import Score, Scores
    from captious.variety.sets import diversity, human

    names = ["good", "generic", "poor"]
    corpora = load_systems(demo_path("references"), [demo_path(name) for name in names], names=names)
    made = make_measures(metrics, {})
    results = [Scores(corpus.name, [Score.of(metric, corpus) for metric in made], ScoredCaptions.of(corpus)) for corpus in corpora]
    sampled = load(demo_path("references"), demo_path("sampling"), name="sampling")
    sets = {"sampling": diversity(sampled, accuracy=()), "human": human(sampled, accuracy=())}
    if json is not None:
        chosen = {name: {measure: found[measure].value for measure in DIVERSITY} for name, found in sets.items()}
        write_json({"systems": [found.to_json(ci=ci and look().bootstrap) for found in results], "diversity": chosen}, json)
    if is_taken(json):
        return
    show(results, ci=ci, title=f"{len(corpora[0])} images × 5 references, written for this project")
    rows = [[name, *(shown(found[measure].value) for measure in DIVERSITY)] for name, found in sets.items()]
    print_table("diversity of ten samples per image, and of people", ["", *DIVERSITY], rows)
    note(
        f"\nThe same with your own files:\n  captious score {demo_path('references')} {demo_path('good')} --ci\n"
        f"  captious diversity {demo_path('references')} {demo_path('sampling')}"
    )
    if report is not None:
        from captious.page import report as make

        page = make(*corpora, samples=[sampled], objects=demo_path("objects"), title="The demo of captious: sixty imagined images")
        note(f"\nA report of all this, for the browser: {page.save(report)}")
