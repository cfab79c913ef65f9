"""Engines that process shards: processes of this machine, Dask, Ray, Spark, or any executor.

An engine maps a function over items and yields results in any order, each with the number of its item.
"""

from __future__ import annotations

import itertools
import logging
import multiprocessing
import os
import sys
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
    wait,
)
from dataclasses import dataclass
from functools import partial
from multiprocessing import connection
from types import TracebackType
from typing import Any

from captious.core.errors import CaptiousError, InputError, MissingExtraError, did_you_mean
from captious.core.threads import jobs
from captious.scale.shards import ShardError

Function = Callable[[Any], Any]

#: Seconds of silence before checking that all workers are alive.
_SILENCE = 2.0
#: Workers that may die at one item before the item is given up.
STRIKES = 3


class Engine(ABC):
    """Maps a function over items."""

    name = "engine"
    #: Number of items processed at a time, as far as the engine knows.
    workers = 1

    @abstractmethod
    def run(self, function: Function, items: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        """Yield (number of the item, result) in any order.

        The result is an exception if the item could not be processed.
        """

    def close(self) -> None:  # noqa: B027 - most engines have nothing to stop
        """Stop whatever this engine started."""

    def __enter__(self) -> Engine:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class NotStarted(Exception):  # noqa: N818 - the item itself has no error
    """The workers died before the item was started."""


class Executing(Engine):
    """Any :class:`concurrent.futures.Executor`. The caller shuts it down."""

    name = "executor"

    def __init__(
        self, executor: Executor, workers: int | None = None, idle: Callable[[], bool] | None = None
    ) -> None:
        """``idle`` is called after two seconds without a result, and returns whether to give up."""
        self.executor = executor
        self.idle = idle
        self.workers = workers or int(getattr(executor, "_max_workers", 0)) or jobs()

    def run(self, function: Function, items: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        numbers = iter(range(len(items)))
        running: dict[Future[Any], int] = {}
        try:
            while True:
                # Submit a few items in advance to keep workers busy, and not all, to lose little on a stop.
                for number in numbers:
                    try:
                        running[self.executor.submit(function, items[number])] = number
                    except (BrokenExecutor, OSError) as error:
                        # OSError: a pool that breaks at this moment has closed its pipe already.
                        yield number, NotStarted(str(error))
                    if len(running) >= 2 * self.workers + 2:
                        break
                if not running:
                    return
                done = wait(running, None if self.idle is None else _SILENCE, FIRST_COMPLETED).done
                if not done and self.idle is not None and self.idle():
                    for number in running.values():
                        yield number, BrokenExecutor("its worker died")
                    running.clear()
                for future in done:
                    yield running.pop(future), future.exception() or future.result()
        finally:
            for future in running:
                future.cancel()


def _watch_parent() -> None:
    """End this worker when the client ends, even if the client is killed."""
    parent = multiprocessing.parent_process()

    def watch() -> None:
        if parent is not None:
            connection.wait([parent.sentinel])
            os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


class Local(Engine):
    """Processes of this machine. A worker that dies is replaced, and its item is processed again."""

    name = "local"

    def __init__(self, workers: int | None = None) -> None:
        self.workers = workers or jobs()
        self._pool: ProcessPoolExecutor | None = None

    def _start(self) -> ProcessPoolExecutor:
        if self._pool is None:
            context = multiprocessing.get_context("spawn")
            self._pool = ProcessPoolExecutor(self.workers, mp_context=context, initializer=_watch_parent)
        return self._pool

    def _processes(self) -> list[Any]:
        return list((self._pool._processes or {}).values()) if self._pool is not None else []

    def _kill_stuck(self) -> bool:
        """Kill all workers if one is dead, and return whether all were dead already.

        A worker that is killed while it starts can leave the others waiting for a lock, and the pool does not
        always report that it is broken.
        """
        alive = [process.is_alive() for process in self._processes()]
        if not all(alive):
            self._kill_all()
        return not any(alive)

    def _kill_all(self) -> None:
        for process in self._processes():
            process.kill()

    def run(self, function: Function, items: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        strikes = [0] * len(items)
        remaining = list(range(len(items)))
        while remaining:
            # An item that ran when workers died is first repeated with the rest, then alone, so that only
            # an item that kills its worker every time is given up.
            suspects = [number for number in remaining if strikes[number] >= STRIKES - 1]
            batch = suspects[:1] or remaining
            done: set[int] = set()
            broken = False
            for place, outcome in Executing(self._start(), self.workers, self._kill_stuck).run(
                function, [items[number] for number in batch]
            ):
                number = batch[place]
                if isinstance(outcome, NotStarted):
                    broken = True
                    continue
                if isinstance(outcome, BrokenExecutor):
                    broken = True
                    strikes[number] += 1
                    if strikes[number] < STRIKES:
                        continue
                    outcome = InputError(
                        f"its worker died {STRIKES} times: it was killed, or there is not enough memory"
                    )
                done.add(number)
                yield number, outcome
            if broken:
                # The pool may have just started a worker that it does not end.
                self._kill_all()
                self.close()
            remaining = [number for number in remaining if number not in done]

    def close(self) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)
            self._pool = None


class Dask(Engine):
    """A Dask cluster: at an address, or a new one on this machine with one thread per process."""

    name = "dask"

    def __init__(self, address: str | None = None, workers: int | None = None, client: Any = None) -> None:
        try:
            import dask.config
            from distributed import Client, LocalCluster
        except ImportError:
            raise MissingExtraError("distributed", "dask", "'--engine dask'") from None
        self._cluster = None
        self._own = client is None
        if client is None and address is None:
            # By default, Dask's workers return memory after every batch and request it again, which took a
            # third of their time.
            with dask.config.set({"distributed.nanny.pre-spawn-environ.MALLOC_TRIM_THRESHOLD_": 1 << 28}):
                count = workers or jobs()
                self._cluster = LocalCluster(n_workers=count, threads_per_worker=1, dashboard_address=None)
            # Dask does not replace a worker that is killed while it starts, unless the cluster is adaptive.
            self._cluster.adapt(minimum=count, maximum=count)
        self.client = (
            client if client is not None else Client(self._cluster if self._cluster is not None else address)
        )
        self.workers = max(1, sum(self.client.nthreads().values()))

    def run(self, function: Function, items: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        from distributed import KilledWorker

        # Dask repeats a task when its worker dies, and gives it up after several deaths, together with tasks
        # that waited at the same workers. Run alone, only the item at fault fails again.
        suspects = []
        for number, outcome in self._run(function, items, range(len(items))):
            if isinstance(outcome, KilledWorker):
                suspects.append(number)
            else:
                yield number, outcome
        for number in suspects:
            yield from self._run(function, items, [number])

    def _run(
        self, function: Function, items: Sequence[Any], numbers: Iterable[int]
    ) -> Iterator[tuple[int, Any]]:
        # Futures of Dask and not its executor, which loses results of workers that die.
        from distributed import wait as wait_for

        waiting = iter(numbers)
        running: dict[Any, int] = {}
        try:
            while True:
                for number in itertools.islice(waiting, 2 * self.workers + 2 - len(running)):
                    running[self.client.submit(function, items[number], pure=False)] = number
                if not running:
                    return
                for future in wait_for(list(running), return_when="FIRST_COMPLETED").done:
                    number = running.pop(future)
                    try:
                        result = future.result(timeout=_SILENCE)
                    except TimeoutError:
                        # Its worker died with the result, so the task runs again.
                        running[future] = number
                    except Exception as error:
                        yield number, error
                    else:
                        yield number, result
        finally:
            self.client.cancel(list(running))

    def close(self) -> None:
        if self._own:
            self.client.close()
        if self._cluster is not None:
            self._cluster.close()


class Ray(Engine):
    """Ray tasks: at an address, in the existing session, or on this machine."""

    name = "ray"

    def __init__(self, address: str | None = None, workers: int | None = None) -> None:
        try:
            import ray
        except ImportError:
            raise MissingExtraError("ray", "ray", "'--engine ray'") from None
        self._own = not ray.is_initialized()
        if self._own:
            ray.init(
                address=address,
                num_cpus=None if address else workers or jobs(),
                include_dashboard=False,
                log_to_driver=False,
                logging_level=logging.ERROR,
            )
        self.workers = int(ray.cluster_resources().get("CPU", 1))

    def run(self, function: Function, items: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        import ray

        # One processor each. Ray repeats a task when its worker dies.
        remote = ray.remote(num_cpus=1, max_retries=STRIKES)(lambda item: function(item))
        numbers = iter(range(len(items)))
        running: dict[Any, int] = {}
        try:
            while True:
                for number in itertools.islice(numbers, 2 * self.workers + 2 - len(running)):
                    running[remote.remote(items[number])] = number
                if not running:
                    return
                for task in ray.wait(list(running))[0]:
                    number = running.pop(task)
                    try:
                        yield number, ray.get(task)
                    except ray.exceptions.RayError as error:
                        yield number, error
        finally:
            for task in running:
                ray.cancel(task)

    def close(self) -> None:
        if self._own:
            import ray

            ray.shutdown()


class Spark(Engine):
    """Spark's ``mapInPandas``: with a master, in the existing session, or on this machine.

    Each item is a job of one task, submitted from a thread of the client. So all executors are busy, results
    arrive one by one, and the failure of an item concerns no other.
    """

    name = "spark"

    def __init__(self, master: str | None = None, workers: int | None = None, session: Any = None) -> None:
        try:
            import pandas  # noqa: F401 - mapInPandas needs it
            from pyspark.sql import SparkSession
        except ImportError:
            raise MissingExtraError("pyspark", "spark", "'--engine spark'") from None
        # Workers run the Python of this process, not the first one on their path.
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        self._own = session is None and SparkSession.getActiveSession() is None
        builder = SparkSession.builder.appName("captious").config("spark.ui.enabled", "false")
        # The second number is how often a task may fail, which is 1 by default on one machine.
        local = f"local[{workers or jobs()},{STRIKES + 1}]"
        self.session = session or builder.master(master or local).getOrCreate()
        self.workers = int(self.session.sparkContext.defaultParallelism)

    def run(self, function: Function, items: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        with ThreadPoolExecutor(self.workers) as pool:
            yield from Executing(pool, self.workers).run(partial(self._job, function), items)

    def _job(self, function: Function, item: Any) -> Any:
        import pickle

        def work(frames: Iterator[Any]) -> Iterator[Any]:
            import pandas

            for _ in frames:
                yield pandas.DataFrame({"result": [pickle.dumps(function(item))]})

        (row,) = self.session.range(0, 1, 1, 1).mapInPandas(work, "result binary").collect()
        return pickle.loads(bytes(row["result"]))

    def close(self) -> None:
        if self._own:
            self.session.stop()


ENGINES: dict[str, Callable[..., Engine]] = {"local": Local, "dask": Dask, "ray": Ray, "spark": Spark}


def engine(name: str | Engine | Executor = "local", workers: int | None = None) -> Engine:
    """Return an engine by name (``dask=tcp://scheduler:8786`` contains an address), or for an executor.

    Parameters
    ----------
    name
        ``local``, ``dask``, ``ray`` or ``spark``, an engine, or an executor.
    workers
        Number of processes (default: all processors).

    Examples
    --------
    >>> with engine("local", 1) as one:
    ...     type(one).__name__
    'Local'
    """
    if isinstance(name, Engine):
        return name
    if isinstance(name, Executor):
        return Executing(name, workers)
    kind, _, address = name.partition("=")
    if kind not in ENGINES:
        raise InputError(
            f"unknown engine '{kind}'{did_you_mean(kind, ENGINES)} (known: {', '.join(ENGINES)})"
        )
    if kind == "local":
        if address:
            raise InputError(f"the engine 'local' has no address: {address}")
        return Local(workers)
    return ENGINES[kind](address or None, workers)


# Errors of workers ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Failure:
    """An item that was not processed. It is a value, because not every exception can be pickled."""

    message: str
    #: Whether this item is at fault, so that the others can be processed.
    skippable: bool


def _guarded(function: Function, item: Any) -> Any:
    """On a worker: the result of an item, or its :class:`Failure`."""
    try:
        return function(item)
    except ShardError as error:
        return Failure(str(error), True)
    except (CaptiousError, OSError) as error:
        return Failure(str(error), False)


def outcomes(engine: Engine, function: Function, items: Sequence[Any]) -> Iterator[tuple[int, Any]]:
    """Yield (number of the item, result or :class:`Failure`) in any order."""
    for number, outcome in engine.run(partial(_guarded, function), items):
        if isinstance(outcome, NotStarted):
            yield number, Failure("the workers of the executor died", True)
        elif isinstance(outcome, BaseException):
            lines = str(outcome).splitlines()
            yield number, Failure(lines[0] if lines else type(outcome).__name__, True)
        else:
            yield number, outcome


def results(
    engine: Engine, function: Function, items: Sequence[Any], problem: str
) -> Iterator[tuple[int, Any]]:
    """Yield (number of the item, result) in any order. A failure is an error that starts with ``problem``."""
    for number, outcome in outcomes(engine, function, items):
        if isinstance(outcome, Failure):
            raise InputError(f"{problem}: {outcome.message}")
        yield number, outcome
