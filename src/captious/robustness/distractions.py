"""Distraction tasks (Hodosh & Hockenmaier 2016), built from any captions.

Each instance pairs a correct caption with one that is wrong in one respect. A metric has to tell them apart
by the image's other captions.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from captious.core.errors import InputError, did_you_mean
from captious.io.judgements import CaptionPairs, Protocol, own_key
from captious.io.judgements.distraction_sets import TASKS
from captious.parser.parsed_sentences import Sentence
from captious.robustness.mentions import (
    PEOPLE,
    PLACES,
    MentionSpan,
    Person,
    kinds_of_people,
    kinds_of_places,
    people,
    places,
)

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
    """Source material of the tasks: captions, phrases for people and places, and the kinds each image's
    captions name.

    ``by_person`` and ``by_scene`` map a phrase to the indices of the captions that contain it.
    """

    captions: list[_Caption]
    people: list[tuple[Words, Person, bool]]
    places: list[tuple[Words, str]]
    by_person: Mapping[Words, list[int]]
    by_scene: Mapping[Words, list[int]]
    image_people: list[set[Person]]
    image_places: list[set[str]]


def make_distractions(
    captions: Mapping[str, Sequence[str]],
    tasks: Sequence[str] = TASKS,
    *,
    limit: int | None = 2000,
    seed: int = 1,
) -> CaptionPairs:
    """Build distraction tasks from the captions of images.

    Parameters
    ----------
    captions
        Image id → captions. Images with fewer than two captions are skipped.
    tasks
        Names of tasks (see `captious.robustness.TASKS`).
    limit
        Maximum number of instances per task, drawn at random. None for all.
    seed
        Random seed.

    Returns
    -------
    CaptionPairs
        Pairs of captions, the first of which is correct. Captions are tokenised, so that both captions of a
        pair differ in nothing but the distraction.

    Examples
    --------
    >>> captions = {"1": ["a man runs", "the man is running"], "2": ["a woman sings", "one woman singing"]}
    >>> make_distractions(captions, ["Replace Person"]).second[0]
    'a woman runs'
    """
    for task in tasks:
        if task not in TASKS:
            raise InputError(
                f"unknown task '{task}'{did_you_mean(task, TASKS)} (choose from: {', '.join(TASKS)})"
            )
    usable = {image: list(texts) for image, texts in captions.items() if len(texts) > 1}
    if len(usable) < 2:
        raise InputError("distraction tasks need at least two images with two or more captions each")
    pool = _pool(list(usable.values()))
    builders: dict[str, Callable[[_Caption, _Pool, np.random.Generator], Words | None]] = {
        "Replace Person": _replace_person, "Replace Scene": _replace_scene, "Share Person": _share_person,
        "Share Scene": _share_scene, "Just Person": _just_person, "Just Scene": _just_scene,
    }  # fmt: skip
    images = list(usable)
    rows: list[tuple[str, str, str, list[str], str]] = []
    for task in tasks:
        generator = np.random.default_rng([seed, zlib.crc32(task.encode())])
        n_instances = 0
        for index in generator.permutation(len(pool.captions)).tolist():
            if limit is not None and n_instances >= limit:
                break
            caption = pool.captions[index]
            distractor = builders[task](caption, pool, generator)
            if not distractor or distractor == caption.words:
                continue
            texts = usable[images[caption.image]]
            others = [text for k, text in enumerate(texts) if k != caption.number]
            others = [text for text in others if own_key(text) != own_key(" ".join(distractor))]
            if others:
                rows.append(
                    (images[caption.image], " ".join(caption.words), " ".join(distractor), others, task)
                )
                n_instances += 1
    if not rows:
        raise InputError("no caption names a known person or place, so no distraction task can be built")
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
    from captious.parser.fast_parser import parse
    from captious.text.ptb import tokenize

    flat = [(i, k, text) for i, texts in enumerate(images) for k, text in enumerate(texts)]
    parses = parse([text for *_, text in flat], tokenizer=tokenize)
    captions = []
    sentences: list[list[Sentence]] = [[] for _ in images]
    for (image, number, _), parsed in zip(flat, parses):
        sentences[image].extend(parsed)
        # Captions of several sentences are skipped: the phrase to replace would be ambiguous.
        if len(parsed) == 1:
            persons, scenes = people(parsed[0]), places(parsed[0])
            captions.append(
                _Caption(
                    image, number, parsed[0], persons[0] if persons else None, scenes[-1] if scenes else None
                )
            )
    by_person: dict[Words, list[int]] = {}
    by_scene: dict[Words, list[int]] = {}
    person_phrases: dict[tuple[Words, Person, bool], None] = {}
    place_phrases: dict[tuple[Words, str], None] = {}
    for index, caption in enumerate(captions):
        if caption.person is not None:
            phrase = caption.person.phrase(caption.words)
            by_person.setdefault(phrase, []).append(index)
            person_phrases[phrase, PEOPLE[caption.person.lemma], caption.person.plural] = None
        if caption.scene is not None:
            by_scene.setdefault(caption.scene.phrase(caption.words), []).append(index)
            place_phrases[caption.scene.with_preposition(caption.words), PLACES[caption.scene.lemma]] = None
    return _Pool(
        captions, list(person_phrases), list(place_phrases), by_person, by_scene,
        [kinds_of_people(s) for s in sentences], [kinds_of_places(s) for s in sentences],
    )  # fmt: skip


#: Number of random phrases or captions to try before skipping a caption.
_TRIES = 200


def _replace_person(caption: _Caption, pool: _Pool, generator: np.random.Generator) -> Words | None:
    """Replace the person by a phrase of the same number that fits no person in the image's captions."""
    mention = caption.person
    if mention is None:
        return None
    present = pool.image_people[caption.image]
    for k in map(int, generator.integers(0, len(pool.people), _TRIES)):
        phrase, kind, plural = pool.people[k]
        if plural == mention.plural and not any(kind.may_be(other) for other in present):
            return caption.words[: mention.start] + phrase + caption.words[mention.end :]
    return None


def _replace_scene(caption: _Caption, pool: _Pool, generator: np.random.Generator) -> Words | None:
    """Replace the place by one of a kind that the image's captions do not name."""
    mention = caption.scene
    if mention is None:
        return None
    for k in map(int, generator.integers(0, len(pool.places), _TRIES)):
        phrase, kind = pool.places[k]
        if kind not in pool.image_places[caption.image]:
            return caption.words[: mention.outer] + phrase + caption.words[mention.end :]
    return None


def _share_person(caption: _Caption, pool: _Pool, generator: np.random.Generator) -> Words | None:
    """Return a caption of another image that names the person with the same words."""
    if caption.person is None:
        return None
    return _other(caption, pool, pool.by_person[caption.person.phrase(caption.words)], generator)


def _share_scene(caption: _Caption, pool: _Pool, generator: np.random.Generator) -> Words | None:
    """Return a caption of another image that names the place with the same words."""
    if caption.scene is None:
        return None
    return _other(caption, pool, pool.by_scene[caption.scene.phrase(caption.words)], generator)


def _other(
    caption: _Caption, pool: _Pool, among: Sequence[int], generator: np.random.Generator
) -> Words | None:
    for k in map(int, generator.integers(0, len(among), min(_TRIES, 4 * len(among)))):
        other = pool.captions[among[k]]
        if other.image != caption.image and other.words != caption.words:
            return other.words
    return None


def _just_person(caption: _Caption, pool: _Pool, generator: np.random.Generator) -> Words | None:
    """Return only the phrase for the person."""
    return caption.person.phrase(caption.words) if caption.person is not None else None


def _just_scene(caption: _Caption, pool: _Pool, generator: np.random.Generator) -> Words | None:
    """Return only the phrase for the place."""
    return caption.scene.phrase(caption.words) if caption.scene is not None else None
