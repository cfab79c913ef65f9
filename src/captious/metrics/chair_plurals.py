"""Singular forms of English nouns, by rule."""

from __future__ import annotations

_IRREGULAR = {
    "children": "child", "grandchildren": "grandchild", "feet": "foot", "geese": "goose", "men": "man", "mice": "mouse",
    "oxen": "ox", "people": "person", "teeth": "tooth", "lice": "louse", "buses": "bus", "busses": "bus",
}  # fmt: skip

#: Ending of the plural, and what replaces it; all that apply are tried, in this order.
_ENDINGS = (("men", "man"), ("ves", "f"), ("ves", "fe"), ("ies", "y"), ("s", ""))
#: How all of these end: most words do not, and need no further look.
_LAST = ("s", "men")
#: After these, the plural ends in -es.
_BEFORE_ES = ("s", "x", "z", "ch", "sh", "o")


def singulars(word: str) -> list[str]:
    """Forms that may be the singular of a word, the likelier ones first; none for a word that cannot be a plural."""
    forms = [_IRREGULAR[word]] if word in _IRREGULAR else []
    if not word.endswith(_LAST):
        return forms
    if len(word) > 2 and not word.endswith("ss"):
        forms += [word[: -len(end)] + new for end, new in _ENDINGS if word.endswith(end) and len(word) > len(end)]
        if word.endswith("es") and word[:-2].endswith(_BEFORE_ES):
            forms.append(word[:-2])
    return forms
