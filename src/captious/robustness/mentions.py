"""People and places that a caption mentions: nouns by kind, and their phrases in the dependency tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from captious.parser.parsed_sentences import Sentence


class Person(NamedTuple):
    """Gender ("m", "f" or "" for unspecified) and age ("adult", "child" or "") that a noun implies."""

    gender: str
    age: str

    def may_be(self, other: Person) -> bool:
        """Return whether both nouns can refer to the same person."""
        genders = {self.gender, other.gender} - {""}
        ages = {self.age, other.age} - {""}
        return len(genders) < 2 and len(ages) < 2


_PEOPLE = {
    Person("m", "adult"): (
        "man guy gentleman businessman policeman fireman cowboy groom husband father dad grandfather "
        "fisherman salesman lumberjack monk king waiter snowman"
    ),
    Person("f", "adult"): (
        "woman lady businesswoman policewoman bride wife mother mom grandmother waitress ballerina nun queen"
    ),
    Person("m", "child"): "boy son",
    Person("f", "child"): "girl daughter",
    Person("", "child"): "child kid toddler baby infant youngster schoolchild",
    Person("m", ""): "male brother",
    Person("f", ""): "female sister cheerleader",
    Person("", "adult"): (
        "adult worker officer soldier chef cook doctor nurse teacher driver pilot construction_worker "
        "vendor farmer musician guitarist drummer singer couple elder senior biker bicyclist"
    ),
    Person("", ""): (
        "person people someone individual player skier surfer skateboarder snowboarder swimmer runner "
        "climber hiker rider cyclist athlete dancer performer artist crowd group team audience "
        "tourist pedestrian student passenger umpire batter pitcher catcher racer jogger friend "
        "teenager teen human shopper spectator"
    ),
}

PEOPLE: dict[str, Person] = {word: kind for kind, words in _PEOPLE.items() for word in words.split()}

_PLACES = {
    "street": (
        "street road sidewalk highway intersection crosswalk alley pavement freeway driveway curb lane corner"
    ),
    "city": "city town downtown plaza square market marketplace building",
    "beach": "beach ocean sea shore sand coast surf wave seashore shoreline",
    "water": "water lake river pond pool creek stream fountain canal harbor bay dock pier marina",
    "snow": "snow slope ski_slope ice glacier",
    "mountain": "mountain hill cliff rock canyon peak hillside valley mountainside",
    "grass": "field grass park yard lawn meadow garden pasture backyard playground grassland farm",
    "woods": "forest wood woods jungle tree trail path",
    "desert": "desert dune",
    "kitchen": "kitchen oven counter stove",
    "bathroom": "bathroom restroom shower toilet bathtub",
    "bedroom": "bedroom bed",
    "room": "room living_room couch sofa house home hallway apartment hotel",
    "office": "office desk classroom library school laboratory",
    "restaurant": "restaurant bar cafe cafeteria diner pub bakery",
    "shop": "store shop mall supermarket aisle",
    "sport": "court stadium arena rink gym track diamond ballpark ring skatepark ramp",
    "station": "station platform airport runway terminal subway train bus tarmac",
    "stage": "stage concert theater auditorium",
    "zoo": "zoo cage pen enclosure barn stable",
    "sky": "sky air",
}

PLACES: dict[str, str] = {word: kind for kind, words in _PLACES.items() for word in words.split()}

#: Nouns that are too often an object or a part of something ("in the air", "on the bed") to be a scene. They
#: count when the places of captions are compared, but no task replaces them.
_NO_SCENE = (
    "air sky corner tree bed couch sofa desk counter oven stove toilet train bus building rock wave path"
)
NO_SCENE = frozenset(_NO_SCENE.split())

_NOUNS = ("NN", "NNS", "NNP", "NNPS")
_PLURAL = ("NNS", "NNPS")
#: Relations in which a noun modifies another noun and is not a mention of its own.
_MODIFIERS = ("compound", "nmod:poss", "amod")


@dataclass(frozen=True)
class MentionSpan:
    """A noun and its preceding dependents: words ``start`` to ``end`` of a sentence."""

    start: int
    end: int
    lemma: str
    plural: bool
    #: For places: index of the preposition, or ``start`` without one.
    outer: int

    def phrase(self, words: Sequence[str]) -> tuple[str, ...]:
        return tuple(words[self.start : self.end])

    def with_preposition(self, words: Sequence[str]) -> tuple[str, ...]:
        return tuple(words[self.outer : self.end])


def people(sentence: Sentence) -> list[MentionSpan]:
    """Return the mentions of people, in order."""
    return [
        _mention(sentence, k)
        for k in range(len(sentence))
        if _is_noun(sentence, k) and sentence.lemmas[k] in PEOPLE
    ]


def places(sentence: Sentence) -> list[MentionSpan]:
    """Return the mentions of places after a preposition, in order."""
    mentions = []
    for k in range(len(sentence)):
        if _is_noun(sentence, k) and sentence.lemmas[k] in PLACES and sentence.lemmas[k] not in NO_SCENE:
            mention = _mention(sentence, k)
            if mention.outer < mention.start:
                mentions.append(mention)
    return mentions


def kinds_of_people(sentences: Sequence[Sentence]) -> set[Person]:
    """Return the gender and age of all people named anywhere in the sentences."""
    return {PEOPLE[lemma] for s in sentences for lemma in s.lemmas if lemma in PEOPLE}


def kinds_of_places(sentences: Sequence[Sentence]) -> set[str]:
    """Return the kinds of all places named anywhere in the sentences."""
    return {PLACES[lemma] for s in sentences for lemma in s.lemmas if lemma in PLACES}


def _is_noun(sentence: Sentence, k: int) -> bool:
    return sentence.tags[k] in _NOUNS and sentence.relations[k] not in _MODIFIERS


def _mention(sentence: Sentence, head: int) -> MentionSpan:
    start = head
    while start > 0 and _depends_on(sentence, start - 1, head):
        start -= 1
    outer = start
    # Skip prepositions at the front of the phrase; "in front of" is three words.
    while start < head and sentence.relations[start] in ("case", "mwe", "mark", "advmod", "cc", "punct"):
        start += 1
    has_preposition = any(sentence.relations[k] == "case" for k in range(outer, start))
    return MentionSpan(
        start,
        head + 1,
        sentence.lemmas[head],
        sentence.tags[head] in _PLURAL,
        outer if has_preposition else start,
    )


def _depends_on(sentence: Sentence, word: int, head: int) -> bool:
    """Return whether ``word`` depends on ``head``, directly or indirectly."""
    for _ in range(len(sentence)):
        above = sentence.heads[word] - 1
        if above == head:
            return True
        if above < 0:
            return False
        word = above
    return False
