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
from captious.kernels import kernel
from captious.kernels.types import Float32, Float32x2, Int64, Out

#: Reassociation lets the compiler vectorise sums.
RELAXED = {"reassoc": True, "contract": True, "nsz": True, "arcp": True, "nnan": True}

#: erf(z) ≈ z·P(z²)/Q(z²) on [-4, 4], a minimax fit with an error of 5.4e-8 in exact arithmetic and 4.2e-7 in
#: single precision. Beyond 4, erf is ±1 within that error.
P = (1.12837868, 0.213946423, 0.0524337127, 0.0042931205, 0.000155537906, -1.99031543e-06, 1.92170029e-08)
Q = (1.0, 0.522932738, 0.120800346, 0.0155512407, 0.00109805244)


@kernel(fastmath=RELAXED)
def softmax(scores: Out[Float32x2]) -> None:
    """Turn each row into weights that sum to one, in place.

    exp(x) is computed as the 32nd power of a polynomial in x/32, which vectorises (relative error below
    4e-6). Exponents are cut off at -32, where weights are negligible.
    """
    low, part, one = np.float32(-32.0), np.float32(1 / 32), np.float32(1.0)
    c2, c3, c4 = np.float32(1 / 2), np.float32(1 / 6), np.float32(1 / 24)
    c5, c6, c7 = np.float32(1 / 120), np.float32(1 / 720), np.float32(1 / 5040)
    for t in range(scores.shape[0]):
        highest = scores[t, 0]
        for j in range(1, scores.shape[1]):
            highest = max(highest, scores[t, j])
        total = np.float32(0.0)
        for j in range(scores.shape[1]):
            x = max(scores[t, j] - highest, low) * part
            y = one + x * (one + x * (c2 + x * (c3 + x * (c4 + x * (c5 + x * (c6 + x * c7))))))
            y *= y
            y *= y
            y *= y
            y *= y
            y *= y
            scores[t, j] = y
            total += y
        for j in range(scores.shape[1]):
            scores[t, j] /= total


@kernel(fastmath=RELAXED)
def gelu(values: Out[Float32x2], bias: Float32) -> None:
    """x ↦ x·Φ(x) in place, after adding the bias. Φ uses a rational approximation of erf."""
    half, root = np.float32(0.5), np.float32(0.7071067811865476)
    one, four = np.float32(1.0), np.float32(4.0)
    p0, p1, p2, p3 = np.float32(P[0]), np.float32(P[1]), np.float32(P[2]), np.float32(P[3])
    p4, p5, p6 = np.float32(P[4]), np.float32(P[5]), np.float32(P[6])
    q1, q2, q3, q4 = np.float32(Q[1]), np.float32(Q[2]), np.float32(Q[3]), np.float32(Q[4])
    for t in range(values.shape[0]):
        for c in range(values.shape[1]):
            x = values[t, c] + bias[c]
            z = min(max(x * root, -four), four)
            w = z * z
            top = z * (p0 + w * (p1 + w * (p2 + w * (p3 + w * (p4 + w * (p5 + w * p6))))))
            bottom = one + w * (q1 + w * (q2 + w * (q3 + w * q4)))
            values[t, c] = half * x * (one + top / bottom)


@kernel(fastmath=RELAXED)
def add_and_normalise(
    states: Out[Float32x2], update: Float32x2, bias: Float32, scale: Float32, shift: Float32, epsilon: float
) -> None:
    """states ← layer norm of (states + update + bias), in place, row by row."""
    width = states.shape[1]
    for t in range(states.shape[0]):
        total = np.float32(0.0)
        for c in range(width):
            x = states[t, c] + update[t, c] + bias[c]
            states[t, c] = x
            total += x
        mean = total / np.float32(width)
        square = np.float32(0.0)
        for c in range(width):
            x = states[t, c] - mean
            square += x * x
        factor = np.float32(1.0 / np.sqrt(square / width + epsilon))
        for c in range(width):
            states[t, c] = (states[t, c] - mean) * factor * scale[c] + shift[c]


@kernel(fastmath=RELAXED)
def pool(states: Float32x2, offsets: Int64, mean: bool, out: Out[Float32x2]) -> None:
    """Write the mean (or first) row of every sequence, scaled to unit length."""
    width = states.shape[1]
    for s in range(offsets.shape[0] - 1):
        start, stop = offsets[s], offsets[s + 1]
        if not mean:
            stop = min(stop, start + 1)
        for c in range(width):
            out[s, c] = np.float32(0.0)
        for t in range(start, stop):
            for c in range(width):
                out[s, c] += states[t, c]
        square = np.float32(0.0)
        for c in range(width):
            square += out[s, c] * out[s, c]
        factor = np.float32(1.0 / max(np.sqrt(square), 1e-12))
        for c in range(width):
            out[s, c] *= factor


@kernel(fastmath=RELAXED)
def scale_rows(states: Out[Float32x2]) -> None:
    """Scale every row to unit length, in place."""
    for t in range(states.shape[0]):
        square = np.float32(0.0)
        for c in range(states.shape[1]):
            square += states[t, c] * states[t, c]
        factor = np.float32(1.0 / max(np.sqrt(square), 1e-12))
        for c in range(states.shape[1]):
            states[t, c] *= factor


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
        if config.get("model_type", "bert") != "bert" or config.get("hidden_act", "gelu") != "gelu":
            raise InputError(
                f"{source}: a '{config.get('model_type')}' model with activation "
                f"'{config.get('hidden_act')}'; "
                "use a BERT encoder with GELU"
            )
        weights = {name.removeprefix("bert."): array for name, array in weights.items()}

        def take(name: str, *shape: int | None) -> Floats:
            """Return an array of this shape (None: any length). Kernels rely on it."""
            array = weights.get(name)
            if array is None:
                raise InputError(f"{source}: no 32-bit weights named '{name}'; use a BERT encoder")
            fits = len(shape) == array.ndim and all(b in (None, a) for a, b in zip(array.shape, shape))
            if not fits or not array.size or not np.isfinite(array).all():
                raise InputError(
                    f"{source}: the weights '{name}', of shape {array.shape}, do not fit the others, or are "
                    "not finite; get a fresh copy of the model"
                )
            return array

        self.words = take("embeddings.word_embeddings.weight", None, None)
        self.dimension = d = int(self.words.shape[1])
        self.heads = config.get("num_attention_heads", 12)
        self.epsilon = config.get("layer_norm_eps", 1e-12)
        layers = config.get("num_hidden_layers", 6)
        if (
            not all(isinstance(number, int) and number > 0 for number in (self.heads, layers))
            or d % self.heads
            or not isinstance(self.epsilon, float)
            or not 0 < self.epsilon < 1
        ):
            raise InputError(
                f"{source}, config.json: {layers!r} layers of {self.heads!r} heads for {d} dimensions; "
                "get a fresh copy of the model"
            )
        types = take("embeddings.token_type_embeddings.weight", None, d)
        self.places = take("embeddings.position_embeddings.weight", None, d) + types[0]
        norm = "embeddings.LayerNorm."
        self.first_norm = (take(norm + "weight", d), take(norm + "bias", d))
        self.layers: list[dict[str, Floats]] = []
        scale = np.float32(1.0 / math.sqrt(d / self.heads))
        inner: int | None = None
        for number in range(layers):
            stem = f"encoder.layer.{number}."
            attention = stem + "attention.self."
            # The three projections as one product. The scaling of attention scores is folded into the first.
            project = np.concatenate(
                [
                    take(attention + "query.weight", d, d) * scale,
                    take(attention + "key.weight", d, d),
                    take(attention + "value.weight", d, d),
                ]
            )
            bias = np.concatenate(
                [
                    take(attention + "query.bias", d) * scale,
                    take(attention + "key.bias", d),
                    take(attention + "value.bias", d),
                ]
            )
            up = take(stem + "intermediate.dense.weight", inner, d)
            inner = len(up)
            self.layers.append(
                {
                    "project": np.ascontiguousarray(project.T),
                    "project_bias": bias,
                    "mix": np.ascontiguousarray(take(stem + "attention.output.dense.weight", d, d).T),
                    "mix_bias": take(stem + "attention.output.dense.bias", d),
                    "mix_scale": take(stem + "attention.output.LayerNorm.weight", d),
                    "mix_shift": take(stem + "attention.output.LayerNorm.bias", d),
                    "up": np.ascontiguousarray(up.T),
                    "up_bias": take(stem + "intermediate.dense.bias", inner),
                    "down": np.ascontiguousarray(take(stem + "output.dense.weight", d, inner).T),
                    "down_bias": take(stem + "output.dense.bias", d),
                    "down_scale": take(stem + "output.LayerNorm.weight", d),
                    "down_shift": take(stem + "output.LayerNorm.bias", d),
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
