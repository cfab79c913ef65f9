"""A run over shards from beginning to end."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from captious.corpus import Captions
from captious.errors import InputError, printable
from captious.io.columns import Columns, split_names
from captious.io.prepared import is_prepared
from captious.measures.registry import Wanted
from captious.references import DEFAULT_TOKENIZER, References, Source
from captious.scale import merging
from captious.scale.counting import CountsError
from captious.scale.engines import Engine, NotStarted, engine
from captious.scale.job import Job, OnError, Ready, measures_of, split
from captious.scale.seen import seen
from captious.scale.shards import Shard, find
from captious.scale.showing import Meter, Shown
from captious.scale.task import Done, Failed, Task, attempt
from captious.scale.whole import frequent
from captious.scores import Scores, json_number
from captious.significance import Bootstrap
from captious.variety.corpus.vocabulary import Curve, type_token_curve

Shards = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]


@dataclass(frozen=True)
class Result:
    """What came of a run."""

    #: Measures of captions, and type-token ratios: with intervals, savable, comparable.
    scores: Scores
    #: Measures of the whole that are counts.
    values: dict[str, float]
    #: By how much a value may be off, where it was asked to be approximate: relative standard error, or a bound.
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
            "rows": self.rows, "bad_rows": self.bad, "shards": len(self.shards),
            "values": {name: json_number(value) for name, value in self.values.items()}, "errors": self.errors,
            "words": [list(pair) for pair in self.words],
            "bad": {done.name: {"rows": done.bad, "listed": [list(row) for row in done.listed]} for done in self.shards if done.bad},
            "left_out": self.faults,
        }  # fmt: skip
        for score in found["scores"].values():
            score["groups"] = score.pop("images")
            score["captions"] = self.rows - self.bad
        if self.curve is not None:
            found["curve"] = {"tokens": self.curve.tokens.tolist(), "types": self.curve.types.tolist()}
        return found


@dataclass(frozen=True)
class Plan:
    """What is to be done, and where."""

    job: Job
    tasks: list[Task] = field(default_factory=list)
    #: For what is not kept.
    folder: Path = Path()


def score(
    shards: Shards,
    references: Source | None = None,
    metrics: Wanted = "lexical",
    *,
    output: str | os.PathLike[str] | None = None,
    executor: Executor | Engine | str = "local",
    workers: int | None = None,
    on_error: OnError = "stop",
    image_column: str | None = None,
    caption_column: str | None = None,
    tokenizer: str | None = None,
    train: Shards | None = None,
    false_rate: float = 1e-3,
    top: int | None = None,
    name: str = "captions",
    seed: int = 0,
    show: Callable[[Meter], None] | None = None,
    **options: Any,
) -> Result:
    """Score the captions of shards (Parquet, JSONL, tar; files, folders, patterns), a row each, on any engine.

    Beside each shard, or in the folder ``output``, ``NAME.scores.parquet`` gets a column of scores for each metric, in the order of
    the shard. ``executor`` is "local", "dask", "dask=ADDRESS", "ray", "spark", an engine, or any
    :class:`concurrent.futures.Executor`. ``on_error`` says what a bad row or a bad shard does: "stop" the run (what is finished is kept,
    and another run goes on from there), or "skip" it. ``train`` are captions whose n-grams are not new (Novel-1 … Novel-4), in any
    number, ``false_rate`` how often the filter that holds them may err. ``top`` makes counts of words and captions approximate.
    With ``df="shards"`` document frequencies are counted over the shards in a first pass. Other options are those of the measures.
    """
    if on_error not in ("stop", "skip"):
        raise InputError(f"on_error is 'stop' or 'skip', not '{on_error}'")
    start = time.monotonic()
    found = find(shards)
    named = Columns(split_names(image_column), split_names(caption_column))
    with engine(executor, workers) if isinstance(executor, str) else _borrowed(engine(executor, workers)) as run:
        with planned(
            run, found, references, metrics, output=output, on_error=on_error, columns=named, tokenizer=tokenizer, train=train,
            false_rate=false_rate, top=top, seed=seed, options=options,
        ) as plan:  # fmt: skip
            done, faults = work(run, plan, show)
            if not done:
                raise InputError(f"no shard could be scored; the first: {next(iter(faults.values()))}")
            result = _merged(run, plan, done, faults, name)
        files = list(result.files)
        if output is not None:
            from captious.writing import atomic_write

            import json as text

            files = [Path(output) / f"{name}.scores", Path(output) / f"{name}.json"]
            if len(result.scores):
                result.scores.save(files[0])
            with atomic_write(files[1]) as temporary:
                temporary.write_text(text.dumps(result.to_json(), indent=1, ensure_ascii=True, allow_nan=False) + "\n", encoding="utf-8")
        return Result(**{**result.__dict__, "files": files, "seconds": time.monotonic() - start, "engine": run.name, "workers": run.workers})


@contextmanager
def _borrowed(given: Engine) -> Iterator[Engine]:
    """An engine that somebody else ends."""
    yield given


@contextmanager
def planned(
    run: Engine, shards: list[Shard], references: Source | None, metrics: Wanted, *, output: str | os.PathLike[str] | None,
    on_error: OnError, columns: Columns, tokenizer: str | None, train: Shards | None, false_rate: float, top: int | None, seed: int,
    options: dict[str, Any],
) -> Iterator[Plan]:  # fmt: skip
    """Everything that is made once and that workers read: references, filters, document frequencies."""
    names, whole = split(metrics)
    folder = Path(output) if output is not None else Path(os.path.commonpath([Path(shard.path).resolve().parent for shard in shards]))
    folder.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix=".captious-", dir=folder))
    try:
        if "train" in options or train is not None:
            options = {**options, **({} if train is None else {"train": train})}
        job = Job(names, whole, (), None, tokenizer or DEFAULT_TOKENIZER, columns, on_error, top=top, seed=seed)
        encoded = References.read(references, tokenizer) if references is not None else None
        if encoded is not None:
            job = _with(job, tokenizer=encoded.captions.tokenizer)
        if any(metric.startswith("Novel-") for metric in names):
            if options.get("train") is None:
                raise InputError("n-gram novelty is measured against training captions: give them (--train FILE, train=…)")
            sources = options.pop("train")
            job = _with(job, filter=seen(run, sources, work, tokenizer=job.tokenizer, rate=false_rate, columns=columns, most=_largest(names)))
        if options.get("df") == "shards":
            from captious.scale.frequencies import frequencies

            counted = frequencies(run, shards, work, columns=columns, tokenizer=job.tokenizer, top=top, on_error=on_error)
            options["df"] = str(work / "document-frequencies")
            counted.save(options["df"])
        job = _with(job, options=tuple(sorted(options.items())))
        if encoded is not None:
            job = _with(job, references=_broadcast(encoded, references, job, work))
        yield Plan(job.identified(), [Task(shard, _target(shard, output)) for shard in shards], work)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _with(job: Job, **changes: Any) -> Job:
    from dataclasses import replace

    return replace(job, **changes)


def _largest(names: Iterable[str]) -> tuple[int, ...]:
    return tuple(sorted({int(name[-1]) for name in names if name.startswith("Novel-")}))


def _broadcast(encoded: References, source: Source, job: Job, work: Path) -> str:
    """The file of prepared references that workers map: the one given, if it has all that the measures need."""
    before = _products(encoded.captions)
    encoded.prepare(measures_of(_with(job, references="given")))
    if isinstance(source, str | os.PathLike) and is_prepared(source) and _products(encoded.captions) == before:
        return os.path.abspath(source)  # noqa: PTH100 - workers may be elsewhere
    path = work / "references.prepared"
    encoded.save(path)
    return str(path.resolve())


def _products(captions: Captions) -> set[Any]:
    return {key for memo in (captions.encoding.memo, captions.memo) for key in [*memo.stored, *(key for key, _ in memo.products())]}


def _target(shard: Shard, output: str | os.PathLike[str] | None) -> str:
    if output is not None:
        return str(Path(output) / shard.name)
    return str(Path(shard.path).parent / Path(shard.name).name)


def work(run: Engine, plan: Plan, show: Callable[[Meter], None] | None = None) -> tuple[list[Done], dict[str, str]]:
    """Score all shards; those done, in their order, and those left out. What is finished stays, whatever happens."""
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
                    raise InputError(f"{message}; {len(done):,} of {len(plan.tasks):,} shards are finished and kept: run again to go on")
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
    job = Ready(plan.job)
    values: dict[str, float] = {}
    errors: dict[str, str] = {}
    words: list[tuple[str, int]] = []
    wanted = plan.job.whole
    if "words" in found.whole or any(Path(task.words).exists() for task in tasks) and set(wanted) & {"Types", "Hapax"} and plan.job.top is None:
        try:
            types, once, file = merging.vocabulary(run, tasks, plan.folder)
        except CountsError as error:
            raise InputError(str(error)) from None
        values |= {key: value for key, value in (("Types", float(types)), ("Hapax", once / types if types else float("nan"))) if key in wanted}
        words = merging.most(file)
    elif "frequent" in found.whole:
        kept = frequent(found.whole["frequent"])
        words = sorted(kept.counts.items(), key=lambda pair: (-pair[1], pair[0]))[:100]
        errors["words"] = f"counts are too low by at most {kept.error:,} (bound {kept.bound:,} of {kept.total:,} words)"
        sketch = merging.sketched(found.arrays, "types")
        if sketch is not None and "Types" in wanted:
            values["Types"], errors["Types"] = sketch.value, f"standard error {sketch.error:.2%}"
    good = found.rows - found.bad
    if "Distinct" in wanted and good:
        sketch = merging.sketched(found.arrays, "distinct")
        if sketch is not None:
            values["Distinct"], errors["Distinct"] = min(1.0, sketch.value / good), f"standard error {sketch.error:.2%}"
        else:
            different, _ = merging.distinct(run, tasks, found.rows)
            values["Distinct"] = different / good
    curve = type_token_curve(Captions.of([found.texts], plan.job.tokenizer), seed=plan.job.seed) if found.texts else None
    files = [Path(task.scores) for task in tasks] if plan.job.metrics else []
    return Result(merging.scores(job, found, name), values, errors, curve, words, done, faults, files)
