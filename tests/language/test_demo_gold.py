"""CoreNLP's own parses of the demo and of ``edge_captions``: graph rules, lemmas, and the shipped parser beside it."""

from __future__ import annotations

import numpy as np
import pytest

from captious import language
from captious.language import Sentence
from captious.language.lemmas import lemma
from captious.language.model import shipped_model
from captious.language.sentences import split, terminators
from tests.gold import load, sentences

#: Captions whose graph the rules get wrong, all of them known: what is missing, and what is too much.
DEVIATIONS = {
    # CoreNLP does not hand the subject of "there 's" to a conjunct.
    "there 's a sign that is n't lit and a man who should n't walk": ([], [(2, 11, "nsubj")]),
    # "together with" far from what it joins, attached to another noun.
    "a man together with a dog outside of a bus": (
        [(10, 3, "advmod"), (10, 4, "case")],
        [(3, 4, "mwe"), (10, 3, "case")],
    ),
    # "but not" has a name of its own.
    "either a dog or a cat but not a bird": ([(3, 10, "conj:negcc")], [(3, 10, "conj:not")]),
    # "depending" heads a clause here.
    "a cat sits depending on a box": (
        [(3, 7, "advcl:on"), (7, 5, "case")],
        [(3, 7, "advcl:depending_on"), (4, 5, "mwe")],
    ),
}


@pytest.fixture(scope="module")
def gold() -> dict[str, list[Sentence]]:
    return sentences()


def test_graphs_from_the_reference_trees(gold: dict[str, list[Sentence]]) -> None:
    wrong = {}
    for caption, parsed in gold.items():
        for s in parsed:
            theirs, ours = set(s.graph), set(language.collapse(s.forms, s.tags, s.heads, s.relations))
            if ours != theirs:
                wrong[caption] = (sorted(theirs - ours), sorted(ours - theirs))
    assert wrong == DEVIATIONS


def test_lemmas_from_the_reference_tags(gold: dict[str, list[Sentence]]) -> None:
    exceptions = shipped_model().exceptions
    pairs = {(f, t): x for parsed in gold.values() for s in parsed for f, t, x in zip(s.forms, s.tags, s.lemmas)}
    wrong = {key: (lemma(*key, exceptions), theirs) for key, theirs in pairs.items() if lemma(*key, exceptions) != theirs}
    assert not wrong


def test_sentences_are_split_as_by_corenlp(gold: dict[str, list[Sentence]]) -> None:
    for caption, parsed in gold.items():
        words = [form for s in parsed for form in s.forms]
        assert list(map(list, split(words, terminators(words)))) == [s.forms for s in parsed], caption


#: Agreement of the shipped parser with CoreNLP in per cent, as measured; the demo, then the captions made to be hard.
LEVELS = {
    "demo": {"tags": 0.0, "lemmas": 0.0, "UAS": 0.0, "LAS": 0.0, "edges": 0.0},
    "edge": {"tags": 0.0, "lemmas": 0.0, "UAS": 0.0, "LAS": 0.0, "edges": 0.0},
}


@pytest.mark.parametrize("part", LEVELS)
def test_the_shipped_parser_agrees_as_measured(part: str, gold: dict[str, list[Sentence]]) -> None:
    edge = {text for image, row in load("spice")["references"].items() if image.startswith("edge") for text in row["captions"]}
    edge |= {row["caption"] for row in load("spice")["systems"]["edge"]}
    theirs = [s for caption, parsed in gold.items() if (caption in edge) == (part == "edge") for s in parsed]
    ours = [parsed[0] for parsed in language.parse_tokens([s.forms for s in theirs])]
    assert [s.forms for s in ours] == [s.forms for s in theirs]
    words = sum(map(len, theirs))

    def share(column: str) -> float:
        return 100 * sum(a == b for s, t in zip(theirs, ours) for a, b in zip(getattr(s, column), getattr(t, column))) / words

    labelled = sum(a == b for s, t in zip(theirs, ours) for a, b in zip(zip(s.heads, s.relations), zip(t.heads, t.relations)))
    common = sum(len(set(s.graph) & set(t.graph)) for s, t in zip(theirs, ours))
    edges = sum(len(set(s.graph)) + len(set(t.graph)) for s, t in zip(theirs, ours))
    found = {"tags": share("tags"), "lemmas": share("lemmas"), "UAS": share("heads"), "LAS": 100 * labelled / words}
    found["edges"] = 200 * common / edges
    # The last digit may move with the machine's arithmetic; a tenth of a per cent may not.
    np.testing.assert_allclose(list(found.values()), list(LEVELS[part].values()), rtol=0, atol=0.1, err_msg=str(found))
