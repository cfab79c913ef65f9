"""Long captions, as of vision-language models: metrics beside their reference tools, and growth with length.

    python -m benchmarks.long [--images 1000] [--java DIR] [--json OUT] [--parts tools,alone,spice,growth]

Captions have 300 words and five references of 100 (:class:`benchmarks.captions.LongTexts`). Each metric runs
in fresh processes, from files to scores, on both sides. The peers are pycocoevalcap, which runs the jar of
METEOR, and gensim for WMD. The values of all captions are compared.

Java SPICE (DIR is the folder of its jars) takes minutes per image: the COCO tools remove punctuation, so it
parses one sentence of 300 words, and its time grows with the cube of the length. It is timed on a few images,
less the time for one image with very short captions, and extrapolated. It is also timed on four times as many
images with the text as written, which it splits into sentences. There, ours reads the tokens with punctuation
(``--tokenizer none``). F of these images is compared, with our parser and with the exact one.

Growth is processor milliseconds per thousand words, with one thread, of captions against references of the
same length. The total number of words is the same for all lengths.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import tempfile
import time
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import wmd
from benchmarks.captions import LongTexts, write_coco
from benchmarks.spice import java_seconds, our_run
from benchmarks.steps import Steps, Target, with_targets
from benchmarks.timing import Run, captious_score, python, quickest

WORDS, REFERENCE_WORDS = 300, 100
LENGTHS = (100, 200, 400, 800, 1_600, 3_200, 6_400, 10_000)
#: Words of all captions of one length together.
TOTAL_WORDS = 12_800
METRICS = "BLEU-4,ROUGE-L,CIDEr-D,METEOR,SPICE,SPICE-U,HWCM-4,CHAIRi,WMD,WEmbSim,Recall-1"
TOOLS = ("BLEU-4", "ROUGE-L", "CIDEr-D", "METEOR")
ALONE = ("SPICE", "SPICE-U", "HWCM-4", "CHAIRi", "WMD", "WEmbSim")
PARTS = ("tools", "alone", "spice", "growth")
MODELS = "stanford-corenlp-3.6.0-models.jar"
#: Shortest length whose constant costs hardly count, and the largest exponent of the length that time, words
#: included, may grow with from there on.
LEAST_LENGTH, EXPONENT = 400, 1.2
#: Memory of Java SPICE. 4 GB are not enough for a sentence of 300 words.
HEAP = "9G"
#: Input of Java SPICE that takes hardly longer than its start.
_TINY = [{"caption": "a dog", "references": ["a dog"]}]
#: Kinds of text that SPICE reads, and their rows in the table.
MODES = {
    "words": "as the COCO tools pass it, a sentence of 300 words",
    "sentences": "as written, in sentences",
}


def relative_difference(a: float, b: float) -> float:
    """Return the difference relative to the larger value.

    CIDEr-D of captions three times as long as their references is about 1e-240.
    """
    return abs(a - b) / max(abs(a), abs(b)) if a != b else 0.0


class LongCaptions:
    """Captions and files, made when they are first needed."""

    def __init__(self, folder: Path, images: int) -> None:
        self.folder, self.images = folder, images

    @cached_property
    def rows(self) -> list[tuple[str, list[str]]]:
        return LongTexts().rows(self.images, WORDS, REFERENCE_WORDS)

    @cached_property
    def files(self) -> tuple[Path, Path]:
        references = {str(i): texts for i, (_, texts) in enumerate(self.rows)}
        return write_coco(self.folder, references, {str(i): text for i, (text, _) in enumerate(self.rows)})

    def values(self, metric: str) -> dict[str, float]:
        """Return our values by image."""
        path = self.folder / "values.csv"
        Run(captious_score(*self.files, metric, "--per-image", str(path)))
        with path.open(newline="", encoding="utf-8") as lines:
            return {row["image_id"]: float(row[metric]) for row in csv.DictReader(lines)}

    def beside_tool(self, metric: str, times: int) -> dict[str, float]:
        """Time a metric and its tool. Ours runs before and after the tool."""
        values = self.values(metric)  # fills captious's cache
        command = captious_score(*self.files, metric)
        runs = [Run(command) for _ in range(times)]
        path = self.folder / "peer.json"
        peer = Run(python("benchmarks.pycocoevalcap_peer", *map(str, self.files), metric, str(path)))
        ours = quickest([*runs, Run(command)])
        theirs = json.loads(path.read_text())[metric]
        assert theirs.keys() == values.keys()
        return {
            "peer": peer.wall,
            "peer processor": peer.processor,
            "ours": ours.wall,
            "ours processor": ours.processor,
            "difference": max(relative_difference(values[image], theirs[image]) for image in values),
        }

    def alone(self, metric: str, times: int) -> dict[str, float]:
        """Time a metric."""
        self.values(metric)
        run = quickest([Run(captious_score(*self.files, metric)) for _ in range(times)])
        return {"images": self.images, "ours": run.wall, "ours processor": run.processor}

    def gensim(self, images: int = 100) -> dict[str, float]:
        """Time the word mover's distances of captions from one reference each, with one thread."""
        from captious.core.threads import working
        from captious.vectors import get

        captions, references = zip(*self.rows[:images])
        groups = [[text] for text in captions], [texts[:1] for texts in references]
        with working(1):
            ours_time, gensim_time, ours, theirs = wmd.compare(*groups, get("glove-6b-50d"))
        return {
            "peer": gensim_time,
            "ours": ours_time,
            "difference": float((np.abs(ours - theirs) / theirs).max()),
        }

    def sample(self, images: int, mode: str, *, plain: bool) -> list[dict[str, Any]]:
        """Return images for SPICE.

        In mode "words", texts are words without punctuation, as the COCO tools pass them. In mode
        "sentences", they are tokens with punctuation, or plain text for Java.
        """
        from captious.text import ptb

        def convert(text: str) -> str:
            if mode == "words":
                return " ".join(ptb.tokenize(text))
            return text if plain else " ".join(ptb.tokenize(text, True, lowercase=False))

        return [
            {"caption": convert(text), "references": [convert(reference) for reference in references]}
            for text, references in self.rows[:images]
        ]

    def java(self, jars: Path, images: int, mode: str) -> dict[str, Any]:
        """Return Java SPICE's seconds to start and per image, and F."""
        start = java_seconds(_TINY, jars, self.folder, HEAP)
        total = java_seconds(self.sample(images, mode, plain=True), jars, self.folder, HEAP)
        rows = json.loads((self.folder / "java_out.json").read_text())
        return {
            "start": start.wall,
            "start processor": start.processor,
            "image": (total.wall - start.wall) / images,
            "image processor": (total.processor - start.processor) / images,
            "f": [row["scores"]["All"]["f"] for row in sorted(rows, key=lambda row: int(row["image_id"]))],
        }

    def spice(self, images: int, mode: str, parser: str) -> dict[str, Any]:
        """Return our F of the same images, and processor seconds of an image."""
        rows = self.sample(images, mode, plain=False)
        our_run(rows[:1], self.folder, parser)
        first, _ = our_run(rows[:1], self.folder, parser)
        run, ours = our_run(rows, self.folder, parser)
        seconds = (run.processor - first.processor) / max(images - 1, 1)
        return {"image processor": seconds, "f": ours["f"]}


class Lengths:
    """Processor milliseconds per thousand words at one length, in this process."""

    @cached_property
    def loaded(self) -> tuple[LongTexts, list[Any]]:
        """Texts and measures, with kernels and tables loaded."""
        from captious.metrics.registry import make_measures

        texts, measures = LongTexts(), make_measures(METRICS, {"vectors": "default"})
        for words in (50, 400):
            self._measure(texts, measures, words)
        return texts, measures

    @staticmethod
    def _measure(texts: LongTexts, measures: list[Any], words: int) -> dict[str, float]:
        from captious.corpus import Corpus

        images = max(TOTAL_WORDS // words, 2)
        rows = texts.rows(images, words, words)
        start = time.process_time()
        corpus = Corpus.build(
            [str(i) for i in range(images)], [[text] for text, _ in rows], [own for _, own in rows]
        )
        seconds = {"words": time.process_time() - start}
        for measure in measures:
            start = time.process_time()
            measure.statistics(corpus, measure.prepare(corpus.references))
            seconds[measure.name] = time.process_time() - start
        return {name: 1e6 * spent / (images * words) for name, spent in seconds.items()}

    def measure(self, words: int) -> dict[str, float]:
        from captious.core.threads import working

        with working(1):
            return self._measure(*self.loaded, words)


def measure(
    steps: Steps,
    images: int,
    times: int,
    jars: Path | None,
    java_images: int,
    parts: tuple[str, ...] = PARTS,
    longest: int = LENGTHS[-1],
) -> None:
    """Measure all steps of the section ``long``."""
    step = partial(steps.measure, "long")
    with tempfile.TemporaryDirectory() as folder:
        captions = LongCaptions(Path(folder), images)
        settings = {"images": images, "times": times}
        if "tools" in parts:
            for metric in TOOLS:
                step(metric, settings, partial(captions.beside_tool, metric, times))
            step("WMD, gensim", {}, captions.gensim)
        if "alone" in parts:
            for metric in ALONE:
                step(f"{metric}, alone", settings, partial(captions.alone, metric, times))
        if "spice" in parts and jars is not None:
            for mode, number in (("words", java_images), ("sentences", 4 * java_images)):
                size = {"images": number}
                step(f"Java SPICE, {mode}", size, partial(captions.java, jars, number, mode), ours=False)
                for name, parser in (("small", "small"), ("exact", f"exact={jars / MODELS}")):
                    work = partial(captions.spice, number, mode, parser)
                    step(f"SPICE of the sample, {mode}, {name}", size, work)
        if "growth" in parts:
            lengths = Lengths()
            for words in (words for words in LENGTHS if words <= longest):
                step(f"growth, {words} words", {}, partial(lengths.measure, words))


def table(results: dict[str, Any]) -> str:
    """Format times beside the tools."""
    lines = [
        "| | peer | ours | | processor | largest relative difference |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for metric in TOOLS:
        if row := results.get(metric):
            ratios = row["peer"] / row["ours"], row["peer processor"] / row["ours processor"]
            times = f"{row['peer']:,.1f} s | {row['ours']:.2f} s | {ratios[0]:,.0f}× | {ratios[1]:,.0f}×"
            lines.append(f"| {metric} | {times} | {row['difference']:.1g} |")
    for metric in ALONE:
        row = results.get(f"{metric}, alone")
        if row is None:
            continue
        java = results.get("Java SPICE, words") if metric == "SPICE" else None
        cells = ["–", f"{row['ours']:.2f} s", "", ""]
        if java is not None:
            wall, processor = (
                java[f"start{key}"] + java[f"image{key}"] * row["images"] for key in ("", " processor")
            )
            cells[0] = f"{wall:,.0f} s"
            cells[2:] = f"{wall / row['ours']:,.0f}×", f"{processor / row['ours processor']:,.0f}×"
        lines.append(f"| {metric} | {' | '.join(cells)} | |")
    if row := results.get("WMD, gensim"):
        times = f"{row['peer']:.2f} s | {row['ours']:.3f} s | {row['peer'] / row['ours']:,.0f}×"
        lines.append(f"| WMD beside gensim, 100 distances | {times} | | {row['difference']:.1g} |")
    return "\n".join(lines)


def spice_table(results: dict[str, Any]) -> str:
    """Format F of SPICE on the sample: Java's mean, and our means with the largest distance from Java."""
    lines = [
        "| SPICE of a sample | images | Java, an image | F, Java | F, ours | F, exact parser |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for mode, label in MODES.items():
        java = results.get(f"Java SPICE, {mode}")
        if java is not None:
            cells = [f"{len(java['f'])}", f"{java['image processor']:.1f} s", f"{np.mean(java['f']):.4f}"]
            for parser in ("small", "exact"):
                row = results.get(f"SPICE of the sample, {mode}, {parser}")
                distance = np.abs(np.subtract(row["f"], java["f"])).max() if row else None
                cells.append(f"{np.mean(row['f']):.4f} (± {distance:.1g})" if row else "–")
            lines.append(f"| {label} | {' | '.join(cells)} |")
    return "\n".join(lines) if len(lines) > 2 else ""


def by_length(results: dict[str, Any]) -> dict[int, dict[str, float]]:
    rows = {int(step.split()[1]): row for step, row in results.items() if step.startswith("growth, ")}
    return dict(sorted(rows.items()))


def growth_table(results: dict[str, Any]) -> str:
    """Format milliseconds per thousand words."""
    rows = by_length(results)
    if not rows:
        return ""
    names = list(next(iter(rows.values())))
    head = f"| words | {' | '.join('tokens' if name == 'words' else name for name in names)} |"
    cells = {words: " | ".join(f"{row[name]:.1f}" for name in names) for words, row in rows.items()}
    lines = [f"| {words:,} | {text} |" for words, text in cells.items()]
    return "\n".join([head, "|---:" * (len(names) + 1) + "|", *lines])


def targets(results: dict[str, Any]) -> list[Target]:
    """Values equal to the tools', and growth with length as a power of it."""
    checks = []
    for metric in (metric for metric in TOOLS if metric in results):
        difference = results[metric]["difference"]
        subject = f"{metric}, largest relative difference of a caption"
        checks.append(Target(subject, "below 1e-9", f"{difference:.1g}", difference < 1e-9))
    rows = {words: row for words, row in by_length(results).items() if words >= LEAST_LENGTH}
    if len(rows) > 2:
        for name in next(iter(rows.values())):
            if name != "words":
                # Every metric needs the words, so a part that is small beside them may grow faster.
                logs = [math.log(row["words"] + row[name]) for row in rows.values()]
                power = 1 + float(np.polyfit([math.log(words) for words in rows], logs, 1)[0])
                subject = f"{name}, time as a power of the length"
                checks.append(Target(subject, f"at most {EXPONENT:g}", f"{power:.2f}", power <= EXPONENT))
    return checks


def report(results: dict[str, Any]) -> str:
    growth = with_targets(growth_table(results), targets(results))
    return "\n\n".join(filter(None, [table(results), spice_table(results), growth]))


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("--images", type=int, default=1_000)
    arguments.add_argument("--times", type=int, default=2, help="runs of each command")
    arguments.add_argument("--java", type=Path, help="folder with the jars of Java SPICE")
    arguments.add_argument("--java-images", type=int, default=2)
    arguments.add_argument("--parts", default=",".join(PARTS))
    arguments.add_argument("--longest", type=int, default=LENGTHS[-1], help="longest captions of the growth")
    arguments.add_argument("--json", type=Path, help="file of results, to continue a stopped run")
    options = arguments.parse_args()
    steps = Steps(options.json)
    parts = tuple(options.parts.split(","))
    measure(steps, options.images, options.times, options.java, options.java_images, parts, options.longest)
    print(report(steps.results("long")))


if __name__ == "__main__":
    main()
