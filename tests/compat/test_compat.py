"""Drop-in replacements for pycocoevalcap, compared with pycocoevalcap and with its output in tests/gold."""

from __future__ import annotations

import json
import random
from typing import Any

import numpy as np
import pytest

import captious
from captious import compat
from captious.core.errors import InputError
from captious.data import demo_path
from tests.gold import SYSTEMS, load

NAMES = {"Bleu_1": "BLEU-1", "Bleu_4": "BLEU-4", "METEOR": "METEOR", "ROUGE_L": "ROUGE-L", "CIDEr": "CIDEr-D"}

#: Spaces where the scorers split differently: two in a row, at the ends, inside a token; captions without
#: words.
ODD = {
    3: (["a  dog", " dog "], ["dog  a"]),
    1: (["22\u00a03/4 inches", "a dog"], ["22\u00a03/4 inches of snow"]),
    2: ([""], ["a dog"]),
    5: (["a dog", ""], [""]),
    4: (["a\tdog runs"], ["a dog\truns"]),
}  # fmt: skip


def images(seed: int) -> tuple[dict[Any, list[str]], dict[Any, list[str]]]:
    """Captions of the demo's words, with unsorted keys."""
    chance = random.Random(seed)
    words = [word for line in list(load("tokens").values())[:300] for word in line.split() if word.isalpha()]

    def caption() -> str:
        return " ".join(chance.choices(words, k=chance.choice([1, 3, 5, 8, 12])))

    keys = chance.sample(range(1000), 20)
    gts = {key: [caption() for _ in range(chance.randint(1, 6))] for key in keys}
    res = {key: [chance.choice([caption(), gts[key][0], " ".join(gts[key][-1].split()[:4])])] for key in keys}
    return gts, res


CASES = [
    *map(images, range(4)),
    ({k: refs for k, (refs, _) in ODD.items()}, {k: said for k, (_, said) in ODD.items()}),
]


@pytest.mark.parametrize("case", range(len(CASES)))
def test_bleu_rouge_and_cider_are_those_of_the_coco_tools(
    case: int, capsys: pytest.CaptureFixture[str]
) -> None:
    from pycocoevalcap.bleu.bleu import Bleu
    from pycocoevalcap.cider.cider import Cider
    from pycocoevalcap.rouge.rouge import Rouge

    gts, res = CASES[case]
    for n in (1, 4):
        theirs = Bleu(n).compute_score(gts, res)
        said = capsys.readouterr().out
        ours = compat.Bleu(n).compute_score(gts, res)
        assert capsys.readouterr().out == said  # counts and the ratio of lengths are printed there, too
        assert type(ours[0]) is type(ours[1]) is type(ours[1][0]) is list
        np.testing.assert_allclose(ours[0], theirs[0], rtol=0, atol=1e-12)
        np.testing.assert_allclose(ours[1], theirs[1], rtol=0, atol=1e-12)
    for mine, yours in ((compat.Rouge(), Rouge()), (compat.Cider(), Cider())):
        value, each = mine.compute_score(gts, res)
        expected, rows = yours.compute_score(gts, res)
        assert isinstance(each, np.ndarray)
        np.testing.assert_allclose(each, rows, rtol=0, atol=1e-12, err_msg=mine.method())
        assert value == pytest.approx(expected, rel=0, abs=1e-12)
        assert mine.method() == yours.method()


def test_one_image_has_no_cider_as_there() -> None:
    from pycocoevalcap.cider.cider import Cider

    one: tuple[Any, Any] = ({1: ["a dog runs"]}, {1: ["a dog runs"]})
    assert compat.Cider().compute_score(*one)[0] == Cider().compute_score(*one)[0] == 0


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("tool", ["ours", "pycocotools"])
def test_coco_eval_cap_gives_the_numbers_of_the_gold(
    system: str, tool: str, capsys: pytest.CaptureFixture[str]
) -> None:
    if tool == "pycocotools":
        kind: Any = pytest.importorskip("pycocotools.coco").COCO
    else:
        kind = compat.COCO
    coco = kind(str(demo_path("references")))
    results = coco.loadRes(str(demo_path(system)))
    found = compat.COCOEvalCap(coco, results)
    found.params["image_id"] = results.getImgIds()
    found.evaluate()
    assert "Bleu_4: " in capsys.readouterr().out
    assert list(found.eval) == ["Bleu_1", "Bleu_2", "Bleu_3", "Bleu_4", "METEOR", "ROUGE_L", "CIDEr", "SPICE"]
    gold = load("lexical")[system]
    for name, known_as in NAMES.items():
        assert found.eval[name] == pytest.approx(gold["corpus"][known_as], rel=0, abs=1e-12)
        for image, value in zip(gold["images"], gold["per_image"][known_as]):
            assert found.imgToEval[int(image)][name] == pytest.approx(value, rel=0, abs=1e-12)
    assert found.evalImgs == list(found.imgToEval.values())
    spice = captious.score(demo_path("references"), demo_path(system), "SPICE")["SPICE"]
    assert found.eval["SPICE"] == pytest.approx(spice.value)
    for image, value in spice.per_image.items():
        assert found.imgToEval[int(image)]["SPICE"]["All"]["f"] == pytest.approx(value)


def test_spice_has_the_shape_of_the_original() -> None:
    gold = {row["image"]: row for row in load("spice")["systems"]["good"]}
    references = {
        image: row["captions"] for image, row in load("spice")["references"].items() if image in gold
    }
    # The input is not sorted, the answer is.
    keys = sorted(gold, reverse=True)
    value, rows = compat.Spice().compute_score(
        {k: references[k] for k in keys}, {k: [gold[k]["caption"]] for k in keys}
    )
    assert len(rows) == len(keys)
    assert set(rows[0]) == set(next(iter(gold.values()))["scores"])
    same = 0
    for image, row in zip(sorted(keys), rows):
        for kind, (tp, fp, fn, pr, re, f) in gold[image]["scores"].items():
            ours = row[kind]
            assert set(ours) == {"tp", "fp", "fn", "pr", "re", "f", "numImages"}
            wanted = [np.nan if part is None else part for part in (tp, fp, fn, pr, re, f)]
            same += np.allclose(
                [ours[key] for key in ("tp", "fp", "fn", "pr", "re", "f")], wanted, equal_nan=True
            )
    # Our parser is not CoreNLP. Where the parses are equal, all numbers are.
    assert same > 0.6 * 7 * len(keys)
    assert value == pytest.approx(np.mean([row["All"]["f"] for row in rows]))


def test_the_tokenizer_takes_captions_as_lines_of_a_file() -> None:
    rows = {
        1: [{"caption": "The letter C."}, {"caption": "A dog"}],
        2: [{"caption": "The letter C."}],
        3: [{"caption": "two\ndogs"}],
    }
    assert compat.PTBTokenizer().tokenize(rows) == {
        1: ["the letter c", "a dog"],
        2: ["the letter c."],
        3: ["two dogs"],
    }


@pytest.mark.parametrize(
    ("gts", "res", "message"),
    [
        ({1: ["a"]}, {2: ["a"]}, "same images"),
        ({1: ["a"]}, {1: ["a", "b"]}, "2 candidates"),
        ({1: []}, {1: ["a"]}, "no reference"),
        ({1: "a dog"}, {1: ["a"]}, "list of captions"),
    ],
)
def test_what_the_scorers_refuse(gts: Any, res: Any, message: str) -> None:
    for scorer in (compat.Bleu(), compat.Rouge(), compat.Cider(), compat.Spice()):
        with pytest.raises(InputError, match=message):
            scorer.compute_score(gts, res)


def test_results_that_do_not_fit(tmp_path: Any) -> None:
    coco = compat.COCO(demo_path("references"))
    with pytest.raises(InputError, match="references do not have"):
        coco.loadRes([{"image_id": 99, "caption": "a dog"}])
    with pytest.raises(InputError, match="no result for 59 of 60"):
        compat.COCOEvalCap(
            coco, coco.loadRes([{"image_id": coco.getImgIds()[0], "caption": "a dog"}])
        ).evaluate(verbose=False)
    (tmp_path / "list.json").write_text(json.dumps([1]))
    with pytest.raises(InputError, match="no COCO annotations"):
        compat.COCO(tmp_path / "list.json")
    with pytest.raises(InputError, match="n = 4"):
        compat.Cider(n=3)
    with pytest.raises(InputError, match="from 1 to 4"):
        compat.Bleu(5)
