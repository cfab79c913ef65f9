"""``captious demo``: the sample that ships with the package."""

from __future__ import annotations

from typing import Annotated

import typer

from captious.cli import options


def register(app: typer.Typer) -> None:
    app.command("demo")(demo)


def demo(
    metrics: options.Metrics = "coco",
    ci: Annotated[bool, typer.Option("--ci", help="Show confidence intervals.")] = False,
) -> None:
    """Score three made-up systems on the 60 images that ship with captious."""
    from captious.api import load_systems, make_metrics
    from captious.cli.score import show
    from captious.data import demo_path
    from captious.scores import Score, Scores

    names = ["good", "generic", "poor"]
    corpora = load_systems(demo_path("references"), [demo_path(name) for name in names], names=names)
    made = make_metrics(metrics, {})
    results = [Scores(corpus.name, [Score.of(metric, corpus) for metric in made]) for corpus in corpora]
    show(results, ci=ci, title=f"{len(corpora[0])} images × 5 references, written for this project")
    print(f"\nThe same with your own files:  captious score {demo_path('references')} {demo_path('good')} --ci")
