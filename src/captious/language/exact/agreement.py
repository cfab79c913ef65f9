"""How far the conversion agrees with the reference tool, given the tool's own trees.

    java -cp 'lib/*' edu.stanford.nlp.parser.lexparser.LexicalizedParser -retainTmpSubcategories -tokenized -sentences newline \\
        -outputFormat oneline,typedDependencies -outputFormatOptions basicDependencies,includePunctuationDependencies \\
        edu/stanford/nlp/models/lexparser/englishPCFG.ser.gz captions.txt > parsed.out
    python -m captious.language.exact.agreement parsed.out

Counted are sentences with the same heads and relations for all words. Trees alone, real or made up, are converted by the tool
at thousands a second: `edu.stanford.nlp.trees.UniversalEnglishGrammaticalStructure -treeFile trees.txt -basic -keepPunct`.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from captious.errors import InputError, one_message
from captious.language.exact.dependencies import convert
from captious.language.exact.trees import read_tree

_DEPENDENCY = re.compile(r"(\S+?)\(.*-(\d+)'*, .*-(\d+)'*\)")


@dataclass(slots=True)
class ParseAgreement:
    """Sentences in all, those that agree, and for the others what differs (ours, theirs)."""

    sentences: int = 0
    identical: int = 0
    differences: Counter[tuple[str, str]] = field(default_factory=Counter)
    examples: list[str] = field(default_factory=list)


def read_converted(lines: Iterable[str]) -> Iterator[tuple[str, dict[int, tuple[int, str]]]]:
    """Trees with head and relation of each word, from the tool's output; a last sentence that was cut off is left out."""
    tree: str | None = None
    words: dict[int, tuple[int, str]] = {}
    for number, line in enumerate(lines, start=1):
        line = line.rstrip("\n")
        if line.startswith("(ROOT"):
            if tree is not None:
                yield tree, words
            tree, words = line, {}
        elif line:
            edge = _DEPENDENCY.fullmatch(line)
            if tree is None or edge is None:
                raise InputError(
                    f"line {number}: not the parser's output (oneline,typedDependencies): {line[:80]!r}"
                )
            words[int(edge[3])] = (int(edge[2]), edge[1])
    if tree is not None and len(words) == sum(1 for _ in read_tree(tree).leaves()):
        yield tree, words


def compare(converted: Iterable[tuple[str, dict[int, tuple[int, str]]]]) -> ParseAgreement:
    """The agreement of our conversion with the tool's."""
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
        prog="python -m captious.language.exact.agreement", description=__doc__.splitlines()[0]
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
