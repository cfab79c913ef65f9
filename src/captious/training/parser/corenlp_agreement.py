"""Agreement of the conversion to dependencies with CoreNLP's own, on CoreNLP's trees.

    java -cp 'lib/*' edu.stanford.nlp.parser.lexparser.LexicalizedParser -retainTmpSubcategories -tokenized
    -sentences newline \\
        -outputFormat oneline,typedDependencies -outputFormatOptions
        basicDependencies,includePunctuationDependencies \\
        edu/stanford/nlp/models/lexparser/englishPCFG.ser.gz captions.txt > parsed.out
    python -m captious.training.parser.corenlp_agreement parsed.out

A sentence agrees if all words have the same heads and relations. CoreNLP converts trees alone, also invented
ones, at thousands per second: `edu.stanford.nlp.trees.UniversalEnglishGrammaticalStructure -treeFile
trees.txt -basic -keepPunct`.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from captious.core.errors import InputError, one_message
from captious.parser.exact.phrase_trees import read_tree
from captious.parser.exact.typed_dependencies import convert

DEPENDENCY = re.compile(r"(\S+?)\(.*-(\d+)'*, .*-(\d+)'*\)")


@dataclass(slots=True)
class ParseAgreement:
    """Number of sentences, of identical ones, and the differing relations of the others (ours, theirs)."""

    sentences: int = 0
    identical: int = 0
    differences: Counter[tuple[str, str]] = field(default_factory=Counter)
    examples: list[str] = field(default_factory=list)


def read_converted(lines: Iterable[str]) -> Iterator[tuple[str, dict[int, tuple[int, str]]]]:
    """Yield trees with head and relation of each word from the tool's output, except a truncated last."""
    tree: str | None = None
    words: dict[int, tuple[int, str]] = {}
    for number, line in enumerate(lines, start=1):
        line = line.rstrip("\n")
        if line.startswith("(ROOT"):
            if tree is not None:
                yield tree, words
            tree, words = line, {}
        elif line:
            edge = DEPENDENCY.fullmatch(line)
            if tree is None or edge is None:
                raise InputError(
                    f"line {number}: not the parser's output (oneline,typedDependencies): {line[:80]!r}"
                )
            words[int(edge[3])] = (int(edge[2]), edge[1])
    if tree is not None and len(words) == sum(1 for _ in read_tree(tree).leaves()):
        yield tree, words


def compare(converted: Iterable[tuple[str, dict[int, tuple[int, str]]]]) -> ParseAgreement:
    """Compare our conversion with the tool's."""
    result = ParseAgreement()
    for text, theirs in converted:
        ours = dict(enumerate(zip(*convert(read_tree(text)), strict=True), start=1))
        result.sentences += 1
        if ours == theirs:
            result.identical += 1
            continue
        result.examples.append(text)
        for word, (head, name) in ours.items():
            other, other_name = theirs.get(word, (-1, "nothing"))
            if (head, name) != (other, other_name):
                result.differences["another head" if head != other else name, other_name] += 1
    return result


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m captious.training.parser.corenlp_agreement", description=__doc__.splitlines()[0]
    )
    parser.add_argument(
        "parsed", type=Path, nargs="+", help="output of LexicalizedParser (oneline,typedDependencies)"
    )
    options = parser.parse_args(argv)
    for path in options.parsed:
        if not path.is_file():
            raise InputError(f"{path}: no such file; expected the output of CoreNLP's LexicalizedParser")
        with path.open(encoding="utf-8") as lines:
            result = compare(read_converted(lines))
        share = result.identical / max(result.sentences, 1)
        print(f"{path}: {result.identical} of {result.sentences} sentences are identical ({share:.2%})")
        for (ours, theirs), count in result.differences.most_common():
            print(f"  {count:5d}  {ours} where the tool has {theirs}")


if __name__ == "__main__":
    with one_message():
        main()
