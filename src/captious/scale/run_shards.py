"""A run over shards from beginning to end."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Executor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, fields, replace
from functools import partial
from pathlib import Path
from typing import IO, Any

from captious.core.errors import InputError, printable, some
from captious.core.writing import atomic_write
from captious.corpus import Captions
from captious.io.columns import Columns, split_names
from captious.io.prepared import is_prepared
from captious.metrics.corpus.vocabulary_measures import Curve, type_token_curve
from captious.metrics.registry import Wanted
from captious.results.references import DEFAULT_TOKENIZER, References, Source
from captious.results.saved_scores import SUFFIX, is_saved
from captious.results.scores import Scores, json_number
from captious.results.significance import Bootstrap
from captious.scale import planning
from captious.scale import shard_merging as merging
from captious.scale.counting import CountsError
from captious.scale.engines import Engine, NotStarted, engine
from captious.scale.first_pass import FIRST_PASS, Counting
from captious.scale.planning import Forecast
from captious.scale.seen_ngrams import seen
from captious.scale.shard_job import Job, OnError, Ready, measures_of, split
from captious.scale.shard_task import Done, Failed, Task, attempt
from captious.scale.shards import Shard, find
from captious.scale.status_display import Meter, Shown
from captious.scale.whole_corpus import frequent

#: Metrics unless others are named, where there are no references.
WITHOUT_REFERENCES = "ASL,SDSL,Types,Hapax,TTR1,TTR2,Distinct"

#: Given as document frequencies or concepts: count them over the shards, in a first pass.
SHARDS = "shards"

_SCRATCH, _LOCK = ".captious-", "lock"

Shards = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]


@dataclass(frozen=True)
class Result:
    """Result of a run."""

    #: Measures of captions, and type-token ratios: with intervals, savable, comparable.
    scores: Scores
    #: Measures of the whole that are counts.
    values: dict[str, float]
    #: By how much a value may be off, where it was asked to be approximate: relative standard error, or a
    #: bound.
    errors: dict[str, str]
    #: Mean number of types among the first tokens, of a sample.
    curve: Curve | None
    #: The most frequent words with their counts.
    words: list[tuple[str, int]]
    shards: list[Done]
    #: Shards that were left out, by name, and why.
    faults: dict[str, str]
    files: list[Path]
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
        """Shards that an earlier run had done."""
        return sum(done.kept for done in self.shards)

    def to_json(self, ci: bool | Bootstrap = True) -> dict[str, Any]:
        """A description for JSON: the same for equal results, whoever made them and however long it took."""
        found = {
            **self.scores.to_json(ci=ci),
            "rows": self.rows,
            "bad_rows": self.bad,
            "shards": len(self.shards),
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
        for score in found["scores"].values():
            score["groups"] = score.pop("images")
            score["captions"] = self.rows - self.bad
        if self.curve is not None:
            found["curve"] = {"tokens": self.curve.tokens.tolist(), "types": self.curve.types.tolist()}
        return found


@dataclass(frozen=True)
class Plan:
    """Job, tasks and scratch folder of a run."""

    job: Job
    ready: Ready
    tasks: list[Task]
    #: For what is not kept.
    folder: Path
    #: By how much counts of the first pass may be off.
    errors: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class ShardSettings:
    """Settings of a run over shards. :func:`score` and :func:`forecast` take them as keyword arguments.

    Attributes
    ----------
    output
        Folder for ``NAME.scores.parquet`` of each shard, the merged scores and a description of the run; or
        ``NAME.scores`` for the merged scores alone. Without it, files are written beside each shard.
    executor, workers
        "local", "dask", "dask=ADDRESS", "ray", "spark", an engine, or any
        :class:`concurrent.futures.Executor`; and the number of workers.
    on_error
        What a bad row or a bad shard does: "stop" the run (finished shards are kept, and another run
        continues from there), or "skip" it.
    image_column, caption_column
        Names of columns; by default the usual ones are recognised.
    tokenizer
        Tokenizer (default: ptb, or that of prepared references).
    train, false_rate
        Captions whose n-grams are not new (Novel-1 … Novel-4), and how often the filter that holds them may
        err.
    top
        Number of counters: makes counts of words and captions approximate.
    seed
        Seed of the sample for the type-token curve.
    """

    output: str | os.PathLike[str] | None = None
    executor: Executor | Engine | str = "local"
    workers: int | None = None
    on_error: OnError = "stop"
    image_column: str | None = None
    caption_column: str | None = None
    tokenizer: str | None = None
    train: Shards | None = None
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
        """Folder for the results of shards; None for the shards' own folders."""
        return None if self.output is None or is_saved(self.output) else Path(self.output)


def score(
    shards: Shards,
    references: Source | None = None,
    metrics: Wanted | None = None,
    *,
    name: str = "captions",
    show: Callable[[Meter], None] | None = None,
    **options: Any,
) -> Result:
    """Score the captions of shards, a row each, on any engine.

    Beside each shard, or in the folder ``output``, ``NAME.scores.parquet`` gets a column of scores for each
    metric, in the order of the shard's rows.

    Parameters
    ----------
    shards
        Parquet, JSON Lines or tar: files, folders, patterns.
    references
        Reference captions, or None for metrics that need none.
    metrics
        As for :func:`captious.score`. The default is "lexical", and measures of the captions alone without
        references.
    name
        Name of the system.
    show
        Callback for the progress of the run.
    options
        Fields of :class:`ShardSettings` (``output``, ``executor``, …), and options of the measures. With
        ``df="shards"`` (``concepts="shards"``) document frequencies (concepts) are counted over the shards in
        a first pass.

    Returns
    -------
    Result
        Merged scores, counts of the whole, and what happened to each shard.
    """
    start = time.monotonic()
    settings, measure_options = ShardSettings.split(options)
    found = find(shards)
    with (
        _engine(settings) as run,
        planned(run, found, references, metrics, settings, measure_options) as plan,
    ):
        done, faults = work(run, plan, show)
        if not done:
            raise InputError(f"no shard could be scored; the first: {next(iter(faults.values()))}")
        if not any(one.rows for one in done):
            raise InputError(
                f"there are no captions in {some(str(shard.path) for shard in found)}; "
                "give shards with rows (JSONL lines, Parquet rows, samples of a tar)"
            )
        result = _merged(run, plan, done, faults, name)
        result.files.extend(_save(result, settings, name))
        return replace(result, seconds=time.monotonic() - start, engine=run.name, workers=run.workers)


def forecast(
    shards: Shards, references: Source | None = None, metrics: Wanted | None = None, **options: Any
) -> Forecast:
    """Estimate what :func:`score` would do with the same arguments: shards, rows, bytes and time.

    Nothing is scored, and a first pass over the shards is not made, either.
    """
    settings, measure_options = ShardSettings.split(options)
    measure_options = {option: value for option, value in measure_options.items() if value != SHARDS}
    found = find(shards)
    with (
        _engine(settings) as run,
        planned(run, found, references, metrics, settings, measure_options) as plan,
    ):
        return planning.forecast(run, plan.ready, plan.tasks)


@contextmanager
def _engine(settings: ShardSettings) -> Iterator[Engine]:
    """Start an engine, and close it unless the caller passed one."""
    run = engine(settings.executor, settings.workers)
    try:
        yield run
    finally:
        if isinstance(settings.executor, str):
            run.close()


def _save(result: Result, settings: ShardSettings, name: str) -> Iterator[Path]:
    """Write the merged scores and, into a folder, a description of the run."""
    folder = settings.folder
    if folder is None:
        if settings.output is not None:
            result.scores.save(Path(settings.output))
            yield Path(settings.output)
        return
    if len(result.scores):
        result.scores.save(folder / f"{name}{SUFFIX}")
        yield folder / f"{name}{SUFFIX}"
    with atomic_write(folder / f"{name}.json") as temporary:
        temporary.write_text(
            json.dumps(result.to_json(), indent=1, ensure_ascii=True, allow_nan=False) + "\n",
            encoding="utf-8",
        )
    yield folder / f"{name}.json"


@contextmanager
def planned(
    run: Engine,
    shards: list[Shard],
    references: Source | None,
    metrics: Wanted | None,
    settings: ShardSettings,
    measure_options: Mapping[str, Any],
) -> Iterator[Plan]:
    """Prepare everything that workers read: references, filters, document frequencies."""
    if metrics is None:
        metrics = "lexical" if references is not None else WITHOUT_REFERENCES
    names, whole = split(metrics)
    options, bounds = dict(measure_options), dict[str, str]()
    named = Columns(split_names(settings.image_column), split_names(settings.caption_column))
    output = settings.folder
    folder = output or Path(os.path.commonpath([Path(shard.path).resolve().parent for shard in shards]))
    folder.mkdir(parents=True, exist_ok=True)
    with _scratch(folder) as work:
        encoded = References.read(references, settings.tokenizer) if references is not None else None
        tokenizer = (
            encoded.captions.tokenizer if encoded is not None else settings.tokenizer or DEFAULT_TOKENIZER
        )
        job = Job(
            names,
            whole,
            tokenizer=tokenizer,
            columns=named,
            on_error=settings.on_error,
            top=settings.top,
            seed=settings.seed,
        )
        orders = tuple(sorted({int(name[-1]) for name in names if name.startswith("Novel-")}))
        if orders:
            if settings.train is None:
                raise InputError(
                    "n-gram novelty is measured against training captions: give them (--train FILE, train=…)"
                )
            job = replace(
                job,
                filter=seen(
                    run,
                    settings.train,
                    work,
                    tokenizer=tokenizer,
                    rate=settings.false_rate,
                    columns=named,
                    orders=orders,
                ),
            )
        elif settings.train is not None:
            options["train"] = settings.train
        for option, count, kind in FIRST_PASS:
            if options.get(option) == SHARDS:
                how = Counting(
                    kind, named, tokenizer, settings.top, options.get("parser"), options.get("meteor_data")
                )
                options[option] = str(work / option)
                error = count(run, shards, work, how, work / option, settings.on_error)
                if error:
                    bounds[option] = f"counts are too low by at most {error:,}"
        job = replace(job, options=tuple(sorted(options.items())))
        if encoded is not None:
            job = replace(job, references=_broadcast(encoded, references, job, work))
        made = Ready(job, encoded.captions if encoded is not None else None)
        yield Plan(
            job.identified(made),
            made,
            [Task(shard, _target(shard, output)) for shard in shards],
            work,
            bounds,
        )


@contextmanager
def _scratch(folder: Path) -> Iterator[Path]:
    """A folder for what is not kept.

    Those of clients that were killed are removed: no process holds their lock.
    """
    for old in folder.glob(f"{_SCRATCH}*"):
        with suppress(OSError), (old / _LOCK).open("rb") as handle:
            if _lock(handle):
                shutil.rmtree(old, ignore_errors=True)
    work = Path(tempfile.mkdtemp(prefix=_SCRATCH, dir=folder)).resolve()
    try:
        with (work / _LOCK).open("wb") as handle:
            _lock(handle)
            yield work
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _lock(handle: IO[bytes]) -> bool:
    """Whether a file could be locked, for as long as it is open."""
    if os.name != "posix":  # pragma: no cover - Windows removes no open file anyway
        return True
    import fcntl

    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _broadcast(encoded: References, source: Source, job: Job, work: Path) -> str:
    """Return the prepared references that workers map: the caller's file, if it is complete."""
    before = _products(encoded.captions)
    encoded.prepare(measures_of(replace(job, references="given")))
    if (
        isinstance(source, str | os.PathLike)
        and is_prepared(Path(source))
        and _products(encoded.captions) == before
    ):
        return os.path.abspath(source)  # noqa: PTH100 - workers may be elsewhere
    path = work / "references.prepared"
    encoded.save(path)
    return str(path.resolve())


def _products(captions: Captions) -> set[Any]:
    return {
        key
        for memo in (captions.encoding.memo, captions.memo)
        for key in [*memo.stored, *(key for key, _ in memo.products())]
    }


def _target(shard: Shard, output: Path | None) -> str:
    if output is not None:
        return str(output / shard.name)
    return str(Path(shard.path).parent / Path(shard.name).name)


def work(
    run: Engine, plan: Plan, show: Callable[[Meter], None] | None = None
) -> tuple[list[Done], dict[str, str]]:
    """Score all shards; those done, in their order, and those left out.

    What is finished stays, whatever happens.
    """
    sizes = [Path(task.shard.path).stat().st_size for task in plan.tasks]
    meter = Meter(len(plan.tasks), sum(sizes), run.workers)
    done: dict[int, Done] = {}
    faults: dict[int, str] = {}
    with Shown(meter, show) as shown:
        for number, outcome in run.run(partial(attempt, plan.job), plan.tasks):
            task = plan.tasks[number]
            if isinstance(outcome, Done):
                done[number] = outcome
                meter.add(outcome, sizes[number])
            else:
                message = _problem(task, outcome)
                if plan.job.on_error == "stop" or (isinstance(outcome, Failed) and not outcome.skippable):
                    raise InputError(
                        f"{message}; {len(done):,} of {len(plan.tasks):,} shards are finished and kept: run "
                        "again to go on"
                    )
                faults[number] = message
                meter.skip(sizes[number])
            shown.update()
    left_out = {plan.tasks[number].shard.name: faults[number] for number in sorted(faults)}
    return [done[number] for number in sorted(done)], left_out


def _problem(task: Task, outcome: Any) -> str:
    if isinstance(outcome, Failed):
        return outcome.message
    if isinstance(outcome, NotStarted):
        return "the workers of the executor died"
    what = next(iter(str(outcome).splitlines()), "") or type(outcome).__name__
    return f"the shard {printable(task.shard.path)}: {printable(what)}"


def _merged(run: Engine, plan: Plan, done: list[Done], faults: dict[str, str], name: str) -> Result:
    tasks = [task for task in plan.tasks if task.shard.name not in faults]
    found = merging.merge_all(run, tasks, plan.folder, plan.job.sample)
    values: dict[str, float] = {}
    errors = dict(plan.errors)
    words: list[tuple[str, int]] = []
    wanted = plan.job.whole
    if set(wanted) & {"Types", "Hapax"} and plan.job.top is None:
        try:
            types, once, file = merging.vocabulary(run, tasks, plan.folder)
        except CountsError as error:
            raise InputError(str(error)) from None
        values |= {
            key: value
            for key, value in (("Types", float(types)), ("Hapax", once / types if types else float("nan")))
            if key in wanted
        }
        words = merging.most(file)
    elif "frequent" in found.whole:
        kept = frequent(found.whole["frequent"])
        words = sorted(kept.counts.items(), key=lambda pair: (-pair[1], pair[0]))[:100]
        errors["words"] = (
            f"counts are too low by at most {kept.error:,} (bound {kept.bound:,} of {kept.total:,} words)"
        )
        sketch = merging.sketched(found.arrays, "types")
        if sketch is not None and "Types" in wanted:
            values["Types"], errors["Types"] = sketch.value, f"standard error {sketch.error:.2%}"
    good = found.rows - found.bad
    if "Distinct" in wanted and good:
        sketch = merging.sketched(found.arrays, "distinct")
        if sketch is not None:
            values["Distinct"], errors["Distinct"] = (
                min(1.0, sketch.value / good),
                f"standard error {sketch.error:.2%}",
            )
        else:
            different, _ = merging.distinct(run, tasks, found.rows)
            values["Distinct"] = different / good
    curve = None
    if found.texts:
        curve = type_token_curve(Captions.of([found.texts], plan.job.tokenizer), seed=plan.job.seed)
    files = [Path(task.scores) for task in tasks] if plan.job.metrics else []
    return Result(merging.scores(plan.ready, found, name), values, errors, curve, words, done, faults, files)
