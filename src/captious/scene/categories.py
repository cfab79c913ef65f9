"""Categories of tuples that SPICE reports: by length, and attributes that are numbers, colours or sizes."""

from __future__ import annotations


def word_set(text: str) -> frozenset[str]:
    """Split a list of words that is written as text."""
    return frozenset(text.split())


#: Tuples of one, two and three places, and the kinds of attributes.
CATEGORIES = ("Object", "Attribute", "Relation", "Cardinality", "Color", "Size")

NUMBERS = word_set("one two three four five six seven eight nine ten")

# The words that the reference counts as colours and sizes were found by probing it with one word after the
# other.
COLORS = word_set(
    "beige black blue brown cream dark gray green grey light maroon orange pink purple red violet white "
    "yellow"
)
SIZES = word_set(
    "baby beefy big bony boundless brawny broad bulky chunky colossal compact corpulent cosmic curvy "
    "elfin emaciated endless enormous epic expansive extensive fat fleshy full-size gargantuan gaunt "
    "giant gigantic grand great heavy hefty huge illimitable immeasurable immense infinitesimal lanky "
    "large lean life-size limitless little mammoth massive meager measly microscopic mini miniature "
    "minuscule minute narrow obese oversize overweight paltry petite pint-size plump pocket-size portly "
    "pudgy puny rotund scanty scrawny short sizable skeletal skimpy skinny slender slim small squat "
    "stocky stout strapping sturdy tall teensy teeny teeny-tiny thick thickset thin tiny titanic towering "
    "trifling trim tubby undersized underweight unlimited vast wee whopping wide"
)


def category_of(word: str) -> int:
    """Return the place in ``CATEGORIES`` of an attribute of one word, or 0 if it is in no list."""
    return 3 if word in NUMBERS else 4 if word in COLORS else 5 if word in SIZES else 0
