"""Rebuild the figures of docs/results/agreement.md and docs/results/robustness.md, intervals included, from the public data sets.

    python -m benchmarks.agreement_docs [--only BLOCK,…] [--data ../shared/data]

Each block of numbers stands between two comments in the document and is replaced; the prose around it stays.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path

from benchmarks.common import ROOT, read_jsonl
from captious.agreement import (
    METRICS,
    HumanAgreement,
    Study,
    compare_metrics,
    load_judgements,
    measure,
)
from captious.agreement import (
    agreement_scores as agreement,
)
from captious.agreement import result_tables as text
from captious.agreement.agreement_curves import by_length, by_level, by_references
from captious.agreement.metric_relations import complementary_pairs, correlate_metrics, over_captions
from captious.agreement.study import score_systems
from captious.core.cache import atomic_write
from captious.figures import agreement_plots, robustness_plots, style
from captious.metrics.registry import make_measures
from captious.robustness import distraction_accuracy, make_distractions, robustness_curves
from captious.robustness import robustness_tables as robust

DATA = Path(os.environ.get("CAPTIOUS_DATA") or ROOT.parent / "shared" / "data")
FIGURES = ROOT / "docs" / "figures"
#: Sets that the public data hold whole, and those of which they hold a part.
WHOLE = ("flickr8k-expert", "flickr8k-cf", "flickr8k-cf-all", "thumb", "cxc")
PARTS = ("composite", "capeval1k")
#: For curves and relations, where every metric would be too many.
FEW = "BLEU-4,ROUGE-L,METEOR,CIDEr-D,SPICE,WMD,WEmbSim,SentenceSim"
ROBUST = "BLEU-1,BLEU-4,ROUGE-L,METEOR,CIDEr-D,SPICE,WMD,MOWE,WEmbSim,SentenceSim"


@cache
def study(name: str) -> Study:
    return Study.of(load_judgements(name, DATA), METRICS)


def sets(names: tuple[str, ...]) -> str:
    found: list[HumanAgreement] = [item for name in names for item in agreement(study(name), ci=True)]
    table = text.overview(found)
    notes = []
    for name in names:
        whole = study(name).whole
        notes.append(
            f"- {whole.name}: {len(whole):,} rows of {whole.units:,} images, {whole.left_out:,} captions left out; `{_protocol(found, whole.name)}`."
        )
    return text.as_markdown([table]) + "\n".join(notes) + "\n"


def _protocol(found: list[HumanAgreement], name: str) -> str:
    """The part of a signature that is the set's and not the metric's."""
    one = next(item for item in found if item.judgements == name)
    return "judged:" + one.signature.partition("|judged:")[2]


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
    five = agreement(
        load_judgements("pascal-50s", DATA), METRICS, ci=True, protocol={"references": 5, "draws": 5}
    )
    shown = text.of_set(five)
    five_table = text.TextTable(
        shown.title.replace("PASCAL-50S", "PASCAL-50S, five references drawn five times"),
        shown.header,
        shown.rows,
    )
    return text.as_markdown([text.of_set(fifty), five_table])


def within() -> str:
    found = [
        item
        for name in ("flickr8k-expert", "flickr8k-cf", "thumb")
        for item in measure(study(name).whole.under(level="image", coefficient="tau-b"), ci=True)
    ]
    return text.as_markdown([text.overview(found)])


def challenge() -> str:
    shown = [
        text.of_set(agreement(load_judgements(name, DATA), ci=True))
        for name in ("coco-2015", "coco-2015-c40")
    ]
    return text.as_markdown(shown)


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
    judged = load_judgements("pascal-50s", DATA)
    # Without the sentence encoder, which would read every draw of references anew.
    found = by_references(judged, FEW.removesuffix(",SentenceSim"))
    style.save(agreement_plots.curve(found), FIGURES, "agreement-references", ["png"])
    few = study("flickr8k-expert").whole
    few = few.with_scores({name: few.scores[name] for name in FEW.split(",")})
    shown = text.as_markdown([text.curve(found), text.curve(by_length(few)), text.curve(by_level(few))])
    return shown + "\n![agreement by number of references](../figures/agreement-references.png)\n"


def relations() -> str:
    table = study("flickr8k-expert").whole
    over = over_captions(table)
    style.save(agreement_plots.heat_map(over), FIGURES, "metrics-captions", ["png"])
    references = {
        str(r["image_id"]): r["captions"]
        for r in read_jsonl(DATA / "coco" / "references.jsonl.gz")
        if r["split"] == "test"
    }
    systems = {}
    for path in sorted((DATA / "coco" / "systems").glob("*.jsonl.gz")):
        rows = {str(r["image_id"]): r["caption"] for r in read_jsonl(path)}
        systems[path.name.partition(".")[0]] = {image: rows[image] for image in references if image in rows}
    scored = score_systems(references, systems, make_measures(FEW, {}), subset=True)
    between = correlate_metrics(
        {item.metric: item.values for item in scored},
        f"systems on {len(references):,} COCO images",
        "pearson",
    )
    shown = text.as_markdown(
        [
            text.correlations(over),
            text.correlations(between),
            text.pairs(complementary_pairs(table, FEW.split(","))),
        ]
    )
    return shown + "\n![metrics over captions](../figures/metrics-captions.png)\n"


def flickr30k() -> dict[str, list[str]]:
    return {row["image"]: row["captions"] for row in read_jsonl(DATA / "flickr30k" / "captions.jsonl.gz")}


def distractions() -> str:
    found = distraction_accuracy(
        make_distractions(dict(list(flickr30k().items())[:4000]), limit=2000), ROBUST
    )
    style.save(robustness_plots.tasks(found), FIGURES, "distractions", ["png"])
    return (
        text.as_markdown([robust.accuracies(found)])
        + "\n![accuracy on distraction tasks](../figures/distractions.png)\n"
    )


def transformations() -> str:
    # 66,000 different captions: without the sentence encoder, which would take most of the time.
    found = robustness_curves(flickr30k(), ROBUST.removesuffix(",SentenceSim"), images=2000)
    permuted = [item for item in found if item.transformation == "word permutation"]
    style.save(robustness_plots.transformation(permuted), FIGURES, "word-permutation", ["png"])
    signatures = [item.signature for item in permuted]
    return (
        text.as_markdown([robust.areas(found), *robust.points(found)], signatures)
        + "\n![word permutation](../figures/word-permutation.png)\n"
    )


BLOCKS: dict[str, tuple[str, Callable[[], str]]] = {
    "whole": ("agreement.md", whole), "parts": ("agreement.md", parts), "pascal": ("agreement.md", pascal), "within": ("agreement.md", within),
    "challenge": ("agreement.md", challenge), "differences": ("agreement.md", differences), "curves": ("agreement.md", curves),
    "relations": ("agreement.md", relations), "distractions": ("robustness.md", distractions), "transformations": ("robustness.md", transformations),
}  # fmt: skip


def replace_block(document: Path, name: str, block: str) -> None:
    """Put a block between its two comments."""
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    held = document.read_text(encoding="utf-8")
    if held.count(begin) != 1 or held.count(end) != 1:
        sys.exit(f"{document} has no place for the block '{name}' ({begin} … {end})")
    before, _, rest = held.partition(begin)
    after = rest.partition(end)[2]
    with atomic_write(document) as temporary:
        temporary.write_text(f"{before}{begin}\n{block.strip()}\n{end}{after}", encoding="utf-8")


def main() -> None:
    global DATA
    parser = argparse.ArgumentParser(
        description="rebuild the figures of docs/results/agreement.md and docs/results/robustness.md"
    )
    parser.add_argument("--only", help=f"some of {', '.join(BLOCKS)}")
    parser.add_argument("--data", type=Path, default=DATA)
    given = parser.parse_args()
    DATA = given.data
    for name in given.only.split(",") if given.only else BLOCKS:
        if name not in BLOCKS:
            sys.exit(f"unknown block '{name}' (known: {', '.join(BLOCKS)})")
        start = time.perf_counter()
        document, make_block = BLOCKS[name]
        replace_block(ROOT / "docs" / "results" / document, name, make_block())
        print(f"{document}: {name} ({time.perf_counter() - start:.0f} s)", flush=True)


if __name__ == "__main__":
    main()
