"""Workers of PyTorch's DataLoader score captions: forked and spawned, with a reward of the parent or their own."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import captious

torch = pytest.importorskip("torch")
pytestmark = [
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.skipif(os.name != "posix", reason="workers are forked"),
]

REFERENCES = {
    "1": ["A dog runs on the grass.", "the brown dog is running"],
    "2": ["A cat sleeps on a red sofa.", "a sleeping cat"],
    "3": ["Two men ride horses.", "people on horses in a field"],
}
CAPTIONS = ["a dog on the grass", "a cat on a sofa", "two men on brown horses", "a red cat", "a dog runs"]
WEIGHTS = {"CIDEr-D": 1.0, "METEOR": 1.0, "SPICE": 1.0}


class Captions(torch.utils.data.Dataset):  # type: ignore[misc]
    """Captions with their rewards. Without a reward, each worker creates one from prepared references."""

    def __init__(self, references: Path, reward: captious.Reward | None = None) -> None:
        self.references, self.reward = references, reward

    def __len__(self) -> int:
        return 12

    def __getitem__(self, i: int) -> Any:
        if self.reward is None:
            self.reward = captious.reward(self.references, WEIGHTS)
        return float(self.reward([str(i % 3 + 1)], [CAPTIONS[i % len(CAPTIONS)]])[0])


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("loader") / "refs.prepared"
    captious.prepare(REFERENCES, ",".join(WEIGHTS)).save(path)
    return path


@pytest.mark.parametrize(("start", "of_the_parent"), [("fork", True), ("fork", False), ("spawn", True)])
def test_workers_give_the_rewards_of_the_parent(start: str, of_the_parent: bool, prepared: Path) -> None:
    reward = captious.reward(prepared, WEIGHTS)
    expected = [
        float(reward([str(i % 3 + 1)], [CAPTIONS[i % len(CAPTIONS)]])[0])  # the parent has scored before
        for i in range(12)
    ]
    loader = torch.utils.data.DataLoader(
        Captions(prepared, reward if of_the_parent else None),
        batch_size=2,
        num_workers=2,
        multiprocessing_context=start,
        timeout=300,
    )
    values = np.concatenate([batch.numpy() for batch in loader])
    assert values.tolist() == expected
