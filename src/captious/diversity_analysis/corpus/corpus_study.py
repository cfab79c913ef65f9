"""Corpus study: references encoded and parsed once, and systems measured against them one by one."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious._version import __version__
from captious.core.ragged import IntArray
from captious.corpus import Captions, Corpus, places
from captious.diversity_analysis.corpus.corpus_result import CorpusDiversity, CorpusReport
from captious.io import CaptionFile, CaptionWarning, align
from captious.metrics.base import in_signature
from captious.metrics.corpus import composition as comp
from captious.metrics.corpus import global_recall as glob
from captious.metrics.corpus import local_recall as local
from captious.metrics.corpus import pos_counts as pos
from captious.metrics.corpus import vocabulary_measures as voc
from captious.metrics.corpus.caption_trees import parsed
from captious.metrics.corpus.corpus_measure import CorpusMeasure
from captious.metrics.corpus.novel_captions import TrainingCaptions, is_word
from captious.parser.choice import Parser
from captious.results.references import References
from captious.results.scores import Score, Scores


class CorpusStudy:
    """References, encoded and parsed once, with state shared between systems.

    Between systems only scores and rankings stay in memory, not the texts.
    """

    def __init__(
        self,
        references: References,
        measures: Sequence[CorpusMeasure],
        *,
        parser: Parser | None,
        train: TrainingCaptions | None,
        over_images: str = "pooled",
        by_id: bool = False,
        seed: int,
        jobs: int | None = None,
    ) -> None:
        self.file = references.file
        self.by_id = by_id
        self.over_images = over_images
        self.references = self._ordered(references.captions)
        self.measures = list(measures)
        self.parser = parser
        self.train = train
        self.seed = seed
        self.jobs = jobs
        #: Rows of the k-th description of every image, for each k.
        self.parallel = parallel_rows(self.references.image_offsets)
        self.target = glob.Target.of(self.references, train)
        self._missed: list[IntArray] = []
        self._occurrences: list[IntArray] = []
        self._produced: NDArray[np.bool_] = np.zeros(len(self.target.validation), dtype=np.bool_)

    def _ordered(self, captions: Captions) -> Captions:
        """Return captions in the order in which they are read."""
        return captions.take_images(id_order(captions.ids)) if self.by_id else captions

    @property
    def n(self) -> int:
        """Number of parallel descriptions: the minimum number of references per image."""
        return len(self.parallel)

    def prepare(self) -> None:
        """Parse the references, and prepare each measure's state."""
        if self.parser is not None:
            parsed(self.references, self.parser, jobs=self.jobs)
            self.importance = local.LocalMeasure.prepare(local.Recall(self.parser), self.references)
        self.states = {measure.name: measure.prepare(self.references) for measure in self.measures}

    # One system

    def check(self, file: CaptionFile, *, subset: bool) -> None:
        """Raise InputError for predictions that do not match the references."""
        with warnings.catch_warnings():
            # The warning that images without references are skipped is false for most measures here.
            warnings.simplefilter("ignore", CaptionWarning)
            align(self.file, file, subset=subset)

    def system(self, file: CaptionFile, name: str, *, subset: bool) -> CorpusReport:
        """Compute all measures of one system.

        Measures with references use the images of both sides, the others use all images.
        """
        self.check(file, subset=subset)
        everything = self._ordered(
            Captions.of(file.captions, self.references.tokenizer, ids=file.ids, over=self.references)
        )
        reference_ids = set(self.references.ids)
        common_images = np.array(
            [i for i, image in enumerate(everything.ids) if image in reference_ids], dtype=np.int64
        )
        both = (
            everything if len(common_images) == everything.n_images else everything.take_images(common_images)
        )
        all_images = Corpus(everything, name=name)
        common = Corpus(
            both, self.references, name=name, left_out=self.references.n_images - len(common_images),
            images=places(both.ids, self.references),
        )  # fmt: skip
        _warn_of_empty(name, everything)
        report = CorpusReport(name=name, images=len(file.ids), common_images=len(common_images))
        if self.parser is not None:
            parsed(everything, self.parser, jobs=self.jobs)
        scores = [
            Score.of(m, common if m.uses_references() else all_images, self.states[m.name])
            for m in self.measures
        ]
        report.scores = Scores(name, scores)
        report.add(_counts(everything))
        report.add({m.key: score.value for m, score in zip(self.measures, scores)})
        report.add(_rated(scores))
        report.curve = voc.type_token_curve(everything, seed=self.seed)
        report.word_counts = _word_counts(both)
        self._against_words(report, both)
        if self.parser is not None:
            self._composition(report, [everything])
            self._against_trees(report, common)
        return report

    def _against_words(self, report: CorpusReport, captions: Captions) -> None:
        """Compare the system's words with the references' words: global recall, over- and under-use."""
        target = self.target
        counts = np.bincount(captions.tokens, minlength=len(captions.vocabulary))
        produced = counts[: len(target.validation)] > 0
        report.global_recall = glob.global_recall(produced, target)
        self._produced |= produced
        report.omitted_globally = self._omitted(produced)
        people = np.pad(target.validation, (0, len(counts) - len(target.validation)))
        used = glob.usage(counts, people)
        used.log_likelihood[~is_word(captions)] = 0.0
        words = captions.encoding.words
        for over, rows in ((True, report.over_used), (False, report.under_used)):
            for w in used.most(report.listed, over=over).tolist():
                rows.append(
                    {"word": words[w], "system": int(counts[w]), "references": int(people[w]),
                     "ratio": float(used.ratio[w]), "log_likelihood": float(used.log_likelihood[w])}
                )  # fmt: skip

    def _omitted(self, produced: NDArray[np.bool_]) -> dict[str, list[tuple[str, int]]]:
        """Rank the learnable words that were not produced, by training and by validation frequency."""
        words = self.references.encoding.words
        out = {}
        for by, counts in (("training", self.target.training), ("validation", self.target.validation)):
            if counts is not None:
                ranked = glob.omitted(produced, self.target, by=by)[: CorpusReport.listed].tolist()
                out[by] = [(words[w], int(counts[w])) for w in ranked]
        return out

    def _composition(self, report: CorpusReport, descriptions: list[Captions]) -> None:
        """Add compounds and prepositional phrases by size, and shares of parts of speech.

        Sizes are means over the parallel descriptions. A system has one.
        """
        assert self.parser is not None
        trees = [parsed(captions, self.parser) for captions in descriptions]
        report.composition = comp.average([comp.composition(treebank) for treebank in trees])
        report.parts_of_speech = pos.shares(
            trees[0].bank, np.sum([pos.tag_counts(treebank) for treebank in trees], axis=0)
        )

    def _against_trees(self, report: CorpusReport, corpus: Corpus) -> None:
        """Add local recall: the important words of an image that its captions contain."""
        assert self.parser is not None
        rows = local.Recall(self.parser).recalled(corpus, self.importance)
        report.local_recall = local.local_recall(rows)
        report.omitted_locally = self._omitted_locally(rows.missed, rows.occurrences)
        self._missed.append(rows.missed)
        self._occurrences.append(rows.occurrences)

    def _omitted_locally(
        self, missed: IntArray, occurrences: IntArray, threshold: int = local.THRESHOLD
    ) -> dict[str, list[tuple[str, int, int]]]:
        """Rank the top-class words that captions lack: (word, times missed, occurrences)."""
        words = self.importance.words.words
        rankings = {
            "absolute": local.rank_absolute(missed),
            "relative": local.rank_relative(missed, occurrences),
            f"relative_above_{threshold}": local.rank_relative(missed, occurrences, threshold),
        }
        return {
            name: [
                (words[w], int(missed[w]), int(occurrences[w]))
                for w in ranked[: CorpusReport.listed].tolist()
            ]
            for name, ranked in rankings.items()
        }

    # People

    def humans(self) -> CorpusReport:
        """Compute the same measures for people, averaged over parallel descriptions.

        Measures with references compare each description with the others.
        """
        images = self.references.n_images
        report = CorpusReport(name="humans", images=images, common_images=images)
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
        report.word_counts = _word_counts(people[0])
        size = len(self.target.validation)
        report.global_recall = glob.average(
            [
                glob.global_recall(np.bincount(c.tokens, minlength=size)[:size] > 0, self.target)
                for c in people
            ]
        )
        if self.parser is not None:
            self._composition(report, people)
            self._leave_one_out(report, people)
        return report

    def _leave_one_out(self, report: CorpusReport, people: list[Captions]) -> None:
        """Compare each description with the other references of its image."""
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
            "mean": np.mean([recalled.mean[: self.n - 1] for recalled in recalls], axis=0).tolist(),
            "pooled": np.mean([recalled.pooled[: self.n - 1] for recalled in recalls], axis=0).tolist(),
            "precision_mean": float(np.mean([recalled.precision_mean for recalled in recalls])),
            "precision_pooled": float(np.mean([recalled.precision_pooled for recalled in recalls])),
        }
        report.add({distance.key: float(np.mean(distances))})

    def result(self, humans: CorpusReport, systems: list[CorpusReport]) -> CorpusDiversity:
        """Collect the results, with the words that no system produces."""
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
            over_images=self.over_images,
        )

    def _fields(self) -> dict[str, str]:
        """Return the signature fields: resources of all measures, and the references."""
        resources = {
            name: in_signature(r) for measure in self.measures for name, r in measure.resources().items()
        }
        return {
            "tok": self.references.tokenizer,
            "trees": resources.pop("parser", "no"),
            "train": resources.pop("train", "no"),
            **resources,
            "refs": f"{self.references.n_images}x{self.references.sizes}@{self.references.digest}",
            "n": str(self.n),
            "over_images": self.over_images,
            **({"order": "id"} if self.by_id else {}),
            "seed": str(self.seed),
            "captious": __version__,
        }


def parallel_rows(image_offsets: IntArray) -> list[IntArray]:
    """Return the rows of the first, second, …, N-th description of every image.

    N is the minimum number of descriptions per image, so that all N corpora cover the same images.
    """
    per_image = np.diff(image_offsets)
    n = int(per_image.min()) if len(per_image) else 0
    return [image_offsets[:-1] + k for k in range(n)]


def id_order(ids: Sequence[str]) -> IntArray:
    """Return the places of ids in ascending order, by number where all are numbers."""
    numbers = all(image.isdecimal() for image in ids)
    order = sorted(range(len(ids)), key=(lambda i: (int(ids[i]), "")) if numbers else (lambda i: (0, ids[i])))
    return np.array(order, dtype=np.int64)


def _word_counts(captions: Captions) -> IntArray:
    """Return the occurrences of each word, most frequent first."""
    counts = np.bincount(captions.tokens, minlength=len(captions.vocabulary))
    counts = counts[is_word(captions) & (counts > 0)]
    return np.sort(counts)[::-1].astype(np.int64)


def _counts(captions: Captions) -> dict[str, float]:
    """Return counts reported besides the measures."""
    words = np.bincount(captions.tokens)
    return {"captions": len(captions), "tokens": len(captions.tokens), "hapaxes": int((words == 1).sum())}


def _rated(scores: Sequence[Score]) -> dict[str, float]:
    """Return the share of tokens with a concreteness rating, if there are norms."""
    sums = next((score.statistics.sum(axis=0) for score in scores if score.name == "Concr"), None)
    return {} if sums is None else {"concreteness_known": float(sums[1] / sums[2]) if sums[2] else 0.0}


def _warn_of_empty(name: str, captions: Captions) -> None:
    empty = int((captions.lengths == 0).sum())
    if empty:
        message = f"{name}: {empty:,} of {len(captions):,} captions have no words and count with length 0"
        warnings.warn(CaptionWarning(message), stacklevel=4)
