"""Long captions, as vision-language models write them: every metric beside its reference tool, and growth with length.

    python -m benchmarks.long [--images 1000] [--java DIR] [--java-images 8] [--json OUT]
    python -m benchmarks.long --growth [--most 10000] [--metrics NAME,…] [--json OUT]

Captions of 300 words and references of 100 are real captions put one after another as sentences, by a seeded script.
Fresh processes from files to numbers, processor seconds on both sides. The peers are those of pycocoevalcap, which runs the jar of
METEOR; their tokenizer is timed apart. Java SPICE is timed on two small samples and carried to all (DIR is the folder with its jars). ``--growth`` shows processor milliseconds per thousand words for longer and
longer captions, of which there are fewer and fewer; a measure that grows with the square of the length would double in each row.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.common import coco
from benchmarks.process import Run, score
from benchmarks.spice import java
from captious.corpus import Corpus
from captious.measures.making import make_measures
from captious.threads import working

WORDS, REFERENCE_WORDS, REFERENCES = 300, 100, 5
LENGTHS = (50, 100, 200, 400, 800, 1_600, 3_200, 6_400, 10_000)
METRICS = "BLEU-4,ROUGE-L,CIDEr-D,CIDEr,METEOR,SPICE,WMD,WEmbSim,HWCM-4,Recall-1,SPICE-U"


class Writer:
    """Long texts of real sentences."""

    def __init__(self, seed: int = 0) -> None:
        references, predictions = coco()
        self.draw = random.Random(seed)
        self.sentences = [self._sentence(text) for own in references.values() for text in own]
        self.predicted = [self._sentence(text) for text in predictions.values()]

    @staticmethod
    def _sentence(text: str) -> str:
        text = text.strip().rstrip(".").strip()
        return f"{text[:1].upper()}{text[1:]}."

    def text(self, words: int, own: bool) -> str:
        """Sentences until there are so many words, the last one cut."""
        found: list[str] = []
        while len(found) < words:
            found += self.draw.choice(self.predicted if own else self.sentences).split()
        return " ".join(found[:words])

    def rows(self, images: int, words: int, reference_words: int) -> list[tuple[str, list[str]]]:
        """Captions with their references."""
        return [(self.text(words, True), [self.text(reference_words, False) for _ in range(REFERENCES)]) for _ in range(images)]


def growth(metrics: str, most: int, total: int) -> dict[str, dict[int, float]]:
    """Processor milliseconds per thousand words of the captions, by metric and length; references are as long as captions."""
    writer = Writer()
    told: dict[str, dict[int, float]] = {}
    made = make_measures(metrics, {})
    for words in LENGTHS:
        if words > most:
            break
        images = max(total // words, 2)
        rows = writer.rows(images, words, words)
        start = time.process_time()
        corpus = Corpus.build([str(i) for i in range(images)], [[text] for text, _ in rows], [own for _, own in rows])
        spent = {"words": time.process_time() - start}
        for measure in made:
            start = time.process_time()
            measure.statistics(corpus, measure.prepare(corpus.references))
            spent[measure.name] = time.process_time() - start
        for name, seconds in spent.items():
            told.setdefault(name, {})[words] = 1e6 * seconds / (images * words)
        print(f"{words:6d} " + "  ".join(f"{name} {told[name][words]:.1f}" for name in spent), flush=True)
    return told


_PEER = """
import contextlib, io, json, os, sys
def spent():
    return sum(os.times()[:4])
told, start = {}, spent()
with contextlib.redirect_stdout(io.StringIO()):
    from pycocotools.coco import COCO
    from pycocoevalcap.bleu.bleu import Bleu
    from pycocoevalcap.cider.cider import Cider
    from pycocoevalcap.meteor.meteor import Meteor
    from pycocoevalcap.rouge.rouge import Rouge
    from pycocoevalcap.tokenizer.ptbtokenizer import PTBTokenizer
    coco = COCO(sys.argv[1])
    results = coco.loadRes(sys.argv[2])
    gts = PTBTokenizer().tokenize({i: coco.imgToAnns[i] for i in results.getImgIds()})
    res = PTBTokenizer().tokenize({i: results.imgToAnns[i] for i in results.getImgIds()})
    told["words"] = spent() - start
    for name, kind in (("BLEU-4", lambda: Bleu(4)), ("ROUGE-L", Rouge), ("CIDEr-D", Cider), ("METEOR", Meteor)):
        start = spent()
        scorer = kind()
        value = scorer.compute_score(gts, res)[0]
        if name == "METEOR":
            # Its processor time is known when it has ended.
            scorer.meteor_p.stdin.close()
            scorer.meteor_p.wait()
        told[name] = [spent() - start, value[3] if name == "BLEU-4" else float(value)]
print(json.dumps(told))
"""


def compare(images: int, jars: Path | None, java_images: int) -> dict[str, Any]:
    """Processor seconds of both sides by metric, and both values."""
    rows = Writer().rows(images, WORDS, REFERENCE_WORDS)
    told: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files = folder / "references.json", folder / "results.json"
        annotations = [{"image_id": i, "id": REFERENCES * i + k, "caption": text} for i, (_, own) in enumerate(rows) for k, text in enumerate(own)]
        files[0].write_text(json.dumps({"info": {}, "licenses": [], "type": "captions", "images": [{"id": i} for i in range(images)], "annotations": annotations}))
        files[1].write_text(json.dumps([{"image_id": i, "caption": text} for i, (text, _) in enumerate(rows)]))
        peers = json.loads(Run([sys.executable, "-c", _PEER, *map(str, files)]).output.splitlines()[-1])
        if jars is not None:
            few = [{"caption": text, "references": own} for text, own in rows[:java_images]]
            small, large = java(few[: java_images // 4], jars, folder)[1], java(few, jars, folder)[1]
            peers["SPICE"] = [small + (large - small) / (java_images - java_images // 4) * (images - java_images // 4), None]
        for metric in ("BLEU-4", "ROUGE-L", "CIDEr-D", "METEOR", "SPICE"):
            Run(score(*files, metric))  # compiles kernels, once on a machine
            run = Run(score(*files, metric))
            told[metric] = {"ours": run.processor, "value": float(run.output.splitlines()[-1].split(",")[1])}
            if metric in peers:
                words = 0.0 if metric == "SPICE" else peers["words"]
                told[metric] |= {"peer": words + peers[metric][0], "peer value": peers[metric][1]}
            print(metric, told[metric], flush=True)
    return told


def table(told: dict[str, Any]) -> str:
    lines = ["| | peer | ours | |", "|---|---:|---:|---:|"]
    for metric, times in told.items():
        peer, ours = times.get("peer"), times["ours"]
        lines.append(f"| {metric} | {f'{peer:,.1f} s' if peer else '–'} | {ours:.2f} s | {f'{peer / ours:,.0f}×' if peer else ''} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--images", type=int, default=1_000)
    parser.add_argument("--java", type=Path)
    parser.add_argument("--java-images", type=int, default=8)
    parser.add_argument("--growth", action="store_true")
    parser.add_argument("--most", type=int, default=10_000)
    parser.add_argument("--words", type=int, default=6_400, help="words of the captions of one length together")
    parser.add_argument("--metrics", default=METRICS)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    if given.growth:
        with working(1):
            told: Any = growth(given.metrics, given.most, given.words)
    else:
        told = compare(given.images, given.java, given.java_images)
        print(table(told))
    if given.json is not None:
        given.json.write_text(json.dumps(told, indent=1))


if __name__ == "__main__":
    main()
