"""Distillation: larger networks, too slow to ship, tell a small one how sure they are of each tag, head and relation."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from captious.errors import InputError
from captious.language.examples import Examples, Inventory, Soft
from captious.language.network import Network, Size
from captious.progress import track


class Teacher:
    """A trained network read from a checkpoint."""

    def __init__(self, path: Path, inventory: Inventory) -> None:
        stored = torch.load(path, weights_only=True)
        if stored["tags"] != inventory.tags or stored["relations"] != inventory.relations:
            raise InputError(f"{path}: trained with other tags or relations; train the teacher on the same parses")
        size = Size(**stored["size"])
        self.network = Network(len(stored["table"]) + 2, len(inventory.tags), len(inventory.relations), size)
        self.network.load_state_dict(stored["state"])
        self.network.eval()
        self.table: dict[str, int] = stored["table"]
        self.rows: NDArray[np.int32] = np.empty(0, np.int32)


@torch.no_grad()  # type: ignore[untyped-decorator]
def teach(data: dict[int, Examples], teachers: Sequence[Teacher], inventory: Inventory, chunk: int = 256) -> None:
    """Add the mean of the teachers' probabilities to the examples."""
    for teacher in teachers:
        teacher.rows = inventory.rows(teacher.table)
    for length, group in track(data.items(), "Asking the teachers", total=len(data)):
        n = len(group.words)
        soft = Soft(
            np.empty((n, length, len(inventory.tags)), np.float16),
            np.empty((n, length, length + 1), np.float16),
            np.empty((n, length, len(inventory.relations)), np.float16),
        )
        for start in range(0, n, chunk):
            part = slice(start, start + chunk)
            words, gold = group.words[part].T, torch.from_numpy(group.heads[part].T)
            with torch.autocast("cpu", dtype=torch.bfloat16):
                states = [t.network.encode(torch.from_numpy(t.rows[words])) for t in teachers]
                tags = sum(t.network.tag(h).float().softmax(-1) for t, h in zip(teachers, states))
                arcs = sum(t.network.arcs(h).softmax(-1) for t, h in zip(teachers, states))
                # Relations are those of the known heads, or else of the heads the teachers prefer.
                heads = torch.where(gold >= 0, gold, arcs.argmax(-1).T)
                labels = sum(t.network.labels(h, heads).softmax(-1) for t, h in zip(teachers, states))
            soft.tags[part] = (tags / len(teachers)).transpose(0, 1).numpy()
            soft.heads[part] = (arcs / len(teachers)).numpy()
            soft.relations[part] = (labels / len(teachers)).transpose(0, 1).numpy()
        group.soft = soft
