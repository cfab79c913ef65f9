"""Training of the LSTM language model with PyTorch on the CPU.

Scoring uses NumPy (:mod:`captious.rerank.language_models.lstm_model`). All randomness comes from the seed. An
interrupted run resumes from its last checkpoint and ends with the same weights, bit for bit.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from captious.core.errors import InputError, check_positive
from captious.core.progress import track
from captious.core.ragged import IntArray
from captious.core.threads import one_blas_thread
from captious.core.writing import atomic_write
from captious.io.content import read_raw
from captious.metrics.learned.composite_network import pack, unpack
from captious.rerank.language_models import model_files as files
from captious.rerank.language_models.language_model import BEGIN, END, SPECIAL, ModelVocabulary
from captious.rerank.language_models.lstm_model import LSTM

#: Called with the results of each epoch.
ProgressCallback = Callable[[dict[str, Any]], None]


@dataclass(frozen=True)
class Settings:
    """Settings of a training run. The default sizes are those of Wang et al. (2020)."""

    hidden: int = 512
    embedding: int = 300
    dropout: float = 0.3
    least: int = 5
    epochs: int = 5
    batch: int = 64
    rate: float = 2e-3
    seed: int = 1
    #: Steps between checkpoints.
    save_every: int = 200

    def check(self) -> None:
        """Raise an error for values out of range."""
        check_positive(self, "hidden", "embedding", "least", "epochs", "batch", "save_every")
        if not (self.rate > 0 and math.isfinite(self.rate)) or not 0 <= self.dropout < 1:
            raise InputError(
                f"the learning rate is above 0 and dropout from 0 to below 1, not {self.rate} and "
                f"{self.dropout}"
            )


class Net(nn.Module):  # type: ignore[misc]
    """The network in PyTorch."""

    def __init__(self, words: int, settings: Settings) -> None:
        super().__init__()
        self.embed = nn.Embedding(words, settings.embedding)
        nn.init.normal_(self.embed.weight, std=0.1)
        self.lstm = nn.LSTM(settings.embedding, settings.hidden, batch_first=True)
        self.out = nn.Linear(settings.hidden, words)
        self.drop = nn.Dropout(settings.dropout)

    def forward(self, words: Tensor) -> Tensor:
        scores = self.out(self.drop(self.lstm(self.drop(self.embed(words)))[0]))
        scores[..., BEGIN] = -torch.inf
        return scores

    def weights(self) -> dict[str, NDArray[np.float32]]:
        """Return the weights as :class:`LSTM` stores them."""
        bias = self.lstm.bias_ih_l0 + self.lstm.bias_hh_l0
        named = {
            "embedding": self.embed.weight,
            "input": self.lstm.weight_ih_l0,
            "recurrent": self.lstm.weight_hh_l0,
            "bias": bias,
            "out": self.out.weight,
            "out_bias": self.out.bias,
        }
        return {name: tensor.detach().numpy().copy() for name, tensor in named.items()}


def train(
    captions: Sequence[Sequence[str]],
    output: str | Path,
    *,
    held_out: Sequence[Sequence[str]] = (),
    tokenizer: str = "ptb",
    settings: Settings | None = None,
    resume: bool = False,
    progress: ProgressCallback | None = None,
) -> LSTM:
    """Train a language model and write it to ``output``.

    Parameters
    ----------
    captions
        Training captions as lists of tokens.
    output
        File of the model, also of checkpoints during training.
    held_out
        Captions to compute the perplexity on after each epoch.
    tokenizer
        Name of the tokenizer of these tokens, stored with the model.
    settings
        Sizes and schedule.
    resume
        Continue from the checkpoint in ``output``, if there is one.
    progress
        Callback with the results of each epoch.

    Returns
    -------
    LSTM
        The trained model.
    """
    settings = settings or Settings()
    settings.check()
    vocabulary = ModelVocabulary.learn(captions, settings.least)
    numbers, offsets = vocabulary.encode(captions)
    with torch.random.fork_rng(), one_blas_thread():
        torch.manual_seed(settings.seed)
        net = Net(len(vocabulary), settings)
        optimizer = torch.optim.Adam(net.parameters(), settings.rate)
        training_info: dict[str, Any] = {"settings": asdict(settings), "captions": len(captions), "curve": []}
        done = 0
        losses: list[float] = []
        if resume and Path(output).exists():
            finished, done, losses, training_info = _restore(
                output, net, optimizer, vocabulary, training_info
            )
            if finished is not None:
                return finished
        run = _LSTMTraining(
            net,
            optimizer,
            vocabulary,
            numbers,
            offsets,
            settings,
            tokenizer,
            training_info,
            held_out,
            progress,
        )
        return run.go(output, done, losses)


@dataclass(eq=False)
class _LSTMTraining:
    net: Net
    optimizer: torch.optim.Optimizer
    vocabulary: ModelVocabulary
    numbers: NDArray[np.int64]
    offsets: IntArray
    settings: Settings
    tokenizer: str
    training_info: dict[str, Any]
    held_out: Sequence[Sequence[str]]
    progress: ProgressCallback | None

    def go(self, output: str | Path, done: int, losses: list[float]) -> LSTM:
        settings = self.settings
        each = len(self._order(0))
        steps = each * settings.epochs
        batches: list[IntArray] = []
        for step in track(range(done, steps), "training the language model"):
            if step % each == 0 or not batches:
                batches = self._order(step // each)
            self.net.train()
            for group in self.optimizer.param_groups:
                # Cosine decay to 5 %.
                group["lr"] = settings.rate * (0.05 + 0.95 * (1 + math.cos(math.pi * step / steps)) / 2)
            table, counted = self._table(batches[step % each])
            scores = self.net(torch.cat([torch.full((len(table), 1), BEGIN), table[:, :-1]], 1))
            values = functional.cross_entropy(
                scores.flatten(0, 1), table.flatten(), reduction="none"
            ).view_as(table)
            loss = (values * counted).sum() / counted.sum()
            self.optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(self.net.parameters(), 5.0)
            self.optimizer.step()
            losses.append(float(loss.detach()))
            at = step + 1
            if at % each == 0:
                self._tell(at // each, losses)
                losses = []
            if at % settings.save_every == 0 and at < steps:
                _checkpoint(output, self.model(), self.net, self.optimizer, at, losses)
        model = self.model()
        files.save(model, output)
        return model

    def model(self) -> LSTM:
        """Return the current model for scoring."""
        return LSTM(self.vocabulary, self.net.weights(), self.tokenizer, self.training_info)

    def _order(self, epoch: int) -> list[IntArray]:
        """Return batches of captions of similar length, in an order determined by the seed."""
        lengths = np.diff(self.offsets)
        rng = np.random.default_rng([self.settings.seed, epoch])
        size = self.settings.batch
        rows = rng.permutation(len(lengths))
        pieces = [rows[at : at + 50 * size] for at in range(0, len(rows), 50 * size)]
        rows = np.concatenate([piece[np.argsort(lengths[piece], kind="stable")] for piece in pieces])
        batches = [rows[at : at + size] for at in range(0, len(rows), size)]
        return [batches[i] for i in rng.permutation(len(batches))]

    def _table(self, rows: IntArray) -> tuple[Tensor, Tensor]:
        lengths = np.diff(self.offsets)[rows]
        place = self.offsets[:-1][rows][:, None] + np.arange(int(lengths.max()))
        inside = np.arange(place.shape[1]) < lengths[:, None]
        table = np.where(inside, self.numbers[np.minimum(place, len(self.numbers) - 1)], END)
        return torch.from_numpy(table), torch.from_numpy(inside)

    def _tell(self, epoch: int, losses: list[float]) -> None:
        row: dict[str, Any] = {"epoch": epoch, "loss": float(np.mean(losses))}
        if self.held_out:
            row["perplexity"] = self.model().score(self.held_out).perplexity
        self.training_info["curve"].append(row)
        if self.progress is not None:
            self.progress(row)


def _checkpoint(
    output: str | Path,
    model: LSTM,
    net: Net,
    optimizer: torch.optim.Optimizer,
    step: int,
    losses: list[float],
) -> None:
    """Write the model with the state of training.

    All arrays are 32-bit floats, which hold steps and RNG bytes exactly.
    """
    arrays: dict[str, NDArray[Any]] = {
        f"net.{name}": tensor.numpy() for name, tensor in net.state_dict().items()
    }
    for number, slots in optimizer.state_dict()["state"].items():
        arrays |= {
            f"optimizer.{number}.{name}": torch.as_tensor(value).numpy() for name, value in slots.items()
        }
    arrays["rng"] = torch.get_rng_state().numpy().astype(np.float32)
    head = {**files.head_of(model), "step": step, "losses": losses}
    with atomic_write(output) as temporary:
        temporary.write_bytes(pack({**model.arrays(), **arrays}, head))


def _restore(
    output: str | Path,
    net: Net,
    optimizer: torch.optim.Optimizer,
    vocabulary: ModelVocabulary,
    training_info: dict[str, Any],
) -> tuple[LSTM | None, int, list[float], dict[str, Any]]:
    """Return the finished model, or restore the state of training and return its step."""
    arrays, head = unpack(read_raw(output), str(output))
    before = head.get("made", {})
    same = (
        before.get("settings") == json.loads(json.dumps(training_info["settings"]))
        and before.get("captions") == training_info["captions"]
    )
    if not same or head.get("words") != vocabulary.words[len(SPECIAL) :]:
        raise InputError(
            f"{output}: was trained with other settings or captions; "
            "resume with the same, or write to another file"
        )
    if "step" not in head:
        return LSTM(vocabulary, arrays, head["tokenizer"], before), 0, [], before
    net.load_state_dict(
        {
            name[4:]: torch.from_numpy(array.copy())
            for name, array in arrays.items()
            if name.startswith("net.")
        }
    )
    slots: dict[int, dict[str, Tensor]] = {}
    for name, array in arrays.items():
        if name.startswith("optimizer."):
            _, number, slot = name.split(".", 2)
            slots.setdefault(int(number), {})[slot] = torch.from_numpy(array.copy())
    state = optimizer.state_dict()
    state["state"] = slots
    optimizer.load_state_dict(state)
    torch.set_rng_state(torch.from_numpy(arrays["rng"].astype(np.uint8)))
    return None, int(head["step"]), list(head["losses"]), before
