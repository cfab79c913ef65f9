"""Files in the formats of harnesses and data sets, with captions of our own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import captious
from captious.cli.app import app
from captious.core.errors import InputError
from captious.io import describe, has_both_sides, read
from captious.io.image_columns import image_values
from captious.tasks import remarks

LINES = ["a man plays a guitar", "two dogs run, fast"]
REFERENCES = {"7": ["a man with a guitar", "he plays"], "9": ["dogs run"]}
PREDICTIONS = {"7": ["a man plays a guitar"], "9": ["two dogs run, fast"]}


def found(source: Any, role: str = "references", **options: Any) -> dict[str, list[str]]:
    file = read(source, role, **options)  # type: ignore[arg-type]
    return dict(zip(file.ids, map(list, file.captions)))


def lmms_eval(logged: bool) -> str:
    rows = []
    for number, (image, texts) in enumerate(REFERENCES.items()):
        said = PREDICTIONS[image][0]
        row: dict[str, Any] = {
            "doc_id": number,
            "target": str(texts),
            "filtered_resps": said,
            "doc_hash": "x",
        }
        if logged:
            row["coco_CIDEr"] = {"answer": texts, "pred": said, "image_id": int(image), "id": number}
        else:
            row["filtered_resps"] = [said]
        rows.append(json.dumps(row))
    return "\n".join(rows) + "\n"


def test_samples_of_lmms_eval_have_both_sides(tmp_path: Path) -> None:
    path = tmp_path / "x_samples_coco2014_cap_val.jsonl"
    path.write_text(lmms_eval(True))
    assert found(path) == REFERENCES and found(path, "predictions") == PREDICTIONS
    assert has_both_sides(path)
    wanted = captious.score(REFERENCES, {k: v[0] for k, v in PREDICTIONS.items()}, "BLEU-4")["BLEU-4"].value
    assert captious.score(path, metrics="BLEU-4")["BLEU-4"].value == wanted  # type: ignore[call-overload]
    assert captious.score(path, path, "BLEU-4")["BLEU-4"].value == wanted
    done = CliRunner().invoke(
        app, ["score", str(path), "-m", "BLEU-4", "--json", "-"], catch_exceptions=False
    )
    assert json.loads(done.stdout)["systems"][0]["scores"]["BLEU-4"]["value"] == pytest.approx(wanted)
    path.write_text(lmms_eval(False))
    assert list(found(path).values()) == list(REFERENCES.values())
    assert found(path, "predictions") == {"0": PREDICTIONS["7"], "1": PREDICTIONS["9"]}
    # Early versions write one object with all samples.
    path.write_text(json.dumps({"args": {}, "logs": [json.loads(x) for x in lmms_eval(True).splitlines()]}))
    assert found(path, "predictions") == PREDICTIONS
    path.write_text(json.dumps({"results": {}, "configs": {}, "n-shot": {}}))
    with pytest.raises(InputError, match=r"lmms-eval's summary.*_samples_"):
        read(path, "predictions")


def vlmevalkit() -> list[dict[str, Any]]:
    return [
        {"index": int(i), "image": "/9j/4AAQ", "answer": str(texts), "prediction": PREDICTIONS[i][0]}
        for i, texts in REFERENCES.items()
    ]


def test_tables_of_vlmevalkit_have_both_sides(tmp_path: Path) -> None:
    rows = vlmevalkit()
    (tmp_path / "m.json").write_text(json.dumps(rows))
    (tmp_path / "m.tsv").write_text(
        "\t".join(rows[0]) + "\n" + "".join("\t".join(map(str, row.values())) + "\n" for row in rows)
    )
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for cells in (list(rows[0]), *(list(row.values()) for row in rows)):
        book.active.append(cells)
    book.save(tmp_path / "m.xlsx")
    for name in ("m.json", "m.tsv", "m.xlsx"):
        path = tmp_path / name
        assert found(path) == REFERENCES, name
        assert found(path, "predictions") == PREDICTIONS, name
        described = describe(path)
        assert described.has_both_sides and described.left_out == ("image",)
        assert [side.caption_field for side in described.sides] == ["answer", "prediction"]


def test_a_damaged_or_empty_spreadsheet(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    path = tmp_path / "m.xlsx"
    openpyxl.Workbook().save(path)
    with pytest.raises(InputError, match="first sheet is empty"):
        read(path, "references")
    path.write_bytes(path.read_bytes()[:-300])
    with pytest.raises(InputError, match="damaged"):
        read(path, "references")


def test_oscar(tmp_path: Path) -> None:
    path = tmp_path / "pred.tsv"
    path.write_text(
        '391895\t[{"caption": "a man", "conf": 0.9}, {"caption": "b", "conf": 0.1}]\n42\t[{"caption": "a dog"}]\n'
    )
    assert found(path, "predictions") == {"391895": ["a man"], "42": ["a dog"]}
    assert "captions after the first of an image" in describe(path).left_out
    path.write_text('391895\t[{"caption": "a man"}]\n42\ta dog\n')
    with pytest.raises(InputError, match="line 2: expected a key, a tab"):
        read(path, "predictions")


def test_llava_and_rows_with_one_key(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    rows = [
        {"question_id": k, "prompt": "Describe", "text": v[0], "model_id": "m"}
        for k, v in PREDICTIONS.items()
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert found(path, "predictions") == PREDICTIONS
    path.write_text(json.dumps([{k: v[0]} for k, v in PREDICTIONS.items()]))
    assert found(path, "predictions") == PREDICTIONS


def test_lines_are_matched_by_number(tmp_path: Path) -> None:
    """As transformers writes generated_predictions.txt."""
    path = tmp_path / "generated_predictions.txt"
    path.write_text("\n".join(LINES) + "\n")
    assert list(found(path, "predictions").values()) == [[line] for line in LINES]
    other = tmp_path / "references.txt"
    other.write_text("a man with a guitar\ntwo dogs run here\n")
    assert captious.score(other, path, "BLEU-1")["BLEU-1"].value > 0.5
    with pytest.raises(InputError, match="without ids"):
        captious.score(REFERENCES, path, "BLEU-1")
    other.write_text("a man with a guitar\n")
    with pytest.raises(InputError, match="neither JSON"):
        read(other, "references")


def test_a_header_is_no_caption(tmp_path: Path) -> None:
    """A table of aac-metrics has no ids, and lines of quoted captions have different numbers of commas."""
    table = tmp_path / "audio.csv"
    table.write_text(
        "caption_predicted,caption_1,caption_2\n"
        'rain falls hard,rain is falling on a roof,"rain, then thunder, far away"\n'
        "a dog barks twice,a dog is barking at a car,dogs bark\n"
    )
    file = read(table, "references")
    assert list(map(list, file.captions)) == [
        ["rain is falling on a roof", "rain, then thunder, far away"],
        ["a dog is barking at a car", "dogs bark"],
    ]
    assert [list(texts) for texts in read(table, "predictions").captions] == [
        ["rain falls hard"],
        ["a dog barks twice"],
    ]
    alone = tmp_path / "alone.csv"
    alone.write_text("Caption\na man, a dog and a cat\na cat sleeps on a wall\n")
    with pytest.raises(
        InputError, match="first line, 'Caption', names a column, but there is no column of ids"
    ):
        read(alone, "predictions")
    # Names of columns inside a caption are words.
    plain = tmp_path / "plain.txt"
    plain.write_text("a sign with a blue border, text\na cat sleeps on a wall\n")
    assert len(read(plain, "predictions").captions) == 2


def test_textcaps(tmp_path: Path) -> None:
    rows = [
        {"image_id": image, "caption_str": text, "reference_strs": texts, "image_path": "x"}
        for image, texts in REFERENCES.items()
        for text in texts
    ]
    assert found({"dataset_type": "val", "data": rows}) == REFERENCES
    with pytest.raises(InputError, match="TextCaps, which holds references"):
        read({"data": rows}, "predictions")
    rows[1] = {**rows[1], "reference_strs": ["other"]}
    with pytest.raises(InputError, match="data 2: image '7' has other references"):
        read({"data": rows}, "references")


def test_videos(tmp_path: Path) -> None:
    videos = [{"video_id": "7", "split": "train"}, {"video_id": "9", "split": "test"}]
    sentences = [{"sen_id": 0, "video_id": v, "caption": t} for v, texts in REFERENCES.items() for t in texts]
    path = tmp_path / "videodatainfo.json"
    path.write_text(json.dumps({"info": {}, "videos": videos, "sentences": sentences}))
    assert found(path) == REFERENCES
    assert image_values(path, "split") == {"7": ("train",), "9": ("test",)}
    assert captious.score(path, {"9": "dogs run"}, "BLEU-1", split="test")["BLEU-1"].value > 0.9
    assert found([{"videoID": v, "enCap": t, "chCap": ["一"]} for v, t in REFERENCES.items()]) == REFERENCES
    cooking = {
        "database": {
            "v": {"subset": "validation", "annotations": [{"id": 0, "segment": [1, 2], "sentence": "cut it"}]}
        }
    }
    assert found(cooking) == {"v#0": ["cut it"]}
    dense = {"v_1": {"duration": 9, "timestamps": [[0, 1], [2, 3]], "sentences": ["a man sits", "he stands"]}}
    assert found(dense) == {"v_1#0": ["a man sits"], "v_1#1": ["he stands"]}
    results = {
        "version": "1",
        "results": {
            "v_1": [{"sentence": "a man", "timestamp": [0, 1]}, {"sentence": "up", "timestamp": [2, 3]}]
        },
    }
    assert found(results, "predictions") == {"v_1#0": ["a man"], "v_1#1": ["up"]}
    with pytest.raises(InputError, match="holds predictions, but references were expected"):
        read(results, "references")
    with pytest.raises(InputError, match="not as YouCook2 writes it"):
        read({"database": {"v": {"annotations": []}, "w": 3}}, "references")


def test_msvd(tmp_path: Path) -> None:
    path = tmp_path / "AllVideoDescriptions.txt"
    path.write_text(
        "# comment\n\n-4wsuPCjDBc_5_15 a squirrel eats\n-4wsuPCjDBc_5_15 it eats\nmv89psg6zh4_33_46 a bird\n"
    )
    assert found(path) == {
        "-4wsuPCjDBc_5_15": ["a squirrel eats", "it eats"],
        "mv89psg6zh4_33_46": ["a bird"],
    }
    split = tmp_path / "sents_test_lc_nopunc.txt"
    split.write_text("vid1301\ta man rides a bike\nvid1301\ta man, riding\nvid1302\ta cat\n")
    assert found(split) == {"vid1301": ["a man rides a bike", "a man, riding"], "vid1302": ["a cat"]}
    split.write_text("vid1301\ta man rides a bike\nvideo\n")
    with pytest.raises(InputError, match="line 2: expected a clip"):
        found(split)
    table = tmp_path / "video_corpus.csv"
    table.write_text(
        "VideoID,Start,End,Language,Description\nabc,1,5,English,a bird\nabc,1,5,German,ein Vogel\n"
    )
    assert found(table) == {"abc_1_5": ["a bird"]}
    assert "1 descriptions in other languages" in describe(table).left_out


def test_audio(tmp_path: Path) -> None:
    path = tmp_path / "test.csv"
    path.write_text("audiocap_id,youtube_id,start_time,caption\n1,vfY_T,30,a man speaks\n2,vfY_T,30,speech\n")
    assert found(path) == {"vfY_T": ["a man speaks", "speech"]}
    path.write_text("fname,caption_predicted,caption_1,caption_2\na.wav,rain,it rains,rain falls\n")
    assert found(path) == {"a.wav": ["it rains", "rain falls"]} and found(path, "predictions") == {
        "a.wav": ["rain"]
    }
    path.write_text("caption_predicted,caption_1,caption_2\nrain,it rains,rain falls\n")
    assert found(path) == {"0": ["it rains", "rain falls"]} and has_both_sides(path)


def test_nocaps_as_a_table() -> None:
    rows = [
        {"image_id": int(i), "annotations_ids": [1], "annotations_captions": t} for i, t in REFERENCES.items()
    ]
    assert found(rows) == REFERENCES


def test_nocaps_has_domains(tmp_path: Path) -> None:
    images = [{"id": 7, "domain": "in-domain"}, {"id": 9, "domain": "out-domain"}]
    rows = [{"image_id": int(k), "id": 0, "caption": t} for k, texts in REFERENCES.items() for t in texts]
    path = tmp_path / "nocaps.json"
    path.write_text(json.dumps({"images": images, "annotations": rows}))
    assert found(path) == REFERENCES
    assert image_values(path, "domain") == {"7": ("in-domain",), "9": ("out-domain",)}


def test_formats_command(tmp_path: Path) -> None:
    path = tmp_path / "samples.jsonl"
    path.write_text(lmms_eval(True))
    done = CliRunner().invoke(app, ["formats", str(path), "--json", "-"], catch_exceptions=False)
    (described,) = json.loads(done.stdout)
    assert described["format"] == "lmms-eval samples" and described["both_sides"]
    assert [side["images"] for side in described["sides"]] == [2, 2]
    done = CliRunner().invoke(app, ["formats", str(path)], catch_exceptions=False)
    assert "both sides are in the file" in done.stdout
    path.write_text("nothing\n")
    with pytest.raises(InputError, match="neither JSON"):
        describe(path)
    with pytest.raises(InputError, match="predictions are missing"):
        captious.score(path)  # type: ignore[call-overload]


def test_tables_by_columns(tmp_path: Path) -> None:
    columns = {
        "index": list(REFERENCES),
        "answer": [str(texts) for texts in REFERENCES.values()],
        "prediction": [texts[0] for texts in PREDICTIONS.values()],
    }
    by_place = {name: dict(zip("01", values)) for name, values in columns.items()}
    for value in (columns, by_place):
        path = tmp_path / "columns.json"
        path.write_text(json.dumps(value))
        assert found(path) == found(value) == REFERENCES
        assert found(path, "predictions") == PREDICTIONS and has_both_sides(path)
        assert describe(path).format == "a table by columns, as data frames write JSON"
    with pytest.raises(InputError, match="row 2: the image id is null"):
        found({**columns, "index": [7, None]}, "predictions")
    # An object from image to captions stays one.
    assert found({"image": ["a dog"], "text": ["a cat", "one cat"]}) == {
        "image": ["a dog"],
        "text": ["a cat", "one cat"],
    }


def test_results_of_a_challenge(tmp_path: Path) -> None:
    path = tmp_path / "msr_vtt.json"
    rows = [{"video_id": f"video{image}", "caption": texts[0]} for image, texts in PREDICTIONS.items()]
    path.write_text(json.dumps({"version": "1.0", "result": rows, "external_data": {"used": "false"}}))
    assert found(path, "predictions") == {f"video{image}": texts for image, texts in PREDICTIONS.items()}
    described = describe(path)
    assert described.format == "results of a challenge" and [s.role for s in described.sides] == [
        "predictions"
    ]
    with pytest.raises(InputError, match="which holds predictions, but references were expected"):
        found(path)


def test_what_is_left_out_is_not_what_is_read(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text(lmms_eval(False))
    assert describe(path).left_out == ("prompts, documents and values of metrics",)
    path.write_text(json.dumps({"v_1": {"timestamps": [[0, 1]], "sentences": ["a dog"]}}))
    assert describe(path).left_out == ("timestamps: segments are matched by their number, not by overlap",)
    path.write_text(
        "VideoID,Start,End,WorkerID,Language,Description\nabcdefghijk,1,2,9,English,a dog\n"
        "abcdefghijk,1,2,9,German,ein Hund\n"
    )
    assert describe(path).left_out == ("WorkerID", "Language", "1 descriptions in other languages")


def test_a_pattern_takes_all_its_columns(tmp_path: Path) -> None:
    path = tmp_path / "detailed.csv"
    path.write_text(
        "image,GT_Caption_A,GT_Caption_B,other\n7,a man with a guitar,he plays,x\n9,dogs run,,x\n"
    )
    assert found(path, caption_column="GT_Caption_*") == REFERENCES
    rows = [
        {"image": "7", "GT_A": "a man with a guitar", "GT_B": "he plays"},
        {"image": "9", "GT_A": "dogs run"},
    ]
    assert found(rows, caption_column="GT_*") == REFERENCES


def test_a_log_with_a_missing_caption_says_so(tmp_path: Path) -> None:
    path = tmp_path / "log.json"
    rows = [{"index": i, "answer": str(t), "prediction": PREDICTIONS[i][0]} for i, t in REFERENCES.items()]
    rows[1]["prediction"] = None  # type: ignore[typeddict-item]
    path.write_text(json.dumps(rows))
    for run in (
        lambda: captious.score(path, metrics="BLEU-4"),
        lambda: CliRunner().invoke(app, ["score", str(path), "-m", "BLEU-4"], catch_exceptions=False),
    ):
        with pytest.raises(
            InputError, match=r"predictions are missing.*row 2: the caption of image '9' is null"
        ):
            run()  # type: ignore[no-untyped-call]
    with pytest.raises(InputError, match="there is no such file"):
        CliRunner().invoke(app, ["score", str(tmp_path / "no.json")], catch_exceptions=False)


def test_failed_requests_of_vlmevalkit_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "model_COCO_VAL.tsv"
    path.write_text(
        "index\tanswer\tprediction\n0\t['a dog']\tFailed to obtain answer via API.\n1\t['a cat']\ta cat.\n"
    )
    assert "1 predictions are VLMEvalKit's message of a failed request" in describe(path).warnings[0]
    assert remarks(path, path) == ["1 captions are VLMEvalKit's message of a failed request"]
