"""Nouns for people, with gender and age, and nouns for places, by kind of place."""

from __future__ import annotations

from typing import NamedTuple


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
