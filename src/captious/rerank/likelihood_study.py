"""The likelihood test from files, as ``captious likelihood`` runs it (Wang et al. 2020, section 3.1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from captious.core.errors import InputError
from captious.io import read
from captious.metrics.captions.chair import ChairS
from captious.rerank import likelihood
from captious.rerank.information import Prior, Weights, information
from captious.rerank.language_models.model_files import load as load_model
from captious.rerank.likelihood import Tested
from captious.rerank.nbest import numbers, read_rows
from captious.results.references import References


@dataclass(frozen=True)
class GenericCaptions:
    """References, the commonest captions with their counts, and those that are wrong for each image."""

    references: References
    commonest: list[tuple[str, int]]
    wrong: dict[str, list[str]]

    @classmethod
    def find(
        cls,
        references: str | Path | References,
        training: str | Path | None = None,
        *,
        common: int = 5,
        objects: Any = None,
        chair_synonyms: Any = None,
        tokenizer: str | None = None,
    ) -> GenericCaptions:
        """Find the distractors of the likelihood test.

        Parameters
        ----------
        references
            Human captions of the images.
        training
            File to take the commonest captions from (default: the references).
        common
            Number of the commonest captions.
        objects, chair_synonyms
            Objects of the images and words for them, as for CHAIR.
        tokenizer
            Tokenizer (default: ptb, or that of prepared references).
        """
        known = References.read(references, tokenizer)
        texts: Sequence[str] = known.captions.texts
        if training is not None:
            texts = [text for group in read(training, "references").captions for text in group]
        commonest = likelihood.commonest(texts, common, known.captions.tokenizer)
        wrong = likelihood.distractors(
            known, [text for text, _ in commonest], ChairS(objects, chair_synonyms)
        )
        return cls(known, commonest, wrong)

    def to_score(self) -> list[dict[str, Any]]:
        """Return the captions whose log P the test needs: rows of ``image_id`` and ``captions``."""
        return likelihood.to_score(self.references, self.wrong)


@dataclass(frozen=True)
class LikelihoodReport:
    """Likelihood tests by log P(s|I) and, with a language model, by mutual information."""

    generic: GenericCaptions
    #: Test by the name of its formula; that of log P(s|I) is first.
    tests: dict[str, Tested]
    #: p-value of the difference between both tests, if there are two.
    p: float | None = None

    @property
    def first(self) -> Tested:
        """The test by log P(s|I)."""
        return next(iter(self.tests.values()))

    def to_json(self) -> dict[str, Any]:
        """Return a JSON-ready description."""
        return {
            "distractors": [{"caption": text, "count": count} for text, count in self.generic.commonest],
            "tests": {name: test.to_json() for name, test in self.tests.items()},
            "p": self.p,
        }


def likelihood_study(
    generic: GenericCaptions,
    scored: str | Path,
    *,
    models: Sequence[str | Path] = (),
    lam: float | None = None,
    alpha: float | None = None,
    normalise: bool = False,
    trials: int = 10_000,
) -> LikelihoodReport:
    """Test whether a captioner prefers wrong generic captions to human ones.

    Parameters
    ----------
    generic
        Distractors, from :meth:`GenericCaptions.find`.
    scored
        log P of the captions: the file that ``captious generate MODEL IMAGES --score CAPTIONS`` writes.
    models, lam, alpha
        Also test log P(s|I) − λ log P(s): files of one language model or two, the weight λ, and the weight α
        of the
        first of two.
    normalise
        Compare log P per token.
    trials
        Trials of the randomisation test between both tests.

    Returns
    -------
    LikelihoodReport
        Shares of images with a wrong caption that is likelier than human ones.
    """
    if bool(models) != (lam is not None):
        raise InputError("--lm and --lambda belong together")
    if models and (len(models) == 2) != (alpha is not None):
        raise InputError("--alpha weighs two language models, and belongs with two of them")
    tokenizer = generic.references.captions.tokenizer
    lists = likelihood.read_scored(scored)
    log_p = lists.log_p()
    per_token = log_p / [len(tokens) + 1 for tokens in lists.tokens_for(tokenizer)] if normalise else log_p
    before = likelihood.likelihood_test(lists, per_token, generic.references, generic.wrong)
    tests = {"log P(s|I)": before}
    if not models:
        return LikelihoodReport(generic, tests)
    prior = Prior.of(lists, [load_model(path, tokenizer) for path in models])
    weights = Weights(float(lam or 0.0), 1.0 if alpha is None else alpha)
    weights.check()
    values = information(log_p, prior, weights, normalise=normalise)
    after = likelihood.likelihood_test(lists, values, generic.references, generic.wrong)
    tests[f"log P(s|I) − {weights.lam:g} log P(s)"] = after
    return LikelihoodReport(generic, tests, likelihood.p_of_difference(before, after, trials))


def word_likelihoods(scored: str | Path, image: str) -> list[tuple[str, list[str], list[float]]]:
    """Return the captions of an image with their tokens and the log P of each token.

    ``scored`` is the file that ``captious generate MODEL IMAGES --score CAPTIONS --tokens`` writes.
    """
    command = "'captious generate MODEL IMAGES --score CAPTIONS --tokens'"
    for row in read_rows(scored, f"{command} writes it"):
        if isinstance(row, dict) and str(row.get("image_id")) == image:
            break
    else:
        raise InputError(f"{scored} has no image {image}")
    columns = [row.get(name) for name in ("captions", "tokens", "token_logprobs")]
    lengths = {len(column) if isinstance(column, list) else -1 for column in columns}
    if len(lengths) != 1 or max(lengths) < 1:
        raise InputError(f"{scored} has no log P of single words for image {image}; make it with {command}")
    lines = []
    for text, tokens, values in zip(*columns):
        if (
            not isinstance(tokens, list)
            or not isinstance(values, list)
            or len(values) not in (len(tokens), len(tokens) + 1)
        ):
            raise InputError(
                f"{scored}, image {image}: "
                "'token_logprobs' has one number for each token, and one for the end"
            )
        logs = numbers(values, len(values), image, str(scored), "token_logprobs")
        lines.append((str(text), [str(token) for token in tokens], logs))
    return lines
