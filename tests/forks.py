"""Children forked while other threads score.

``python -m tests.forks [--rounds 20] [--children 4] [--metrics NAMES]`` starts a fresh Python for every round, so that
some children are forked while threads import modules and load tables for the first time. Each child must score, with
the result of a single thread.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import random
import select
import signal
import subprocess
import sys
import threading
import time
import warnings

from captious.corpus import Corpus
from captious.metrics import registry
from tests.threads import bits, eager_switching, systems

#: Metrics that share data: n-gram tables, METEOR's tables, the parser and scene graphs, vectors, objects.
METRICS = "lexical,METEOR,SPICE,CHAIRi,WMD,Self-CIDEr"
#: Seconds after which a child counts as hung.
PATIENCE = 60.0
_SIZE = 16


def digest(corpus: Corpus, names: list[str]) -> bytes:
    """Digest of all scores, to the last bit."""
    return hashlib.blake2b(repr(sorted(bits(corpus, names).items())).encode(), digest_size=_SIZE).digest()


def fork_child(corpus: Corpus, names: list[str]) -> tuple[int, int]:
    """Fork a child that scores. Return its process id, and a pipe that receives the digest of its scores."""
    reader, writer = os.pipe()
    child = os.fork()
    if child:
        os.close(writer)
        return child, reader
    try:
        os.write(writer, digest(corpus, names))
    finally:
        os._exit(0)


def answer(child: int, reader: int, expected: bytes) -> str:
    """Wait for a child. Return "equal", "different", "failed" or "hung"."""
    ready, _, _ = select.select([reader], [], [], PATIENCE)
    received = os.read(reader, _SIZE) if ready else b""
    if not ready:
        os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    os.close(reader)
    if not ready:
        return "hung"
    return "equal" if received == expected else "different" if received else "failed"


def fork_round(names: list[str], children: int, spread: float, seed: int) -> list[str]:
    """Score eight systems in threads, on fresh references, and fork at random moments meanwhile."""
    generator = random.Random(seed)
    corpora = systems()
    threads = [threading.Thread(target=bits, args=(corpus, names)) for corpus in corpora]
    forked = []
    with eager_switching():
        for thread in threads:
            thread.start()
        for _ in range(children):
            time.sleep(generator.random() * spread)
            number = generator.randrange(len(corpora))
            forked.append((number, *fork_child(corpora[number], names)))
        for thread in threads:
            thread.join()
    expected = [digest(corpus, names) for corpus in systems()]
    return [answer(child, reader, expected[number]) for number, child, reader in forked]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--children", type=int, default=4)
    parser.add_argument("--metrics", default=METRICS)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    names = [str(name) for name in registry.resolve(arguments.metrics)]
    if arguments.rounds == 1:
        warnings.simplefilter("ignore")
        # The first scores of a process take a second or more, mostly for imports and tables.
        print(", ".join(fork_round(names, arguments.children, 0.5, arguments.seed)), flush=True)
        return
    answers: list[str] = []
    for i in range(arguments.rounds):
        command = [
            sys.executable,
            "-m",
            "tests.forks",
            "--rounds",
            "1",
            "--children",
            str(arguments.children),
        ]
        more = ["--metrics", arguments.metrics, "--seed", str(arguments.seed + i)]
        line = subprocess.run([*command, *more], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
        answers += line.split(", ")
        print(f"{i + 1}/{arguments.rounds}: {line}", flush=True)
    print(f"{answers.count('equal')} of {len(answers)} children scored as a single thread does")
    sys.exit(0 if answers.count("equal") == len(answers) else 1)


if __name__ == "__main__":
    main()
