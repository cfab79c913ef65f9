"""Finished work survives faults, and a second run ends with the same bytes. Workers and clients are killed, disks
are full, shards are broken.
"""

from __future__ import annotations

import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import captious
from captious import scale
from captious.core.errors import InputError
from captious.scale.engines import Local
from tests.scale import making
from tests.scale.making import REFERENCES, Serial

METRICS = "lexical,ASL,Types,Hapax,TTR1,Distinct"


@pytest.fixture(scope="module")
def shards(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("shards")
    captious.prepare(REFERENCES, "lexical").save(folder / "references.prepared")
    return making.folder(folder / "in", 24, 60).parent


@pytest.fixture(scope="module")
def undisturbed(shards: Path) -> dict[str, bytes]:
    """Results of a run without faults."""
    scale.score(
        shards / "in",
        shards / "references.prepared",
        METRICS,
        output=shards / "undisturbed",
        executor=Serial(),
    )
    return making.content(shards / "undisturbed")


def start(shards: Path, out: Path, *more: str, **settings: object) -> subprocess.Popen[str]:
    command = [
        sys.executable, "-m", "captious", "score", str(shards / "in"), "--references", str(shards / "references.prepared"), "-m", METRICS,
        "--engine", "local", "-j", "2", "-o", str(out), *more,
    ]  # fmt: skip
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **settings)  # type: ignore[call-overload]


def workers(pid: int) -> list[int]:
    """Return the worker processes of a client."""
    found = []
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return []
    for child in children:
        try:
            if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes():
                found.append(int(child))
        except OSError:
            continue
    return found


def until(condition: Callable[[], object], seconds: float = 600) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it never happened"
        time.sleep(0.02)


needs_proc = pytest.mark.skipif(
    not Path(f"/proc/self/task/{os.getpid()}/children").exists(), reason="workers are found in /proc"
)


@needs_proc
def test_killed_workers_are_replaced(shards: Path, undisturbed: dict[str, bytes], tmp_path: Path) -> None:
    client = start(shards, tmp_path / "out")
    until(lambda: list(tmp_path.glob("out/*.part")))
    first = workers(client.pid)
    os.kill(first[0], signal.SIGKILL)
    until(lambda: set(workers(client.pid)) - set(first) or client.poll() is not None)
    assert client.poll() is None, "it was killed too late to mean anything"
    os.kill((set(workers(client.pid)) - set(first)).pop(), signal.SIGKILL)
    _out, err = client.communicate(timeout=240)
    assert client.returncode == 0, err
    assert making.content(tmp_path / "out") == undisturbed


@needs_proc
def test_a_killed_client_takes_its_workers_along_and_the_next_run_goes_on(
    shards: Path, undisturbed: dict[str, bytes], tmp_path: Path
) -> None:
    client = start(shards, tmp_path / "out")
    until(lambda: list(tmp_path.glob("out/*.part")))
    own = workers(client.pid)
    client.send_signal(signal.SIGKILL)
    client.communicate()
    until(
        lambda: (
            not any(
                Path(f"/proc/{pid}").exists()
                and "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2][:3]
                for pid in own
            )
        )
    )
    done = len(list(tmp_path.glob("out/*.part")))
    assert 0 < done < 24
    found = scale.score(
        shards / "in", shards / "references.prepared", METRICS, output=tmp_path / "out", executor=Serial()
    )
    assert found.kept == done
    assert making.content(tmp_path / "out") == undisturbed, (
        "not even what the killed run had made for itself is left"
    )


def test_a_full_disk(shards: Path, undisturbed: dict[str, bytes], tmp_path: Path) -> None:
    """Files may have 20,000 bytes, as on a disk with no more room."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))

    client = start(shards, tmp_path / "out", preexec_fn=limit)
    _out, err = client.communicate(timeout=240)
    assert client.returncode == 2 and "cannot write" in err and "Traceback" not in err
    assert not list((tmp_path / "out").glob("*.part")) and not list((tmp_path / "out").rglob("*.tmp"))
    scale.score(
        shards / "in", shards / "references.prepared", METRICS, output=tmp_path / "out", executor=Serial()
    )
    assert making.content(tmp_path / "out") == undisturbed


def run(shards: Path, out: Path, **settings: object) -> scale.Result:
    return scale.score(shards, REFERENCES, "BLEU-4,Types", output=out, executor=Serial(), **settings)  # type: ignore[arg-type]


def test_a_broken_shard_is_named(tmp_path: Path) -> None:
    folder = making.folder(tmp_path / "in")
    bad = folder / "part-001.parquet"
    whole = bad.read_bytes()
    bad.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InputError, match=r"part-001\.parquet.*\d of 4 shards are finished"):
        run(folder, tmp_path / "out")
    with pytest.raises(InputError, match=r"no caption for 15 of the 60 images .* --part"):
        run(folder, tmp_path / "skipped", on_error="skip")
    found = run(folder, tmp_path / "skipped", on_error="skip", part=True)
    assert found.kept == 3 and found.images == (45, 60)
    assert list(found.faults) == ["part-001"] and "damaged" in found.faults["part-001"]
    assert len(found.shards) == 3 and not (tmp_path / "skipped" / "part-001.scores.parquet").exists()
    # After its repair, only this shard is scored.
    bad.write_bytes(whole)
    again = run(folder, tmp_path / "skipped", on_error="skip")
    assert again.kept == 3 and not again.faults
    run(folder, tmp_path / "fresh", on_error="skip")
    assert making.content(tmp_path / "skipped") == making.content(tmp_path / "fresh")


def test_bad_rows_are_counted_and_listed(tmp_path: Path) -> None:
    good = making.rows()[:6]
    rows = [*good[:2], ("unknown", "a dog"), (None, "a dog"), good[2], (good[3][0], None), *good[3:]]
    (tmp_path / "in").mkdir()
    making.jsonl(tmp_path / "in" / "a.jsonl", rows)
    with (tmp_path / "in" / "a.jsonl").open("a") as stream:
        stream.write('{"image_id": 1, "caption": "\\ud83d"}\n')
    with pytest.raises(InputError, match=r"a\.jsonl, row 3: image 'unknown' has no references"):
        run(tmp_path / "in", tmp_path / "out")
    assert not list((tmp_path / "out").iterdir())
    found = run(tmp_path / "in", tmp_path / "out", on_error="skip", part=True)
    assert (found.rows, found.bad) == (10, 4)
    assert [row for row, _ in found.shards[0].listed] == [3, 4, 6, 10]
    assert "half a character" in found.shards[0].listed[3][1] and "null" in found.shards[0].listed[2][1]
    import pyarrow.parquet

    column = pyarrow.parquet.read_table(tmp_path / "out" / "a.scores.parquet").column("BLEU-4").to_pylist()
    assert [place for place, value in enumerate(column) if value is None] == [2, 3, 5, 9]
    making.parquet(tmp_path / "in" / "a.jsonl", good)
    clean = run(tmp_path / "in", tmp_path / "clean", part=True)
    assert found.scores["BLEU-4"].value == clean.scores["BLEU-4"].value


def test_only_what_is_missing_or_changed_is_done_again(tmp_path: Path) -> None:
    folder, out = making.folder(tmp_path / "in"), tmp_path / "out"
    run(folder, out)
    before = making.content(out)
    (out / "part-000.scores.parquet").unlink()
    damaged = bytearray((out / "part-001.part").read_bytes())
    damaged[-100] ^= 1
    (out / "part-001.part").write_bytes(damaged)
    column = bytearray((out / "part-002.scores.parquet").read_bytes())
    column[60] ^= 1
    (out / "part-002.scores.parquet").write_bytes(column)
    assert run(folder, out).kept == 1
    assert making.content(out) == before
    (out / "part-000.words").unlink()
    assert run(folder, out).kept == 3
    assert making.content(out) == before
    # Other content or other measures are scored.
    making.parquet(folder / "part-003.parquet", making.rows()[:5])
    assert run(folder, out, part=True).kept == 3
    assert scale.score(folder, REFERENCES, "BLEU-3", output=out, executor=Serial(), part=True).kept == 0


def test_words_that_were_tampered_with_are_noticed(tmp_path: Path) -> None:
    folder, out = making.folder(tmp_path / "in"), tmp_path / "out"
    run(folder, out)
    (out / "part-000.words").write_bytes((out / "part-000.words").read_bytes()[:-40])
    assert run(folder, out).kept == 3


def test_empty_shards(tmp_path: Path) -> None:
    folder = making.folder(tmp_path / "in", 2)
    making.parquet(folder / "a-none.parquet", [])
    (folder / "b-none.jsonl").write_bytes(b"")
    found = run(folder, tmp_path / "out")
    assert [done.rows for done in found.shards][:2] == [0, 0] and found.rows == len(making.rows())
    assert (tmp_path / "out" / "a-none.scores.parquet").exists()
    shutil.rmtree(tmp_path / "out")
    for path in folder.glob("part-*"):
        path.unlink()
    with pytest.raises(InputError, match=r"no captions in .*a-none\.parquet, .*b-none\.jsonl"):
        run(folder, tmp_path / "out")
    assert not list((tmp_path / "out").glob("*captions*"))


def die(item: int) -> int:
    """Kills its process at one item."""
    if item == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return item * item


def test_what_kills_every_worker_is_given_up_and_the_rest_is_done() -> None:
    with Local(2) as engine:
        found = dict(engine.run(die, list(range(60))))
    wrong = found.pop(3)
    assert isinstance(wrong, InputError) and "died 3 times" in str(wrong)
    assert found == {item: item * item for item in range(60) if item != 3}
