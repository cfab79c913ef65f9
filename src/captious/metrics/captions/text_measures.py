"""Measures of a text alone, without references and parser (``-m text``).

How texts end and open, how often they repeat themselves or hedge, and how easy they read.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from captious.corpus import Corpus
from captious.metrics.base import FloatArray, Measure, Need, ratio
from captious.text.endings import is_cut_off
from captious.text.hedges import HEDGES
from captious.text.sentences import split_sentences
from captious.text.syllables import syllables

#: Words: of letters and digits, of small letters, and as they are read aloud.
_WORD = re.compile(r"\w+")
_LETTERS = re.compile(r"[a-z]+")
_READ = re.compile(r"[a-zA-Z]+(?:['’][a-zA-Z]+)?")

_PICTURE = (
    r"(?:image|picture|photo|photograph|scene|snapshot|shot|illustration|painting|drawing|view|close-?up)"
)
_SAYS = (
    r"(?:features?|featuring|shows?|showing|depicts?|depicting|displays?|displaying|captures?|capturing|"
    r"presents?|portrays?|portraying|showcases?|showcasing|contains?|includes?|illustrates?|"
    r"consists?|is|appears|seems|of|has|being|in which|where|that)"
)
#: Words between the article and the picture: "this black and white close-up photo".
_WORDS = r"(?:(?!(?:an?|the|of|with|in|on|at|to|by|for|from|is|his|her|their)\b)[\w-]+,? ){0,6}?"
_OPENINGS = re.compile(
    r"(?:sure|certainly|of course|absolutely|yes|okay|ok)\b[,.!:]"
    r"|here(?: is|'s|’s| are) (?:a|an|the|your|my|some)\b[^.]{0,60}\b(?:description|caption|summary|overview|"
    rf"{_PICTURE})"
    r"|i (?:can )?see\b|as an ai\b|(?:description|caption|answer)\s*:"
    rf"|(?:in|on|at) (?:the |this |)"
    rf"(?:{_WORDS}background|{_WORDS}foreground|center|middle|{_WORDS}{_PICTURE})\b"
    r"(?: of (?:the|this) " + _PICTURE + r")?"
    r"|the main (?:focus|subject)|the (?:overall )?(?:atmosphere|setting)\b"
    rf"|(?:this|that|it|there)(?: is|'s|’s| appears to be| seems to be) (?:a|an|the) "
    rf"{_WORDS}{_PICTURE} (?:of|that|which|showing|depicting|featuring)"
    rf"|(?:the |this |an? ){_WORDS}{_PICTURE},? (?:also |primarily |mainly |mostly |prominently )?{_SAYS}\b",
    re.IGNORECASE,
)


class TextMeasure(Measure):
    """Base of measures that count something in the sentences of each caption."""

    higher_is_better = False
    needs: frozenset[Need] = frozenset()
    perfect_is_maximum = False

    def statistics(self, corpus: Corpus, state: None) -> FloatArray:
        texts = corpus.candidates.texts
        counted = {text: self.count(text, split_sentences(text)) for text in dict.fromkeys(texts)}
        rows = np.array([counted[text] for text in texts], np.float64)
        return rows.reshape(len(texts), -1)

    @abstractmethod
    def count(self, text: str, sentences: Sequence[str]) -> tuple[float, ...]:
        """Return the statistics of a text: what was counted, and of how many."""


class Truncated(TextMeasure):
    """Share of captions that end in the middle of a sentence.

    A text of several sentences is cut off if no mark ends it. Any text is cut off after a comma or a word
    such as "the". A single sentence without a full stop is not, because classic captioners write none.
    """

    name = "Truncated"
    summary = "share of captions that end in the middle of a sentence"

    def count(self, text: str, sentences: Sequence[str]) -> tuple[float, ...]:
        return float(is_cut_off(text)), 1.0


def is_boilerplate(sentence: str) -> bool:
    """Return whether a sentence opens with a phrase about the picture ("The image features …")."""
    return _OPENINGS.match(sentence.lstrip("\"'“‘*_#> ")) is not None


class Boilerplate(TextMeasure):
    """Share of captions whose first sentence opens with a phrase about the picture or the answer."""

    name = "Boilerplate"
    summary = "share of captions that open with a phrase such as “The image features”"

    def count(self, text: str, sentences: Sequence[str]) -> tuple[float, ...]:
        return float(bool(sentences) and is_boilerplate(sentences[0])), 1.0


class Hedging(TextMeasure):
    """Sentences with a word such as "possibly" or "appears", over all sentences of the corpus."""

    name = "Hedging"
    summary = "share of sentences with a hedge, such as “possibly” or “appears”"

    def count(self, text: str, sentences: Sequence[str]) -> tuple[float, ...]:
        hedged = sum(not HEDGES.isdisjoint(_LETTERS.findall(sentence.lower())) for sentence in sentences)
        return hedged, len(sentences)


class Flesch(TextMeasure):
    """Reading ease: 206.835 − 1.015 words per sentence − 84.6 syllables per word. Higher is easier."""

    name = "Flesch"
    summary = "reading ease by words per sentence and syllables per word (Flesch 1948); higher is easier"
    higher_is_better = True
    bounds: tuple[float | None, float | None] = (None, None)
    format = ".1f"

    def count(self, text: str, sentences: Sequence[str]) -> tuple[float, ...]:
        read = [_READ.findall(sentence) for sentence in sentences]
        words = [word for own in read for word in own]
        return sum(map(bool, read)), len(words), sum(map(syllables, words))

    def value(self, sums: Any) -> FloatArray:
        sentences, words, spoken = (np.asarray(sums[..., k], np.float64) for k in range(3))
        per_sentence, per_word = ratio(words, sentences, np.nan), ratio(spoken, words, np.nan)
        ease: FloatArray = 206.835 - 1.015 * per_sentence - 84.6 * per_word
        return ease


class RepeatedNgrams(Measure):
    """Share of a caption's n-grams that it has said before, mean over captions.

    A caption of fewer than n words repeats none.
    """

    higher_is_better = False
    needs: frozenset[Need] = frozenset()
    perfect_is_maximum = False

    def __init__(self, n: int = 4) -> None:
        self.n = n
        self.name = f"Rep-{n}"
        self.summary = f"share of a caption's {n}-grams that it has said before (Welleck et al. 2020)"
        self.fixed: Mapping[str, str] = {"n": str(n)}

    def statistics(self, corpus: Corpus, state: None) -> FloatArray:
        ngrams = corpus.candidates.ngrams(self.n)
        distinct, totals = np.diff(ngrams.offsets), ngrams.totals
        repeated = ratio(totals - distinct, totals)
        return np.stack([repeated, np.ones(len(totals))], axis=1)


class RepeatedSentences(TextMeasure):
    """Sentences that a text has said before, over all sentences of the corpus.

    Case and punctuation do not count.
    """

    name = "Rep-S"
    summary = "share of sentences that their text has said before"

    def count(self, text: str, sentences: Sequence[str]) -> tuple[float, ...]:
        said = [" ".join(_WORD.findall(sentence.lower())) for sentence in sentences]
        said = [sentence for sentence in said if sentence]
        return len(said) - len(set(said)), len(said)
