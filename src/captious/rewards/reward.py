"""Metrics as rewards: what a training loop asks thousands of times of a few captions.

    reward = captious.reward(references, {"CIDEr-D": 1, "SPICE": 0.5}, vocabulary=words, end=0) values =
    reward(image_ids, sampled)          # (images, samples, steps) of word numbers → (images, samples),
    float32

References, document frequencies and scene graphs are made once. A call makes a small corpus over them, scores
it and forgets it: nothing grows, and any number of threads may call at once.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from itertools import islice
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from captious.core.errors import InputError, some
from captious.core.garbage import collector_paused
from captious.core.ragged import IntArray, offsets_of, runs
from captious.core.threads import threads, working
from captious.corpus import Captions, Corpus, places
from captious.corpus.encoding import Encoding
from captious.metrics.base import FloatArray, Measure
from captious.metrics.registry import Wanted, make_measures
from captious.results.references import References, Source
from captious.text import tokenizers
from captious.text.vocabulary import Vocabulary

Floats = NDArray[np.float32]
#: Words by number: a list, or a mapping from numbers (also as text, as JSON has them) to words.
Words = Sequence[str] | Mapping[Any, str]


class Reward:
    """Weighted metrics of captions against prepared references; made by :func:`reward`."""

    def __init__(
        self,
        references: References,
        weights: Sequence[tuple[Measure, float]],
        vocabulary: Words | None = None,
        end: int | Collection[int] = (),
        jobs: int | None = None,
    ) -> None:
        self.references = references
        #: Threads that captions are parsed in.
        self.jobs = threads(jobs)
        self.weights = tuple(weights)
        captions = references.captions
        self._states = [measure.prepare(captions) for measure, _ in self.weights]
        self._units = None if vocabulary is None else _Units(vocabulary, end, captions.encoding)
        places([captions.ids[0]], captions)  # the table of places is made here, not by the first batch

    def __call__(self, images: Sequence[Any] | Any, captions: Any) -> Any:
        """The reward of each caption.

        ``images`` are ids, one for each element of ``captions``. An element is a caption (text), a list of
        captions, or a row of word numbers; several captions of an image (images × samples × steps) give
        rewards of that shape (images × samples). Text and arrays give a float32 array; a tensor gives a
        float32 tensor on its device.
        """
        values, shape = self._values(images, captions)
        total = np.zeros(math.prod(shape), np.float32)
        for (_, weight), found in zip(self.weights, values):
            total += (weight * found).astype(np.float32)
        return _like(captions, total.reshape(shape))

    def parts(self, images: Sequence[Any] | Any, captions: Any) -> dict[str, Any]:
        """The value of each metric by itself, without weights."""
        values, shape = self._values(images, captions)
        return {
            measure.name: _like(captions, found.astype(np.float32).reshape(shape))
            for (measure, _), found in zip(self.weights, values)
        }

    def __repr__(self) -> str:
        listed = " + ".join(f"{weight:g} {measure.name}" for measure, weight in self.weights)
        return f"Reward({listed}; {self.references!r})"

    def _values(self, images: Sequence[Any] | Any, captions: Any) -> tuple[list[FloatArray], tuple[int, ...]]:
        corpus, shape = self._corpus(_listed(images), captions)
        with working(self.jobs), collector_paused():
            values = [
                np.nan_to_num(measure.per_row(measure.statistics(corpus, state)), nan=0.0)
                for (measure, _), state in zip(self.weights, self._states)
            ]
        return values, shape

    def _corpus(self, images: list[str], captions: Any) -> tuple[Corpus, tuple[int, ...]]:
        ids = _numbers(captions)
        count = len(captions)
        if count != len(images):
            raise InputError(
                f"{len(images):,} image ids were given for {count:,} elements of captions; there must be as "
                "many"
            )
        if not count:
            raise InputError("there are no captions to reward")
        references = self.references.captions
        if ids is None:
            flat, shape = _texts(captions)
            encoding = Encoding.of(flat, references.tokenizer, references.encoding)
        else:
            if self._units is None:
                raise InputError(
                    "captions are numbers of words, and no words are known: reward(…, vocabulary=words, "
                    "end=…)"
                )
            shape = ids.shape[:-1]
            encoding = self._units.encode(ids.reshape(-1, ids.shape[-1]))
        each = math.prod(shape[1:])
        candidates = Captions(images, np.arange(count + 1, dtype=np.int64) * each, encoding)
        return Corpus(candidates, references, images=places(images, references)), shape


class _Units:
    """The words of a model, numbered as the references number theirs."""

    def __init__(self, vocabulary: Words, end: int | Collection[int], base: Encoding) -> None:
        words = _by_number(vocabulary)
        self.end = np.array(sorted({end} if isinstance(end, int) else set(end)), np.int64)
        listed = [word if word is not None else "" for word in words]
        # A word that the references have is itself. Another one may be no word to the tokenizer
        # (punctuation), or two ("don't").
        own = [word in base.vocabulary for word in listed]
        tokens, counts = tokenizers.get(base.tokenizer)(
            ["" if known else word for word, known in zip(listed, own)]
        )
        cut = iter(tokens)
        flat = [
            part
            for word, known, count in zip(listed, own, counts.tolist())
            for part in ([word] if known else islice(cut, count))
        ]
        self.vocabulary = Vocabulary(base=base.vocabulary)
        self.tokens = self.vocabulary.encode(flat)
        self.vocabulary.freeze()
        self.offsets = offsets_of(np.where(own, 1, counts))
        self.known = np.array([word is not None for word in words], np.bool_)
        self.known[self.end[(self.end >= 0) & (self.end < len(words))]] = True
        self.base = base
        self.words = np.concatenate([base.words, np.array([*self.vocabulary.new, ""], object)[:-1]])

    def encode(self, ids: IntArray) -> Encoding:
        """Rows of numbers as captions: each ends at its first end sign or negative number."""
        stop = ids < 0
        for end in self.end.tolist():
            stop |= ids == end
        lengths = np.where(stop.any(axis=1), stop.argmax(axis=1), ids.shape[1])
        flat = ids[np.arange(ids.shape[1]) < lengths[:, None]]
        wrong = flat[(flat >= len(self.known)) | ~self.known[np.minimum(flat, len(self.known) - 1)]]
        if len(wrong):
            raise InputError(f"the vocabulary has no word of the number {some(np.unique(wrong).tolist())}")
        positions, starts = runs(self.offsets, flat)
        bounds = offsets_of(lengths)
        return _Encoded(self, self.tokens[positions], starts[bounds])


class _Encoded(Encoding):
    """Captions that were numbers from the beginning. All batches share the words."""

    def __init__(self, units: _Units, tokens: NDArray[np.int32], offsets: IntArray) -> None:
        super().__init__(_Joined(self), tokens, offsets, units.vocabulary, units.base.tokenizer, units.base)
        self._units = units

    @cached_property
    def words(self) -> NDArray[np.object_]:
        return self._units.words


class _Joined(Sequence[str]):
    """The texts of captions that came as numbers, made when a metric reads them."""

    def __init__(self, encoding: Encoding) -> None:
        self._encoding = encoding

    def __len__(self) -> int:
        return len(self._encoding)

    @overload
    def __getitem__(self, i: int) -> str: ...
    @overload
    def __getitem__(self, i: slice) -> list[str]: ...
    def __getitem__(self, i: int | slice) -> str | list[str]:
        if isinstance(i, slice):
            return [self[k] for k in range(*i.indices(len(self)))]
        start, stop = self._encoding.offsets[range(len(self))[i] :][:2]
        return " ".join(self._encoding.words[self._encoding.tokens[start:stop]].tolist())


def reward(
    references: Source,
    metrics: Mapping[str, float] | Wanted = "CIDEr-D",
    *,
    vocabulary: Words | None = None,
    end: int | Collection[int] = (),
    tokenizer: str | None = None,
    jobs: int | None = None,
    **options: Any,
) -> Reward:
    """A reward for training loops: a callable from image ids and captions to float32 numbers.

    ``references`` are prepared ones (:func:`captious.prepare`) or whatever :func:`captious.load` takes.
    ``metrics`` are names with weights, ``{"CIDEr-D": 1, "SPICE": 0.5}``, or names alone, which weigh 1. A
    metric of which less is better takes a negative weight. A caption for which a metric is not defined gets 0
    from it.

    With a ``vocabulary``, captions may be numbers of words: a list of words, or a mapping from numbers to
    words. A caption ends at the first number in ``end``, or at a negative one; words that are empty text are
    skipped (a start sign, say). A word that the references do not have is tokenised as they are.

    ``jobs`` is the number of threads that metrics which parse captions may use (default: all processors).

    Further ``options`` go to the metrics that take them, as in :func:`captious.score` (``df``, ``parser``,
    …).
    """
    weights = dict(metrics) if isinstance(metrics, Mapping) else None
    if weights is not None:
        for name, weight in weights.items():
            if isinstance(weight, bool) or not isinstance(weight, int | float) or not math.isfinite(weight):
                raise InputError(f"the weight of {name} is {weight!r}, not a number")
        if not weights:
            raise InputError("no metric was named: reward(references, {'CIDEr-D': 1})")
        made = []
        for name, weight in weights.items():
            # A group of metrics shares the weight that it was given.
            made += [(measure, float(weight)) for measure in make_measures(name, options)]
    else:
        made = [(measure, 1.0) for measure in make_measures(metrics, options)]
    for measure, _ in made:
        if measure.rows != "caption":
            raise InputError(
                f"{measure.name} measures {_UNITS[measure.rows]}, and a reward is of single captions; name "
                "another metric"
            )
    return Reward(References.read(references, tokenizer), made, vocabulary, end, jobs)


_UNITS = {"image": "the captions of an image together", "corpus": "whole corpora"}


def _by_number(vocabulary: Words) -> list[str | None]:
    if not isinstance(vocabulary, Mapping):
        words: list[str | None] = list(vocabulary)
    else:
        try:
            numbers = {int(number): word for number, word in vocabulary.items()}
        except (TypeError, ValueError):
            raise InputError("a vocabulary is a list of words, or a mapping from numbers to words") from None
        if not numbers or min(numbers) < 0:
            raise InputError("a vocabulary has words, and their numbers start at 0")
        words = [numbers.get(number) for number in range(max(numbers) + 1)]
    wrong = next((word for word in words if word is not None and not isinstance(word, str)), None)
    if wrong is not None or not words:
        raise InputError(
            f"a vocabulary is a list of words, or a mapping from numbers to words; it has {wrong!r}"
        )
    return words


def _is_tensor(value: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def _numbers(captions: Any) -> IntArray | None:
    """An array of word numbers, or nothing where captions are text."""
    if _is_tensor(captions):
        captions = captions.detach().cpu().numpy()
    elif not isinstance(captions, np.ndarray):
        return _ragged(captions)
    if captions.dtype.kind not in "iu" or captions.ndim not in (2, 3):
        raise InputError(
            "word numbers are a matrix of whole numbers (captions × steps, or images × samples × steps), "
            f"not {captions.dtype} of shape {captions.shape}"
        )
    numbers: IntArray = captions.astype(np.int64, copy=False)
    return numbers


def _ragged(captions: Any) -> IntArray | None:
    """Lists of numbers, of any lengths, as a matrix; nothing for text."""
    if isinstance(captions, str) or not isinstance(captions, Sequence):
        raise InputError(
            "captions are a list with one element per image id, or an array of word numbers, not "
            f"{type(captions).__name__}"
        )
    first = next((one for one in captions if not isinstance(one, str) and len(one)), None)
    if first is None or isinstance(first[0], str):
        return None
    deep = isinstance(first[0], Sequence | np.ndarray)
    if deep and any(isinstance(row, str) for row in first):
        return None
    rows = [row for one in captions for row in (one if deep else [one])]
    try:
        numbers = np.full((len(rows), max(map(len, rows), default=0)), -1, np.int64)
        for i, row in enumerate(rows):
            numbers[i, : len(row)] = row
    except (TypeError, ValueError):
        raise InputError(
            "captions mix text and word numbers, or hold something else; give lists of one kind"
        ) from None
    return numbers.reshape(len(captions), -1, numbers.shape[1]) if deep and _even(captions) else numbers


def _even(captions: Sequence[Sequence[Any]]) -> bool:
    counts = {len(one) for one in captions}
    if len(counts) > 1:
        raise InputError(
            f"images have {min(counts)} to {max(counts)} captions; a reward takes as many of each image"
        )
    return True


def _texts(captions: Sequence[Any]) -> tuple[list[str], tuple[int, ...]]:
    deep = not isinstance(captions[0], str)
    flat = list(captions) if not deep else [text for one in captions if _is_list(one) for text in one]
    wrong = next((text for text in flat if not isinstance(text, str)), None)
    if wrong is not None:
        raise InputError(f"a caption is text or a row of word numbers; {type(wrong).__name__} was given")
    if not deep:
        return flat, (len(flat),)
    _even(captions)
    return flat, (len(captions), len(captions[0]))


def _is_list(one: Any) -> bool:
    if isinstance(one, str) or not isinstance(one, Sequence):
        raise InputError("captions mix single captions and lists of captions; give one or the other")
    return True


def _listed(images: Any) -> list[str]:
    if isinstance(images, str) or not hasattr(images, "__len__"):
        raise InputError("images are a list of ids, one for each element of captions")
    return [str(image) for image in (images.tolist() if hasattr(images, "tolist") else images)]


def _like(captions: Any, values: Floats) -> Any:
    """A tensor for a tensor, on its device."""
    if not _is_tensor(captions):
        return values
    return sys.modules["torch"].from_numpy(values).to(captions.device)
