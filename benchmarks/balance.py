"""Balancing cross-entropy with rewards: Wang & Chan (2019) §5.3 and §4.1 with our captioner.

    python -m benchmarks.balance [--folder DIR] [--only PART]

Trains ``fc`` on the objects of COCO images, continues for a few steps with each λ (CIDEr-D reward) and β
(retrieval reward), draws ten captions for each of 500 unseen images and measures them. Other parts compare
generators of sets on one model, and numbers of captions. Every part is stored in the folder, and a stopped
run continues.

``coco/objects.jsonl.gz`` is an oracle: it contains objects that the references name, also for the unseen
images.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import torch

import captious
from benchmarks.study import Study, print_row, write_lines
from captious.generate.captioner.caption_sets import Plan, generate
from captious.generate.captioner.captioner_checkpoint import TrainedCaptioner
from captious.generate.captioner.captioners import CaptionerShape
from captious.generate.captioner.image_features import ImageFeatures, read_images
from captious.metrics.registry import make_measures
from captious.results.references import References
from captious.training.captioner_examples import Matcher, lessons, train_matcher
from captious.training.captioner_trainer import CaptionerSettings, train

#: Values of λ. The extremes come first, so that a stopped run shows the most.
LAMBDAS = (0, 5, 20, 1, 10, 2, 3)
BETAS = (1, 3, 5, 10, 20)
#: λ of the models with a retrieval reward.
RETRIEVAL_LAMBDA = 1
UNSEEN, M = 500, 10
#: Images of the test split that models are not trained on. ``benchmarks.rerank`` uses those after ``UNSEEN``.
RESERVED = 2500
MEASURES = (
    *("Self-CIDEr", "LSA", "1-mBLEU-mix", "mean CIDEr-D", "oracle CIDEr-D"),
    *("Unique", "Vocabulary"),
)

#: Value and interval of each measure, by system.
Rows = dict[str, dict[str, tuple[float, float, float]]]


class Sizes(NamedTuple):
    """Sizes of the experiment. The defaults suit a small machine."""

    hidden: int = 128
    steps: int = 1000
    #: Steps with rewards, and images of each.
    tuning: int = 40
    images: int = 16
    least: int = 8
    #: Training images.
    taught: int = 4000


class CaptionerStudy(Study):
    """Captioners with different rewards, and their captions of unseen images."""

    def __init__(self, folder: Path, sizes: Sizes) -> None:
        super().__init__(folder)
        self.sizes = sizes
        test, self.validation = self.split("test"), self.split("val")[:100]
        self.unseen = test[:UNSEEN]
        barred = {*test[:RESERVED], *self.validation}
        self.ids = [image for image in self.captions if image not in barred][: sizes.taught]
        self.images: ImageFeatures = read_images(self.objects)
        # N-gram weights are counted over training and validation images.
        prepared = self.path("references.prepared")
        if not prepared.exists():
            captions = {image: self.captions[image] for image in (*self.ids, *self.validation)}
            captious.prepare(captions, "CIDEr-D").save(prepared)
        self.references: References = References.read(prepared)

    def trained(self, name: str, settings: CaptionerSettings, **options: Any) -> TrainedCaptioner:
        """Load a captioner, or train it on the training images."""
        return self.captioner(
            f"{name}.safetensors",
            lambda path: train(
                *(self.images, self.references, path),
                ids=self.ids,
                validation=self.validation,
                settings=settings,
                resume=True,
                progress=print_row,
                **options,
            ),
        )

    def base(self) -> TrainedCaptioner:
        """Return the model that all others start from."""
        steps = self.sizes.steps
        settings = CaptionerSettings(
            steps=steps, batch=50, rate=4e-3, evaluate_every=max(steps // 4, 1), save_every=50, seed=1
        )
        shape = CaptionerShape(hidden=self.sizes.hidden, dropout=0.1)
        return self.trained("base", settings, shape=shape, least=self.sizes.least)

    def tuned(self, weight: float, beta: float = 0.0) -> TrainedCaptioner:
        """Continue the base model with rewards, or with cross-entropy alone if λ and β are 0."""
        settings = CaptionerSettings(
            steps=self.sizes.tuning,
            rate=1e-3,
            rewards={"CIDEr-D": float(weight)} if weight else {},
            retrieval=beta,
            evaluate_every=self.sizes.tuning,
            save_every=20,
            seed=2,
            images=self.sizes.images,
            batch=50,
        )
        matcher = self._matcher() if beta else None
        return self.trained(f"lambda{weight:g}beta{beta:g}", settings, start=self.base(), matcher=matcher)

    def _matcher(self) -> Matcher:
        path, base = self.path("matcher.pt"), self.base()
        matcher = Matcher(len(base.units), base.model.width)
        if not path.exists():
            examples = lessons(self.images, self.references, self.ids, base.units, base.longest)
            torch.save(train_matcher(examples, len(base.units), steps=120, progress=print).state_dict(), path)
        matcher.load_state_dict(torch.load(path, weights_only=True))
        return matcher.eval()

    def samples(self, name: str, model: Callable[[], TrainedCaptioner], plan: Plan) -> Path:
        """Return a file of captions of the unseen images, which ``captious diversity`` reads."""
        path = self.path(f"{name}.jsonl")
        if not path.exists():
            captions = generate(model(), self.images.take(self.unseen), plan).captions
            rows = zip(self.unseen, captions)
            write_lines(path, [{"image_id": image, "captions": texts} for image, texts in rows])
        return path

    def references_file(self) -> Path:
        path = self.path("unseen.jsonl")
        if not path.exists():
            rows = [{"image_id": image, "captions": self.captions[image]} for image in self.unseen]
            write_lines(path, rows)
        return path


def measure(study: CaptionerStudy, files: dict[str, Path]) -> Rows:
    """Return diversity and accuracy of sets, with intervals. The last row is the human captions."""
    from captious.diversity_analysis.sets import diversity, human

    references = References.read(study.references_file())
    table = captious.FrequencyTable.build(study.references.captions)
    corpora = {name: captious.load(references, path, several=True, name=name) for name, path in files.items()}
    accuracy = make_measures("CIDEr-D", {"df": table})
    by_system = {name: diversity(corpus, df=table, accuracy=accuracy) for name, corpus in corpora.items()}
    by_system["people"] = human(next(iter(corpora.values())), df=table, accuracy=accuracy)
    rows: Rows = {}
    for name, scores in by_system.items():
        rows[name] = {}
        for score in (scores[measure] for measure in MEASURES if measure in scores):
            low, high = score.interval()[:2]
            rows[name][score.name] = (score.value, float(low), float(high))
    return rows


def table(rows: Rows) -> str:
    """Format rows as Markdown."""
    names = list(next(iter(rows.values())))
    lines = ["| | " + " | ".join(names) + " |", "|---|" + "---:|" * len(names)]
    for system, row in rows.items():
        cells = [
            f"{value:.1f}" if name == "Vocabulary" else f"{value:.3f} [{low:.3f}, {high:.3f}]"
            for name, (value, low, high) in row.items()
        ]
        lines.append(f"| {system} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def by_lambda(study: CaptionerStudy) -> dict[str, Path]:
    """Sample from the models with each λ."""
    files = {
        weight: study.samples(f"lambda{weight}", partial(study.tuned, weight), Plan("rs", M))
        for weight in LAMBDAS
    }
    return {f"λ = {weight}": files[weight] for weight in sorted(files)}


def by_beta(study: CaptionerStudy) -> dict[str, Path]:
    """Sample from the models with each β, and λ = 1."""
    return {
        f"λ = {RETRIEVAL_LAMBDA}, β = {beta}": study.samples(
            f"beta{beta}", partial(study.tuned, RETRIEVAL_LAMBDA, beta), Plan("rs", M)
        )
        for beta in BETAS
    }


def by_generator(study: CaptionerStudy) -> dict[str, Path]:
    """Generate sets of one model in different ways."""
    plans = {
        "rs": Plan("rs", M),
        "gnc 1…10": Plan("gnc", M),
        "gnc 0.1…1": Plan("gnc", M, sigma=(0.1, 1.0)),
        "crop": Plan("crop", M),
        "ss": Plan("ss", M),
        "beam": Plan("beam", M),
        "diverse beam": Plan("diverse", M),
    }
    return {
        name: study.samples(f"how-{name.replace(' ', '-').replace('…', '-')}", study.base, plan)
        for name, plan in plans.items()
    }


def by_number(study: CaptionerStudy) -> dict[str, Path]:
    """Sample different numbers of captions."""
    return {f"m = {m}": study.samples(f"m{m}", study.base, Plan("rs", m)) for m in (2, 5, 10, 20)}


PARTS: dict[str, Callable[[CaptionerStudy], dict[str, Path]]] = {
    "lambda": by_lambda,
    "generators": by_generator,
    "m": by_number,
    "beta": by_beta,
}


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("--folder", type=Path, default=Path("balance"))
    arguments.add_argument("--only", choices=list(PARTS), action="append", help="run this part; repeatable")
    for name, value in Sizes()._asdict().items():
        arguments.add_argument(f"--{name}", type=int, default=value)
    options = arguments.parse_args()
    torch.set_num_threads(1)
    sizes = Sizes(**{name: getattr(options, name) for name in Sizes._fields})
    study = CaptionerStudy(options.folder, sizes)
    for part in options.only or PARTS:
        rows = measure(study, PARTS[part](study))
        study.path(f"{part}.json").write_text(
            json.dumps(rows, indent=1, ensure_ascii=False), encoding="utf-8"
        )
        title = f"{part}, {len(study.unseen)} unseen images, 95 % intervals over images"
        print(f"\n{title}:\n\n{table(rows)}", flush=True)
    files = f"{study.references_file()} {options.folder}/lambda*.jsonl"
    print(f"\n'captious diversity {files} --plots DIR' draws the plane and the map.")


if __name__ == "__main__":
    main()
