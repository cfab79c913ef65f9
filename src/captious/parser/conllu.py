"""Parses as text: CoNLL-U for programs, drawn trees for terminals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from captious.parser.parsed_sentences import Sentence

_CONTROL = dict.fromkeys((*range(32), *range(127, 160)), "\N{REPLACEMENT CHARACTER}")


def without_controls(text: str) -> str:
    """Replace control characters, which would break lines and columns or control the terminal."""
    return text.translate(_CONTROL)


def _node(number: float) -> str:
    """Return the id of a node. A copy of word 3 is 3.1, CoNLL-U's notation for nodes that are not words."""
    return str(int(number)) if number == int(number) else f"{int(number)}.1"


def conllu(sentence: Sentence, name: str) -> str:
    """Format one sentence as CoNLL-U, with the collapsed graph in the column DEPS."""
    governors: dict[float, list[tuple[float, str]]] = {}
    copies: set[float] = set()
    for governor, dependent, relation in sentence.graph:
        governors.setdefault(dependent, []).append((governor, relation))
        copies.update(node for node in (governor, dependent) if node != int(node))

    def row(node: float, head: str, relation: str) -> str:
        i = int(node) - 1
        form, lemma, tag = sentence.forms[i], sentence.lemmas[i], sentence.tags[i]
        edges = "|".join(f"{_node(g)}:{r}" for g, r in sorted(governors.get(node, ()))) or "_"
        fields = (_node(node), form, lemma, "_", tag, "_", head, relation, edges, "_")
        return "\t".join(without_controls(field) or "_" for field in fields)

    lines = [
        f"# sent_id = {without_controls(name)}",
        f"# text = {without_controls(' '.join(sentence.forms))}",
    ]
    for i, (head, relation) in enumerate(zip(sentence.heads, sentence.relations), start=1):
        lines.append(row(i, str(head), relation))
        if i + 0.5 in copies:
            lines.append(row(i + 0.5, "_", "_"))
    return "\n".join(lines) + "\n"


def draw(sentence: Sentence) -> str:
    """Draw one sentence as a tree of words, tags and relations."""
    children: dict[int, list[int]] = {}
    for dependent, head in enumerate(sentence.heads, start=1):
        children.setdefault(head, []).append(dependent)
    lines = [without_controls(" ".join(sentence.forms))]
    # Stack of (word, indentation, whether it is the last child), the next word on top.
    stack = [(word, "", i == 0) for i, word in enumerate(reversed(children.get(0, [])))]
    while stack:
        word, indent, last = stack.pop()
        form, tag, relation = sentence.forms[word - 1], sentence.tags[word - 1], sentence.relations[word - 1]
        lines.append(f"{indent}{'└' if last else '├'}─ {without_controls(form)}  {tag}  {relation}")
        below = indent + ("   " if last else "│  ")
        stack.extend((child, below, i == 0) for i, child in enumerate(reversed(children.get(word, []))))
    return "\n".join(lines) + "\n"


def render(
    parses: Sequence[Sequence[Sentence]], names: Sequence[str], *, trees: bool = False
) -> Iterator[str]:
    """Yield the text of each sentence of each caption. A sentence is named `caption.number`."""
    for name, sentences in zip(names, parses):
        for number, sentence in enumerate(sentences, start=1):
            yield draw(sentence) if trees else conllu(sentence, f"{name}.{number}")
