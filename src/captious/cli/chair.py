"""``captious chair``: hallucinated objects in captions."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated

from captious.cli import options
from captious.cli.command import Argument, Flag, command
from captious.cli.formatting import ScoreTables, look
from captious.cli.formatting import score as shown
from captious.cli.output import is_taken, print_table, write_json


def chair(
    references: options.References,
    predictions: Annotated[Path, Argument(metavar="PRED", help="Predictions.")],
    objects: options.Objects = None,
    chair_synonyms: options.ChairSynonyms = None,
    tokenizer: options.Tokenizer = None,
    subset: options.Subset = False,
    allow_several: options.AllowSeveral = False,
    number: Annotated[int, Flag("--number", "-n", min=1, help="How many objects to list.")] = 10,
    json: options.JsonOut = None,
) -> None:
    """List the objects that captions name but their images do not show; --json lists them by caption."""
    from captious.api import load
    from captious.metrics.captions.chair import ChairI, ChairS
    from captious.results.scores import Score

    by_object = ChairI(objects, chair_synonyms)
    by_caption = ChairS(by_object.objects, by_object.table)
    corpus = load(references, predictions, tokenizer=tokenizer, subset=subset, several=allow_several or None)
    rows = by_object.mentions(corpus)
    scores = [Score.of(by_caption, corpus), Score.of(by_object, corpus)]
    if json is not None:
        by_metric = {score.name: score.to_json(numbers=look().numbers) for score in scores}
        write_json({**by_metric, "captions": [row.to_json() for row in rows]}, json)
    if is_taken(json):
        return
    named = Counter(m.object for row in rows for m in row.mentioned)
    wrong = Counter(m.object for row in rows for m in row.hallucinated)
    title = f"{corpus.name}: " + ", ".join(f"{score.name} {shown(score.value)}" for score in scores)
    table = [
        [kind, f"{count:,}", f"{named[kind]:,}", f"{count / named[kind]:.1%}"]
        for kind, count in wrong.most_common(number)
    ]
    print_table(title, ["object", "hallucinated", "named", "share"], table)


COMMAND = command("chair", chair, options.ColumnOptions, options.PrintedOutput, ScoreTables)
