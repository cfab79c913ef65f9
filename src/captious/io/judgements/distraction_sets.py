"""Distraction tasks of Hodosh & Hockenmaier (2016): one file per task, one instance per line.

A line has the image (or the id of a caption, ``image.jpg#2``), the correct caption and the distractor,
separated by tabs. The file is named after its task (``ReplacePerson.txt``, ``just_scene.tsv``, …). Tables
with a header and JSON lines have the fields ``image``, ``correct`` and ``distractor``. They can also have
``task``, and ``references`` if these are not Flickr30k's.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable
from pathlib import Path

from captious.core.errors import InputError
from captious.io.content import decode, read_bytes, shown_name
from captious.io.judgements.judged_rows import rows_of, table_cells
from captious.io.judgements.judged_sets import CaptionPairs, Protocol, own_key
from captious.io.judgements.set_files import Place, image_key, read_references

TASKS = ("Replace Person", "Replace Scene", "Share Person", "Share Scene", "Just Person", "Just Scene")
#: Image, correct caption, distractor, task, and the references if the file has them.
_Instance = tuple[str, str, str, str, list[str] | None]


def task_of(name: str) -> str | None:
    """Return the task that a name means in any spelling (ReplacePerson, replace_person, replace-people)."""
    letters = (
        "".join(c for c in name.casefold() if c.isalpha())
        .replace("people", "person")
        .replace("switch", "replace")
    )
    return next((task for task in TASKS if task.casefold().replace(" ", "") in letters), None)


def load_distractions(source: str | Path, data: str | Path | None = None) -> CaptionPairs:
    """Read the tasks of a file, or of all files of a folder that are named after a task.

    References come from the files, or from Flickr30k in the folder ``data`` (default: beside the files).

    Parameters
    ----------
    source
        A file of tasks, or a folder of such files.
    data
        Folder of Flickr30k's captions, for tasks without references.

    Examples
    --------
    >>> import tempfile
    >>> from captious.robustness import measure_robustness
    >>> captions = {"1": ["a man runs", "the man is running"], "2": ["a woman sings", "one woman singing"]}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = measure_robustness(captions, "BLEU-1", curves=False, save_tasks=f"{folder}/tasks.jsonl")
    ...     load_distractions(f"{folder}/tasks.jsonl").first[0]
    'a man runs'
    """
    path = Path(source)
    if path.is_dir():
        files = sorted(f for f in path.iterdir() if f.is_file() and task_of(f.name))
        if not files:
            Place(path).need(("ReplacePerson*",), "distractions")
    else:
        files = [path]
    instances = [instance for file in files for instance in _read(file)]
    folder = Path(data) if data is not None else (path if path.is_dir() else path.parent)
    flickr = read_references(Place(folder), "flickr30k") if any(i[4] is None for i in instances) else {}
    pairs = []
    for image, correct, distractor, task, own_references in instances:
        texts = own_references if own_references is not None else flickr.get(image_key(image))
        if texts is None:
            raise InputError(f"{path}: image {image} has no captions in Flickr30k")
        others = [text for text in texts if own_key(text) != own_key(correct)]
        if others:
            pairs.append((image_key(image), correct, distractor, others, task))
    return CaptionPairs(
        name="distractions", images=[p[0] for p in pairs], first=[p[1] for p in pairs],
        second=[p[2] for p in pairs],
        references=[p[3] for p in pairs], votes=[[1]] * len(pairs), categories=[p[4] for p in pairs],
        protocol=Protocol("accuracy", own="keep"),
    )  # fmt: skip


def _read(path: Path) -> Iterable[_Instance]:
    data = read_bytes(path)
    text = decode(data, shown_name(path))
    named = task_of(path.name)
    first = text.lstrip().partition("\n")[0]
    if text.lstrip()[0] in "{[" or "distractor" in first.casefold():
        for row in rows_of(data, Path(shown_name(path))):
            task = task_of(row.text("task")) if row.has("task") else named
            if task is None:
                raise InputError(f"{row.where}: 'task' must be one of {', '.join(TASKS)}")
            texts = row.texts("references", "refs") if row.has("references") or row.has("refs") else None
            yield row.name("image"), row.text("correct"), row.text("distractor"), task, texts
        return
    if named is None:
        raise InputError(f"{path}: the file is not named after a task; the tasks are {', '.join(TASKS)}")
    for line, cells in table_cells(text, path, "\t", csv.QUOTE_NONE):
        if len(cells) != 3:
            raise InputError(
                f"{path}, line {line:,}: expected image, correct caption and distractor, found {len(cells)} "
                "fields"
            )
        yield cells[0], cells[1], cells[2], named, None
