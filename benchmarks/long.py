"""Long captions, as vision-language models write them: every metric beside its reference tool, and growth with length.

    python -m benchmarks.long [--images 1000] [--java DIR] [--java-images 2] [--json OUT] [--parts tools,alone,spice,growth]

Captions of 300 words and five references of 100 (:mod:`benchmarks.long_text`). Fresh processes from files to numbers on both sides, each metric
in one of its own, so that both read, tokenize and start each time. The peers are those of pycocoevalcap, which runs the jar of
METEOR, and gensim for WMD. The values of all captions are compared.

Java SPICE (DIR is the folder with its jars) takes minutes for an image, because the COCO tools give it words without punctuation, hence a sentence of
300 words, and its time grows with the cube of that. It is timed on few images, less the time of one with captions of a few
words, and carried to all. It is also timed on the text as it was written, which it divides into sentences, four times as many images. There, ours is given
the tokens with their punctuation (``--tokenizer none``). F of these images is compared, with our parser and with the exact one.

Growth is processor milliseconds per thousand words of captions against references of the same length, with one thread. Of longer captions there are fewer.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import sys
import tempfile
import time
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.bars import Bar, show
from benchmarks.common import write_coco
from benchmarks.kept import Kept
from benchmarks.long_text import Writer
from benchmarks.process import Run, in_turn, quickest, score
from benchmarks.spice import java, ours

WORDS, REFERENCE_WORDS = 300, 100
LENGTHS = (100, 200, 400, 800, 1_600, 3_200, 6_400, 10_000)
#: Of captions of one length, so many words together.
TOTAL = 12_800
METRICS = "BLEU-4,ROUGE-L,CIDEr-D,METEOR,SPICE,SPICE-U,HWCM-4,CHAIRi,WMD,WEmbSim,Recall-1"
TOOLS = ("BLEU-4", "ROUGE-L", "CIDEr-D", "METEOR")
ALONE = ("SPICE", "SPICE-U", "HWCM-4", "CHAIRi", "WMD", "WEmbSim")
PARTS = ("tools", "alone", "spice", "growth")
MODELS = "stanford-corenlp-3.6.0-models.jar"
#: From this length on, what a metric does once hardly counts, and time, that for the words included, should grow as the length to this power at most.
FROM, POWER = 400, 1.2
#: For a sentence of 300 words, the 4 GB that are enough otherwise are not.
HEAP = "9G"
#: Captions for Java SPICE that take next to no time: what is left is its start.
_TINY = [{"caption": "a dog", "references": ["a dog"]}]

_PEER = """
import contextlib, importlib, io, json, sys
module, kind = {"BLEU-4": ("bleu", "Bleu"), "ROUGE-L": ("rouge", "Rouge"), "CIDEr-D": ("cider", "Cider"), "METEOR": ("meteor", "Meteor")}[sys.argv[3]]
with contextlib.redirect_stdout(io.StringIO()):
    from pycocotools.coco import COCO
    from pycocoevalcap.tokenizer.ptbtokenizer import PTBTokenizer
    scorer = getattr(importlib.import_module(f"pycocoevalcap.{module}.{module}"), kind)
    coco = COCO(sys.argv[1])
    results = coco.loadRes(sys.argv[2])
    images = results.getImgIds()
    gts = PTBTokenizer().tokenize({i: coco.imgToAnns[i] for i in images})
    res = PTBTokenizer().tokenize({i: results.imgToAnns[i] for i in images})
    made = scorer(4) if kind == "Bleu" else scorer()
    value, values = made.compute_score(gts, res)
    if kind == "Bleu":
        value, values = value[3], values[3]
    if kind == "Meteor":
        # Its processor time is known when it has ended.
        made.meteor_p.stdin.close()
        made.meteor_p.wait()
print(json.dumps({"value": float(value), "values": {str(i): float(v) for i, v in zip(gts, values)}}))
"""

_GENSIM = """
import json, sys, time
import numpy as np
from benchmarks.wmd import gensim_distances
from captious.corpus import Corpus
from captious.metrics.wmd import nearest_distances
from captious.vectors import get
from captious.threads import working
rows = json.load(open(sys.argv[1]))
vectors = get("glove-6b-50d")
few, built = (Corpus.build([str(i) for i in range(len(part))], [[text] for text, _ in part], [own[:1] for _, own in part]) for part in (rows[:5], rows))
with working(1):
    nearest_distances(few, vectors)
    start = time.perf_counter()
    found = nearest_distances(built, vectors)
    spent = time.perf_counter() - start
theirs, their_time = gensim_distances(built, vectors)
print(json.dumps({"peer": their_time, "ours": spent, "difference": float((np.abs(found - theirs) / theirs).max())}))
"""


def relative(one: float, other: float) -> float:
    """How far two values are apart, in parts of the larger: CIDEr-D of captions three times as long as their references is about 1e-240."""
    return abs(one - other) / max(abs(one), abs(other)) if one != other else 0.0


class Long:
    """The files, written when they are first needed."""

    def __init__(self, folder: Path, images: int) -> None:
        self.folder, self.images = folder, images

    @cached_property
    def rows(self) -> list[tuple[str, list[str]]]:
        return Writer().rows(self.images, WORDS, REFERENCE_WORDS)

    @cached_property
    def files(self) -> tuple[Path, Path]:
        return write_coco(
            self.folder,
            {str(i): own for i, (_, own) in enumerate(self.rows)},
            {str(i): text for i, (text, _) in enumerate(self.rows)},
        )

    def values(self, metric: str) -> dict[str, float]:
        """Ours, by image."""
        out = self.folder / "values.csv"
        Run(score(*self.files, metric, "--per-image", str(out)))
        with out.open(newline="", encoding="utf-8") as lines:
            return {row["image_id"]: float(row[metric]) for row in csv.DictReader(lines)}

    def beside(self, metric: str, times: int) -> dict[str, float]:
        """A metric and its tool: ours before and after it."""
        values = self.values(metric)  # fills the cache, once on a machine
        before = in_turn(times, {"": score(*self.files, metric)})[""]
        peer = Run([sys.executable, "-c", _PEER, *map(str, self.files), metric])
        run = quickest(before + in_turn(1, {"": score(*self.files, metric)})[""])
        theirs = json.loads(peer.output.splitlines()[-1])["values"]
        assert theirs.keys() == values.keys()
        return {
            "peer": peer.wall, "peer processor": peer.processor, "ours": run.wall, "ours processor": run.processor,
            "difference": max(relative(values[image], theirs[image]) for image in values),
        }  # fmt: skip

    def alone(self, metric: str, times: int) -> dict[str, float]:
        """A metric by itself."""
        self.values(metric)
        run = quickest(in_turn(times, {"": score(*self.files, metric)})[""])
        return {"images": self.images, "ours": run.wall, "ours processor": run.processor}

    def gensim(self, images: int = 100) -> dict[str, float]:
        """WMD and gensim, the distances alone, each of a caption and one reference."""
        source = self.folder / "rows.json"
        source.write_text(json.dumps(self.rows[:images]))
        found: dict[str, float] = json.loads(
            Run([sys.executable, "-c", _GENSIM, str(source)]).output.splitlines()[-1]
        )
        return found

    def sample(self, images: int, sentences: bool, *, plain: bool) -> list[dict[str, Any]]:
        """Some images for SPICE: words as the COCO tools give them, without punctuation; or with sentences, for Java plain text, for us its tokens."""
        from captious.text import ptb

        def made(text: str) -> str:
            if sentences:
                return text if plain else " ".join(ptb.tokenize(text, True, lowercase=False))
            return " ".join(ptb.tokenize(text))

        return [
            {"caption": made(text), "references": [made(one) for one in own]}
            for text, own in self.rows[:images]
        ]

    def java(self, jars: Path, images: int, sentences: bool) -> dict[str, Any]:
        """Java SPICE: seconds of its start, and of an image; and F."""
        start, all_of_them = (
            java(rows, jars, self.folder, HEAP)
            for rows in (_TINY, self.sample(images, sentences, plain=True))
        )
        found = json.loads((self.folder / "java_out.json").read_text())
        wall, processor = ((b - a) / images for a, b in zip(start, all_of_them))
        return {
            "start": start[0],
            "start processor": start[1],
            "image": wall,
            "image processor": processor,
            "f": [row["scores"]["All"]["f"] for row in sorted(found, key=lambda row: int(row["image_id"]))],
        }

    def spice(self, images: int, sentences: bool, parser: str) -> dict[str, Any]:
        """Ours on the same images: F, and processor seconds of one more image."""
        rows = self.sample(images, sentences, plain=False)
        ours(rows[:1], self.folder, parser)
        one, found = (ours(part, self.folder, parser) for part in (rows[:1], rows))
        return {
            "image processor": (found["processor"] - one["processor"]) / max(images - 1, 1),
            "f": found["f"],
        }


class Lengths:
    """Growth with length, in this process."""

    @cached_property
    def ready(self) -> tuple[Writer, list[Any]]:
        """What is loaded once."""
        from captious.metrics.registry import make_measures

        writer, made = Writer(), make_measures(METRICS, {"vectors": "default"})
        for words in (50, 400):
            self.once(writer, made, words)
        return writer, made

    @staticmethod
    def once(writer: Writer, made: list[Any], words: int) -> dict[str, float]:
        from captious.corpus import Corpus

        images = max(TOTAL // words, 2)
        rows = writer.rows(images, words, words)
        start = time.process_time()
        corpus = Corpus.build(
            [str(i) for i in range(images)], [[text] for text, _ in rows], [own for _, own in rows]
        )
        spent = {"words": time.process_time() - start}
        for measure in made:
            start = time.process_time()
            measure.statistics(corpus, measure.prepare(corpus.references))
            spent[measure.name] = time.process_time() - start
        return {name: 1e6 * seconds / (images * words) for name, seconds in spent.items()}

    def of(self, words: int) -> dict[str, float]:
        from captious.core.threads import working

        with working(1):
            return self.once(*self.ready, words)


def measure(
    kept: Kept,
    images: int,
    times: int,
    jars: Path | None,
    java_images: int,
    parts: tuple[str, ...] = PARTS,
    most: int = LENGTHS[-1],
) -> None:
    """All steps of the section ``long``."""
    with tempfile.TemporaryDirectory() as name:
        long = Long(Path(name), images)
        size = {"images": images}
        if "tools" in parts:
            for metric in TOOLS:
                kept.step("long", metric, {**size, "times": times}, partial(long.beside, metric, times))
            kept.step("long", "WMD, gensim", {}, long.gensim)
        if "alone" in parts:
            for metric in ALONE:
                kept.step(
                    "long", f"{metric}, alone", {**size, "times": times}, partial(long.alone, metric, times)
                )
        if "spice" in parts and jars is not None:
            for mode, sentences, some in (
                ("words", False, java_images),
                ("sentences", True, 4 * java_images),
            ):
                kept.step(
                    "long",
                    f"Java SPICE, {mode}",
                    {"images": some},
                    partial(long.java, jars, some, sentences),
                    ours=False,
                )
                for parser in ("small", f"exact={jars / MODELS}"):
                    kept.step(
                        "long",
                        f"SPICE of the sample, {mode}, {parser.partition('=')[0]}",
                        {"images": some},
                        partial(long.spice, some, sentences, parser),
                    )
        if "growth" in parts:
            lengths = Lengths()
            for words in LENGTHS:
                if words <= most:
                    kept.step("long", f"growth, {words} words", {}, partial(lengths.of, words))


def table(found: dict[str, Any]) -> str:
    """Beside the tools."""
    lines = [
        "| | peer | ours | | processor | largest relative difference |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for metric in TOOLS:
        if metric in found:
            row = found[metric]
            lines.append(
                f"| {metric} | {row['peer']:,.1f} s | {row['ours']:.2f} s | {row['peer'] / row['ours']:,.0f}× | {row['peer processor'] / row['ours processor']:,.0f}× | {row['difference']:.1g} |"
            )
    for metric in ALONE:
        row = found.get(f"{metric}, alone")
        if row is None:
            continue
        peer, cells = found.get("Java SPICE, words") if metric == "SPICE" else None, ("–", "", "")
        if peer is not None:
            whole, processor = (
                peer[f"start{key}"] + peer[f"image{key}"] * row["images"] for key in ("", " processor")
            )
            cells = (
                f"{whole:,.0f} s",
                f"{whole / row['ours']:,.0f}×",
                f"{processor / row['ours processor']:,.0f}×",
            )
        lines.append(f"| {metric} | {cells[0]} | {row['ours']:.2f} s | {cells[1]} | {cells[2]} | |")
    if "WMD, gensim" in found:
        row = found["WMD, gensim"]
        lines.append(
            f"| WMD beside gensim, 100 distances | {row['peer']:.2f} s | {row['ours']:.3f} s | {row['peer'] / row['ours']:,.0f}× | | {row['difference']:.1g} |"
        )
    return "\n".join(lines)


def spice_table(found: dict[str, Any]) -> str:
    """F of SPICE on the sample: the mean of Java's and of ours with either parser, and how far ours are from Java's at most."""
    lines = [
        "| SPICE of a sample | images | Java, an image | F, Java | F, ours | F, exact parser |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for mode, told in (
        ("words", "as the COCO tools give it, a sentence of 300 words"),
        ("sentences", "as written, in sentences"),
    ):
        peer = found.get(f"Java SPICE, {mode}")
        if peer is not None:
            ours = [found.get(f"SPICE of the sample, {mode}, {parser}") for parser in ("small", "exact")]
            cells = [
                f"{np.mean(row['f']):.4f} (± {np.abs(np.subtract(row['f'], peer['f'])).max():.1g})"
                if row
                else "–"
                for row in ours
            ]
            lines.append(
                f"| {told} | {len(peer['f'])} | {peer['image processor']:.1f} s | {np.mean(peer['f']):.4f} | {' | '.join(cells)} |"
            )
    return "\n".join(lines) if len(lines) > 2 else ""


def lengths(found: dict[str, Any]) -> dict[int, dict[str, float]]:
    rows = {int(step.split()[1]): row for step, row in found.items() if step.startswith("growth, ")}
    return dict(sorted(rows.items()))


def growth_table(found: dict[str, Any]) -> str:
    """Milliseconds per thousand words."""
    rows = lengths(found)
    if not rows:
        return ""
    names = list(next(iter(rows.values())))
    lines = [
        f"| words | {' | '.join(name if name != 'words' else 'tokens' for name in names)} |",
        "|---:" * (len(names) + 1) + "|",
    ]
    return "\n".join(
        lines
        + [
            f"| {words:,} | {' | '.join(f'{row[name]:.1f}' for name in names)} |"
            for words, row in rows.items()
        ]
    )


def bars(found: dict[str, Any]) -> list[Bar]:
    """Growth with length as a power of it, and values as those of the tools."""
    told = [
        Bar(
            f"{metric}, largest relative difference of a caption",
            "below 1e-9",
            f"{found[metric]['difference']:.1g}",
            found[metric]["difference"] < 1e-9,
        )
        for metric in TOOLS
        if metric in found
    ]
    rows = {words: row for words, row in lengths(found).items() if words >= FROM}
    if len(rows) > 2:
        for name in next(iter(rows.values())):
            if name != "words":
                # With the words, without which there is no metric: what is nothing beside them does not matter in practice.
                power = 1 + float(
                    np.polyfit(
                        [math.log(words) for words in rows],
                        [math.log(row["words"] + row[name]) for row in rows.values()],
                        1,
                    )[0]
                )
                told.append(
                    Bar(
                        f"{name}, time as a power of the length",
                        f"at most {POWER:g}",
                        f"{power:.2f}",
                        power <= POWER,
                    )
                )
    return told


def report(found: dict[str, Any]) -> str:
    return "\n\n".join(
        filter(None, [table(found), spice_table(found), show(growth_table(found), bars(found))])
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--images", type=int, default=1_000)
    parser.add_argument("--times", type=int, default=2)
    parser.add_argument("--java", type=Path)
    parser.add_argument("--java-images", type=int, default=2)
    parser.add_argument("--parts", default=",".join(PARTS))
    parser.add_argument("--most", type=int, default=LENGTHS[-1], help="the longest captions of the growth")
    parser.add_argument("--json", type=Path, help="where results are kept")
    given = parser.parse_args()
    kept = Kept(given.json)
    measure(
        kept,
        given.images,
        given.times,
        given.java,
        given.java_images,
        tuple(given.parts.split(",")),
        given.most,
    )
    print(report(kept.found("long")))


if __name__ == "__main__":
    main()
