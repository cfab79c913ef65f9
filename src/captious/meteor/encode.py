"""Captions as numbers of METEOR's words, and what METEOR knows of each word."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from captious.corpus import Captions
from captious.memo import Arrays, Product
from captious.meteor.matches import Ints, Lines, Phrases, Words, frozen, lines
from captious.meteor.normalise import Normaliser
from captious.meteor.phrases import Spans, paraphrases_of, spans_of
from captious.meteor.relations import related_words
from captious.meteor.resources import Resources
from captious.ragged import offsets_of, runs
from captious.text.stemmer import java_hash, stem
from captious.threads import threads, threads_for

A = TypeVar("A")
B = TypeVar("B")

#: What the COCO tools put between captions; they drop it from candidates, and it divides a reference in two.
SEPARATOR = "|||"


class Known(NamedTuple):
    """What METEOR knows of words, a row each."""

    #: Words are compared by the hash of their form, or of their stem: the reference does so, and two words with one hash are the same.
    key: NDArray[np.uint32]
    stem: NDArray[np.uint32]
    function: NDArray[np.bool_]
    #: In the paraphrase table (0: not there).
    number: NDArray[np.int32]
    #: ``synsets[synset_offsets[w]:synset_offsets[w + 1]]``
    synset_offsets: Ints
    synsets: NDArray[np.int32]

    def take(self, rows: Ints) -> Known:
        """Some of the words."""
        if len(rows) == len(self.key) and np.array_equal(rows, np.arange(len(rows))):
            return self
        picked, offsets = runs(self.synset_offsets, rows)
        return Known(self.key[rows], self.stem[rows], self.function[rows], self.number[rows], offsets, self.synsets[picked])

    def followed_by(self, other: Known) -> Known:
        key, stem, function, number, synsets = (
            np.concatenate([getattr(self, name), getattr(other, name)]) for name in ("key", "stem", "function", "number", "synsets")
        )
        offsets = np.concatenate([self.synset_offsets, self.synset_offsets[-1] + other.synset_offsets[1:]])
        return Known(key, stem, function, number, offsets, synsets)

    def words(self, used: NDArray[np.bool_]) -> Words:
        """The same in the form that the alignment reads; ``used`` are the words of hypotheses."""
        key = frozen(self.key)
        related = related_words(key, frozen(self.stem), frozen(self.synset_offsets), frozen(self.synsets), used)
        return Words(key, frozen(self.function), *related)


def know(words: Sequence[str], resources: Resources) -> Known:
    """Look words up."""
    n = len(words)
    offsets, synsets = resources.synonyms.synsets_of(words)
    number = _numbers(words, resources)
    # Most words are in the paraphrase table, which knows their stems.
    stems = resources.paraphrases.stems[number]
    others = np.flatnonzero(number == 0)
    stems[others] = [java_hash(stem(words[i])) for i in others.tolist()]
    return Known(
        key=np.fromiter(map(java_hash, words), np.uint32, n),
        stem=stems,
        function=np.fromiter((word in resources.function_words for word in words), np.bool_, n),
        number=number,
        synset_offsets=offsets,
        synsets=synsets,
    )


def _numbers(words: Sequence[str], resources: Resources) -> NDArray[np.int32]:
    return np.fromiter((resources.paraphrase_words.get(word, 0) for word in words), np.int32, len(words))


#: What a prepared file keeps of words and phrases.
KNOWN: Product[Known] = Product("METEOR words", Known._asdict, lambda arrays: Known(**{name: np.asarray(arrays[name]) for name in Known._fields}))
SPANS: Product[Spans] = Product("METEOR phrases by number", Spans._asdict, lambda arrays: Spans(**{name: np.asarray(arrays[name]) for name in Spans._fields}))


class Encoded(NamedTuple):
    """Lines of words to align: hypotheses and references, which may be the same ones, and what is known of their words."""

    ours: Lines
    theirs: Lines
    vocabulary: NDArray[np.object_]
    known: Known
    #: The rows of both sides' phrases in the paraphrase table.
    our_rows: NDArray[np.int32]
    their_rows: NDArray[np.int32]

    def words(self, lines: Lines, line: int) -> list[str]:
        """The words of a line."""
        words: list[str] = self.vocabulary[lines.tokens[lines.offsets[line] : lines.offsets[line + 1]]].tolist()
        return words


def encode_texts(texts: Sequence[str], resources: Resources) -> Encoded:
    """Each text as one line, hypothesis or reference."""
    number: dict[str, int] = {}
    flat: list[int] = []
    counts: list[int] = []
    for text in texts:
        words = resources.normaliser.words(text)
        counts.append(len(words))
        flat.extend([number.setdefault(word, len(number)) for word in words])
    known = know(list(number), resources)
    tokens, offsets = np.array(flat, np.int32), offsets_of(counts)
    spans = spans_of(resources.paraphrases, known.number[tokens], offsets)
    both = lines(tokens, offsets, spans.numbers, spans.offsets)
    return Encoded(both, both, _objects(list(number)), known, spans.rows, spans.rows)


def _objects(words: list[str]) -> NDArray[np.object_]:
    listed = np.empty(len(words), object)
    listed[:] = words
    return listed


class Side(NamedTuple):
    """The distinct captions of one side as lines, and which lines (from, to) each caption has.

    Words keep the numbers of the captions' vocabulary; words that METEOR's own tokenization makes come behind them.
    """

    tokens: NDArray[np.int32]
    lengths: Ints
    begin: Ints
    end: Ints
    #: The words that are not in the captions' vocabulary, and how many words that has.
    extra: list[str]
    known: int

    def only(self, captions: Ints) -> tuple[Side, Ints]:
        """The same with the lines of some captions alone (the others have none), and where their tokens were."""
        counts = (self.end - self.begin)[captions]
        lines = np.unique(np.arange(counts.sum()) + np.repeat(self.begin[captions] - (np.cumsum(counts) - counts), counts))
        picked, _ = runs(offsets_of(self.lengths), lines)
        begin, end = np.zeros_like(self.begin), np.zeros_like(self.end)
        # The lines of a caption follow each other, so they still do.
        begin[captions] = np.searchsorted(lines, self.begin[captions])
        end[captions] = begin[captions] + counts
        return Side(self.tokens[picked], self.lengths[lines], begin, end, self.extra, self.known), picked


def _pack_side(side: Side) -> Arrays:
    extra = np.frombuffer("\n".join(side.extra).encode("utf-8", "surrogatepass"), np.uint8)
    arrays: dict[str, NDArray[Any]] = {"tokens": side.tokens, "lengths": side.lengths, "begin": side.begin, "end": side.end, "extra": extra}
    return {**arrays, "known": np.array([side.known, len(side.extra)], np.int64)}


def _unpack_side(arrays: Arrays) -> Side:
    known, count = (int(value) for value in arrays["known"])
    extra = arrays["extra"].tobytes().decode("utf-8", "surrogatepass").split("\n") if count else []
    tokens, lengths, begin, end = (np.asarray(arrays[name]) for name in ("tokens", "lengths", "begin", "end"))
    return Side(tokens, lengths, begin, end, extra, known)


SIDE = Product("METEOR lines", _pack_side, _unpack_side)


def encode_references(references: Captions, normaliser: Normaliser) -> Side:
    """The references as lines, kept with them. A reference with a separator in it is several lines."""
    return references.product(SIDE, (normaliser.digest,), lambda: _encode_side(references, normaliser, True))


def _encode_side(captions: Captions, normaliser: Normaliser, is_reference: bool) -> Side:
    """Nine captions of ten hold nothing that METEOR's tokenization would change, so their words are taken over as numbers."""
    plain = captions.encoding.per_word("METEOR plain", _are_plain)
    names, known = captions.encoding.words, len(captions.vocabulary)
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
    numbers[new] = [extra.setdefault(flat[i], known + len(extra)) for i in new.tolist()]
    bounds = offsets_of(parts)
    # Where each line comes from: the captions' own tokens, or behind them those of the rewritten ones.
    length = np.repeat(ends - starts, parts)
    source = np.repeat(starts, parts)
    behind = offsets_of([len(line) for line in rewritten])
    which, _ = runs(bounds, odd_ones)
    length[which], source[which] = np.diff(behind), len(captions.tokens) + behind[:-1]
    into = offsets_of(length)
    picked = np.arange(into[-1]) + np.repeat(source - into[:-1], length)
    tokens = np.concatenate([captions.tokens, numbers])[picked]
    return Side(tokens, length, bounds[:-1][inverse], bounds[1:][inverse], list(extra), known)


class Prepared(NamedTuple):
    """References for METEOR: their lines, what is known of their words (those of the vocabulary, then the extra ones), and the
    phrases in their lines."""

    side: Side
    known: Known
    spans: Spans


def prepare_references(references: Captions, resources: Resources) -> Prepared:
    """All that METEOR makes of references, kept with them."""
    side = encode_references(references, resources.normaliser)

    def words() -> list[str]:
        return [*references.encoding.words[: side.known].tolist(), *side.extra]

    def look_up() -> Known:
        return references.product(KNOWN, (resources.normaliser.digest, resources.words_digest), lambda: know(words(), resources))

    def find_phrases() -> Spans:
        def make() -> Spans:
            return spans_of(resources.paraphrases, _numbers(words(), resources)[side.tokens], offsets_of(side.lengths))

        return references.product(SPANS, (resources.normaliser.digest, resources.phrases_digest), make)

    # Words are looked up in Python and phrases by machine code, side by side.
    return Prepared(side, *_both(look_up, find_phrases, len(side.tokens)))


def _both(one: Callable[[], A], other: Callable[[], B], words: int) -> tuple[A, B]:
    """Two things that do not wait for each other, side by side where there are many words. The other one may divide its work further."""
    if threads(threads_for(words)) == 1:
        return one(), other()
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(copy_context().run, one)
        second = other()
        return first.result(), second


def encode_captions(
    candidates: Captions, references: Captions, resources: Resources, wanted: Ints | None = None
) -> tuple[Encoded, Ints, tuple[Ints, Ints]]:
    """The distinct captions as lines; the line of each candidate, and the lines (from, to) of each reference (of those that
    are ``wanted``, where a batch needs but a few)."""
    ours = _encode_side(candidates, resources.normaliser, False)
    theirs, their_known, their_spans = prepare_references(references, resources)
    if wanted is not None:
        theirs, places = theirs.only(wanted)
        their_spans = their_spans.only(places)
    # One side's words are numbered over the other's, so the larger vocabulary has all of them.
    known = max(ours.known, theirs.known)
    names = (candidates if ours.known == known else references).encoding.words
    extra: dict[str, int] = {}
    flat = []
    for side in (ours, theirs):
        moved = side.tokens
        numbers = [known + extra.setdefault(word, len(extra)) for word in side.extra]
        if numbers != list(range(side.known, side.known + len(numbers))):
            own = np.flatnonzero(side.tokens >= side.known)
            moved = np.array(side.tokens)
            moved[own] = np.array(numbers, np.int32)[side.tokens[own] - side.known]
        flat.append(moved)
    rows = np.full(known + len(extra), -1, np.int64)
    # What the references know already: their vocabulary, and their extra words.
    rows[: theirs.known] = np.arange(theirs.known)
    rows[[known + extra[word] for word in theirs.extra]] = theirs.known + np.arange(len(theirs.extra))
    vocabulary = np.concatenate([names[:known], _objects(list(extra))])
    if wanted is not None:
        # Numbers without gaps: words that only other captions use need not be looked up.
        used = np.zeros(len(vocabulary), np.bool_)
        for tokens in flat:
            used[tokens] = True
        flat = [(np.cumsum(used, dtype=np.int32) - 1)[tokens] for tokens in flat]
        vocabulary, rows = vocabulary[used], rows[used]
    what = _known(their_known, rows, vocabulary, resources)
    bounds, their_bounds = offsets_of(ours.lengths), offsets_of(theirs.lengths)
    spans = spans_of(resources.paraphrases, what.number[flat[0]], bounds)
    encoded = Encoded(
        lines(flat[0], bounds, spans.numbers, spans.offsets), lines(flat[1], their_bounds, their_spans.numbers, their_spans.offsets),
        vocabulary, what, spans.rows, their_spans.rows,
    )  # fmt: skip
    return encoded, ours.begin, (theirs.begin, theirs.end)


def _known(below: Known, rows: Ints, words: NDArray[np.object_], resources: Resources) -> Known:
    """What is known of words: rows of what was looked up before, and new ones (-1)."""
    new = np.flatnonzero(rows < 0)
    if not len(new):
        return below.take(rows)
    fresh = know(words[new].tolist(), resources)
    rows = rows.copy()
    rows[new] = len(below.key) + np.arange(len(new))
    return below.followed_by(fresh).take(rows)


def tables_of(encoded: Encoded, resources: Resources) -> tuple[Words, Phrases]:
    """Which words and phrases of the hypotheses match which of the references."""
    used = np.zeros(len(encoded.vocabulary), np.bool_)
    used[encoded.ours.tokens] = True
    return _both(
        lambda: encoded.known.words(used),
        lambda: paraphrases_of(resources.paraphrases, encoded.our_rows, encoded.their_rows, len(used)),
        len(encoded.theirs.tokens),
    )


def _are_plain(words: list[str]) -> NDArray[np.bool_]:
    return np.fromiter(map(_is_plain, words), np.bool_, len(words))


def _is_plain(word: str) -> bool:
    return word.isascii() and word.isalnum() and word == word.lower()
