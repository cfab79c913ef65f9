"""The table of lemmas that the spelling rules get wrong, learned from parsed captions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from captious.parser.lemmas import key, regular
from captious.parser.sentences import Sentence


def learn_exceptions(sentences: Iterable[Sentence], minimum: int = 1) -> dict[str, str]:
    """Return the most common lemma of each word for which the rules give another one: {"form TAG": lemma}."""
    counts: dict[str, Counter[str]] = {}
    for sentence in sentences:
        for form, tag, lemma in zip(sentence.forms, sentence.tags, sentence.lemmas):
            counts.setdefault(key(form, tag), Counter())[lemma] += 1
    exceptions: dict[str, str] = {}
    for name, lemmas in sorted(counts.items()):
        lemma, count = min(lemmas.items(), key=lambda item: (-item[1], item[0]))
        form, tag = name.rsplit(" ", 1)
        if count >= minimum and lemma != regular(form, tag):
            exceptions[name] = lemma
    return exceptions
