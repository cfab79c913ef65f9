"""Rebuild the tables and figures of docs/results/agreement.md and docs/results/robustness.md.

    python -m benchmarks.agreement_docs [--only BLOCK,…]

Each block of numbers is between two comments in the document. It is replaced, and the prose around it stays.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

from benchmarks.captions import ROOT, coco_system, coco_systems, public_data, read_jsonl
from benchmarks.timing import timed
from captious.agreement import (
    METRICS,
    HumanAgreement,
    Study,
    agreement,
    compare_metrics,
    load_judgements,
    measure,
    result_tables,
)
from captious.agreement.agreement_curves import by_length, by_level, by_references
from captious.agreement.metric_relations import complementary_pairs, correlate_metrics, over_captions
from captious.agreement.study import score_systems
from captious.core.writing import atomic_write
from captious.figures import agreement_plots, robustness_plots, style
from captious.io.judgements.judged_sets import JudgementSet
from captious.metrics.registry import make_measures
from captious.robustness import RobustnessReport, distraction_accuracy, make_distractions, robustness_curves
from captious.robustness.robustness_study import METRICS as ROBUSTNESS_METRICS

FIGURES = ROOT / "docs" / "figures"
#: Sets that are complete in the public data, and sets of which they contain a part.
WHOLE = ("flickr8k-expert", "flickr8k-cf", "flickr8k-cf-all", "thumb", "cxc")
PARTS = ("composite", "capeval1k")
#: Metrics of curves and relations.
SELECTED = "BLEU-4,ROUGE-L,METEOR,CIDEr-D,SPICE,WMD,WEmbSim,SentenceSim"


def judgements(name: str) -> JudgementSet:
    return load_judgements(name, public_data())


@cache
def study(name: str) -> Study:
    return Study.of(judgements(name), METRICS)


def sets(names: tuple[str, ...]) -> str:
    agreements = [item for name in names for item in agreement(study(name), ci=True)]
    table = result_tables.overview(agreements)
    notes = []
    for name in names:
        whole = study(name).whole
        size = f"{len(whole):,} rows of {whole.units:,} images, {whole.left_out:,} captions left out"
        notes.append(f"- {whole.name}: {size}; `{_protocol(agreements, whole.name)}`.")
    return result_tables.as_markdown([table]) + "\n".join(notes) + "\n"


def _protocol(agreements: list[HumanAgreement], name: str) -> str:
    """Return the part of the signatures that all metrics share: set and protocol."""
    item = next(item for item in agreements if item.judgements == name)
    return "judged:" + item.signature.partition("|judged:")[2]


def whole() -> str:
    signatures = [item.signature.partition("|judged:")[0] for item in measure(study("flickr8k-expert").whole)]
    return (
        sets(WHOLE)
        + "\nSignatures of the metrics (here with Flickr8k-Expert's references):\n\n"
        + "".join(f"- `{s}`\n" for s in signatures)
    )


def parts() -> str:
    return sets(PARTS)


def pascal() -> str:
    fifty = agreement(study("pascal-50s"), ci=True)
    five = agreement(judgements("pascal-50s"), METRICS, ci=True, protocol={"references": 5, "draws": 5})
    shown = result_tables.of_set(five)
    five_table = result_tables.TextTable(
        shown.title.replace("PASCAL-50S", "PASCAL-50S, five references drawn five times"),
        shown.header,
        shown.rows,
    )
    return result_tables.as_markdown([result_tables.of_set(fifty), five_table])


def within() -> str:
    agreements = [
        item
        for name in ("flickr8k-expert", "flickr8k-cf", "thumb")
        for item in measure(study(name).whole.under(level="image", coefficient="tau-b"), ci=True)
    ]
    return result_tables.as_markdown([result_tables.overview(agreements)])


#: Sets of hallucinations and descriptions, of which the public data contain parts.
DESCRIPTIONS = ("hat", "nocaps-foil", "imageinwords", "faithscore")


def descriptions() -> str:
    metrics = "ALOHa,CAPTURE,FactPrecision,SPICE,CIDEr-D,BLEU-4"
    shown = [result_tables.of_set(agreement(judgements(name), metrics, ci=True)) for name in DESCRIPTIONS]
    return result_tables.as_markdown(shown)


def challenge() -> str:
    shown = [
        result_tables.of_set(agreement(judgements(name), ci=True)) for name in ("coco-2015", "coco-2015-c40")
    ]
    return result_tables.as_markdown(shown)


def differences() -> str:
    lines = []
    for name in ("flickr8k-expert", "flickr8k-cf", "thumb", "cxc"):
        table = study(name).whole
        tested = compare_metrics(table)
        lines += [f"**{table.name}** ({table.protocol.coefficient}; {len(tested)} pairs, Holm)", ""]
        for metric in sorted(table.scores, key=table.estimate, reverse=True):
            others = {c.b if c.a == metric else c.a for c in tested if metric in (c.a, c.b)}
            beaten = [c.b if c.a == metric else c.a for c in tested if c.better == metric]
            shown = "all others" if len(beaten) == len(others) else ", ".join(beaten) or "no other"
            lines.append(f"- {metric} is better than: {shown}")
        lines.append("")
    return "\n".join(lines)


def curves() -> str:
    judged = judgements("pascal-50s")
    # Without the sentence encoder, which would encode every draw of references again.
    by_number = by_references(judged, SELECTED.removesuffix(",SentenceSim"))
    style.save(agreement_plots.curve(by_number), FIGURES, "agreement-references", ["png"])
    table = study("flickr8k-expert").whole
    table = table.with_scores({name: table.scores[name] for name in SELECTED.split(",")})
    tables = [result_tables.curve(part) for part in (by_number, by_length(table), by_level(table))]
    return (
        result_tables.as_markdown(tables)
        + "\n![agreement by number of references](../figures/agreement-references.png)\n"
    )


def relations() -> str:
    data = public_data()
    table = study("flickr8k-expert").whole
    over = over_captions(table)
    style.save(agreement_plots.heat_map(over), FIGURES, "metrics-captions", ["png"])
    references = {
        str(r["image_id"]): r["captions"]
        for r in read_jsonl(data / "coco" / "references.jsonl.gz")
        if r["split"] == "test"
    }
    systems = {}
    for name in coco_systems(data):
        captions = coco_system(data, name)
        systems[name] = {image: captions[image] for image in references if image in captions}
    scored = score_systems(references, systems, make_measures(SELECTED, {}), subset=True)
    between = correlate_metrics(
        {item.metric: item.values for item in scored},
        f"systems on {len(references):,} COCO images",
        "pearson",
    )
    shown = result_tables.as_markdown(
        [
            result_tables.correlations(over),
            result_tables.correlations(between),
            result_tables.pairs(complementary_pairs(table, SELECTED.split(","))),
        ]
    )
    return shown + "\n![metrics over captions](../figures/metrics-captions.png)\n"


def flickr30k() -> dict[str, list[str]]:
    return {
        row["image"]: row["captions"] for row in read_jsonl(public_data() / "flickr30k" / "captions.jsonl.gz")
    }


def distractions() -> str:
    accuracies = distraction_accuracy(
        make_distractions(dict(list(flickr30k().items())[:4000]), limit=2000), ROBUSTNESS_METRICS
    )
    style.save(robustness_plots.tasks(accuracies), FIGURES, "distractions", ["png"])
    return (
        result_tables.as_markdown(RobustnessReport([], accuracies).tables())
        + "\n![accuracy on distraction tasks](../figures/distractions.png)\n"
    )


def transformations() -> str:
    # Without the sentence encoder, which would take most of the time for 66,000 different captions.
    curves = robustness_curves(flickr30k(), ROBUSTNESS_METRICS.removesuffix(",SentenceSim"), images=2000)
    permuted = [item for item in curves if item.transformation == "word permutation"]
    style.save(robustness_plots.transformation(permuted), FIGURES, "word-permutation", ["png"])
    signatures = [item.signature for item in permuted]
    return (
        result_tables.as_markdown(RobustnessReport(curves, []).tables(), signatures)
        + "\n![word permutation](../figures/word-permutation.png)\n"
    )


#: Block → its document, and the function that makes it.
BLOCKS: dict[str, tuple[str, Callable[[], str]]] = {
    **{
        block.__name__: ("agreement.md", block)
        for block in (whole, parts, pascal, descriptions, within, challenge, differences, curves, relations)
    },
    **{block.__name__: ("robustness.md", block) for block in (distractions, transformations)},
}


def replace_block(document: Path, name: str, block: str) -> None:
    """Replace the text between a block's two comments."""
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    content = document.read_text(encoding="utf-8")
    if content.count(begin) != 1 or content.count(end) != 1:
        sys.exit(f"{document} must contain {begin} and {end} once each")
    before, _, rest = content.partition(begin)
    after = rest.partition(end)[2]
    with atomic_write(document) as temporary:
        temporary.write_text(f"{before}{begin}\n{block.strip()}\n{end}{after}", encoding="utf-8")


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("--only", default=",".join(BLOCKS), help=f"some of {', '.join(BLOCKS)}")
    for name in arguments.parse_args().only.split(","):
        if name not in BLOCKS:
            sys.exit(f"unknown block '{name}' (choose from {', '.join(BLOCKS)})")
        document, make_block = BLOCKS[name]
        block, seconds = timed(make_block)
        replace_block(ROOT / "docs" / "results" / document, name, block)
        print(f"{document}: {name} ({seconds.wall:.0f} s)", flush=True)


if __name__ == "__main__":
    main()
