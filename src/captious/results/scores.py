"""Scores: everything that follows from a metric's statistics."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.core import notebook_html as html
from captious.core.errors import InputError, did_you_mean
from captious.core.memo import cached_property
from captious.core.progress import track
from captious.core.ragged import offsets_of
from captious.core.writing import make_folder
from captious.corpus import Corpus
from captious.metrics import registry
from captious.metrics.base import FloatArray, Measure, Rows, arranged
from captious.results import saved_scores as records
from captious.results import significance
from captious.results.caption_lengths import CaptionLengths, warn_of_length
from captious.results.references import tell_apart
from captious.results.result_rows import EXACT, NumberStyle, ResultRow, frame_of_images, frame_of_metrics
from captious.results.saved_scores import ScoredCaptions
from captious.results.score_merging import merged
from captious.results.signatures import LazySignature, Signature
from captious.results.significance import Bootstrap


class Score:
    """The result of one measure for one system."""

    def __init__(
        self,
        measure: Measure,
        statistics: Rows,
        ids: tuple[str, ...],
        image_offsets: NDArray[np.int64],
        signature: str | Callable[[], str],
    ) -> None:
        """``signature`` may be a function that computes it on demand (:class:`LazySignature`)."""
        self.measure = measure
        self.name: str = measure.name
        #: One row of sufficient statistics per caption, or per image (see
        #: :mod:`captious.metrics.base`). Rows of numbers are contiguous, because the order in memory is
        #: the order of summation.
        self.statistics: Any = arranged(statistics)
        self.ids = ids
        self.image_offsets = image_offsets
        self._signature = signature

    @cached_property
    def signature(self) -> Signature:
        """How the number was made. Numbers with different signatures are not comparable."""
        if callable(self._signature):
            # Frees the corpus, which the function holds.
            self._signature = self._signature()
        return Signature(self._signature)

    @property
    def origin(self) -> dict[str, str]:
        """Fields of the signature that describe the data. Does not compute the digest of the references."""
        lazy = self._signature
        return lazy.origin() if isinstance(lazy, LazySignature) else self.signature.fields

    def __getstate__(self) -> dict[str, Any]:
        return {"signature": self.signature, **self.__dict__}

    @classmethod
    def of(cls, measure: Measure, corpus: Corpus, state: Any = None) -> Score:
        """Score the candidates of a corpus. ``state`` is the result of an earlier ``measure.prepare``."""
        measure.check(corpus)
        prepared = state if state is not None else measure.prepare(corpus.references)
        statistics = measure.statistics(corpus, prepared)
        if measure.rows != "caption":
            return cls.of_images(measure, statistics, corpus.ids, LazySignature(measure, corpus))
        return cls(
            measure, statistics, corpus.ids, corpus.candidates.image_offsets, LazySignature(measure, corpus)
        )

    @classmethod
    def of_images(
        cls, measure: Measure, statistics: Rows, ids: tuple[str, ...], signature: str | Callable[[], str]
    ) -> Score:
        """Build a score whose statistics have one row per image, such as the diversity of a set."""
        return cls(measure, statistics, ids, offsets_of([1] * len(ids)), signature)

    @property
    def metric(self) -> Measure:
        """Old name of ``measure``."""
        return self.measure

    def __repr__(self) -> str:
        return f"Score({self.signature!r}, value={self.value:.6g})"

    @cached_property
    def image_statistics(self) -> Any:
        """One row per image: the mean over its captions, so that every image has the same weight."""
        counts = np.diff(self.image_offsets)
        if np.all(counts == 1):
            return self.statistics
        means = np.add.reduceat(self.statistics, self.image_offsets[:-1], axis=0) / counts[:, None]
        return means

    @cached_property
    def value(self) -> float:
        """The score of the whole corpus."""
        return float(self.measure.value(self.image_statistics.sum(axis=0)))

    @cached_property
    def per_caption(self) -> FloatArray:
        """The score of each caption, in the order of the captions."""
        return self.measure.per_row(self.statistics)

    @cached_property
    def per_image(self) -> dict[str, float]:
        """Image id → score (the mean if it has several captions); empty if single images have no score."""
        return self._by_image(np.add) if self.measure.rows != "corpus" else {}

    @cached_property
    def best_per_image(self) -> dict[str, float]:
        """Image id → score of the image's best caption."""
        return self._by_image(np.maximum if self.measure.higher_is_better else np.minimum)

    def _by_image(self, combine: np.ufunc) -> dict[str, float]:
        values = combine.reduceat(self.per_caption, self.image_offsets[:-1])
        if combine is np.add:
            values = values / np.diff(self.image_offsets)
        return dict(zip(self.ids, values.tolist()))

    @cached_property
    def best_captions(self) -> NDArray[np.int64]:
        """Index of the best caption of each image (the first of equals)."""
        sign = -1.0 if self.measure.higher_is_better else 1.0
        image = np.repeat(np.arange(len(self.ids)), np.diff(self.image_offsets))
        order = np.lexsort((np.arange(len(image)), np.nan_to_num(sign * self.per_caption, nan=np.inf), image))
        best: NDArray[np.int64] = order[self.image_offsets[:-1]].astype(np.int64)
        return best

    @cached_property
    def oracle(self) -> float:
        """The corpus score with only the best caption of each image; NaN if single captions have no score."""
        if self.measure.rows == "corpus":
            return float("nan")
        return float(self.measure.value(self.statistics[self.best_captions].sum(axis=0)))

    @cached_property
    def counted(self) -> int:
        """Number of images that have a value. The others do not count in the score of the corpus.

        SPICE-Color, for example, has no value for an image whose references name no colour.
        """
        if self.measure.rows == "corpus":
            return len(self.ids)
        return int(np.count_nonzero(~np.isnan(self.measure.per_row(self.image_statistics))))

    @property
    def several(self) -> bool:
        """Whether some image has more than one caption."""
        return len(self.statistics) != len(self.ids)

    def interval(
        self, level: float = 0.95, resamples: int = significance.RESAMPLES, seed: int = significance.SEED
    ) -> tuple[float, float]:
        """Percentile bootstrap confidence interval over images."""
        return significance.interval(self.image_statistics, self.measure.value, level, resamples, seed)

    def interval_signature(
        self, level: float = 0.95, resamples: int = significance.RESAMPLES, seed: int = significance.SEED
    ) -> str:
        """The signature of the score with its confidence interval."""
        return f"{self.signature}|ci:{100 * level:g}%|bootstrap:{resamples}|seed:{seed}"

    def __float__(self) -> float:
        """The score of the whole corpus."""
        return self.value

    def to_frame(self) -> Any:
        """Return a data frame with a row per image (needs pandas)."""
        return frame_of_images("", [self])

    def _repr_html_(self) -> str:
        return html.score(self)

    def tidy_rows(self, system: str, *, ci: bool | Bootstrap = False) -> list[ResultRow]:
        """Return the score as a row, and with several captions per image the score of the best as another."""
        bootstrap = ci if isinstance(ci, Bootstrap) else Bootstrap()
        row = ResultRow(
            system,
            self.name,
            self.value,
            self.counted,
            self.interval_signature(*bootstrap) if ci else self.signature,
            self.interval(*bootstrap) if ci else None,
            format=self.measure.format,
        )
        if not self.several:
            return [row]
        best = row._replace(
            metric=f"oracle {self.name}", value=self.oracle, interval=None, signature=self.signature
        )
        return [row, best]

    def to_json(
        self, *, per_image: bool = False, ci: bool | Bootstrap = False, numbers: NumberStyle = EXACT
    ) -> dict[str, Any]:
        """Return a description for JSON. NaN becomes null. ``ci`` adds confidence intervals."""
        bootstrap = ci if isinstance(ci, Bootstrap) else Bootstrap()

        def number(value: float) -> float | None:
            return numbers.number(value, self.measure.format)

        out: dict[str, Any] = {
            "metric": self.name,
            "value": number(self.value),
            "higher_is_better": self.measure.higher_is_better,
            "images": len(self.ids),
            "captions": len(self.statistics),
            "signature": self.interval_signature(*bootstrap) if ci else self.signature,
        }
        if self.counted < len(self.ids):
            out["counted"] = self.counted
        if ci:
            out["interval"] = [number(bound) for bound in self.interval(*bootstrap)]
        if self.several:
            out["oracle"] = number(self.oracle)
        if per_image:
            out["per_image"] = {image: number(value) for image, value in self.per_image.items()}
        return out


class MissingMetricError(InputError, KeyError):
    """A metric that the scores of a system do not have. The message lists those they have."""

    # KeyError shows the repr of its message, in quotes.
    __str__ = Exception.__str__


class Scores(Mapping[str, Score]):
    """The scores of one system, by metric name (upper or lower case)."""

    def __init__(
        self,
        system: str,
        scores: list[Score],
        captions: ScoredCaptions | None = None,
        lengths: CaptionLengths | None = None,
    ) -> None:
        self.system = system
        self._lengths = lengths
        #: The captions that were scored, if they are available.
        self.captions = captions
        self._scores = {score.name: score for score in scores}
        self._fold = {name.casefold(): name for name in self._scores}

    @staticmethod
    def of(corpus: Corpus, measures: Iterable[Measure]) -> Scores:
        """Score the candidates of a corpus by several measures."""
        return _with_lengths(corpus, [Score.of(measure, corpus) for measure in measures])

    @staticmethod
    def of_corpora(corpora: Sequence[Corpus], measures: Sequence[Measure]) -> list[Scores]:
        """Score the candidates of several corpora, with a progress bar."""
        by_corpus: list[list[Score]] = [[] for _ in corpora]
        work = [(i, measure) for i in range(len(corpora)) for measure in measures]
        for i, measure in track(
            work, "scoring", label=lambda step: f"{corpora[step[0]].name}, {step[1].name}"
        ):
            by_corpus[i].append(Score.of(measure, corpora[i]))
        return [_with_lengths(corpus, scores) for corpus, scores in zip(corpora, by_corpus)]

    @property
    def lengths(self) -> CaptionLengths | None:
        """Lengths of the captions in words, if the captions are available."""
        texts = self.captions.texts if self.captions is not None else None
        if self._lengths is None and texts is not None:
            self._lengths = CaptionLengths.of_texts(texts)
        return self._lengths

    def __getitem__(self, name: str) -> Score:
        own_name = self._known(name)
        if own_name is None:
            raise MissingMetricError(
                f"{self.system} has no measure '{name}'{did_you_mean(name, self._scores)}; "
                f"it has {', '.join(self._scores) or 'none'}"
            )
        return self._scores[own_name]

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._known(name) is not None

    def _known(self, name: str) -> str | None:
        """Return the metric of that name in any case, or as other tools write it ("Bleu_4")."""
        own_name = self._fold.get(name.casefold())
        return own_name or self._fold.get((registry.canonical(name) or "").casefold())

    def __iter__(self) -> Iterator[str]:
        return iter(self._scores)

    def __len__(self) -> int:
        return len(self._scores)

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={score.value:.4f}" for name, score in self.items())
        return f"Scores({self.system!r}: {values})"

    def save(self, path: str | Path, *, texts: bool = True) -> None:
        """Write the scores to a file (``NAME.scores``), with the captions themselves if ``texts`` is true."""
        records.write(path, self._saved(), texts=texts)

    @staticmethod
    def load(path: str | Path) -> Scores:
        """Read scores from a file: the same numbers, intervals and tests, bit for bit.

        Parameters
        ----------
        path
            A file that :meth:`Scores.save` or ``captious score -o`` wrote.

        Examples
        --------
        >>> import tempfile
        >>> from captious import score
        >>> scores = score({1: ["a dog runs", "the dog is running"]}, {1: "a dog is running"}, "ROUGE-L")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     scores.save(f"{folder}/mine.scores")
        ...     Scores.load(f"{folder}/mine.scores")["ROUGE-L"].value == scores["ROUGE-L"].value
        True
        """
        saved = records.read(path)
        scores = Scores._restored(saved)
        for record, score in zip(saved.records, scores.values()):
            # Refuse the file if this version's formula gives another number.
            if not np.isclose(score.value, record.value, rtol=1e-9, atol=1e-12, equal_nan=True):
                raise InputError(
                    f"{path}: {score.name} was {record.value:.6g} when it was saved and is {score.value:.6g} "
                    "by the formula of this version; use the version that made it "
                    f"({score.signature.fields.get('captious', 'unknown')})"
                )
        return scores

    @staticmethod
    def merge(
        parts: Iterable[Scores | str | Path],
        *,
        name: str | None = None,
        order: Sequence[str] | None = None,
        part: bool = False,
    ) -> Scores:
        """Merge scores of parts of a system's images (``captious.load(…, part=True)``) into the scores of the
        whole.

        Images are in the order of the references, so the result equals, bit for bit, scoring all images at
        once, for any order of the parts. Without references, images are in ``order``, or sorted by id. The
        default name is that of the first part. Parts that share images or were scored differently are
        refused. So are parts that together lack images of the references, unless ``part`` is true.
        """
        loaded = [scores if isinstance(scores, Scores) else Scores.load(scores) for scores in parts]
        return Scores._restored(merged([scores._saved() for scores in loaded], name, order, part=part))

    def _saved(self) -> records.Saved:
        rows = [
            records.Record(s.measure, s.statistics, s.ids, s.image_offsets, s.signature, s.value)
            for s in self.values()
        ]
        return records.Saved(self.system, rows, self.captions, self.lengths)

    @staticmethod
    def _restored(saved: records.Saved) -> Scores:
        scores = [Score(r.measure, r.statistics, r.ids, r.image_offsets, r.signature) for r in saved.records]
        return Scores(saved.system, scores, saved.captions, saved.lengths)

    @staticmethod
    def load_all(paths: Iterable[str | Path]) -> list[Scores]:
        """Read several systems. Systems with the same name get names from their files."""
        files = [Path(path) for path in paths]
        systems = [Scores.load(path) for path in files]
        for scores, name in zip(systems, tell_apart([scores.system for scores in systems], files)):
            scores.system = name
        return systems

    @staticmethod
    def save_all(results: Sequence[Scores], target: str | Path, *, texts: bool = True) -> list[Path]:
        """Save one system's scores to ``NAME.scores``, or those of any number into a folder."""
        paths = records.target_paths(Path(target), [scores.system for scores in results])
        if paths and paths[0] != Path(target):
            make_folder(target)
        for scores, path in zip(results, paths):
            scores.save(path, texts=texts)
        return paths

    def to_frame(self, *, per_image: bool = False) -> Any:
        """Return a data frame (needs pandas) with a row per metric, or a row per image if ``per_image``."""
        return frame_of_images(self.system, list(self.values())) if per_image else frame_of_metrics(self)

    def _repr_html_(self) -> str:
        return html.scores(self)

    def tidy_rows(self, *, ci: bool | Bootstrap = False) -> list[ResultRow]:
        """Return the scores as rows for CSV. ``ci`` adds confidence intervals."""
        return [row for score in self.values() for row in score.tidy_rows(self.system, ci=ci)]

    def to_json(
        self, *, per_image: bool = False, ci: bool | Bootstrap = False, numbers: NumberStyle = EXACT
    ) -> dict[str, Any]:
        """Return a description of all scores for JSON. ``ci`` adds confidence intervals."""
        return {
            "system": self.system,
            "scores": {
                name: score.to_json(per_image=per_image, ci=ci, numbers=numbers)
                for name, score in self.items()
            },
        }


def _with_lengths(corpus: Corpus, scores: list[Score]) -> Scores:
    """Return the scores of a corpus, with a warning about metrics that its lengths make useless."""
    lengths = CaptionLengths.of(corpus)
    warn_of_length(corpus.name, [score.name for score in scores], lengths)
    return Scores(corpus.name, scores, ScoredCaptions.of(corpus), lengths)


def json_number(value: float) -> float | None:
    """Return None for NaN and infinity, which JSON does not have."""
    return value if math.isfinite(value) else None
