"""Frozen items by name, and the cases that each is computed on."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Mapping
from contextlib import redirect_stdout
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

import captious
from tools.freeze import commands, inputs
from tools.freeze.recorder import Recorder, run

#: Measures that use the sentence encoder.
ENCODED = (
    "SentenceSim",
    "TokenSim-P",
    "TokenSim-R",
    "TokenSim-R-idf",
    "TokenSim-P-union",
    "Soft-SPICE",
    "CaptiousScore",
)

#: Case → writer of its folder, given the folder and the public data sets.
CASES: dict[str, Callable[[Path, Path], None]] = {
    "demo": partial(inputs.write_demo, images=60),
    "tiny": partial(inputs.write_demo, images=3),
    "coco": partial(inputs.write_coco, images=300),
    "large": partial(inputs.write_coco, images=2000),
    "long": partial(inputs.write_long, images=60),
    "hostile": partial(inputs.write_hostile, images=60),
}


@dataclass(frozen=True)
class Settings:
    """Places outside the repository that some items need."""

    data: Path
    grammar: Path | None


@dataclass(frozen=True)
class Item:
    """Something frozen, on one or more cases."""

    freeze: Callable[[Recorder, Settings], None]
    cases: tuple[str, ...]
    needs_grammar: bool = False


def freeze_measures(recorder: Recorder, _: Settings) -> None:
    """Freeze statistics, value and interval of every measure, on one caption per image and on several.

    The sentence encoder is slow, so its measures run on one system here and on others in ``scores-encoded``.
    """
    folder = recorder.case
    options = {name: str(folder / file) for name, file in inputs.OPTIONS.items()}
    for system in ("a.json", "b.json", "samples.jsonl"):
        is_set = system == "samples.jsonl"
        corpus = captious.load(folder / "references.json", folder / system, several=is_set)
        for measure in measures():
            name = measure["name"]
            if ("sets" in measure["needs"] and not is_set) or (name in ENCODED and system != "a.json"):
                continue
            own = {option: value for option, value in options.items() if option in measure["options"]}
            score = captious.score(corpus, metrics=name, **own)[name]
            values = {**_rows(score.statistics), "value": np.array(score.value)}
            values["interval"] = np.array(score.interval(resamples=20))
            recorder.arrays(f"{Path(system).stem}/{name}", values, relaxed=name in ENCODED)


def freeze_rewards(recorder: Recorder, _: Settings) -> None:
    """Freeze rewards of text and of word numbers."""
    rows = [json.loads(line) for line in (recorder.case / "samples.jsonl").read_text().splitlines()[:40]]
    images, texts = [row["image_id"] for row in rows], [row["captions"][:5] for row in rows]
    words = ["", *sorted({word for group in texts for text in group for word in text.split()})]
    numbers = {word: number for number, word in enumerate(words)}
    ids = np.zeros((len(texts), 5, 40), np.int64)
    for i, group in enumerate(texts):
        for k, text in enumerate(group):
            listed = [numbers[word] for word in text.split()[:40]]
            ids[i, k, : len(listed)] = listed
    weights = {
        "CIDEr-D": 1.0,
        "CIDEr": 0.1,
        "BLEU-4": 0.5,
        "ROUGE-L": 0.5,
        "METEOR": 1.0,
        "SPICE": 0.5,
        "WMD": 0.1,
    }
    reward = captious.reward(recorder.case / "references.json", weights, vocabulary=words, end=0)
    for name, captions in (("text", texts), ("numbers", ids)):
        recorder.arrays(name, {"total": reward(images, captions), **reward.parts(images, captions)})
    encoded = captious.reward(recorder.case / "references.json", "SentenceSim")
    recorder.arrays("SentenceSim", {"total": encoded(images, texts)}, relaxed=True)


def freeze_api(recorder: Recorder, _: Settings) -> None:
    """Freeze results of Python functions that no command shows."""
    rows = [json.loads(line) for line in (recorder.case / "samples.jsonl").read_text().splitlines()[:40]]
    captions = [row["captions"] for row in rows]
    single, others = [group[0] for group in captions], [group[1:] for group in captions]
    recorder.json("compute", captious.compute(predictions=single, references=others, metrics="coco"))
    graphs = [captious.scene_graph(group) for group in captions]
    recorder.json("scene-graphs", [[graph.objects, graph.attributes, graph.relations] for graph in graphs])
    scorers = captious.compat
    truth, guess = dict(enumerate(others)), {i: [text] for i, text in enumerate(single)}
    for scorer in (scorers.Bleu(4), scorers.Rouge(), scorers.Cider(), scorers.Meteor(), scorers.Spice()):
        with redirect_stdout(io.StringIO()):
            value, per_image = scorer.compute_score(truth, guess)
        recorder.json(f"compat-{type(scorer).__name__}", [_plain(value), _plain(per_image)])


def freeze_commands(
    lines: Mapping[str, str], recorder: Recorder, settings: Settings, *, relaxed: bool = False
) -> None:
    """Freeze the output of commands."""
    strict = [row for row in measures() if row["rows"] == "caption" and row["name"] not in ENCODED]
    taken = {option for measure in strict for option in measure["options"]}
    places = {
        "strict": ",".join(measure["name"] for measure in strict),
        "resources": " ".join(
            f"--{name.replace('_', '-')} {file}" for name, file in inputs.OPTIONS.items() if name in taken
        ),
        "data": settings.data,
        "grammar": settings.grammar,
    }
    for name, line in lines.items():
        recorder.command(name, line.format(**places), relaxed=relaxed)


def freeze_messages(recorder: Recorder, _: Settings) -> None:
    """Freeze help pages, tables and messages, with exit codes, and a report."""
    for name, line in commands.MESSAGES.items():
        recorder.messages(name, line)
    page = (recorder.case / "out.html").read_text()
    recorder.text("report.html", page.replace(str(recorder.case), "CASE"))


ITEMS: dict[str, Item] = {
    "measures": Item(freeze_measures, ("demo", "tiny", "coco", "long", "hostile")),
    "scores": Item(partial(freeze_commands, commands.SCORES), ("demo", "tiny", "large")),
    "scores-encoded": Item(partial(freeze_commands, commands.RELAXED_SCORES, relaxed=True), ("demo", "coco")),
    "messages": Item(freeze_messages, ("demo",)),
    "explanations": Item(partial(freeze_commands, commands.EXPLANATIONS), ("demo",)),
    "robustness": Item(partial(freeze_commands, commands.ROBUSTNESS), ("demo", "coco")),
    "formats": Item(partial(freeze_commands, commands.FORMATS), ("demo", "large")),
    "prepared": Item(partial(freeze_commands, commands.PREPARED), ("demo", "coco")),
    "saved": Item(partial(freeze_commands, commands.SAVED), ("demo", "coco")),
    "scale": Item(partial(freeze_commands, commands.SCALE), ("demo", "large")),
    "rerank": Item(partial(freeze_commands, commands.RERANK), ("demo", "coco")),
    "likelihood": Item(partial(freeze_commands, commands.LIKELIHOOD), ("coco",)),
    "rewards": Item(freeze_rewards, ("demo", "coco")),
    "api": Item(freeze_api, ("demo", "coco")),
    "generate": Item(partial(freeze_commands, commands.GENERATE), ("coco",)),
    "exact": Item(partial(freeze_commands, commands.EXACT), ("coco",), needs_grammar=True),
    "agreement": Item(partial(freeze_commands, commands.AGREEMENT), ("coco",)),
}


@cache
def measures() -> list[dict[str, Any]]:
    """Return all measures, as ``captious metrics`` describes them."""
    listed: list[dict[str, Any]] = json.loads(run("metrics --json -", Path.cwd()))
    # A critic has to be trained first.
    return [row for row in listed if "critic" not in row["options"]]


def _rows(statistics: Any) -> dict[str, Any]:
    """Return statistics as arrays: a matrix, or sequences of words."""
    return {"rows": statistics} if isinstance(statistics, np.ndarray) else dict(statistics.to_arrays())


def _plain(value: Any) -> Any:
    """Return arrays inside lists as lists."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    return [_plain(part) for part in value] if isinstance(value, list | tuple) else value
