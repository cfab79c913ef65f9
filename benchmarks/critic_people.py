"""Critics against people's ratings of systems and captions (Cui et al. 2018, Figures 7 and 10), on THumB.

    captious train critic refs.jsonl SYSTEMS -o critic.safetensors --features objects.jsonl \\
        --exclude rated.jsonl
    python -m benchmarks.critic_people --critic critic.safetensors [--plots DIR] [--examples N]

``rated.jsonl`` has captions of the images of THumB, which training leaves out. Only images that
``coco/objects.jsonl.gz`` describes are judged.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from benchmarks.captions import public_data, read_jsonl
from captious.agreement import RatedCaptions, Study, load_judgements, measure
from captious.agreement.agreement_scores import compare_metrics
from captious.agreement.coefficients import COEFFICIENTS
from captious.critic.critic_measure import CriticMeasure
from captious.figures import style
from captious.figures.diversity_relations import human_scores
from captious.io.id_matching import plain_id
from captious.metrics.registry import make_measures
from captious.results.significance import percentile_interval

OTHERS = "METEOR,CIDEr-D,SPICE"
PEOPLE = "Human"
RESAMPLES = 2000
Floats = NDArray[np.float64]


def with_objects(judged: RatedCaptions, images: set[str]) -> RatedCaptions:
    """Return the rated captions of these images."""
    rows = [k for k, image in enumerate(judged.images) if plain_id(image) in images]
    assert judged.systems is not None
    return replace(
        judged,
        images=[judged.images[k] for k in rows],
        captions=[judged.captions[k] for k in rows],
        references=[judged.references[k] for k in rows],
        ratings=[judged.ratings[k] for k in rows],
        systems=[judged.systems[k] for k in rows],
        own=None if judged.own is None else [judged.own[k] for k in rows],
        published={name: values[rows] for name, values in judged.published.items()},
    )


def interval(values: Floats) -> str:
    """Return the mean with its 95 % interval over the values."""
    drawn = np.random.default_rng(1).integers(0, len(values), (RESAMPLES, len(values)))
    low, high = percentile_interval(values[drawn].mean(axis=1))
    return f"{values.mean():.3f} [{low:.3f}, {high:.3f}]"


def percentiles(values: Floats) -> Floats:
    """Return the share of smaller values for each value. Ties share their mean rank."""
    order = np.sort(values)
    low, high = np.searchsorted(order, values, "left"), np.searchsorted(order, values, "right")
    shares: Floats = 50.0 * (low + high) / len(values)
    return shares


def print_systems(scores: dict[str, Floats], systems: NDArray[np.str_]) -> None:
    """Print the means of each system, and how metrics correlate with people over systems (Figure 7)."""
    names = sorted(set(systems.tolist()), key=lambda name: -scores["people"][systems == name].mean())
    print(f"| system | {' | '.join(scores)} |\n|---|{'---:|' * len(scores)}")
    for name in names:
        print(f"| {name} | " + " | ".join(interval(v[systems == name]) for v in scores.values()) + " |")
    for label, chosen in (("all", names), ("machines", [name for name in names if name != PEOPLE])):
        means = {m: np.array([v[systems == name].mean() for name in chosen]) for m, v in scores.items()}
        cells = [f"{COEFFICIENTS['pearson'](v, means['people']):+.2f}" for v in means.values()]
        print(f"| Pearson, {label} ({len(chosen)}) | {' | '.join(cells)} |")


def print_examples(judged: RatedCaptions, scores: dict[str, Floats], metric: str, count: int) -> None:
    """Print captions that one of two metrics places much nearer to people than the other (Figure 10)."""
    ranks = {name: percentiles(values) for name, values in scores.items()}
    apart = {name: np.abs(ranks[name] - ranks["people"]) for name in (metric, "SPICE")}
    gain = apart["SPICE"] - apart[metric]
    print(
        f"\n{metric} is nearer to people than SPICE for {interval((gain > 0).astype(float))} of the captions"
    )
    print(f"\n| | caption | a reference | people | {metric} | SPICE |\n|---|---|---|---:|---:|---:|")
    for label, order in (
        (metric, np.argsort(-gain, kind="stable")),
        ("SPICE", np.argsort(gain, kind="stable")),
    ):
        texts: list[str] = []
        for k in order.tolist():
            if len(texts) == count:
                break
            if judged.captions[k] not in texts:
                texts.append(judged.captions[k])
                cells = [f"{ranks[name][k]:.0f}" for name in ("people", metric, "SPICE")]
                row = [f"{label} nearer", judged.captions[k], judged.references[k][0], *cells]
                print(f"| {' | '.join(row)} |")


def draw(scores: dict[str, Floats], systems: NDArray[np.str_], folder: Path) -> list[Path]:
    """Draw the mean of each system by metrics against its mean by people."""
    names = sorted(set(systems.tolist()))
    panels = {
        metric: [
            (
                name,
                values[systems == name].mean(keepdims=True),
                scores["people"][systems == name].mean(keepdims=True),
            )
            for name in names
        ]
        for metric, values in scores.items()
        if metric != "people"
    }
    looks = style.looks_of([name for name in names if name != PEOPLE])
    return style.save(human_scores(panels, PEOPLE, looks=looks), folder, "critic_people")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--critic", type=Path, action="append", required=True, help="a critic; repeatable")
    parser.add_argument("--examples", type=int, default=4, help="examples for either metric")
    parser.add_argument("--plots", type=Path, help="folder for the figure")
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    data = public_data()
    objects = data / "coco" / "objects.jsonl.gz"
    judged = load_judgements("thumb", data)
    assert isinstance(judged, RatedCaptions)
    judged = with_objects(judged, {plain_id(str(row["image_id"])) for row in read_jsonl(objects)})
    critics = [
        CriticMeasure(path, objects, name="Critic" if len(options.critic) == 1 else f"Critic {path.stem}")
        for path in options.critic
    ]
    study = Study.of(judged, [*critics, *make_measures(OTHERS, {})])
    table = study.whole
    for item in measure(table, ci=True):
        low, high = item.interval or (np.nan, np.nan)
        print(
            f"{item.metric}: {item.coefficient} {item.value:.3f} [{low:.3f}, {high:.3f}]",
            f"({item.rows:,} captions)",
        )
    for test in compare_metrics(table, [critics[0].name, "SPICE"]):
        low, high = test.interval
        print(f"{test.a} − {test.b}: {test.difference:+.3f} [{low:+.3f}, {high:+.3f}]")
    judged_rows = table.caption.tolist()
    assert judged.systems is not None
    systems = np.array([judged.systems[k] for k in judged_rows])
    scores = {"people": table.human, **table.scores}
    print_systems(scores, systems)
    used = replace(
        judged,
        images=[judged.images[k] for k in judged_rows],
        captions=[judged.captions[k] for k in judged_rows],
        references=[judged.references[k] for k in judged_rows],
        ratings=[judged.ratings[k] for k in judged_rows],
        systems=systems.tolist(),
        own=None,
        published={},
    )
    print_examples(used, scores, critics[0].name, options.examples)
    if options.plots is not None:
        print(*draw(scores, systems, options.plots), sep="\n")


if __name__ == "__main__":
    main()
