"""Sentences for the caption grammar to learn from, and their trees by the exact parser.

    python -m captious.training.grammar.label_trees choose coco/references.jsonl.gz systems/*.jsonl.gz … \\
        --test spice_example_system.jsonl.gz expert.jsonl.gz … -o texts.txt --heldout heldout.txt
    python -m captious.training.grammar.label_trees label texts.txt -o trees --grammar MODELS.jar

`choose` reads JSON lines with captions and writes distinct tokenized sentences, as the COCO pipeline passes
them to SPICE. Captions of held-out images (a hash of the image, as for the fast parser), of the files after
`--test` and of the development and test parts of the fast parser are left out, also where they occur
elsewhere. `label` writes parts of 8,000 trees and skips those that are there, so it can be interrupted.
The exact parser needs the user's copy of CoreNLP's models.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from captious.core.errors import InputError, one_message
from captious.core.writing import atomic_write
from captious.parser.exact.exact_parser import ExactParser
from captious.parser.parsed_sentences import split
from captious.text.ptb import tokenize
from captious.training.parser.labels import is_held_out
from captious.training.parser.treebank import open_text, part_of, words_of

PERCENT = 20  # of the images are held out
LONGEST = 32  # words of a sentence, unless told otherwise
RAW_PERCENT = 12  # of the captions are also taken with case and punctuation
PART = 8000  # sentences in a file of trees
SHOWN = 2000  # sentences from which the exact parser learns the frequencies of its states
_IMAGES = ("image_id", "image", "image_path", "image_name", "video", "youtube_id", "id")
_COCO = re.compile(r"(?:(?:COCO|coco)_[a-z0-9]+_)?0*(\d{1,12})(?:\.jpg)?")
_NOT_CAPTIONS = frozenset({*_IMAGES, "split", "method", "caption_id", "SYS", "seg_id", "sample_id", "subset"})


def image_of(row: dict[str, Any]) -> object:
    """Return the image of a row. Names of COCO files become numbers, so that they agree between files."""
    for name in _IMAGES:
        if name in row:
            value = row[name]
            match = _COCO.fullmatch(str(value))
            return int(match[1]) if match else value
    return None


def captions_of(value: Any) -> Iterator[str]:
    """Yield the strings of several words in a row of JSON."""
    if isinstance(value, str):
        if " " in value.strip():
            yield value
    elif isinstance(value, list):
        for item in value:
            yield from captions_of(item)
    elif isinstance(value, dict):
        for name, item in value.items():
            if name not in _NOT_CAPTIONS:
                yield from captions_of(item)


def _rows(path: Path) -> Iterator[tuple[object, list[str]]]:
    if not path.is_file():
        raise InputError(f"{path}: no such file; expected captions as JSON lines (.jsonl or .jsonl.gz)")
    with open_text(path) as lines:
        for number, line in enumerate(lines):
            try:
                row = json.loads(line)
            except ValueError as error:
                raise InputError(f"{path}, line {number + 1}: not JSON ({error})") from error
            image = image_of(row)
            yield (f"{path.name} {number}" if image is None else image), list(captions_of(row))


def sentences_of(text: str, longest: int = LONGEST, *, is_raw: bool = False) -> Iterator[str]:
    """Yield the sentences of a text, tokenized.

    Without `is_raw`, they are in lower case and without punctuation. A short text of several sentences also
    comes as one, as the COCO pipeline passes it to SPICE.
    """
    raw = tokenize(text, keep_punctuation=True, lowercase=False)
    pieces = split(raw)
    if is_raw:
        lines = [list(piece) for piece in pieces]
    else:
        lines = [tokenize(" ".join(piece)) for piece in pieces]
        if len(pieces) != 1:
            lines.append(tokenize(text))
    for line in lines:
        if 0 < len(line) <= longest and all(len(word.split()) == 1 for word in line):
            yield " ".join(line)


def choose(paths: Iterable[Path], tests: Iterable[Path], longest: int) -> tuple[list[str], list[str]]:
    """Return the sentences to learn from, in random order, and those that were left out."""
    left_out: dict[str, None] = {}
    rows: list[str] = []
    for path in tests:
        for _, captions in _rows(path):
            left_out |= dict.fromkeys(s for text in captions for s in sentences_of(text, longest))
    photos = {str(image).split("_")[0] for path in tests for image, _ in _rows(path) if "_" in str(image)}
    for path in paths:
        for image, captions in _rows(path):
            photo = str(image).removesuffix(".jpg").split("_")[0]
            if is_held_out(image, PERCENT) or photo in photos:
                left_out |= dict.fromkeys(s for text in captions for s in sentences_of(text, longest))
            else:
                rows += captions
    barred = {words_of(text) for text in left_out}
    rng = random.Random(1)
    chosen: dict[str, None] = {}
    for text in dict.fromkeys(rows):
        for is_raw in (False, True):
            if is_raw and rng.randrange(100) >= RAW_PERCENT:
                continue
            for sentence in sentences_of(text, longest, is_raw=is_raw):
                words = words_of(sentence)
                if words not in barred and part_of(words) == "train":
                    chosen[sentence] = None
    texts = list(chosen)
    rng.shuffle(texts)
    return texts, list(left_out)


_worker: ExactParser


def _start(grammar: str | None, shown: list[str]) -> None:
    global _worker
    _worker = ExactParser(grammar)
    if shown:
        _worker.narrow([text.split(" ") for text in shown])


def _label(job: tuple[list[str], Path]) -> int:
    """Write the trees of sentences. Those that have none within the beam are left out."""
    texts, path = job
    sentences = [text.split(" ") for text in texts]
    count = 0
    with (
        atomic_write(path) as temporary,
        gzip.open(temporary, "wt", encoding="utf-8", compresslevel=4) as out,
    ):
        for tokens, (tree, score) in zip(sentences, _worker.scored_trees(sentences, jobs=1)):
            if tree.label == "ROOT":
                row = {"tokens": tokens, "tree": str(tree), "score": round(score, 4)}
                out.write(json.dumps(row, ensure_ascii=False) + "\n")
                count += 1
    return count


def label(texts: Sequence[str], folder: Path, grammar: str | None, jobs: int, *, is_exact: bool) -> None:
    """Write the trees of sentences to a folder, in parts."""
    folder.mkdir(parents=True, exist_ok=True)
    shown = [] if is_exact else random.Random(1).sample(texts, min(SHOWN, len(texts)))
    work = [
        (list(texts[start : start + PART]), folder / f"trees-{start // PART:04}.jsonl.gz")
        for start in range(0, len(texts), PART)
    ]
    work = [job for job in work if not job[1].is_file()]
    done = 0
    with ProcessPoolExecutor(jobs, initializer=_start, initargs=(grammar, shown)) as pool:
        for count, (part, _) in zip(pool.map(_label, work), work):
            done += len(part)
            print(f"{done} of {sum(len(p) for p, _ in work)}: {count} trees", file=sys.stderr, flush=True)


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m captious.training.grammar.label_trees", description=(__doc__ or "").splitlines()[0]
    )
    commands = parser.add_subparsers(dest="command", required=True)
    make = commands.add_parser("choose", help="write sentences to label")
    make.add_argument("captions", nargs="+", type=Path, help="captions as JSON lines")
    make.add_argument("--test", nargs="+", type=Path, default=[], help="captions to leave out entirely")
    make.add_argument("--longest", type=int, default=LONGEST, help="longest sentences, in words")
    make.add_argument("-o", "--output", required=True, type=Path)
    make.add_argument("--heldout", type=Path, help="file for the sentences that were left out")
    parse = commands.add_parser("label", help="write trees of sentences")
    parse.add_argument("texts", nargs="+", type=Path, help="tokenized sentences, one per line")
    parse.add_argument("-o", "--output", required=True, type=Path, help="folder for the trees")
    parse.add_argument("--grammar", help="CoreNLP's models (jar), or an englishPCFG.ser.gz")
    parse.add_argument("--exact", action="store_true", help="search without a beam (slower)")
    parse.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args(argv)
    if options.command == "choose":
        texts, left_out = choose(options.captions, options.test, options.longest)
        for path, lines in ((options.output, texts), (options.heldout, left_out)):
            if path is not None:
                with atomic_write(path) as temporary:
                    temporary.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    else:
        texts = list(
            dict.fromkeys(line for path in options.texts for line in path.read_text("utf-8").splitlines())
        )
        label(texts, options.output, options.grammar, options.jobs, is_exact=options.exact)


if __name__ == "__main__":
    with one_message():
        main()
