"""Files of tasks: JSON objects that users and labs can write and share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from captious.core.errors import InputError, did_you_mean, some
from captious.io.caption_files import kind
from captious.io.content import is_number, read_json
from captious.io.id_matching import ID_RULES

_FOLDER = Path(__file__).with_name("files")
_KEYS = {"name", "about", "references", "tokenizer", "metrics", "group", "group_alone", "published"}
_REFERENCE_KEYS = {"what", "split", "images", "digest", "path", "ids", "id_column", "caption_column"}


@dataclass(frozen=True)
class Published:
    """Scores of a system in print, in percent, and their source."""

    system: str
    scores: dict[str, float]
    source: str


@dataclass(frozen=True)
class Task:
    """A benchmark: which references count, how captions are tokenized, and what is reported."""

    name: str
    about: str
    metrics: tuple[str, ...]
    #: The file of references that a user must have.
    what: str = ""
    #: Its path, in task files that name one.
    path: Path | None = None
    split: str | None = None
    images: int | None = None
    #: Digest of the references, as signatures show it.
    digest: str | None = None
    tokenizer: str = "ptb"
    #: Column by which groups of images are reported.
    group: str | None = None
    published: tuple[Published, ...] = ()
    #: Whether each group is scored alone, with the document frequencies of its own references.
    group_alone: bool = False
    #: Rule by which ids of results are compared with those of the references, such as "number".
    ids: str = "plain"
    #: Columns of the references, if their names are not usual ones.
    id_column: str | None = None
    caption_column: str | None = None


def task_names() -> list[str]:
    """Return the names of the tasks that ship with captious.

    Examples
    --------
    >>> "coco-karpathy-test" in task_names()
    True
    """
    return sorted(path.stem for path in _FOLDER.glob("*.json"))


def load_task(task: str | Path) -> Task:
    """Return a task by its name, or from a file.

    Parameters
    ----------
    task
        Name of a shipped task, or path of a task file.

    Examples
    --------
    >>> load_task(task_names()[0]).name == task_names()[0]
    True
    """
    path = Path(task)
    if str(task) in task_names():
        path = _FOLDER / f"{task}.json"
    elif not path.is_file():
        raise InputError(
            f"there is no task '{task}'{did_you_mean(str(task), task_names())}; 'captious task' lists all, "
            "and a file of your own works, too"
        )
    value = read_json(path, "expected a task, as docs/howto/tasks.md describes it")
    try:
        return _task(value, path)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def _task(value: Any, path: Path) -> Task:
    if not isinstance(value, Mapping):
        raise InputError(f"a task is an object with 'name' and 'metrics', not {kind(value)}")
    references = value.get("references") or {}
    if not isinstance(references, Mapping):
        raise InputError(f"'references' is an object with 'split', 'images', …, not {kind(references)}")
    for known, present in ((_KEYS, value), (_REFERENCE_KEYS, references)):
        if unknown := sorted(set(present) - known):
            raise InputError(
                f"unknown key '{unknown[0]}'{did_you_mean(unknown[0], sorted(known))} (known: "
                f"{some(sorted(known), 12)})"
            )
    metrics = value.get("metrics")
    if not isinstance(metrics, list) or not metrics or not all(isinstance(name, str) for name in metrics):
        raise InputError("'metrics' is a list of names")
    texts = {
        "name": value.get("name"),
        "about": value.get("about", ""),
        "tokenizer": value.get("tokenizer", "ptb"),
    }
    for key, text in texts.items():
        if not isinstance(text, str):
            raise InputError(f"'{key}' is {kind(text)}; it is a text")
    images = references.get("images")
    if images is not None and not (isinstance(images, int) and images > 0):
        raise InputError(f"'images' is {kind(images)}; it is the number of images")
    for key in ("what", "split", "digest", "path", "ids", "id_column", "caption_column"):
        if not isinstance(references.get(key, ""), str | None):
            raise InputError(f"'{key}' of the references is {kind(references[key])}; it is a text")
    if not isinstance(value.get("group", ""), str | None):
        raise InputError(f"'group' is {kind(value['group'])}; it is the name of a column")
    rule = references.get("ids") or "plain"
    if rule not in ID_RULES:
        raise InputError(
            f"unknown rule of ids '{rule}'{did_you_mean(rule, sorted(ID_RULES))} (there are "
            f"{', '.join(sorted(ID_RULES))})"
        )
    alone = value.get("group_alone", False)
    if not isinstance(alone, bool):
        raise InputError(f"'group_alone' is {kind(alone)}; it is true or false")
    listed = value.get("published") or []
    if not isinstance(listed, list):
        raise InputError(f"'published' is a list of scores, not {kind(listed)}")
    where = references.get("path")
    return Task(
        texts["name"], texts["about"], tuple(metrics), references.get("what") or "",
        path.parent / where if where else None, references.get("split"), images, references.get("digest"),
        texts["tokenizer"], value.get("group"), tuple(_published(row) for row in listed), alone, rule,
        references.get("id_column"), references.get("caption_column"),
    )  # fmt: skip


def _published(row: Any) -> Published:
    scores = row.get("scores") if isinstance(row, Mapping) else None
    if not isinstance(scores, Mapping) or not all(is_number(score) for score in scores.values()):
        raise InputError("each entry of 'published' has 'system', 'scores' (numbers in percent) and 'source'")
    return Published(str(row.get("system", "")), dict(scores), str(row.get("source", "")))
