"""One study: the references, encoded and parsed once, and each system measured against them in its turn."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious._version import __version__
from captious.corpus import Captions, Corpus, IntArray, places
from captious.io import CaptionFile, CaptionWarning, align
from captious.language.parsers import Parser
from captious.measures.resources import in_signature
from captious.references import References
from captious.scores import Score, Scores
from captious.variety.corpus import composition as comp
from captious.variety.corpus import global_recall as glob
from captious.variety.corpus import local_recall as local
from captious.variety.corpus import over_use, pos
from captious.variety.corpus import vocabulary as voc
from captious.variety.corpus.base import CorpusMeasure
from captious.variety.corpus.novelty import is_word
from captious.variety.corpus.result import CorpusDiversity, Report
from captious.variety.corpus.trees import parsed
from captious.variety.training_captions import TrainingCaptions


class CorpusStudy:
    """The references, encoded and parsed once, against which each system is measured in its turn.

    What stays in memory between systems are scores and rankings, never the texts of a system.
    """

    def __init__(
        self,
        references: References,
        measures: Sequence[CorpusMeasure],
        *,
        parser: Parser | None,
        train: TrainingCaptions | None,
        seed: int,
        jobs: int | None = None,
    ) -> None:
        self.file = references.file
        self.references = references.captions
        self.measures = list(measures)
        self.parser = parser
        self.train = train
        self.seed = seed
        self.jobs = jobs
        #: The rows of the k-th description of every image.
        self.parallel = parallel_rows(self.references.image_offsets)
        self.target = glob.Target.of(self.references, train)
        self._missed: list[IntArray] = []
        self._occurrences: list[IntArray] = []
        self._produced: NDArray[np.bool_] = np.zeros(len(self.target.validation), dtype=np.bool_)

    @property
    def n(self) -> int:
        """Parallel descriptions: what every image has at least."""
        return len(self.parallel)

    def prepare(self) -> None:
        """Parse the references, and prepare what each measure needs to know of them."""
        if self.parser is not None:
            parsed(self.references, self.parser, jobs=self.jobs)
            self.importance = local.LocalMeasure.prepare(local.Recall(self.parser), self.references)
        self.states = {measure.name: measure.prepare(self.references) for measure in self.measures}

    # One system

    def check(self, file: CaptionFile, *, subset: bool) -> None:
        """Refuse predictions that do not belong to the references."""
        with warnings.catch_warnings():
            # That images without references are left out is not true of most measures here.
            warnings.simplefilter("ignore", CaptionWarning)
            align(self.file, file, subset=subset)

    def system(self, file: CaptionFile, name: str, *, subset: bool) -> Report:
        """All measures of one system: those that compare with references on the images that both have, the others on all."""
        self.check(file, subset=subset)
        everything = Captions.of(file.captions, self.references.tokenizer, ids=file.ids, over=self.references)
        known = set(self.references.ids)
        there = np.array([i for i, image in enumerate(file.ids) if image in known], dtype=np.int64)
        both = everything if len(there) == everything.n_images else everything.take_images(there)
        whole = Corpus(everything, name=name)
        common = Corpus(
            both, self.references, name=name, left_out=self.references.n_images - len(there),
            images=places(both.ids, self.references),
        )  # fmt: skip
        _warn_of_empty(name, everything)
        report = Report(name=name, images=len(file.ids), common_images=len(there))
        if self.parser is not None:
            parsed(everything, self.parser, jobs=self.jobs)
        scores = [
            Score.of(m, common if m.uses_references() else whole, self.states[m.name]) for m in self.measures
        ]
        report.scores = Scores(name, scores)
        report.add(_counts(everything))
        report.add({m.key: score.value for m, score in zip(self.measures, scores)})
        report.add(_rated(scores))
        report.curve = voc.type_token_curve(everything, seed=self.seed)
        self._against_words(report, both)
        if self.parser is not None:
            self._composition(report, [everything])
            self._against_trees(report, common)
        return report

    def _against_words(self, report: Report, captions: Captions) -> None:
        """What compares words with the references' words: global recall, over- and under-use."""
        target = self.target
        counts = np.bincount(captions.tokens, minlength=len(captions.vocabulary))
        produced = counts[: len(target.validation)] > 0
        report.global_recall = glob.global_recall(produced, target)
        self._produced |= produced
        report.omitted_globally = self._omitted(produced)
        people = np.pad(target.validation, (0, len(counts) - len(target.validation)))
        used = over_use.usage(counts, people)
        used.log_likelihood[~is_word(captions)] = 0.0
        words = captions.encoding.words
        for over, rows in ((True, report.over_used), (False, report.under_used)):
            for w in used.most(report.listed, over=over).tolist():
                rows.append(
                    {"word": words[w], "system": int(counts[w]), "references": int(people[w]),
                     "ratio": float(used.ratio[w]), "log_likelihood": float(used.log_likelihood[w])}
                )  # fmt: skip

    def _omitted(self, produced: NDArray[np.bool_]) -> dict[str, list[tuple[str, int]]]:
        """Rankings of learnable words that were not produced, by the two frequencies."""
        words = self.references.encoding.words
        out = {}
        for by, counts in (("training", self.target.training), ("validation", self.target.validation)):
            if counts is not None:
                ranked = glob.omitted(produced, self.target, by=by)[: Report.listed].tolist()
                out[by] = [(words[w], int(counts[w])) for w in ranked]
        return out

    def _composition(self, report: Report, descriptions: list[Captions]) -> None:
        """Compounds and prepositional phrases by size, the mean over parallel descriptions (a system has one), and shares
        of parts of speech."""
        assert self.parser is not None
        found = [parsed(captions, self.parser) for captions in descriptions]
        report.composition = comp.average([comp.composition(part) for part in found])
        report.parts_of_speech = pos.shares(found[0].bank, np.sum([pos.tag_counts(part) for part in found], axis=0))

    def _against_trees(self, report: Report, corpus: Corpus) -> None:
        """Which important words the captions have."""
        assert self.parser is not None
        rows = local.Recall(self.parser).recalled(corpus, self.importance)
        report.local_recall = local.local_recall(rows)
        report.omitted_locally = self._omitted_locally(rows.missed, rows.occurrences)
        self._missed.append(rows.missed)
        self._occurrences.append(rows.occurrences)

    def _omitted_locally(
        self, missed: IntArray, occurrences: IntArray, threshold: int = local.THRESHOLD
    ) -> dict[str, list[tuple[str, int, int]]]:
        """Rankings of words of the top class that captions lack: word, times missed, times there."""
        words = self.importance.words.words
        rankings = {
            "absolute": local.rank_absolute(missed),
            "relative": local.rank_relative(missed, occurrences),
            f"relative_above_{threshold}": local.rank_relative(missed, occurrences, threshold),
        }
        return {
            name: [(words[w], int(missed[w]), int(occurrences[w])) for w in ranked[: Report.listed].tolist()]
            for name, ranked in rankings.items()
        }

    # People

    def humans(self) -> Report:
        """The same measures for people: of each parallel description, then averaged.

        What compares with the references themselves is of each description against the others.
        """
        images = self.references.n_images
        report = Report(name="humans", images=images, common_images=images)
        alone = np.arange(images + 1, dtype=np.int64)
        people = [self.references.take(rows, alone, self.references.ids) for rows in self.parallel]
        against_all = [m for m in self.measures if not m.uses_references() or isinstance(m, glob.Coverage)]
        parts = []
        for captions in people:
            corpus = Corpus(captions, self.references, name="humans")
            scores = [Score.of(m, corpus, self.states[m.name]) for m in against_all]
            values = {m.key: score.value for m, score in zip(against_all, scores)}
            parts.append({**_counts(captions), **values, **_rated(scores)})
        report.add({key: float(np.mean([part[key] for part in parts])) for key in parts[0]})
        report.curve = voc.mean_curve([voc.type_token_curve(captions, seed=self.seed) for captions in people])
        size = len(self.target.validation)
        report.global_recall = glob.average(
            [glob.global_recall(np.bincount(c.tokens, minlength=size)[:size] > 0, self.target) for c in people]
        )
        if self.parser is not None:
            self._composition(report, people)
            self._leave_one_out(report, people)
        return report

    def _leave_one_out(self, report: Report, people: list[Captions]) -> None:
        """Each description against the other references of its image: what one person recalls of the others."""
        assert self.parser is not None
        if self.n < 2:
            return
        recall, distance = local.Recall(self.parser), pos.PosDistance(self.parser)
        recalls, distances = [], []
        for rows, captions in zip(self.parallel, people):
            others = np.ones(len(self.references), dtype=np.bool_)
            others[rows] = False
            offsets = self.references.image_offsets - np.arange(self.references.n_images + 1, dtype=np.int64)
            held_out = self.references.take(np.flatnonzero(others), offsets, self.references.ids)
            corpus = Corpus(captions, held_out, name="humans")
            recalls.append(local.local_recall(recall.recalled(corpus, recall.prepare(held_out))))
            distances.append(Score.of(distance, corpus).value)
        report.leave_one_out = {
            "mean": np.mean([found.mean[: self.n - 1] for found in recalls], axis=0).tolist(),
            "pooled": np.mean([found.pooled[: self.n - 1] for found in recalls], axis=0).tolist(),
            "precision_mean": float(np.mean([found.precision_mean for found in recalls])),
            "precision_pooled": float(np.mean([found.precision_pooled for found in recalls])),
        }
        report.add({distance.key: float(np.mean(distances))})

    def result(self, humans: Report, systems: list[Report]) -> CorpusDiversity:
        """Everything together, with what no system ever says."""
        omitted_by_all: dict[str, Any] = {"global": self._omitted(self._produced)}
        if self.parser is not None:
            threshold = local.THRESHOLD * len(systems)
            missed, occurrences = np.sum(self._missed, axis=0), np.sum(self._occurrences, axis=0)
            omitted_by_all["local"] = self._omitted_locally(missed, occurrences, threshold)
        return CorpusDiversity(
            humans=humans,
            systems=systems,
            measures=self.measures,
            n=self.n,
            tokenizer=self.references.tokenizer,
            seed=self.seed,
            trained=self.train is not None,
            parsed=self.parser is not None,
            limit=self.target.limit,
            learnable=int(self.target.learnable.sum()),
            reference_types=int((self.target.validation > 0).sum()),
            omitted_by_all=omitted_by_all,
            fields=self._fields(),
        )

    def _fields(self) -> dict[str, str]:
        """What went in: the resources of all measures, and the references."""
        given = {name: in_signature(r) for measure in self.measures for name, r in measure.resources().items()}
        return {
            "tok": self.references.tokenizer,
            "trees": given.pop("parser", "no"),
            "train": given.pop("train", "no"),
            **given,
            "refs": f"{self.references.n_images}x{self.references.sizes}@{self.references.digest}",
            "n": str(self.n),
            "seed": str(self.seed),
            "captious": __version__,
        }


def parallel_rows(image_offsets: IntArray) -> list[IntArray]:
    """References as N corpora of one description per image: the rows of the first, the second, … description.

    N is the smallest number of descriptions that an image has, so that every such corpus is of the same images.
    """
    per_image = np.diff(image_offsets)
    n = int(per_image.min()) if len(per_image) else 0
    return [image_offsets[:-1] + k for k in range(n)]


def _counts(captions: Captions) -> dict[str, float]:
    """What is counted beside the measures."""
    words = np.bincount(captions.tokens)
    return {"captions": len(captions), "tokens": len(captions.tokens), "hapaxes": int((words == 1).sum())}


def _rated(scores: Sequence[Score]) -> dict[str, float]:
    """The share of tokens that the norms rate, where there are norms."""
    found = next((score.statistics.sum(axis=0) for score in scores if score.name == "Concr"), None)
    return {} if found is None else {"concreteness_known": float(found[1] / found[2]) if found[2] else 0.0}


def _warn_of_empty(name: str, captions: Captions) -> None:
    empty = int((captions.lengths == 0).sum())
    if empty:
        message = f"{name}: {empty:,} of {len(captions):,} captions have no words; they count as captions of length 0"
        warnings.warn(CaptionWarning(message), stacklevel=4)
