"""One contract for all engines: the same bytes, bad shards named, nothing lost when workers are killed."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from captious import scale
from captious.core.errors import InputError
from captious.scale.engines import Engine, Executing
from tests.scale import making
from tests.scale.making import REFERENCES, Serial

METRICS = "lexical,Types,Distinct"
ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def shards(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder with three shards and a damaged one, and the expected files for all and for the good ones."""
    folder = tmp_path_factory.mktemp("engines")
    good = making.folder(folder / "good", 3)
    scale.score(good, REFERENCES, METRICS, output=folder / "expected-good", executor=Serial())
    making.folder(folder / "in", 3)
    (folder / "in" / "broken.parquet").write_bytes(b"PAR1, and nothing more")
    scale.score(
        folder / "in", REFERENCES, METRICS, output=folder / "expected", executor=Serial(), on_error="skip"
    )
    return folder


ENGINES = [
    "executor",
    "local",
    "dask",
    pytest.param("ray", marks=pytest.mark.ray),
    pytest.param("spark", marks=pytest.mark.spark),
]


@pytest.fixture(scope="module", params=ENGINES)
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    name = request.param
    if name == "executor":
        with ThreadPoolExecutor(2) as pool:
            yield Executing(pool)
        return
    with pytest.MonkeyPatch.context() as patch:
        # Workers of Ray and Spark import the functions of this file.
        paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
        patch.setenv("PYTHONPATH", os.pathsep.join(paths))
        with scale.engine(name, 2) as started:
            yield started


def test_the_bytes_are_those_of_one_process(engine: Engine, shards: Path, tmp_path: Path) -> None:
    def score(output: str, on_error: str) -> scale.Result:
        return scale.score(
            shards / "in", REFERENCES, METRICS, output=tmp_path / output, executor=engine, on_error=on_error
        )

    result = score("out", "skip")
    assert making.content(tmp_path / "out") == making.content(shards / "expected")
    assert list(result.faults) == ["broken"] and "broken.parquet is damaged" in result.faults["broken"]
    assert result.workers >= 1 and result.kept == 0
    assert score("out", "skip").kept == 3
    with pytest.raises(InputError, match=r"broken\.parquet is damaged"):
        score("stopped", "stop")


class Killing(Engine):
    """Engine whose workers are killed at the first items: one before its work, another after it."""

    def __init__(self, engine: Engine, folder: Path) -> None:
        self.engine, self.folder, self.workers = engine, folder, engine.workers

    def run(self, function: Callable[[Any], Any], items: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        return self.engine.run(partial(killed_once, function, str(self.folder)), items)


def killed_once(function: Callable[[Any], Any], folder: str, item: Any) -> Any:
    """On a worker: end this process with signal 9 before the first item, and after the second one."""
    before = _is_first(folder, "before")
    if before:
        os.kill(os.getpid(), signal.SIGKILL)
    result = function(item)
    if _is_first(folder, "after"):
        os.kill(os.getpid(), signal.SIGKILL)
    return result


def _is_first(folder: str, name: str) -> bool:
    """Whether this call is the first of all processes."""
    try:
        os.close(os.open(Path(folder) / name, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return False
    return True


#: Engines whose workers are processes.
processes = pytest.mark.parametrize("engine", ENGINES[1:], indirect=True)


@processes
def test_killed_workers_lose_nothing(engine: Engine, shards: Path, tmp_path: Path) -> None:
    (tmp_path / "kills").mkdir()
    killing = Killing(engine, tmp_path / "kills")
    result = scale.score(shards / "good", REFERENCES, METRICS, output=tmp_path / "out", executor=killing)
    assert {path.name for path in (tmp_path / "kills").iterdir()} == {"before", "after"}
    assert not result.faults and making.content(tmp_path / "out") == making.content(shards / "expected-good")


def square_or_die(item: int) -> int:
    """On a worker: end this process with signal 9 at one item, every time."""
    if item == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return item * item


@processes
def test_an_item_that_kills_every_worker_is_given_up(engine: Engine) -> None:
    results = dict(engine.run(square_or_die, list(range(12))))
    assert isinstance(results.pop(3), Exception)
    assert results == {item: item * item for item in range(12) if item != 3}


def test_engines_by_name() -> None:
    with pytest.raises(InputError, match="unknown engine 'dusk'; did you mean 'dask'"):
        scale.engine("dusk")
    with pytest.raises(InputError, match="no address"):
        scale.engine("local=here")
    assert scale.engine("local", 3).workers == 3
    engine = Executing(Serial())
    assert scale.engine(engine) is engine and isinstance(scale.engine(Serial()), Executing)


def test_an_executor_is_not_flooded() -> None:
    """A few items are submitted in advance, not all, and items that were not started are cancelled."""
    submitted: list[int] = []

    class Recording(ThreadPoolExecutor):
        def submit(self, function, /, *arguments, **named):  # type: ignore[no-untyped-def]
            submitted.append(arguments[0])
            return super().submit(function, *arguments, **named)

    with Recording(2) as pool:
        results = Executing(pool).run(abs, list(range(-100, 0)))
        next(results)
        assert len(submitted) <= 8
        assert len([next(results) for _ in range(50)]) == 50 and len(submitted) < 70
        results.close()  # type: ignore[attr-defined]
