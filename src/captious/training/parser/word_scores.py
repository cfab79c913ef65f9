"""Word classes of the parser from the reference parser's scores or from observed tags, and lemma exceptions.

    python -m captious.training.parser.word_scores words.txt [list.txt …]
    java -cp 'lib/*' tools/WordScores.java words.txt scores.tsv.gz

The first command writes words to score in addition to the lexicon's own. The second one needs CoreNLP 3.6.0
and its models in lib/; its output is the input of ``python -m captious.training.parser.train_parser
--scores``. Long lists of English words reveal British spellings, which the reference parser converts to
American ones before a lookup.
"""

from __future__ import annotations

import argparse
import itertools
import string
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from captious.core.errors import InputError, one_message
from captious.core.writing import atomic_write
from captious.parser.exact.lexicon import Lexicon
from captious.parser.network_model import WordClasses, spelling
from captious.parser.parsed_sentences import Sentence, key, regular
from captious.training.parser.treebank import open_text


def invented() -> list[str]:
    """Return invented words of all spelling patterns."""
    ends = string.ascii_lowercase + "ñ.'/-"
    stems = ("xqzv", "Xqzv", "XQZV", "xq-zv", "Xq-zv", "XQ-ZV")
    words = [stem + (end.upper() if stem.isupper() else end) for stem, end in itertools.product(stems, ends)]
    words += ["xqj", "Xqj", "XQJ", "x-q", "X-q", "X-Q", "xq9zv", "Xq9zv", "XQ9ZV"]
    words += ["xq-9z", "Xq-9z", "XQ-9Z", "9-8-7777777"]
    return [*words, "98769876987", "98769.8769", "~", "~~~~~~~", "~-~~~~", "ßßß-ßß", "中文字", "中文字中文字"]


def read_scores(path: str | Path) -> tuple[WordClasses, NDArray[np.float32]]:
    """Return classes and their scores of tags: log-probabilities, 0 for the best tag, NaN if impossible."""
    path = Path(path)
    if not path.is_file():
        raise InputError(f"{path}: no such file; expected the output of tools/WordScores.java")
    rows: list[NDArray[np.float32]] = []
    words: dict[str, int] = {}
    spellings: dict[str, int] = {}
    tags: list[str] = []
    with open_text(path) as lines:
        for number, line in enumerate(lines, start=1):
            kind, *columns = line.rstrip("\n").split("\t")
            try:
                if kind == "tags":
                    tags = columns
                elif kind == "class":
                    row: NDArray[np.float32] = np.full(len(tags), np.nan, np.float32)
                    for column in columns:
                        tag, score = column.split(":")
                        row[int(tag)] = float(score)
                    rows.append(row - np.nanmax(row) if columns else row)
                else:
                    word, known, found = columns
                    if not 0 <= int(found) < len(rows):
                        raise ValueError(f"class {found}, but there are {len(rows)} so far")
                    if known == "1":
                        words[word] = int(found)
                    else:
                        spellings.setdefault(spelling(word), int(found))
            except (ValueError, IndexError) as error:
                raise InputError(
                    f"{path}, line {number}: not the output of tools/WordScores.java ({error})"
                ) from error
    if not words or not spellings:
        raise InputError(f"{path}: no words with scores; expected the output of tools/WordScores.java")
    return WordClasses(words, spellings, spellings.get("lq", next(iter(spellings.values())))), np.stack(rows)


def scores_of(classes: WordClasses, lexicon: Lexicon) -> NDArray[np.float32]:
    """Return the scores of classes in the form of `read_scores`, from the exact parser's lexicon."""
    rows: NDArray[np.float32] = np.full((classes.size, lexicon.tags), np.nan, np.float32)
    missing = np.ones(len(rows), bool)
    for word in itertools.chain(classes.words, invented()):
        number = classes.of(word)
        if missing[number]:
            row = lexicon.scores(word, False)
            rows[number] = np.where(row > -np.inf, row - row.max(), np.nan)
            missing[number] = False
    return rows


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


def learn_exceptions(sentences: Iterable[Sentence]) -> dict[str, str]:
    """Return the most common lemma of each word for which the rules give another one: {"form TAG": lemma}."""
    counts: dict[str, Counter[str]] = {}
    for sentence in sentences:
        for form, tag, lemma in zip(sentence.forms, sentence.tags, sentence.lemmas):
            counts.setdefault(key(form, tag), Counter())[lemma] += 1
    exceptions: dict[str, str] = {}
    for name, lemmas in sorted(counts.items()):
        lemma, _ = min(lemmas.items(), key=lambda item: (-item[1], item[0]))
        form, tag = name.rsplit(" ", 1)
        if lemma != regular(form, tag):
            exceptions[name] = lemma
    return exceptions


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m captious.training.parser.word_scores", description=__doc__.splitlines()[0]
    )
    parser.add_argument("output", type=Path, help="file for the words, the input of tools/WordScores.java")
    parser.add_argument(
        "lists", type=Path, nargs="*", help="files with further words, separated by whitespace"
    )
    options = parser.parse_args(argv)
    words = dict.fromkeys(invented())
    for path in options.lists:
        if not path.is_file():
            raise InputError(f"{path}: no such file; expected a list of words")
        words.update(dict.fromkeys(path.read_text(encoding="utf-8").split()))
    with atomic_write(options.output) as temporary:
        temporary.write_text("\n".join(words) + "\n", encoding="utf-8")


if __name__ == "__main__":
    with one_message():
        main()
