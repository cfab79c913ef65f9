"""Captions with errors made on purpose, to train the detector of :mod:`captious.text.fluency`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from captious.parser import parse_batch
from captious.text.fluency import words_of

Generator = np.random.Generator

#: Words that may separate two events.
JOINTS = ("and", "as", "while", "then", ",", "followed", "before", "with", "when")
_JOIN = ("and", "and", "and then", "followed by", "as", "while", "with", "then")
_TAILS = (
    "and a", "and a", "and", "followed by a", "followed by", "with a", "in the", "as a", "while a", "of a",
    "and the", "on a", "on a a", "and an", "of", "a", "the", "and then", "in a", "and a man", "as a man",
)  # fmt: skip
_LEADS = (
    "nearby",
    "loudly",
    "in the background",
    "in the distance",
    "again",
    "several times",
    "continuously",
)
_ENDINGS = frozenset(("DT", "IN", "CC", "TO", "VBZ", "VBP", "JJ", "PRP$", "WDT", "MD"))


class TaggedCaption(NamedTuple):
    """Words of a caption with their part-of-speech tags and lemmas."""

    words: list[str]
    tags: list[str]
    lemmas: list[str]


def tag_captions(captions: Sequence[str]) -> list[TaggedCaption]:
    """Return the words of captions with tags. Empty captions are left out."""
    rows = [words for caption in captions if len(words := words_of(caption)) > 2]
    tagged = []
    for words, parse in zip(rows, parse_batch(rows).parses()):
        tags = [tag for sentence in parse for tag in sentence.tags]
        lemmas = [lemma for sentence in parse for lemma in sentence.lemmas]
        if len(tags) == len(words):
            tagged.append(TaggedCaption(words, tags, lemmas))
    return tagged


def _pick(items: Sequence[int], random: Generator) -> int | None:
    return items[int(random.integers(len(items)))] if items else None


def _events(caption: TaggedCaption) -> list[slice]:
    """Return the stretches between joints that have at least two words, or one noun or verb."""
    places = [k for k, word in enumerate(caption.words) if word in JOINTS or word == "by"]
    edges = [-1, *places, len(caption.words)]
    return [slice(a + 1, b) for a, b in pairwise(edges) if b - a > 1]


def cut_end(caption: TaggedCaption, random: Generator) -> list[str] | None:
    """End after a word that needs another one, or add such words."""
    places = [k for k, tag in enumerate(caption.tags) if k >= 2 and tag in _ENDINGS]
    place = _pick(places[:-1] if places and places[-1] == len(caption.tags) - 1 else places, random)
    if place is not None and random.random() < 0.5:
        return caption.words[: place + 1]
    return [*caption.words, *_TAILS[int(random.integers(len(_TAILS)))].split()]


def _varied(caption: TaggedCaption, event: slice, random: Generator) -> list[str]:
    """Return an event in slightly other words: another form of the verb or another article."""
    words: list[str] = []
    for word, tag, lemma in zip(caption.words[event], caption.tags[event], caption.lemmas[event]):
        chance = random.random()
        if tag == "VBG" and chance < 0.35:
            words.append(lemma + ("es" if lemma.endswith(("s", "sh", "ch", "x", "z")) else "s"))
        elif tag == "VBZ" and word not in ("is", "has") and chance < 0.35:
            base = lemma[:-1] if lemma.endswith("e") and not lemma.endswith("ee") else lemma
            words += ["is", base + "ing"] if random.random() < 0.5 else [base + "ing"]
        elif tag in ("RB", "JJ") and chance < 0.4:
            continue
        elif word in ("a", "an", "the") and chance < 0.4:
            words += {0: ["the"], 1: ["another"], 2: []}[int(random.integers(3))]
        elif word in ("is", "are") and chance < 0.5:
            continue
        else:
            words.append(word)
    if random.random() < 0.25:
        words += _LEADS[int(random.integers(len(_LEADS)))].split()
    return words


def repeat_event(caption: TaggedCaption, random: Generator) -> list[str] | None:
    """Say an event twice, in the same or in slightly other words."""
    events = _events(caption)
    place = _pick(range(len(events)), random)
    if place is None:
        return None
    event = events[place]
    if event.stop - event.start > 9:
        return None
    again = caption.words[event] if random.random() < 0.4 else _varied(caption, event, random)
    joint = _JOIN[int(random.integers(len(_JOIN)))].split()
    after = event.stop if random.random() < 0.5 else len(caption.words)
    return [*caption.words[:after], *joint, *again, *caption.words[after:]] if again else None


def repeat_word(caption: TaggedCaption, random: Generator) -> list[str] | None:
    """Put "X and X" or "X X" for a noun phrase or a verb."""
    place = _pick([k for k, tag in enumerate(caption.tags) if tag[:2] in ("NN", "VB", "JJ")], random)
    if place is None or caption.words[place] in ("is", "are", "be"):
        return None
    start = place
    while start > 0 and caption.tags[start - 1] in ("DT", "JJ", "NN") and random.random() < 0.7:
        start -= 1
    again = caption.words[start : place + 1]
    joint = [] if random.random() < 0.3 else ["and"]
    return [*caption.words[: place + 1], *joint, *again, *caption.words[place + 1 :]]


def repeat_adverb(caption: TaggedCaption, random: Generator) -> list[str] | None:
    """Use an adverb or a phrase such as "in the background" twice."""
    own = [word for word, tag in zip(caption.words, caption.tags) if tag == "RB" and word.endswith("ly")]
    phrase = (
        [own[int(random.integers(len(own)))]] if own else _LEADS[int(random.integers(len(_LEADS)))].split()
    )
    verbs = [k + 1 for k, tag in enumerate(caption.tags) if tag in ("VBZ", "VBG", "NNS", "VBP")]
    first = _pick(verbs, random)
    if first is None:
        return None
    words = list(caption.words) if own else [*caption.words[:first], *phrase, *caption.words[first:]]
    at = len(words) if random.random() < 0.6 else min(first, len(words))
    return [*words[:at], *phrase, *words[at:]]


def drop_joint(caption: TaggedCaption, random: Generator) -> list[str] | None:
    """Leave out the words between two events."""
    place = _pick([k for k, word in enumerate(caption.words) if word in JOINTS and k > 0], random)
    if place is None or place + 1 >= len(caption.words):
        return None
    end = place + 1
    while end < len(caption.words) and caption.words[end] in (*JOINTS, "by"):
        end += 1
    return [*caption.words[:place], *caption.words[end:]] if end < len(caption.words) else None


def drop_verb(caption: TaggedCaption, random: Generator) -> list[str] | None:
    """Leave out a verb with its auxiliary, or only one of the two."""
    place = _pick([k for k, tag in enumerate(caption.tags) if tag.startswith("VB")], random)
    if place is None or len(caption.words) < 4:
        return None
    start = place
    if place > 0 and caption.words[place - 1] in ("is", "are", "being") and random.random() < 0.7:
        start -= 1
    if caption.tags[place] == "VBG" and start == place and place > 0 and caption.tags[place - 1][:2] != "NN":
        return None
    return [*caption.words[:start], *caption.words[place + 1 :]]


Corruption = Callable[[TaggedCaption, Generator], "list[str] | None"]

#: Corruptions and their shares.
CORRUPTIONS: dict[str, tuple[Corruption, float]] = {
    "dangling end": (cut_end, 0.25),
    "repeated event": (repeat_event, 0.3),
    "repeated word": (repeat_word, 0.1),
    "repeated adverb": (repeat_adverb, 0.1),
    "missing conjunction": (drop_joint, 0.15),
    "missing verb": (drop_verb, 0.1),
}


def join_events(one: TaggedCaption, other: TaggedCaption, random: Generator) -> list[str]:
    """Join two human captions to a longer one without an error."""
    joint = _JOIN[int(random.integers(4))].split()
    return [*one.words, *joint, *other.words]


def corrupt(caption: TaggedCaption, random: Generator) -> tuple[str, list[str]] | None:
    """Return a corrupted caption with the name of its error, or None if the chosen error does not fit."""
    names = list(CORRUPTIONS)
    shares = np.array([share for _, share in CORRUPTIONS.values()])
    name = names[int(random.choice(len(names), p=shares / shares.sum()))]
    words = CORRUPTIONS[name][0](caption, random)
    return (name, words) if words and words != caption.words else None
