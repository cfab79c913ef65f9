"""Word classes from observed analyses, without the reference parser's lexicon.

A frequent word is a class of its own, with scores from its observed tags, smoothed by those of rare words
with the same `spelling`. All other words are grouped by spelling.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from captious.parser.network_model import WordClasses, spelling
from captious.parser.sentences import Sentence

LEAST = 3  # occurrences of a word with a class of its own
RARE = 10  # words with at most this many occurrences represent unknown words of their spelling
SMOOTH = 1.0
MOST = 32_000  # classes; their numbers are stored in 16 bits


def observed_classes(sentences: Iterable[Sentence]) -> tuple[WordClasses, NDArray[np.float32]]:
    """Return classes and their scores of all tags, in the form of `word_scores.read_scores`."""
    seen: Counter[tuple[str, str]] = Counter()
    for s in sentences:
        seen.update(zip(s.forms, s.tags))
    totals: Counter[str] = Counter()
    for (word, _), count in seen.items():
        totals[word] += count
    tags = {tag: i for i, tag in enumerate(sorted({tag for _, tag in seen}))}
    words = {word: i for i, (word, count) in enumerate(totals.most_common(MOST)) if count >= LEAST}
    kinds = sorted({spelling(word) for word in totals})
    spellings = {kind: len(words) + i for i, kind in enumerate(kinds)}
    by_word, by_kind = np.zeros((len(words), len(tags))), np.zeros((len(kinds), len(tags)))
    for (word, tag), count in seen.items():
        if word in words:
            by_word[words[word], tags[tag]] += count
        if totals[word] <= RARE:
            by_kind[spellings[spelling(word)] - len(words), tags[tag]] += count
    everywhere = by_kind.sum(0) + 1e-3
    by_kind += SMOOTH * everywhere / everywhere.sum()
    by_kind /= by_kind.sum(1, keepdims=True)
    own = [spellings[spelling(word)] - len(words) for word in words]
    by_word += SMOOTH * by_kind[own]
    by_word /= by_word.sum(1, keepdims=True)
    scores = np.log(np.concatenate([by_word, by_kind]))
    classes = WordClasses(
        words, spellings, spellings.get("lq", spellings[spelling(totals.most_common()[-1][0])])
    )
    return classes, (scores - scores.max(1, keepdims=True)).astype(np.float32)
