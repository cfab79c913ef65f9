"""BERT encoders in NumPy: the forward pass of a small sentence encoder, without a deep-learning framework.

Captions are short, so padding would dominate the cost. Nothing is padded here: the tokens of a batch are the
rows of one matrix, every linear layer is one matrix product, and attention is computed for captions of equal
length together.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.core.errors import InputError
from captious.io.content import loads
from captious.vectors.bert_kernels import add_and_normalise, gelu, pool, softmax

Floats = NDArray[np.float32]
Integers = NDArray[np.int64]

#: The limit of the library safetensors.
_LARGEST_HEADER = 100_000_000


def read_safetensors(data: NDArray[np.uint8], source: str, *, halves: bool = False) -> dict[str, Floats]:
    """Return the 32-bit arrays of a safetensors file in memory, as views; with ``halves`` also 16-bit ones.

    The format: eight bytes of header length, a JSON header (name → type, shape, offsets), then the raw
    numbers.
    """
    raw = memoryview(data)  # type: ignore[arg-type,unused-ignore]
    try:
        size = int.from_bytes(raw[:8], "little")
        if not 2 <= size <= min(len(raw) - 8, _LARGEST_HEADER):
            raise ValueError(f"a header of {size:,} bytes in a file of {len(raw):,}")
        header = loads(bytes(raw[8 : 8 + size]).decode(), source)
        arrays: dict[str, Floats] = {}
        for name, entry in header.items():
            if name == "__metadata__" or not (
                entry["dtype"] == "F32" or (halves and entry["dtype"] == "F16")
            ):
                continue
            start, stop = (8 + size + offset for offset in entry["data_offsets"])
            if not 8 + size <= start <= stop <= len(raw) or any(side < 0 for side in entry["shape"]):
                raise ValueError(f"'{name}' ends at byte {stop:,} of {len(raw):,}")
            kind = "<f4" if entry["dtype"] == "F32" else "<f2"
            arrays[name] = (
                np.frombuffer(raw[start:stop], dtype=kind).astype("<f4", copy=False).reshape(entry["shape"])
            )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(
            f"{source} is not a whole safetensors file ({error}); get a fresh copy of the model"
        ) from error
    return arrays


class Bert:
    """Weights of a BERT encoder, and its forward pass over packed token ids."""

    def __init__(self, weights: dict[str, Floats], config: dict[str, Any], source: str) -> None:
        self.heads = int(config.get("num_attention_heads", 12))
        self.epsilon = float(config.get("layer_norm_eps", 1e-12))
        if config.get("model_type", "bert") != "bert" or config.get("hidden_act", "gelu") != "gelu":
            raise InputError(
                f"{source}: a '{config.get('model_type')}' model with activation "
                f"'{config.get('hidden_act')}'; "
                "use a BERT encoder with GELU"
            )
        weights = {name.removeprefix("bert."): array for name, array in weights.items()}

        def take(name: str) -> Floats:
            try:
                return weights[name]
            except KeyError:
                raise InputError(f"{source}: no 32-bit weights named '{name}'; use a BERT encoder") from None

        self.words = take("embeddings.word_embeddings.weight")
        self.places = (
            take("embeddings.position_embeddings.weight") + take("embeddings.token_type_embeddings.weight")[0]
        )
        self.first_norm = (take("embeddings.LayerNorm.weight"), take("embeddings.LayerNorm.bias"))
        self.dimension = int(self.words.shape[1])
        self.layers: list[dict[str, Floats]] = []
        scale = np.float32(1.0 / math.sqrt(self.dimension / self.heads))
        for number in range(int(config.get("num_hidden_layers", 6))):
            stem = f"encoder.layer.{number}."
            attention = stem + "attention.self."
            # The three projections as one product. The scaling of attention scores is folded into the first.
            project = np.concatenate(
                [
                    take(attention + "query.weight") * scale,
                    take(attention + "key.weight"),
                    take(attention + "value.weight"),
                ]
            )
            bias = np.concatenate(
                [
                    take(attention + "query.bias") * scale,
                    take(attention + "key.bias"),
                    take(attention + "value.bias"),
                ]
            )
            self.layers.append(
                {
                    "project": np.ascontiguousarray(project.T),
                    "project_bias": bias,
                    "mix": np.ascontiguousarray(take(stem + "attention.output.dense.weight").T),
                    "mix_bias": take(stem + "attention.output.dense.bias"),
                    "mix_scale": take(stem + "attention.output.LayerNorm.weight"),
                    "mix_shift": take(stem + "attention.output.LayerNorm.bias"),
                    "up": np.ascontiguousarray(take(stem + "intermediate.dense.weight").T),
                    "up_bias": take(stem + "intermediate.dense.bias"),
                    "down": np.ascontiguousarray(take(stem + "output.dense.weight").T),
                    "down_bias": take(stem + "output.dense.bias"),
                    "down_scale": take(stem + "output.LayerNorm.weight"),
                    "down_shift": take(stem + "output.LayerNorm.bias"),
                }
            )

    def encode_tokens(self, ids: Integers, offsets: Integers, mean: bool = True) -> tuple[Floats, Floats]:
        """Return unit vectors of the sequences ``ids[offsets[i]:offsets[i+1]]``, and the outputs of tokens.

        A sequence's vector is the mean of its outputs; with ``mean=False`` it is the output of the first
        token. Token outputs are not normalised.
        """
        lengths = np.diff(offsets)
        position = np.arange(len(ids)) - np.repeat(offsets[:-1], lengths)
        runs = _runs_of_equal_length(offsets, lengths)
        states = self.words[ids]
        states += self.places[position]
        nothing = np.zeros(self.dimension, np.float32)
        add_and_normalise(states, np.zeros_like(states), nothing, *self.first_norm, self.epsilon)
        mixed = np.empty_like(states)
        update = np.empty_like(states)
        projected = np.empty((len(ids), 3 * self.dimension), np.float32)
        inner = np.empty((len(ids), self.layers[0]["up"].shape[1]), np.float32)
        for layer in self.layers:
            np.matmul(states, layer["project"], out=projected)
            projected += layer["project_bias"]
            for low, high, length in runs:
                self._attend(projected[low:high], length, mixed[low:high])
            np.matmul(mixed, layer["mix"], out=update)
            add_and_normalise(
                states, update, layer["mix_bias"], layer["mix_scale"], layer["mix_shift"], self.epsilon
            )
            np.matmul(states, layer["up"], out=inner)
            gelu(inner, layer["up_bias"])
            np.matmul(inner, layer["down"], out=update)
            add_and_normalise(
                states, update, layer["down_bias"], layer["down_scale"], layer["down_shift"], self.epsilon
            )
        pooled: Floats = np.empty((len(lengths), self.dimension), np.float32)
        pool(states, offsets, mean, pooled)
        return pooled, states

    def _attend(self, projected: Floats, length: int, out: Floats) -> None:
        """Compute the self-attention of sequences of one length from rows of query, key and value."""
        heads, size = self.heads, self.dimension // self.heads
        apart = projected.reshape(-1, length, 3, heads, size).transpose(2, 0, 3, 1, 4)
        query, key, value = np.ascontiguousarray(apart).reshape(3, -1, length, size)
        scores = np.matmul(query, key.transpose(0, 2, 1))
        softmax(scores.reshape(-1, length))
        mixed = np.matmul(scores, value).reshape(-1, heads, length, size)
        out.reshape(-1, length, heads, size)[...] = mixed.transpose(0, 2, 1, 3)


def _runs_of_equal_length(offsets: Integers, lengths: Integers) -> list[tuple[int, int, int]]:
    """Return first token, end and sequence length of each run of sequences of equal length."""
    starts = np.flatnonzero(np.diff(lengths, prepend=-1)).tolist()
    stops = [*starts[1:], len(lengths)]
    return [
        (int(offsets[a]), int(offsets[b]), int(lengths[a])) for a, b in zip(starts, stops) if lengths[a] > 0
    ]
