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
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import torch

import captious
from benchmarks.study import Study, print_row, write_lines
from captious.generate.captioner.caption_sets import CaptionPlan, generate
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
#: Weights of cross-entropy, CIDEr-D (λ) and retrieval (β) of the part losses (Figure 8).
LOSSES = (
    *((1, 0, 0), (0, 1, 0), (0, 1, 2), (0, 0, 1), (1, 0, 20), (1, 20, 0), (1, 20, 20), (0, 1, 10)),
    *((1, 5, 0), (1, 5, 5), (1, 5, 20), (1, 0, 5)),
)
#: The paper's weights, the most different first: CIDEr-D + β, cross-entropy + α, and cross-entropy + 5 CIDEr-D + γ.
WEIGHTS = (
    *((0, 1, beta) for beta in (0, 15, 5, 2, 10, 1, 3)),
    *((1, 0, alpha) for alpha in (0, 50, 10, 30)),
    *((1, 5, gamma) for gamma in (0, 50, 10, 30)),
)
#: Size of latent vectors, and their free bits (nats of each component).
LATENT, FREE_BITS = 16, 0.25
#: Seeds of their trainings.
SEEDS = (2, 3, 4)
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

    def __init__(self, folder: Path, sizes: Sizes, seeds: int = 1) -> None:
        super().__init__(folder)
        self.sizes, self.seeds = sizes, seeds
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

    def base(
        self, name: str = "base", prior: str = "", free_bits: float = 0.0, seed: int = 1
    ) -> TrainedCaptioner:
        """Return the model that all others start from, or one like it with a latent vector."""
        steps = self.sizes.steps
        settings = CaptionerSettings(
            steps=steps,
            batch=50,
            rate=4e-3,
            evaluate_every=max(steps // 4, 1),
            save_every=50,
            seed=seed,
            free_bits=free_bits,
        )
        name += f"-seed{seed}" if seed != 1 else ""
        shape = CaptionerShape(hidden=self.sizes.hidden, dropout=0.1)
        if prior:
            shape = CaptionerShape(hidden=self.sizes.hidden, dropout=0.1, latent=LATENT, prior=prior)
        return self.trained(name, settings, shape=shape, least=self.sizes.least)

    def gan(self, seed: int = 1) -> TrainedCaptioner:
        """Continue the CVAE with free bits against a learned evaluator."""
        settings = CaptionerSettings(
            steps=self.sizes.tuning,
            rate=1e-3,
            adversary=5.0,
            images=self.sizes.images,
            evaluate_every=self.sizes.tuning,
            save_every=20,
            seed=seed + 1,
            free_bits=FREE_BITS,
            batch=50,
        )
        start = self.base("cvae-free", "normal", FREE_BITS, seed)
        return self.trained("gan" + (f"-seed{seed}" if seed != 1 else ""), settings, start=start)

    def tuned(
        self,
        weight: float,
        beta: float = 0.0,
        xe: float = 1.0,
        *,
        seed: int = 2,
        images: int | None = None,
        matcher_steps: int = 120,
        start: tuple[str, TrainedCaptioner] | None = None,
    ) -> TrainedCaptioner:
        """Continue the base model (or ``start``) with rewards, or by cross-entropy if λ and β are 0."""
        settings = CaptionerSettings(
            steps=self.sizes.tuning,
            rate=1e-3,
            rewards={"CIDEr-D": float(weight)} if weight else {},
            retrieval=beta,
            xe=xe,
            evaluate_every=self.sizes.tuning,
            save_every=20,
            seed=seed,
            images=images or self.sizes.images,
            batch=50,
        )
        matcher = self._matcher(matcher_steps) if beta else None
        name = f"lambda{weight:g}beta{beta:g}"
        for label, value, usual in (
            *(("xe", xe, 1), ("seed", seed, 2), ("images", settings.images, self.sizes.images)),
            ("matcher", matcher_steps, 120),
        ):
            name += f"{label}{value:g}" if value != usual else ""
        label, model = start or ("", self.base())
        return self.trained(name + label, settings, start=model, matcher=matcher)

    def _matcher(self, steps: int = 120) -> Matcher:
        path, base = self.path(f"matcher{steps if steps != 120 else ''}.pt"), self.base()
        matcher = Matcher(len(base.units), base.model.width)
        if not path.exists():
            examples = lessons(self.images, self.references, self.ids, base.units, base.longest)
            matcher = train_matcher(examples, len(base.units), steps=steps, progress=print)
            torch.save(matcher.state_dict(), path)
        matcher.load_state_dict(torch.load(path, weights_only=True))
        return matcher.eval()

    def samples(self, name: str, model: Callable[[], TrainedCaptioner], plan: CaptionPlan) -> Path:
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
        weight: study.samples(f"lambda{weight}", partial(study.tuned, weight), CaptionPlan("rs", M))
        for weight in LAMBDAS
    }
    return {f"λ = {weight}": files[weight] for weight in sorted(files)}


def by_beta(study: CaptionerStudy) -> dict[str, Path]:
    """Sample from the models with each β, and λ = 1."""
    return {
        f"λ = {RETRIEVAL_LAMBDA}, β = {beta}": study.samples(
            f"beta{beta}", partial(study.tuned, RETRIEVAL_LAMBDA, beta), CaptionPlan("rs", M)
        )
        for beta in BETAS
    }


def by_generator(study: CaptionerStudy) -> dict[str, Path]:
    """Generate sets of one model in different ways."""
    plans = {
        "rs": CaptionPlan("rs", M),
        "gnc 1…10": CaptionPlan("gnc", M),
        "gnc 0.1…1": CaptionPlan("gnc", M, sigma=(0.1, 1.0)),
        "crop": CaptionPlan("crop", M),
        "ss": CaptionPlan("ss", M),
        "beam": CaptionPlan("beam", M),
        "diverse beam": CaptionPlan("diverse", M),
    }
    return {
        name: study.samples(f"how-{name.replace(' ', '-').replace('…', '-')}", study.base, plan)
        for name, plan in plans.items()
    }


def by_number(study: CaptionerStudy) -> dict[str, Path]:
    """Sample different numbers of captions."""
    return {f"m = {m}": study.samples(f"m{m}", study.base, CaptionPlan("rs", m)) for m in (2, 5, 10, 20)}


def by_loss(study: CaptionerStudy, losses: Sequence[tuple[int, int, int]] = LOSSES) -> dict[str, Path]:
    """Sample from models with each combination of losses and each seed."""
    return {
        f"{_loss_name(*weights)}, seed {seed}": study.samples(
            f"loss-xe{weights[0]}-lambda{weights[1]}-beta{weights[2]}-seed{seed}",
            partial(study.tuned, weights[1], weights[2], weights[0], seed=seed),
            CaptionPlan("rs", M),
        )
        for seed in SEEDS[: study.seeds]
        for weights in losses
    }


def _loss_name(xe: float, weight: float, beta: float) -> str:
    parts = (("XE", xe), ("CIDEr-D", weight), ("retrieval", beta))
    return " + ".join(f"{value:g} {name}" if value != 1 else name for name, value in parts if value)


def by_latent(study: CaptionerStudy) -> dict[str, Path]:
    """Generate sets with latent vectors (CVAE, GMM-CVAE, conditional GAN), by vectors and by sampling."""
    files = {}
    for seed in range(1, study.seeds + 1):
        models: dict[str, Callable[[], TrainedCaptioner]] = {
            "CVAE": partial(study.base, "cvae", "normal", seed=seed),
            "CVAE, free bits": partial(study.base, "cvae-free", "normal", FREE_BITS, seed),
            "GMM-CVAE, free bits": partial(study.base, "gmm", "gmm", FREE_BITS, seed),
            "GAN": partial(study.gan, seed),
        }
        ending = f", seed {seed}" if seed != 1 else ""
        for kind, model in models.items():
            name = kind + ending
            for curve in model().history[-1]["curve"][-1:]:
                # A model trained against an evaluator has no curve of its own divergence.
                if "divergence" in curve:
                    print(f"{name}: divergence {curve['divergence']:.3f} nats", flush=True)
            for how in ("drv", "rs"):
                plan = CaptionPlan(how, M, sigma=(1.0, 1.0)) if how == "drv" else CaptionPlan(how, M)
                label = f"latent-{name.replace(', ', '-').replace(' ', '-')}-{how}"
                files[f"{name}, {how}"] = study.samples(label, model, plan)
    return files


def by_retrieval(study: CaptionerStudy) -> dict[str, Path]:
    """Sample from models whose retrieval reward has another matcher, other distractors or another start."""

    def after_rewards(beta: float) -> TrainedCaptioner:
        """Continue the model of CIDEr-D alone, with and without a retrieval reward."""
        return study.tuned(1, beta, 0, start=("after", study.tuned(1, 0, 0)))

    models: dict[str, Callable[[], TrainedCaptioner]] = {
        "no retrieval": partial(study.tuned, 0),
        "matcher of 30 steps": partial(study.tuned, 0, 20, matcher_steps=30),
        "matcher of 120 steps": partial(study.tuned, 0, 20),
        "matcher of 1,000 steps": partial(study.tuned, 0, 20, matcher_steps=1000),
        "8 images": partial(study.tuned, 0, 20, images=8),
        "96 images": partial(study.tuned, 0, 20, images=96),
        "CIDEr-D, then CIDEr-D": partial(after_rewards, 0),
        "CIDEr-D, then CIDEr-D + 5 retrieval": partial(after_rewards, 5),
        "CIDEr-D, then CIDEr-D + 20 retrieval": partial(after_rewards, 20),
    }
    return {
        name: study.samples(f"why-{k}", model, CaptionPlan("rs", M))
        for k, (name, model) in enumerate(models.items())
    }


def by_retrieval_alone(study: CaptionerStudy) -> dict[str, Path]:
    """Sample from a model with and without the retrieval reward, to compare sizes (``--hidden``)."""
    models = {"no retrieval": partial(study.tuned, 0), "20 retrieval": partial(study.tuned, 0, 20)}
    return {
        name: study.samples(f"size-{k}", model, CaptionPlan("rs", M))
        for k, (name, model) in enumerate(models.items())
    }


PARTS: dict[str, Callable[[CaptionerStudy], dict[str, Path]]] = {
    "lambda": by_lambda,
    "generators": by_generator,
    "m": by_number,
    "beta": by_beta,
    "losses": by_loss,
    "weights": partial(by_loss, losses=WEIGHTS),
    "retrieval": by_retrieval,
    "size": by_retrieval_alone,
    "latent": by_latent,
}


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("--folder", type=Path, default=Path("balance"))
    arguments.add_argument("--only", choices=list(PARTS), action="append", help="run this part; repeatable")
    for name, value in Sizes()._asdict().items():
        arguments.add_argument(f"--{name}", type=int, default=value)
    arguments.add_argument(
        "--seeds", type=int, default=1, help="trainings of each model of the parts losses, weights and latent"
    )
    options = arguments.parse_args()
    torch.set_num_threads(1)
    sizes = Sizes(**{name: getattr(options, name) for name in Sizes._fields})
    study = CaptionerStudy(options.folder, sizes, options.seeds)
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
