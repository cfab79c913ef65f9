"""``captious rerank``: choose one caption from each n-best list, by mutual information, consensus or any scores; and tune the weights."""

from __future__ import annotations

import json as json_format
from pathlib import Path
from typing import Annotated, Any

import typer

from captious.cli import options
from captious.cli.look import takes_look
from captious.cli.output import is_taken, note, print_table, say, write_json, write_text
from captious.errors import InputError

#: A critic's scores are scores from a file, as any others.
WAYS = ("mi", "consensus", "scores", "critic", "likelihood")


def register(app: typer.Typer) -> None:
    app.command("rerank")(options.takes_columns(options.takes_measure_options(takes_look(rerank, of_scores=False))))


def rerank(
    nbest: Annotated[Path, typer.Argument(metavar="NBEST", help="n-best lists: JSONL with image_id, captions, logprobs.")],
    output: Annotated[Path | None, typer.Option("--output", "-o", metavar="OUT", help="The chosen captions, as COCO results (JSON); '-' for stdout.")] = None,
    by: Annotated[str, typer.Option("--by", help="mi (mutual information), consensus, scores or critic (both from a file, --scores), or likelihood.")] = "mi",
    models: Annotated[
        list[Path] | None, typer.Option("--lm", metavar="MODEL", help="A language model: of 'captious train lm', ARPA, or a folder (transformers); twice to interpolate.")
    ] = None,
    lam: Annotated[float | None, typer.Option("--lambda", metavar="λ", help="Weight of the language model.")] = None,
    alpha: Annotated[float | None, typer.Option("--alpha", metavar="α", help="Weight of the first of two language models.")] = None,
    normalise: Annotated[bool, typer.Option("--normalise", help="Per token: longer captions are not worse for being longer.")] = False,
    metric: Annotated[str | None, typer.Option("--metric", help="The metric of a consensus (CIDEr-D), or of a file with several scores.")] = None,
    posterior: Annotated[bool, typer.Option("--posterior", help="In a consensus, candidates weigh as likely as they are.")] = False,
    scores: Annotated[Path | None, typer.Option("--scores", metavar="FILE", help="Scores of the candidates: JSONL (image_id, scores) or NAME.scores.")] = None,
    keep: Annotated[Path | None, typer.Option("--candidates", metavar="OUT", help="Also write all candidates with their scores (JSONL).")] = None,
    tune: Annotated[Path | None, typer.Option("--tune", metavar="REFS", help="Find λ and α on a part of the images, with these references; compare on the others.")] = None,
    metrics: Annotated[str | None, typer.Option("--metrics", "-m", help="What to tune for: the geometric mean of these (default: BLEU-4, METEOR, CIDEr-D, CHAIRs, SPICE, SPICE-U).")] = None,
    part: Annotated[float, typer.Option("--part", help="The share of images to tune on.")] = 0.5,
    trials: Annotated[int, typer.Option("--trials", min=1, help="Trials of the randomisation test.")] = 10_000,
    resamples: Annotated[int, typer.Option("--resamples", min=2, help="Resamples of the bootstrap.")] = 1000,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of the division of images and of the tests.")] = 1,
    plots: Annotated[Path | None, typer.Option("--plots", metavar="DIR", help="Draw the grid of λ and α into this folder.")] = None,
    tokenizer: options.Tokenizer = None,
    json: options.JsonOut = None,
    *,
    given: dict[str, Any],
) -> None:
    """Choose a caption from each n-best list.

    By mutual information (Wang et al. 2020): log P(s|I) − λ log P(s). With --tune, λ and α are found first.
    """
    from captious.rerank import Likelihood, read_nbest
    from captious.rerank import rerank as choose
    from captious.rerank.choosing import Criterion

    if by not in WAYS:
        raise InputError(f"captions are chosen by {', '.join(WAYS)}, not by '{by}'")
    if output is None and keep is None and tune is None:
        raise InputError("say where the chosen captions go: -o results.json")
    is_taken(output, keep, json)
    _check(by, models, lam, alpha, scores, tune, part)
    lists = read_nbest(nbest)
    criterion: Criterion
    result: dict[str, Any] | None = None
    if by == "likelihood":
        criterion = Likelihood()
    elif by == "consensus":
        criterion = _consensus(metric or "CIDEr-D", given, posterior, tokenizer)
    elif by in ("scores", "critic"):
        from captious.rerank import read_given

        criterion = read_given(scores, metric)  # type: ignore[arg-type]
    else:
        from captious.rerank import MutualInformation, Prior, Weights, load_model

        lists.log_p()
        prior = Prior.of(lists, [load_model(path, tokenizer or "ptb") for path in models or []])
        if tune is None:
            weights = Weights(float(lam or 0.0), 1.0 if alpha is None else alpha)
        else:
            weights, result = _tuned(lists, prior, tune, metrics, part, seed, trials, resamples, plots, normalise, tokenizer, given, quiet=is_taken(output, keep, json))
        criterion = MutualInformation(prior, weights, normalise=normalise)
    chosen = choose(lists, criterion)
    if output is not None:
        write_text(json_format.dumps(chosen.results(), ensure_ascii=False) + "\n", str(output))
    if keep is not None:
        write_text("".join(json_format.dumps(row, ensure_ascii=False) + "\n" for row in chosen.candidates()), str(keep))
    if json is not None:
        write_json({"by": criterion.name, "images": len(lists), "changed": chosen.changed, **({} if result is None else result)}, json)
    written = output or keep
    say(f"{written or nbest}: {len(lists):,} images by {criterion.name}, {chosen.changed:,} captions are not the likeliest", output, keep, json)


def _check(by: str, models: list[Path] | None, lam: float | None, alpha: float | None, scores: Path | None, tune: Path | None, part: float) -> None:
    """Options that belong together."""
    count = len(models or [])
    if by == "mi":
        if not count:
            raise InputError("mutual information needs a language model (--lm; 'captious train lm CAPTIONS' makes one)")
        if count > 2:
            raise InputError(f"one language model is used, or two are interpolated; {count} were given")
        if tune is None and lam is None:
            raise InputError("say how much the language model weighs (--lambda 0.3), or have it found (--tune REFS)")
        if tune is None and count == 2 and alpha is None:
            raise InputError("two language models are interpolated by --alpha, the weight of the first, or --tune REFS finds it")
        if tune is not None and (lam is not None or alpha is not None):
            raise InputError("--tune finds λ and α; leave out --lambda and --alpha")
    elif count or lam is not None or alpha is not None or tune is not None:
        raise InputError(f"--lm, --lambda, --alpha and --tune belong to '--by mi', not to '--by {by}'")
    if alpha is not None and count < 2 and by == "mi":
        raise InputError("--alpha weighs two language models, and one was given")
    if (by in ("scores", "critic")) != (scores is not None):
        raise InputError("'--by scores' (or critic) and '--scores FILE' belong together; 'captious critic REFS NBEST --allow-several -o critic.scores' makes such a file")
    if not 0 < part <= 1:
        raise InputError(f"the share of images to tune on is above 0 and at most 1, not {part}")


def _consensus(metric: str, given: dict[str, Any], posterior: bool, tokenizer: str | None) -> Any:
    from captious.measures.making import make_measures
    from captious.rerank import Consensus

    made = make_measures(metric, given)
    if len(made) != 1:
        raise InputError(f"a consensus is by one metric, and '{metric}' are {len(made)}")
    return Consensus(made[0], posterior=posterior, tokenizer=tokenizer or "ptb")


def _tuned(
    lists: Any, prior: Any, tune: Path, metrics: str | None, part: float, seed: int, trials: int, resamples: int, plots: Path | None,
    normalise: bool, tokenizer: str | None, given: dict[str, Any], *, quiet: bool,
) -> tuple[Any, dict[str, Any]]:  # fmt: skip
    """The best weights on one part of the images, and the table of the others."""
    from captious.measures.making import make_measures
    from captious.references import References
    from captious.rerank import tuning
    from captious.rerank.comparing import changed, choices, compared, split, variants

    measures = make_measures(metrics or tuning.METRICS, given)
    first, second = split(len(lists), part, seed)
    if not len(first) or (part < 1 and not len(second)):
        raise InputError(f"{len(lists):,} images cannot be divided into a part to tune on and a part to test on; change --part")
    judged = tuning.judge(lists, References.read(tune, tokenizer), measures)
    found = tuning.tune(judged, prior, first, normalise=normalise)
    weights = variants(found, prior)
    chosen = choices(judged, prior, weights, normalise=normalise)
    tested = second if len(second) else first
    systems = compared(judged, chosen, tested, weights, trials=trials, resamples=resamples, seed=seed)
    shares = changed(chosen, tested, lists.texts)
    if not quiet:
        title = f"{len(tested):,} images that were {'not ' if len(second) else ''}tuned on (tuned: {len(first):,})"
        names = list(systems[0].cells)
        rows = [
            [one.name, _weights(one.weights, len(prior.log)), f"{shares[one.name]:.1%}", *(_cell(one.cells[name], name) for name in names)] for one in systems
        ]
        print_table(title, ["", "weights", "changed", *names], rows)
        note("* differs from the baseline: p ≤ 0.05, Holm's correction over all cells (GeoMean: paired bootstrap). Intervals are of 95 %.")
    if plots is not None:
        from captious.figures import rerank_plots

        written = rerank_plots.write_heat_map(found, plots)
        if not quiet:
            note(f"{written[0]}")
    best = list(weights.values())[-1]
    described = {
        "lambda": best.lam, "alpha": best.alpha if len(prior.log) == 2 else None, "tuned on": len(first), "tested on": len(tested), "grid": found.to_json(),
        "systems": [{**one.to_json(), "changed": shares[one.name]} for one in systems],
    }  # fmt: skip
    return best, described


def _weights(weights: Any, models: int) -> str:
    if weights is None:
        return ""
    return f"λ {weights.lam:g}" + (f", α {weights.alpha:g}" if models == 2 else "")


def _cell(cell: Any, name: str) -> str:
    digits = 2 if name == "GeoMean" else 4
    mark = "*" if cell.p <= 0.05 else ""
    return f"{cell.value:.{digits}f}{mark} [{cell.interval[0]:.{digits}f}, {cell.interval[1]:.{digits}f}]"
