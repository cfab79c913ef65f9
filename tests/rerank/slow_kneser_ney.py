"""Modified Kneser–Ney from dictionaries, after Chen & Goodman (1999): the plain form of
``captious.rerank.language_models.ngram``.
"""

from __future__ import annotations

from collections import Counter, defaultdict


class SlowKneserNey:
    """P(word | context) by recursion."""

    def __init__(self, captions: list[list[str]], order: int) -> None:
        self.order = order
        sentences = [["<s>", *tokens, "</s>"] for tokens in captions]
        raw = {
            n: Counter(tuple(s[i : i + n]) for s in sentences for i in range(len(s) - n + 1))
            for n in range(1, order + 1)
        }
        self.words = {word for s in sentences for word in s} - {"<s>"} | {"<unk>"}
        self.adjusted: dict[int, Counter[tuple[str, ...]]] = {order: raw[order]}
        for n in range(1, order):
            before = defaultdict(set)
            for gram in raw[n + 1]:
                before[gram[1:]].add(gram[0])
            self.adjusted[n] = Counter(
                {gram: count if gram[0] == "<s>" else len(before[gram]) for gram, count in raw[n].items()}
            )
        self.adjusted[1].pop(("<s>",), None)
        self.discounts = {}
        for n in range(1, order + 1):
            t = Counter(self.adjusted[n].values())
            found = [-1.0]
            if t[1] and t[2] and t[3] and t[4]:
                y = t[1] / (t[1] + 2 * t[2])
                found = [1 - 2 * y * t[2] / t[1], 2 - 3 * y * t[3] / t[2], 3 - 4 * y * t[4] / t[3]]
            self.discounts[n] = [0.0, *(found if min(found) >= 0 else (0.5, 1.0, 1.5))]
        self.followers: dict[tuple[str, ...], dict[str, int]] = defaultdict(dict)
        for n in range(1, order + 1):
            for gram, count in self.adjusted[n].items():
                self.followers[gram[:-1]][gram[-1]] = count

    def p(self, word: str, context: tuple[str, ...]) -> float:
        """P(word | context)."""
        context = context[-(self.order - 1) :] if self.order > 1 else ()
        word = word if word in self.words else "<unk>"
        shorter = self.p(word, context[1:]) if context else 1 / len(self.words)
        followers = self.followers.get(context)
        if not followers:
            return shorter
        discount = self.discounts[len(context) + 1]
        total = sum(followers.values())
        taken = sum(discount[min(count, 3)] for count in followers.values())
        own = followers.get(word, 0)
        return (own - discount[min(own, 3)]) / total + taken / total * shorter
