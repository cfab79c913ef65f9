"""Straightforward implementations of the papers, one caption at a time, to test the array code against."""

from __future__ import annotations

import math
from collections import Counter


def grams(words: list[str], n: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1))


def bleu(rows: list[tuple[list[str], list[list[str]]]], n: int) -> float:
    """Corpus BLEU of (candidate, references) rows as the COCO tools compute it."""
    matches, totals = [0] * n, [0] * n
    length = closest = 0
    for candidate, references in rows:
        length += len(candidate)
        closest += min((abs(len(r) - len(candidate)), len(r)) for r in references)[1]
        for k in range(n):
            have = grams(candidate, k + 1)
            most: Counter[tuple[str, ...]] = Counter()
            for reference in references:
                most |= grams(reference, k + 1)
            matches[k] += sum((have & most).values())
            totals[k] += sum(have.values())
    score = 1.0
    for m, t in zip(matches, totals):
        score *= (m + 1e-15) / (t + 1e-9)
    score **= 1 / n
    ratio = (length + 1e-15) / (closest + 1e-9)
    return score * math.exp(1 - 1 / ratio) if ratio < 1 else score


def lcs(a: list[str], b: list[str]) -> int:
    table = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i, x in enumerate(a, 1):
        for j, y in enumerate(b, 1):
            table[i][j] = table[i - 1][j - 1] + 1 if x == y else max(table[i - 1][j], table[i][j - 1])
    return table[-1][-1]


def rouge_l(candidate: list[str], references: list[list[str]], beta: float = 1.2) -> float:
    candidate = candidate or [""]
    references = [r or [""] for r in references]
    p = max(lcs(candidate, r) / len(candidate) for r in references)
    q = max(lcs(candidate, r) / len(r) for r in references)
    return (1 + beta**2) * p * q / (q + beta**2 * p) if p and q else 0.0


def cider(rows: list[tuple[list[str], list[list[str]]]], *, d: bool, sigma: float = 6.0) -> list[float]:
    """CIDEr (or CIDEr-D) of each row, document frequencies from the rows' references."""
    df: Counter[tuple[str, ...]] = Counter()
    for _, references in rows:
        df.update({g for r in references for n in range(1, 5) for g in grams(r, n)})
    whole = math.log(len(rows))

    def vector(words: list[str], n: int) -> dict[tuple[str, ...], float]:
        return {g: c * (whole - math.log(max(1.0, df[g]))) for g, c in grams(words, n).items()}

    def norm(v: dict[tuple[str, ...], float]) -> float:
        return math.sqrt(sum(x * x for x in v.values()))

    scores = []
    for candidate, references in rows:
        total = 0.0
        for reference in references:
            for n in range(1, 5):
                a, b = vector(candidate, n), vector(reference, n)
                product = sum((min(x, b.get(g, 0.0)) if d else x) * b.get(g, 0.0) for g, x in a.items())
                size = norm(a) * norm(b)
                value = product / size if size else 0.0
                if d:
                    delta = max(len(candidate) - 1, 0) - max(len(reference) - 1, 0)
                    value *= math.exp(-(delta**2) / (2 * sigma**2))
                total += value
        scores.append(10 * total / (4 * len(references)))
    return scores
