"""The same numbers as from one file, for any shards, batches and formats."""

from __future__ import annotations

import json
import random
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow.parquet
import pytest

import captious
from captious import scale
from captious.api import compare_scores
from captious.results.scores import Scores
from captious.scale import shard_task as tasks
from captious.scale.whole_corpus import GROUPS
from tests.scale import making
from tests.scale.making import REFERENCES, Serial

METRICS = "lexical,CIDEr,Precision-2,Recall-1,METEOR,SPICE,CHAIRi"


def columns(folder: Path, names: list[str]) -> dict[str, list[float | None]]:
    tables = [pyarrow.parquet.read_table(folder / f"{name}.scores.parquet") for name in names]
    return {
        column: [value for table in tables for value in table.column(column).to_pylist()]
        for column in tables[0].column_names
    }


@pytest.mark.filterwarnings("ignore::captious.io.caption_files.CaptionWarning")
def test_columns_are_those_of_captious_score_bit_for_bit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = making.rows(2)
    random.Random(3).shuffle(rows)
    parts = making.split(rows, 4)
    making.parquet(tmp_path / "a.parquet", parts[0])
    making.jsonl(tmp_path / "b.jsonl", parts[1])
    making.tar(tmp_path / "c.tar", parts[2])
    making.jsonl(tmp_path / "d.jsonl.gz", [(int(image), caption) for image, caption in parts[3]])
    found = scale.score(tmp_path, REFERENCES, METRICS, output=tmp_path / "out", executor=Serial())
    ours = columns(tmp_path / "out", ["a", "b", "c", "d"])

    references = captious.prepare(REFERENCES, METRICS)
    given: dict[str, list[str]] = {}
    for image, caption in [row for part in parts for row in part]:
        given.setdefault(str(image), []).append(caption)
    whole = captious.score(references, given, METRICS, several=True)
    place = {
        image: iter(range(*whole["BLEU-4"].image_offsets[k : k + 2]))
        for k, image in enumerate(whole["BLEU-4"].ids)
    }
    order = [next(place[str(image)]) for part in parts for image, _ in part]
    assert list(ours) == list(whole)
    for name, score in whole.items():
        theirs = score.per_caption[order]
        assert [None if np.isnan(value) else value for value in theirs.tolist()] == ours[name], name
        # Each image has as many captions here, so that a mean over captions is one over images.
        assert found.scores[name].value == pytest.approx(score.value, rel=1e-12)
        assert found.scores[name].signature == f"{score.signature}|groups:{GROUPS}"


def test_columns_of_scores_have_checksums(tmp_path: Path) -> None:
    making.parquet(tmp_path / "a.parquet", making.rows())
    scale.score(tmp_path, REFERENCES, "BLEU-4", output=tmp_path / "out", executor=Serial())
    path = tmp_path / "out" / "a.scores.parquet"
    content = path.read_bytes()
    column = pyarrow.parquet.ParquetFile(path).metadata.row_group(0).column(0)
    at = column.data_page_offset + column.total_compressed_size - 5
    path.write_bytes(content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :])
    with pytest.raises(OSError, match="CRC"):
        pyarrow.parquet.ParquetFile(path, page_checksum_verification=True).read()


def test_neither_shards_nor_batches_change_a_score(tmp_path: Path) -> None:
    rows = making.rows()
    results = []
    for number, batch in ((1, 16_384), (3, 16_384), (5, 7)):
        shards = tmp_path / str(number)
        shards.mkdir()
        # One after another, so that rows keep their order.
        for place, part in enumerate(np.array_split(np.arange(len(rows)), number)):
            making.parquet(shards / f"{place}.parquet", [rows[i] for i in part])
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(scale.run_shards, "Job", partial(scale.run_shards.Job, batch=batch))
            found = scale.score(shards, REFERENCES, "lexical", output=shards / "out", executor=Serial())
        results.append(
            (
                found,
                columns(
                    shards / "out", [shard.name for shard in scale.find(shards) if "/out/" not in shard.path]
                ),
            )
        )
    first, theirs = results[0]
    for found, ours in results[1:]:
        assert ours == theirs
        for name, score in found.scores.items():
            assert score.value == pytest.approx(first.scores[name].value, rel=1e-12)
            assert score.ids == first.scores[name].ids
            np.testing.assert_allclose(
                score.statistics, first.scores[name].statistics, rtol=1e-12, atol=1e-14
            )


def test_intervals_are_those_of_images_where_groups_are_images(tmp_path: Path) -> None:
    rows = making.rows()[:60]
    making.parquet(tmp_path / "a.parquet", rows)
    found = scale.score(tmp_path, REFERENCES, "ROUGE-L,BLEU-4", output=tmp_path / "out", executor=Serial())
    whole = captious.score(REFERENCES, {str(image): caption for image, caption in rows}, "ROUGE-L,BLEU-4")
    for name in whole:
        ours, theirs = np.array(found.scores[name].interval()), np.array(whole[name].interval())
        assert len(found.scores[name].ids) in (59, 60), "two images of sixty may share a group"
        np.testing.assert_allclose(ours, theirs, atol=0.25 * (theirs[1] - theirs[0]))


def test_merged_scores_are_scores(tmp_path: Path) -> None:
    making.folder(tmp_path / "in")
    found = scale.score(
        tmp_path / "in", REFERENCES, "BLEU-4,CIDEr-D", output=tmp_path / "out", executor=Serial(), name="mine"
    )
    loaded = Scores.load(tmp_path / "out" / "mine.scores")
    assert {name: score.value for name, score in loaded.items()} == {
        name: score.value for name, score in found.scores.items()
    }
    assert loaded["CIDEr-D"].interval() == found.scores["CIDEr-D"].interval()
    described = json.loads((tmp_path / "out" / "mine.json").read_text())
    assert described["rows"] == len(making.rows()) and described["scores"]["BLEU-4"]["captions"] == len(
        making.rows()
    )
    # Two systems on the same images can be compared, pair by pair.
    poor = tmp_path / "poor"
    poor.mkdir()
    making.parquet(poor / "a.parquet", [(image, "a thing") for image, _ in making.rows()])
    other = scale.score(poor, REFERENCES, "BLEU-4,CIDEr-D", output=tmp_path / "other", executor=Serial())
    assert all(compare_scores(other.scores[name], found.scores[name]).p_bootstrap < 0.05 for name in loaded)


def test_files_are_written_only_on_request(tmp_path: Path) -> None:
    shards = making.folder(tmp_path / "in", 2)

    def score(**output: Path) -> scale.Result:
        return scale.score(str(shards / "*.parquet"), REFERENCES, "BLEU-4,Types", executor=Serial(), **output)

    before = making.content(tmp_path)
    result = score()
    assert making.content(tmp_path) == before and result.files == []
    merged = score(output=tmp_path / "merged.scores")
    assert merged.files == [tmp_path / "merged.scores"] and merged.to_json() == result.to_json()
    assert making.content(tmp_path).keys() - before.keys() == {"merged.scores"}
    # In the folder of the shards, the columns are beside them.
    beside = score(output=shards)
    assert beside.to_json() == result.to_json()
    assert {path.name for path in shards.iterdir()} == {"captions.json", "captions.scores"} | {
        f"part-00{k}{ending}"
        for k in range(2)
        for ending in (".parquet", ".scores.parquet", ".part", ".words")
    }
    again = score(output=shards)
    assert again.kept == 2 and again.to_json() == result.to_json()


@pytest.mark.parametrize("output", ["missing/out", "missing/merged.scores", "file/out"])
def test_a_folder_that_is_not_there_is_not_created(tmp_path: Path, output: str) -> None:
    making.folder(tmp_path / "in", 1)
    (tmp_path / "file").write_text("no folder")
    before = making.content(tmp_path)
    with pytest.raises(captious.core.errors.WriteError, match="there is no folder"):
        scale.score(tmp_path / "in", REFERENCES, "BLEU-4", output=tmp_path / output, executor=Serial())
    assert making.content(tmp_path) == before


def test_workers_elsewhere_need_a_folder(tmp_path: Path) -> None:
    making.folder(tmp_path / "in", 1)
    with pytest.raises(captious.core.errors.InputError, match="folder that all machines see"):
        scale.score(tmp_path / "in", REFERENCES, "BLEU-4", executor="dask=tcp://nowhere:1")


def test_missing_images_are_refused_or_stated(tmp_path: Path) -> None:
    rows = [row for row in making.rows() if int(row[0]) % 2]
    making.parquet(tmp_path / "a.parquet", rows[::2])
    making.parquet(tmp_path / "b.parquet", rows[1::2])

    def score(**settings: object) -> scale.Result:
        return scale.score(
            str(tmp_path / "*.parquet"), REFERENCES, "BLEU-4,CIDEr-D,TTR1", executor=Serial(), **settings
        )

    with pytest.raises(
        captious.core.errors.InputError, match=r"no caption for 30 of the 60 images .*'1002', '1004'"
    ):
        score()
    result = score(part=True)
    assert result.images == (30, 60) and result.to_json()["images"] == {"scored": 30, "references": 60}
    given: dict[str, list[str]] = {}
    for image, caption in rows:
        given.setdefault(str(image), []).append(caption)
    whole = captious.score(REFERENCES, given, "BLEU-4,CIDEr-D", several=True, part=True)
    for name, expected in whole.items():
        assert result.scores[name].value == pytest.approx(expected.value, rel=1e-12), "against all references"
        assert "|part:30of60@" in result.scores[name].signature
    # Another half of the images is not comparable.
    for name in ("a", "b"):
        (tmp_path / f"{name}.parquet").unlink()
    making.parquet(tmp_path / "c.parquet", [row for row in making.rows() if not int(row[0]) % 2])
    assert score(part=True).scores["BLEU-4"].signature != result.scores["BLEU-4"].signature
    making.parquet(tmp_path / "d.parquet", rows)
    complete = score()
    assert complete.images == (60, 60) and "|part:" not in complete.scores["BLEU-4"].signature


def test_parts_name_images_by_their_place(tmp_path: Path) -> None:
    """References in another order have the same scores, and must not reuse the list of images."""
    half = [row for row in making.rows() if int(row[0]) % 2]
    making.parquet(tmp_path / "a.parquet", half)
    references = {str(image): captions for image, captions in zip(*_read_references())}
    reverse = dict(reversed(references.items()))
    for source in (references, reverse):
        result = scale.score(
            tmp_path / "a.parquet", source, "BLEU-4", output=tmp_path / "out", executor=Serial(), part=True
        )
        assert result.kept == 0
        with pytest.raises(
            captious.core.errors.InputError,
            match=r"no caption for 30 of the 60 images of the references: '10(02|60)'",
        ):
            scale.score(tmp_path / "a.parquet", source, "BLEU-4", output=tmp_path / "out", executor=Serial())


def _read_references() -> tuple[list[str], list[list[str]]]:
    file = captious.io.read(REFERENCES, "references")
    return file.ids, [list(captions) for captions in file.captions]


def test_other_ways_to_write_ids(tmp_path: Path) -> None:
    rows = [(image, caption) for image, caption in making.rows()[:20]]
    named = [(f"COCO_val2014_{int(image):012d}.jpg", caption) for image, caption in rows]
    for name, given in (("plain", rows), ("named", named)):
        (tmp_path / name).mkdir()
        making.parquet(tmp_path / name / "a.parquet", given)
        scale.score(
            tmp_path / name,
            REFERENCES,
            "BLEU-4",
            output=tmp_path / f"{name}-out",
            executor=Serial(),
            part=True,
        )
    assert columns(tmp_path / "plain-out", ["a"]) == columns(tmp_path / "named-out", ["a"])


def test_the_references_are_sent_as_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """References are mapped once per process, and the data sent with a shard are small."""
    import pickle

    making.folder(tmp_path / "in")
    captious.prepare(REFERENCES, "lexical").save(tmp_path / "prepared")
    sent: list[tuple[str | None, int]] = []
    read = []

    class Spy(Serial):
        def submit(self, function, /, *given, **named):  # type: ignore[no-untyped-def]
            sent.append((function.args[0].args[0].references, len(pickle.dumps((function, given)))))
            return super().submit(function, *given, **named)

    def count(job: tasks.Job) -> tasks.PreparedJob:
        read.append(job.key)
        return made(job)

    made = scale.shard_job.PreparedJob
    monkeypatch.setattr(scale.shard_job, "PreparedJob", count)
    scale.shard_job._prepared.clear()
    scale.score(tmp_path / "in", tmp_path / "prepared", "lexical", output=tmp_path / "out", executor=Spy())
    assert {path for path, _ in sent} == {str(tmp_path / "prepared")} and max(size for _, size in sent) < 2000
    assert len([key for key in read if key]) == 1


@pytest.mark.parametrize(
    ("metrics", "message"),
    [
        ("Self-CIDEr", "set of captions"),
        ("MTLD", "reads all words"),
        ("nonsense", "unknown metric"),
        ("Novel-2", "training captions"),
        ("", "no metric"),
    ],
)
def test_what_cannot_be_measured_shard_by_shard_is_refused(
    tmp_path: Path, metrics: str, message: str
) -> None:
    making.folder(tmp_path / "in", 2)
    with pytest.raises(captious.core.errors.InputError, match=message):
        scale.score(tmp_path / "in", REFERENCES, metrics, output=tmp_path / "out", executor=Serial())
    assert not list(tmp_path.glob("out/*"))


def test_references_are_asked_for(tmp_path: Path) -> None:
    making.folder(tmp_path / "in", 2)
    with pytest.raises(captious.core.errors.InputError, match="--references"):
        scale.score(tmp_path / "in", None, "BLEU-4", output=tmp_path / "out", executor=Serial())
    with pytest.raises(captious.core.errors.InputError, match="by its name"):
        scale.score(
            tmp_path / "in", REFERENCES, [captious.metrics.registry.create("BLEU-4", {})], executor=Serial()
        )
