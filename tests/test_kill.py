"""A few kills of :mod:`tests.kill`, which has the full harness."""

from __future__ import annotations

import os

import pytest

from tests.kill import JOBS, OLD, Finding, Harness, _is_whole_file, run

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signal 9")


def test_commands_that_are_killed_leave_no_half_written_file() -> None:
    findings = run(kills=3, seed=5, only=["score-tables", "df", "train-ngram"])
    assert sum(finding.kills for finding in findings.values()) == 3
    assert not [problem for finding in findings.values() for problem in finding.problems]


def test_half_written_files_are_noticed() -> None:
    """The harness reports a truncated output, a lost old output and a truncated checkpoint."""
    job, whole = JOBS["df"], {"df.npz": b"complete"}
    for left, is_old, is_problem in (
        ({}, False, False),
        ({"df.npz": b"complete"}, True, False),
        ({"df.npz": OLD}, True, False),
        ({".df.npz.1.tmp": b"com"}, False, False),
        ({"df.npz": b"com"}, False, True),
        ({}, True, True),
        ({"df.npz": b""}, False, True),
    ):
        finding = Finding()
        Harness._check_output(job, whole, left, is_old, finding)
        assert bool(finding.problems) == is_problem, (left, is_old)
    header = b'{"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}'
    file = len(header).to_bytes(8, "little") + header + b"\0\0\0\0"
    assert _is_whole_file("m.safetensors", file)
    assert not any(_is_whole_file("m.safetensors", file[:k]) for k in range(len(file)))
