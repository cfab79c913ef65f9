"""Agreement with people beside pycocoevalcap: all rated captions of Flickr8k-Expert and -CF, five references each.

    python -m benchmarks.agreement [--captions N] [--java DIR] [--java-images 160] [--data ../shared/data]

Ours runs in a process of its own, from raw text to the scores of every caption metric but the sentence encoder, with a
filled cache. pycocoevalcap runs its tokenizer, BLEU, METEOR, ROUGE-L and CIDEr on the same captions, and ours
runs those too. Java SPICE is timed on two samples as in ``benchmarks.spice`` and multiplied; DIR holds its jars. Wall clock and
processor time are both shown: on a busy machine only the latter means much. At the end the bootstrap of tau-c on 16,992 rows.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.common import ROOT, in_child, peak_megabytes

COMMON = ["BLEU-1", "BLEU-2", "BLEU-3", "BLEU-4", "METEOR", "ROUGE-L", "CIDEr-D"]


def caption_metrics() -> list[str]:
    """Every metric of captions but those of the sentence encoder, CHAIR, which needs the objects of COCO, and the learned ones, which are
    made of the others (``benchmarks.learned``)."""
    from captious.metrics import registry

    others = (
        "SentenceSim",
        "TokenSim",
        "Soft-SPICE",
        "CHAIR",
        "Learned",
        "LCEval",
        "NNEval",
        "CaptiousScore",
    )
    return [name for name in registry.of_family("all") if not name.startswith(others)]


def rated(data: Path, captions: int | None) -> tuple[list[list[str]], list[list[str]]]:
    """Captions and references of both sets, without own references."""
    from captious.agreement import RatedCaptions, load_judgements

    groups: list[list[str]] = []
    references: list[list[str]] = []
    for name in ("flickr8k-expert", "flickr8k-cf"):
        judged = load_judgements(name, data)
        assert isinstance(judged, RatedCaptions) and judged.own is not None
        for caption, texts, own in zip(judged.captions, judged.references, judged.own):
            if not own:
                groups.append([caption])
                references.append(list(texts))
    return groups[:captions], references[:captions]


def clock() -> tuple[float, float]:
    times = os.times()
    return time.perf_counter(), times.user + times.system + times.children_user + times.children_system


def child(side: str, data: Path, captions: int | None) -> None:
    groups, references = rated(data, captions)
    if side == "theirs":
        start = clock()
        theirs(groups, references)
    else:
        from captious.agreement.study import score_captions
        from captious.metrics.registry import make_measures

        start = clock()
        names = COMMON if side == "common" else caption_metrics()
        score_captions(groups, references, make_measures(names, {}))
    wall, processor = (b - a for a, b in zip(start, clock()))
    print(
        json.dumps({"wall": wall, "processor": processor, "captions": len(groups), "peak": peak_megabytes()})
    )


def theirs(groups: list[list[str]], references: list[list[str]]) -> None:
    import contextlib
    import io

    from pycocoevalcap.bleu.bleu import Bleu
    from pycocoevalcap.cider.cider import Cider
    from pycocoevalcap.meteor.meteor import Meteor
    from pycocoevalcap.rouge.rouge import Rouge
    from pycocoevalcap.tokenizer.ptbtokenizer import PTBTokenizer

    with contextlib.redirect_stdout(io.StringIO()):
        tokenizer = PTBTokenizer()
        gts = tokenizer.tokenize({i: [{"caption": c} for c in cs] for i, cs in enumerate(references)})
        res = tokenizer.tokenize({i: [{"caption": c[0]}] for i, c in enumerate(groups)})
        for scorer in (Bleu(4), Meteor(), Rouge(), Cider()):
            scorer.compute_score(gts, res)


def java_spice(data: Path, jars: Path, images: int, captions: int) -> tuple[float, float]:
    """Wall clock and processor time of Java SPICE on so many captions, from two samples."""
    from benchmarks.spice import java

    groups, references = rated(data, images)
    rows = [{"caption": c[0], "references": r} for c, r in zip(groups, references)]
    few = images // 4
    with tempfile.TemporaryDirectory() as name:
        small, large = (java(rows[:number], jars, Path(name)) for number in (few, images))
    wall, processor = (b + (b - a) / (images - few) * (captions - images) for a, b in zip(small, large))
    return wall, processor


def bootstrap(data: Path) -> None:
    from captious.agreement import Study, load_judgements
    from captious.agreement.resampling import resample_counts

    table = Study.of(load_judgements("flickr8k-expert", data), "ROUGE-L").whole
    for counts in resample_counts(table.units, 2):
        table.resampled("ROUGE-L", counts)  # loads the library of kernels
    start = time.perf_counter()
    for counts in resample_counts(table.units, 1000):
        table.resampled("ROUGE-L", counts)
    print(
        f"bootstrap of tau-c: 1,000 resamples of {len(table):,} rows in {time.perf_counter() - start:.2f} s"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="agreement beside pycocoevalcap")
    parser.add_argument("--captions", type=int, help="only the first so many captions")
    parser.add_argument("--java", type=Path, help="folder with the jars of Java SPICE and CoreNLP")
    parser.add_argument("--java-images", type=int, default=160)
    parser.add_argument("--ours", action="store_true", help="only our side")
    parser.add_argument(
        "--data", type=Path, default=Path(os.environ.get("CAPTIOUS_DATA") or ROOT.parent / "shared" / "data")
    )
    parser.add_argument("--child", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        child(given.child, given.data, given.captions)
        return
    more = ["--data", str(given.data), *(["--captions", str(given.captions)] if given.captions else [])]
    in_child(
        "benchmarks.agreement", "--child", "all", "--data", str(given.data), "--captions", "200"
    )  # fills the cache, once on a machine
    mine = in_child("benchmarks.agreement", "--child", "all", *more)
    print(
        f"captious, {len(caption_metrics())} metrics on {mine['captions']:,} captions × 5 references: {mine['wall']:.1f} s "
        f"({mine['processor']:.1f} s of processor time), {mine['peak']:.0f} MB"
    )
    bootstrap(given.data)
    if given.ours:
        return
    common = in_child("benchmarks.agreement", "--child", "common", *more)
    other = in_child("benchmarks.agreement", "--child", "theirs", *more)
    print(f"  {', '.join(COMMON)}")
    print(f"  pycocoevalcap  {other['wall']:8.1f} s ({other['processor']:.1f} s of processor time)")
    print(
        f"  captious       {common['wall']:8.1f} s ({common['processor']:.1f} s): {other['wall'] / common['wall']:.1f} × wall clock, "
        f"{other['processor'] / common['processor']:.1f} × processor time"
    )
    if given.java:
        wall, processor = java_spice(given.data, given.java, given.java_images, mine["captions"])
        whole, effort = other["wall"] + wall, other["processor"] + processor
        print(
            f"  Java SPICE, from {given.java_images} captions: {wall:.0f} s ({processor:.0f} s of processor time)"
        )
        print(
            f"  pycocoevalcap with SPICE {whole:.0f} s beside all our metrics {mine['wall']:.1f} s: {whole / mine['wall']:.0f} × wall "
            f"clock, {effort / mine['processor']:.0f} × processor time"
        )


if __name__ == "__main__":
    sys.exit(main())
