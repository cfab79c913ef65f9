"""Named tasks: benchmarks described in small files, and the diagnosis of numbers that do not match."""

from __future__ import annotations

from captious.tasks.diagnosis import (
    Variant,
    cut_off_share,
    diagnose,
    parse_published,
    published_fractions,
    remarks,
    rounding,
)
from captious.tasks.task_files import Task, load_task, task_names
from captious.tasks.task_runs import TaskResult, read_references, run_task

__all__ = [
    "Task",
    "TaskResult",
    "Variant",
    "cut_off_share",
    "diagnose",
    "load_task",
    "parse_published",
    "published_fractions",
    "read_references",
    "remarks",
    "rounding",
    "run_task",
    "task_names",
]
