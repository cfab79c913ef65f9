"""Graph rules, lemmas and the shipped parser against CoreNLP's parses of the demo and ``edge_captions``."""

from __future__ import annotations

import pytest

from captious import parser as language
from captious.parser import Edge, Sentence
from captious.parser.network_model import shipped_model
from captious.parser.parsed_sentences import lemma, split, terminators
from tests.gold import load, sentences

_APART = ([(6, 3, "advmod"), (6, 4, "case")], [(3, 4, "mwe"), (6, 3, "case")])
#: All captions whose graph the rules get wrong: missing arcs, and extra arcs.
DEVIATIONS: dict[str, tuple[list[Edge], list[Edge]]] = {
    # CoreNLP does not copy the subject of "there 's" to a conjunct.
    "there 's a sign that is n't lit and a man who should n't walk": ([], [(2, 11, "nsubj")]),
    # "but not" has a name of its own.
    "either a dog or a cat but not a bird": ([(3, 10, "conj:negcc")], [(3, 10, "conj:not")]),
    # CoreNLP leaves some prepositions of two words apart where their noun is the root or a clause.
    "a man together with a dog outside of a bus": (
        [(10, 3, "advmod"), (10, 4, "case")],
        [(3, 4, "mwe"), (10, 3, "case")],
    ),
    "prior to the box there is a cat": (
        [(4, 1, "advmod"), (4, 2, "case"), (6, 4, "advcl:to")],
        [(1, 2, "mwe"), (4, 1, "case"), (6, 4, "advcl:prior_to")],
    ),
    **{
        f"two cats {words} a box and a dog": _APART
        for words in (
            "apart from",
            "as from",
            "aside from",
            "close by",
            "far from",
            "regardless of",
            "together with",
            "as for",
            "as of",
            "as per",
            "inside of",
            "irrespective of",
            "off of",
        )
    },
}

#: Lemmas that differ, given CoreNLP's tag: (form, tag) → ours, CoreNLP's.
LEMMAS = {
    ("'d", "MD"): ("'d", "would"),
    ("'ve", "VBP"): ("'ve", "have"),
    ("quoted", "VBN"): ("quot", "quote"),
    ("-rrb-", "VBG"): ("-rrb-", "-rrb-_VBG"),
    ("yours", "VBZ"): ("your", "yours"),
    ("wolves", "NNS"): ("wolve", "wolf"),
    ("means", "NNS"): ("mean", "means"),
    ("owing", "VBG"): ("ow", "owe"),
    ("octopus", "VBZ"): ("octopu", "octopus"),
    ("grandchildren", "NNS"): ("grandchildren", "grandchild"),
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
    pairs = {
        (f, t): x for parsed in gold.values() for s in parsed for f, t, x in zip(s.forms, s.tags, s.lemmas)
    }
    wrong = {
        key: (lemma(*key, exceptions), theirs)
        for key, theirs in pairs.items()
        if lemma(*key, exceptions) != theirs
    }
    assert len(pairs) > 2000
    assert wrong == LEMMAS


def test_sentences_are_split_as_by_corenlp(gold: dict[str, list[Sentence]]) -> None:
    for caption, parsed in gold.items():
        words = [form for s in parsed for form in s.forms]
        assert list(map(list, split(words, terminators(words)))) == [s.forms for s in parsed], caption


#: Agreement of the shipped parser with CoreNLP in per cent, as measured; the demo, then the captions made to
#: be hard.
LEVELS = {
    "demo": {"tags": 99.02, "lemmas": 99.66, "UAS": 96.41, "LAS": 95.81, "edges": 95.59},
    "edge": {"tags": 97.99, "lemmas": 99.63, "UAS": 93.76, "LAS": 92.54, "edges": 91.46},
}


@pytest.mark.parametrize("part", LEVELS)
def test_the_shipped_parser_agrees_as_measured(part: str, gold: dict[str, list[Sentence]]) -> None:
    edge = {
        text
        for image, row in load("spice")["references"].items()
        if image.startswith("edge")
        for text in row["captions"]
    }
    edge |= {row["caption"] for row in load("spice")["systems"]["edge"]}
    theirs = [s for caption, parsed in gold.items() if (caption in edge) == (part == "edge") for s in parsed]
    ours = [parsed[0] for parsed in language.parse_tokens([s.forms for s in theirs])]
    assert [s.forms for s in ours] == [s.forms for s in theirs]
    words = sum(map(len, theirs))

    def share(column: str) -> float:
        return (
            100
            * sum(
                a == b for s, t in zip(theirs, ours) for a, b in zip(getattr(s, column), getattr(t, column))
            )
            / words
        )

    labelled = sum(
        a == b
        for s, t in zip(theirs, ours)
        for a, b in zip(zip(s.heads, s.relations), zip(t.heads, t.relations))
    )
    common = sum(len(set(s.graph) & set(t.graph)) for s, t in zip(theirs, ours))
    edges = sum(len(set(s.graph)) + len(set(t.graph)) for s, t in zip(theirs, ours))
    found = {
        "tags": share("tags"),
        "lemmas": share("lemmas"),
        "UAS": share("heads"),
        "LAS": 100 * labelled / words,
    }
    found["edges"] = 200 * common / edges
    # The last digit may move with the machine's arithmetic; a tenth of a per cent may not.
    assert all(found[name] > level - 0.1 for name, level in LEVELS[part].items()), found
