"""Against the numbers printed in van Miltenburg et al. (2018), on the same captions."""

from __future__ import annotations

from pathlib import Path

import pytest

import captious

#: ASL, SDSL, types, TTR1, TTR2.
PUBLISHED = {
    "Liu-et-al-2017": (10.3, 1.32, 598, 0.17, 0.38),
    "Mun-et-al-2017": (9.4, 1.12, 1009, 0.16, 0.38),
    "Shetty-et-al-2016": (9.0, 1.03, 1112, 0.15, 0.34),
    "Tavakoli-et-al-2017": (9.2, 1.03, 917, 0.15, 0.33),
    "Vinyals-et-al-2017": (10.1, 1.28, 953, 0.21, 0.43),
    "Wu-et-al-2016": (9.1, 1.03, 849, 0.14, 0.32),
    "Zhou-et-al-2017": (9.3, 1.20, 1334, 0.22, 0.51),
    "Dai-et-al-2017": (9.8, 1.63, 1922, 0.23, 0.55),
    "Shetty-et-al-2017": (9.4, 1.31, 2611, 0.24, 0.54),
}


@pytest.mark.shared
@pytest.mark.parametrize("system", PUBLISHED)
def test_vocabulary_is_as_published_to_the_last_digit(system: str, shared_data: Path) -> None:
    corpus = captious.load(
        None, shared_data / "coco" / "systems" / f"{system}.jsonl.gz", tokenizer="spacy-like"
    )
    assert len(corpus) == 40_504
    found = {name: score.value for name, score in captious.score(corpus, "ASL,SDSL,Types,TTR1,TTR2").items()}
    asl, sdsl, types, ttr1, ttr2 = PUBLISHED[system]
    # Half a unit of the last digit printed, and a hair for a value that falls on the edge.
    assert found["ASL"] == pytest.approx(asl, abs=0.0501)
    assert found["SDSL"] == pytest.approx(sdsl, abs=0.00501)
    assert found["Types"] == types
    assert found["TTR1"] == pytest.approx(ttr1, abs=0.00501)
    assert found["TTR2"] == pytest.approx(ttr2, abs=0.00501)


#: Compounds and prepositions per caption (Table 3).
COMPOSITION = {"Liu-et-al-2017": (0.33, 1.86), "Vinyals-et-al-2017": (0.39, 1.74)}


@pytest.mark.shared
@pytest.mark.parametrize("system", COMPOSITION)
def test_composition_is_near_the_published_one(system: str, shared_data: Path) -> None:
    corpus = captious.load(None, shared_data / "coco" / "systems" / f"{system}.jsonl.gz")
    found = captious.score(corpus, "Comp,Prep")
    compounds, prepositions = COMPOSITION[system]
    assert found["Comp"].value == pytest.approx(compounds, abs=0.05)
    assert found["Prep"].value == pytest.approx(prepositions, abs=0.05)
