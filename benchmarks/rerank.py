"""Re-ranking by mutual information with our captioner: Wang et al. (2020) §3 and §5.

    python -m benchmarks.rerank --folder DIR [--only PART]

Trains a captioner and language models, generates a beam of ten for 2,000 unseen images, and tunes λ and α on
one half and tests on the other. Other parts are the likelihood test and template captions. Every part is
stored in the folder, and a stopped run continues. ``--only speed`` needs no data.

``coco/objects.jsonl.gz`` is an oracle: it contains objects that the references name, also for the unseen
images. The captioner sees it, and CHAIR uses it as truth.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.study import Study, print_row, write_lines
from benchmarks.timing import timed
from captious.core.ragged import IntArray, offsets_of
from captious.figures import rerank_plots
from captious.metrics.registry import make_measures
from captious.rerank import (
    Consensus,
    Likelihood,
    NBest,
    Prior,
    Weights,
    load_model,
    read_nbest,
    rerank,
    tuning,
)
from captious.rerank import likelihood as tests
from captious.rerank.criteria import information
from captious.rerank.language_models import model_files as files
from captious.rerank.language_models.language_model import tokens_of
from captious.rerank.language_models.ngram import NGram, Unigram
from captious.rerank.templates import TemplatePoint, captions, measured, read_detected, vocabulary
from captious.rerank.tuning import (
    BASELINE,
    MEAN,
    System,
    changed,
    choices,
    compared,
    split,
    variants,
)
from captious.results.references import References
from captious.results.scores import Score, Scores

#: Images of the test split before the unseen ones, which ``benchmarks.balance`` uses.
SKIPPED = 500
METRICS = tuning.METRICS
SIZES = (10, 20, 40, 80)


class RerankStudy(Study):
    """Captioner, language models, candidates of unseen images, and their statistics."""

    def __init__(self, folder: Path, unseen: int, taught: int | None, steps: int) -> None:
        super().__init__(folder)
        test, self.validation = self.split("test"), self.split("val")[:100]
        self.steps = steps
        self.unseen = test[SKIPPED : SKIPPED + unseen]
        barred = {*test[: SKIPPED + unseen], *self.validation}
        self.taught = [image for image in self.captions if image not in barred][:taught]

    def texts(self, images: list[str]) -> list[str]:
        return [text for image in images for text in self.captions[image]]

    @cached_property
    def references(self) -> References:
        return References.read({image: self.captions[image] for image in self.unseen})

    @cached_property
    def chair(self) -> dict[str, str]:
        synonyms = self.data / "coco" / "chair_synonyms.json"
        return {"objects": str(self.objects), "chair_synonyms": str(synonyms)}

    @cached_property
    def model(self) -> Any:
        """The captioner of ``benchmarks.balance --hidden 320 --steps 4000 --least 5 --taught 9800``."""
        import torch

        from captious.generate.captioner.captioners import CaptionerShape
        from captious.generate.captioner.image_features import read_images
        from captious.training.captioner_trainer import CaptionerSettings, train

        torch.set_num_threads(1)
        ids = self.taught[:9800]

        def train_captioner(path: Path) -> Any:
            captions = {image: self.captions[image] for image in (*ids, *self.validation)}
            return train(
                *(read_images(self.objects), References.read(captions), path),
                ids=ids,
                validation=self.validation,
                shape=CaptionerShape(hidden=320, dropout=0.1),
                least=5,
                settings=CaptionerSettings(
                    steps=self.steps, batch=50, rate=4e-3, evaluate_every=1000, save_every=50, seed=1
                ),
                resume=True,
                progress=print_row,
            )

        return self.captioner("captioner.safetensors", train_captioner)

    def images(self, ids: list[str]) -> Any:
        from captious.generate.captioner.image_features import read_images

        return read_images(self.objects, None, self.model.classes).take(ids)

    @cached_property
    def nbest(self) -> NBest:
        """All captions of a beam of ten."""
        path = self.path("nbest.jsonl")
        if not path.exists():
            from captious.generate.captioner.caption_sets import CaptionPlan, generate

            beams = generate(self.model, self.images(self.unseen), CaptionPlan("beam", 10))
            assert beams.logprobs is not None
            rows = zip(self.unseen, beams.captions, beams.logprobs)
            write_lines(
                path,
                [{"image_id": image, "captions": texts, "logprobs": values} for image, texts, values in rows],
            )
        return read_nbest(path)

    def language_model(self, kind: str) -> Any:
        """Load or train a language model. Print its perplexity on captions of the validation images."""
        name = "lstm.safetensors" if kind == "lstm" else f"{kind}.npz"
        path = self.path(name)
        taught, held = (
            tokens_of(self.texts(self.taught), "ptb"),
            tokens_of(self.texts(self.validation), "ptb"),
        )
        if kind == "lstm":
            import torch

            from captious.training.lstm_trainer import Settings, train

            torch.set_num_threads(1)
            train(taught, path, held_out=held, settings=Settings(epochs=4), resume=True, progress=print)
        elif not path.exists():
            files.save(Unigram.learn(taught) if kind == "unigram" else NGram.learn(taught, 3), path)
        model = load_model(path)
        scored = model.score(held)
        perplexity = f"perplexity {scored.perplexity:.1f} on {len(held):,} held-out captions"
        print(f"{kind}: {perplexity}, {scored.unknown_share:.2%} of tokens unknown", flush=True)
        return model

    @cached_property
    def priors(self) -> dict[str, Any]:
        """log P(s) of all candidates by each language model."""
        path = self.path("priors.npz")
        if not path.exists():
            kinds = ("unigram", "ngram", "lstm")
            by_kind = {kind: Prior.of(self.nbest, [self.language_model(kind)]) for kind in kinds}
            logs = {kind: prior.log[0] for kind, prior in by_kind.items()}
            np.savez(path, lengths=by_kind["unigram"].lengths, **logs)
        with np.load(path) as arrays:
            return dict(arrays)

    def prior(self, *kinds: str) -> Prior:
        return Prior(tuple(self.priors[kind] for kind in kinds), self.priors["lengths"], kinds)

    @cached_property
    def judged(self) -> tuning.ScoredCandidates:
        """Statistics of all candidates by six metrics."""
        path = self.path("candidates.scores")
        _, row = tuning.distinct(self.nbest)
        if not path.exists():
            scored: list[Score] = []
            for measure in make_measures(METRICS, self.chair):
                judged, seconds = timed(partial(tuning.judge, self.nbest, self.references, [measure]))
                print(f"{measure.name}: {seconds} for {len(self.nbest.texts):,} candidates", flush=True)
                scored += judged.scores
            Scores("candidates", scored).save(path)
        scores = Scores.load(path)
        return tuning.ScoredCandidates(self.nbest, tuple(scores.values()), row)

    @cached_property
    def parts(self) -> tuple[IntArray, IntArray]:
        return split(len(self.nbest), 0.5, 1)

    @cached_property
    def tuned(self) -> tuple[tuning.Tuned, dict[str, Weights]]:
        """Grid of the first half of the images, and the best weights of each variant."""
        prior = self.prior("unigram", "lstm")
        grid = tuning.tune(self.judged, prior, self.parts[0])
        return grid, variants(grid, prior)


def _table(systems: list[System], shares: dict[str, float]) -> str:
    """Format systems as Markdown. A star marks a significant difference from the baseline."""
    names = list(systems[0].cells)
    lines = [
        "| | λ | α | changed | " + " | ".join(names) + " |",
        "|---|---:|---:|---:|" + "---:|" * len(names),
    ]
    for one in systems:
        cells = []
        for name in names:
            cell, scale = one.cells[name], 1 if name == MEAN else 100
            mark = "*" if cell.p <= 0.05 else ""
            low, high = (scale * bound for bound in cell.interval)
            cells.append(f"{scale * cell.value:.2f}{mark} [{low:.2f}, {high:.2f}]")
        weights = ["", ""] if one.weights is None else [f"{one.weights.lam:g}", f"{one.weights.alpha:g}"]
        lines.append(
            f"| {one.name} | {' | '.join(weights)} | {shares[one.name]:.1%} | " + " | ".join(cells) + " |"
        )
    return "\n".join(lines)


def table(study: RerankStudy) -> Any:
    """Print the paper's table with an LSTM and with n-grams, then the paper's weights and other criteria.

    Each table is a family of tests.
    """
    judged, (first, second) = study.judged, study.parts
    texts = study.nbest.texts
    out: dict[str, Any] = {}

    def report(
        name: str, title: str, chosen: dict[str, IntArray], images: IntArray, weights: dict[str, Weights]
    ) -> None:
        systems = compared(judged, chosen, images, weights)
        print(f"\n{title}:\n\n{_table(systems, changed(chosen, images, texts))}\n")
        alone = ", ".join(f"{one.name} {one.cells['SPICE-U'].p_alone:.4f}" for one in systems[1:])
        print(f"p of SPICE-U without correction: {alone}", flush=True)
        out[name] = [one.to_json() for one in systems]

    halves = f"tested on {len(second):,} images, tuned on {len(first):,} others"
    base: dict[str, IntArray] = {}
    for kind in ("lstm", "ngram"):
        prior = study.prior("unigram", kind)
        grid = tuning.tune(judged, prior, first)
        weights = variants(grid, prior)
        base = choices(judged, prior, weights)
        report(kind, f"With {kind}, {halves}", base, second, weights)
        out[f"grid {kind}"] = grid.to_json()
        if kind == "lstm":
            rerank_plots.write_heat_map(grid, study.folder)
    prior = study.prior("unigram", "lstm")
    paper_weights = {
        "+ unigram": Weights(0.3, 1.0),
        "+ lstm": Weights(0.2, 0.0),
        "+ interpolated": Weights(0.4, 0.8),
    }
    every = np.arange(len(study.nbest))
    report(
        "paper",
        f"With the paper's weights for TopDown, all {len(every):,} images",
        choices(judged, prior, paper_weights),
        every,
        paper_weights,
    )
    others = {BASELINE: base[BASELINE]}
    per_token = tuning.tune(judged, prior, first, normalise=True).best()
    others["+ interpolated, per token"] = choices(judged, prior, {"x": per_token}, normalise=True)["x"]
    for metric in ("CIDEr-D", "SentenceSim"):
        path = study.path(f"consensus-{metric}.npy")
        if not path.exists():
            np.save(path, rerank(study.nbest.take(second), Consensus(make_measures(metric, {})[0])).chosen)
        # Rows are counted among the candidates of the tested images, and then among all candidates.
        picked, starts = np.load(path), study.nbest.take(second).offsets[:-1]
        rows = base[BASELINE].copy()
        rows[second] = picked - starts + study.nbest.offsets[:-1][second]
        others[f"consensus ({metric})"] = rows
    report("criteria", f"Other criteria, {halves}", others, second, {"+ interpolated, per token": per_token})
    return out


def likelihood(study: RerankStudy) -> Any:
    """Run the likelihood test on all unseen images, before and after re-ranking."""
    from captious.metrics.captions.chair import ChairS

    generic = tests.commonest(study.texts(study.taught), 5)
    wrong = tests.distractors(study.references, [text for text, _ in generic], ChairS(**study.chair))
    path = study.path("scored.jsonl")
    if not path.exists():
        from captious.generate.captioner.caption_sets import unit_likelihoods

        need = tests.to_score(study.references, wrong)
        ids = [row["image_id"] for row in need]
        likelihoods = unit_likelihoods(study.model, study.images(ids), [row["captions"] for row in need])
        for row, own in zip(need, likelihoods):
            row |= {
                "logprobs": [sum(one.values) for one in own],
                "tokens": [one.units for one in own],
                "token_logprobs": [one.values for one in own],
            }
        write_lines(path, need)
    lists = tests.read_scored(path)
    path = study.path("scored-priors.npz")
    if not path.exists():
        np.savez(
            path,
            **{kind: Prior.of(lists, [study.language_model(kind)]).log[0] for kind in ("unigram", "lstm")},
        )
    with np.load(path) as arrays:
        prior = Prior(
            (arrays["unigram"], arrays["lstm"]),
            np.array([len(t) + 1.0 for t in lists.tokens_for("ptb")]),
            ("unigram", "lstm"),
        )
    before = tests.likelihood_test(lists, lists.log_p(), study.references, wrong)
    left_out = f"{before.left_out:,} images without a wrong distractor are left out"
    print(f"\nLikelihood test: {len(before.ids):,} images ({left_out}); distractors: {generic}\n")
    rows: dict[str, Any] = {
        "log P(s|I) per word": tests.likelihood_test(
            lists, lists.log_p() / prior.lengths, study.references, wrong
        ),
        "log P(s|I)": before,
    }
    tuned = study.tuned[1]["+ interpolated"]
    for weights in dict.fromkeys((tuned, Weights(0.5, tuned.alpha), Weights(1.0, tuned.alpha))):
        values = information(lists.log_p(), prior, weights)
        rows[f"log P(s|I) − {weights.lam:g} log P(s), α = {weights.alpha:g}"] = tests.likelihood_test(
            lists, values, study.references, wrong
        )
    print("| | more likely than some human caption | than every | pairs | p |\n|---|---:|---:|---:|---:|")
    out = {}
    for name, one in rows.items():
        shares = one.shares()
        p = tests.p_of_difference(before, one) if one is not before else float("nan")
        cells = " | ".join(f"{v:.1%} [{low:.1%}, {high:.1%}]" for v, low, high in shares.values())
        print(f"| {name} | {cells} | {'' if one is before else f'{p:.4f}'} |", flush=True)
        out[name] = {**one.to_json(), "p": None if one is before else p}
    return {"distractors": generic, "tests": out}


def templates(study: RerankStudy) -> Any:
    """Measure SPICE and SPICE-U of template captions by length, beside the captioner, on the tested half."""
    images = [study.unseen[i] for i in study.parts[1].tolist()]
    references = References.read({image: study.captions[image] for image in images})
    detected = read_detected(study.objects)
    # The most frequent classes are those of the training images.
    counted = {image: detected[image] for image in study.taught}
    measures = make_measures("SPICE,SPICE-U", {})
    points: list[TemplatePoint] = []
    for size in SIZES:
        classes = set(vocabulary(counted, size))
        own = {
            image: {name: score for name, score in detected[image].items() if name in classes}
            for image in images
        }
        points += [
            measured(captions(own, size, most=most), references, measures, (size, 0.0, most))
            for most in (1, 2, 3, 4, None)
        ]
    chosen = {
        BASELINE: rerank(study.nbest, Likelihood()).chosen,
        **choices(
            study.judged, study.prior("unigram", "lstm"), {"+ interpolated": study.tuned[1]["+ interpolated"]}
        ),
    }
    systems = {}
    for name, rows in chosen.items():
        texts = {image: study.nbest.texts[i] for image, i in zip(study.nbest.ids, rows.tolist())}
        systems[f"captioner, {name}"] = measured(texts, references, measures)
    print(f"\nTemplate captions of {len(images):,} images:\n")
    print("| | objects | words | SPICE | SPICE-U |\n|---|---:|---:|---:|---:|")
    for label, point in [*((f"{p.vocabulary} classes", p) for p in points), *systems.items()]:
        cells = ["" if label in systems else str(point.most or "all"), f"{point.length:.1f}"]
        for name, value in point.values.items():
            low, high = point.intervals[name]
            cells.append(f"{100 * value:.2f} [{100 * low:.2f}, {100 * high:.2f}]")
        print(f"| {label} | {' | '.join(cells)} |", flush=True)
    rerank_plots.write_curves(points, systems, study.folder)
    return {
        "points": [p.to_json() for p in points],
        "systems": {name: p.to_json() for name, p in systems.items()},
    }


def words(study: RerankStudy) -> Any:
    """Draw the paper's Figure 2 for a demo image whose wrong caption is more likely than a human one."""
    from captious.data import demo_path
    from captious.figures import word_colours
    from captious.generate.captioner.caption_sets import CaptionPlan, generate, unit_likelihoods
    from captious.generate.captioner.image_features import read_images
    from captious.metrics.captions.chair import ChairS

    references = References.read(demo_path("references"))
    ids = list(references.captions.ids)
    images = read_images(demo_path("objects"), None, study.model.classes).take(ids)
    captions = generate(study.model, images, CaptionPlan("greedy", 1)).captions
    generic = [text for text, _ in tests.commonest([group[0] for group in captions], 5)]
    wrong = tests.distractors(references, generic, ChairS(demo_path("objects")))
    need = tests.to_score(references, wrong)
    likelihoods = unit_likelihoods(
        study.model, images.take([row["image_id"] for row in need]), [row["captions"] for row in need]
    )
    pairs = []
    for row, own in zip(need, likelihoods):
        scored = sorted(zip(row["captions"], own), key=lambda item: sum(item[1].values))
        human = next(item for item in scored if item[0] not in wrong[row["image_id"]])
        other = next(item for item in reversed(scored) if item[0] in wrong[row["image_id"]])
        pairs.append((sum(other[1].values) - sum(human[1].values), row["image_id"], human, other))
    if not pairs:
        print("words: no demo image has a wrong caption")
        return None
    difference, image, human, other = max(pairs, key=lambda item: (item[0], item[1]))
    lines = [
        word_colours.WordLine(f"{label}: {text}", one.units, one.values)
        for label, (text, one) in (("human", human), ("wrong", other))
    ]
    study.path("words.svg").write_text(word_colours.as_svg(lines), encoding="utf-8")
    study.path("words.html").write_text(word_colours.as_html(lines), encoding="utf-8")
    return {"image": image, "human": human[0], "wrong": other[0], "difference": difference}


def speed() -> None:
    """Time the grid of 121 points after scoring, with 10,000 images × 10 candidates and six metrics."""
    images, each = 10_000, 10
    rng = np.random.default_rng(1)
    n = images * each
    nbest = NBest(
        tuple(map(str, range(images))),
        tuple("a" for _ in range(n)),
        offsets_of([each] * images),
        -rng.exponential(10, n),
    )
    measures = make_measures("BLEU-4,ROUGE-L,CIDEr-D,CHAIRs,CHAIRi,BLEU-1", {})
    scores = []
    for measure in measures:
        columns = 10 if measure.name.startswith("BLEU") else 2
        table = (
            rng.integers(1, 10, (n, columns)).astype(float)
            if columns == 10
            else np.stack([rng.random(n), np.ones(n)], axis=1)
        )
        scores.append(Score(measure, table, nbest.ids, nbest.offsets, measure.name))
    judged = tuning.ScoredCandidates(nbest, tuple(scores), np.arange(n))
    prior = Prior((-rng.exponential(20, n), -rng.exponential(20, n)), np.full(n, 11.0), ("a", "b"))
    grid, seconds = timed(lambda: tuning.tune(judged, prior))
    size = f"{images:,} images × {each} candidates, {len(measures)} metrics"
    print(f"grid of {grid.objective.size} points, {size}: {seconds}")


PARTS: dict[str, Callable[[RerankStudy], Any]] = {
    "table": table,
    "likelihood": likelihood,
    "templates": templates,
    "words": words,
}


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("--folder", type=Path, default=Path("rerank"))
    arguments.add_argument(
        "--only", choices=[*PARTS, "speed"], action="append", help="run this part; repeatable"
    )
    arguments.add_argument("--unseen", type=int, default=2000, help="unseen images")
    arguments.add_argument("--taught", type=int, help="training images (default: all others)")
    arguments.add_argument("--steps", type=int, default=4000, help="training steps of the captioner")
    options = arguments.parse_args()
    study = None
    for part in options.only or [*PARTS, "speed"]:
        if part == "speed":
            speed()
            continue
        study = study or RerankStudy(options.folder, options.unseen, options.taught, options.steps)
        result = json.dumps(PARTS[part](study), indent=1, ensure_ascii=False)
        study.path(f"{part}.json").write_text(result, encoding="utf-8")


if __name__ == "__main__":
    main()
