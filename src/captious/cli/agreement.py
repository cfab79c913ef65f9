"""``captious agreement``: metrics beside people's judgements."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from captious.cli import options
from captious.cli.output import print_table, write_json


def register(app: typer.Typer) -> None:
    app.command("agreement")(options.takes_measure_options(agreement))


def agreement(
    data: Annotated[Path, typer.Argument(metavar="DATA", help="Folder that holds flickr8k/ (captions and judgements).")],
    metrics: options.Metrics = "BLEU-1,BLEU-4,ROUGE-L,METEOR,CIDEr-D,SPICE,WMD,WEmbSim,MOWE,SentenceSim,HWCM-1,HWCM-2,HWCM-3,HWCM-4",
    judgements: Annotated[str, typer.Option("--judgements", help="expert, cf, cf-all; several separated by commas.")] = "expert,cf",
    json: options.JsonOut = None,
    markdown: Annotated[Path | None, typer.Option("--markdown", metavar="OUT.md", help="Write the table as Markdown.")] = None,
    *,
    given: dict[str, Any],
) -> None:
    """How well metrics order captions as people do: Kendall's tau on Flickr8k-Expert (tau-c) and Flickr8k-CF (tau-b)."""
    from captious.human import agreement as measure
    from captious.human import load_flickr8k
    from captious.human.tables import as_markdown
    from captious.measures.making import make_measures
    from captious.progress import track

    made = make_measures(metrics, given)
    sets = [load_flickr8k(data, which.strip().casefold()) for which in judgements.split(",")]
    work = [(rated, metric) for rated in sets for metric in made]
    found = [measure(rated, [metric])[0] for rated, metric in track(work, "agreement")]
    if json is not None:
        write_json([item.to_json() for item in found], json)
    if markdown is not None:
        as_markdown(found, markdown)
    if json == "-":
        return
    by_metric = {item.metric: {other.judgements: other for other in found if other.metric == item.metric} for item in found}
    header = ["metric", *(f"{rated.name} (tau-{rated.variant} × 100, {len(rated.rating):,} rows)" for rated in sets)]
    rows = [[name, *(f"{row[rated.name].tau:.3f}" for rated in sets)] for name, row in by_metric.items()]
    print_table("", header, rows)
