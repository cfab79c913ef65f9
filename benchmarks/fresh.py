"""Fresh processes, from COCO JSON files to scores, beside the tools that captious replaces.

``python -m benchmarks.speed --only speed`` prints the table. Each row is a set of metrics, with four times:

- *peer*: pycocoevalcap (Java SPICE for SPICE) in a process of its own, imports and tokenizer included;
- *cold*: ``captious score`` on the same files;
- *prepared*: the same with prepared references;
- *warm*: a second system in a process that has scored one.

``json.load`` is a process that only reads both files.

The speed of a machine changes. Therefore the peer of a row runs before and after ours, and between them ours
run in turn (cold, prepared, warm, cold, …). The quickest run of each counts. All programs have run once
before on a few images, and their modules are bytecode, as in installed packages. Java SPICE takes half an
hour. It is timed on two samples, one four times as large as the other, to separate its start from its time
per image. The peer of all eight metrics is the sum of the peers of METEOR's row and SPICE's row.
"""

from __future__ import annotations

import json
import sys
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from benchmarks.captions import coco, write_coco
from benchmarks.spice import extrapolate, java_seconds
from benchmarks.steps import Steps, Target, at_least
from benchmarks.timing import Run, captious_score, in_turn, python, quickest

LEXICAL, METEOR, SPICE, ALL, FIFTY = (
    "BLEU, ROUGE-L, CIDEr-D",
    "and METEOR",
    "SPICE",
    "all eight",
    "50 images, all eight",
)
SETS = {LEXICAL: "lexical", METEOR: "lexical,METEOR", SPICE: "SPICE", ALL: "lexical,METEOR,SPICE"}
#: Metrics of pycocoevalcap in the rows that it is the peer of.
PEERS = {LEXICAL: "BLEU-4,ROUGE-L,CIDEr-D", METEOR: "BLEU-4,ROUGE-L,CIDEr-D,METEOR"}
COLUMNS = ("cold", "prepared", "warm")
#: Least speed relative to the peer, and the aim if it is higher.
TARGETS: dict[str, dict[str, tuple[float, float | None]]] = {
    LEXICAL: {"cold": (15, None), "prepared": (40, None)},
    METEOR: {"cold": (20, None), "prepared": (60, None)},
    SPICE: {"cold": (250, 400), "prepared": (1000, None)},
    ALL: {"cold": (200, None)},
}
#: Most ``json.load`` times of all eight metrics with prepared references, and most seconds of fifty images.
LOADS, LOADS_AIM, FIFTY_SECONDS = 20, 10, 0.7

_LOAD = "import json, sys; [json.load(open(name)) for name in sys.argv[1:]]"


class Fresh:
    """Files, peers and commands. Files are written when they are first needed."""

    def __init__(
        self, folder: Path, images: int | None, times: int, jars: Path | None = None, java_images: int = 160
    ) -> None:
        self.folder, self.images, self.times = folder, images, times
        self.jars, self.java_images = jars, java_images

    @cached_property
    def captions(self) -> tuple[dict[str, list[str]], dict[str, str]]:
        return coco(images=self.images)

    @cached_property
    def files(self) -> tuple[Path, Path]:
        return write_coco(self.folder, *self.captions)

    @cached_property
    def prepared(self) -> Path:
        path = self.folder / "references.prepared"
        Run(python("captious", "prepare", str(self.files[0]), "-m", SETS[ALL], "-o", str(path)))
        return path

    def peer(self, row: str, *, warm_up: bool = False) -> Run:
        """Run pycocoevalcap, on 20 images to warm up."""
        files = self.files
        if warm_up:
            (self.folder / "few").mkdir(exist_ok=True)
            references, predictions = self.captions
            ids = list(references)[:20]
            some = {i: references[i] for i in ids}, {i: predictions[i] for i in ids}
            files = write_coco(self.folder / "few", *some)
        return Run(python("benchmarks.pycocoevalcap_peer", *map(str, files), PEERS[row]))

    def java(self) -> float:
        """Return the seconds of Java SPICE for all images, extrapolated from two samples."""
        assert self.jars is not None
        references, predictions = self.captions
        ids = list(references)[: self.java_images]
        rows = [{"caption": predictions[i], "references": references[i]} for i in ids]
        return extrapolate(
            rows, len(references), partial(java_seconds, jars=self.jars, folder=self.folder)
        ).wall

    def row(self, name: str) -> dict[str, Any]:
        """Measure all times of one set of metrics."""
        metrics = SETS[name]
        commands = {
            "cold": captious_score(*self.files, metrics),
            "prepared": captious_score(self.prepared, self.files[1], metrics),
            "warm": python("benchmarks.fresh", str(self.prepared), str(self.files[1]), metrics),
            "json.load": [sys.executable, "-c", _LOAD, *map(str, self.files)],
        }
        in_turn(1, commands)  # fills captious's cache
        peers: list[float] = []
        peer_memory = None
        if name in PEERS:
            self.peer(name, warm_up=True)
            first = self.peer(name)
            peers, peer_memory = [first.wall], first.megabytes
        elif name == SPICE and self.jars is not None:
            peers = [self.java()]
        runs = in_turn(self.times, commands)
        if peers:
            peers.append(self.peer(name).wall if name in PEERS else self.java())
        best = {key: quickest(several) for key, several in runs.items()}
        return {
            "images": len(self.captions[0]),
            "peers": peers,
            "peer megabytes": peer_memory,
            **{key: best[key].wall for key in ("cold", "prepared", "json.load")},
            "warm": min(run.json for run in runs["warm"]),
            "megabytes": best["cold"].megabytes,
            "prepared megabytes": best["prepared"].megabytes,
            "processor": best["cold"].processor,
            "prepared processor": best["prepared"].processor,
        }

    def fifty(self) -> dict[str, Any]:
        """Score fifty images with the prepared references of all."""
        results = [
            {"image_id": int(image), "caption": self.captions[1][image]}
            for image in list(self.captions[0])[:50]
        ]
        path = self.folder / "fifty.json"
        path.write_text(json.dumps(results))
        command = captious_score(self.prepared, path, SETS[ALL], "--part")
        best = quickest([Run(command) for _ in range(self.times + 1)])
        return {
            "prepared": best.wall,
            "prepared processor": best.processor,
            "prepared megabytes": best.megabytes,
        }


def measure(
    steps: Steps, folder: Path, images: int | None, times: int, jars: Path | None, java_images: int
) -> None:
    """Measure all steps of the section ``speed``."""
    fresh = Fresh(folder, images, times, jars, java_images)
    settings = {"images": images, "times": times}
    for name in (LEXICAL, METEOR, ALL, SPICE):
        java = {"java": java_images if jars is not None else None} if name == SPICE else {}
        steps.measure("speed", name, {**settings, **java}, partial(fresh.row, name))
    steps.measure("speed", FIFTY, settings, fresh.fifty)


def peer_of(results: dict[str, Any], name: str) -> float | None:
    """Return the quicker of the peer's runs. For all eight metrics, return the sum of two peers."""
    if name == ALL:
        both = [peer_of(results, part) for part in (METEOR, SPICE)]
        return None if None in both else sum(filter(None, both))
    return min(results.get(name, {}).get("peers", []), default=None)


def table(results: dict[str, Any]) -> str:
    lines = [
        "| | peer | cold | prepared | warm | memory | prepared, in `json.load`s |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    rows = {name: results[name] for name in SETS if name in results}
    for name, row in rows.items():
        peer = peer_of(results, name)
        cells = [f"{peer:,.1f} s" if peer else "–"]
        cells += [f"{row[key]:.2f} s" + (f" ({_ratio(peer / row[key])})" if peer else "") for key in COLUMNS]
        cells += [f"{row['megabytes']:.0f} MB", f"{row['prepared'] / row['json.load']:.0f}"]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    if FIFTY in results:
        row = results[FIFTY]
        memory = f"{row['prepared megabytes']:.0f} MB (prepared)"
        lines.append(f"| {FIFTY} | | | {row['prepared']:.2f} s | | {memory} | |")
    if rows:
        images = next(iter(rows.values()))["images"]
        load = min(row["json.load"] for row in rows.values())
        note = f"{images:,} images. A process that only reads both files with `json.load`: {load:.3f} s."
        peers = [row["peers"] for row in rows.values() if len(row["peers"]) > 1]
        if peers:
            spread = max(max(times) / min(times) for times in peers)
            note += (
                f" Each peer ran before and after ours. The slower run took up to {spread:.2f} times as long."
            )
        lines = [note, "", *lines]
    return "\n".join(lines)


def _ratio(value: float) -> str:
    return f"{value:,.1f}×" if value < 100 else f"{value:,.0f}×"


def targets(results: dict[str, Any]) -> list[Target]:
    rows = []
    for name, columns in TARGETS.items():
        peer = peer_of(results, name)
        if name in results and peer:
            rows += [
                at_least(f"{name}, {column}", peer / results[name][column], *least)
                for column, least in columns.items()
            ]
    if ALL in results:
        loads = results[ALL]["prepared"] / results[ALL]["json.load"]
        text = f"at most {LOADS} `json.load`s (aim {LOADS_AIM})"
        rows.append(Target(f"{ALL}, prepared", text, f"{loads:.1f}", loads <= LOADS))
    if FIFTY in results:
        seconds = results[FIFTY]["prepared"]
        rows.append(Target(FIFTY, f"under {FIFTY_SECONDS} s", f"{seconds:.2f} s", seconds < FIFTY_SECONDS))
    return rows


def warm_seconds(prepared: str, results: str, metrics: str) -> float:
    """Return the seconds of a second system, after one was scored with the same prepared references."""
    import captious
    from benchmarks.timing import timed

    references = captious.References.read(prepared)
    captious.score(captious.load(references, results), metrics)
    return timed(lambda: captious.score(captious.load(references, results, name="again"), metrics))[1].wall


if __name__ == "__main__":
    print(warm_seconds(*sys.argv[1:]))
