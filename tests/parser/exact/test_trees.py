"""Reading trees in brackets."""

from __future__ import annotations

import pytest

from captious.core.errors import InputError
from captious.parser.exact.phrase_trees import read_tree

TREE = "(ROOT (NP (NP (DT a) (NN kite)) (PP (IN over) (NP (NNS roofs)))))"


def test_a_tree_is_written_as_it_was_read() -> None:
    assert str(read_tree(TREE)) == TREE
    assert str(read_tree(TREE.replace(" (", "\n   ("))) == TREE


def test_the_words_come_in_their_order() -> None:
    assert [(leaf.label, leaf.word) for leaf in read_tree(TREE).leaves()] == [
        ("DT", "a"),
        ("NN", "kite"),
        ("IN", "over"),
        ("NNS", "roofs"),
    ]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", "no tree"),
        ("kite", "outside the brackets"),
        ("(ROOT (NN kite)", "not closed"),
        ("(ROOT (NN kite)))", "outside the brackets"),
        ("(ROOT (NN kite)) (ROOT (NN kite))", "a second tree"),
        ("(ROOT (NP))", "an empty NP"),
        ("(ROOT ((NN kite)))", "without a label"),
        ("(ROOT (NN red kite))", "without a tag"),
        ("(ROOT (NP kite))", "without a tag"),
        ("(ROOT (NP (NN kite) over))", "without a tag"),
        ("(ROOT (NN kite (NN roof)))", "beside a phrase"),
    ],
)
def test_what_is_no_tree_is_named(text: str, found: str) -> None:
    with pytest.raises(InputError, match=found):
        read_tree(text)
