"""A run over shards from beginning to end."""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.core.errors import InputError, printable, some
from captious.core.writing import atomic_write, scratch_folder
from captious.corpus import Captions
from captious.io.caption_files import Columns, split_names
from captious.io.caption_files import show as show_id
from captious.io.reading import is_prepared
from captious.metrics.corpus.vocabulary_measures import type_token_curve
from captious.metrics.registry import Wanted
from captious.results.references import DEFAULT_TOKENIZER, References, Source
from captious.results.saved_scores import SUFFIX
from captious.scale import first_pass
from captious.scale import shard_merging as merging
from captious.scale.engines import Engine, Failure, engine, outcomes
from captious.scale.ngram_novelty import seen_ngrams
from captious.scale.run_progress import Forecast, Meter, ProgressDisplay, make_forecast
from captious.scale.run_settings import Result, ShardSettings
from captious.scale.shard_job import Job, PreparedJob, measures_of, split_metrics
from captious.scale.shard_task import Done, ShardTask, score_shard
from captious.scale.shards import Shard, Sources, find
from captious.scale.sketches import DistinctCount
from captious.scale.whole_corpus import frequent

#: Default metrics without references.
WITHOUT_REFERENCES = "ASL,SDSL,Types,Hapax,TTR1,TTR2,Distinct"

#: Value of the options "df" and "concepts" that counts them over the shards in a first pass.
SHARDS = "shards"


@dataclass(frozen=True)
class RunPlan:
    """Prepared job and tasks of a run."""

    prepared: PreparedJob
    tasks: list[ShardTask]
    #: Folder for temporary files.
    folder: Path
    #: Errors of approximate counts of the first pass.
    errors: dict[str, str] = field(default_factory=dict)


def score(
    shards: Sources,
    references: Source | None = None,
    metrics: Wanted | None = None,
    *,
    name: str = "captions",
    show: Callable[[Meter], None] | None = None,
    **options: Any,
) -> Result:
    """Score the captions of shards, one per row, on any engine.

    In the folder ``output``, ``NAME.scores.parquet`` gets a column of scores for each metric, in the order of
    the shard's rows. Without ``output``, nothing is written.

    Parameters
    ----------
    shards
        Parquet, JSON Lines or tar: files, folders, patterns.
    references
        Reference captions, or None for metrics that need none.
    metrics
        As for :func:`captious.score`. The default is "lexical", or measures that need no references if there
        are none.
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
        Merged scores, counts of the whole, and the outcome of each shard.

    Examples
    --------
    >>> import json, tempfile
    >>> with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
    ...     print(json.dumps({"image_id": 1, "caption": "a dog"}), file=file)
    ...     print(json.dumps({"image_id": 2, "caption": "a cat"}), file=file, flush=True)
    ...     result = score(file.name, {1: ["a dog"], 2: ["a cat"]}, "BLEU-1", workers=1)
    >>> round(result.scores["BLEU-1"].value, 2)
    1.0
    """
    start = time.monotonic()
    settings, measure_options = ShardSettings.split(options)
    files = find(shards)
    temporary = settings.create_folder()
    with (
        _engine(settings) as workers,
        _planned(workers, files, references, metrics, settings, measure_options, temporary) as plan,
    ):
        done, faults = _score_all(workers, plan, settings, show)
        if not done:
            raise InputError(f"no shard could be scored; the first: {next(iter(faults.values()))}")
        if not any(shard.rows for shard in done):
            raise InputError(
                f"there are no captions in {some(str(shard.path) for shard in files)}; "
                "give shards with rows (JSONL lines, Parquet rows, samples of a tar)"
            )
        result = _merged(workers, plan, settings, done, faults, name)
        result.files.extend(_save(result, settings, name))
        return replace(result, seconds=time.monotonic() - start, engine=workers.name, workers=workers.workers)


def forecast(
    shards: Sources, references: Source | None = None, metrics: Wanted | None = None, **options: Any
) -> Forecast:
    """Estimate shards, rows, bytes and time of :func:`score` with the same arguments.

    Only a few rows are scored, and there is no first pass.

    Parameters
    ----------
    shards, references, metrics, options
        As for :func:`score`.

    Examples
    --------
    >>> import json, tempfile
    >>> with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
    ...     print(json.dumps({"image_id": 1, "caption": "a dog"}), file=file)
    ...     print(json.dumps({"image_id": 2, "caption": "a cat"}), file=file, flush=True)
    ...     forecast(file.name, {1: ["a dog"], 2: ["a cat"]}, "BLEU-1").rows
    2
    """
    settings, measure_options = ShardSettings.split(options)
    measure_options = {option: value for option, value in measure_options.items() if value != SHARDS}
    files, temporary = find(shards), Path(tempfile.gettempdir())
    with (
        _engine(settings) as workers,
        _planned(workers, files, references, metrics, settings, measure_options, temporary) as plan,
    ):
        return make_forecast(workers, plan.prepared, plan.tasks)


@contextmanager
def _engine(settings: ShardSettings) -> Iterator[Engine]:
    """Start an engine, and close it unless the caller passed one."""
    workers = engine(settings.executor, settings.workers)
    try:
        yield workers
    finally:
        if isinstance(settings.executor, str):
            workers.close()


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
def _planned(
    engine: Engine,
    shards: list[Shard],
    references: Source | None,
    metrics: Wanted | None,
    settings: ShardSettings,
    measure_options: Mapping[str, Any],
    temporary: Path,
) -> Iterator[RunPlan]:
    """Prepare everything that workers read: references, filters, document frequencies.

    ``temporary`` is the folder for temporary files.
    """
    if metrics is None:
        metrics = "lexical" if references is not None else WITHOUT_REFERENCES
    names, whole = split_metrics(metrics)
    options = dict(measure_options)
    columns = Columns(split_names(settings.image_column), split_names(settings.caption_column))
    with scratch_folder(temporary) as scratch:
        encoded = References.read(references, settings.tokenizer) if references is not None else None
        tokenizer = (
            encoded.captions.tokenizer if encoded is not None else settings.tokenizer or DEFAULT_TOKENIZER
        )
        job = Job(
            names,
            whole,
            tokenizer=tokenizer,
            columns=columns,
            on_error=settings.on_error,
            top=settings.top,
            seed=settings.seed,
            columns_saved=settings.folder is not None,
        )
        orders = sorted({int(name[-1]) for name in names if name.startswith("Novel-")})
        if orders:
            if settings.train is None:
                raise InputError(
                    "n-gram novelty is measured against training captions: give them "
                    "(--training FILE, train=…)"
                )
            filter_path = seen_ngrams(
                engine,
                settings.train,
                scratch,
                tokenizer=tokenizer,
                rate=settings.false_rate,
                columns=columns,
                orders=orders,
            )
            job = replace(job, filter=filter_path)
        elif settings.train is not None:
            options["train"] = settings.train
        errors = _first_pass(engine, shards, job, options, scratch)
        job = replace(job, options=tuple(sorted(options.items())))
        if encoded is not None:
            job = replace(job, references=_broadcast(encoded, references, job, scratch))
        prepared = PreparedJob(job, encoded.captions if encoded is not None else None)
        prepared.job = job.identified(prepared)
        target = settings.folder or scratch / "shards"
        for folder in {(target / shard.name).parent for shard in shards}:
            folder.mkdir(parents=True, exist_ok=True)
        yield RunPlan(
            prepared, [ShardTask(shard, str(target / shard.name)) for shard in shards], scratch, errors
        )


def _first_pass(
    engine: Engine, shards: list[Shard], job: Job, options: dict[str, Any], scratch: Path
) -> dict[str, str]:
    """Replace options that are "shards" by files of counts, and return the errors of approximate counts."""
    errors: dict[str, str] = {}
    for option, (kind, save) in first_pass.FIRST_PASS.items():
        if options.get(option) != SHARDS:
            continue
        settings = first_pass.Counting(
            kind, job.columns, job.tokenizer, job.top, options.get("parser"), options.get("meteor_data")
        )
        counted = first_pass.count(engine, shards, scratch, settings, job.on_error)
        save(counted, settings, scratch / option)
        options[option] = str(scratch / option)
        if counted.error:
            errors[option] = f"counts are too low by at most {counted.error:,}"
    return errors


def _broadcast(encoded: References, source: Source, job: Job, scratch: Path) -> str:
    """Return the file of prepared references that workers map: the user's, if it is complete."""
    before = _products(encoded.captions)
    encoded.prepare(measures_of(replace(job, references="given")))
    if (
        isinstance(source, str | os.PathLike)
        and is_prepared(Path(source))
        and _products(encoded.captions) == before
    ):
        return os.path.abspath(source)  # noqa: PTH100 - workers may have another working directory
    path = scratch / "references.prepared"
    encoded.save(path)
    return str(path.resolve())


def _products(captions: Captions) -> set[Any]:
    return {
        key
        for memo in (captions.encoding.memo, captions.memo)
        for key in [*memo.stored, *(key for key, _ in memo.products())]
    }


def _score_all(
    engine: Engine, plan: RunPlan, settings: ShardSettings, show: Callable[[Meter], None] | None
) -> tuple[list[Done], dict[str, str]]:
    """Score all shards. Return the finished ones in their order, and the reasons of those left out."""
    job, tasks = plan.prepared.job, plan.tasks
    sizes = [Path(task.shard.path).stat().st_size for task in tasks]
    meter = Meter(len(tasks), sum(sizes), engine.workers)
    done: dict[int, Done] = {}
    faults: dict[int, str] = {}
    with ProgressDisplay(meter, show) as display:
        for number, outcome in outcomes(engine, partial(score_shard, job), tasks):
            if isinstance(outcome, Failure):
                message, path = outcome.message, printable(tasks[number].shard.path)
                if path not in message:
                    message = f"the shard {path}: {printable(message)}"
                if job.on_error == "stop" or not outcome.skippable:
                    if settings.folder is not None:
                        finished = f"{len(done):,} of {len(tasks):,} shards are finished and kept"
                        message += f"; {finished}: run again to go on"
                    raise InputError(message)
                faults[number] = message
                meter.skip(sizes[number])
            else:
                done[number] = outcome
                meter.add(outcome, sizes[number])
            display.update()
    left_out = {tasks[number].shard.name: faults[number] for number in sorted(faults)}
    return [done[number] for number in sorted(done)], left_out


def _check_coverage(plan: RunPlan, covered: NDArray[np.bool_], settings: ShardSettings) -> None:
    """Refuse results that lack images of the references, unless the user asked for a part."""
    missing = np.flatnonzero(~covered)
    if not len(missing) or settings.part:
        return
    ids = plan.prepared.references.ids
    raise InputError(
        f"the shards have no caption for {len(missing):,} of the {len(covered):,} images of the references: "
        f"{some(show_id(ids[i]) for i in missing.tolist())}. To score the others, against all references: "
        "--part (part=True)" + ("" if settings.folder is None else "; finished shards are not scored again")
    )


def _merged(
    engine: Engine,
    plan: RunPlan,
    settings: ShardSettings,
    done: list[Done],
    faults: dict[str, str],
    name: str,
) -> Result:
    job = plan.prepared.job
    tasks = [task for task in plan.tasks if task.shard.name not in faults]
    total = merging.merge_all(engine, tasks, plan.folder, job.sample)
    covered = np.unpackbits(total.covered, count=plan.prepared.n_images).astype(np.bool_)
    _check_coverage(plan, covered, settings)
    values: dict[str, float] = {}
    errors = dict(plan.errors)
    words: list[tuple[str, int]] = []
    if {"Types", "Hapax"} & set(job.whole):
        if job.top is None:
            types, once, file = merging.merge_words(engine, tasks, plan.folder)
            words = merging.most_frequent(file)
            if "Types" in job.whole:
                values["Types"] = float(types)
            if "Hapax" in job.whole:
                values["Hapax"] = once / types if types else float("nan")
        else:
            counters = frequent(total.whole["frequent"])
            words = sorted(counters.counts.items(), key=lambda pair: (-pair[1], pair[0]))[:100]
            errors["words"] = (
                f"counts are too low by at most {counters.error:,} (bound {counters.bound:,} of "
                f"{counters.total:,} words)"
            )
            if "Types" in job.whole:
                sketch = DistinctCount(np.array(total.arrays["types"]))
                values["Types"], errors["Types"] = sketch.value, f"standard error {sketch.error:.2%}"
    good = total.rows - total.bad
    if "Distinct" in job.whole and good:
        if job.top is None:
            values["Distinct"] = merging.count_distinct(engine, tasks, total.rows) / good
        else:
            sketch = DistinctCount(np.array(total.arrays["distinct"]))
            values["Distinct"] = min(1.0, sketch.value / good)
            errors["Distinct"] = f"standard error {sketch.error:.2%}"
    curve = None
    if total.texts:
        curve = type_token_curve(Captions.of([total.texts], job.tokenizer), seed=job.seed)
    files = [Path(task.scores) for task in tasks] if job.metrics and job.columns_saved else []
    scores = merging.merged_scores(plan.prepared, total, name)
    images = (int(covered.sum()), len(covered)) if len(covered) else None
    return Result(scores, values, errors, curve, words, done, faults, files, images)
