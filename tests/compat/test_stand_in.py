"""The stand-in for pycocoevalcap and its relatives: the calls that harnesses make, one test per interface.

Each test makes the calls that a harness documents, on the 60 images of the demo, in a Python of its own.
Numbers are compared with the gold of pycocoevalcap.
"""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import captious
from captious import compat
from captious.compat import scoring, stand_in
from captious.core.errors import InputError
from captious.data import demo_path
from captious.io import CaptionWarning
from tests.gold import load

#: Names of the COCO tools, and ours.
NAMES = {"Bleu_1": "BLEU-1", "Bleu_4": "BLEU-4", "METEOR": "METEOR", "ROUGE_L": "ROUGE-L", "CIDEr": "CIDEr-D"}


def run(program: str, folder: Path, *, blocked: tuple[str, ...] = ()) -> Any:
    """Run a program through ``captious wrap``, and return the JSON value of its last line."""
    block = f"""
import sys
class _Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {blocked!r} and not getattr(sys.modules.get(name.partition(".")[0]), "__captious__", 0):
            for finder in sys.meta_path:
                if type(finder).__module__ == "captious.compat.stand_in" and (spec := finder.find_spec(name)):
                    return spec
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, _Missing())
"""
    head = (
        f"import json\nREFERENCES = {str(demo_path('references'))!r}\nRESULTS = {str(demo_path('good'))!r}\n"
    )
    script = folder / "evaluate.py"
    script.write_text((block if blocked else "") + head + textwrap.dedent(program))
    command = [sys.executable, "-m", "captious", "wrap", "--", sys.executable, str(script)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def check(values: dict[str, float]) -> None:
    gold = load("lexical")["good"]["corpus"]
    for name, value in values.items():
        assert value == pytest.approx(gold[NAMES[name]], rel=0, abs=1e-12), name


@pytest.mark.parametrize("blocked", [(), ("pycocotools",)])
def test_lmms_eval(blocked: tuple[str, ...], tmp_path: Path) -> None:
    """Its caption tasks index references of their own, load results from a list and call the scorers."""
    values = run(
        """
        from pycocoevalcap.eval import Bleu, Cider, COCOEvalCap, Meteor, Rouge, Spice
        from pycocoevalcap.tokenizer.ptbtokenizer import PTBTokenizer
        from pycocotools.coco import COCO

        annotations = json.load(open(REFERENCES))["annotations"]
        ids = list(dict.fromkeys(row["image_id"] for row in annotations))
        coco = COCO()
        coco.dataset = {"annotations": annotations, "images": [{"id": image} for image in ids]}
        coco.createIndex()
        results = coco.loadRes([{"image_id": r["image_id"], "caption": r["caption"]} for r in json.load(open(RESULTS))])
        evaluation = COCOEvalCap(coco, results)
        gts = {image: evaluation.coco.imgToAnns[image] for image in evaluation.params["image_id"]}
        res = {image: evaluation.cocoRes.imgToAnns[image] for image in evaluation.params["image_id"]}
        gts, res = PTBTokenizer().tokenize(gts), PTBTokenizer().tokenize(res)
        values = {}
        for scorer, name in [(Bleu(4), "Bleu_4"), (Meteor(), "METEOR"), (Rouge(), "ROUGE_L"), (Cider(), "CIDEr")]:
            score, scores = scorer.compute_score(gts, res)
            values[name] = score[int(name[-1]) - 1] if type(score) is list else score
        print(json.dumps(values))
        """,
        tmp_path,
        blocked=blocked,
    )
    check(values)


@pytest.mark.parametrize("package", ["pycocoevalcap", "coco_caption.pycocoevalcap"])
def test_blip_lavis_and_oscar(package: str, tmp_path: Path) -> None:
    """They pass files to COCO and COCOEvalCap, Oscar with the name of document frequencies."""
    tools = "coco_caption.pycocotools.coco" if package.startswith("coco_caption") else "pycocotools.coco"
    values = run(
        f"""
        from {tools} import COCO
        from {package}.eval import COCOEvalCap

        coco = COCO(REFERENCES)
        results = coco.loadRes(RESULTS)
        evaluation = COCOEvalCap(coco, results, "corpus")
        evaluation.params["image_id"] = results.getImgIds()
        evaluation.evaluate()
        assert evaluation.evalImgs[0]["image_id"] in evaluation.imgToEval
        print(json.dumps({{name: evaluation.eval[name] for name in {list(NAMES)}}}))
        """,
        tmp_path,
    )
    check(values)


def raw_captions() -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Return the demo in VLMEvalKit's form: by position, not tokenized."""
    corpus = captious.load(demo_path("references"), demo_path("good"))
    texts, offsets = corpus.references.texts, corpus.references.image_offsets
    gts = {str(i): list(texts[offsets[i] : offsets[i + 1]]) for i in range(len(corpus))}
    return gts, {str(i): [text] for i, text in enumerate(corpus.candidates.texts)}


def test_vlmevalkit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It scores untokenized captions by position. The tokenizer 'raw' gives the same numbers."""
    from pycocoevalcap.bleu.bleu import Bleu
    from pycocoevalcap.cider.cider import Cider
    from pycocoevalcap.rouge.rouge import Rouge

    gts, res = raw_captions()
    gts["0"].append("A  dog.\u00a0Two\tspaces ")
    values = run(
        f"""
        import warnings
        from pycocoevalcap.bleu.bleu import Bleu
        from pycocoevalcap.rouge.rouge import Rouge
        from pycocoevalcap.cider.cider import Cider

        gts, res = {gts!r}, {res!r}
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            values = [scorer.compute_score(gts, res)[0] for scorer in (Bleu(4), Rouge(), Cider())]
        print(json.dumps([*values, [str(w.message) for w in caught]]))
        """,
        tmp_path,
    )
    *numbers, messages = values
    wanted = [scorer.compute_score(gts, res)[0] for scorer in (Bleu(4), Rouge(), Cider())]
    for ours, theirs in zip(numbers, wanted):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12)
    assert len(messages) == 1 and "untokenized" in messages[0]
    raw = captious.score(gts, {i: texts[0] for i, texts in res.items()}, "lexical", tokenizer="raw")
    np.testing.assert_allclose([raw[f"BLEU-{n}"].value for n in range(1, 5)], wanted[0], rtol=0, atol=1e-12)
    assert raw["ROUGE-L"].value == pytest.approx(wanted[1], rel=0, abs=1e-12)
    assert raw["CIDEr-D"].value == pytest.approx(wanted[2], rel=0, abs=1e-12)
    assert "tok:raw" in str(raw["ROUGE-L"].signature)
    tokenized = captious.score(gts, {i: texts[0] for i, texts in res.items()}, "CIDEr-D")
    assert tokenized["CIDEr-D"].value > raw["CIDEr-D"].value + 0.1


def test_the_warning_of_raw_captions_comes_once(monkeypatch: pytest.MonkeyPatch, recwarn: Any) -> None:
    monkeypatch.setattr(scoring, "_warned", False)
    gts = {i: ["a dog"] for i in range(9)} | {9: ["a cat on st. john"]}
    res = {i: ["a dog"] for i in gts}
    compat.Cider().compute_score(gts, res)
    # SODA scores one reference with all predictions; its last token can end in a period.
    few = {i: ["a building at division st."] for i in range(3)}
    compat.Rouge().compute_score({i: ["a dog"] for i in few}, few)
    assert not recwarn.list
    with pytest.warns(CaptionWarning, match="untokenized"):
        compat.Rouge().compute_score(gts, {i: ["A dog."] for i in gts})
    compat.Cider().compute_score(gts, {i: ["A dog."] for i in gts})
    assert len(recwarn.list) == 0


def frequencies(gts: dict[Any, list[str]]) -> dict[tuple[str, ...], float]:
    counts: dict[tuple[str, ...], float] = {}
    for texts in gts.values():
        grams = {
            tuple(text.split()[i : i + n])
            for text in texts
            for n in range(1, 5)
            for i in range(len(text.split()) - n + 1)
        }
        for gram in grams:
            counts[gram] = counts.get(gram, 0) + 1
    return counts


def test_self_critical_training(tmp_path: Path) -> None:
    """Rows of results, several per image, with a pickle of document frequencies in the folder ``data``."""
    gts = {i: ["12 7 9 0", "7 9 4 0"] if i % 2 else ["3 3 8 0", "8 1 0"] for i in range(6)}
    (tmp_path / "data").mkdir()
    content = {"document_frequency": frequencies(gts), "ref_len": len(gts)}
    (tmp_path / "data" / "coco-train-idxs.p").write_bytes(pickle.dumps(content, 2))
    values = run(
        f"""
        import sys
        sys.path.append("cider")
        from pyciderevalcap.ciderD.ciderD import CiderD
        from pyciderevalcap.cider.cider import Cider
        sys.path.append("coco-caption")
        from pycocoevalcap.bleu.bleu import Bleu

        gts = {gts!r}
        rows = [{{"image_id": i % 6, "caption": [text]}} for i, text in enumerate(["12 7 9 0", "3 3 8 0", "7 0"] * 4)]
        listed = {{i: gts[row["image_id"]] for i, row in enumerate(rows)}}
        table, scores = CiderD(df="coco-train-idxs").compute_score(gts, rows)
        corpus, _ = CiderD(df="corpus").compute_score({{i: gts[i] for i in range(6)}}, rows[:6])
        plain, _ = Cider(df="coco-train-idxs").compute_score(gts, rows)
        _, bleu = Bleu(4).compute_score(listed, {{i: row["caption"] for i, row in enumerate(rows)}})
        print(json.dumps([table, list(scores), corpus, plain, len(bleu[3]), type(table).__name__]))
        """,
        tmp_path,
    )
    table, scores, corpus, plain, count, kind = values
    assert len(scores) == 12 and count == 12 and kind == "float64"
    # The table was counted over the same images, so it gives the numbers of the corpus mode.
    assert np.mean(scores[:6]) == pytest.approx(corpus, abs=1e-12)
    assert table == pytest.approx(np.mean(scores)) and plain >= table


def test_document_frequencies_are_read_without_running_code(tmp_path: Path, monkeypatch: Any) -> None:
    class Attack:
        def __reduce__(self) -> Any:
            return os.system, (f"touch {tmp_path / 'ran'}",)

    (tmp_path / "df.p").write_bytes(pickle.dumps({"document_frequency": Attack(), "ref_len": 3}))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError):
        compat.CiderD(df="df")
    assert not (tmp_path / "ran").exists()
    with pytest.raises(InputError, match="there are no document frequencies 'coco-train'"):
        compat.CiderD(df="coco-train")


@pytest.mark.parametrize("rows", [["a dog"], [{"image_id": 1}], [{"image_id": 1, "caption": "a"}],
                                  [{"image_id": 9, "caption": ["a"]}], []])  # fmt: skip
def test_rows_that_are_refused(rows: Any) -> None:
    with pytest.raises(InputError, match="result"):
        compat.CiderD().compute_score({1: ["a dog"], 2: ["a cat"]}, rows)


@pytest.mark.parametrize("caption", [None, float("nan"), 3])
def test_scorers_refuse_captions_that_are_no_text(caption: Any) -> None:
    for scorer in (compat.Bleu(), compat.Cider(), compat.Rouge(), compat.Spice()):
        with pytest.raises(InputError, match=r"image 1: a caption is .*; scorers take text"):
            scorer.compute_score({1: ["a dog"]}, {1: [caption]})
        with pytest.raises(InputError, match="image 1: a caption is"):
            scorer.compute_score({1: [caption]}, {1: ["a dog"]})
    with pytest.raises(InputError, match="result 0: the caption is"):
        compat.CiderD().compute_score({1: ["a dog"]}, [{"image_id": 1, "caption": [caption]}])


def test_dense_video_captions(tmp_path: Path) -> None:
    """SODA and densevid_eval score one segment at a time, and kill METEOR's process in the end."""
    values = run(
        """
        from pycocoevalcap.tokenizer.ptbtokenizer import PTBTokenizer
        from pycocoevalcap.meteor.meteor import Meteor
        from pycocoevalcap.cider.cider import Cider

        tokenizer, scorer = PTBTokenizer(), Meteor()
        gts = tokenizer.tokenize({0: [{"caption": "A man plays a guitar."}], 1: [{"caption": "He stops."}]})
        res = tokenizer.tokenize({0: [{"caption": "A man plays guitar."}], 1: [{"caption": "He sits down."}]})
        alone = [scorer.compute_score({i: gts[i]}, {i: res[i]})[1][0] for i in gts]
        _, together = scorer.compute_score(gts, res)
        assert alone == together
        with scorer.lock:
            scorer.meteor_p.stdin.close()
            scorer.meteor_p.stdout.close()
            scorer.meteor_p.kill()
            scorer.meteor_p.wait()
        print(json.dumps([together, Cider().compute_score({0: gts[0]}, {0: res[0]})[0]]))
        """,
        tmp_path,
    )
    assert values[0][0] > values[0][1] > 0 and values[1] == 0


def test_scorers_of_single_captions_are_those_of_the_coco_tools() -> None:
    from pycocoevalcap.bleu.bleu_scorer import BleuScorer
    from pycocoevalcap.cider.cider_scorer import CiderScorer
    from pycocoevalcap.rouge.rouge import Rouge

    pairs = [
        ("a dog runs fast", ["the dog runs", "a dog is running very fast"]),
        ("a cat", ["one cat sits here"]),
    ]
    for option in (None, "closest", "shortest", "average"):
        for chosen in (pairs, pairs[:1]):
            theirs, ours = BleuScorer(n=4), compat.BleuScorer(n=4)
            for pair in chosen:
                theirs += pair
                ours += pair
            assert ours.size() == theirs.size()
            for got, wanted in zip(ours.compute_score(option=option), theirs.compute_score(option=option)):
                np.testing.assert_allclose(got, wanted, rtol=0, atol=1e-12)
    theirs, ours = CiderScorer(), compat.CiderScorer()
    for pair in pairs:
        theirs += pair
        ours += pair
        assert compat.Rouge().calc_score([pair[0]], pair[1]) == pytest.approx(
            Rouge().calc_score([pair[0]], pair[1])
        )
    mean, each = ours.compute_score()
    assert isinstance(mean, np.float64)
    np.testing.assert_allclose(each, theirs.compute_score()[1], rtol=0, atol=1e-12)
    with pytest.raises(InputError, match="closest, shortest or average"):
        compat.BleuScorer("a dog", ["a dog"]).compute_score(option="longest")
    with pytest.raises(InputError, match="list of references"):
        compat.BleuScorer("a dog", "a dog")


def test_coco_has_the_methods_of_pycocotools() -> None:
    theirs = pytest.importorskip("pycocotools.coco").COCO(str(demo_path("references")))
    ours = compat.COCO(demo_path("references"))
    image = theirs.getImgIds()[3]
    assert ours.getImgIds() == theirs.getImgIds() and ours.getImgIds(image) == theirs.getImgIds(
        imgIds=[image]
    )
    for images in ([], [image], image, theirs.getImgIds()[:5]):
        assert sorted(ours.getAnnIds(imgIds=images)) == sorted(theirs.getAnnIds(imgIds=images))
    numbers = ours.getAnnIds(image)
    assert ours.loadAnns(numbers) == theirs.loadAnns(numbers)
    assert ours.loadAnns(numbers[0]) == theirs.loadAnns(numbers[0])
    assert ours.loadImgs([image]) == theirs.loadImgs([image])


def test_install_and_uninstall(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import pycocoevalcap.bleu.bleu as before

    monkeypatch.setenv("PYTHONPATH", "/elsewhere")
    compat.install()
    try:
        compat.install()  # a second call changes nothing
        import pycocoevalcap.bleu.bleu as during

        assert during.Bleu is compat.Bleu and before.Bleu is not compat.Bleu
        with pytest.raises(ModuleNotFoundError, match="captious stands in for pycocoevalcap"):
            __import__("pycocoevalcap.wmd")
        assert (
            captious.score({1: ["a dog"], 2: ["a cat"]}, {1: "a dog", 2: "a cat"}, "METEOR")["METEOR"].value
            > 0.9
        )
        code = "import pycocoevalcap.eval as e; print(e.COCOEvalCap.__module__)"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert done.stdout.strip() == "captious.compat.pycocoevalcap"
        assert os.environ["PYTHONPATH"].split(os.pathsep)[1:] == ["/elsewhere"]
    finally:
        compat.uninstall()
    assert os.environ["PYTHONPATH"] == "/elsewhere"
    from pycocoevalcap.bleu.bleu import Bleu

    assert Bleu is not compat.Bleu
    compat.uninstall()


def test_a_hidden_sitecustomize_still_runs(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("print('mine')\n")
    variables = {**os.environ, "PYTHONPATH": str(tmp_path)}
    variables |= stand_in.environment(variables)
    code = "import pyciderevalcap; print('then')"
    done = subprocess.run(
        [sys.executable, "-c", code], env=variables, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["mine", "then"]


def test_wrap_passes_on_the_exit_code_and_refuses_what_it_cannot_run() -> None:
    assert stand_in.run_wrapped([sys.executable, "-c", "raise SystemExit(7)"]) == 7
    with pytest.raises(InputError, match="no program 'no-such-program'"):
        stand_in.run_wrapped(["no-such-program"])
    with pytest.raises(InputError, match="no command"):
        stand_in.run_wrapped([])
