"""Re-ranking by mutual information on a captioner of our own: Wang et al. (2020) §3 and §5.

``python -m benchmarks.rerank --folder DIR [--only PART]``: trains a captioner and language models (or takes those in the folder), writes the beam of ten
of 2,000 images that none of them has seen, tunes λ and α on one half, tests on the other; then the likelihood test and template captions.
Every part is kept in the folder, and what is there is not made again: a run that was stopped goes on where it was. ``--only speed`` needs no data.

``coco/objects.jsonl.gz`` is an oracle: its objects are the instance labels united with what the references name, so it has partly read the
references, those of the unseen images too. The captioner sees it, and CHAIR judges by it.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import data_folder, read_jsonl, timed
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

UNSEEN = slice(500, 2500)
METRICS = tuning.METRICS
SIZES = (10, 20, 40, 80)


class Study:
    """Data, and a folder of what was made."""

    def __init__(self, folder: Path) -> None:
        data = data_folder()
        if data is None:
            raise SystemExit("the public data sets are needed (CAPTIOUS_DATA)")
        self.data, self.folder = data / "coco", folder
        folder.mkdir(parents=True, exist_ok=True)
        rows = read_jsonl(self.data / "references.jsonl.gz")
        self.captions = {str(row["image_id"]): row["captions"] for row in rows}
        test = [str(row["image_id"]) for row in rows if row["split"] == "test"]
        self.validation = [str(row["image_id"]) for row in rows if row["split"] == "val"][:100]
        self.unseen = test[UNSEEN]
        barred = {*test[: UNSEEN.stop], *self.validation}
        self.taught = [image for image in self.captions if image not in barred]
        self.objects = self.data / "objects.jsonl.gz"

    def path(self, name: str) -> Path:
        return self.folder / name

    def texts(self, images: list[str]) -> list[str]:
        return [text for image in images for text in self.captions[image]]

    @cached_property
    def references(self) -> References:
        return References.read({image: self.captions[image] for image in self.unseen})

    @cached_property
    def chair(self) -> dict[str, str]:
        return {"objects": str(self.objects), "chair_synonyms": str(self.data / "chair_synonyms.json")}

    @cached_property
    def captioner(self) -> Any:
        """The captioner of ``benchmarks.balance --hidden 320 --steps 4000 --least 5 --taught 9800``, which has not seen these images."""
        import torch

        from captious.generate.captioner import captioner_checkpoint as checkpoint
        from captious.generate.captioner.captioners import CaptionerShape
        from captious.generate.captioner.image_features import read_images
        from captious.training.captioner_trainer import CaptionerSettings, train

        torch.set_num_threads(1)
        path = self.path("captioner.safetensors")
        if path.exists() and checkpoint.load_unfinished(path)[1] is None:
            return checkpoint.load(path)
        settings = CaptionerSettings(
            steps=4000, batch=50, rate=4e-3, evaluate_every=1000, save_every=50, seed=1
        )
        ids = self.taught[:9800]
        known = References.read({image: self.captions[image] for image in (*ids, *self.validation)})
        return train(
            read_images(self.objects), known, path, ids=ids, validation=self.validation, shape=CaptionerShape(hidden=320, dropout=0.1), least=5,
            settings=settings, resume=True, progress=print,
        )  # fmt: skip

    def images(self, ids: list[str]) -> Any:
        from captious.generate.captioner.image_features import read_images

        return read_images(self.objects, None, self.captioner.classes).take(ids)

    @cached_property
    def nbest(self) -> NBest:
        """The best ten of a beam of ten."""
        path = self.path("nbest.jsonl")
        if not path.exists():
            from captious.generate.captioner.caption_sets import Plan, generate

            made = generate(self.captioner, self.images(self.unseen), Plan("beam", 10))
            assert made.logprobs is not None
            rows = zip(self.unseen, made.captions, made.logprobs)
            _write_lines(
                path,
                [{"image_id": image, "captions": texts, "logprobs": values} for image, texts, values in rows],
            )
        return read_nbest(path)

    def model(self, kind: str) -> Any:
        """A language model of the captions of the other images; its perplexity on 100 more."""
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
        print(
            f"{kind}: perplexity {scored.perplexity:.1f} on {len(held):,} held-out captions, {scored.unknown_share:.2%} of tokens unknown",
            flush=True,
        )
        return model

    @cached_property
    def priors(self) -> dict[str, Any]:
        """log P(s) of all candidates by each model, kept."""
        path = self.path("priors.npz")
        if not path.exists():
            found = {kind: Prior.of(self.nbest, [self.model(kind)]) for kind in ("unigram", "ngram", "lstm")}
            np.savez(
                path,
                lengths=found["unigram"].lengths,
                **{kind: prior.log[0] for kind, prior in found.items()},
            )
        with np.load(path) as arrays:
            return dict(arrays)

    def prior(self, *kinds: str) -> Prior:
        return Prior(tuple(self.priors[kind] for kind in kinds), self.priors["lengths"], kinds)

    @cached_property
    def judged(self) -> tuning.Judged:
        """Statistics of all candidates by the six metrics, kept."""
        path = self.path("candidates.scores")
        _, row = tuning.distinct(self.nbest)
        if not path.exists():
            done: list[Score] = []
            for measure in make_measures(METRICS, self.chair):
                found, seconds = timed(
                    lambda measure=measure: tuning.judge(self.nbest, self.references, [measure])
                )  # type: ignore[misc]
                print(f"{measure.name}: {seconds:.0f} s for {len(self.nbest.texts):,} candidates", flush=True)
                done += found.scores
            Scores("candidates", done).save(path)
        scores = Scores.load(path)
        return tuning.Judged(self.nbest, tuple(scores.values()), row)

    @cached_property
    def parts(self) -> tuple[IntArray, IntArray]:
        return split(len(self.nbest), 0.5, 1)

    @cached_property
    def tuned(self) -> tuple[tuning.Tuned, dict[str, Weights]]:
        """The grid of the first half, and the best weights of each variant."""
        prior = self.prior("unigram", "lstm")
        grid = tuning.tune(self.judged, prior, self.parts[0])
        return grid, variants(grid, prior)


def _write_lines(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")


def _table(systems: list[System], shares: dict[str, float]) -> str:
    """As Markdown; a star where a value differs from the baseline."""
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
            cells.append(
                f"{scale * cell.value:.2f}{mark} [{scale * cell.interval[0]:.2f}, {scale * cell.interval[1]:.2f}]"
            )
        weights = ["", ""] if one.weights is None else [f"{one.weights.lam:g}", f"{one.weights.alpha:g}"]
        lines.append(
            f"| {one.name} | {' | '.join(weights)} | {shares[one.name]:.1%} | " + " | ".join(cells) + " |"
        )
    return "\n".join(lines)


def table(study: Study) -> Any:
    """Their table with an LSTM and with n-grams; their weights as they are; other ways to choose. Each is a family of tests by itself."""
    judged, (first, second) = study.judged, study.parts
    texts = study.nbest.texts
    out: dict[str, Any] = {}

    def tell(
        name: str, title: str, chosen: dict[str, IntArray], images: IntArray, weights: dict[str, Weights]
    ) -> None:
        systems = compared(judged, chosen, images, weights)
        print(f"\n{title}:\n\n{_table(systems, changed(chosen, images, texts))}\n")
        alone = ", ".join(f"{one.name} {one.cells['SPICE-U'].p_alone:.4f}" for one in systems[1:])
        print(f"p of SPICE-U by itself, without correction: {alone}", flush=True)
        out[name] = [one.to_json() for one in systems]

    halves = f"tested on {len(second):,} images, tuned on {len(first):,} others"
    base: dict[str, IntArray] = {}
    for kind in ("lstm", "ngram"):
        prior = study.prior("unigram", kind)
        grid = tuning.tune(judged, prior, first)
        weights = variants(grid, prior)
        base = choices(judged, prior, weights)
        tell(kind, f"With {kind}, {halves}", base, second, weights)
        out[f"grid {kind}"] = grid.to_json()
        if kind == "lstm":
            rerank_plots.write_heat_map(grid, study.folder)
    prior = study.prior("unigram", "lstm")
    theirs = {
        "+ unigram": Weights(0.3, 1.0),
        "+ lstm": Weights(0.2, 0.0),
        "+ interpolated": Weights(0.4, 0.8),
    }
    every = np.arange(len(study.nbest))
    tell(
        "theirs",
        f"With the weights that the paper found for TopDown, all {len(every):,} images",
        choices(judged, prior, theirs),
        every,
        theirs,
    )
    others = {BASELINE: base[BASELINE]}
    each = tuning.tune(judged, prior, first, normalise=True).best()
    others["+ interpolated, per token"] = choices(judged, prior, {"x": each}, normalise=True)["x"]
    for metric in ("CIDEr-D", "SentenceSim"):
        done = study.path(f"consensus-{metric}.npy")
        if not done.exists():
            np.save(done, rerank(study.nbest.take(second), Consensus(make_measures(metric, {})[0])).chosen)
        # Among the candidates of the tested images by themselves, and among all.
        picked, starts = np.load(done), study.nbest.take(second).offsets[:-1]
        rows = base[BASELINE].copy()
        rows[second] = picked - starts + study.nbest.offsets[:-1][second]
        others[f"consensus ({metric})"] = rows
    tell("ways", f"Other ways to choose, {halves}", others, second, {"+ interpolated, per token": each})
    return out


def likelihood(study: Study) -> Any:
    """The likelihood test on all unseen images, before and after."""
    from captious.metrics.captions.chair import ChairS

    generic = tests.commonest(study.texts(study.taught), 5)
    wrong = tests.distractors(study.references, [text for text, _ in generic], ChairS(**study.chair))
    path = study.path("scored.jsonl")
    if not path.exists():
        from captious.generate.captioner.caption_sets import unit_likelihoods

        need = tests.to_score(study.references, wrong)
        ids = [row["image_id"] for row in need]
        found = unit_likelihoods(study.captioner, study.images(ids), [row["captions"] for row in need])
        for row, own in zip(need, found):
            row |= {
                "logprobs": [sum(one.values) for one in own],
                "tokens": [one.units for one in own],
                "token_logprobs": [one.values for one in own],
            }
        _write_lines(path, need)
    lists = tests.read_scored(path)
    kept = study.path("scored-priors.npz")
    if not kept.exists():
        np.savez(kept, **{kind: Prior.of(lists, [study.model(kind)]).log[0] for kind in ("unigram", "lstm")})
    with np.load(kept) as arrays:
        prior = Prior(
            (arrays["unigram"], arrays["lstm"]),
            np.array([len(t) + 1.0 for t in lists.tokens_for("ptb")]),
            ("unigram", "lstm"),
        )
    before = tests.likelihood_test(lists, lists.log_p(), study.references, wrong)
    print(
        f"\nLikelihood test: {len(before.ids):,} images, {before.left_out:,} without a distractor that is surely wrong; distractors: {generic}\n"
    )
    rows: dict[str, Any] = {
        "log P(s|I)": before,
        "log P(s|I), per token": tests.likelihood_test(
            lists, lists.log_p() / prior.lengths, study.references, wrong
        ),
    }
    tuned = study.tuned[1]["+ interpolated"]
    for weights in dict.fromkeys((tuned, Weights(0.5, tuned.alpha), Weights(1.0, tuned.alpha))):
        values = information(lists.log_p(), prior, weights)
        rows[f"log P(s|I) − {weights.lam:g} log P(s), α = {weights.alpha:g}"] = tests.likelihood_test(
            lists, values, study.references, wrong
        )
    print("| | likelier than some human caption | than every | pairs | p |\n|---|---:|---:|---:|---:|")
    out = {}
    for name, one in rows.items():
        shares = one.shares()
        p = tests.p_of_difference(before, one) if one is not before else float("nan")
        cells = " | ".join(f"{v:.1%} [{low:.1%}, {high:.1%}]" for v, low, high in shares.values())
        print(f"| {name} | {cells} | {'' if one is before else f'{p:.4f}'} |", flush=True)
        out[name] = {**one.to_json(), "p": None if one is before else p}
    return {"distractors": generic, "tests": out}


def templates(study: Study) -> Any:
    """SPICE and SPICE-U of template captions against their length, beside the captioner, on the tested half."""
    images = [study.unseen[i] for i in study.parts[1].tolist()]
    references = References.read({image: study.captions[image] for image in images})
    detected = read_detected(study.objects)
    # The commonest classes are those of the images that were learned from.
    counted = {image: detected[image] for image in study.taught}
    measures = make_measures("SPICE,SPICE-U", {})
    points: list[TemplatePoint] = []
    for size in SIZES:
        known = set(vocabulary(counted, size))
        own = {
            image: {name: score for name, score in detected[image].items() if name in known}
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
        said = {image: study.nbest.texts[i] for image, i in zip(study.nbest.ids, rows.tolist())}
        systems[f"captioner, {name}"] = measured(said, references, measures)
    print(
        f"\nTemplate captions of {len(images):,} images:\n\n| | objects | words | SPICE | SPICE-U |\n|---|---:|---:|---:|---:|"
    )
    for label, point in [*((f"{p.vocabulary} classes", p) for p in points), *systems.items()]:
        cells = [
            f"{100 * point.values[n]:.2f} [{100 * point.intervals[n][0]:.2f}, {100 * point.intervals[n][1]:.2f}]"
            for n in point.values
        ]
        print(
            f"| {label} | {'' if label in systems else point.most or 'all'} | {point.length:.1f} | {' | '.join(cells)} |",
            flush=True,
        )
    rerank_plots.write_curves(points, systems, study.folder)
    return {
        "points": [p.to_json() for p in points],
        "systems": {name: p.to_json() for name, p in systems.items()},
    }


def words(study: Study) -> Any:
    """A picture like their Figure 2, of captions that are ours: a demo image on which a wrong caption is likelier than a human one."""
    from captious.data import demo_path
    from captious.figures import word_colours
    from captious.generate.captioner.caption_sets import Plan, generate, unit_likelihoods
    from captious.generate.captioner.image_features import read_images
    from captious.metrics.captions.chair import ChairS

    known = References.read(demo_path("references"))
    ids = list(known.captions.ids)
    images = read_images(demo_path("objects"), None, study.captioner.classes).take(ids)
    made = generate(study.captioner, images, Plan("greedy", 1))
    generic = [text for text, _ in tests.commonest([group[0] for group in made.captions], 5)]
    wrong = tests.distractors(known, generic, ChairS(demo_path("objects")))
    need = tests.to_score(known, wrong)
    found = unit_likelihoods(
        study.captioner, images.take([row["image_id"] for row in need]), [row["captions"] for row in need]
    )
    pairs = []
    for row, own in zip(need, found):
        scored = sorted(zip(row["captions"], own), key=lambda item: sum(item[1].values))
        human = next(item for item in scored if item[0] not in wrong[row["image_id"]])
        other = next(item for item in reversed(scored) if item[0] in wrong[row["image_id"]])
        pairs.append((sum(other[1].values) - sum(human[1].values), row["image_id"], human, other))
    apart, image, human, other = max(pairs, key=lambda item: (item[0], item[1]))
    lines = [
        word_colours.WordLine(f"{label}: {text}", one.units, one.values)
        for label, (text, one) in (("human", human), ("wrong", other))
    ]
    study.path("words.svg").write_text(word_colours.as_svg(lines), encoding="utf-8")
    study.path("words.html").write_text(word_colours.as_html(lines), encoding="utf-8")
    return {"image": image, "human": human[0], "wrong": other[0], "difference": apart}


def speed() -> dict[str, float]:
    """The grid after scoring: 10,000 images × 10 candidates × 121 points, six metrics."""
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
    judged = tuning.Judged(nbest, tuple(scores), np.arange(n))
    prior = Prior((-rng.exponential(20, n), -rng.exponential(20, n)), np.full(n, 11.0), ("a", "b"))
    grid, seconds = timed(lambda: tuning.tune(judged, prior))
    print(
        f"grid of {grid.objective.size} points, {images:,} images × {each} candidates, {len(measures)} metrics: {seconds:.2f} s"
    )
    return {"seconds": seconds, "points": grid.objective.size}


PARTS: dict[str, Callable[[Study], Any]] = {
    "table": table,
    "likelihood": likelihood,
    "templates": templates,
    "words": words,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--folder", type=Path, default=Path("rerank"))
    parser.add_argument(
        "--only", choices=[*PARTS, "speed"], action="append", help="some parts alone; repeatable"
    )
    given = parser.parse_args()
    wanted = given.only or [*PARTS, "speed"]
    study = Study(given.folder) if set(wanted) & set(PARTS) else None
    for part in wanted:
        if part == "speed":
            speed()
        elif study is not None:
            found = PARTS[part](study)
            study.path(f"{part}.json").write_text(
                json.dumps(found, indent=1, ensure_ascii=False), encoding="utf-8"
            )


if __name__ == "__main__":
    main()
