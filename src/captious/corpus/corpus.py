"""Images with their candidate and reference captions, tokenized and encoded once."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from captious.core import digests as digest
from captious.core import notebook_html as html
from captious.core.container import Grouped, StoredTexts
from captious.core.errors import InputError, printable
from captious.core.memo import Memo, Product, cached_property
from captious.core.ragged import IntArray, offsets_of, runs
from captious.corpus.encoding import Encoding
from captious.kernels import kernel
from captious.kernels.types import Int32, Int64, Out
from captious.text.hashing import HALF, MULTIPLIER, first_place, next_place
from captious.text.ngrams import NgramTable
from captious.text.vocabulary import Vocabulary

T = TypeVar("T")


@kernel
def _number_distinct(
    tokens: Int32, offsets: Int64, places: Out[Int32], first: Out[Int64], inverse: Out[Int64]
) -> int:
    """Number the distinct captions: ``first`` has the first caption of each, ``inverse`` their numbers.

    ``places`` is an empty hash table (see :mod:`captious.text.hashing`). Return the number of captions.
    """
    count = 0
    for i in range(offsets.shape[0] - 1):
        low, high = offsets[i], offsets[i + 1]
        key = MULTIPLIER
        for j in range(low, high):
            key = (key ^ np.uint64(tokens[j])) * MULTIPLIER
            key ^= key >> HALF
        place = first_place(key, places)
        while places[place] != 0:
            other = first[places[place] - 1]
            start = offsets[other]
            same = offsets[other + 1] - start == high - low
            j = low
            while same and j < high:
                same = tokens[j] == tokens[start + j - low]
                j += 1
            if same:
                break
            place = next_place(place, places)
        if places[place] == 0:
            first[count] = i
            count += 1
            places[place] = count
        inverse[i] = places[place] - 1
    return count


def distinct_runs(tokens: NDArray[np.int32], offsets: IntArray) -> tuple[IntArray, IntArray]:
    """Return the first run of each distinct sequence of tokens, and the number of each run's sequence."""
    count = len(offsets) - 1
    places = np.zeros(max(1 << (2 * count).bit_length(), 2), dtype=np.int32)
    first, inverse = np.zeros(count, dtype=np.int64), np.zeros(count, dtype=np.int64)
    with np.errstate(over="ignore"):
        distinct = _number_distinct(tokens, offsets, places, first, inverse)
    return first[: int(distinct)].copy(), inverse


class Captions:
    """Captions of a list of images, in flat arrays.

    Caption i is ``tokens[token_offsets[i]:token_offsets[i + 1]]``, and the captions of image j are
    ``image_offsets[j]:image_offsets[j + 1]``. Captions are immutable, and derived data are cached with them
    (:meth:`cached`).
    """

    def __init__(
        self,
        ids: Sequence[str],
        image_offsets: IntArray,
        encoding: Encoding,
        rows: IntArray | None = None,
        memo: Memo | None = None,
        digest: str | None = None,
    ) -> None:
        """Group captions ``rows`` of an encoding (default: all, in order) by image.

        ``memo`` and ``digest`` are passed where they come from a file.
        """
        self.ids: tuple[str, ...] = tuple(ids)
        self.image_offsets: IntArray = np.asarray(image_offsets, dtype=np.int64)
        self.encoding = encoding
        self.rows = rows
        self.memo = memo if memo is not None else Memo()
        self._digest = digest
        if len(self.ids) != len(self.image_offsets) - 1:
            raise ValueError(f"{len(self.ids)} ids for {len(self.image_offsets) - 1} images")

    @classmethod
    def of(
        cls,
        groups: Sequence[Sequence[str]],
        tokenizer: str = "ptb",
        *,
        ids: Sequence[str] | None = None,
        over: Captions | None = None,
    ) -> Captions:
        """Tokenize and encode caption texts, one list per image; candidates ``over`` their references."""
        flat = (
            groups
            if isinstance(groups, Grouped)
            else Grouped(
                [text for group in groups for text in group], offsets_of([len(group) for group in groups])
            )
        )
        encoding = Encoding.of(flat.texts, tokenizer, over.encoding if over is not None else None)
        names = ids if ids is not None else [str(i) for i in range(len(groups))]
        return cls(names, flat.offsets, encoding)

    def take(self, rows: IntArray, image_offsets: IntArray, ids: Sequence[str] | None = None) -> Captions:
        """Return some of the captions, regrouped, without tokenizing or numbering them again."""
        rows = np.asarray(rows, dtype=np.int64)
        names = ids if ids is not None else [str(i) for i in range(len(image_offsets) - 1)]
        return Captions(names, image_offsets, self.encoding, rows if self.rows is None else self.rows[rows])

    def take_images(self, images: IntArray) -> Captions:
        """Return some of the images with all their captions."""
        rows, offsets = runs(self.image_offsets, images)
        return self.take(rows, offsets, [self.ids[i] for i in images.tolist()])

    def __len__(self) -> int:
        return int(self.image_offsets[-1])

    @property
    def n_images(self) -> int:
        return len(self.image_offsets) - 1

    @property
    def tokenizer(self) -> str:
        return self.encoding.tokenizer

    @property
    def vocabulary(self) -> Vocabulary:
        """Words by number."""
        return self.encoding.vocabulary

    @cached_property
    def texts(self) -> Sequence[str]:
        """Original texts of the captions."""
        if self.rows is None:
            return self.encoding.texts
        texts = self.encoding.texts
        return [texts[i] for i in self.rows.tolist()]

    @cached_property
    def _picked(self) -> tuple[NDArray[np.int32], IntArray]:
        if self.rows is None:
            return self.encoding.tokens, self.encoding.offsets
        positions, offsets = runs(self.encoding.offsets, self.rows)
        return self.encoding.tokens[positions], offsets

    @property
    def tokens(self) -> NDArray[np.int32]:
        """Tokens of all captions."""
        return self._picked[0]

    @property
    def token_offsets(self) -> IntArray:
        """Offsets of each caption's tokens."""
        return self._picked[1]

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
        """Image of each caption."""
        return np.repeat(np.arange(self.n_images, dtype=np.int64), self.per_image)

    def words(self, i: int) -> list[str]:
        """Return the tokens of caption i as strings."""
        words: list[str] = self.encoding.words[
            self.tokens[self.token_offsets[i] : self.token_offsets[i + 1]]
        ].tolist()
        return words

    @cached_property
    def sentences(self) -> list[str]:
        """Tokens of each caption joined by single spaces, the input of METEOR and SPICE."""
        flat = self.encoding.words[self.tokens].tolist()
        return [" ".join(flat[a:b]) for a, b in itertools.pairwise(self.token_offsets.tolist())]

    @cached_property
    def unique(self) -> tuple[IntArray, IntArray]:
        """First caption of each distinct token sequence, and the number of each caption's sequence."""
        return distinct_runs(self.tokens, self.token_offsets)

    def ngrams(self, n: int) -> NgramTable:
        """Return the distinct n-grams of each caption with counts, numbered for both sides together."""
        table = self.encoding.numbered(n).table
        if self.rows is None:
            return table
        rows = self.rows

        def pick() -> NgramTable:
            positions, offsets = runs(table.offsets, rows)
            return NgramTable(table.number[positions], table.count[positions], offsets, table.totals[rows])

        return self.cached(("n-grams", n), pick)

    @cached_property
    def digest(self) -> str:
        """Digest of ids and texts, in any order of images and captions."""
        if self._digest is not None:
            return self._digest
        texts, bounds = self.texts, itertools.pairwise(self.image_offsets.tolist())
        if isinstance(texts, StoredTexts):
            quickly = digest.of_named_texts(StoredTexts.of(self.ids).arrays, texts.arrays, self.image_offsets)
            if quickly is not None:
                return quickly
        return digest.of_any_order([image, *sorted(texts[a:b])] for image, (a, b) in zip(self.ids, bounds))

    @property
    def sizes(self) -> str:
        """Captions per image as text: ``5`` or ``5-7``."""
        if not self.n_images:
            return "0"
        low, high = int(self.per_image.min()), int(self.per_image.max())
        return str(high) if low == high else f"{low}-{high}"

    def cached(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return ``make()``, computed once per key, for data that measures share."""
        return self.memo.get(key, make)

    def product(self, kind: Product[T], parameters: tuple[str, ...], make: Callable[[], T]) -> T:
        """Return ``make()``, computed once, for data that prepared files store."""
        return self.memo.product(kind, parameters, make)


class Corpus:
    """Candidate captions, and the references of their images if there are any.

    The references may cover more images than the candidates. A training batch, or one shard of many, is
    scored against all references, which are prepared once.
    """

    def __init__(
        self,
        candidates: Captions,
        references: Captions | None = None,
        *,
        name: str = "candidates",
        left_out: int = 0,
        images: IntArray | None = None,
        image_names: Sequence[str] | None = None,
    ) -> None:
        self.candidates = candidates
        self.references = references if references is not None else nothing_like(candidates)
        #: Index of each candidate image among the references.
        self.images: IntArray = (
            images if images is not None else np.arange(candidates.n_images, dtype=np.int64)
        )
        if images is None and self.references.n_images != candidates.n_images:
            raise ValueError("candidates and references must cover the same images")
        ours, theirs = candidates.encoding, self.references.encoding
        if not (ours is theirs or ours.base is theirs or theirs.base is ours):
            raise ValueError("candidates and references must share the numbering of their words")
        #: Name of the system in tables.
        self.name = name
        #: Reference images without a prediction that were left out on request.
        self.left_out = left_out
        #: Image of each id. Ids differ from images where an image is repeated for each of its judgements.
        self.image_names: Sequence[str] = image_names if image_names is not None else candidates.ids
        self.memo = Memo()

    @classmethod
    def build(
        cls,
        ids: Sequence[str],
        candidates: Sequence[Sequence[str]],
        references: Sequence[Sequence[str]] | Captions | None = None,
        *,
        tokenizer: str = "ptb",
        name: str = "candidates",
        left_out: int = 0,
        image_names: Sequence[str] | None = None,
    ) -> Corpus:
        """Tokenize and encode caption texts, one list per image on either side.

        ``references`` may be missing, or already encoded (for these ids or more). ``image_names`` are the
        images of the ids, where they differ.
        """
        ids = list(ids)
        _check(ids, candidates, "candidate")
        if references is None:
            ours = Captions.of(candidates, tokenizer, ids=ids)
            return cls(ours, name=name, left_out=left_out, image_names=image_names)
        if isinstance(references, Captions):
            encoded = references
        else:
            _check(ids, references, "reference")
            encoded = Captions.of(references, tokenizer, ids=ids)
        ours = Captions.of(candidates, encoded.tokenizer, ids=ids, over=encoded)
        return cls(
            ours,
            encoded,
            name=name,
            left_out=left_out,
            images=places(ids, encoded),
            image_names=image_names,
        )

    def with_captions(
        self, candidates: Captions, references: Captions | None = None, *, name: str | None = None
    ) -> Corpus:
        """Return the same corpus with some of its captions, regrouped (see :meth:`Captions.take`)."""
        images = self.images if references is None else None
        references = references if references is not None else self.references
        return Corpus(
            candidates,
            references,
            name=name or self.name,
            left_out=self.left_out,
            images=images,
            image_names=self.image_names if candidates.ids == self.candidates.ids else None,
        )

    def __len__(self) -> int:
        return self.candidates.n_images

    def __repr__(self) -> str:
        parts = [f"{len(self):,} images x {self.candidates.sizes} captions"]
        if self.has_references:
            parts.append(f"{self.references.sizes} references")
        if self.left_out:
            parts.append(f"{self.left_out:,} images left out")
        return f"Corpus({self.name!r}, {', '.join(parts)}, tokenizer {self.tokenizer})"

    def __str__(self) -> str:
        """Return the description, and the captions and references of the first image."""
        lines = [repr(self)]
        sides = [("caption", self.candidates, 0)]
        if self.has_references and len(self):
            sides.append(("reference", self.references, int(self.images[0])))
        for side, captions, image in sides if len(self) else ():
            start, end = captions.image_offsets[image : image + 2].tolist()
            lines += [
                f"  {self.ids[0]}, {side}: {captions.texts[i]}" for i in range(start, min(end, start + 3))
            ]
        return "\n".join(printable(line) for line in lines)

    def _repr_html_(self) -> str:
        return html.corpus(self)

    @property
    def ids(self) -> tuple[str, ...]:
        return self.candidates.ids

    @property
    def tokenizer(self) -> str:
        return self.references.tokenizer

    @property
    def has_references(self) -> bool:
        return len(self.references) > 0

    @cached_property
    def pair_offsets(self) -> IntArray:
        """Offsets of each candidate's pairs in :attr:`pairs`."""
        return offsets_of(self.references.per_image[self.images[self.candidates.image_of]])

    @cached_property
    def pairs(self) -> tuple[IntArray, IntArray]:
        """Every candidate with each reference of its image: candidate indices, reference indices."""
        image = self.images[self.candidates.image_of]
        reference, _ = runs(self.references.image_offsets, image)
        counts = self.references.per_image[image]
        return np.repeat(np.arange(len(self.candidates), dtype=np.int64), counts), reference

    def cached(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return ``make()``, computed once per key, for data of candidates and references together."""
        return self.memo.get(key, make)


def places(ids: Sequence[str], references: Captions) -> IntArray:
    """Return the index of each image among the references."""
    if tuple(ids) == references.ids:
        return np.arange(len(references.ids), dtype=np.int64)
    known = references.cached("places", lambda: {image: i for i, image in enumerate(references.ids)})
    unknown = [image for image in ids if image not in known]
    if unknown:
        raise InputError(
            f"image {unknown[0]!r} is not among the {references.n_images:,} images of the references"
        )
    return np.fromiter((known[image] for image in ids), np.int64, len(ids))


def nothing_like(captions: Captions) -> Captions:
    """Return the same images without captions, the references of a corpus that has none."""
    empty = np.zeros(0, dtype=np.int64)
    return captions.take(empty, np.zeros(captions.n_images + 1, dtype=np.int64), captions.ids)


def _check(ids: Sequence[str], captions: Iterable[Sequence[str]], side: str) -> None:
    """Refuse a corpus without images, and images without captions."""
    counts = np.diff(captions.offsets).tolist() if isinstance(captions, Grouped) else list(map(len, captions))
    if len(counts) != len(ids):
        raise InputError(
            f"{len(ids):,} image ids were given and lists of {side} captions for {len(counts):,} images"
        )
    if not ids:
        raise InputError("there are no images: pass at least one image id with its captions")
    bare = next((image for image, count in zip(ids, counts) if not count), None)
    if bare is not None:
        raise InputError(
            f"image {bare} has no {side} caption; leave the image out, "
            "or give it an empty caption to have that scored"
        )
