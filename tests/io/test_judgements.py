"""Every published layout of judgement sets, in files that the tests write, and messages for bad ones."""

from __future__ import annotations

import csv
import json
import os
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.io import savemat

from captious.core.errors import InputError
from captious.io.judgements import (
    SETS,
    CaptionPairs,
    RatedCaptions,
    RatedSystems,
    find_judgements,
    load_judgements,
)
from captious.io.judgements.distraction_sets import load_distractions, task_of
from captious.io.judgements.judged_sets import own_key
from captious.io.judgements.set_files import SOURCES, image_key

REFERENCES = {
    "11_aa.jpg": ["A dog runs .", "The dog is running ."],
    "22_bb.jpg": ["Two men talk .", "Men on a bench ."],
}


def lines(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def table(path: Path, rows: list[list[Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as out:
        csv.writer(out).writerows(rows)
    return path


def rated(source: str | Path, data: Path | None = None) -> RatedCaptions:
    found = load_judgements(source, data)
    assert isinstance(found, RatedCaptions)
    return found


def flickr8k(folder: Path) -> None:
    """The three files of Flickr8k_text."""
    folder.mkdir(parents=True, exist_ok=True)
    tokens = [f"{image}#{k}\t{text}" for image, texts in REFERENCES.items() for k, text in enumerate(texts)]
    (folder / "Flickr8k.token.txt").write_text("\n".join(tokens) + "\n", encoding="utf-8")
    (folder / "ExpertAnnotations.txt").write_text(
        "11_aa.jpg\t22_bb.jpg#1\t1\t1\t2\n11_aa.jpg\t11_aa.jpg#0\t4\t4\t4\n", encoding="utf-8"
    )
    (folder / "CrowdFlowerAnnotations.txt").write_text(
        "22_bb.jpg\t11_aa.jpg#1\t0.3333\t1\t2\n22_bb.jpg\t22_bb.jpg#0\t1\t3\t0\n", encoding="utf-8"
    )


def test_flickr8k_as_published(tmp_path: Path) -> None:
    flickr8k(tmp_path / "Flickr8k_text")
    expert = rated("flickr8k-expert", tmp_path)
    assert expert.captions == ["Men on a bench .", "A dog runs ."] and expert.ratings == [
        [1, 1, 2],
        [4, 4, 4],
    ]
    assert expert.own == [False, True] and expert.references[0] == REFERENCES["11_aa.jpg"]
    assert expert.protocol.coefficient == "tau-c" and expert.protocol.own == "drop"
    crowd = rated(f"flickr8k-cf={tmp_path / 'Flickr8k_text'}")
    assert crowd.ratings == [[0.3333], [1.0]] and crowd.protocol.coefficient == "tau-b"
    assert [load().name for load in find_judgements(tmp_path)] == ["Flickr8k-Expert", "Flickr8k-CF"]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("ExpertAnnotations.txt", "11_aa.jpg\t22_bb.jpg#1\t1\n", r"line 1: 3 fields instead of 5"),
        (
            "ExpertAnnotations.txt",
            "11_aa.jpg\t22_bb.jpg#7\t1\t1\t1\n",
            r"caption 22_bb\.jpg#7 is not in Flickr8k\.token\.txt",
        ),
        ("ExpertAnnotations.txt", "11_aa.jpg\t22_bb.jpg#1\t1\tx\t1\n", r"line 1 must be a number, found 'x'"),
        ("ExpertAnnotations.txt", "11_aa.jpg\t22_bb.jpg#1\t1\tnan\t1\n", r"must be a finite number"),
        ("ExpertAnnotations.txt", "", r"is empty"),
        ("Flickr8k.token.txt", "no tab here\n", r"line 1: expected a caption's id"),
        ("Flickr8k.token.txt", "x.jpg#0\t\xff".encode("latin-1"), r"not valid UTF-8"),
    ],
)
def test_flickr8k_gone_wrong(tmp_path: Path, name: str, content: str | bytes, message: str) -> None:
    flickr8k(tmp_path)
    (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(InputError, match=message):
        load_judgements(f"flickr8k-expert={tmp_path}")


def composite(folder: Path) -> None:
    header = ["HITId", "WorkerId", "Time", "Answer"]
    eight = "x;http://some.where/images/11_aa.jpg;a dog runs.;a cat;men talk;5;1;2"
    table(
        folder / "8k_correctness.csv",
        [header, ["1", "w", "9", eight], ["", "", "", "mean"], ["", "", "", ""]],
    )
    coco = "http://some.where/COCO_val2014_000000000042.jpg;a dog;a cat;a cow;a pig;3;2;1;4"
    table(folder / "coco_correctness.csv", [header, ["1", "w", "9", coco]])
    flickr8k(folder)
    annotations = [
        {"image_id": 42, "id": k, "caption": text} for k, text in enumerate(["a dog .", "some dog"])
    ]
    (folder / "captions_val2014.json").write_text(json.dumps({"annotations": annotations}), encoding="utf-8")


def test_composite_as_published(tmp_path: Path) -> None:
    composite(tmp_path)
    found = rated(f"composite={tmp_path}")
    assert len(found) == 7 and found.images[:3] == ["8k/11_aa"] * 3 and found.images[3] == "coco/42"
    assert [r[0] for r in found.ratings] == [5, 1, 2, 3, 2, 1, 4] and found.references[3] == [
        "a dog .",
        "some dog",
    ]
    assert found.protocol.own == "remove" and found.protocol.coefficient == "tau-c"


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        (
            "http://x/11_aa.jpg;a;b;c;1;2",
            r"line 2: expected an address, three or four captions and as many ratings.*found 5",
        ),
        ("http://x/11_aa.jpg;a;b;c;1;2;high", r"the rating must be a number, found 'high'"),
        ("nothing", r"no line with an image's address"),
    ],
)
def test_composite_gone_wrong(tmp_path: Path, cell: str, message: str) -> None:
    table(tmp_path / "8k_correctness.csv", [["a", "b"], ["1", cell]])
    with pytest.raises(InputError, match=message):
        load_judgements(f"composite={tmp_path}")


def test_composite_in_our_layout(tmp_path: Path) -> None:
    flickr8k(tmp_path / "flickr8k")
    row = {"subset": "8k", "image": "11_aa", "caption": "a dog", "score": 4}
    lines(tmp_path / "composite" / "sample.jsonl", [row, {**row, "image": "elsewhere"}])
    found = rated("composite", tmp_path)
    assert len(found) == 1 and found.left_out == 1
    lines(tmp_path / "composite" / "sample.jsonl", [{**row, "subset": "9k"}])
    with pytest.raises(InputError, match="one of 8k, 30k, coco, not '9k'"):
        load_judgements("composite", tmp_path)


def cell(texts: list[str]) -> np.ndarray:
    held = np.empty((1, len(texts)), dtype=object)
    held[0, :] = texts
    return held


def struct(names: list[str], rows: list[tuple[Any, ...]]) -> np.ndarray:
    held = np.empty((1, len(rows)), dtype=[(name, object) for name in names])
    for k, row in enumerate(rows):
        held[0, k] = row
    return held


PAIRS = [("2008_1.jpg", "a dog runs", "a cat sleeps"), ("2008_2.jpg", "men talk ", "a bench")]
SAME = [*PAIRS, ("2008_3.jpg", "men talk", "a bench")]


def fifty(folder: Path, votes: bool = True, listed: list[tuple[str, str, str]] = PAIRS) -> None:
    triplets = [
        (cell([f"reference {k}"]), cell([a]), cell([b]), 1.0 if k or a == "men talk " else -1.0)
        for _, a, b in listed
        for k in range(3)
    ]
    savemat(folder / "consensus_pascal.mat", {"triplets": struct(["A", "B", "C", "winner"], triplets)})
    pairs: dict[str, Any] = {
        "new_input": struct(["image", "sent1", "sent2"], list(listed)), "category": np.array([[2, 4,
        4][: len(listed)]]),
        "new_data": np.array([[6, 7], [1, 3], [1, 3]][: len(listed)]),
    }  # fmt: skip
    if votes:
        pairs["worker_votes"] = np.array([[1, 1, -1, 1], [-1, -1, -1, 1], [1, 1, 1, 1]][: len(listed)])
    savemat(folder / "pair_pascal.mat", pairs)


def test_pascal_as_published(tmp_path: Path) -> None:
    fifty(tmp_path)
    savemat(
        tmp_path / "pascal50S.mat",
        {"train_sent_final": struct(["image", "sent"], [("2008_1.jpg", cell(["r1", "r2", "r3"]))])},
    )
    found = load_judgements(f"pascal-50s={tmp_path}")
    assert isinstance(found, CaptionPairs)
    assert (
        found.first == ["a dog runs", "men talk"]
        and found.categories == ["HI", "MM"]
        and found.images == ["2008_1", "2008_2"]
    )
    assert found.margins.tolist() == [0.5, -0.5] and found.triplet_votes == [[-1, 1, 1], [1, 1, 1]]
    # Fifty references where that file has the image, else those of the triplets.
    assert found.references == [["r1", "r2", "r3"], ["reference 0", "reference 1", "reference 2"]]
    fifty(tmp_path, votes=False)
    bare = load_judgements(f"pascal-50s={tmp_path}")
    assert (
        isinstance(bare, CaptionPairs)
        and bare.protocol.votes == "triplets"
        and bare.margins.tolist() == pytest.approx([1 / 3, 1])
    )


def test_two_images_with_the_same_two_captions(tmp_path: Path) -> None:
    fifty(tmp_path, listed=SAME)
    found = load_judgements(f"pascal-50s={tmp_path}")
    assert isinstance(found, CaptionPairs) and found.triplet_votes == [[-1, 1, 1], [1, 1, 1], [-1, 1, 1]]
    assert found.images == ["2008_1", "2008_2", "2008_3"]
    other = tmp_path / "other"
    other.mkdir()
    fifty(other, listed=PAIRS[::-1])
    (other / "consensus_pascal.mat").replace(tmp_path / "consensus_pascal.mat")
    with pytest.raises(InputError, match="not of the same 3 pairs"):
        load_judgements(f"pascal-50s={tmp_path}")


def test_abstract_as_published(tmp_path: Path) -> None:
    triplets = [
        (cell(["ref"]), cell([f"first {p}"]), cell([f"second {p}"]), 1.0)
        for p in range(400)
        for _ in range(2)
    ]
    savemat(tmp_path / "consensus_abstract.mat", {"triplets": struct(["A", "B", "C", "winner"], triplets)})
    found = load_judgements(f"abstract-50s={tmp_path}")
    assert isinstance(found, CaptionPairs)
    assert (
        len(found) == 400
        and found.categories[199:201] == ["HC", "HI"]
        and found.references[0] == ["ref", "ref"]
    )


@pytest.mark.parametrize(
    ("name", "variables", "message"),
    [
        ("pair_pascal.mat", {"other": 1}, r"no variable 'new_input'; it holds other"),
        ("consensus_pascal.mat", {"triplets": np.array([[1.0, 2.0]])}, r"expected records of 4 fields"),
        (
            "consensus_pascal.mat",
            {"triplets": struct(list("ABCW"), [(cell(["a"]), cell(["b"]), cell(["c"]), 3.0)])},
            r"a vote is 1 or -1, found 3",
        ),
        (
            "consensus_pascal.mat",
            {"triplets": struct(list("ABCW"), [(7.0, cell(["b"]), cell(["c"]), 1.0)])},
            r"expected text, found",
        ),
        (
            "pair_pascal.mat",
            {"new_input": struct(list("abc"), list(PAIRS)), "category": np.array([[1, 9]])},
            r"'category' must be a number from 1 to 4",
        ),
    ],
)
def test_matlab_gone_wrong(tmp_path: Path, name: str, variables: dict[str, Any], message: str) -> None:
    fifty(tmp_path)
    savemat(tmp_path / name, variables)
    with pytest.raises(InputError, match=message):
        load_judgements(f"pascal-50s={tmp_path}")


def test_matlab_files_that_are_none(tmp_path: Path) -> None:
    fifty(tmp_path)
    whole = (tmp_path / "pair_pascal.mat").read_bytes()
    for content, message in (
        (whole[: len(whole) // 2], "damaged"), (b"hello", "is no MATLAB file"), (b"\x89HDF\r\n", "MATLAB "
        "7.3"), (b"\x80\x04x", "pickle"),
        (whole[:128] + b"\xff" * 200, "damaged|no variable"),
    ):  # fmt: skip
        (tmp_path / "pair_pascal.mat").write_bytes(content)
        with pytest.raises(InputError, match=message):
            load_judgements(f"pascal-50s={tmp_path}")


def test_pairs_in_our_layout(tmp_path: Path) -> None:
    row = {
        "image": "2008_1.jpg",
        "category": "HC",
        "sent1": "a",
        "sent2": "b",
        "pair_votes": [1, -1, 1],
        "triplet_majority_label": 1,
    }
    lines(tmp_path / "pascal50s" / "sample_pairs.jsonl", [row])
    lines(
        tmp_path / "pascal50s" / "sample_references.jsonl",
        [{"image": "2008_1.jpg", "references": ["r", "s"]}],
    )
    found = load_judgements("pascal-50s", tmp_path)
    assert (
        isinstance(found, CaptionPairs)
        and found.triplet_votes == [[-1]]
        and found.margins.tolist() == pytest.approx([1 / 3])
    )
    for change, message in (
        ({"pair_votes": [1, 2]}, "votes are 1 .* or -1"), ({"image": "x"}, "image x has no references"),
        ({"triplet_majority_label": 5}, "0 .* or 1"), ({"sent1": 4}, "'sent1' must be text, found 4"),
    ):  # fmt: skip
        lines(tmp_path / "pascal50s" / "sample_pairs.jsonl", [{**row, **change}])
        with pytest.raises(InputError, match=message):
            load_judgements("pascal-50s", tmp_path)


def thumb_row(**changes: Any) -> dict[str, Any]:
    row = {
        "SYS": "A",
        "seg_id": "42",
        "hyp": "a dog",
        "image": "COCO_val2014_000000000042.jpg",
        "P": 4,
        "R": 3,
        "human_score": 3.5,
    }
    return {**row, **changes}


def test_thumb(tmp_path: Path) -> None:
    folder = tmp_path / "mscoco"
    lines(
        folder / "mscoco_THumB-1.0.jsonl",
        [thumb_row(), thumb_row(seg_id="43", image="COCO_val2014_000000000043.jpg")],
    )
    lines(folder / "mscoco_references.jsonl", [{"seg_id": "42", "refs": ["dog", "the dog"]}])
    found = rated("thumb", tmp_path)
    assert (
        found.ratings == [[3.5]]
        and found.references == [["dog", "the dog"]]
        and found.left_out == 1
        and found.systems == ["A"]
    )
    assert rated("thumb-r", tmp_path).ratings == [[3.0]] and rated("thumb-r", tmp_path).name == "THumB-R"
    lines(folder / "mscoco_THumB-1.0.jsonl", [thumb_row(refs=["x"]), thumb_row(refs=["x"], SYS="Human")])
    assert len(rated("thumb", tmp_path)) == 2 and rated("thumb-machine", tmp_path).systems == ["A"]
    lines(folder / "mscoco_THumB-1.0.jsonl", [thumb_row(refs=["x"], published={"CIDEr": 1.5, "CLIPS": None})])
    published = rated("thumb", tmp_path).published
    assert published["CIDEr (as published)"].tolist() == [1.5] and np.isnan(
        published["CLIPS (as published)"][0]
    )
    lines(folder / "mscoco_THumB-1.0.jsonl", [thumb_row(refs=["x"], human_score="good")])
    with pytest.raises(InputError, match="'human_score' must be a number, found 'good'"):
        load_judgements("thumb", tmp_path)


def test_capeval1k(tmp_path: Path) -> None:
    row = {"image": "coco_val2014_000000000042", "caption": "a dog", "target": 0.6}
    lines(tmp_path / "capeval1k.jsonl", [row, {**row, "image": "coco_val2014_000000000001"}])
    lines(tmp_path / "coco" / "references.jsonl", [{"image_id": 42, "captions": ["a dog .", "dogs"]}])
    found = rated(f"capeval1k={tmp_path}")
    assert found.left_out == 1 and found.references == [["a dog .", "dogs"]] and found.ratings == [[0.6]]
    (tmp_path / "capeval1k.jsonl").write_bytes(b"\x80\x04\x95rest of a pickle")
    with pytest.raises(InputError, match="a Python pickle"):
        load_judgements(f"capeval1k={tmp_path}")


def test_polaris_csv_parquet_and_nebula(tmp_path: Path) -> None:
    table(
        tmp_path / "polaris_test.csv",
        [["mt", "refs", "score", "imgid"], ["a dog", "['a dog\\'s life', \"dogs\"]", "0.75", "7.jpg"]],
    )
    found = rated(f"polaris={tmp_path}")
    assert (
        found.references == [["a dog's life", "dogs"]] and found.ratings == [[0.75]] and found.images == ["7"]
    )
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    columns = {
        "refs": [["a", "b"], ["a", "b"]],
        "cand": ["x", "y"],
        "human_score": [0.5, 1.0],
        "img": [{"bytes": b"1"}, {"bytes": b"2"}],
    }
    parquet.write_table(pyarrow.table(columns), tmp_path / "nebula_test.parquet")
    nebula = rated(f"nebula={tmp_path}")
    assert nebula.captions == ["x", "y"] and len(set(nebula.images)) == 1 and nebula.name == "Nebula"


@pytest.mark.parametrize(
    ("refs", "message"),
    [
        ("[open('secret').read()]", "not a list"), ("__import__('os').system('true')", None), ("[1, 2]",
        "list of captions"), ("[]", "list of captions"),
        ("[" * 5000, "CAPTIOUS_MAX_DEPTH"),
    ],
)  # fmt: skip
def test_cells_are_never_run(tmp_path: Path, refs: str, message: str | None) -> None:
    table(tmp_path / "polaris_test.csv", [["mt", "refs", "score"], ["a dog", refs, "1"]])
    if message is None:  # not a list: an ordinary caption
        assert rated(f"polaris={tmp_path}").references == [[refs]]
        return
    with pytest.raises(InputError, match=message):
        load_judgements(f"polaris={tmp_path}")


def test_cxc(tmp_path: Path) -> None:
    header = ["caption1", "caption2", "agg_score", "sampling_method"]
    rows = [
        ["COCO_val2014:sentid:5", "COCO_val2014:sentid:6", "1.24", "c2c_isim"],
        ["COCO_val2014:sentid:5", "COCO_val2014:sentid:9", "3", "c2c_isim"],
    ]
    table(tmp_path / "cxc" / "sts_val.csv", [header, *rows])
    with pytest.raises(InputError, match=r"no dataset_coco\.json .*Karpathy"):
        load_judgements("cxc", tmp_path)
    sentences = [{"sentid": 5, "raw": "A dog."}, {"sentid": 6, "raw": "A cat."}]
    (tmp_path / "cxc" / "dataset_coco.json").write_text(
        json.dumps({"images": [{"sentences": sentences}]}), encoding="utf-8"
    )
    found = rated("cxc", tmp_path)
    assert (
        found.captions == ["A dog."]
        and found.references == [["A cat."]]
        and found.ratings == [[1.24]]
        and found.left_out == 1
    )
    (tmp_path / "cxc" / "dataset_coco.json").write_text("{}", encoding="utf-8")
    with pytest.raises(InputError, match="not Karpathy's splits"):
        load_judgements("cxc", tmp_path)


def test_the_challenge(tmp_path: Path) -> None:
    row = {
        "team": "A",
        "M1": 0.1,
        "M2": 0.2,
        "M3": 3,
        "M4": 2,
        "M5": 0.1,
        "c5": {"CIDEr": 0.9, "Bleu_4": 0.3},
        "c40": None,
    }
    lines(tmp_path / "challenge2015.jsonl", [row, {**row, "team": "B", "c5": None}])
    found = load_judgements(f"coco-2015={tmp_path}")
    assert isinstance(found, RatedSystems) and found.systems == ["A", "B"]
    assert (
        found.scores["CIDEr-D"][0] == 0.9
        and np.isnan(found.scores["CIDEr-D"][1])
        and set(found.scores) == {"CIDEr-D", "BLEU-4"}
    )
    lines(tmp_path / "challenge2015.jsonl", [{**row, "M3": None}])
    with pytest.raises(InputError, match="no field 'M3'"):
        load_judgements(f"coco-2015={tmp_path}")


def test_own_tables(tmp_path: Path) -> None:
    path = table(
        tmp_path / "mine.csv",
        [["image", "caption", "references", "ratings", "system", "metric:Mine"],
         ["1", "a dog", '["a dog runs", "dogs"]', "[4, 3]", "X", "0.5"], ["1", "a cat", "", "[1, 2]", "Y",
         "0.25"]],
    )  # fmt: skip
    found = rated(path)
    assert found.name == "mine" and found.ratings == [[4, 3], [1, 2]] and found.systems == ["X", "Y"]
    # References stand once for an image.
    assert found.references == [["a dog runs", "dogs"]] * 2 and found.scores["Mine"].tolist() == [0.5, 0.25]
    pairs = load_judgements(
        lines(
            tmp_path / "pairs.jsonl",
            [{"image": 1, "first": "a", "second": "b", "references": ["c"], "votes": [1, -1, 1]}],
        )
    )
    assert isinstance(pairs, CaptionPairs) and pairs.margins.tolist() == pytest.approx([1 / 3])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is empty"),
        ("{\"image\": 1", "line 1: not valid JSON"),
        ("[1, 2]", "row 1: a row must be an object"),
        ("hello world", "neither JSON nor a table"),
        ("image,caption,rating\n1,a dog\n", "line 2: 2 fields, but the header has 3"),
        ("image,caption,image\n1,a,1\n", "column name occurs twice"),
        ("image,caption,rating\n", "has no rows"),
        ("image,text\n1,a\n", "rated captions need the fields"),
        ("image,caption,rating\n1,a,5\n", "image 1 has no references in any row"),
        ("image,caption,references,rating\n1,a,b,\n", "must be a number|no field"),
        ("image,caption,references,ratings\n1,a,b,[]\n", "'ratings' is empty"),
        ("image,caption,references,rating\n1,a,b,inf\n", "finite number"),
        ('{"image": 1, "first": "a", "second": "b", "references": ["c"], "votes": [2]}', "votes are 1"),
        ('{"image": [1], "caption": "a", "references": ["c"], "rating": 2}', "must be a name or a number"),
        (b"\x00\x01\xff\xfe\xfa", "not valid UTF-8"),
    ],
)  # fmt: skip
def test_own_tables_gone_wrong(tmp_path: Path, content: str | bytes, message: str) -> None:
    path = tmp_path / "mine.txt"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(InputError, match=message):
        load_judgements(path)


def test_names_and_places(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="did you mean 'flickr8k-cf'"):
        load_judgements("flickr8-cf")
    with pytest.raises(InputError, match="holds no set of judgements"):
        load_judgements(tmp_path)
    with pytest.raises(InputError, match="is not a folder"):
        load_judgements("thumb", tmp_path / "nowhere")
    for name in SETS:
        with pytest.raises(InputError, match="; get it from "):
            load_judgements(name, tmp_path)
    assert all(SOURCES.values())


def test_a_folder_holds_what_is_in_it_and_not_what_is_beside_it(tmp_path: Path) -> None:
    flickr8k(tmp_path / "flickr8k")
    lines(
        tmp_path / "composite" / "sample.jsonl",
        [{"subset": "8k", "image": "11_aa", "caption": "a dog", "score": 4}],
    )
    lines(tmp_path / "thumb" / "thumb.jsonl", [thumb_row(refs=["x"])])
    lines(
        tmp_path / "pascal50s" / "pairs.jsonl",
        [{"image": "1", "sent1": "a", "sent2": "b", "pair_votes": [1]}],
    )
    lines(tmp_path / "pascal50s" / "references.jsonl", [{"image": "1", "references": ["r"]}])
    names = {
        folder: [load().name for load in find_judgements(tmp_path / folder)]
        for folder in ("", "flickr8k", "composite", "thumb", "pascal50s")
    }
    assert names == {
        "": ["Flickr8k-Expert", "Flickr8k-CF", "COMPOSITE", "PASCAL-50S", "THumB"],
        "flickr8k": ["Flickr8k-Expert", "Flickr8k-CF"],
        "composite": ["COMPOSITE"], "thumb": ["THumB"], "pascal50s": ["PASCAL-50S"],
    }  # fmt: skip


def test_keys() -> None:
    assert (
        image_key("http://x/y/COCO_val2014_000000000042.jpg") == "42"
        and image_key("coco_val2014_000000000042") == "42"
    )
    assert image_key("123_ab.jpg#3") == "123_ab" and image_key("42") == "42"
    assert own_key("A dog , running.") == own_key("a dog running") != own_key("a dog runs")
    # An apostrophe or a hyphen that one of two files lacks.
    assert own_key("the black goats dark skinned keeper") == own_key("The black goat's dark-skinned keeper.")


def test_distraction_files(tmp_path: Path) -> None:
    assert (
        task_of("ReplacePerson.txt") == task_of("replace_people.tsv") == "Replace Person"
        and task_of("notes.txt") is None
    )
    (tmp_path / "JustScene.txt").write_text("5.jpg#0\ta man walks on a beach\ta beach\n", encoding="utf-8")
    (tmp_path / "share-person.txt").write_text(
        "5.jpg\ta man walks on a beach\ta man sleeps\n", encoding="utf-8"
    )
    with pytest.raises(InputError, match=r"results_20130124\.token"):
        load_distractions(tmp_path)
    (tmp_path / "results_20130124.token").write_text(
        "5.jpg#0\tA man walks on a beach .\n5.jpg#1\tA man at the sea .\n", encoding="utf-8"
    )
    found = load_distractions(tmp_path)
    assert (
        sorted(found.categories) == ["Just Scene", "Share Person"]
        and found.references == [["A man at the sea ."]] * 2
    )
    assert all(v == [1] for v in found.votes)
    (tmp_path / "JustScene.txt").write_text("5.jpg\tonly two\n", encoding="utf-8")
    with pytest.raises(InputError, match="line 1: expected image, correct caption and distractor, found 2"):
        load_distractions(tmp_path)
    rows = lines(
        tmp_path / "all.jsonl", [{"image": "5", "correct": "a", "distractor": "b", "references": ["c"]}]
    )
    with pytest.raises(InputError, match="'task' must be one of"):
        load_distractions(rows)
    with pytest.raises(InputError, match="forced-choice tasks of Hodosh"):
        load_distractions(lines(tmp_path / "empty" / "x.jsonl", [{}]).parent)


ROW = '{"image": "1", "caption": "a dog", "references": ["the dog"], "ratings": [1]'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (ROW + ', "caption": "a cat"}', "'caption' occurs twice"),
        ("[" + ROW + ', "caption": "a cat"}]', "'caption' occurs twice"),
        (ROW + ', "extra": ' + "[" * 500 + "]" * 500 + "}", "CAPTIOUS_MAX_DEPTH"),
        (ROW + ', "extra": ' + "[" * 100_000 + "]" * 100_000 + "}", "CAPTIOUS_MAX_DEPTH"),
        (ROW.replace("a dog", "a " * 600) + "}", "CAPTIOUS_MAX_LINE"),
        ("image,caption,references,ratings\n1," + "a " * 600 + ",b,1\n", "CAPTIOUS_MAX_LINE"),
    ],
)
def test_limits_hold_for_judgements(
    tmp_path: Path, text: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "MAX_LINE" in message:
        monkeypatch.setenv("CAPTIOUS_MAX_LINE", "1000")
    (tmp_path / "mine.jsonl").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        load_judgements(tmp_path / "mine.jsonl")


@pytest.mark.skipif(os.name != "posix", reason="named pipes")
def test_judgements_from_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "mine"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_text(ROW + "}\n", encoding="utf-8"))
    writer.start()
    assert rated(str(pipe)).captions == ["a dog"]
    writer.join(10)


def test_audio_pairs(tmp_path: Path) -> None:
    row = {
        "raw_name": "rain.wav",
        "references": ["rain falls", "water drips"],
        "HC": ["rain falls", "water drips on tin", "p", "p", [1, 1, -1, 0]],
        "MM_2": ["a dog", "a cat", "rl", "fc", 0, [-1, -1, -1, -1]],
        "MM_3": None,
    }
    lines(tmp_path / "clotho_eval.jsonl", [row])
    pairs = load_judgements(f"clotho-eval={tmp_path}")
    assert isinstance(pairs, CaptionPairs) and pairs.categories == ["HC", "MM"]
    assert pairs.margins.tolist() == [0.25, -1.0] and pairs.first == ["rain falls", "a dog"]
    assert pairs.second == ["water drips on tin", "a cat"]
    for broken in (
        ["rain falls", "water", "p", "p", [2]],
        ["rain falls", "water", "p", "p", []],
        ["rain falls", "water", "p", [1]],
        ["rain falls", 3, "p", "p", [1]],
        ["rain falls", "water", "p", "p", 0, 0, [1]],
    ):
        lines(tmp_path / "audiocaps_eval.jsonl", [{**row, "HC": broken}])
        with pytest.raises(InputError, match="'HC' is"):
            load_judgements(f"audiocaps-eval={tmp_path}")
    lines(tmp_path / "audiocaps_eval.jsonl", [{"raw_name": "rain.wav", "references": ["rain"]}])
    with pytest.raises(InputError, match="no row has a pair"):
        load_judgements(f"audiocaps-eval={tmp_path}")


def test_msvd_eval(tmp_path: Path) -> None:
    row = {
        "video": "vid1",
        "caption": "a cat jumps",
        "references": ["a cat"],
        "scores": [[5, 3, 4], [2, 2, 2]],
    }
    lines(tmp_path / "msvd_eval.jsonl", [row])
    assert rated(f"msvd-eval={tmp_path}").ratings == [[4.0, 2.0]]
    lines(tmp_path / "msvd_eval.jsonl", [{**row, "scores": [["x"]]}])
    with pytest.raises(InputError, match="'scores' is"):
        load_judgements(f"msvd-eval={tmp_path}")
