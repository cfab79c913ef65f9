"""One study: the references, encoded and parsed once, and each system measured against them in its turn."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.corpus import IntArray, offsets_of
from captious.diversity.corpus import complexity as cx
from captious.diversity.corpus import composition as comp
from captious.diversity.corpus import global_recall as glob
from captious.diversity.corpus import local_recall as local
from captious.diversity.corpus import novelty, over_use, pos, word_lists
from captious.diversity.corpus import vocabulary as voc
from captious.diversity.corpus.flat import Flat, FloatArray, parallel_rows
from captious.diversity.corpus.result import CorpusDiversity, Report
from captious.diversity.corpus.trees import Parser, TreeBank
from captious.io import CaptionFile, CaptionWarning, align
from captious.text.vocabulary import Vocabulary


def _warn_of_empty(name: str, flat: Flat) -> None:
    empty = int((flat.lengths == 0).sum())
    if empty:
        message = f"{name}: {empty:,} of {len(flat):,} captions have no words; they count as captions of length 0"
        warnings.warn(CaptionWarning(message), stacklevel=4)


class Study:
    """The references, encoded and parsed once, against which each system is measured in its turn.

    What stays in memory between systems are counts, hashes and trees of distinct captions, never the texts of a system.
    """

    def __init__(self, references: CaptionFile, *, tokenizer: str, seed: int) -> None:
        self.tokenizer = tokenizer
        self.seed = seed
        self.norms: dict[str, float] | None = None
        self.vocabulary = Vocabulary()
        self.reference_file = references
        self.image_index = {image: i for i, image in enumerate(references.ids)}
        self.image_offsets = offsets_of([len(captions) for captions in references.captions])
        self.texts = [text for captions in references.captions for text in captions]
        self.references = Flat.of(self.texts, tokenizer, self.vocabulary)
        #: The rows of the k-th description of every image.
        self.parallel = parallel_rows(self.image_offsets)
        self.training_counts: IntArray | None = None
        self.training_hashes: novelty.Hashes | None = None
        self.bank: TreeBank | None = None
        self._is_word: NDArray[np.bool_] = np.zeros(0, dtype=np.bool_)
        self._produced_by_any: NDArray[np.bool_] = np.zeros(0, dtype=np.bool_)
        self._missed: IntArray = np.zeros(0, dtype=np.int64)
        self._occurrences: IntArray = np.zeros(0, dtype=np.int64)

    @property
    def n(self) -> int:
        """Parallel descriptions: what every image has at least."""
        return len(self.parallel)

    @property
    def is_word(self) -> NDArray[np.bool_]:
        """Which types are words rather than punctuation."""
        new = self.vocabulary.words[len(self._is_word) :]
        found = np.fromiter((any(map(str.isalnum, word)) for word in new), dtype=np.bool_, count=len(new))
        self._is_word = np.concatenate([self._is_word, found])
        return self._is_word

    def _per_word(self, counts: IntArray) -> IntArray:
        """Counts with a place for every word known by now."""
        return np.pad(counts, (0, len(self.vocabulary) - len(counts)))

    def target(self) -> glob.Target:
        """The vocabulary to recall."""
        training = None if self.training_counts is None else self._per_word(self.training_counts)
        return glob.Target(self.references.counts(len(self.vocabulary)), training, self.is_word)

    def add_training(self, file: CaptionFile) -> None:
        """Keep of the training captions what measures need: word counts, and a number per distinct caption."""
        flat = Flat.of([text for captions in file.captions for text in captions], self.tokenizer, self.vocabulary)
        self.training_counts = flat.counts(len(self.vocabulary))
        self.training_hashes = np.unique(novelty.caption_hashes(flat, self.is_word))

    def parse_references(self, parser: Parser) -> None:
        """Parse the references, and find which content words matter how much for which image."""
        self.bank = TreeBank(parser)
        self.compounds = comp.find_compounds(self.bank)
        self.prepositions = comp.find_prepositions(self.bank)
        self.scores = cx.complexity(self.bank)
        self.reference_rows = self._parse(self.texts)
        self.image_of = np.repeat(np.arange(len(self.image_offsets) - 1, dtype=np.int64), np.diff(self.image_offsets))
        self.importance = local.importance(self.bank, self.reference_rows, self.image_of, len(self.reference_file.ids))
        self.human_tags = pos.tag_counts(self.bank, self.bank.weights(self.reference_rows))

    def _parse(self, texts: Sequence[str]) -> IntArray:
        """Rows of texts in the tree bank; phrases and complexity are found in those that are new."""
        bank = self.bank
        assert bank is not None
        before = len(bank.trees)
        rows = bank.rows(texts)
        if len(bank.trees) > before:
            self.compounds = comp.join(self.compounds, comp.find_compounds(bank, bank.latest), before)
            self.prepositions = comp.join(self.prepositions, comp.find_prepositions(bank, bank.latest), before)
            self.scores = cx.join(self.scores, cx.complexity(bank, bank.latest))
        return rows

    # One system

    def check(self, file: CaptionFile, *, subset: bool) -> None:
        """Refuse predictions that do not belong to the references."""
        with warnings.catch_warnings():
            # That images without references are left out is not true of most measures here.
            warnings.simplefilter("ignore", CaptionWarning)
            align(self.reference_file, file, subset=subset)

    def system(self, file: CaptionFile, name: str, *, subset: bool) -> Report:
        """All measures of one system."""
        self.check(file, subset=subset)
        texts = [text for captions in file.captions for text in captions]
        image = np.fromiter(
            (self.image_index.get(i, -1) for i, captions in zip(file.ids, file.captions) for _ in captions),
            dtype=np.int64, count=len(texts),
        )  # fmt: skip
        common = np.flatnonzero(image >= 0)
        flat = Flat.of(texts, self.tokenizer, self.vocabulary)
        report = Report(name=name, images=len(file.ids), common_images=len(np.unique(image[common])))
        _warn_of_empty(name, flat)
        self._vocabulary(report, flat)
        self._against_words(report, flat.take(common))
        if self.bank is not None:
            rows = self._parse(texts)
            self._composition(report, [rows])
            self._against_trees(report, rows[common], image[common])
        return report

    def _vocabulary(self, report: Report, flat: Flat) -> None:
        size = len(self.vocabulary)
        found = voc.vocabulary(flat, size)
        report.add(asdict(found))
        report.curve = voc.type_token_curve(flat, size, seed=self.seed)
        report.add({"negations": word_lists.share_negated(flat, self._mark(word_lists.NEGATIONS.__contains__))})
        if self.training_hashes is not None:
            hashes = novelty.caption_hashes(flat, self.is_word)
            report.add({"novel": novelty.share_novel(hashes, self.training_hashes)})
        if self.norms is not None:
            mean, known = word_lists.concreteness(flat, self._ratings())
            report.add({"concreteness": mean, "concreteness_known": known})

    def _mark(self, keep: Callable[[str], bool]) -> NDArray[np.bool_]:
        words = self.vocabulary.words
        return np.fromiter(map(keep, words), dtype=np.bool_, count=len(words))

    def _ratings(self) -> FloatArray:
        assert self.norms is not None
        return np.array([self.norms.get(word, np.nan) for word in self.vocabulary.words], dtype=np.float64)

    def _against_words(self, report: Report, flat: Flat) -> None:
        """What compares words with the references' words: global recall, over- and under-use."""
        size = len(self.vocabulary)
        target = self.target()
        counts = flat.counts(size)
        produced = counts > 0
        report.global_recall = glob.global_recall(produced, target)
        report.add({"coverage": report.global_recall.coverage})
        known = len(self._produced_by_any)
        self._produced_by_any = np.pad(self._produced_by_any, (0, size - known)) | produced
        report.omitted_globally = self._omitted(produced, target)
        used = over_use.usage(counts, target.validation)
        used.log_likelihood[~target.is_word] = 0.0
        words = self.vocabulary.words
        for over, rows in ((True, report.over_used), (False, report.under_used)):
            for w in used.most(report.listed, over=over).tolist():
                rows.append(
                    {"word": words[w], "system": int(counts[w]), "references": int(target.validation[w]),
                     "ratio": float(used.ratio[w]), "log_likelihood": float(used.log_likelihood[w])}
                )  # fmt: skip

    def _omitted(self, produced: NDArray[np.bool_], target: glob.Target) -> dict[str, list[tuple[str, int]]]:
        """Rankings of learnable words that were not produced, by the two frequencies."""
        words = self.vocabulary.words
        out = {}
        for by, counts in (("training", target.training), ("validation", target.validation)):
            if counts is not None:
                ranked = glob.omitted(produced, target, by=by)[: Report.listed].tolist()
                out[by] = [(words[w], int(counts[w])) for w in ranked]
        return out

    def _composition(self, report: Report, descriptions: list[IntArray]) -> None:
        """Compounds, prepositional phrases and complexity: the mean over parallel descriptions (a system has one)."""
        bank = self.bank
        assert bank is not None
        compounds, prepositions, scores = self.compounds, self.prepositions, self.scores
        weights = [bank.weights(rows) for rows in descriptions]
        found = [comp.composition(compounds, prepositions, weight) for weight in weights]
        report.composition = comp.average(found)
        report.add(report.composition.ratios())
        for key in ("yngve", "frazier", "frazier_peak"):
            report.add({key: float(np.mean([cx.mean_over(getattr(scores, key), weight) for weight in weights]))})
        report.parts_of_speech = pos.shares(bank, pos.tag_counts(bank, np.sum(weights, axis=0)))

    def _against_trees(self, report: Report, rows: IntArray, image: IntArray) -> None:
        """What compares tagged words with those of the references: local recall, parts of speech."""
        bank = self.bank
        assert bank is not None
        there = np.zeros(self.importance.n_images, dtype=np.bool_)
        there[image] = True
        target = self.importance.of_images(there)
        found = local.local_recall(bank, rows, image, target, self.n)
        report.local_recall = found
        report.add({"local_recall": float(found.mean[self.n - 1]), "local_precision": found.precision_mean})
        report.omitted_locally = self._omitted_locally(found.missed, found.occurrences)
        size = len(bank.words)
        self._missed = np.pad(self._missed, (0, size - len(self._missed))) + found.missed
        self._occurrences = np.pad(self._occurrences, (0, size - len(self._occurrences))) + found.occurrences
        tags = pos.tag_counts(bank, bank.weights(rows))
        report.add({"pos_distance": pos.jensen_shannon_distance(tags, self.human_tags)})

    def _omitted_locally(
        self, missed: IntArray, occurrences: IntArray, threshold: int = local.THRESHOLD
    ) -> dict[str, list[tuple[str, int, int]]]:
        """Rankings of words of the top class that captions lack: word, times missed, times there."""
        assert self.bank is not None
        words = self.bank.words.words
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
        """The same measures for people: of each parallel description, then averaged."""
        report = Report(name="humans", images=len(self.reference_file.ids), common_images=len(self.reference_file.ids))
        size = len(self.vocabulary)
        target = self.target()
        parts = []
        for rows in self.parallel:
            flat = self.references.take(rows)
            part = Report(name="", images=len(rows), common_images=len(rows))
            self._vocabulary(part, flat)
            part.global_recall = glob.global_recall(flat.counts(size) > 0, target)
            part.add({"coverage": part.global_recall.coverage})
            parts.append(part)
        for key in parts[0].values:
            report.add({key: float(np.mean([part.values[key] for part in parts]))})
        report.curve = voc.mean_curve([part.curve for part in parts if part.curve is not None])
        recalls = [part.global_recall for part in parts if part.global_recall is not None]
        report.global_recall = glob.average(recalls)
        if self.bank is not None:
            self._composition(report, [self.reference_rows[rows] for rows in self.parallel])
            self._leave_one_out(report)
        return report

    def _leave_one_out(self, report: Report) -> None:
        """Each description against the other references of its image: what one person recalls of the others."""
        bank = self.bank
        assert bank is not None
        if self.n < 2:
            return
        recalls, distances = [], []
        for rows in self.parallel:
            others = np.ones(len(self.texts), dtype=np.bool_)
            others[rows] = False
            target = local.importance(
                bank, self.reference_rows[others], self.image_of[others], self.importance.n_images
            )
            own = self.reference_rows[rows]
            recalls.append(local.local_recall(bank, own, self.image_of[rows], target, self.n - 1))
            tags = pos.tag_counts(bank, bank.weights(own))
            distances.append(pos.jensen_shannon_distance(tags, self.human_tags - tags))
        report.leave_one_out = {
            "mean": np.mean([found.mean[: self.n - 1] for found in recalls], axis=0).tolist(),
            "pooled": np.mean([found.pooled[: self.n - 1] for found in recalls], axis=0).tolist(),
            "precision_mean": float(np.mean([found.precision_mean for found in recalls])),
            "precision_pooled": float(np.mean([found.precision_pooled for found in recalls])),
        }
        report.add({"pos_distance": float(np.mean(distances))})

    def result(self, humans: Report, systems: list[Report]) -> CorpusDiversity:
        """Everything together, with what no system ever says."""
        target = self.target()
        produced = np.pad(self._produced_by_any, (0, len(self.vocabulary) - len(self._produced_by_any)))
        omitted_by_all: dict[str, Any] = {"global": self._omitted(produced, target)}
        if self.bank is not None:
            threshold = local.THRESHOLD * len(systems)
            omitted_by_all["local"] = self._omitted_locally(self._missed, self._occurrences, threshold)
        return CorpusDiversity(
            humans=humans,
            systems=systems,
            n=self.n,
            tokenizer=self.tokenizer,
            seed=self.seed,
            trained=self.training_counts is not None,
            parsed=self.bank is not None,
            limit=target.limit,
            learnable=int(target.learnable.sum()),
            reference_types=int((target.validation > 0).sum()),
            omitted_by_all=omitted_by_all,
        )
