"""Settings and results of a run over shards."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from captious.core.errors import InputError, WriteError, printable
from captious.metrics.corpus.vocabulary_measures import Curve
from captious.results.result_rows import EXACT, NumberStyle
from captious.results.saved_scores import is_saved
from captious.results.scores import Scores, json_number
from captious.results.significance import Bootstrap
from captious.scale.engines import Engine
from captious.scale.shard_job import OnError
from captious.scale.shard_task import Done
from captious.scale.shards import Sources


@dataclass(frozen=True)
class ShardSettings:
    """Settings of a run over shards. :func:`score` and :func:`forecast` take them as keyword arguments.

    Attributes
    ----------
    output
        Folder for ``NAME.scores.parquet`` of each shard, the merged scores and a description of the run; or
        ``NAME.scores`` for the merged scores alone. Without it, nothing is written. In the folder of the
        shards, the columns are beside the shards.
    executor, workers
        "local", "dask", "dask=ADDRESS", "ray", "spark", an engine, or any
        :class:`concurrent.futures.Executor`; and the number of workers.
    part
        Whether the shards may lack images of the references. The others are scored against all references.
    on_error
        Whether a bad row or shard stops the run ("stop"; the same call continues it later) or is left out
        ("skip").
    image_column, caption_column
        Names of columns. By default, the usual names are recognised.
    tokenizer
        Tokenizer (default: ptb, or that of prepared references).
    train, false_rate
        Training captions for Novel-1 … Novel-4, and the rate of false positives of their filter.
    top
        Number of counters for approximate counts of words and captions.
    seed
        Seed of the sample for the type-token curve.
    """

    output: str | os.PathLike[str] | None = None
    executor: Executor | Engine | str = "local"
    workers: int | None = None
    part: bool = False
    on_error: OnError = "stop"
    image_column: str | None = None
    caption_column: str | None = None
    tokenizer: str | None = None
    train: Sources | None = None
    false_rate: float = 1e-3
    top: int | None = None
    seed: int = 0

    @classmethod
    def split(cls, keywords: Mapping[str, Any]) -> tuple[ShardSettings, dict[str, Any]]:
        """Divide keyword arguments into settings and options of measures."""
        names = {field.name for field in fields(cls)}
        settings = cls(**{name: value for name, value in keywords.items() if name in names})
        if settings.on_error not in ("stop", "skip"):
            raise InputError(f"on_error is 'stop' or 'skip', not '{settings.on_error}'")
        if settings.top is not None and settings.top < 1:
            raise InputError(f"top is a number of counters, not {settings.top}")
        return settings, {name: value for name, value in keywords.items() if name not in names}

    @property
    def folder(self) -> Path | None:
        """Folder for the results of shards, or None."""
        return None if self.output is None or is_saved(self.output) else Path(self.output)

    def create_folder(self) -> Path:
        """Create the folder for results, and return the one for temporary files."""
        if self.output is None:
            if isinstance(self.executor, str) and "=" in self.executor:
                raise InputError(
                    f"the workers of {self.executor} write to a folder that all machines see; give one "
                    "(-o FOLDER, output=…)"
                )
            return Path(tempfile.gettempdir())
        parent = Path(self.output).absolute().parent
        if not parent.is_dir():
            raise WriteError(
                f"cannot write {printable(str(self.output))}: there is no folder {printable(str(parent))}; "
                "create it first"
            )
        if self.folder is None:
            return parent
        try:
            self.folder.mkdir(exist_ok=True)
        except OSError as error:
            raise WriteError(f"cannot write {printable(str(self.folder))}: {error.strerror}") from error
        return self.folder


@dataclass(frozen=True)
class Result:
    """Result of a run."""

    #: Measures of captions, and type-token ratios.
    scores: Scores
    #: Counts: Types, Hapax and Distinct.
    values: dict[str, float]
    #: Errors of approximate values: relative standard error, or a bound.
    errors: dict[str, str]
    #: Type-token curve of a sample.
    curve: Curve | None
    #: The most frequent words with their counts.
    words: list[tuple[str, int]]
    shards: list[Done]
    #: Reasons of shards that were left out, by name.
    faults: dict[str, str]
    files: list[Path]
    #: Number of images with captions and number of images with references. None without references.
    images: tuple[int, int] | None = None
    seconds: float = 0.0
    engine: str = "local"
    workers: int = 1

    @property
    def rows(self) -> int:
        return sum(done.rows for done in self.shards)

    @property
    def bad(self) -> int:
        return sum(done.bad for done in self.shards)

    @property
    def kept(self) -> int:
        """Number of shards whose results are those of an earlier run."""
        return sum(done.kept for done in self.shards)

    def to_json(self, ci: bool | Bootstrap = True, numbers: NumberStyle = EXACT) -> dict[str, Any]:
        """Return a description for JSON. It does not depend on the engine or the running time."""
        content = {
            **self.scores.to_json(ci=ci, numbers=numbers),
            "rows": self.rows,
            "bad_rows": self.bad,
            "shards": len(self.shards),
            "images": self.images and {"scored": self.images[0], "references": self.images[1]},
            "values": {name: json_number(value) for name, value in self.values.items()},
            "errors": self.errors,
            "words": [list(pair) for pair in self.words],
            "bad": {
                done.name: {"rows": done.bad, "listed": [list(row) for row in done.listed]}
                for done in self.shards
                if done.bad
            },
            "left_out": self.faults,
        }
        for score in content["scores"].values():
            score["groups"] = score.pop("images")
            score["captions"] = self.rows - self.bad
        if self.curve is not None:
            content["curve"] = {"tokens": self.curve.tokens.tolist(), "types": self.curve.types.tolist()}
        return content
