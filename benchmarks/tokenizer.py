"""The tokenizer beside the Java one of the COCO tools, on the captions of the gold set (or made-up ones).

    pip install -e '.[benchmark]'      (and a Java runtime)
    python -m benchmarks.tokenizer

Ours runs from Python strings to words in one process, first call and best of three. The Java side is timed as the COCO
tools use it: write a file, start Java, read the lines; its start-up is included. Both sides run in turns.
"""

from __future__ import annotations

import subprocess
import tempfile
import time
from pathlib import Path

from benchmarks.common import data_folder, made_up, read_jsonl

ROUNDS = 3


def captions() -> list[str]:
    folder = data_folder()
    if folder is not None:
        return [row["raw"] for row in read_jsonl(folder / "gold" / "tokens_captions.jsonl.gz")]
    references, _ = made_up(28_000)
    return [caption for several in references.values() for caption in several]


def java(texts: list[str]) -> list[str]:
    """The lines that the reference prints."""
    import pycocoevalcap.tokenizer.ptbtokenizer as theirs

    jar = Path(theirs.__file__).with_name(theirs.STANFORD_CORENLP_3_4_1_JAR)
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", suffix=".txt") as file:
        file.write("\n".join(text.replace("\n", " ") for text in texts))
        file.flush()
        command = ["java", "-Dfile.encoding=UTF-8", "-cp", str(jar), "edu.stanford.nlp.process.PTBTokenizer"]
        command += ["-preserveLines", "-lowerCase", file.name]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
    return done.stdout.decode("utf-8").split("\n")[: len(texts)]


def main() -> None:
    from captious.text import ptb

    texts = captions()
    ours: list[float] = []
    theirs: list[float] = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        words, _ = ptb.tokenize_flat(texts)
        ours.append(time.perf_counter() - start)
        start = time.perf_counter()
        lines = java(texts)
        theirs.append(time.perf_counter() - start)
    start = time.perf_counter()
    kept = ptb.tokenize_batch(texts, keep_punctuation=True)
    with_punctuation = time.perf_counter() - start
    equal = sum(" ".join(tokens) == line.rstrip() for tokens, line in zip(kept, lines))
    print(f"{len(texts):,} captions, {len(words):,} words")
    print(f"Java, start-up included       {min(theirs):7.2f} s (best of {ROUNDS})")
    print(f"captious, first call          {ours[0]:7.2f} s   {min(theirs) / ours[0]:6.1f} x")
    print(f"captious, best of {ROUNDS}           {min(ours):7.2f} s   {min(theirs) / min(ours):6.1f} x")
    print(
        f"captious, keeping punctuation {with_punctuation:7.2f} s   {min(theirs) / with_punctuation:6.1f} x"
    )
    print(f"equal lines {equal:,} of {len(texts):,}")


if __name__ == "__main__":
    main()
