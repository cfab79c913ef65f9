"""All measures of sets of captions in one call."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from captious.corpus import Corpus
from captious.errors import InputError, did_you_mean
from captious.frequencies import DocumentFrequencies
from captious.io import CaptionWarning
from captious.io.frequencies import read_frequencies
from captious.measures.base import Measure
from captious.measures.making import make_measures
from captious.measures.registry import Wanted
from captious.metrics.bleu import MAX_N
from captious.records import ScoredCaptions
from captious.references import load
from captious.scores import Score, Scores
from captious.significance import Bootstrap
from captious.variety.sets.accuracy import BETA_SQUARED, FMeasure, LeaveOneOut, SetAccuracy
from captious.variety.sets.base import SetMeasure
from captious.variety.sets.caption_kernels import KernelChoice
from captious.variety.sets.distinct import Div, Novel, Unique, VocabularySize
from captious.variety.sets.lsa import LSA
from captious.variety.sets.mbleu import MIX, InverseMBleu, MBleu
from captious.variety.sets.selection import references_as_candidates
from captious.variety.sets.self_cider import SelfCider
from captious.variety.training_captions import TrainingCaptions

#: The accuracy that the paper puts beside diversity: "CIDEr" of the COCO tools.
ACCURACY = ("CIDEr-D",)

#: Other spellings that circulate.
_ALIASES = {
    "selfcider": "Self-CIDEr", "f": "F-measure", "div1": "Div-1", "div2": "Div-2", "vocabularysize": "Vocabulary",
    "mbleu": "mBLEU-mix", "1mbleu": "1-mBLEU-mix",
}  # fmt: skip


class SetDiversity(Scores):
    """The measures of one system's sets, by name (upper or lower case)."""

    def __init__(self, corpus: Corpus, scores: list[Score], left_out: Mapping[str, str]) -> None:
        super().__init__(corpus.name, scores, ScoredCaptions.of(corpus))
        self.corpus = corpus
        #: Measures that could not be computed, with the reason.
        self.left_out = dict(left_out)
        plain = {_plain(name): name for name in [*self._scores, *self.left_out]}
        self._plain = {**plain, **{key: name for key, name in _ALIASES.items() if key not in plain}}

    def __getitem__(self, name: str) -> Score:
        known = self._plain.get(_plain(name), name)
        if known in self._scores:
            return self._scores[known]
        if known in self.left_out:
            raise InputError(f"{known} was not computed: {self.left_out[known]}")
        raise KeyError(f"no measure '{name}'{did_you_mean(name, self)} (known: {', '.join(self)})")

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._plain.get(_plain(name), name) in self._scores

    @property
    def total_vocabulary(self) -> int:
        """Different words in all captions of the system."""
        return len(set(self.corpus.candidates.tokens.tolist()))

    def to_json(self, *, per_image: bool = False, ci: bool | Bootstrap = False) -> dict[str, Any]:
        """A JSON-ready description of all measures."""
        out = super().to_json(per_image=per_image, ci=ci)
        for score in out["scores"].values():
            del score["captions"]  # one row per image, whatever the sizes of the sets
        out["images"] = len(self.corpus)
        out["captions"] = len(self.corpus.candidates)
        out["total_vocabulary"] = self.total_vocabulary
        if self.left_out:
            out["left_out"] = self.left_out
        return out


def _plain(name: str) -> str:
    """Letters and digits only: "1 − mBLEU-4", "1-mBLEU-4" and "1-mbleu4" are one name."""
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

    ``source`` is a corpus, or whatever :func:`captious.load` takes as predictions: ``{image: [captions]}``, a path, ….
    With references (those of the corpus, or given here) the accuracy of the sets and the F-measure are added:
    ``accuracy`` names the metrics (default CIDEr-D; ``()`` for none), and the first of them enters the F-measure.

    ``df`` are document frequencies for Self-CIDEr and for CIDEr: a table, or its path. By default they come
    from the references, or from the captions themselves if there are none (with a warning). ``kernel`` is "cider",
    "cider-d", a metric, or a function of two lists of sentences. ``train`` are the training captions for ``Novel``.
    """
    corpus = as_corpus(source, references=references, tokenizer=tokenizer, subset=subset, name=name)
    table = read_df(df)
    left_out: dict[str, str] = {}
    measures: list[SetMeasure] = [LSA()]
    weighing = SelfCider(kernel, table)
    try:
        weighing.check(corpus)
        measures.append(weighing)
    except InputError as error:
        left_out[weighing.name] = str(error)
    measures += [kind(n) for kind in (MBleu, InverseMBleu) for n in (*range(1, MAX_N + 1), MIX)]
    measures += [Div(1), Div(2), VocabularySize(), Unique()]
    if train is not None:
        measures.append(Novel(TrainingCaptions.read(train)))
    metrics = accuracy_metrics(corpus, accuracy, table, left_out)
    measures += [SetAccuracy(metric, oracle=oracle) for metric in metrics for oracle in (False, True)]
    scores = {measure.name: Score.of(measure, corpus) for measure in measures}
    add_f_measure(corpus, scores, metrics, beta_squared)
    for missing, reason in left_out.items():
        warnings.warn(CaptionWarning(f"{corpus.name}: {missing} is left out: {reason}"), stacklevel=2)
    return SetDiversity(corpus, list(scores.values()), left_out)


def as_corpus(
    source: Any, *, references: Any = None, tokenizer: str | None = None, subset: bool = False, name: str | None = None
) -> Corpus:
    """A corpus from whatever holds sets of captions, with or without references."""
    if isinstance(source, Corpus):
        if references is not None:
            raise InputError("the corpus has references of its own; give either a corpus, or captions and references")
        return source
    return load(references, source, tokenizer=tokenizer, subset=subset, several=True, name=name)


def read_df(df: DocumentFrequencies | str | Path | None) -> DocumentFrequencies | None:
    """Document frequencies as given, or from their file."""
    if df is None or isinstance(df, DocumentFrequencies):
        return df
    return read_frequencies(df)


def accuracy_metrics(
    corpus: Corpus,
    wanted: Wanted | None,
    table: DocumentFrequencies | None,
    left_out: dict[str, str],
) -> list[Measure]:
    """The accuracy metrics asked for; by default CIDEr-D wherever it means something."""
    if wanted is None:
        if not len(corpus.references):
            return []
        if len(corpus) < 2 and table is None:
            left_out[f"mean {ACCURACY[0]}"] = "one image has no document frequencies of its own (df=…)"
            return []
        wanted = ACCURACY
    elif not isinstance(wanted, str | Measure):
        wanted = list(wanted)
        if not wanted:
            return []
    if not len(corpus.references):
        raise InputError("accuracy needs reference captions (references=…)")
    return make_measures(wanted, {} if table is None else {"df": table})


def add_f_measure(corpus: Corpus, scores: dict[str, Score], metrics: list[Measure], beta_squared: float) -> None:
    """F of Self-CIDEr with the first accuracy metric, where both are there and more is better."""
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
    """The same measures for the references: how diverse people are.

    Their accuracy is leave-one-out: each reference is scored against the other references of its image (one reference
    fewer than a system has). Images with a single reference have no such accuracy and are left out of it.
    """
    if not len(corpus.references):
        raise InputError("there are no reference captions to measure")
    table = read_df(df)
    people = references_as_candidates(corpus)
    found = diversity(people, df=table, kernel=kernel, train=train, accuracy=(), beta_squared=beta_squared)
    left_out = dict(found.left_out)
    metrics: list[Measure] = []
    if (corpus.references.per_image > 1).any():
        metrics = accuracy_metrics(corpus, accuracy, table, left_out)
    else:
        left_out["leave-one-out accuracy"] = "every image has a single reference"
    scores: dict[str, Score] = dict(found.items())
    for metric in metrics:
        for oracle in (False, True):
            measure = LeaveOneOut(metric, oracle=oracle)
            scores[measure.name] = measure.score(people)
    if (corpus.references.per_image > 1).all():
        add_f_measure(people, scores, metrics, beta_squared)
    return SetDiversity(people, list(scores.values()), left_out)
