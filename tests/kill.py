"""Kill commands that write files (signal 9) and check their output.

    python -m tests.kill --kills 60 [--seed 1] [--only score train-captioner]

Half of the kills come at a random moment of a run, half right after a file appears or changes in the output
folder. After a kill, every output is absent, the old file, or the complete new file; trainings may also leave a
whole checkpoint. The same command (with ``--resume`` where there is such an option) then finishes the work: all
files equal those of an uninterrupted run, byte for byte, and no temporary file is left.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.critic.world import write as write_critic_world
from tools.freeze.inputs import write_demo

OLD = b"the old output\n"
#: Seconds after which a command counts as hung.
LIMIT = 600


@dataclass(frozen=True)
class Job:
    """A command and the files that it writes. ``{in}`` is the folder of inputs."""

    command: str
    #: Output files. Empty if they are known only after a run.
    outputs: tuple[str, ...]
    #: Option that continues an interrupted run.
    resume: str = ""
    #: Whether an interrupted run may leave a checkpoint or other whole files.
    keeps_progress: bool = False
    #: Whether the command replaces an existing output.
    replaces: bool = True


_REFS = "{in}/references.json"
_TRAIN = "--hidden 16 --least 1 --threads 1"
JOBS: dict[str, Job] = {
    "score": Job(f"score {_REFS} {{in}}/a.json -m coco -o a.scores -q", ("a.scores",)),
    "score-folder": Job(
        f"score {_REFS} {{in}}/a.json {{in}}/b.json -m BLEU-4,CIDEr-D -o saved -q",
        ("saved/a.scores", "saved/b.scores"),
    ),
    "score-tables": Job(
        f"score {_REFS} {{in}}/a.json -m BLEU-4 --json scores.json --per-image images.csv -q",
        ("scores.json", "images.csv"),
    ),
    "score-shards": Job(
        f"score {{in}}/shards --references {_REFS} --engine local -j 2 -m BLEU-4,CIDEr-D,Types -o scale -q",
        (),
        keeps_progress=True,
        replaces=False,
    ),
    "merge": Job(
        "merge {in}/part0.scores {in}/part1.scores {in}/part2.scores -o all.scores", ("all.scores",)
    ),
    "prepare": Job(f"prepare {_REFS} -m lexical,SPICE -o refs.prepared", ("refs.prepared",)),
    "df": Job(f"df build {_REFS} -o df.npz", ("df.npz",)),
    "concepts": Job(f"concepts build {_REFS} -o concepts.json", ("concepts.json",)),
    "compare": Job(
        f"compare {_REFS} {{in}}/a.json {{in}}/b.json -m BLEU-4 --trials 50 --resamples 50 -o table.txt",
        ("table.txt",),
    ),
    "diversity": Job(
        f"diversity {_REFS} {{in}}/samples.jsonl --json out.json -o sets.scores -q",
        ("out.json", "sets.scores"),
    ),
    "report": Job(
        f"report {_REFS} {{in}}/a.json {{in}}/b.json -m BLEU-4,CIDEr-D -o page.html", ("page.html",)
    ),
    "rerank": Job(
        "rerank {in}/nbest.jsonl --by consensus -o best.json --candidates all.jsonl -q",
        ("best.json", "all.jsonl"),
    ),
    "templates": Job("templates {in}/objects.jsonl -o out.json -k 10 -q", ("out.json",)),
    "generate": Job(
        "generate {in}/captioner.safetensors {in}/objects.jsonl --how beam -n 3 -o nbest.jsonl",
        ("nbest.jsonl",),
    ),
    "train-captioner": Job(
        f"train captioner {{in}}/objects.jsonl {_REFS} -o captioner.safetensors {_TRAIN} --steps 60 --batch 20 "
        "--validation 8 --evaluate-every 7 --save-every 3",
        ("captioner.safetensors",),
        resume="--resume",
        keeps_progress=True,
        replaces=False,
    ),
    "train-ngram": Job(f"train lm {_REFS} -o model.npz --held-out 10", ("model.npz",), replaces=False),
    "train-arpa": Job(f"train lm {_REFS} -o model.arpa --held-out 10", ("model.arpa",), replaces=False),
    "train-lstm": Job(
        f"train lm {_REFS} -o lstm.safetensors --kind lstm --embedding 8 --epochs 2 --held-out 10 "
        f"--save-every 2 {_TRAIN}",
        ("lstm.safetensors",),
        resume="--resume",
        keeps_progress=True,
        replaces=False,
    ),
    "train-composite": Job(
        f"train BLEU-1 ROUGE-L --references {_REFS} --machine {{in}}/a.json --set systems --validate none "
        "--epochs 60 -o learned.safetensors",
        ("learned.safetensors",),
        keeps_progress=True,
        replaces=False,
    ),
    "critic": Job(
        "critic {in}/critic/references.jsonl {in}/critic/machine.jsonl --epochs 1 --hidden 8 --least 1 "
        "-o judged -q",
        (),
        resume="--resume",
        keeps_progress=True,
        replaces=False,
    ),
}
#: Commands whose results other jobs read.
_SETUP = (
    "score {in}/references.json {in}/shards/0.jsonl --part -m BLEU-4 -o {in}/part0.scores -q",
    "score {in}/references.json {in}/shards/1.jsonl --part -m BLEU-4 -o {in}/part1.scores -q",
    "score {in}/references.json {in}/shards/2.jsonl --part -m BLEU-4 -o {in}/part2.scores -q",
    f"train captioner {{in}}/objects.jsonl {_REFS} -o {{in}}/captioner.safetensors {_TRAIN} --steps 10 --validation 8",
)

Tree = dict[str, bytes]


@dataclass
class Finding:
    """Outcome of all kills of one job."""

    kills: int = 0
    states: Counter[str] = field(default_factory=Counter)
    temporaries: int = 0
    problems: list[str] = field(default_factory=list)


class Harness:
    """Inputs, a cache folder of its own, and the output of uninterrupted runs."""

    def __init__(self, folder: Path, seed: int, jobs: Sequence[str]) -> None:
        self.folder, self.random = folder, random.Random(seed)
        self.inputs = folder / "inputs"
        write_demo(self.inputs, folder, images=60)
        (self.inputs / "critic").mkdir()
        write_critic_world(self.inputs / "critic")
        # Kills also hit the cache, which later runs must survive.
        self.environment = {**os.environ, "CAPTIOUS_CACHE": str(folder / "cache"), "PYTHONHASHSEED": "0"}
        for command in _SETUP:
            if any(part in JOBS[job].command for job in jobs for part in ("{in}/part", "{in}/captioner")):
                self._finish(command, folder)
        self._before = _tree(self.inputs)
        self._whole: dict[str, tuple[Tree, float]] = {}

    def kill(self, name: str, finding: Finding) -> None:
        """Kill one run of a job, check its output, finish the work, and check it again."""
        job, (whole, seconds) = JOBS[name], self._uninterrupted(name)
        out = self.folder / "out"
        is_old = job.replaces and self.random.random() < 0.5
        for _ in range(20):
            _clear(out)
            if is_old:
                for output in job.outputs:
                    (out / output).parent.mkdir(parents=True, exist_ok=True)
                    (out / output).write_bytes(OLD)
            if self._killed(job, out, seconds):
                break
        else:
            raise SystemExit(f"{name}: no run could be killed before it ended")
        finding.kills += 1
        left = _tree(out)
        self._check_output(job, whole, left, is_old, finding)
        if left == whole and not (job.replaces or job.resume):
            return  # nothing is left to do, and the command would refuse to replace its output
        resume = job.resume if any((out / output).exists() for output in job.outputs or (".",)) else ""
        error = self._finish(f"{job.command} {resume}", out, check=False)
        after = _tree(out)
        if error:
            finding.problems.append(f"cannot be finished: {error}")
        elif after != whole:
            different = sorted(path for path in {*after, *whole} if after.get(path) != whole.get(path))
            finding.problems.append(f"other files after it was finished: {different}")
        if _tree(self.inputs) != self._before:
            finding.problems.append("the inputs have changed")

    def _uninterrupted(self, name: str) -> tuple[Tree, float]:
        """Return the files of an uninterrupted run and its seconds. The cache is filled before."""
        if name not in self._whole:
            out = self.folder / "whole"
            for _ in range(2):
                _clear(out)
                started = time.monotonic()
                self._finish(JOBS[name].command, out)
                seconds = time.monotonic() - started
            self._whole[name] = _tree(out), seconds
            missing = set(JOBS[name].outputs) - set(self._whole[name][0])
            assert not missing, f"{name} has not written {missing}"
        return self._whole[name]

    def _start(self, command: str, out: Path) -> subprocess.Popen[bytes]:
        words = [word.replace("{in}", str(self.inputs)) for word in command.split()]
        return subprocess.Popen(
            [sys.executable, "-m", "captious", *words],
            cwd=out,
            env=self.environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )

    def _finish(self, command: str, out: Path, check: bool = True) -> str:
        """Run a command to its end. Return its error message, if there is one."""
        process = self._start(command, out)
        try:
            _, error = process.communicate(timeout=LIMIT)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            raise SystemExit(f"captious {command}: hung for {LIMIT} s") from None
        message = error.decode("utf-8", "replace").strip() if process.returncode else ""
        if check and process.returncode:
            raise SystemExit(f"captious {command}: {message}")
        return message or ("" if process.returncode == 0 else f"exit code {process.returncode}")

    def _killed(self, job: Job, out: Path, seconds: float) -> bool:
        """Start a command and kill it. Return False if it ended before."""
        at_a_write = self.random.random() < 0.5
        moment = self.random.uniform(0, seconds)
        # Trainings write many checkpoints.
        changes = self.random.randint(1, 20 if job.resume else 3)
        delay = self.random.uniform(0, 0.003)
        process = self._start(job.command, out)
        started, before = time.monotonic(), _snapshot(out)
        while process.poll() is None and time.monotonic() - started < LIMIT:
            if at_a_write:
                now = _snapshot(out)
                changes -= now != before
                before = now
                if changes == 0:
                    time.sleep(delay)
                    break
            elif time.monotonic() - started >= moment:
                break
            time.sleep(0.0002)
        running = process.poll() is None
        if running:
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return running and process.returncode == -signal.SIGKILL

    @staticmethod
    def _check_output(job: Job, whole: Tree, left: Tree, is_old: bool, finding: Finding) -> None:
        temporaries = {path for path in left if _is_temporary(path)}
        finding.temporaries += len(temporaries)
        states = set()
        for path in {*left, *whole, *job.outputs} - temporaries:
            content = left.get(path)
            if content is None:
                states.add("absent")
                if is_old and path in job.outputs:
                    finding.problems.append(f"{path}: the old file is lost")
            elif is_old and content == OLD:
                states.add("old")
            elif content == whole.get(path):
                states.add("complete")
            elif job.keeps_progress and _is_whole_file(path, content):
                states.add("checkpoint")
            else:
                finding.problems.append(f"{path}: neither old nor complete ({len(content):,} bytes)")
        finding.states[" and ".join(sorted(states))] += 1


def _clear(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)


def _tree(folder: Path) -> Tree:
    """Return all files below a folder with their content."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def _snapshot(folder: Path) -> list[tuple[str, int, int]]:
    """Return names, sizes and times of the files below a folder."""
    rows = []
    for root, _, names in os.walk(folder):
        for name in names:
            try:
                state = os.stat(os.path.join(root, name))  # noqa: PTH116, PTH118 - called thousands of times
            except FileNotFoundError:
                continue
            rows.append((name, state.st_size, state.st_mtime_ns))
    return rows


def _is_temporary(path: str) -> bool:
    """Whether a file is hidden: beside its target, or in the folder of a running job over shards."""
    *folders, name = path.split("/")
    return any(folder.startswith(".captious-") for folder in folders) or (
        name.startswith(".") and name.endswith(".tmp")
    )


def _is_whole_file(path: str, content: bytes) -> bool:
    """Whether a checkpoint has its declared size. Other kinds of files are judged by the run that continues."""
    if not content:
        return False
    if ".safetensors" not in path:
        return True
    size = int.from_bytes(content[:8], "little")
    try:
        header = json.loads(content[8 : 8 + size])
    except ValueError:
        return False
    end = max(
        (entry["data_offsets"][1] for name, entry in header.items() if name != "__metadata__"), default=0
    )
    return len(content) == 8 + size + int(end)


def run(kills: int, seed: int, only: Sequence[str] = ()) -> dict[str, Finding]:
    """Kill jobs in turn and return the findings by job."""
    names = list(only) or list(JOBS)
    findings = {name: Finding() for name in names}
    with tempfile.TemporaryDirectory(prefix="captious-kill-") as folder:
        harness = Harness(Path(folder), seed, names)
        for k in range(kills):
            name = names[k % len(names)]
            harness.kill(name, findings[name])
            print(f"{k + 1:3}/{kills} {name}: {dict(findings[name].states)}", file=sys.stderr, flush=True)
    return findings


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the harness and print a table for docs/results/reliability.md."""
    parser = argparse.ArgumentParser(prog="python -m tests.kill", description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="+", choices=list(JOBS), default=[], metavar="JOB")
    options = parser.parse_args(arguments)
    findings = run(options.kills, options.seed, options.only)
    print("| command | kills | output after the kill | temporary files left |\n|---|---:|---|---:|")
    for name, finding in findings.items():
        states = ", ".join(f"{state} ({count})" for state, count in sorted(finding.states.items()))
        print(f"| {name} | {finding.kills} | {states} | {finding.temporaries} |")
    problems = [f"{name}: {problem}" for name, finding in findings.items() for problem in finding.problems]
    print(f"\n{sum(finding.kills for finding in findings.values())} kills, {len(problems)} problems")
    for problem in problems:
        print(f"- {problem}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
