"""One contract for all engines: the same bytes, bad shards named, whoever does the work."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from captious import scale
from captious.core.errors import InputError
from captious.scale.engines import Engine, Executing
from tests.scale import making
from tests.scale.making import REFERENCES, Serial

METRICS = "lexical,Types,Distinct"


@pytest.fixture(scope="module")
def shards(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three shards, and one that is none."""
    folder = tmp_path_factory.mktemp("engines")
    making.folder(folder / "in", 3)
    (folder / "in" / "broken.parquet").write_bytes(b"PAR1, and nothing more")
    scale.score(
        folder / "in", REFERENCES, METRICS, output=folder / "expected", executor=Serial(), on_error="skip"
    )
    return folder


def made(name: str) -> Iterator[Engine]:
    if name == "executor":
        with ThreadPoolExecutor(2) as pool:
            yield Executing(pool)
        return
    package = {"local": "captious", "dask": "distributed", "ray": "ray", "spark": "pyspark"}[name]
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"{package} is not installed: pip install 'captious[{name}]'")
    if name == "dask":
        from distributed import Client, LocalCluster

        with (
            LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
            Client(cluster) as client,
        ):
            yield scale.Dask(client=client)
        return
    with scale.engine(name, 2) as engine:
        yield engine


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["executor", "local", "dask", "ray", "spark"])
def test_every_engine_does_the_same(name: str, shards: Path, tmp_path: Path) -> None:
    for engine in made(name):
        found = scale.score(
            shards / "in", REFERENCES, METRICS, output=tmp_path / "out", executor=engine, on_error="skip"
        )
        assert making.content(tmp_path / "out") == making.content(shards / "expected")
        assert list(found.faults) == ["broken"] and "broken.parquet is damaged" in found.faults["broken"]
        assert found.workers >= 1 and found.kept == 0
        again = scale.score(
            shards / "in", REFERENCES, METRICS, output=tmp_path / "out", executor=engine, on_error="skip"
        )
        assert again.kept == 3
        with pytest.raises(InputError, match=r"broken\.parquet is damaged"):
            scale.score(shards / "in", REFERENCES, METRICS, output=tmp_path / "stopped", executor=engine)


def test_engines_by_name() -> None:
    with pytest.raises(InputError, match="unknown engine 'dusk'; did you mean 'dask'"):
        scale.engine("dusk")
    with pytest.raises(InputError, match="no address"):
        scale.engine("local=here")
    assert scale.engine("local", 3).workers == 3
    engine = Executing(Serial())
    assert scale.engine(engine) is engine and isinstance(scale.engine(Serial()), Executing)


def test_an_executor_is_not_flooded() -> None:
    """A few items are handed over in advance, not all, and what is given up is taken back."""
    waiting: list[int] = []

    class Counting(ThreadPoolExecutor):
        def submit(self, function, /, *given, **named):  # type: ignore[no-untyped-def]
            waiting.append(given[0])
            return super().submit(function, *given, **named)

    with Counting(2) as pool:
        results = Executing(pool).run(abs, list(range(-100, 0)))
        next(results)
        assert len(waiting) <= 8
        assert len([next(results) for _ in range(50)]) == 50 and len(waiting) < 70
        results.close()  # type: ignore[attr-defined]
