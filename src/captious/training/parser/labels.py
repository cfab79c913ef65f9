"""Additional training captions: selection, labelling by the reference parser, conversion to a training file.

    python -m captious.training.parser.labels hold-out --captions coco/references.jsonl.gz
    coco/systems/*.jsonl.gz --percent 20 --output held.txt python -m captious.training.parser.labels choose
    --parses captions.jsonl.gz --captions flickr30k.json nocaps.json --exclude held.txt --output more.txt
    python -m captious.training.parser.labels label --texts more.txt --output more.jsonl

`label` uses the exact parser, which needs CoreNLP's grammar. CoreNLP itself does the same, but takes much
longer:

    java -cp 'lib/*' edu.stanford.nlp.parser.lexparser.LexicalizedParser -tokenized -sentences newline \\
        -outputFormat wordsAndTags,typedDependencies -outputFormatOptions
        basicDependencies,includePunctuationDependencies \\
        edu/stanford/nlp/models/lexparser/englishPCFG.ser.gz more.txt > more.out
    python -m captious.training.parser.labels convert --parsed more.out --output more.jsonl

`choose` selects captions that are not parsed yet and do not belong to the development or test part, in the
form that the COCO pipeline passes to SPICE: PTB tokens in lower case, without punctuation (with `--raw`, as
they are written). Alternatively, `recombine` composes new captions from parts of parsed ones. `hold-out`
lists all captions of some images, selected by a hash of the image, so that scores can be measured on images
that were not used in training.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import json
import math
import random
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from captious.core.errors import InputError, one_message
from captious.core.writing import atomic_write
from captious.io import read
from captious.parser.exact.exact_parser import ExactParser
from captious.parser.parsed_sentences import Sentence, split
from captious.text.ptb import tokenize
from captious.training.parser.corenlp_agreement import DEPENDENCY
from captious.training.parser.treebank import part_of, read_parses, words_of

LONGEST = 32  # words, since the reference parser takes cubic time
LONGEST_PHRASE = 8
SHOWN = 2000  # captions from which the exact parser learns the frequencies of its states
AT_ONCE = 8000  # captions parsed at a time
PATIENCE = 1000  # successive attempts without a new caption


def choose(captions: Sequence[str], parsed: Iterable[str], raw: bool = False) -> Iterator[str]:
    """Yield distinct sentences to label, in order; with `raw`, they keep case and punctuation."""
    done = set(parsed)
    for text in captions:
        tokens = tokenize(text, keep_punctuation=raw, lowercase=not raw)
        for sentence in split(tokens) if raw else [tokens]:
            line = " ".join(sentence)
            # Captions of the development and test parts must not be trained on.
            if (
                0 < len(sentence) <= LONGEST
                and line not in done
                and part_of(line) == part_of(text) == "train"
            ):
                done.add(line)
                yield line


def held_out_images(paths: Sequence[Path], percent: int) -> Iterator[str]:
    """Yield the captions of `percent` per cent of the images, tokenized as for SPICE."""
    for path in paths:
        corpus = read(path, "references")
        for image, captions in zip(corpus.ids, corpus.captions):
            if is_held_out(image, percent):
                for caption in captions:
                    yield " ".join(tokenize(caption))


def is_held_out(image: object, percent: int) -> bool:
    return int.from_bytes(hashlib.sha1(f"image {image}".encode()).digest()[:4], "big") % 100 < percent


def label(texts: Sequence[str], parser: ExactParser, jobs: int = 1) -> Iterator[dict[str, Any]]:
    """Yield rows for `treebank.read_parses`, from the exact parser with a beam."""
    parser.narrow([text.split(" ") for text in random.Random(1).sample(texts, min(SHOWN, len(texts)))])
    for start in range(0, len(texts), AT_ONCE):
        part = [text.split(" ") for text in texts[start : start + AT_ONCE]]
        for s in parser.sentences([forms for forms in part if len(forms) <= LONGEST], jobs=jobs):
            if "XX" in s.tags:  # no analysis within the beam
                continue
            arcs = [
                [head, i, relation] for i, (head, relation) in enumerate(zip(s.heads, s.relations), start=1)
            ]
            yield {
                "text": " ".join(s.forms),
                "source": "more",
                "sentences": [{"form": s.forms, "tag": s.tags, "basic": arcs}],
            }


def phrases(sentence: Sentence) -> Iterator[tuple[tuple[str, ...], int, int]]:
    """Yield (kind, start, end) of short subtrees. Phrases of one kind are interchangeable."""
    heads = sentence.heads
    first, last = list(range(len(heads))), list(range(len(heads)))
    for i in range(len(heads)):
        above, steps = heads[i], 0
        while above and steps < len(heads):
            first[above - 1], last[above - 1] = min(first[above - 1], i), max(last[above - 1], i)
            above, steps = heads[above - 1], steps + 1
    for i in range(len(heads)):
        if heads[i] and last[i] - first[i] < LONGEST_PHRASE:
            yield (sentence.relations[i], sentence.tags[i], sentence.tags[first[i]]), first[i], last[i] + 1


def recombine(sentences: Sequence[Sentence]) -> Iterator[str]:
    """Yield new captions: existing ones with one to three phrases of others, until few new ones result."""
    rng = random.Random(13)
    store: dict[tuple[str, ...], list[tuple[str, ...]]] = {}
    for s in sentences:
        for kind, start, end in phrases(s):
            store.setdefault(kind, []).append(tuple(s.forms[start:end]))
    seen = {" ".join(s.forms) for s in sentences}
    failures = 0
    while sentences and failures < PATIENCE:
        base = rng.choice(sentences)
        places = list(phrases(base))
        words, rest = list(base.forms), len(base.forms)
        # From the end, so that other positions stay valid. Of overlapping phrases only the last is exchanged.
        for kind, start, end in sorted(
            rng.sample(places, min(len(places), rng.randint(1, 3))), key=lambda place: -place[1]
        ):
            if end <= rest:
                words[start:end] = rng.choice(store[kind])
                rest = start
        text = " ".join(words)
        failures += 1
        if len(words) <= LONGEST and text not in seen and part_of(text) == "train":
            failures = 0
            seen.add(text)
            yield text


_NO_PARSE = "(())"


def convert(path: Path) -> Iterator[dict[str, Any]]:
    """Yield rows for `treebank.read_parses` from the output of CoreNLP's LexicalizedParser.

    Sentences without a complete tree are skipped: captions that it could not parse, and a truncated last one.
    """
    if not path.is_file():
        raise InputError(f"{path}: no such file; expected the output of CoreNLP's LexicalizedParser")
    with path.open(encoding="utf-8") as lines:
        row: dict[str, Any] | None = None
        for number, line in enumerate(lines, start=1):
            line = line.rstrip("\n")
            edge = DEPENDENCY.fullmatch(line)
            if not line or line == _NO_PARSE:
                continue
            if edge and row is not None:
                row["sentences"][0]["basic"].append([int(edge[2]), int(edge[3]), edge[1]])
                continue
            if row is not None and _whole(row):
                yield row
            pairs = [token.rsplit("/", 1) for token in line.split(" ")]
            if any(len(pair) != 2 for pair in pairs):
                raise InputError(
                    f"{path}, line {number}: not the parser's output (wordsAndTags,typedDependencies): "
                    f"{line[:80]!r}"
                )
            forms = [form for form, _ in pairs]
            sentence: dict[str, Any] = {"form": forms, "tag": [tag for _, tag in pairs], "basic": []}
            row = {"text": " ".join(forms), "source": "more", "sentences": [sentence]}
        if row is not None and _whole(row):
            yield row


def _lines(path: Path) -> list[str]:
    if not path.is_file():
        raise InputError(f"{path}: no such file; expected captions, one per line")
    return path.read_text(encoding="utf-8").splitlines()


def read_excluded(path: Path | None) -> set[str]:
    """Return the words of captions that must not be trained on, from a file with one caption per line."""
    return set() if path is None else {words_of(line) for line in _lines(path)}


def _whole(row: dict[str, Any]) -> bool:
    [sentence] = row["sentences"]
    return sorted(dependent for _, dependent, _ in sentence["basic"]) == list(
        range(1, len(sentence["form"]) + 1)
    )


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m captious.training.parser.labels", description=__doc__.splitlines()[0]
    )
    commands = parser.add_subparsers(dest="command", required=True)
    make = commands.add_parser("choose", help="write captions to label")
    make.add_argument(
        "--parses", required=True, type=Path, help="captions that the reference parser has parsed"
    )
    make.add_argument(
        "--captions",
        required=True,
        type=Path,
        nargs="+",
        help="caption files of any kind that captious reads",
    )
    make.add_argument("--raw", action="store_true", help="keep case and punctuation")
    make.add_argument("--output", required=True, type=Path)
    mix = commands.add_parser("recombine", help="write new captions composed of parts of parsed ones")
    mix.add_argument("--parses", required=True, type=Path, nargs="+")
    mix.add_argument("--source", default="", help="use only parses of this source")
    mix.add_argument("--count", type=int, default=100_000)
    mix.add_argument("--output", required=True, type=Path)
    back = commands.add_parser("convert", help="convert labels of CoreNLP to a training file")
    back.add_argument("--parsed", required=True, type=Path, nargs="+")
    back.add_argument("--output", required=True, type=Path)
    away = commands.add_parser("hold-out", help="write the captions of some images, to exclude from training")
    away.add_argument(
        "--captions",
        required=True,
        type=Path,
        nargs="+",
        help="caption files of any kind that captious reads",
    )
    away.add_argument(
        "--percent", type=int, default=20, help="share of images, selected by a hash of their names"
    )
    away.add_argument("--output", required=True, type=Path)
    exact = commands.add_parser("label", help="label captions with the exact parser")
    exact.add_argument(
        "--texts",
        required=True,
        type=Path,
        nargs="+",
        help="captions to label, one per line; all files are shuffled together",
    )
    exact.add_argument("--grammar", type=Path, help="CoreNLP's models, or the grammar in them")
    exact.add_argument("--minutes", type=float, default=math.inf, help="stop after this time")
    exact.add_argument("--jobs", "-j", type=int, default=1)
    exact.add_argument("--output", required=True, type=Path)
    for chooser in (make, mix):
        chooser.add_argument("--exclude", type=Path, help="captions to leave out, one per line")
    options = parser.parse_args(argv)
    excluded = read_excluded(getattr(options, "exclude", None))
    with atomic_write(options.output) as temporary, temporary.open("w", encoding="utf-8") as out:
        if options.command == "hold-out":
            for text in sorted(set(held_out_images(options.captions, options.percent))):
                out.write(text + "\n")
        elif options.command == "choose":
            texts = [
                text
                for path in options.captions
                for group in read(path, "references").captions
                for text in group
            ]
            for text in choose(texts, (c.text for c in read_parses(options.parses)), options.raw):
                if words_of(text) not in excluded:
                    out.write(text + "\n")
        elif options.command == "recombine":
            parsed_sentences = [
                s
                for path in options.parses
                for c in read_parses(path)
                if c.part == "train" and options.source in ("", c.source) and words_of(c.text) not in excluded
                for s in c.sentences
                if s.forms
            ]
            fresh = (text for text in recombine(parsed_sentences) if words_of(text) not in excluded)
            for text in itertools.islice(fresh, options.count):
                out.write(text + "\n")
        elif options.command == "label":
            lines = list(dict.fromkeys(line for path in options.texts for line in _lines(path)))
            random.Random(1).shuffle(lines)
            started = time.monotonic()
            for row in label(lines, ExactParser(options.grammar), options.jobs):
                out.write(json.dumps(row, ensure_ascii=False) + "\n")
                if time.monotonic() - started > 60 * options.minutes:
                    break
        else:
            for path in options.parsed:
                for row in convert(path):
                    out.write(json.dumps(row, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    with one_message():
        main()
