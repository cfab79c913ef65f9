"""Metrics as rewards for training loops.

    reward = captious.reward(references, {"CIDEr-D": 1, "SPICE": 0.5}, vocabulary=words, end=0)
    values = reward(image_ids, sampled)  # word indices (images, samples, steps) → float32 (images, samples)

References, document frequencies and scene graphs are prepared once. Each call scores a small corpus against
them and keeps nothing, so memory does not grow and threads can share a reward.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Collection, Mapping, Sequence
from itertools import islice
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from captious.core.errors import InputError, some
from captious.core.memo import cached_property
from captious.core.ragged import IntArray, offsets_of, runs
from captious.core.threads import collector_paused, threads, working
from captious.corpus import Captions, Corpus, places
from captious.corpus.encoding import Encoding
from captious.metrics import registry
from captious.metrics.base import FloatArray, Measure
from captious.metrics.registry import Wanted, make_measures
from captious.results.references import References, Source
from captious.text import tokenizers
from captious.text.vocabulary import Vocabulary

Floats = NDArray[np.float32]
#: Words by index: a list, or a mapping from indices (integers, or strings as in JSON) to words.
Words = Sequence[str] | Mapping[Any, str]


class Reward:
    """Weighted sum of metrics against prepared references. Create one with :func:`reward`."""

    def __init__(
        self,
        references: References,
        weights: Sequence[tuple[Measure, float]],
        vocabulary: Words | None = None,
        end: int | Collection[int] = (),
        jobs: int | None = None,
    ) -> None:
        self._arguments = (references, tuple(weights), vocabulary, end, jobs)
        self.references = references
        #: Threads for parsing captions.
        self.jobs = threads(jobs)
        self.weights = tuple(weights)
        captions = references.captions
        self._states = [measure.prepare(captions) for measure, _ in self.weights]
        self._units = None if vocabulary is None else _Units(vocabulary, end, captions.encoding)
        places([captions.ids[0]], captions)  # builds the table of image positions before the first batch

    def __call__(self, images: Sequence[Any] | Any, captions: Any) -> Any:
        """Return the reward of each caption.

        Parameters
        ----------
        images
            Image ids, one per element of ``captions``.
        captions
            Strings, lists of strings, or word indices. Word indices are a matrix (captions × steps) or have
            several captions per image (images × samples × steps).

        Returns
        -------
        array or tensor
            float32 rewards (captions, or images × samples). A tensor of word indices gives a tensor on the
            same device.
        """
        values, shape = self._values(images, captions)
        total = np.zeros(math.prod(shape), np.float32)
        for (_, weight), per_caption in zip(self.weights, values):
            total += (weight * per_caption).astype(np.float32)
        return _like(captions, total.reshape(shape))

    def parts(self, images: Sequence[Any] | Any, captions: Any) -> dict[str, Any]:
        """Return the value of each metric, unweighted."""
        values, shape = self._values(images, captions)
        return {
            measure.name: _like(captions, per_caption.astype(np.float32).reshape(shape))
            for (measure, _), per_caption in zip(self.weights, values)
        }

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the arguments. Another process prepares the references again."""
        return Reward, self._arguments

    def __repr__(self) -> str:
        listed = " + ".join(f"{weight:g} {measure.name}" for measure, weight in self.weights)
        return f"Reward({listed}; {self.references!r})"

    def _values(self, images: Sequence[Any] | Any, captions: Any) -> tuple[list[FloatArray], tuple[int, ...]]:
        corpus, shape = self._corpus(_image_ids(images), captions)
        with working(self.jobs), collector_paused():
            values = [
                np.nan_to_num(measure.per_row(measure.statistics(corpus, state)), nan=0.0)
                for (measure, _), state in zip(self.weights, self._states)
            ]
        return values, shape

    def _corpus(self, images: list[str], captions: Any) -> tuple[Corpus, tuple[int, ...]]:
        indices = _word_indices(captions)
        count = len(captions)
        if count != len(images):
            raise InputError(
                f"{len(images):,} image ids for {count:,} elements of captions; pass one id per element"
            )
        if not count:
            raise InputError("there are no captions to reward; pass at least one")
        references = self.references.captions
        if indices is None:
            flat, shape = _texts(captions)
            encoding = Encoding.of(flat, references.tokenizer, references.encoding)
        else:
            if self._units is None:
                raise InputError(
                    "captions are word indices, but the reward has no vocabulary; "
                    "create it with reward(…, vocabulary=words, end=…)"
                )
            shape = indices.shape[:-1]
            encoding = self._units.encode(indices.reshape(-1, indices.shape[-1]))
        each = math.prod(shape[1:])
        candidates = Captions(images, np.arange(count + 1, dtype=np.int64) * each, encoding)
        return Corpus(candidates, references, images=places(images, references)), shape


class _Units:
    """Word indices of a model, mapped to tokens in the vocabulary of the references."""

    def __init__(self, vocabulary: Words, end: int | Collection[int], base: Encoding) -> None:
        words = _by_index(vocabulary)
        self.end = np.array(sorted({end} if isinstance(end, int) else set(end)), np.int64)
        listed = [word if word is not None else "" for word in words]
        # Words of the references stay one token. The tokenizer may drop others (punctuation) or split them
        # ("don't").
        is_token = [word in base.vocabulary for word in listed]
        tokens, counts = tokenizers.get(base.tokenizer)(
            ["" if single else word for word, single in zip(listed, is_token)]
        )
        remaining = iter(tokens)
        flat = [
            part
            for word, single, count in zip(listed, is_token, counts.tolist())
            for part in ([word] if single else islice(remaining, count))
        ]
        self.vocabulary = Vocabulary(base=base.vocabulary)
        self.tokens = self.vocabulary.encode(flat)
        self.vocabulary.freeze()
        self.offsets = offsets_of(np.where(is_token, 1, counts))
        self.is_valid = np.array([word is not None for word in words], np.bool_)
        self.is_valid[self.end[(self.end >= 0) & (self.end < len(words))]] = True
        self.base = base
        self.words = np.concatenate([base.words, np.array([*self.vocabulary.new, ""], object)[:-1]])

    def encode(self, ids: IntArray) -> Encoding:
        """Encode rows of word indices. A caption ends at its first end index or negative index."""
        stop = ids < 0
        for end in self.end.tolist():
            stop |= ids == end
        lengths = np.where(stop.any(axis=1), stop.argmax(axis=1), ids.shape[1])
        flat = ids[np.arange(ids.shape[1]) < lengths[:, None]]
        last = len(self.is_valid) - 1
        invalid = flat[(flat > last) | ~self.is_valid[np.minimum(flat, last)]]
        if len(invalid):
            raise InputError(
                f"the vocabulary has no word with index {some(np.unique(invalid).tolist())}; "
                "pass the vocabulary of the model that wrote the captions"
            )
        positions, starts = runs(self.offsets, flat)
        bounds = offsets_of(lengths)
        return _Encoded(self, self.tokens[positions], starts[bounds])


class _Encoded(Encoding):
    """Encoding of word indices. All batches share the words."""

    def __init__(self, units: _Units, tokens: NDArray[np.int32], offsets: IntArray) -> None:
        super().__init__(_Joined(self), tokens, offsets, units.vocabulary, units.base.tokenizer, units.base)
        self._units = units

    @cached_property
    def words(self) -> NDArray[np.object_]:
        return self._units.words


class _Joined(Sequence[str]):
    """Texts of captions given as word indices, joined when a metric reads them."""

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
    """Create a reward for training loops: a callable from image ids and captions to float32 numbers.

    Parameters
    ----------
    references
        Prepared references (:func:`captious.prepare`), or anything that :func:`captious.load` accepts.
    metrics
        Names with weights, ``{"CIDEr-D": 1, "SPICE": 0.5}``, or names, each with weight 1. Give metrics for
        which lower is better a negative weight. A metric that is undefined for a caption contributes 0.
    vocabulary
        Words by index (a list or a mapping), for captions given as word indices. Empty strings are skipped,
        such as the word of a start index. Words that the references lack are tokenized like the references.
    end
        Index or indices that end a caption. A negative index also ends it.
    tokenizer
        Tokenizer of the references (default: ptb, or that of prepared references).
    jobs
        Threads of metrics that parse captions (default: all processors).
    options
        Options of metrics, as for :func:`captious.score` (``df``, ``parser``, …).

    Examples
    --------
    >>> import captious
    >>> references = {"1": ["a dog runs"], "2": ["a cat sleeps"]}
    >>> reward = captious.reward(references, {"BLEU-1": 1.0})
    >>> reward(["1", "2"], ["a dog runs", "a dog runs fast"]).tolist()
    [1.0, 0.25]
    """
    weights = dict(metrics) if isinstance(metrics, Mapping) else None
    if weights is not None:
        for name, weight in weights.items():
            if isinstance(weight, bool) or not isinstance(weight, int | float) or not math.isfinite(weight):
                raise InputError(f"the weight of {name} must be a finite number, not {weight!r}")
        if not weights:
            raise InputError("there are no metrics; name at least one: reward(references, {'CIDEr-D': 1})")
        registry.check_options(list(weights), options)
        weighted = [
            # All metrics of a group have the weight of the group.
            (measure, float(weight))
            for name, weight in weights.items()
            for measure in make_measures(name, options, spare=options)
        ]
    else:
        weighted = [(measure, 1.0) for measure in make_measures(metrics, options)]
    for measure, _ in weighted:
        if measure.rows != "caption":
            raise InputError(
                f"{measure.name} measures {_UNITS[measure.rows]}, but a reward scores single captions; "
                "choose another metric"
            )
    return Reward(References.read(references, tokenizer), weighted, vocabulary, end, jobs)


_UNITS = {"image": "the captions of an image together", "corpus": "whole corpora"}
_VOCABULARY = "a vocabulary is a list of words, or a mapping from indices to words"


def _by_index(vocabulary: Words) -> list[str | None]:
    """Return the words by index, None for indices without a word."""
    if not isinstance(vocabulary, Mapping):
        words: list[str | None] = list(vocabulary)
    else:
        try:
            by_index = {int(index): word for index, word in vocabulary.items()}
        except (TypeError, ValueError):
            raise InputError(f"{_VOCABULARY}; its keys are not integers") from None
        if not by_index or min(by_index) < 0:
            raise InputError(f"{_VOCABULARY}; it is empty or has negative indices")
        words = [by_index.get(index) for index in range(max(by_index) + 1)]
    if not words:
        raise InputError(f"{_VOCABULARY}; it is empty")
    wrong = next((word for word in words if word is not None and not isinstance(word, str)), None)
    if wrong is not None:
        raise InputError(f"{_VOCABULARY}; it has {wrong!r}")
    return words


def _is_tensor(value: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def _word_indices(captions: Any) -> IntArray | None:
    """Return captions as an array of word indices, or None for text."""
    if _is_tensor(captions):
        captions = captions.detach().cpu().numpy()
    elif not isinstance(captions, np.ndarray):
        return _ragged(captions)
    if captions.dtype.kind not in "iu" or captions.ndim not in (2, 3):
        raise InputError(
            "word indices must be integers of shape (captions, steps) or (images, samples, steps), "
            f"not {captions.dtype} of shape {captions.shape}"
        )
    indices: IntArray = captions.astype(np.int64, copy=False)
    return indices


def _ragged(captions: Any) -> IntArray | None:
    """Return lists of word indices of any lengths as a padded array, or None for text."""
    if isinstance(captions, str) or not isinstance(captions, Sequence):
        raise InputError(
            "captions must be a list with one element per image id, or an array of word indices, not "
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
        indices = np.full((len(rows), max(map(len, rows), default=0)), -1, np.int64)
        for i, row in enumerate(rows):
            indices[i, : len(row)] = row
    except (TypeError, ValueError):
        raise InputError(
            "captions mix text and word indices, or hold something else; pass one kind"
        ) from None
    if not deep:
        return indices
    return indices.reshape(len(captions), _captions_per_image(captions), indices.shape[1])


def _captions_per_image(captions: Sequence[Sequence[Any]]) -> int:
    counts = {len(one) for one in captions}
    if len(counts) > 1:
        raise InputError(
            f"images have {min(counts)} to {max(counts)} captions; pass the same number for each image"
        )
    return counts.pop()


def _texts(captions: Sequence[Any]) -> tuple[list[str], tuple[int, ...]]:
    """Return the captions as one list, and the shape of their rewards."""
    deep = not isinstance(captions[0], str)
    if deep and any(isinstance(one, str) or not isinstance(one, Sequence) for one in captions):
        raise InputError("captions mix single captions and lists of captions; pass one or the other")
    flat = [text for one in captions for text in one] if deep else list(captions)
    wrong = next((text for text in flat if not isinstance(text, str)), None)
    if wrong is not None:
        raise InputError(f"a caption must be text or a row of word indices, not {type(wrong).__name__}")
    return flat, (len(captions), _captions_per_image(captions)) if deep else (len(flat),)


def _image_ids(images: Any) -> list[str]:
    if isinstance(images, str) or not hasattr(images, "__len__"):
        raise InputError("images must be a list of ids, one per element of captions")
    return [str(image) for image in (images.tolist() if hasattr(images, "tolist") else images)]


def _like(captions: Any, values: Floats) -> Any:
    """Return values as a tensor on the same device where captions are a tensor."""
    if not _is_tensor(captions):
        return values
    return sys.modules["torch"].from_numpy(values).to(captions.device)
