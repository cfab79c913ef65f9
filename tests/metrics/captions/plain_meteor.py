"""METEOR's alignment in plain Python: paths as objects, matches as tuples, lists and sorting. It is slow and shares
no technique with the kernel, so both are unlikely to have the same mistake.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

#: start and length in line 2, start and length in line 1, module
Match = tuple[int, int, int, int, int]


@dataclass
class Path:
    matches: dict[int, Match] = field(default_factory=dict)
    used: set[int] = field(default_factory=set)
    weight1: int = 0
    weight2: int = 0
    chunks: int = 0
    distance: int = 0
    next: int = 0
    end: int | None = None

    def with_match(self, match: Match) -> Path:
        start2, length2, start1, length1, module = match
        weight = 1.0 if module == 0 else 0.5
        return Path(
            self.matches | {start2: match},
            self.used | set(range(start1, start1 + length1)),
            int(self.weight1 + length1 * weight),
            int(self.weight2 + length2 * weight),
            self.chunks + (self.end is not None and self.end != start1),
            self.distance,
            start2 + length2,
            start1 + length1,
        )


def all_matches(
    line1: list[str], line2: list[str], stem: Callable[[str], str], synsets: Callable[[str], frozenset[int]],
    paraphrases: dict[str, list[str]],
) -> list[Match]:  # fmt: skip
    matches: list[Match] = []
    tests = [
        lambda a, b: a == b,
        lambda a, b: a != b and stem(a) == stem(b),
        lambda a, b: a != b and bool(synsets(a) & synsets(b)),
    ]
    for module, same in enumerate(tests[:1] if line1 == line2 else tests):
        matches += [
            (j, 1, i, 1, module) for j, b in enumerate(line2) for i, a in enumerate(line1) if same(a, b)
        ]
    if line1 == line2:
        return matches

    def lookup(here: list[str], there: list[str]) -> list[tuple[int, int, int, int]]:
        found = []
        for start in range(len(here)):
            for stop in range(start + 1, len(here) + 1):
                for target in paraphrases.get(" ".join(here[start:stop]), []):
                    n = len(target.split())
                    found += [
                        (start, stop - start, at, n)
                        for at in range(len(there))
                        if " ".join(there[at : at + n]) == target
                    ]
        return found

    matches += [(j, n2, i, n1, 3) for j, n2, i, n1 in lookup(line2, line1)]
    matches += [(j, n2, i, n1, 3) for i, n1, j, n2 in lookup(line1, line2)]
    return matches


def best_path(line1: list[str], line2: list[str], matches: list[Match], width: int = 40) -> Path:
    at: list[list[Match]] = [[m for m in matches if m[0] == j] for j in range(len(line2))]
    cover1 = [sum(m[2] <= i < m[2] + m[3] for m in matches) for i in range(len(line1))]
    cover2 = [sum(m[0] <= j < m[0] + m[1] for m in matches) for j in range(len(line2))]

    def certain(here: list[Match]) -> bool:
        if len(here) != 1:
            return False
        start2, length2, start1, length1, _ = here[0]
        return set(cover2[start2 : start2 + length2]) == {1} and set(cover1[start1 : start1 + length1]) == {1}

    def rank(path: Path) -> tuple[int, int, int]:
        return -(path.weight1 + path.weight2), path.chunks, path.distance

    paths = [Path()]
    for j, here in enumerate(at):
        following: list[Path] = []
        for path in sorted(paths, key=rank)[:width]:
            if path.next > j:
                following.append(path)
            elif certain(here):
                chosen = path.with_match(here[0])
                chosen.distance += abs(here[0][0] - here[0][2])
                following.append(chosen)
            else:
                for match in here:
                    if path.used.isdisjoint(range(match[2], match[2] + match[3])):
                        following.append(path.with_match(match))
                        path.distance += abs(match[0] - match[2])
                path.chunks += path.end is not None
                path.end = None
                path.next = j + 1
                following.append(path)
        paths = following
    last = sorted(paths, key=rank)[:width]
    for path in last:
        path.chunks += path.end is not None
    return sorted(last, key=rank)[0]


def statistics(
    line1: list[str], line2: list[str], matches: list[Match], function_words: set[str]
) -> list[int]:
    path = best_path(line1, line2, matches)
    counts = [
        len(line1),
        len(line2),
        sum(w in function_words for w in line1),
        sum(w in function_words for w in line2),
    ]
    chosen = [path.matches[j] for j in sorted(path.matches)]
    for module in range(4):
        words1 = [line1[i] for m in chosen if m[4] == module for i in range(m[2], m[2] + m[3])]
        words2 = [line2[j] for m in chosen if m[4] == module for j in range(m[0], m[0] + m[1])]
        counts += [sum(w not in function_words for w in words1), sum(w not in function_words for w in words2)]
        counts += [sum(w in function_words for w in words1), sum(w in function_words for w in words2)]
    chunks = 0
    before: Match | None = None
    for match in chosen:
        if before is None or (before[0] + before[1], before[2] + before[3]) != (match[0], match[2]):
            chunks += 1
        before = match
    return [*counts, chunks, sum(m[3] for m in chosen), sum(m[1] for m in chosen)]
