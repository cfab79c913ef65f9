"""Captions as numbers of METEOR's words, and the features of each word."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from captious.core.memo import Arrays, Product
from captious.core.ragged import offsets_of, positions_of, runs
from captious.core.threads import threads, threads_for
from captious.corpus import Captions
from captious.meteor.matches import Ints, Lines, PhraseRelations, WordRelations
from captious.meteor.meteor_tables import Normaliser, Resources
from captious.meteor.relations import Spans, paraphrases_of, related_words, spans_of
from captious.text.stemmer import java_hash, stem

A = TypeVar("A")
B = TypeVar("B")

#: Separator of captions in the COCO tools. They drop it from candidates; it splits a reference in two.
SEPARATOR = "|||"


class WordFeatures(NamedTuple):
    """Features of words, a row each."""

    #: Hashes of form and stem. Like the reference, METEOR takes words with equal hashes for the same.
    key: NDArray[np.uint32]
    stem: NDArray[np.uint32]
    function: NDArray[np.bool_]
    #: Number in the paraphrase table, or 0.
    number: NDArray[np.int32]
    #: ``synsets[synset_offsets[w]:synset_offsets[w + 1]]``
    synset_offsets: Ints
    synsets: NDArray[np.int32]

    def take(self, rows: Ints) -> WordFeatures:
        """Select words."""
        if len(rows) == len(self.key) and np.array_equal(rows, np.arange(len(rows))):
            return self
        picked, offsets = runs(self.synset_offsets, rows)
        return WordFeatures(
            self.key[rows],
            self.stem[rows],
            self.function[rows],
            self.number[rows],
            offsets,
            self.synsets[picked],
        )

    def followed_by(self, other: WordFeatures) -> WordFeatures:
        key, stem, function, number, synsets = (
            np.concatenate([getattr(self, name), getattr(other, name)])
            for name in ("key", "stem", "function", "number", "synsets")
        )
        offsets = np.concatenate([self.synset_offsets, self.synset_offsets[-1] + other.synset_offsets[1:]])
        return WordFeatures(key, stem, function, number, offsets, synsets)

    def words(self, used: NDArray[np.bool_]) -> WordRelations:
        """Relate words for the alignment; `used` are the words of hypotheses."""
        related = related_words(self.key, self.stem, self.synset_offsets, self.synsets, used)
        return WordRelations(self.key, self.function, *related)


def look_up_words(words: Sequence[str], resources: Resources) -> WordFeatures:
    """Look up words in METEOR's tables."""
    n = len(words)
    offsets, synsets = resources.synonyms.synsets_of(words)
    number = _numbers(words, resources)
    # The paraphrase table has the stems of most words.
    stems = resources.paraphrases.stems[number]
    others = np.flatnonzero(number == 0)
    stems[others] = [java_hash(stem(words[i])) for i in others.tolist()]
    return WordFeatures(
        key=np.fromiter(map(java_hash, words), np.uint32, n),
        stem=stems,
        function=np.fromiter((word in resources.function_words for word in words), np.bool_, n),
        number=number,
        synset_offsets=offsets,
        synsets=synsets,
    )


def _numbers(words: Sequence[str], resources: Resources) -> NDArray[np.int32]:
    return np.fromiter((resources.paraphrase_words.get(word, 0) for word in words), np.int32, len(words))


#: Products that are stored in prepared files.
WORD_FEATURES: Product[WordFeatures] = Product(
    "METEOR words",
    WordFeatures._asdict,
    lambda arrays: WordFeatures(**{name: np.asarray(arrays[name]) for name in WordFeatures._fields}),
)
SPANS: Product[Spans] = Product(
    "METEOR phrases by number",
    Spans._asdict,
    lambda arrays: Spans(**{name: np.asarray(arrays[name]) for name in Spans._fields}),
)


class EncodedLines(NamedTuple):
    """Hypotheses and references (which may be the same lines) with the features of their words."""

    ours: Lines
    theirs: Lines
    vocabulary: NDArray[np.object_]
    features: WordFeatures
    #: Rows of the phrases in the paraphrase table.
    our_rows: NDArray[np.int32]
    their_rows: NDArray[np.int32]

    def words(self, lines: Lines, line: int) -> list[str]:
        """Return the words of a line."""
        words: list[str] = self.vocabulary[
            lines.tokens[lines.offsets[line] : lines.offsets[line + 1]]
        ].tolist()
        return words


def encode_texts(texts: Sequence[str], resources: Resources) -> EncodedLines:
    """Encode each text as one line, for use as hypothesis or reference."""
    number: dict[str, int] = {}
    flat: list[int] = []
    counts: list[int] = []
    for text in texts:
        words = resources.normaliser.words(text)
        counts.append(len(words))
        flat.extend([number.setdefault(word, len(number)) for word in words])
    features = look_up_words(list(number), resources)
    tokens, offsets = np.array(flat, np.int32), offsets_of(counts)
    spans = spans_of(resources.paraphrases, features.number[tokens], offsets)
    both = Lines(tokens, offsets, spans.numbers, spans.offsets)
    return EncodedLines(both, both, np.array(list(number), object), features, spans.rows, spans.rows)


class EncodedSide(NamedTuple):
    """Distinct captions of one side as lines; caption c has the lines ``begin[c]:end[c]``.

    Words keep the numbers of the captions' vocabulary. Words that only METEOR's tokenization produces are
    numbered after them.
    """

    tokens: NDArray[np.int32]
    lengths: Ints
    begin: Ints
    end: Ints
    #: Words outside the captions' vocabulary, and the size of that vocabulary.
    extra: list[str]
    size: int

    def only(self, captions: Ints) -> tuple[EncodedSide, Ints]:
        """Select the lines of some captions; others have none. Return also where their tokens were."""
        counts = (self.end - self.begin)[captions]
        lines = np.unique(positions_of(self.begin[captions], counts)[0])
        picked, _ = runs(offsets_of(self.lengths), lines)
        begin, end = np.zeros_like(self.begin), np.zeros_like(self.end)
        # The lines of a caption stay neighbours.
        begin[captions] = np.searchsorted(lines, self.begin[captions])
        end[captions] = begin[captions] + counts
        return EncodedSide(
            self.tokens[picked], self.lengths[lines], begin, end, self.extra, self.size
        ), picked


def _pack_side(side: EncodedSide) -> Arrays:
    extra = np.frombuffer("\n".join(side.extra).encode("utf-8", "surrogatepass"), np.uint8)
    arrays: dict[str, NDArray[Any]] = {
        "tokens": side.tokens,
        "lengths": side.lengths,
        "begin": side.begin,
        "end": side.end,
        "extra": extra,
    }
    return {**arrays, "known": np.array([side.size, len(side.extra)], np.int64)}


def _unpack_side(arrays: Arrays) -> EncodedSide:
    size, count = (int(value) for value in arrays["known"])
    extra = arrays["extra"].tobytes().decode("utf-8", "surrogatepass").split("\n") if count else []
    tokens, lengths, begin, end = (np.asarray(arrays[name]) for name in ("tokens", "lengths", "begin", "end"))
    return EncodedSide(tokens, lengths, begin, end, extra, size)


SIDE = Product("METEOR lines", _pack_side, _unpack_side)


def _encode_side(captions: Captions, normaliser: Normaliser, is_reference: bool) -> EncodedSide:
    """Encode captions as lines. A reference with a separator is several lines.

    METEOR's tokenization leaves nine captions of ten unchanged; their words keep their numbers.
    """
    plain = captions.encoding.per_word("METEOR plain", _are_plain)
    names, size = captions.encoding.words, len(captions.vocabulary)
    extra: dict[str, int] = {}
    firsts, inverse = captions.unique
    starts, ends = captions.token_offsets[firsts], captions.token_offsets[firsts + 1]
    odd = np.concatenate([[0], np.cumsum(~plain[captions.tokens])])
    parts = np.ones(len(firsts), np.int64)
    odd_ones = np.flatnonzero(odd[ends] > odd[starts])
    texts: list[str] = []
    for i in odd_ones.tolist():
        text = " ".join(names[captions.tokens[starts[i] : ends[i]]].tolist())
        split = text.split(SEPARATOR) if is_reference else [text.replace(SEPARATOR, "")]
        parts[i] = len(split)
        texts += split
    rewritten = normaliser.words_of(texts)
    flat = [word for line in rewritten for word in line]
    numbers = captions.vocabulary.find(flat)
    new = np.flatnonzero(numbers < 0)
    numbers[new] = [extra.setdefault(flat[i], size + len(extra)) for i in new.tolist()]
    bounds = offsets_of(parts)
    # The source of each line: the captions' own tokens, or after them those of the rewritten captions.
    length = np.repeat(ends - starts, parts)
    source = np.repeat(starts, parts)
    rewritten_offsets = offsets_of([len(line) for line in rewritten])
    odd_lines, _ = runs(bounds, odd_ones)
    length[odd_lines] = np.diff(rewritten_offsets)
    source[odd_lines] = len(captions.tokens) + rewritten_offsets[:-1]
    picked, _ = positions_of(source, length)
    tokens = np.concatenate([captions.tokens, numbers])[picked]
    return EncodedSide(tokens, length, bounds[:-1][inverse], bounds[1:][inverse], list(extra), size)


class Prepared(NamedTuple):
    """References for METEOR: lines, features of words (vocabulary, then extra ones), and phrases."""

    side: EncodedSide
    features: WordFeatures
    spans: Spans


def prepare_references(references: Captions, resources: Resources) -> Prepared:
    """Compute all that METEOR needs of references, cached with them."""
    normaliser, digest = resources.normaliser, resources.normaliser.digest
    side = references.product(SIDE, (digest,), lambda: _encode_side(references, normaliser, True))

    def words() -> list[str]:
        return [*references.encoding.words[: side.size].tolist(), *side.extra]

    def find_phrases() -> Spans:
        numbers = _numbers(words(), resources)[side.tokens]
        return spans_of(resources.paraphrases, numbers, offsets_of(side.lengths))

    # Words are looked up in Python, phrases by kernels without the interpreter's lock.
    features, spans = _both(
        lambda: references.product(
            WORD_FEATURES, (digest, resources.words_digest), lambda: look_up_words(words(), resources)
        ),
        lambda: references.product(SPANS, (digest, resources.phrases_digest), find_phrases),
        len(side.tokens),
    )
    return Prepared(side, features, spans)


def _both(one: Callable[[], A], other: Callable[[], B], words: int) -> tuple[A, B]:
    """Run two independent functions, in parallel if there are many words.

    `other` may use threads of its own.
    """
    if threads(threads_for(words)) == 1:
        return one(), other()
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(copy_context().run, one)
        second = other()
        return first.result(), second


def encode_captions(
    candidates: Captions, references: Captions, resources: Resources, wanted: Ints | None = None
) -> tuple[EncodedLines, Ints, tuple[Ints, Ints]]:
    """Encode candidates and references.

    Return the lines, the line of each candidate, and the first and last line of each reference. With
    `wanted`, only those references are encoded.
    """
    ours = _encode_side(candidates, resources.normaliser, False)
    theirs, their_features, their_spans = prepare_references(references, resources)
    if wanted is not None:
        theirs, places = theirs.only(wanted)
        their_spans = their_spans.only(places)
    # One vocabulary extends the other, so the larger one has all words.
    size = max(ours.size, theirs.size)
    names = (candidates if ours.size == size else references).encoding.words
    extra: dict[str, int] = {}
    flat = []
    for side in (ours, theirs):
        moved = side.tokens
        numbers = [size + extra.setdefault(word, len(extra)) for word in side.extra]
        if numbers != list(range(side.size, side.size + len(numbers))):
            own = np.flatnonzero(side.tokens >= side.size)
            moved = np.array(side.tokens)
            moved[own] = np.array(numbers, np.int32)[side.tokens[own] - side.size]
        flat.append(moved)
    rows = np.full(size + len(extra), -1, np.int64)
    # Features of the references' words exist already.
    rows[: theirs.size] = np.arange(theirs.size)
    rows[[size + extra[word] for word in theirs.extra]] = theirs.size + np.arange(len(theirs.extra))
    vocabulary = np.concatenate([names[:size], np.array(list(extra), object)])
    if wanted is not None:
        # Number the words without gaps, so that unused ones are not looked up.
        used = np.zeros(len(vocabulary), np.bool_)
        for tokens in flat:
            used[tokens] = True
        flat = [(np.cumsum(used, dtype=np.int32) - 1)[tokens] for tokens in flat]
        vocabulary, rows = vocabulary[used], rows[used]
    features = _extend(their_features, rows, vocabulary, resources)
    bounds, their_bounds = offsets_of(ours.lengths), offsets_of(theirs.lengths)
    spans = spans_of(resources.paraphrases, features.number[flat[0]], bounds)
    encoded = EncodedLines(
        Lines(flat[0], bounds, spans.numbers, spans.offsets),
        Lines(flat[1], their_bounds, their_spans.numbers, their_spans.offsets),
        vocabulary,
        features,
        spans.rows,
        their_spans.rows,
    )
    return encoded, ours.begin, (theirs.begin, theirs.end)


def _extend(
    below: WordFeatures, rows: Ints, words: NDArray[np.object_], resources: Resources
) -> WordFeatures:
    """Return the features of words: rows of `below`, and for -1 those of words that are looked up."""
    new = np.flatnonzero(rows < 0)
    if not len(new):
        return below.take(rows)
    fresh = look_up_words(words[new].tolist(), resources)
    rows = rows.copy()
    rows[new] = len(below.key) + np.arange(len(new))
    return below.followed_by(fresh).take(rows)


def tables_of(encoded: EncodedLines, resources: Resources) -> tuple[WordRelations, PhraseRelations]:
    """Relate the words and phrases of the hypotheses to those of the references."""
    used = np.zeros(len(encoded.vocabulary), np.bool_)
    used[encoded.ours.tokens] = True
    return _both(
        lambda: encoded.features.words(used),
        lambda: paraphrases_of(resources.paraphrases, encoded.our_rows, encoded.their_rows, len(used)),
        len(encoded.theirs.tokens),
    )


def _are_plain(words: list[str]) -> NDArray[np.bool_]:
    """Return which words METEOR's tokenization leaves unchanged for certain."""
    return np.array([word.isascii() and word.isalnum() and word == word.lower() for word in words], np.bool_)
