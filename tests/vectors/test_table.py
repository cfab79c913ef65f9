from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from captious.core.errors import InputError
from captious.text.stopwords import ENGLISH, NLTK
from captious.vectors import get
from captious.vectors.vector_table import MappedWords, PlainRows, QuantisedRows, WordList, WordVectors

SMALL = {"dog": [1.0, 0.0], "puppy": [0.9, 0.1], "cat": [0.6, 0.8], "car": [-1.0, 0.1]}


def test_mapping_gives_vectors_and_says_what_is_unknown() -> None:
    vectors = get(SMALL)
    rows, found = vectors.lookup(["cat", "zebra", "dog"])
    assert rows.dtype == np.float32
    assert found.tolist() == [True, False, True]
    np.testing.assert_allclose(rows, [[0.6, 0.8], [0, 0], [1, 0]], atol=1e-7)
    assert len(vectors) == 4
    assert "dog" in vectors and "Dog" not in vectors
    assert vectors.label == "4x2"
    assert get(dict(reversed(SMALL.items()))).digest == vectors.digest
    others = [
        {**SMALL, "cat": [0.6, 0.81]},
        {**SMALL, "bus": [1.0, 1.0]},
        {w: r for w, r in SMALL.items() if w != "car"},
    ]
    others.append({("hat" if w == "cat" else w): r for w, r in SMALL.items()})
    assert len({vectors.digest, *(get(other).digest for other in others)}) == 5


def test_nearest_are_ordered_by_cosine_without_the_word_itself() -> None:
    near = get(SMALL).nearest("dog", 2)
    assert [word for word, _ in near] == ["puppy", "cat"]
    assert near[0][1] == pytest.approx(0.9 / np.hypot(0.9, 0.1), abs=1e-6)
    assert get(SMALL).nearest("zebra", 2) == []
    assert len(get(SMALL).nearest("dog", 100)) == 3


def test_searching_in_portions_gives_the_same_neighbours(monkeypatch: pytest.MonkeyPatch) -> None:
    import captious.vectors.vector_table as table

    whole = get(SMALL).nearest("dog", 3)
    monkeypatch.setattr(table, "_MAX_CACHED", 0)
    monkeypatch.setattr(table, "_CHUNK", 2)
    in_portions = get(SMALL).nearest("dog", 3)
    assert [word for word, _ in in_portions] == [word for word, _ in whole]
    assert [cosine for _, cosine in in_portions] == pytest.approx([cosine for _, cosine in whole])


@pytest.mark.parametrize(
    ("vectors", "message"),
    [
        ({}, "no word vectors"),
        ({"a": [1.0], "b": [1.0, 2.0]}, "'b' is not 1 numbers"),
        ({"a": [1.0], "b": [float("nan")]}, "'b' has values"),
        ({"a": [1.0], "b": ["x"]}, "'b' is not 1 numbers"),
    ],
)
def test_a_bad_mapping_is_refused(vectors: dict[str, list[float]], message: str) -> None:
    with pytest.raises(InputError, match=message):
        get(vectors)


def test_an_unknown_name_is_refused_with_a_hint() -> None:
    with pytest.raises(InputError, match="did you mean 'glove-6b-50d'"):
        get("glove-6b-50")


def test_compounds_are_the_mean_of_their_parts_only_where_asked_for() -> None:
    rows = PlainRows(np.array([[1.0, 0.0], [0.0, 1.0]], np.float32))
    plain = WordVectors("x", WordList(["red", "haired"]), rows)
    joined = WordVectors("x", WordList(["red", "haired"]), rows, compounds=True)
    words = ["red-haired", "Red", "red-green", "-", ""]
    assert plain.lookup(words)[1].tolist() == [False] * 5
    vectors, found = joined.lookup(words)
    assert found.tolist() == [True, True, False, False, False]
    np.testing.assert_allclose(vectors[0], [0.5, 0.5])


def test_quantised_rows_are_scaled_codes() -> None:
    rows = QuantisedRows(np.array([[2, -4], [1, 0]], np.int8), np.array([0.5, 2.0], np.float32))
    np.testing.assert_array_equal(rows.take(np.array([1, 0])), [[2, 0], [1, -2]])


@given(st.lists(st.text(max_size=6), max_size=30), st.lists(st.text(max_size=6), max_size=10))
def test_mapped_words_find_what_a_dictionary_finds(words: list[str], others: list[str]) -> None:
    arrays = MappedWords.arrays([word.encode() for word in words])
    mapped = MappedWords(arrays["text"], arrays["offsets"], arrays["hashes"], arrays["order"])  # type: ignore[arg-type]
    asked = words + others
    assert mapped.find(asked).tolist() == WordList(words).find(asked).tolist()
    assert [mapped.word(i) for i in range(len(words))] == words


def test_stop_words_are_nltks_list() -> None:
    assert len(NLTK) == 179
    assert {"the", "a", "wouldn't", "yourselves", "ma"} <= NLTK
    assert not {"man", "two", "n't", "would"} & NLTK
    assert "n't" in ENGLISH
