"""Boilerplate: texts that open with a phrase about the picture or the answer."""

from __future__ import annotations

import re
from collections.abc import Sequence

from captious.metrics.captions.text_measure import TextMeasure

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


def is_boilerplate(sentence: str) -> bool:
    """Return whether a sentence opens with a phrase about the picture ("The image features …")."""
    return _OPENINGS.match(sentence.lstrip("\"'“‘*_#> ")) is not None


class Boilerplate(TextMeasure):
    """Share of captions whose first sentence opens with a phrase about the picture or the answer."""

    name = "Boilerplate"
    summary = "share of captions that open with a phrase such as “The image features”"

    def count(self, text: str, sentences: Sequence[str]) -> tuple[float, ...]:
        return float(bool(sentences) and is_boilerplate(sentences[0])), 1.0
