"""BLEU, ROUGE-L, CIDEr and their parts against plain implementations, in both forms of every kernel."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import captious
from captious.core.errors import InputError
from captious.corpus import Captions, Corpus
from tests.forms import both_forms, running
from tests.metrics.captions import naive

WORDS = st.sampled_from(["a", "the", "dog", "cat", "sits", "on", "mat", "red"])
CAPTION = st.lists(WORDS, max_size=9)
ROW = st.tuples(CAPTION, st.lists(CAPTION, min_size=1, max_size=4))
ROWS = st.lists(ROW, min_size=2, max_size=6)
Rows = list[tuple[list[str], list[list[str]]]]


def corpus_of(rows: Rows) -> Corpus:
    return Corpus.build(
        [str(i) for i in range(len(rows))],
        [[" ".join(c)] for c, _ in rows],
        [[" ".join(r) for r in rs] for _, rs in rows],
        tokenizer="none",
    )


def check_rows(rows: Rows) -> None:
    corpus = corpus_of(rows)
    scores = captious.score(corpus, "bleu,ROUGE-L,CIDEr,CIDEr-D,precision,Recall-1")
    for n in range(1, 5):
        assert scores[f"BLEU-{n}"].value == pytest.approx(naive.bleu(rows, n), rel=1e-9, abs=1e-12)
        assert scores[f"BLEU-{n}"].per_caption == pytest.approx(
            [naive.bleu([r], n) for r in rows], rel=1e-9, abs=1e-12
        )
        matches = [sum((naive.grams(c, n) & _most(rs, n)).values()) for c, rs in rows]
        totals = [max(len(c) - n + 1, 0) for c, _ in rows]
        expected = [m / t if t else 0.0 for m, t in zip(matches, totals)]
        assert scores[f"Precision-{n}"].per_caption == pytest.approx(expected)
    assert scores["ROUGE-L"].per_caption == pytest.approx([naive.rouge_l(*row) for row in rows])
    assert scores["CIDEr"].per_caption == pytest.approx(naive.cider(rows, d=False))
    assert scores["CIDEr-D"].per_caption == pytest.approx(naive.cider(rows, d=True))
    recall = [
        max(sum((naive.grams(c, 1) & naive.grams(r, 1)).values()) / len(r) if r else 0.0 for r in rs)
        for c, rs in rows
    ]
    assert scores["Recall-1"].per_caption == pytest.approx(recall)


def _most(references: list[list[str]], n: int) -> object:
    most = naive.grams([], n)
    for reference in references:
        most |= naive.grams(reference, n)
    return most


@given(ROWS)
@settings(max_examples=60, deadline=None)
def test_agrees_with_naive(rows: Rows) -> None:
    check_rows(rows)


@both_forms
def test_agrees_with_naive_on_a_larger_corpus(form: str) -> None:
    """Both forms of each kernel, on a corpus with repeats, empty captions and a caption of 300 words."""
    rng = np.random.default_rng(3)
    words = [f"w{i}" for i in range(12)]

    def caption(length: int) -> list[str]:
        return [words[i] for i in rng.integers(0, 12, length)]

    rows = [
        (caption(int(rng.integers(0, 12))), [caption(int(rng.integers(0, 12))) for _ in range(5)])
        for _ in range(30)
    ]
    rows.append((caption(300), [caption(280), []]))
    with running(form):
        check_rows(rows)


def test_hashed_ngrams_agree_with_exact_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """A vocabulary too large for exact packing gives the same scores."""
    rows = [
        (f"a{i} b c d{i} e".split(), [f"a{i} b c d e".split(), ["b", "c", "d", "e", "f"]]) for i in range(20)
    ]
    exact = captious.score(corpus_of(rows), "lexical")
    monkeypatch.setattr("captious.text.ngrams.BITS", 3)
    hashed = captious.score(corpus_of(rows), "lexical")
    for name in exact:
        assert hashed[name].per_caption == pytest.approx(exact[name].per_caption, abs=1e-12)


def test_one_image_has_no_document_frequencies() -> None:
    corpus = Corpus.build(["1"], [["a dog"]], [["a dog", "the dog"]], tokenizer="none")
    with pytest.raises(captious.InputError, match=r"log\(1\) = 0.*--df"):
        captious.score(corpus, "CIDEr-D")


def test_images_without_references_score_nothing_but_do_not_crash() -> None:
    """They cannot be built from texts, but can remain when captions are taken from others."""
    with pytest.raises(captious.InputError, match="image 2 has no reference caption"):
        Corpus.build(["1", "2", "3"], [["a dog"]] * 3, [["a dog"], [], ["the cat"]], tokenizer="none")
    references = Captions.of([["a dog"], [], ["the cat"]], "none")
    corpus = Corpus(Captions.of([["a dog"]] * 3, "none", over=references), references)
    for score in captious.score(corpus, "lexical,Recall-1").values():
        assert np.isfinite(score.per_caption).all()
        assert score.per_caption[1] == pytest.approx(0.0, abs=1e-6)


def test_closest_reference_prefers_the_shorter_of_two_equally_near() -> None:
    corpus = Corpus.build(["1"], [["a b c"]], [["a b", "a b c d"]], tokenizer="none")
    assert captious.score(corpus, "BLEU-1")["BLEU-1"].statistics[0, -1] == 2


def test_a_later_system_may_push_the_vocabulary_beyond_exact_packing(monkeypatch: pytest.MonkeyPatch) -> None:
    """New n-grams are then hashed while those of the shared references stay packed. Both must still match."""
    monkeypatch.setattr("captious.text.ngrams.BITS", 4)
    rows = [(["a", "b", f"c{i}"], [["a", "b", "c0"], ["a", "d", f"c{i}"]]) for i in range(4)]
    first = corpus_of(rows)
    captious.score(first, "CIDEr-D")
    others = [["x", f"y{i}", "a", "b", f"c{i}"] for i in range(4)]
    second = Corpus.build(first.ids, [[" ".join(words)] for words in others], first.references, name="second")
    alone = corpus_of([(words, references) for words, (_, references) in zip(others, rows)])
    expected = captious.score(alone, "lexical")
    for name, score in captious.score(second, "lexical").items():
        assert score.per_caption == pytest.approx(expected[name].per_caption)


def test_precision_and_recall_over_references() -> None:
    references = ["a dog runs", "a cat sits on a mat", "the dog"]
    corpus = captious.load({"1": references}, {"1": "a dog on a mat"})
    names = ("Precision-1", "Precision-2", "Recall-1")
    alone = {name: [] for name in names}
    for text in references:
        scores = captious.score(captious.load({"1": [text]}, {"1": "a dog on a mat"}), names)
        for name in names:
            alone[name].append(scores[name].value)
    union = captious.score(corpus, names)
    assert union["Precision-1"].value == 1.0 and union["Recall-1"].value == max(alone["Recall-1"])
    for how, combine in (("max", max), ("mean", np.mean), ("min", min)):
        scores = captious.score(corpus, names, overlap=how)
        for name in names:
            assert scores[name].value == pytest.approx(combine(alone[name])), (how, name)
    assert captious.score(corpus, names, overlap="max")["Precision-1"].value == pytest.approx(4 / 5)
    with pytest.raises(InputError, match="max, mean or min"):
        captious.score(corpus, "Precision-1", overlap="best")
