"""The interface of pyciderevalcap beyond its scorers: evaluation of files, frequencies, several captions."""

from __future__ import annotations

import json
import pickle
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from captious.compat.pyciderevalcap import Cider, CiderD, CiderDScorer, CIDErEvalCap, PTBTokenizer
from captious.core.errors import InputError
from captious.data import demo_path
from tests.compat.test_stand_in import run
from tests.gold import load


def sides() -> tuple[dict[Any, Any], list[dict[str, Any]]]:
    """References by image and rows of results from the demo."""
    references: dict[Any, Any] = {}
    for row in json.loads(demo_path("references").read_text())["annotations"]:
        references.setdefault(row["image_id"], []).append({"caption": row["caption"]})
    return references, json.loads(demo_path("good").read_text())


def test_cidereval_reads_references_and_rows_of_raw_captions(tmp_path: Path) -> None:
    """`cidereval.py` calls ``CIDErEvalCap(gts, res, df).evaluate()``."""
    values = run(
        """
        from pyciderevalcap.eval import CIDErEvalCap as ciderEval

        gts = {}
        for row in json.load(open(REFERENCES))["annotations"]:
            gts.setdefault(row["image_id"], []).append({"caption": row["caption"]})
        scores = ciderEval(gts, json.load(open(RESULTS)), "corpus").evaluate()
        print(json.dumps({name: [len(each), sum(each) / len(each)] for name, each in scores.items()}))
        """,
        tmp_path,
    )
    assert set(values) == {"CIDEr", "CIDErD"} and values["CIDEr"][0] == 60
    assert values["CIDErD"][1] == pytest.approx(
        load("lexical")["good"]["corpus"]["CIDEr-D"], rel=0, abs=1e-12
    )
    assert values["CIDEr"][1] > values["CIDErD"][1]


def test_the_tokenizer_takes_both_sides() -> None:
    references, rows = sides()
    tokens = PTBTokenizer("gts").tokenize(references)
    results = PTBTokenizer("res").tokenize(
        [*rows[:2], {"image_id": rows[0]["image_id"], "caption": "A dog."}]
    )
    assert tokens.keys() == references.keys()
    assert [row["image_id"] for row in results] == [
        rows[0]["image_id"],
        rows[1]["image_id"],
        rows[0]["image_id"],
    ]
    assert results[2]["caption"] == ["a dog"]
    assert PTBTokenizer("res").tokenize([]) == []
    for wrong in (["A dog."], [{"image_id": 1}], [{"image_id": 1, "caption": None}], [{"caption": "a"}]):
        with pytest.raises(InputError, match=r"caption"):
            PTBTokenizer("res").tokenize(wrong)
    with pytest.raises(InputError, match="'gts' or 'res'"):
        PTBTokenizer("other")


def test_results_of_an_image_without_references_are_refused() -> None:
    references, rows = sides()
    with pytest.raises(InputError, match="no references"):
        CIDErEvalCap(references, [{**rows[0], "image_id": "another"}]).evaluate()


def counted(references: list[list[str]], path: Path) -> str:
    """Count document frequencies as scripts do, and pickle them."""
    scorer = CiderDScorer(df_mode="corpus")
    for texts in references:
        scorer.cook_append(None, texts)
    scorer.compute_doc_freq()
    content = {"document_frequency": scorer.document_frequency, "ref_len": len(scorer.crefs)}
    path.write_bytes(pickle.dumps(content))
    return str(path)


REFERENCES = [["a dog runs fast", "the dog runs"], ["a cat sleeps", "a cat on a bed"], ["two men talk"]]
SAMPLES = [["a dog runs", "the dog is fast"], ["a cat sleeps", "a cat"], ["two men", "men talk now"]]


def test_counted_frequencies_are_those_of_the_references(tmp_path: Path) -> None:
    scorer = CiderDScorer()
    for texts in REFERENCES:
        scorer.cook_append(None, texts)
    scorer.compute_doc_freq()
    assert scorer.document_frequency["a",] == 2 and scorer.document_frequency["a", "dog"] == 1
    assert scorer.document_frequency["dog", "runs"] == 1 and scorer.document_frequency["an",] == 0
    with pytest.raises(InputError, match="3 of 3 entries have references and no caption"):
        scorer.compute_score()
    # The file gives the same scores as frequencies of the corpus.
    gts = dict(enumerate(REFERENCES))
    rows = [{"image_id": i, "caption": [texts[0]]} for i, texts in enumerate(SAMPLES)]
    _, corpus = CiderD().compute_score(gts, rows)
    _, table = CiderD(df=counted(REFERENCES, tmp_path / "df.p")).compute_score(gts, rows)
    assert np.allclose(corpus, table, rtol=0, atol=1e-12) and corpus.max() > 1


@pytest.mark.parametrize("scorer_class", [Cider, CiderD])
def test_several_captions_of_an_image(scorer_class: Any, tmp_path: Path) -> None:
    """Self-critical training scores all samples of an image, and their similarity to each other."""
    scorer = scorer_class(df=counted(REFERENCES, tmp_path / "df.p"))
    mean, each = scorer.my_compute_score(REFERENCES, SAMPLES)
    assert each.shape == (3, 2) and mean == pytest.approx(each.mean())
    for column in range(2):
        rows = [{"image_id": i, "caption": [texts[column]]} for i, texts in enumerate(SAMPLES)]
        _, alone = scorer.compute_score(dict(enumerate(REFERENCES)), rows)
        assert np.allclose(each[:, column], alone, rtol=0, atol=1e-12)

    matrices = scorer.my_self_cider([["a dog runs fast", "a dog runs fast", "two men talk"], ["a cat"]])
    assert [matrix.shape for matrix in matrices] == [(3, 3), (1, 1)]
    first = matrices[0]
    assert first[0, 0] == first[0, 1] == first[1, 0] == pytest.approx(10) and first[0, 2] == first[2, 0] == 0
    assert scorer.my_self_cider([]) == []


def test_several_captions_need_a_table_and_one_number_of_captions(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="from a file"):
        CiderD().my_compute_score(REFERENCES, SAMPLES)
    with pytest.raises(InputError, match="from a file"):
        CiderD().my_self_cider(SAMPLES)
    scorer = CiderD(df=counted(REFERENCES, tmp_path / "df.p"))
    for wrong in (SAMPLES[:2], [], [*SAMPLES[:2], ["one"]], [[], [], []]):
        with pytest.raises(InputError, match="lists of captions"):
            scorer.my_compute_score(REFERENCES, wrong)


def test_meteor_of_few_captions_is_that_of_many() -> None:
    """Few captions are aligned in one thread, many in several; the values are the same."""
    from captious.compat import Meteor

    texts = [text for own in REFERENCES + SAMPLES for text in own]
    pairs = [(one, other) for one, other in pairwise(texts)] * 40
    _, many = Meteor().compute_score(
        {i: [other] for i, (_, other) in enumerate(pairs)}, {i: [one] for i, (one, _) in enumerate(pairs)}
    )
    alone = [Meteor().compute_score({0: [other]}, {0: [one]})[1][0] for one, other in pairs[: len(texts) - 1]]
    assert len(many) > 200 and many[: len(alone)] == alone
