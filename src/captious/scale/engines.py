"""Where shards are worked on: processes of this machine, a Dask cluster, Ray, Spark, or any executor.

An engine maps a function over items and gives results as they come, with the items' numbers. That is all of
the contract.
"""

from __future__ import annotations

import itertools
import logging
import multiprocessing
import os
import sys
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import connection
from types import TracebackType
from typing import Any

from captious.core.errors import InputError, MissingExtraError, did_you_mean
from captious.core.threads import jobs

Function = Callable[[Any], Any]

#: Seconds of silence before checking that all workers are alive.
_SILENCE = 2.0
#: A shard whose workers died so often is at fault itself.
STRIKES = 3


class Engine(ABC):
    """Maps functions over items, somewhere."""

    name = "engine"
    #: How many items are worked on at a time, as far as that is known.
    workers = 1

    @abstractmethod
    def run(self, function: Function, items: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        """(number of the item, result) in any order.

        Where the item could not be worked on, the result is the exception.
        """

    def close(self) -> None:  # noqa: B027 - most have nothing to give back
        """Give back what was started."""

    def __enter__(self) -> Engine:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class NotStarted(Exception):  # noqa: N818 - nothing is wrong with the item
    """The workers died before the item's turn came."""


class Executing(Engine):
    """Any :class:`concurrent.futures.Executor`. Whoever made it ends it."""

    name = "executor"

    def __init__(
        self, executor: Executor, workers: int | None = None, idle: Callable[[], None] | None = None
    ) -> None:
        """``idle`` is called when nothing has come for two seconds."""
        self.executor = executor
        self.idle = idle
        self.workers = workers or int(getattr(executor, "_max_workers", 0)) or jobs()

    def run(self, function: Function, items: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        left = iter(range(len(items)))
        running: dict[Future[Any], int] = {}
        try:
            while True:
                # A few in advance, so that no worker waits; not all, so that little is lost when the run is
                # stopped.
                for number in left:
                    try:
                        running[self.executor.submit(function, items[number])] = number
                    except BrokenExecutor as error:
                        yield number, NotStarted(str(error))
                    if len(running) >= 2 * self.workers + 2:
                        break
                if not running:
                    return
                done = wait(running, None if self.idle is None else _SILENCE, FIRST_COMPLETED).done
                if not done and self.idle is not None:
                    self.idle()
                for future in done:
                    yield running.pop(future), future.exception() or future.result()
        finally:
            for future in running:
                future.cancel()


def _watch_parent() -> None:
    """In a worker: end when the client does, also when it is killed, which otherwise would leave workers
    waiting for ever.
    """
    parent = multiprocessing.parent_process()

    def watch() -> None:
        if parent is not None:
            connection.wait([parent.sentinel])
            os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


class Local(Engine):
    """Processes of this machine. One that dies is replaced, and what it was at is done again."""

    name = "local"

    def __init__(self, workers: int | None = None) -> None:
        self.workers = workers or jobs()
        self._pool: ProcessPoolExecutor | None = None

    def _start(self) -> ProcessPoolExecutor:
        if self._pool is None:
            # Not forked: a copy would inherit locks held by other threads and never released.
            context = multiprocessing.get_context("spawn")
            self._pool = ProcessPoolExecutor(self.workers, mp_context=context, initializer=_watch_parent)
        return self._pool

    def _look(self) -> None:
        """A worker that is killed while it starts can leave the others waiting for a lock that it held,
        without the pool noticing. The pool watches the others: where they end, too, it says that it is
        broken.
        """
        processes = list((self._pool._processes or {}).values()) if self._pool is not None else []
        if any(not process.is_alive() for process in processes):
            for process in processes:
                process.kill()

    def run(self, function: Function, items: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        strikes = [0] * len(items)
        left = list(range(len(items)))
        while left:
            # What was running when workers died is at first tried again with the rest, and then one by one,
            # so that only an item that kills its worker every time is given up.
            alone = [number for number in left if strikes[number] >= STRIKES - 1]
            now = alone[:1] or left
            done: set[int] = set()
            broken = False
            for place, outcome in Executing(self._start(), self.workers, self._look).run(
                function, [items[number] for number in now]
            ):
                number = now[place]
                if isinstance(outcome, NotStarted):
                    broken = True
                    continue
                if isinstance(outcome, BrokenProcessPool):
                    broken = True
                    strikes[number] += 1
                    if strikes[number] < STRIKES:
                        continue
                    outcome = InputError(
                        "the worker died at it, again and again: it was killed, or there is not enough memory"
                    )
                done.add(number)
                yield number, outcome
            if broken:
                self.close()
            left = [number for number in left if number not in done]

    def close(self) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)
            self._pool = None


class Dask(Engine):
    """A Dask cluster: of an address, or of this machine's own, one thread in each process."""

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
            # Dask's workers give memory back after every batch, only to ask for it again: a third of their
            # time.
            with dask.config.set({"distributed.nanny.pre-spawn-environ.MALLOC_TRIM_THRESHOLD_": 1 << 28}):
                self._cluster = LocalCluster(
                    n_workers=workers or jobs(), threads_per_worker=1, dashboard_address=None
                )
        self.client = (
            client if client is not None else Client(self._cluster if self._cluster is not None else address)
        )
        self.workers = max(1, sum(self.client.nthreads().values()))

    def run(self, function: Function, items: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        # A task is done anew when its worker dies; Dask gives it up when that happened too often.
        return Executing(self.client.get_executor(pure=False, retries=STRIKES), self.workers).run(
            function, items
        )

    def close(self) -> None:
        if self._own:
            self.client.close()
        if self._cluster is not None:
            self._cluster.close()


class Ray(Engine):
    """Tasks of Ray: of an address, of the session there is, or on this machine."""

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

        # One processor each; a task is done anew when its worker dies.
        remote = ray.remote(num_cpus=1, max_retries=STRIKES)(lambda item: function(item))
        left = iter(range(len(items)))
        running: dict[Any, int] = {}
        try:
            while True:
                for number in itertools.islice(left, 2 * self.workers + 2 - len(running)):
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
    """Spark's ``mapInPandas``: of a master, of the session there is, or on this machine."""

    name = "spark"

    def __init__(self, master: str | None = None, workers: int | None = None, session: Any = None) -> None:
        try:
            import pandas  # noqa: F401 - what mapInPandas speaks
            from pyspark.sql import SparkSession
        except ImportError:
            raise MissingExtraError("pyspark", "spark", "'--engine spark'") from None
        # Workers shall run the Python of this process, and not the first that they find.
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        self._own = session is None and SparkSession.getActiveSession() is None
        builder = SparkSession.builder.appName("captious").config("spark.ui.enabled", "false")
        self.session = session or builder.master(master or f"local[{workers or jobs()}]").getOrCreate()
        self.workers = int(self.session.sparkContext.defaultParallelism)

    def run(self, function: Function, items: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        import pandas

        def worked(frames: Iterator[Any]) -> Iterator[Any]:
            for frame in frames:
                yield pandas.DataFrame(_results(function, items, frame["id"]))

        # One partition for each item: a partition is what one task works on.
        numbers = self.session.range(0, len(items), 1, numPartitions=max(len(items), 1))
        for row in numbers.mapInPandas(worked, "number long, result binary").toLocalIterator(
            prefetchPartitions=True
        ):
            yield int(row["number"]), _unpacked(bytes(row["result"]))

    def close(self) -> None:
        if self._own:
            self.session.stop()


def _results(function: Function, items: Sequence[Any], numbers: Any) -> dict[str, list[Any]]:
    """Results as bytes: engines that work on tables need to know no more of them."""
    import pickle

    chosen = [int(number) for number in numbers]
    return {"number": chosen, "result": [pickle.dumps(function(items[number])) for number in chosen]}


def _unpacked(result: bytes) -> Any:
    """Return the result that one of our own workers sent."""
    import pickle

    return pickle.loads(result)


ENGINES: dict[str, Callable[..., Engine]] = {"local": Local, "dask": Dask, "ray": Ray, "spark": Spark}


def engine(name: str | Engine | Executor = "local", workers: int | None = None) -> Engine:
    """An engine by name (``dask=tcp://scheduler:8786`` has an address in it), or around an executor."""
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
