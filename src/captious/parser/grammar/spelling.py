"""Classes of words by spelling, which give rare and unknown words their tags."""

from __future__ import annotations

from captious.parser.exact.lexicon import american, signature

_LONGEST = 40  # letters of a part that is looked at


def spelling_class(form: str) -> str:
    """Return the class of a word by case, hyphen, digits and last letter (Klein and Manning 2003)."""
    return signature(american(form), False)


def suffixes(form: str) -> tuple[str, str, str]:
    """Return the last two and three letters of a word, and the last part of a hyphenated word."""
    word = form.lower()
    two = word[-2:] if len(word) > 3 else "=" + word
    three = word[-3:] if len(word) > 4 else "=" + word
    part = word.rpartition("-")[2][:_LONGEST]
    return two, three, "-" + part if part and part != word else ""
