"""What a person waits for: fresh processes, from COCO JSON files to numbers, beside the tools that captious replaces. ``python -m benchmarks.speed`` prints it.

Each row is a set of metrics. *peer* is pycocoevalcap (and for SPICE Java SPICE) in a process of its own, imports and tokenizer
included. *cold* is ``captious score`` on the same files, *prepared* the same against prepared references, *warm* a second system in a
process that has scored one. ``json.load`` is a process that reads both files and does nothing else.

The pace of a machine changes. So the peer of a row runs before and after ours, and between them ours run in turn (cold, prepared, warm, cold, …);
of each, the quickest run counts. All have run once before, on a few images, and have their modules as bytecode, as installed packages do.
Java SPICE takes half an hour: it is timed on two samples, one four times as large as the other, so that its start can be told from
its time per image. The peer of all eight metrics is the sum of those of METEOR's row and of SPICE's, between which it runs.
"""

from __future__ import annotations

import json
import sys
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from benchmarks.bars import Bar, check
from benchmarks.common import coco, write_coco
from benchmarks.kept import Kept
from benchmarks.process import Run, in_turn, quickest, score
from benchmarks.spice import java

LEXICAL, METEOR, SPICE, ALL, FIFTY = (
    "BLEU, ROUGE-L, CIDEr-D",
    "and METEOR",
    "SPICE",
    "all eight",
    "50 images, all eight",
)
SETS = {LEXICAL: "lexical", METEOR: "lexical,METEOR", SPICE: "SPICE", ALL: "lexical,METEOR,SPICE"}
COLUMNS = ("cold", "prepared", "warm")
#: What was promised, as multiples of the peer's speed: from files, and with prepared references; and what was hoped for.
BARS: dict[str, dict[str, tuple[float, float | None]]] = {
    LEXICAL: {"cold": (15, None), "prepared": (40, None)},
    METEOR: {"cold": (20, None), "prepared": (60, None)},
    SPICE: {"cold": (250, 400), "prepared": (1000, None)},
    ALL: {"cold": (200, None)},
}
#: All eight with prepared references: at most so many times what ``json.load`` takes; and fifty images: at most so many seconds.
LOADS, LOADS_AIM, FIFTY_SECONDS = 20, 10, 0.7

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

_LOAD = "import json, sys; [json.load(open(name)) for name in sys.argv[1:]]"


class Fresh:
    """Files, peers and commands, each made when it is first needed."""

    def __init__(
        self, folder: Path, images: int | None, times: int, jars: Path | None = None, java_images: int = 160
    ) -> None:
        self.folder, self.images, self.times, self.jars, self.java_images = (
            folder,
            images,
            times,
            jars,
            java_images,
        )

    @cached_property
    def captions(self) -> tuple[dict[str, list[str]], dict[str, str]]:
        return coco(images=self.images)

    @cached_property
    def files(self) -> tuple[Path, Path]:
        return write_coco(self.folder, *self.captions)

    @cached_property
    def prepared(self) -> Path:
        out = self.folder / "references.prepared"
        Run(
            [sys.executable, "-m", "captious", "prepare", str(self.files[0]), "-m", SETS[ALL], "-o", str(out)]
        )
        return out

    @cached_property
    def fifty(self) -> Path:
        out = self.folder / "fifty.json"
        out.write_text(
            json.dumps(
                [
                    {"image_id": int(image), "caption": self.captions[1][image]}
                    for image in list(self.captions[0])[:50]
                ]
            )
        )
        return out

    def peer(self, row: str, few: bool = False) -> Run:
        """pycocoevalcap; ``few`` to warm up."""
        files = self.files
        if few:
            (self.folder / "few").mkdir(exist_ok=True)
            references, predictions = ({image: of[image] for image in list(of)[:20]} for of in self.captions)
            files = write_coco(self.folder / "few", references, predictions)  # type: ignore[arg-type]
        return Run([sys.executable, "-c", _PEER, *map(str, files), "meteor" if row == METEOR else "lexical"])

    def java(self) -> float:
        """Java SPICE, carried from two samples to all images."""
        assert self.jars is not None
        references, predictions = self.captions
        few = self.java_images // 4
        rows = [
            {"caption": predictions[i], "references": references[i]}
            for i in list(references)[: self.java_images]
        ]
        (small, _), (large, _) = java(rows[:few], self.jars, self.folder), java(rows, self.jars, self.folder)
        return carried(small, few, large, len(rows), len(references))

    def row(self, name: str) -> dict[str, Any]:
        """All times of one set of metrics."""
        metrics = SETS[name]
        commands = {
            "cold": score(*self.files, metrics), "prepared": score(self.prepared, self.files[1], metrics),
            "warm": [sys.executable, "-c", _WARM, str(self.prepared), str(self.files[1]), metrics], "json.load": [sys.executable, "-c", _LOAD, *map(str, self.files)],
        }  # fmt: skip
        in_turn(1, commands)  # fills the cache, once on a machine
        peers: list[float] = []
        peer_memory = None
        if name in (LEXICAL, METEOR):
            self.peer(name, few=True)
            before = self.peer(name)
            peers, peer_memory = [before.wall], before.megabytes
        elif name == SPICE and self.jars is not None:
            peers = [self.java()]
        runs = in_turn(self.times, commands)
        if name in (LEXICAL, METEOR):
            peers.append(self.peer(name).wall)
        elif peers:
            peers.append(self.java())
        best = {key: quickest(several) for key, several in runs.items()}
        return {
            "images": len(self.captions[0]), "peers": peers, "peer megabytes": peer_memory, **{key: best[key].wall for key in ("cold", "prepared", "json.load")},
            "warm": min(json.loads(run.output.splitlines()[-1]) for run in runs["warm"]), "megabytes": best["cold"].megabytes,
            "prepared megabytes": best["prepared"].megabytes, "processor": best["cold"].processor, "prepared processor": best["prepared"].processor,
        }  # fmt: skip

    def few(self) -> dict[str, Any]:
        """Fifty images, scored against all references."""
        runs = in_turn(self.times + 1, {"": [*score(self.prepared, self.fifty, SETS[ALL]), "--part"]})[""]
        best = quickest(runs)
        return {
            "prepared": best.wall,
            "prepared processor": best.processor,
            "prepared megabytes": best.megabytes,
        }


def carried(small: float, few: int, large: float, many: int, images: int) -> float:
    """Seconds for all images, from those for a small and a larger sample."""
    return small + (large - small) / (many - few) * (images - few)


def measure(
    kept: Kept, folder: Path, images: int | None, times: int, jars: Path | None, java_images: int
) -> None:
    """All steps of the section ``speed``."""
    fresh = Fresh(folder, images, times, jars, java_images)
    settings = {"images": images, "times": times}
    for name in (LEXICAL, METEOR, ALL, SPICE):
        of_java = {"java": java_images if jars is not None else None} if name == SPICE else {}
        kept.step("speed", name, {**settings, **of_java}, partial(fresh.row, name))
    kept.step("speed", FIFTY, settings, fresh.few)


def peer_of(found: dict[str, Any], name: str) -> float | None:
    """The quicker of the peer's runs; of all eight, the two peers together."""
    if name == ALL:
        both = [peer_of(found, part) for part in (METEOR, SPICE)]
        return None if None in both else sum(filter(None, both))
    return min(found.get(name, {}).get("peers", []), default=None)


def table(found: dict[str, Any]) -> str:
    lines = [
        "| | peer | cold | prepared | warm | memory | prepared, in `json.load`s |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for name in SETS:
        row = found.get(name)
        if row is None:
            continue
        peer = peer_of(found, name)
        cells = [f"{row[key]:.2f} s" + (f" ({_ratio(peer / row[key])})" if peer else "") for key in COLUMNS]
        lines.append(
            f"| {name} | {f'{peer:,.1f} s' if peer else '–'} | {' | '.join(cells)} | {row['megabytes']:.0f} MB | {row['prepared'] / row['json.load']:.0f} |"
        )
    if FIFTY in found:
        lines.append(
            f"| {FIFTY} | | | {found[FIFTY]['prepared']:.2f} s | | {found[FIFTY]['prepared megabytes']:.0f} MB (prepared) | |"
        )
    rows = [found[name] for name in SETS if name in found]
    if rows:
        spread = [max(row["peers"]) / min(row["peers"]) for row in rows if len(row["peers"]) > 1]
        told = f"{rows[0]['images']:,} images. Python's `json.load` of both files, in a process of its own: {min(row['json.load'] for row in rows):.3f} s."
        if spread:
            told += f" Each peer ran before and after ours, and the quicker run counts; the other took up to {max(spread):.2f} times as long."
        lines = [told, "", *lines]
    return "\n".join(lines)


def _ratio(value: float) -> str:
    return f"{value:,.1f}×" if value < 100 else f"{value:,.0f}×"


def bars(found: dict[str, Any]) -> list[Bar]:
    told = []
    for name, columns in BARS.items():
        peer = peer_of(found, name)
        if name in found and peer:
            told += [
                check(f"{name}, {column}", peer / found[name][column], *promised)
                for column, promised in columns.items()
            ]
    if ALL in found:
        loads = found[ALL]["prepared"] / found[ALL]["json.load"]
        told.append(
            Bar(
                f"{ALL}, prepared",
                f"at most {LOADS} `json.load`s (aim {LOADS_AIM})",
                f"{loads:.1f}",
                loads <= LOADS,
            )
        )
    if FIFTY in found:
        seconds = found[FIFTY]["prepared"]
        told.append(Bar(FIFTY, f"under {FIFTY_SECONDS} s", f"{seconds:.2f} s", seconds < FIFTY_SECONDS))
    return told
