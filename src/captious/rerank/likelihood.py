"""Likelihood test: how often a model finds a wrong generic caption likelier than a human one (Wang et al.
2020).

Distractors are the most frequent captions of a training corpus (§3.1). An image uses a distractor only if
CHAIR finds an object in it that the image does not have, so the distractor is certainly wrong. The test fails
on an image if P(d|I) > P(g|I) for some distractor d and some human caption g.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.core.errors import InputError, some
from captious.core.memo import cached_property
from captious.corpus import Corpus
from captious.io import CaptionWarning, read
from captious.io.caption_files import show
from captious.io.content import shown_name
from captious.metrics.captions.chair import ChairS
from captious.rerank.criteria import Prior, Weights, information
from captious.rerank.language_models.language_model import Floats, tokens_of
from captious.rerank.language_models.model_files import load as load_model
from captious.rerank.nbest import NBest, numbers, read_nbest, read_rows
from captious.results import significance
from captious.results.references import References
from captious.results.scores import json_number


def commonest(captions: Sequence[str], count: int = 5, tokenizer: str = "ptb") -> list[tuple[str, int]]:
    """Return the most frequent captions (by tokens) with their counts. Ties are in alphabetical order."""
    if count < 1:
        raise InputError(f"the number of distractors must be at least 1, not {count}")
    counts = Counter(" ".join(tokens) for tokens in tokens_of(captions, tokenizer))
    counts.pop("", None)
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:count]


def distractors(references: References, generic: Sequence[str], chair: ChairS) -> dict[str, list[str]]:
    """Return for each image the generic captions that name an object the image does not have."""
    ids = references.captions.ids
    corpus = Corpus.build(ids, [list(generic)] * len(ids), references.captions)
    rows = iter(chair.mentions(corpus))
    return {
        image: [row.caption for row in (next(rows) for _ in generic) if row.hallucinated] for image in ids
    }


@dataclass(frozen=True, eq=False)
class Tested:
    """Scores of human captions and of distractors, for the images that have both."""

    ids: tuple[str, ...]
    human: tuple[Floats, ...]
    wrong: tuple[Floats, ...]
    #: Images without a certainly wrong distractor.
    left_out: int

    @cached_property
    def fooled(self) -> NDArray[np.bool_]:
        """Whether some distractor is likelier than some human caption (the paper's criterion), per image."""
        return np.array([w.max() > h.min() for w, h in zip(self.wrong, self.human)], np.bool_)

    @cached_property
    def fooled_by_all(self) -> NDArray[np.bool_]:
        """Whether some distractor is likelier than every human caption, per image."""
        return np.array([w.max() > h.max() for w, h in zip(self.wrong, self.human)], np.bool_)

    @cached_property
    def pairs(self) -> Floats:
        """Share of (distractor, human caption) pairs in which the distractor is likelier, per image."""
        return np.array([(w[:, None] > h[None]).mean() for w, h in zip(self.wrong, self.human)])

    def shares(
        self, level: float = 0.95, resamples: int = significance.RESAMPLES, seed: int = significance.SEED
    ) -> dict[str, tuple[float, float, float]]:
        """Return each share with its interval over images."""
        shares = {}
        for name, rows in (("some", self.fooled), ("every", self.fooled_by_all), ("pairs", self.pairs)):
            table = _table(rows)
            shares[name] = (float(rows.mean()), *significance.interval(table, _mean, level, resamples, seed))
        return shares

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready description."""
        rows = {
            name: {"share": json_number(value), "interval": [json_number(low), json_number(high)]}
            for name, (value, low, high) in self.shares().items()
        }
        return {"images": len(self.ids), "left out": self.left_out, **rows}


def _table(rows: Any) -> Floats:
    values = np.asarray(rows, np.float64)
    return np.stack([values, np.ones(len(values))], axis=1)


def _mean(sums: Any) -> Floats:
    mean: Floats = sums[..., 0] / sums[..., 1]
    return mean


def likelihood_test(
    scored: NBest, values: Floats, references: References, wrong: Mapping[str, Sequence[str]]
) -> Tested:
    """Compare the scores of human captions and distractors. Both must be among the scored captions."""
    texts = references.captions.texts
    bounds = references.captions.image_offsets.tolist()
    row_of = {image: j for j, image in enumerate(scored.ids)}
    ids, human, distractor_values, left_out = [], [], [], 0
    for j, image in enumerate(references.captions.ids):
        if not wrong.get(image):
            left_out += 1
            continue
        if image not in row_of:
            raise InputError(
                f"{scored.name} has no captions of image {show(image)}; "
                "score the captions written with --write"
            )
        a, b = scored.offsets[row_of[image] : row_of[image] + 2].tolist()
        value_of = {text: values[i] for i, text in zip(range(a, b), scored.texts[a:b])}
        own = list(dict.fromkeys(texts[bounds[j] : bounds[j + 1]]))
        missing_texts = [text for text in (*own, *wrong[image]) if text not in value_of]
        if missing_texts:
            raise InputError(
                f"{scored.name} has no log P of {some(map(show, missing_texts), 2)} of image {show(image)}; "
                "score the captions written with --write"
            )
        ids.append(image)
        human.append(np.array([value_of[text] for text in own]))
        distractor_values.append(np.array([value_of[text] for text in wrong[image]]))
    if not ids:
        raise InputError("no image has a certainly wrong distractor; use more generic captions (--common)")
    return Tested(tuple(ids), tuple(human), tuple(distractor_values), left_out)


def to_score(references: References, wrong: Mapping[str, Sequence[str]]) -> list[dict[str, Any]]:
    """Return the captions that need log P: the human captions and distractors of each image."""
    texts = references.captions.texts
    bounds = references.captions.image_offsets.tolist()
    return [
        {
            "image_id": image,
            "captions": list(dict.fromkeys([*texts[bounds[j] : bounds[j + 1]], *wrong[image]])),
        }
        for j, image in enumerate(references.captions.ids)
        if wrong.get(image)
    ]


def p_of_difference(
    before: Tested, after: Tested, trials: int = significance.TRIALS, seed: int = significance.SEED
) -> float:
    """Return the two-sided p-value (approximate randomisation) between two tests of the same images."""
    if before.ids != after.ids:
        raise InputError("likelihood tests can only be compared on the same images")
    return significance.randomisation(_table(before.fooled), _table(after.fooled), _mean, trials, seed)


def read_scored(path: str | Path) -> NBest:
    """Read captions with log P, as written by 'captious generate --score'.

    Its tokens are dropped: they may be subwords, for figures only.
    """
    scored = replace(read_nbest(path), tokens=None)
    scored.log_p()
    return scored


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
            Captions that the model was trained on, to take the most frequent ones from (default: the
            references). A caption that occurs only once is never a distractor.
        common
            Number of distractors.
        objects, chair_synonyms
            Objects of the images and words for them, as for CHAIR.
        tokenizer
            Tokenizer (default: ptb, or that of prepared references).
        """
        prepared = References.read(references, tokenizer)
        texts: Sequence[str] = prepared.captions.texts
        if training is not None:
            texts = [text for group in read(training, "references").captions for text in group]
        frequent = _repeated(
            commonest(texts, common, prepared.captions.tokenizer), common, references, training
        )
        wrong = distractors(prepared, [text for text, _ in frequent], ChairS(objects, chair_synonyms))
        return cls(prepared, frequent, wrong)

    def to_score(self) -> list[dict[str, Any]]:
        """Return the captions whose log P the test needs: rows of ``image_id`` and ``captions``."""
        return to_score(self.references, self.wrong)


def _repeated(
    frequent: list[tuple[str, int]], common: int, references: Any, training: str | Path | None
) -> list[tuple[str, int]]:
    """Return the captions that occur more than once. A caption that occurs once is not generic."""
    repeated = [(text, count) for text, count in frequent if count > 1]
    if len(repeated) == common:
        return repeated
    path = references if training is None else training
    source = shown_name(path) if isinstance(path, str | Path) else "the file of references"
    remedy = (
        "take distractors from the captions that the model was trained on with --training CAPTIONS"
        if training is None
        else "pass more training captions"
    )
    if not repeated:
        raise InputError(f"{source} has no caption that occurs more than once, so none is generic; {remedy}")
    warnings.warn(
        CaptionWarning(
            f"only {len(repeated)} of the {common} most frequent captions of {source} occur more than once; "
            f"the others are not generic and are left out; {remedy}, or lower --common"
        ),
        stacklevel=3,
    )
    return repeated


@dataclass(frozen=True)
class LikelihoodReport:
    """Likelihood tests by log P(s|I) and, with a language model, by mutual information."""

    generic: GenericCaptions
    #: Test by the name of its formula: the mean log P(s|I) per word (Figure 2 of the paper), the sum, and the
    #: formula with a language model.
    tests: dict[str, Tested]
    #: p-value of the difference between the tests without and with the language model.
    p: float | None = None

    @property
    def first(self) -> Tested:
        """The test by the mean log P(s|I) per word."""
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
        Divide the formula with a language model by the number of words and the end, too.
    trials
        Trials of the randomisation test between the tests without and with a language model.

    Returns
    -------
    LikelihoodReport
        Shares of images with a wrong caption that is likelier than human ones.
    """
    if bool(models) != (lam is not None):
        raise InputError("--lm and --lambda belong together; pass both, or neither")
    if models and (len(models) == 2) != (alpha is not None):
        raise InputError("--alpha weighs two language models; pass it with --lm twice, or leave it out")
    tokenizer = generic.references.captions.tokenizer
    lists = read_scored(scored)
    log_p = lists.log_p()
    per_word = log_p / [len(tokens) + 1 for tokens in lists.tokens_for(tokenizer)]
    tests = {
        name: likelihood_test(lists, values, generic.references, generic.wrong)
        for name, values in (("log P(s|I) per word", per_word), ("log P(s|I)", log_p))
    }
    before = tests["log P(s|I) per word" if normalise else "log P(s|I)"]
    if not models:
        return LikelihoodReport(generic, tests)
    prior = Prior.of(lists, [load_model(path, tokenizer) for path in models])
    weights = Weights(float(lam or 0.0), 1.0 if alpha is None else alpha)
    weights.check()
    values = information(log_p, prior, weights, normalise=normalise)
    after = likelihood_test(lists, values, generic.references, generic.wrong)
    tests[f"log P(s|I) − {weights.lam:g} log P(s){' per word' if normalise else ''}"] = after
    return LikelihoodReport(generic, tests, p_of_difference(before, after, trials))


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
