"""Write new sentences: known ones with words of rare classes put in.

    python -m captious.training.grammar.put_in_words trees/*.jsonl.gz --exclude heldout.txt -o new.txt

A word replaces another one whose tag its ending allows. Classes are those of the fast parser; the rarer a
class is in the known sentences, the more often it is put in. The exact parser then labels the new sentences.
"""

from __future__ import annotations

import argparse
import itertools
import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from captious.core.errors import one_message
from captious.core.writing import atomic_write
from captious.parser.exact.phrase_trees import read_tree
from captious.parser.network_model import shipped_model
from captious.training.grammar.derivation_bank import read_trees
from captious.training.parser.labels import read_excluded
from captious.training.parser.treebank import part_of, words_of

LONGEST = 13  # words of a sentence that words are put into
ENOUGH = 300  # occurrences of a class that needs no more
ABSENT = 0.3  # weight of a class that does not occur at all: its words are rare in captions
_ENDINGS = (
    ("ing", ("VBG", "NN")),
    ("ed", ("VBN", "VBD", "JJ")),
    ("ly", ("RB", "JJ")),
    ("ss", ("NN", "JJ")),
    ("us", ("NN", "JJ")),
    ("s", ("NNS", "VBZ")),
)
_OTHERS = ("NN", "NN", "NN", "JJ", "JJ", "VBP", "VB")

Frame = tuple[list[str], list[str]]


def tags_for(word: str) -> tuple[str, ...]:
    """Return the tags that a word may have by its ending."""
    if any(c.isdigit() for c in word):
        return ("CD", "NN")
    for ending, tags in _ENDINGS:
        if word.endswith(ending):
            return tags
    return _OTHERS


def words_by_class(classes: Mapping[str, int]) -> dict[int, list[str]]:
    """Return the words of each class that may occur in a caption of the COCO pipeline."""
    words: dict[int, list[str]] = defaultdict(list)
    for word, number in classes.items():
        if len(word) > 1 and word == word.lower() and any(c.isalpha() for c in word) and word[0].isalnum():
            words[number].append(word)
    return words


def put_in(frames: Sequence[Frame], counts: Mapping[int, int], seed: int = 13) -> Iterator[str]:
    """Yield sentences without end. `counts` are the occurrences of word classes."""
    rng = random.Random(seed)
    words = words_by_class(shipped_model().classes.words)
    numbers = list(words)
    weights = [max(0.0, 1 - counts[n] / ENOUGH) if counts.get(n) else ABSENT for n in numbers]
    places: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for f, (_, tags) in enumerate(frames):
        for i, tag in enumerate(tags):
            places[tag].append((f, i))
    while True:
        for number in rng.choices(numbers, weights, k=1000):
            word = rng.choice(words[number])
            tag = rng.choice(tags_for(word))
            if not places[tag]:
                continue
            f, place = rng.choice(places[tag])
            sentence, tags = list(frames[f][0]), frames[f][1]
            sentence[place] = word
            if rng.random() < 0.5:  # a second one
                [other] = rng.choices(numbers, weights)
                second = rng.choice(words[other])
                fitting = [i for i, t in enumerate(tags) if i != place and t in tags_for(second)]
                if fitting:
                    sentence[rng.choice(fitting)] = second
            yield " ".join(sentence)


def fresh(texts: Iterable[str], excluded: set[str]) -> Iterator[str]:
    """Yield distinct sentences that may be trained on."""
    seen: set[str] = set()
    for text in texts:
        words = words_of(text)
        if text not in seen and words not in excluded and part_of(words) == "train":
            seen.add(text)
            yield text


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m captious.training.grammar.put_in_words", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("trees", nargs="+", type=Path, help="trees of known sentences, as JSON lines")
    parser.add_argument("--exclude", type=Path, help="sentences that must not be written, one per line")
    parser.add_argument("--count", type=int, default=150_000)
    parser.add_argument("--seed", type=int, default=13)
    parser.add_argument("-o", "--output", required=True, type=Path)
    options = parser.parse_args(argv)
    classes = shipped_model().classes
    counts: Counter[int] = Counter()
    frames: list[Frame] = []
    for tokens, tree in read_trees(options.trees):
        counts.update(map(classes.of, tokens))
        if len(tokens) <= LONGEST and tokens[0].islower():
            frames.append((tokens, [leaf.label for leaf in read_tree(tree).leaves()]))
    texts = fresh(put_in(frames, counts, options.seed), read_excluded(options.exclude))
    with atomic_write(options.output) as temporary, temporary.open("w", encoding="utf-8") as out:
        for text in itertools.islice(texts, options.count):
            out.write(text + "\n")


if __name__ == "__main__":
    with one_message():
        main()
