"""Distraction tasks (Hodosh & Hockenmaier 2016), made from any captions: a correct caption against one that is wrong in one
respect, to be told apart by a metric that sees the image's other captions."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from captious.errors import InputError, did_you_mean
from captious.io.judgements import CaptionPairs, Protocol, own_key
from captious.io.judgements.distractions import TASKS
from captious.language.parse_types import Sentence
from captious.robustness.mentions import MentionSpan, kinds_of_people, kinds_of_places, people, places
from captious.robustness.word_lists import PEOPLE, PLACES, Person

Words = tuple[str, ...]


@dataclass(frozen=True)
class _Caption:
    image: int
    number: int
    sentence: Sentence
    person: MentionSpan | None
    scene: MentionSpan | None

    @property
    def words(self) -> Words:
        return tuple(self.sentence.forms)


@dataclass(frozen=True)
class _Pool:
    """What tasks draw from: the captions, phrases for people and places, and what each image's captions name."""

    captions: list[_Caption]
    people: list[tuple[Words, Person, bool]]
    places: list[tuple[Words, str]]
    by_person: Mapping[Words, list[int]]
    by_scene: Mapping[Words, list[int]]
    image_people: list[set[Person]]
    image_places: list[set[str]]


def make_distractions(
    captions: Mapping[str, Sequence[str]], tasks: Sequence[str] = TASKS, *, limit: int | None = 2000, seed: int = 1
) -> CaptionPairs:
    """Make the tasks from image → captions (at least two for each image), as pairs of captions of which the first is right.

    Captions are used as the tokenizer leaves them, so that correct caption and distractor differ in nothing but the
    distraction. At most ``limit`` instances of each task are kept, drawn at random.
    """
    for task in tasks:
        if task not in TASKS:
            raise InputError(f"unknown task '{task}'{did_you_mean(task, TASKS)} (known: {', '.join(TASKS)})")
    usable = {image: list(texts) for image, texts in captions.items() if len(texts) > 1}
    if len(usable) < 2:
        raise InputError("distraction tasks need at least two images with two or more captions each")
    pool = _pool(list(usable.values()))
    makers: dict[str, Callable[[_Caption, _Pool, np.random.Generator], Words | None]] = {
        "Replace Person": _replace_person, "Replace Scene": _replace_scene, "Share Person": _share_person,
        "Share Scene": _share_scene, "Just Person": _just_person, "Just Scene": _just_scene,
    }  # fmt: skip
    images = list(usable)
    rows: list[tuple[str, str, str, list[str], str]] = []
    for task in tasks:
        generator = np.random.default_rng([seed, zlib.crc32(task.encode())])
        made = 0
        for place in generator.permutation(len(pool.captions)).tolist():
            if limit is not None and made >= limit:
                break
            caption = pool.captions[place]
            wrong = makers[task](caption, pool, generator)
            if not wrong or wrong == caption.words:
                continue
            texts = usable[images[caption.image]]
            others = [text for k, text in enumerate(texts) if k != caption.number]
            others = [text for text in others if own_key(text) != own_key(" ".join(wrong))]
            if others:
                rows.append((images[caption.image], " ".join(caption.words), " ".join(wrong), others, task))
                made += 1
    if not rows:
        raise InputError("no caption names a person or a place that captious knows; no distraction task can be made")
    return CaptionPairs(
        name="distractions",
        images=[row[0] for row in rows],
        first=[row[1] for row in rows],
        second=[row[2] for row in rows],
        references=[row[3] for row in rows],
        votes=[[1]] * len(rows),
        categories=[row[4] for row in rows],
        protocol=Protocol("accuracy", own="keep"),
    )


def _pool(images: Sequence[Sequence[str]]) -> _Pool:
    from captious.language.parser import parse
    from captious.text.ptb import tokenize

    flat = [(i, k, text) for i, texts in enumerate(images) for k, text in enumerate(texts)]
    parses = parse([text for *_, text in flat], tokenizer=tokenize)
    captions = []
    sentences: list[list[Sentence]] = [[] for _ in images]
    for (image, number, _), parsed in zip(flat, parses):
        sentences[image].extend(parsed)
        # A caption of several sentences has no one place where a phrase can be exchanged.
        if len(parsed) == 1:
            persons, scenes = people(parsed[0]), places(parsed[0])
            captions.append(
                _Caption(image, number, parsed[0], persons[0] if persons else None, scenes[-1] if scenes else None)
            )
    by_person: dict[Words, list[int]] = {}
    by_scene: dict[Words, list[int]] = {}
    person_phrases: dict[tuple[Words, Person, bool], None] = {}
    place_phrases: dict[tuple[Words, str], None] = {}
    for place, caption in enumerate(captions):
        if caption.person is not None:
            phrase = caption.person.phrase(caption.words)
            by_person.setdefault(phrase, []).append(place)
            person_phrases[phrase, PEOPLE[caption.person.lemma], caption.person.plural] = None
        if caption.scene is not None:
            by_scene.setdefault(caption.scene.phrase(caption.words), []).append(place)
            place_phrases[caption.scene.with_preposition(caption.words), PLACES[caption.scene.lemma]] = None
    return _Pool(
        captions, list(person_phrases), list(place_phrases), by_person, by_scene,
        [kinds_of_people(s) for s in sentences], [kinds_of_places(s) for s in sentences],
    )  # fmt: skip


#: How many random phrases or captions are tried before a caption is passed over.
_TRIES = 200


def _replace_person(caption: _Caption, pool: _Pool, generator: np.random.Generator) -> Words | None:
    """Someone else: a phrase that none of the persons in the image's captions can be, in the same number."""
    mention = caption.person
    if mention is None:
        return None
    there = pool.image_people[caption.image]
    for k in map(int, generator.integers(0, len(pool.people), _TRIES)):
        phrase, kind, plural = pool.people[k]
        if plural == mention.plural and not any(kind.may_be(other) for other in there):
            return caption.words[: mention.start] + phrase + caption.words[mention.end :]
    return None


def _replace_scene(caption: _Caption, pool: _Pool, generator: np.random.Generator) -> Words | None:
    """Somewhere else: a place of a kind that none of the image's captions names, with its own preposition."""
    mention = caption.scene
    if mention is None:
        return None
    for k in map(int, generator.integers(0, len(pool.places), _TRIES)):
        phrase, kind = pool.places[k]
        if kind not in pool.image_places[caption.image]:
            return caption.words[: mention.outer] + phrase + caption.words[mention.end :]
    return None


def _share_person(caption: _Caption, pool: _Pool, generator: np.random.Generator) -> Words | None:
    """A caption of another image about the same person, word for word."""
    if caption.person is None:
        return None
    return _other(caption, pool, pool.by_person[caption.person.phrase(caption.words)], generator)


def _share_scene(caption: _Caption, pool: _Pool, generator: np.random.Generator) -> Words | None:
    """A caption of another image at the same place, word for word."""
    if caption.scene is None:
        return None
    return _other(caption, pool, pool.by_scene[caption.scene.phrase(caption.words)], generator)


def _other(caption: _Caption, pool: _Pool, among: Sequence[int], generator: np.random.Generator) -> Words | None:
    for k in map(int, generator.integers(0, len(among), min(_TRIES, 4 * len(among)))):
        other = pool.captions[among[k]]
        if other.image != caption.image and other.words != caption.words:
            return other.words
    return None


def _just_person(caption: _Caption, pool: _Pool, generator: np.random.Generator) -> Words | None:
    """Only who."""
    return caption.person.phrase(caption.words) if caption.person is not None else None


def _just_scene(caption: _Caption, pool: _Pool, generator: np.random.Generator) -> Words | None:
    """Only where."""
    return caption.scene.phrase(caption.words) if caption.scene is not None else None
