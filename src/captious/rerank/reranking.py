"""Re-ranking from files: criteria by name, and weights that are tuned on a part of the images."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from captious.core.errors import InputError, did_you_mean
from captious.metrics.registry import make_measures
from captious.rerank import tuning
from captious.rerank.criteria import Consensus, Criterion, Likelihood, MutualInformation, Prior, Weights
from captious.rerank.external_scores import read_given
from captious.rerank.language_models.model_files import load as load_model
from captious.rerank.nbest import NBest, read_nbest
from captious.rerank.selection_rules import Grid, Reranked, best
from captious.rerank.tuning import System, Tuned, changed, choices, compared, split, variants
from captious.results.references import References

#: Criteria by name. A critic's scores are read from a file like any others.
CRITERIA = ("mi", "consensus", "scores", "critic", "likelihood")


@dataclass(frozen=True, eq=False)
class Tuning:
    """The best weights on one part of the images, and all systems compared on the other."""

    weights: Weights
    grid: Tuned
    systems: list[System]
    #: By system, the share of images whose caption differs from the baseline's.
    changed: Mapping[str, float]
    models: int
    tuned_on: int
    tested_on: int
    #: Whether the systems were compared on images that were not tuned on.
    is_held_out: bool

    def to_json(self) -> dict[str, Any]:
        """Return a JSON-ready description."""
        return {
            "lambda": self.weights.lam,
            "alpha": self.weights.alpha if self.models == 2 else None,
            "tuned on": self.tuned_on,
            "tested on": self.tested_on,
            "grid": self.grid.to_json(),
            "systems": [{**one.to_json(), "changed": self.changed[one.name]} for one in self.systems],
        }


@dataclass(frozen=True, eq=False)
class Reranking(Reranked):
    """Chosen captions, the name of the criterion, and the tuning of its weights if there was any."""

    criterion: str = ""
    tuning: Tuning | None = None

    def to_json(self) -> dict[str, Any]:
        """Return a JSON-ready description, without the captions."""
        return {
            "by": self.criterion,
            "images": len(self.nbest),
            "changed": self.changed,
            **({} if self.tuning is None else self.tuning.to_json()),
        }


def rerank(
    nbest: NBest | str | Path,
    by: Criterion | str = "mi",
    *,
    models: Sequence[str | Path] = (),
    lam: float | None = None,
    alpha: float | None = None,
    normalise: bool = False,
    metric: str | None = None,
    posterior: bool = False,
    scores: str | Path | None = None,
    tune: str | Path | None = None,
    metrics: Any = None,
    part: float = 0.5,
    trials: int = 10_000,
    resamples: int = 1000,
    seed: int = 1,
    tokenizer: str | None = None,
    **options: Any,
) -> Reranking:
    """Choose a caption from each n-best list.

    Parameters
    ----------
    nbest
        n-best lists, or a JSON Lines file with ``image_id``, ``captions`` and ``logprobs``.
    by
        A criterion, or the name of one: "mi" (mutual information, Wang et al. 2020: log P(s|I) − λ log P(s)),
        "consensus", "scores" or "critic" (from a file), "likelihood".
    models, lam, alpha, normalise
        For "mi": files of one language model or two, the weight λ of their log P(s), the weight α of the
        first of two, and whether to divide by the number of tokens.
    metric
        The metric of a consensus (default: CIDEr-D), or the one to take from a file with several scores.
    posterior
        Weight the candidates of a consensus by their probability.
    scores
        File with scores of the candidates: JSON Lines (``image_id``, ``scores``) or ``NAME.scores``.
    tune, metrics, part, trials, resamples, seed
        For "mi": references to tune λ and α with, the metrics whose geometric mean is maximised, the share of
        images to tune on, and the settings of the tests on the other images.
    tokenizer
        Tokenizer of language models and of a consensus (default: ptb).
    options
        Options of metrics.

    Returns
    -------
    Reranking
        The choice with the scores of all candidates.

    Examples
    --------
    >>> import json, tempfile
    >>> from captious.rerank import read_nbest
    >>> row = {"image_id": 1, "captions": ["a dog runs", "a cat"], "logprobs": [-1.0, -0.5]}
    >>> with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
    ...     print(json.dumps(row), file=file, flush=True)
    ...     nbest = read_nbest(file.name)
    >>> rerank(nbest, "consensus", metric="BLEU-1").criterion
    'consensus (BLEU-1)'
    """
    if isinstance(by, str):
        _check(by, models, lam, alpha, scores, tune, part)
    lists = nbest if isinstance(nbest, NBest) else read_nbest(nbest)
    tuned: Tuning | None = None
    criterion: Criterion
    if isinstance(by, Criterion):
        criterion = by
    elif by == "likelihood":
        criterion = Likelihood()
    elif by == "consensus":
        measures = make_measures(metric or "CIDEr-D", options)
        if len(measures) != 1:
            raise InputError(f"a consensus uses one metric, but '{metric}' names {len(measures)}; choose one")
        criterion = Consensus(measures[0], posterior=posterior, tokenizer=tokenizer or "ptb")
    elif by == "mi":
        lists.log_p()
        prior = Prior.of(lists, [load_model(path, tokenizer or "ptb") for path in models])
        if tune is None:
            weights = Weights(float(lam or 0.0), 1.0 if alpha is None else alpha)
        else:
            measures = make_measures(metrics or tuning.METRICS, options)
            references = References.read(tune, tokenizer)
            tuned = _tune(
                lists,
                prior,
                references,
                measures,
                part,
                normalise=normalise,
                tests={"trials": trials, "resamples": resamples, "seed": seed},
            )
            weights = tuned.weights
        criterion = MutualInformation(prior, weights, normalise=normalise)
    else:
        assert scores is not None
        criterion = read_given(scores, metric)
    values = np.asarray(criterion.values(lists), np.float64)
    if len(values) != len(lists.texts):
        raise InputError(f"{criterion.name} has {len(values):,} scores for {len(lists.texts):,} candidates")
    if not np.isfinite(values).all():
        first = int(np.flatnonzero(~np.isfinite(values))[0])
        raise InputError(
            f"{criterion.name} gives no finite score to {lists.texts[first]!r} "
            f"(image {lists.ids[int(lists.image_of[first])]})"
        )
    return Reranking(lists, values, best(Grid.of(lists.offsets), values), criterion.name, tuned)


def _check(
    by: str,
    models: Sequence[Any],
    lam: float | None,
    alpha: float | None,
    scores: Any,
    tune: Any,
    part: float,
) -> None:
    """Refuse options that do not belong together."""
    if by not in CRITERIA:
        raise InputError(
            f"unknown criterion '{by}'{did_you_mean(by, CRITERIA)}; choose {', '.join(CRITERIA)}"
        )
    count = len(models)
    if by == "mi":
        if not count:
            raise InputError(
                "mutual information needs a language model (--lm MODEL); "
                "'captious train lm CAPTIONS -o MODEL' trains one"
            )
        if count > 2:
            raise InputError(f"{count} language models: pass one, or two to interpolate (--lm)")
        if tune is None and lam is None:
            raise InputError(
                "the weight of the language model is missing; set it (--lambda 0.3) or tune it (--tune REFS)"
            )
        if tune is None and count == 2 and alpha is None:
            raise InputError(
                "the weight of the first of two language models is missing; "
                "set it (--alpha 0.5) or tune it (--tune REFS)"
            )
        if tune is not None and (lam is not None or alpha is not None):
            raise InputError("--tune chooses λ and α; leave out --lambda and --alpha")
        if alpha is not None and count < 2:
            raise InputError("--alpha weighs two language models; pass --lm twice, or leave out --alpha")
    elif count or lam is not None or alpha is not None or tune is not None:
        raise InputError(f"--lm, --lambda, --alpha and --tune belong to '--by mi', not to '--by {by}'")
    if (by in ("scores", "critic")) != (scores is not None):
        raise InputError(
            "'--by scores' (or critic) and '--scores FILE' belong together; "
            "'captious critic REFS NBEST --allow-several -o critic.scores' writes such a file"
        )
    if not 0 < part <= 1:
        raise InputError(f"the share of images to tune on (--part) must be above 0 and at most 1, not {part}")


def _tune(
    lists: NBest,
    prior: Prior,
    references: References,
    measures: Sequence[Any],
    part: float,
    *,
    normalise: bool,
    tests: dict[str, int],
) -> Tuning:
    """Find the best weights on one part of the images, and compare all systems on the other."""
    tuned_on, others = split(len(lists), part, tests["seed"])
    if not len(tuned_on) or (part < 1 and not len(others)):
        raise InputError(
            f"{len(lists):,} images cannot be divided into a part to tune on and a part to test on; "
            "change --part, or use more images"
        )
    judged = tuning.judge(lists, references, measures)
    grid = tuning.tune(judged, prior, tuned_on, normalise=normalise)
    weights = variants(grid, prior)
    chosen = choices(judged, prior, weights, normalise=normalise)
    tested_on = others if len(others) else tuned_on
    systems = compared(judged, chosen, tested_on, weights, **tests)
    return Tuning(
        weights=list(weights.values())[-1],
        grid=grid,
        systems=systems,
        changed=changed(chosen, tested_on, lists.texts),
        models=len(prior.log),
        tuned_on=len(tuned_on),
        tested_on=len(tested_on),
        is_held_out=len(others) > 0,
    )
