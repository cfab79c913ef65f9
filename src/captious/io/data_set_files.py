"""Files of data sets and harnesses whose captions are neither rows nor a mapping from image to captions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from captious.core.errors import InputError, some
from captious.io.caption_files import Records, Role, kind, show

#: A row before it is checked: id, captions, and its place in the file for messages.
Row = tuple[object, object, str]


class DataSet(NamedTuple):
    """A shape of JSON objects: how to recognise it, and how to read its rows."""

    name: str
    #: Fields of ids and of captions, for descriptions of files.
    id_field: str
    caption_field: str
    is_it: Callable[[Mapping[Any, Any]], bool]
    rows: Callable[[Mapping[Any, Any], str], Iterator[Row]]
    role: Role | None = "references"
    #: Content that is not read.
    left_out: tuple[str, ...] = ()


def read_data_set(value: Mapping[Any, Any], name: str, role: Role) -> Records | None:
    """Return the captions of an object that has one of these shapes, else None."""
    shape = next((shape for shape in SHAPES if shape.is_it(value)), None)
    if shape is None:
        return None
    if shape.role is not None and role != shape.role:
        raise InputError(
            f"{name} has the format of {shape.name}, which holds {shape.role}, but {role} were expected; "
            "give the references first, then the predictions"
        )
    try:
        rows = list(shape.rows(value, name))
    except (KeyError, TypeError, IndexError, AttributeError) as error:
        raise InputError(
            f"{name}: not as {shape.name} writes it (expected {shape.id_field} and {shape.caption_field}; "
            f"{type(error).__name__}: {error})"
        ) from None
    places = [place for _, _, place in rows]
    return Records(
        [row[0] for row in rows],
        [row[1] for row in rows],
        lambda row: places[row],
        shape.name,
        id_field=shape.id_field,
        caption_field=shape.caption_field,
        fields=tuple(map(str, value))[:20],
        left_out=shape.left_out,
    )


def _first(value: object) -> object:
    """Return the first item of a list or the first value of an object, else None."""
    if isinstance(value, list) and value:
        return value[0]
    if isinstance(value, Mapping) and value:
        return next(iter(value.values()))
    return None


def _has(value: object, *keys: str) -> bool:
    return isinstance(value, Mapping) and all(key in value for key in keys)


# TextCaps -------------------------------------------------------------------------------------------------


def _is_textcaps(value: Mapping[Any, Any]) -> bool:
    return _has(_first(value.get("data")), "image_id", "reference_strs")


def _textcaps(value: Mapping[Any, Any], name: str) -> Iterator[Row]:
    """Yield one row per image. Each row of the file is one caption, with all references of its image."""
    seen: dict[object, object] = {}
    for number, row in enumerate(value["data"], 1):
        place, image, texts = f"data {number}", row["image_id"], row["reference_strs"]
        if image not in seen:
            seen[image] = texts
            yield image, texts, place
        elif seen[image] != texts:
            raise InputError(f"{name}, {place}: image {show(image)} has other references than in a row above")


# MSR-VTT --------------------------------------------------------------------------------------------------


def _is_msr_vtt(value: Mapping[Any, Any]) -> bool:
    return _has(_first(value.get("sentences")), "video_id", "caption")


def _msr_vtt(value: Mapping[Any, Any], name: str) -> Iterator[Row]:
    for number, row in enumerate(value["sentences"], 1):
        yield row["video_id"], row["caption"], f"sentence {number}"


# YouCook2 and ActivityNet: segments of videos ---------------------------------------------------------------


def segment_id(video: object, number: int) -> str:
    """Return the id of a segment: that of the video, and the number of the segment from 0."""
    return f"{video}#{number}"


def is_youcook(value: Mapping[Any, Any]) -> bool:
    """Whether an object has the shape of YouCook2's annotations."""
    return _has(_first(value.get("database")), "annotations")


def youcook_rows(value: Mapping[Any, Any], name: str) -> Iterator[tuple[str, object, str]]:
    """Yield the segments of all videos."""
    for video, entry in value["database"].items():
        for number, row in enumerate(entry["annotations"]):
            if "sentence" in row:
                yield segment_id(video, number), row["sentence"], f"video {show(video)}, segment {number}"


def _is_activitynet(value: Mapping[Any, Any]) -> bool:
    first = _first(value)
    return _has(first, "timestamps", "sentences")


def _activitynet(value: Mapping[Any, Any], name: str) -> Iterator[Row]:
    for video, entry in value.items():
        for number, text in enumerate(entry["sentences"]):
            yield segment_id(video, number), text, f"video {show(video)}, sentence {number}"


def _is_dense_result(value: Mapping[Any, Any]) -> bool:
    return _has(_first(_first(value.get("results"))), "sentence", "timestamp")


def _dense_result(value: Mapping[Any, Any], name: str) -> Iterator[Row]:
    for video, rows in value["results"].items():
        for number, row in enumerate(rows):
            yield segment_id(video, number), row["sentence"], f"video {show(video)}, segment {number}"


# Results of challenges: a list of rows inside an object -----------------------------------------------------


def _is_challenge(value: Mapping[Any, Any]) -> bool:
    first = value.get("result")
    return isinstance(first, list) and (
        _has(_first(first), "video_id", "caption") or _has(_first(first), "image_id", "caption")
    )


def _challenge(value: Mapping[Any, Any], name: str) -> Iterator[Row]:
    for number, row in enumerate(value["result"], 1):
        yield row["video_id" if "video_id" in row else "image_id"], row["caption"], f"result {number}"


SHAPES = (
    DataSet("TextCaps", "data.image_id", "data.reference_strs", _is_textcaps, _textcaps,
            left_out=("caption_str: the references have it", "OCR tokens")),
    DataSet("MSR-VTT", "sentences.video_id", "sentences.caption", _is_msr_vtt, _msr_vtt,
            left_out=("videos: their split can be chosen with --split",)),
    DataSet("YouCook2", "database, number of the segment", "annotations.sentence", is_youcook, youcook_rows,
            left_out=("times of segments", "subset: --split validation chooses one")),
    DataSet("ActivityNet captions", "video, number of the sentence", "sentences", _is_activitynet,
            _activitynet, left_out=("timestamps: segments are matched by their number, not by overlap",)),
    DataSet("results of dense captioning", "results, number of the segment", "sentence", _is_dense_result,
            _dense_result, role="predictions",
            left_out=("timestamps: segments are matched by their number, not by overlap",)),
    DataSet("results of a challenge", "result.video_id", "result.caption", _is_challenge, _challenge,
            role="predictions", left_out=("version", "external_data")),
)  # fmt: skip


# Rows of harnesses ----------------------------------------------------------------------------------------


def is_sample(row: object) -> bool:
    """Whether a row is a line of lmms-eval's log of samples."""
    return _has(row, "doc_id") and ("filtered_resps" in row or "resps" in row)  # type: ignore[operator]


def read_samples(rows: Sequence[Any], name: str, role: Role, place: Callable[[int], str]) -> Records:
    """Read lmms-eval's samples, which have references and predictions.

    Caption tasks log a value of each metric with the image's id, the answers and the prediction. If there is
    none, the number of the sample, the target and the response serve.
    """
    ids: list[object] = []
    captions: list[object] = []
    for number, row in enumerate(rows):
        if not is_sample(row):
            raise InputError(
                f"{name}, {place(number)}: a sample of lmms-eval was expected, but this is {kind(row)}"
            )
        logged = next((value for value in row.values() if _has(value, "answer", "pred")), None)
        if logged is not None:
            keys = ("image_id", "video_id", "id")
            ids.append(next((logged[key] for key in keys if key in logged), row["doc_id"]))
            said, answers = logged["pred"], logged["answer"]
        else:
            ids.append(row["doc_id"])
            said, answers = row.get("filtered_resps", row.get("resps")), row.get("target")
        while isinstance(said, list) and len(said) == 1:
            said = said[0]
        captions.append(answers if role == "references" else said)
    taken = "answer (else target)" if role == "references" else "pred (else filtered_resps)"
    return Records(
        ids, captions, place, "lmms-eval samples", id_field="image_id (else doc_id)", caption_field=taken,
        fields=tuple(map(str, rows[0])), left_out=("prompts, documents and values of metrics",),
    )  # fmt: skip


def rows_of_columns(
    value: Mapping[Any, Any], ids: Sequence[str], captions: Sequence[str]
) -> list[dict[Any, Any]] | None:
    """Return the rows of a table that is stored by columns, else None.

    Data frames write ``{"index": {"0": 7, …}, "prediction": {"0": "a dog", …}}``, other tools lists.
    """
    if not any(key in value for key in ids) or not any(key in value for key in captions):
        return None
    columns = list(value.values())
    first = columns[0]
    if isinstance(first, Mapping):
        places: Sequence[Any] = list(first)
        is_table = all(isinstance(column, Mapping) and column.keys() == first.keys() for column in columns)
    elif isinstance(first, list):
        places = range(len(first))
        is_table = all(isinstance(column, list) and len(column) == len(first) for column in columns)
    else:
        return None
    return [{key: value[key][place] for key in value} for place in places] if is_table and places else None


def has_single_keys(rows: Sequence[Any], known: Sequence[str]) -> bool:
    """Whether rows are objects with one entry each, from image to caption: ``[{"391895": "a man"}, …]``."""
    return all(isinstance(row, Mapping) and len(row) == 1 and next(iter(row)) not in known for row in rows)


def read_single_keys(rows: Sequence[Any], place: Callable[[int], str]) -> Records:
    """Read rows with one entry each."""
    return Records(
        [next(iter(row)) for row in rows], [next(iter(row.values())) for row in rows], place, "one-key rows",
        id_field="key", caption_field="value",
    )  # fmt: skip


def refuse_summary(value: Mapping[Any, Any], name: str) -> None:
    """Refuse lmms-eval's summary of results, which has no captions."""
    if "results" in value and ("lmms_eval_version" in value or ("configs" in value and "n-shot" in value)):
        raise InputError(
            f"{name} is lmms-eval's summary, which holds numbers only; give the log of samples "
            "(*_samples_*.jsonl, written with --log_samples), or the file of results in its folder "
            f"(found: {some(map(show, value))})"
        )
