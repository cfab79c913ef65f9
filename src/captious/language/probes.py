"""Sentences to have labelled: known captions with rare words put in, which teach the parser what those words can be.

Most errors stand beside words that occur seldom in the parsed captions: the reference parser knows from its own lexicon
what such a word can be, the model does not. So each rare word goes into a few short captions from the training part, in
places where it may stand, and the reference parser labels them:

    python -m captious.language.probes make --parses captions.jsonl.gz --text more.txt --output probes.txt
    java -cp … edu.stanford.nlp.parser.lexparser.LexicalizedParser -tokenized -sentences newline \\
        -outputFormat wordsAndTags,typedDependencies -outputFormatOptions basicDependencies \\
        edu/stanford/nlp/models/lexparser/englishPCFG.ser.gz probes.txt > probes.out
    python -m captious.language.probes convert --parsed probes.out --output probes.jsonl

`more.txt` holds tokenised captions, one per line, whose words are wanted too; those with rare words are used as they are.
The result is a second file for ``python -m captious.language.train --parses``.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from captious.cache import atomic_write
from captious.errors import InputError
from captious.language.parse_types import Sentence
from captious.language.treebank import part_of, read_parses

RARE = 60  # occurrences in training from which a word needs no probes
_WORD = re.compile(r"[a-z][a-z'-]*[a-z]")
_PLACES = ("NN", "NNS", "JJ", "VBG", "VBN", "VBZ", "VBP", "VBD", "VB", "RB")
_BY_ENDING: tuple[tuple[str, dict[str, float]], ...] = (
    ("ing", {"VBG": 0.55, "NN": 0.25, "JJ": 0.2}),
    ("ed", {"VBN": 0.35, "JJ": 0.3, "VBD": 0.35}),
    ("ly", {"RB": 0.6, "JJ": 0.25, "NN": 0.15}),
    ("ss", {"NN": 0.5, "JJ": 0.3, "VBP": 0.1, "VB": 0.1}),
    ("s", {"NNS": 0.6, "VBZ": 0.3, "NN": 0.1}),
    ("", {"NN": 0.5, "JJ": 0.3, "VBP": 0.08, "VB": 0.06, "VBN": 0.03, "VBD": 0.03}),
)


def probes(sentences: Sequence[Sentence], texts: Iterable[str], seed: int = 11) -> Iterator[str]:
    """Captions with rare words, the most useful first: three made ones to one found in `texts`."""
    rng = random.Random(seed)
    seen: dict[str, Counter[str]] = {}
    for s in sentences:
        for form, tag in zip(s.forms, s.tags):
            seen.setdefault(form, Counter())[tag] += 1
    often = Counter({word: sum(tags.values()) for word, tags in seen.items()})
    texts = list(dict.fromkeys(texts))
    vocabulary = dict.fromkeys([*often, *(word for text in texts for word in text.split())])
    rare = [w for w in vocabulary if often[w] < RARE and len(w) < 20 and _WORD.fullmatch(w)]
    places: dict[str, list[tuple[Sentence, int]]] = {}
    for s in sentences:
        if 4 <= len(s) <= 8:
            for i, tag in enumerate(s.tags):
                if tag in _PLACES:
                    places.setdefault(tag, []).append((s, i))
    # Every word once, then every word again, as long as the labelling goes on.
    turns = [(turn, rng.random(), w) for w in rare for turn in range(4 if often[w] < 10 else 3 if often[w] < 30 else 2)]
    found = sorted(
        (min(often[w] for w in text.split()), rng.random(), text) for text in texts if 4 <= len(text.split()) <= 11
    )
    real = iter([text for least, _, text in found if least < 15])
    given: set[str] = set()
    for number, (_, _, word) in enumerate(sorted(turns)):
        weights = dict(next(kinds for ending, kinds in _BY_ENDING if word.endswith(ending)))
        for tag, times in seen.get(word, {}).items():
            weights[tag] = weights.get(tag, 0.0) + times / often[word]
        kinds = [tag for tag in weights if tag in places]
        if not kinds:
            continue
        s, i = rng.choice(places[rng.choices(kinds, [weights[tag] for tag in kinds])[0]])
        made = [" ".join([*s.forms[:i], word, *s.forms[i + 1 :]])]
        if number % 3 == 2:
            made.extend(text for text in [next(real, None)] if text is not None)
        for text in made:
            # What belongs to development or test must not come in by this door.
            if text not in given and part_of(text) == "train":
                given.add(text)
                yield text


_DEPENDENCY = re.compile(r"(\S+)\(.*-(\d+)'*, .*-(\d+)'*\)")


def convert(lines: Iterable[str]) -> Iterator[dict[str, Any]]:
    """Rows as `treebank.read_parses` reads them, from the output of CoreNLP's LexicalizedParser."""
    row: dict[str, Any] | None = None
    for line in lines:
        line = line.rstrip("\n")
        edge = _DEPENDENCY.fullmatch(line)
        if not line:
            continue
        if edge and row is not None:
            row["sentences"][0]["basic"].append([int(edge[2]), int(edge[3]), edge[1]])
            continue
        if row is not None:
            yield row
        pairs = [token.rsplit("/", 1) for token in line.split(" ")]
        if any(len(pair) != 2 for pair in pairs):
            raise InputError(f"not the parser's output (wordsAndTags,typedDependencies): {line[:80]!r}")
        forms = [form for form, _ in pairs]
        sentence: dict[str, Any] = {"form": forms, "tag": [tag for _, tag in pairs], "basic": []}
        row = {"text": " ".join(forms), "source": "probe", "sentences": [sentence]}
    if row is not None:
        yield row


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m captious.language.probes", description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    make = commands.add_parser("make", help="write sentences to be labelled")
    make.add_argument("--parses", required=True, type=Path, help="captions parsed by the reference parser")
    make.add_argument("--text", type=Path, help="more tokenised captions, one per line")
    make.add_argument("--output", required=True, type=Path)
    back = commands.add_parser("convert", help="turn the labels into a file for training")
    back.add_argument("--parsed", required=True, type=Path, nargs="+")
    back.add_argument("--output", required=True, type=Path)
    options = parser.parse_args(argv)
    with atomic_write(options.output) as temporary, temporary.open("w", encoding="utf-8") as out:
        if options.command == "make":
            known = [s for c in read_parses(options.parses) if c.part == "train" for s in c.sentences]
            texts = options.text.read_text(encoding="utf-8").splitlines() if options.text else []
            for text in probes(known, texts):
                out.write(text + "\n")
        else:
            for path in options.parsed:
                with path.open(encoding="utf-8") as lines:
                    for row in convert(lines):
                        out.write(json.dumps(row, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
