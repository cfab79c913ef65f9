"""All measures of sets of captions in one call."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from captious.core.errors import InputError
from captious.corpus import Corpus
from captious.corpus.frequencies import DocumentFrequencies
from captious.diversity_analysis.sets.accuracy_diversity import (
    BETA_SQUARED,
    FMeasure,
    LeaveOneOut,
    SetAccuracy,
)
from captious.io import CaptionWarning
from captious.io.frequency_files import read_frequencies
from captious.metrics.base import Measure
from captious.metrics.captions.bleu import MAX_N
from captious.metrics.corpus.novel_captions import TrainingCaptions
from captious.metrics.registry import Wanted, make_measures
from captious.metrics.sets.distinct import Div, Novel, Unique, VocabularySize
from captious.metrics.sets.lsa import LSA
from captious.metrics.sets.mbleu import MIX, InverseMBleu, MBleu
from captious.metrics.sets.selection import references_as_candidates
from captious.metrics.sets.self_cider import SelfCider
from captious.metrics.sets.set_measure import SetMeasure
from captious.metrics.sets.similarity_kernels import KernelChoice
from captious.results.references import load
from captious.results.result_rows import EXACT, NumberStyle
from captious.results.saved_scores import ScoredCaptions
from captious.results.scores import Score, Scores
from captious.results.significance import Bootstrap

#: The paper's accuracy metric: "CIDEr" of the COCO tools.
ACCURACY = ("CIDEr-D",)

#: Alternative spellings of names.
_ALIASES = {
    "selfcider": "Self-CIDEr",
    "f": "F-measure",
    "div1": "Div-1",
    "div2": "Div-2",
    "vocabularysize": "Vocabulary",
    "mbleu": "mBLEU-mix",
    "1mbleu": "1-mBLEU-mix",
}


#: Advice for captions that are no sets.
SEVERAL = (
    "pass several captions per image (a list, or one row each), or measure the language of all captions "
    "together ('captious corpus')"
)


class SetDiversity(Scores):
    """Measures of one system's sets, by name (case-insensitive)."""

    def __init__(self, corpus: Corpus, scores: list[Score], left_out: Mapping[str, str]) -> None:
        super().__init__(corpus.name, scores, ScoredCaptions.of(corpus))
        self.corpus = corpus
        #: Measures that could not be computed, with the reason.
        self.left_out = dict(left_out)
        plain = {_plain(name): name for name in [*self._scores, *self.left_out]}
        self._plain = {**plain, **{key: name for key, name in _ALIASES.items() if key not in plain}}

    def __getitem__(self, name: str) -> Score:
        canonical = self._plain.get(_plain(name), name)
        if canonical in self._scores:
            return self._scores[canonical]
        if canonical in self.left_out:
            raise InputError(f"{canonical} was not computed: {self.left_out[canonical]}")
        return super().__getitem__(name)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._plain.get(_plain(name), name) in self._scores

    @property
    def total_vocabulary(self) -> int:
        """Number of distinct words in all captions of the system."""
        return len(set(self.corpus.candidates.tokens.tolist()))

    def to_json(
        self, *, per_image: bool = False, ci: bool | Bootstrap = False, numbers: NumberStyle = EXACT
    ) -> dict[str, Any]:
        """Return a JSON-ready description of all measures."""
        out = super().to_json(per_image=per_image, ci=ci, numbers=numbers)
        for score in out["scores"].values():
            del score["captions"]  # one row per image, whatever the sizes of the sets
        out["images"] = len(self.corpus)
        out["captions"] = len(self.corpus.candidates)
        out["total_vocabulary"] = self.total_vocabulary
        if self.left_out:
            out["left_out"] = self.left_out
        return out


def _plain(name: str) -> str:
    """Reduce a name to letters and digits: "1 − mBLEU-4", "1-mBLEU-4" and "1-mbleu4" are the same."""
    return "".join(c for c in name.casefold() if c.isalnum())


def diversity(
    source: Any,
    *,
    references: Any = None,
    df: DocumentFrequencies | str | Path | None = None,
    kernel: KernelChoice = "cider",
    train: Any = None,
    accuracy: Wanted | None = None,
    beta_squared: float = BETA_SQUARED,
    tokenizer: str | None = None,
    subset: bool = False,
    name: str | None = None,
) -> SetDiversity:
    """Measure how diverse the captions of each image are, by every measure of sets.

    Parameters
    ----------
    source
        A corpus, or predictions as for `captious.load`: ``{image: [captions]}``, a path, ….
    references
        References, if ``source`` is not a corpus. With references, the accuracy of the sets and the F-measure
        are computed, too.
    df
        Document frequencies for Self-CIDEr and CIDEr: a table, or its path. By default they come from the
        references, or from the captions themselves if there are none (with a warning).
    kernel
        "cider", "cider-d", a metric, or a function of two lists of sentences.
    train
        Training captions, for ``Novel``.
    accuracy
        Accuracy metrics (default CIDEr-D; ``()`` for none). The first enters the F-measure.
    beta_squared
        β² of the F-measure.
    tokenizer, subset, name
        As for `captious.load`.

    Returns
    -------
    SetDiversity
        Scores by name. ``left_out`` has the measures that could not be computed, with the reason.

    Examples
    --------
    >>> from captious.data import demo_path
    >>> sets = diversity(demo_path("sampling"), references=demo_path("references"))
    >>> 0 < sets["Self-CIDEr"].value < 1
    True
    """
    corpus = as_corpus(source, references=references, tokenizer=tokenizer, subset=subset, name=name)
    if not has_sets(corpus):
        warnings.warn(
            CaptionWarning(
                f"{corpus.name}: every image has one caption, so the diversity of sets is 0 by definition; "
                f"{SEVERAL}"
            ),
            stacklevel=2,
        )
    table = read_df(df)
    left_out: dict[str, str] = {}
    measures: list[SetMeasure] = [LSA()]
    self_cider = SelfCider(kernel, table)
    try:
        self_cider.check(corpus)
        measures.append(self_cider)
    except InputError as error:
        left_out[self_cider.name] = str(error)
    measures += [kind(n) for kind in (MBleu, InverseMBleu) for n in (*range(1, MAX_N + 1), MIX)]
    measures += [Div(1), Div(2), VocabularySize(), Unique()]
    if train is not None:
        measures.append(Novel(TrainingCaptions.read(train)))
    metrics = accuracy_metrics(corpus, accuracy, table, left_out)
    measures += [SetAccuracy(metric, oracle=oracle) for metric in metrics for oracle in (False, True)]
    scores = {measure.name: Score.of(measure, corpus) for measure in measures}
    add_f_measure(corpus, scores, metrics, beta_squared)
    for skipped, reason in left_out.items():
        warnings.warn(CaptionWarning(f"{corpus.name}: skipping {skipped}: {reason}"), stacklevel=2)
    return SetDiversity(corpus, list(scores.values()), left_out)


def has_sets(corpus: Corpus) -> bool:
    """Return whether some image has more than one caption."""
    return bool((corpus.candidates.per_image > 1).any())


def as_corpus(
    source: Any,
    *,
    references: Any = None,
    tokenizer: str | None = None,
    subset: bool = False,
    name: str | None = None,
) -> Corpus:
    """Build a corpus from sets of captions, with or without references."""
    if isinstance(source, Corpus):
        if references is not None:
            raise InputError(
                "the corpus has its own references; pass either a corpus, or captions and references"
            )
        return source
    return load(references, source, tokenizer=tokenizer, subset=subset, several=True, name=name)


def read_df(df: DocumentFrequencies | str | Path | None) -> DocumentFrequencies | None:
    """Return document frequencies, read from their file if necessary."""
    if df is None or isinstance(df, DocumentFrequencies):
        return df
    return read_frequencies(df)


def accuracy_metrics(
    corpus: Corpus,
    wanted: Wanted | None,
    table: DocumentFrequencies | None,
    left_out: dict[str, str],
) -> list[Measure]:
    """Return the requested accuracy metrics, by default CIDEr-D where it is defined."""
    if wanted is None:
        if not len(corpus.references):
            return []
        if len(corpus) < 2 and table is None:
            left_out[f"mean {ACCURACY[0]}"] = (
                "a single image has no document frequencies; pass some with df=…"
            )
            return []
        wanted = ACCURACY
    elif not isinstance(wanted, str | Measure):
        wanted = list(wanted)
        if not wanted:
            return []
    if not len(corpus.references):
        raise InputError("accuracy needs reference captions; pass references=…")
    return make_measures(wanted, {} if table is None else {"df": table}, spare=("df",))


def add_f_measure(
    corpus: Corpus, scores: dict[str, Score], metrics: list[Measure], beta_squared: float
) -> None:
    """Add the F-measure of Self-CIDEr and the first accuracy metric, where both are available."""
    if metrics and SelfCider.name in scores and metrics[0].higher_is_better:
        accuracy = scores[f"mean {metrics[0].name}"]
        measure = FMeasure(scores[SelfCider.name], accuracy, beta_squared)
        scores[measure.name] = Score.of(measure, corpus)


def human(
    corpus: Corpus,
    *,
    df: DocumentFrequencies | str | Path | None = None,
    kernel: KernelChoice = "cider",
    train: Any = None,
    accuracy: Wanted | None = None,
    beta_squared: float = BETA_SQUARED,
) -> SetDiversity:
    """Compute the same measures for the references: how diverse people are.

    Their accuracy is leave-one-out: each reference is scored against the other references of its image (one
    fewer than a system has). Images with a single reference are skipped.

    Parameters
    ----------
    corpus
        Candidates and references of the same images. Candidates are not used.
    df, kernel, train, accuracy, beta_squared
        See :func:`diversity`.

    Examples
    --------
    >>> import captious
    >>> from captious.data import demo_path
    >>> corpus = captious.load(demo_path("references"), demo_path("sampling"), several=True)
    >>> human(corpus, accuracy=())["Div-1"].value < 1
    True
    """
    if not len(corpus.references):
        raise InputError("the corpus has no reference captions to measure")
    table = read_df(df)
    reference_sets = references_as_candidates(corpus)
    measured = diversity(
        reference_sets, df=table, kernel=kernel, train=train, accuracy=(), beta_squared=beta_squared
    )
    left_out = dict(measured.left_out)
    metrics: list[Measure] = []
    if (corpus.references.per_image > 1).any():
        metrics = accuracy_metrics(corpus, accuracy, table, left_out)
    else:
        left_out["leave-one-out accuracy"] = "every image has a single reference"
    scores: dict[str, Score] = dict(measured.items())
    for metric in metrics:
        for oracle in (False, True):
            measure = LeaveOneOut(metric, oracle=oracle)
            scores[measure.name] = measure.score(reference_sets)
    if (corpus.references.per_image > 1).all():
        add_f_measure(reference_sets, scores, metrics, beta_squared)
    return SetDiversity(reference_sets, list(scores.values()), left_out)
