"""`BleuScorer` and `CiderScorer`: scorers to which code adds one caption with its references at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.compat.scoring import Captions, build, words
from captious.core.errors import InputError, some
from captious.corpus.frequencies import FrequencyTable
from captious.io.caption_files import kind
from captious.metrics.captions.bleu import BLEU, MAX_N
from captious.metrics.captions.cider import Cider, CiderD
from captious.results.scores import Score

#: Table that pyciderevalcap reads by a name, without the number of its images.
_VALIDATION, _VALIDATION_IMAGES = "coco-val-df", 40_504


class SegmentScorer:
    """Captions with references, added by ``scorer += (caption, references)``."""

    def __init__(self, test: str | None = None, refs: Sequence[str] | None = None) -> None:
        self.ctest: list[str | None] = []
        self.crefs: list[list[str]] = []
        if refs is not None:
            self.cook_append(test, refs)

    def cook_append(self, test: str | None, refs: Sequence[str]) -> None:
        """Add a caption with its references, or references alone (to count document frequencies)."""
        if (
            not isinstance(test, str | None)
            or isinstance(refs, str)
            or not all(isinstance(text, str) for text in refs)
        ):
            raise InputError(
                f"a caption and a list of references are expected, not {kind(test)}, {kind(refs)}"
            )
        self.ctest.append(test)
        self.crefs.append(list(refs))

    def __iadd__(self, other: Any) -> Any:
        if isinstance(other, tuple):
            self.cook_append(*other)
        else:
            self.ctest += other.ctest
            self.crefs += other.crefs
        return self

    def size(self) -> int:
        """Return the number of captions."""
        return len(self.ctest)

    def clear(self) -> None:
        """Remove all captions."""
        self.ctest, self.crefs = [], []

    def candidates(self) -> list[str]:
        """Return the captions, which must be complete to be scored."""
        texts = [text for text in self.ctest if text is not None]
        if len(texts) < len(self.ctest):
            raise InputError(
                f"{len(self.ctest) - len(texts)} of {len(self.ctest)} entries have references and no caption"
            )
        return texts


class BleuScorer(SegmentScorer):
    """BLEU-1 … BLEU-n of captions that are added one at a time."""

    def __init__(self, test: str | None = None, refs: Sequence[str] | None = None, n: int = MAX_N) -> None:
        if not 1 <= n <= MAX_N:
            raise InputError(f"BLEU takes n from 1 to {MAX_N}, not {n}")
        self.n = n
        super().__init__(test, refs)

    def compute_score(
        self, option: str | None = None, verbose: int = 0
    ) -> tuple[list[float], list[list[float]]]:
        """Return corpus values and values by caption for n = 1, 2, …

        ``option`` says which length of the references counts: closest, shortest or average (the default for a
        single caption).
        """
        option = option or ("average" if len(self.ctest) == 1 else "closest")
        corpus = build(self.candidates(), self.crefs, words)
        rows = Score.of(BLEU(MAX_N), corpus).statistics.copy()
        choose = {"shortest": min, "average": lambda lengths: sum(lengths) / len(lengths)}
        if option in choose:
            pick: Callable[[list[int]], float] = choose[option]  # type: ignore[assignment]
            rows[:, -1] = [pick([len(text.split()) for text in texts]) for texts in self.crefs]
        elif option != "closest":
            raise InputError(f"the option of BLEU is closest, shortest or average, not {option!r}")
        if verbose:
            print_counts(rows, self.n)
        measures = [BLEU(n) for n in range(1, self.n + 1)]
        return (
            [float(measure.value(rows.sum(axis=0))) for measure in measures],
            [measure.value(rows).tolist() for measure in measures],
        )


def print_counts(rows: NDArray[np.float64], n: int) -> None:
    """Print the counts of BLEU as the COCO tools do."""
    sums = rows.sum(axis=0)
    counts = [int(value) if value == int(value) else float(value) for value in sums]
    guess, correct = counts[MAX_N : MAX_N + n], counts[:n]
    print({"testlen": counts[-2], "reflen": counts[-1], "guess": guess, "correct": correct})
    print("ratio:", (counts[-2] + 1e-15) / (counts[-1] + 1e-9))


class CiderScorer(SegmentScorer):
    """CIDEr-D (or CIDEr) of captions that are added one at a time.

    ``df_mode`` is ``"corpus"``, for the frequencies of the references, or a file of document frequencies:
    a pickle of self-critical training (``coco-train-idxs`` means ``data/coco-train-idxs.p``), which is read
    without running code, or a table of captious.
    """

    def __init__(
        self,
        test: str | None = None,
        refs: Sequence[str] | None = None,
        n: int = MAX_N,
        sigma: float = 6.0,
        df_mode: str = "corpus",
        *,
        measure: str = "CIDEr-D",
    ) -> None:
        if (n, sigma) != (4, 6.0):
            raise InputError(f"CIDEr-D takes only n = 4 and sigma = 6, not n = {n} and sigma = {sigma:g}")
        self.df_mode = df_mode
        self._table = None if df_mode == "corpus" else _frequencies(df_mode)
        self.document_frequency: Counter[tuple[str, ...]] = Counter()
        self._measure = CiderD(self._table) if measure == "CIDEr-D" else Cider(self._table)
        super().__init__(test, refs)

    def compute_score(
        self, option: object = None, verbose: int = 0
    ) -> tuple[np.float64, NDArray[np.float64]]:
        """Return the mean and the values by caption."""
        return self.score(self.candidates(), self.crefs)

    def compute_doc_freq(self) -> None:
        """Count, in ``document_frequency``, the entries whose references have an n-gram."""
        for texts in self.crefs:
            split = [text.split() for text in texts]
            self.document_frequency.update(
                {
                    tuple(own[at : at + n])
                    for own in split
                    for n in range(1, MAX_N + 1)
                    for at in range(len(own) - n + 1)
                }
            )

    def score(
        self, candidates: Sequence[str], references: Sequence[Sequence[str]]
    ) -> tuple[np.float64, NDArray[np.float64]]:
        """Return the mean and the values of captions with their references."""
        corpus = build(candidates, references, words)
        if len(corpus) == 1 and self._table is None:
            # Every n-gram is in all images, so all weights are zero.
            return np.float64(0), np.zeros(1)
        score = Score.of(self._measure, corpus)
        return np.float64(score.value), np.array(score.per_caption)


def _frequencies(name: str | Path) -> FrequencyTable:
    """Read document frequencies from a file, or by the name under which self-critical training keeps it."""
    from captious.io.frequency_files import read_frequencies

    text = str(name)
    places = [Path(text), Path(f"{text}.p"), Path("data", text), Path("data", f"{text}.p")]
    for place in places:
        if place.is_file():
            return read_frequencies(place, _VALIDATION_IMAGES if place.stem == _VALIDATION else None)
    raise InputError(
        f"there are no document frequencies '{text}' (looked for {', '.join(map(str, places))}); give "
        "'corpus' or a file ('captious df build REFS -o FILE' makes one)"
    )


def listed_results(gts: Captions, res: Any) -> tuple[list[str], list[Sequence[str]]]:
    """Return captions and references of rows ``{"image_id": …, "caption": [text]}``."""
    candidates, references = [], []
    for place, row in enumerate(res):
        if not isinstance(row, Mapping) or "image_id" not in row or "caption" not in row:
            raise InputError(
                f"result {place} is {kind(row)}; rows {{'image_id': …, 'caption': [text]}} are expected"
            )
        caption = row["caption"]
        if isinstance(caption, str) or len(caption) != 1:
            raise InputError(f"result {place}: 'caption' is a list of one text, not {kind(caption)}")
        if not isinstance(caption[0], str):
            raise InputError(f"result {place}: the caption is {kind(caption[0])}; scorers take text")
        if row["image_id"] not in gts:
            raise InputError(
                f"result {place}: image {row['image_id']!r} has no references ({some(gts)} have)"
            )
        candidates.append(caption[0])
        references.append(gts[row["image_id"]])
    if not candidates:
        raise InputError("there are no results to score")
    return candidates, references
