"""Nouns that a sentence says are absent: "there is no dog", "without a hat", "is not wearing a hat"."""

from __future__ import annotations

#: Tokens of which a sentence with a negated noun has at least one.
CUES = frozenset(("no", "not", "n't", "without", "neither", "nor"))
#: Children that give a noun of a list a beginning of its own: "no cars and a tree".
_OWN = ("det", "nummod", "nmod:poss", "case")


def negated(forms: list[str], tags: list[str], relations: list[str], heads: list[int]) -> frozenset[int]:
    """Return the positions of the nouns that a sentence negates. Heads count from 1."""
    if CUES.isdisjoint(forms):
        return frozenset()
    children: list[list[int]] = [[] for _ in forms]
    for i, head in enumerate(heads):
        if head:
            children[head - 1].append(i)
    nouns = [i for i, tag in enumerate(tags) if tag.startswith("NN")]
    places = {i for i in nouns if _is_negated(i, forms, relations, heads, children)}
    queue = list(places)
    while queue:
        head = queue.pop()
        is_or = any(forms[k] in ("or", "nor") for k in children[head] if relations[k] == "cc")
        for i in children[head]:
            is_listed = relations[i] == "conj" and (
                is_or or all(relations[k] not in _OWN for k in children[i])
            )
            if i in nouns and i not in places and (is_listed or relations[i] == "compound"):
                places.add(i)
                queue.append(i)
    return frozenset(places)


def _is_negated(
    i: int, forms: list[str], relations: list[str], heads: list[int], children: list[list[int]]
) -> bool:
    for k in children[i]:
        if (relations[k] == "neg" and forms[k] in ("no", "not")) or forms[k] == "neither":
            # The noun of "is not a dog" is negated, that of "no dog" too.
            return True
        if relations[k] == "case" and forms[k] == "without":
            return True
    if not heads[i]:
        return False
    siblings = children[heads[i] - 1]
    # The object of a negated verb, and the noun of "there is not".
    is_absent = relations[i] == "dobj" or (
        relations[i] == "nsubj" and any(relations[k] == "expl" for k in siblings)
    )
    return is_absent and any(relations[k] == "neg" for k in siblings)
