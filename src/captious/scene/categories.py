"""Kinds of tuples that SPICE reports apart: by length, and attributes that are numbers, colours or sizes."""

from __future__ import annotations

from captious.scene.concepts import Concept
from captious.scene.wordlists import word_set

#: Tuples of one, two and three places, and the kinds of attributes.
CATEGORIES = ("Object", "Attribute", "Relation", "Cardinality", "Color", "Size")

NUMBERS = word_set("one two three four five six seven eight nine ten")

# Which words the reference counts as colours and sizes was found by giving it one word after the other.
COLORS = word_set(
    "beige black blue brown cream dark gray green grey light maroon orange pink purple red violet white yellow"
)
SIZES = word_set(
    "baby beefy big bony boundless brawny broad bulky chunky colossal compact corpulent cosmic curvy elfin "
    "emaciated endless enormous epic expansive extensive fat fleshy full-size gargantuan gaunt giant gigantic grand "
    "great heavy hefty huge illimitable immeasurable immense infinitesimal lanky large lean life-size limitless "
    "little mammoth massive meager measly microscopic mini miniature minuscule minute narrow obese oversize "
    "overweight paltry petite pint-size plump pocket-size portly pudgy puny rotund scanty scrawny short sizable "
    "skeletal skimpy skinny slender slim small squat stocky stout strapping sturdy tall teensy teeny teeny-tiny "
    "thick thickset thin tiny titanic towering trifling trim tubby undersized underweight unlimited vast wee "
    "whopping wide"
)


def kind(attribute: Concept) -> int:
    """The place in ``CATEGORIES`` of the list an attribute is in, or 0. An attribute with several words is in none."""
    return 0 if len(attribute.words) > 1 else kind_of(attribute.words[0])


def kind_of(word: str) -> int:
    """The same for an attribute of one word."""
    return 3 if word in NUMBERS else 4 if word in COLORS else 5 if word in SIZES else 0
