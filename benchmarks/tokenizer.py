"""The tokenizer beside the Java tokenizer of the COCO tools, on the captions of the gold set or random ones.

    pip install -e '.[benchmark]'      (and a Java runtime)
    python -m benchmarks.tokenizer [--captions N]

Ours runs from Python strings to words in one process: first call, and best of three. The Java side runs as in
the COCO tools: it writes a file, starts Java and reads the lines. Both sides run in turn.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
from pathlib import Path

from benchmarks.captions import data_folder, random_captions, read_jsonl
from benchmarks.timing import timed

ROUNDS = 3


def captions() -> list[str]:
    folder = data_folder()
    if folder is not None:
        return [row["raw"] for row in read_jsonl(folder / "gold" / "tokens_captions.jsonl.gz")]
    references, _ = random_captions(28_000)
    return [caption for texts in references.values() for caption in texts]


def java_lines(texts: list[str]) -> list[str]:
    """Return the tokenized lines of the reference."""
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

    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("--captions", type=int, help="number of captions (default: all)")
    texts = captions()[: arguments.parse_args().captions]
    ours: list[float] = []
    theirs: list[float] = []
    for _ in range(ROUNDS):
        (words, _), seconds = timed(lambda: ptb.tokenize_flat(texts))
        ours.append(seconds.wall)
        lines, seconds = timed(lambda: java_lines(texts))
        theirs.append(seconds.wall)
    tokens, seconds = timed(lambda: ptb.tokenize_batch(texts, keep_punctuation=True))
    equal = sum(" ".join(row) == line.rstrip() for row, line in zip(tokens, lines))
    java = min(theirs)
    print(f"{len(texts):,} captions, {len(words):,} words")
    print(f"Java, start-up included       {java:7.2f} s (best of {ROUNDS})")
    print(f"captious, first call          {ours[0]:7.2f} s   {java / ours[0]:6.1f} x")
    print(f"captious, best of {ROUNDS}           {min(ours):7.2f} s   {java / min(ours):6.1f} x")
    print(f"captious, keeping punctuation {seconds.wall:7.2f} s   {java / seconds.wall:6.1f} x")
    print(f"equal lines {equal:,} of {len(texts):,}")


if __name__ == "__main__":
    main()
