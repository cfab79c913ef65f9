"""Images with their candidate and reference captions, tokenised and encoded once."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Sequence
from functools import cached_property
from typing import TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from captious.text import tokenizers
from captious.text.ngrams import BITS, NgramIndex, NgramTable, ngram_table
from captious.text.vocabulary import Vocabulary

T = TypeVar("T")
IntArray = NDArray[np.int64]


class Lexicon:
    """What candidates and references number together: words, and n-grams of each length."""

    def __init__(self) -> None:
        self.vocabulary = Vocabulary()
        self._indices: dict[tuple[int, bool], NgramIndex] = {}

    def index(self, n: int) -> NgramIndex:
        """The numbers of n-grams of length n. They are numbered anew when the vocabulary outgrows exact packing, so
        whatever is derived from the numbers is kept under this object and not under n."""
        key = (n, len(self.vocabulary) < (1 << BITS))
        if key not in self._indices:
            self._indices[key] = NgramIndex(n)
        return self._indices[key]


class Captions:
    """Captions of a list of images, flat: caption i is ``tokens[token_offsets[i]:token_offsets[i + 1]]``, and the
    captions of image j are ``image_offsets[j]:image_offsets[j + 1]``."""

    def __init__(self, groups: Sequence[Sequence[str]], tokenizer: str = "ptb", lexicon: Lexicon | None = None) -> None:
        self.texts: list[str] = [text for group in groups for text in group]
        self.image_offsets: IntArray = offsets_of([len(group) for group in groups])
        self.lexicon = lexicon if lexicon is not None else Lexicon()
        self.tokenizer = tokenizer
        words, counts = tokenizers.get(tokenizer)(self.texts)
        self.tokens: NDArray[np.int32] = self.lexicon.vocabulary.encode(words)
        self.token_offsets: IntArray = offsets_of(counts)
        self._memo: dict[Hashable, object] = {}

    def __len__(self) -> int:
        return len(self.texts)

    @property
    def n_images(self) -> int:
        return len(self.image_offsets) - 1

    @property
    def vocabulary(self) -> Vocabulary:
        """The words, shared by candidates and references of a corpus."""
        return self.lexicon.vocabulary

    @cached_property
    def lengths(self) -> IntArray:
        """Tokens per caption."""
        return np.diff(self.token_offsets)

    @cached_property
    def per_image(self) -> IntArray:
        """Captions per image."""
        return np.diff(self.image_offsets)

    @cached_property
    def image_of(self) -> IntArray:
        """The image of each caption."""
        return np.repeat(np.arange(self.n_images, dtype=np.int64), self.per_image)

    def words(self, i: int) -> list[str]:
        """The tokens of caption i as strings."""
        names = self.vocabulary.words
        return [names[t] for t in self.tokens[self.token_offsets[i] : self.token_offsets[i + 1]]]

    @cached_property
    def sentences(self) -> list[str]:
        """Each caption as its tokens joined by single spaces: what METEOR and SPICE read."""
        names = self.vocabulary.words
        flat = [names[t] for t in self.tokens.tolist()]
        bounds = self.token_offsets.tolist()
        return [" ".join(flat[a:b]) for a, b in itertools.pairwise(bounds)]

    @cached_property
    def unique(self) -> tuple[IntArray, IntArray]:
        """Distinct token sequences: index of the first caption of each, and each caption's place among them."""
        seen: dict[bytes, int] = {}
        data = self.tokens.tobytes()
        bounds = (self.token_offsets * self.tokens.itemsize).tolist()
        inverse = np.fromiter(
            (seen.setdefault(data[a:b], len(seen)) for a, b in itertools.pairwise(bounds)), np.int64, len(self)
        )
        first = np.full(len(seen), len(self), dtype=np.int64)
        np.minimum.at(first, inverse, np.arange(len(self), dtype=np.int64))
        return first, inverse

    def ngrams(self, n: int) -> NgramTable:
        """Distinct n-grams of each caption with counts; numbers agree between candidates and references."""
        index = self.lexicon.index(n)
        return self.cached(
            ("ngrams", index),
            lambda: ngram_table(self.tokens, self.token_offsets, n, index, len(self.vocabulary)),
        )

    def cached(self, key: Hashable, make: Callable[[], T]) -> T:
        """``make()`` once per key: for whatever metrics derive from these captions and share."""
        if key not in self._memo:
            self._memo[key] = make()
        return cast(T, self._memo[key])


class Corpus:
    """Images × (candidate captions, reference captions)."""

    def __init__(
        self,
        ids: Sequence[str],
        candidates: Captions,
        references: Captions,
        *,
        name: str = "candidates",
        left_out: int = 0,
    ) -> None:
        if not len(ids) == candidates.n_images == references.n_images:
            raise ValueError("ids, candidates and references must be of the same images")
        if candidates.lexicon is not references.lexicon:
            raise ValueError("candidates and references must share one lexicon")
        self.ids: tuple[str, ...] = tuple(ids)
        self.candidates = candidates
        self.references = references
        #: What to call the system in tables.
        self.name = name
        #: Reference images without a prediction that were left out on request.
        self.left_out = left_out
        self._memo: dict[Hashable, object] = {}

    @classmethod
    def build(
        cls,
        ids: Sequence[str],
        candidates: Sequence[Sequence[str]],
        references: Sequence[Sequence[str]],
        *,
        tokenizer: str = "ptb",
        name: str = "candidates",
        left_out: int = 0,
    ) -> Corpus:
        """Tokenise and encode caption texts, one list per image on either side."""
        lexicon = Lexicon()
        encoded_references = Captions(references, tokenizer, lexicon)
        return cls(ids, Captions(candidates, tokenizer, lexicon), encoded_references, name=name, left_out=left_out)

    def with_candidates(self, candidates: Sequence[Sequence[str]], *, name: str) -> Corpus:
        """Another system on the same images; the encoded references, and all that was derived from them, are shared."""
        encoded = Captions(candidates, self.tokenizer, self.references.lexicon)
        return Corpus(self.ids, encoded, self.references, name=name, left_out=self.left_out)

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def tokenizer(self) -> str:
        return self.references.tokenizer

    @cached_property
    def pair_offsets(self) -> IntArray:
        """Pairs ``pair_offsets[i]:pair_offsets[i + 1]`` are those of candidate i."""
        return offsets_of(self.references.per_image[self.candidates.image_of])

    @cached_property
    def pairs(self) -> tuple[IntArray, IntArray]:
        """Every candidate with each reference of its image: candidate indices, reference indices."""
        image = self.candidates.image_of
        counts = self.references.per_image[image]
        candidate = np.repeat(np.arange(len(self.candidates), dtype=np.int64), counts)
        first = self.references.image_offsets[:-1][image] - self.pair_offsets[:-1]
        reference = np.arange(len(candidate), dtype=np.int64) + np.repeat(first, counts)
        return candidate, reference

    def cached(self, key: Hashable, make: Callable[[], T]) -> T:
        """``make()`` once per key: for whatever several metrics derive from this corpus."""
        if key not in self._memo:
            self._memo[key] = make()
        return cast(T, self._memo[key])


def offsets_of(counts: Sequence[int] | IntArray) -> IntArray:
    """Where each of several runs of the given lengths starts, and where the last ends."""
    offsets = np.zeros(len(counts) + 1, dtype=np.int64)
    np.cumsum(counts, out=offsets[1:])
    return offsets
