"""Balancing cross-entropy with rewards: Wang & Chan (2019) §5.3 and §4.1 on a captioner of our own.

``python -m benchmarks.balance [--folder DIR] [--only PART]``: trains ``fc`` on the objects of COCO images, goes on for a few
steps with each λ (CIDEr-D reward) and β (retrieval reward), draws ten captions for each of 500 unseen images and measures them. Then the generators of sets on one model, and the effect of the number of captions. Every part is kept in the
folder, and what is there is not made again: a run that was stopped goes on where it was.

``coco/objects.jsonl.gz`` is an oracle: its objects are the instance labels united with what the references name, so it has
partly read the references, those of the unseen images too.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import torch

import captious
from benchmarks.common import data_folder, read_jsonl
from captious.generate.captioner import captioner_checkpoint as checkpoint
from captious.generate.captioner.caption_sets import Plan, generate
from captious.generate.captioner.captioner_checkpoint import TrainedCaptioner
from captious.generate.captioner.captioners import CaptionerShape
from captious.generate.captioner.image_features import ImageFeatures, read_images
from captious.metrics.registry import make_measures
from captious.results.references import References
from captious.training import captioner_examples as matching
from captious.training.captioner_examples import lessons
from captious.training.captioner_trainer import CaptionerSettings, train

LAMBDAS = (0, 1, 2, 3, 5, 10, 20)
BETAS = (1, 3, 5, 10, 20)
#: λ that the retrieval reward is added to.
WITH = 1
UNSEEN, M = 500, 10
#: Images that the models never see: these, and more of them for who goes on with a model (``benchmarks.rerank``).
RESERVED = 2500


class Sizes(NamedTuple):
    """How much is done: by default what a machine with little time to spare can do."""

    hidden: int = 128
    steps: int = 1000
    #: Steps with rewards, and images of such a step.
    tuning: int = 40
    images: int = 16
    least: int = 8
    #: Images that are learned from.
    taught: int = 4000


class Study:
    """Data, and a folder of what was made."""

    def __init__(self, folder: Path, sizes: Sizes) -> None:
        self.sizes = sizes
        data = data_folder()
        if data is None:
            raise SystemExit("the public data sets are needed (CAPTIOUS_DATA)")
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        rows = read_jsonl(data / "coco" / "references.jsonl.gz")
        self.captions = {str(row["image_id"]): row["captions"] for row in rows}
        by_split = {
            split: [str(row["image_id"]) for row in rows if row["split"] == split]
            for split in ("test", "val")
        }
        self.unseen, self.validation = by_split["test"][:UNSEEN], by_split["val"][:100]
        self.reserved = by_split["test"][UNSEEN:RESERVED]
        barred = {*self.unseen, *self.reserved, *self.validation}
        self.ids = [image for image in self.captions if image not in barred][: sizes.taught]
        self.images: ImageFeatures = read_images(data / "coco" / "objects.jsonl.gz")
        # Weights of n-grams are counted over the images that are learned from (and those for validation).
        kept = self.path("references.prepared")
        if not kept.exists():
            captious.prepare(
                {image: self.captions[image] for image in (*self.ids, *self.validation)}, "CIDEr-D"
            ).save(kept)
        self.references: References = References.read(kept)

    def path(self, name: str) -> Path:
        return self.folder / name

    def base(self) -> TrainedCaptioner:
        """The model that everything starts from."""
        sizes = self.sizes
        settings = CaptionerSettings(
            steps=sizes.steps,
            batch=50,
            rate=4e-3,
            evaluate_every=max(sizes.steps // 4, 1),
            save_every=50,
            seed=1,
        )
        return self._trained("base.safetensors", lambda path: train(
            self.images, self.references, path, ids=self.ids, validation=self.validation, shape=CaptionerShape(hidden=sizes.hidden, dropout=0.1),
            least=sizes.least, settings=settings, resume=True, progress=_tell,
        ))  # fmt: skip

    def tuned(self, weight: float, beta: float = 0.0) -> TrainedCaptioner:
        """Some steps more, with rewards (λ = 0 and β = 0: with cross-entropy alone)."""
        settings = CaptionerSettings(
            steps=self.sizes.tuning, rate=1e-3, rewards={"CIDEr-D": float(weight)} if weight else {}, retrieval=beta,
            evaluate_every=self.sizes.tuning, save_every=20, seed=2, images=self.sizes.images, batch=50,
        )  # fmt: skip
        matcher = self._matcher() if beta else None
        return self._trained(f"lambda{weight:g}beta{beta:g}.safetensors", lambda path: train(
            self.images, self.references, path, ids=self.ids, validation=self.validation, settings=settings, start=self.base(),
            matcher=matcher, resume=True, progress=_tell,
        ))  # fmt: skip

    def _trained(self, name: str, make: Callable[[Path], TrainedCaptioner]) -> TrainedCaptioner:
        path = self.path(name)
        if path.exists() and checkpoint.load_unfinished(path)[1] is None:
            return checkpoint.load(path)
        started = time.monotonic()
        made = make(path)
        print(f"{name}: {time.monotonic() - started:.0f} s", flush=True)
        return made

    def _matcher(self) -> matching.Matcher:
        path, base = self.path("matcher.pt"), self.base()
        matcher = matching.Matcher(len(base.units), base.model.width)
        if not path.exists():
            taught = lessons(self.images, self.references, self.ids, base.units, base.longest)
            torch.save(
                matching.train_matcher(taught, len(base.units), steps=120, progress=print).state_dict(), path
            )
        matcher.load_state_dict(torch.load(path, weights_only=True))
        return matcher.eval()

    def drawn(self, name: str, model: Callable[[], TrainedCaptioner], plan: Plan) -> Path:
        """Captions of the unseen images, as a file that ``captious diversity`` reads."""
        path = self.path(f"{name}.jsonl")
        if not path.exists():
            made = generate(model(), self.images.take(self.unseen), plan)
            text = "".join(
                json.dumps({"image_id": image, "captions": texts}) + "\n"
                for image, texts in zip(self.unseen, made.captions)
            )
            path.write_text(text, encoding="utf-8")
        return path

    def references_file(self) -> Path:
        path = self.path("unseen.jsonl")
        if not path.exists():
            text = "".join(
                json.dumps({"image_id": image, "captions": self.captions[image]}) + "\n"
                for image in self.unseen
            )
            path.write_text(text, encoding="utf-8")
        return path


def _tell(row: dict[str, Any]) -> None:
    print(
        "  "
        + "  ".join(
            f"{name} {value:.4g}" if isinstance(value, float) else f"{name} {value}"
            for name, value in row.items()
        ),
        flush=True,
    )


def measured(study: Study, files: dict[str, Path]) -> dict[str, dict[str, tuple[float, float, float]]]:
    """Self-CIDEr and CIDEr-D of sets, with their intervals; the last is that of people."""
    from captious.diversity_analysis.sets import diversity, human

    references = References.read(study.references_file())
    table = captious.FrequencyTable.build(study.references.captions)
    corpora = {name: captious.load(references, path, several=True, name=name) for name, path in files.items()}
    accuracy = make_measures("CIDEr-D", {"df": table})
    found = {name: diversity(corpus, df=table, accuracy=accuracy) for name, corpus in corpora.items()}
    found["people"] = human(next(iter(corpora.values())), df=table, accuracy=accuracy)
    rows: dict[str, dict[str, tuple[float, float, float]]] = {}
    for name, scores in found.items():
        rows[name] = {}
        for measure in (
            "Self-CIDEr",
            "LSA",
            "1-mBLEU-mix",
            "mean CIDEr-D",
            "oracle CIDEr-D",
            "Unique",
            "Vocabulary",
        ):
            if measure in scores:
                score = scores[measure]
                low, high = score.interval()[:2]
                rows[name][measure] = (score.value, float(low), float(high))
    return rows


def table(rows: dict[str, dict[str, tuple[float, float, float]]]) -> str:
    """As Markdown."""
    names = list(next(iter(rows.values())))
    lines = ["| | " + " | ".join(names) + " |", "|---|" + "---:|" * len(names)]
    for name, row in rows.items():
        cells = [
            f"{row[n][0]:.1f}" if n == "Vocabulary" else f"{row[n][0]:.3f} [{row[n][1]:.3f}, {row[n][2]:.3f}]"
            for n in names
            if n in row
        ]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def balance(study: Study) -> dict[str, Path]:
    """Samples of the models with each λ; the far ones first, so that a run that is cut short shows the most."""
    files: dict[str, Path] = {}
    for weight in sorted(LAMBDAS, key=lambda w: (0, 5, 20, 1, 10, 2, 3).index(w)):
        files[f"λ = {weight}"] = study.drawn(
            f"lambda{weight}", lambda w=weight: study.tuned(w), Plan("rs", M)
        )  # type: ignore[misc]
    return dict(sorted(files.items(), key=lambda item: int(item[0].split()[-1])))


def retrieval(study: Study) -> dict[str, Path]:
    """Samples with each β, beside λ = 1."""
    return {
        f"λ = {WITH}, β = {beta}": study.drawn(
            f"beta{beta}", lambda b=beta: study.tuned(WITH, b), Plan("rs", M)
        )  # type: ignore[misc]
        for beta in BETAS
    }


def generators(study: Study) -> dict[str, Path]:
    """Sets of one model made in different ways."""
    plans = {
        "rs": Plan("rs", M), "gnc 1…10": Plan("gnc", M), "gnc 0.1…1": Plan("gnc", M, sigma=(0.1, 1.0)), "crop": Plan("crop", M),
        "ss": Plan("ss", M), "beam": Plan("beam", M), "diverse beam": Plan("diverse", M),
    }  # fmt: skip
    return {
        name: study.drawn(f"how-{name.replace(' ', '-').replace('…', '-')}", study.base, plan)
        for name, plan in plans.items()
    }


def sizes(study: Study) -> dict[str, Path]:
    """The effect of the number of captions, by random sampling."""
    return {f"m = {m}": study.drawn(f"m{m}", study.base, Plan("rs", m)) for m in (2, 5, 10, 20)}


PARTS: dict[str, Callable[[Study], dict[str, Path]]] = {
    "lambda": balance,
    "generators": generators,
    "m": sizes,
    "beta": retrieval,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--folder", type=Path, default=Path("balance"))
    parser.add_argument("--only", choices=list(PARTS), action="append", help="some parts alone; repeatable")
    for name, value in Sizes()._asdict().items():
        parser.add_argument(f"--{name}", type=int, default=value)
    given = parser.parse_args()
    torch.set_num_threads(1)
    study = Study(given.folder, Sizes(**{name: getattr(given, name) for name in Sizes._fields}))
    for part in given.only or PARTS:
        rows = measured(study, PARTS[part](study))
        study.path(f"{part}.json").write_text(
            json.dumps(rows, indent=1, ensure_ascii=False), encoding="utf-8"
        )
        print(
            f"\n{part}, {len(study.unseen)} unseen images, 95 % intervals over images:\n\n{table(rows)}",
            flush=True,
        )
    print(
        f"\n'captious diversity {study.references_file()} {given.folder}/lambda*.jsonl --plots DIR' draws the plane and the map."
    )


if __name__ == "__main__":
    main()
