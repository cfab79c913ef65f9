"""The shipped model: reading it, and scoring sentences with NumPy and a few kernels.

What a word adds to the first layer depends on its class alone, so it is computed once for each class and kept; a
sentence then costs one small matrix product per word and direction in the first layer. Sentences are
processed in groups of one length, padded to whole blocks of `BLOCK` sentences with repetitions: nothing depends on
which other sentences are in the group.
"""

from __future__ import annotations

import json
import math
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious import container
from captious.cache import content_digest, derived
from captious.errors import InputError
from captious.language.cells import stepping
from captious.language.classes import WordClasses
from captious.language.decode import best_columns, best_trees, meet, rectify

Floats = NDArray[np.float32]
Integers = NDArray[np.int64]

FORMAT = 2
BLOCK = 32  # sentences; fewer rows would let BLAS take other code paths, and other roundings
CHUNK_SENTENCES, CHUNK_WORDS = 256, 2816  # worked on at a time: more would not stay in the cache
UPPER_LAYERS = ("second", "third")
SHIPPED = Path(__file__).with_name("model.npz")


@dataclass
class Scored:
    """Analyses of sentences of one length: (n, length) arrays of tag numbers, heads and relation numbers."""

    tags: NDArray[np.int64]
    heads: NDArray[np.int64]
    relations: NDArray[np.int64]


def quantise(matrix: Floats) -> tuple[NDArray[np.int8], Floats]:
    """Rows as 8-bit integers, with a scale for each row."""
    scale = np.maximum(np.abs(matrix).max(1), 1e-8).astype(np.float32) / np.float32(127)
    return np.rint(matrix / scale[:, None]).astype(np.int8), scale.astype(np.float32)


def halve_sigmoids(matrix: Floats) -> Floats:
    """Halve the last axis' columns of the input, forget and output gates, as `cells.cell` expects."""
    matrix = matrix.copy()
    width = matrix.shape[-1] // 4
    matrix[..., : 2 * width] *= np.float32(0.5)
    matrix[..., 3 * width :] *= np.float32(0.5)
    return matrix


def chunk_size(length: int) -> int:
    """How many sentences of a length to work on at a time."""
    return max(BLOCK, min(CHUNK_SENTENCES, CHUNK_WORDS // max(length, 1) // BLOCK * BLOCK))


class _Workspace(threading.local):
    """Arrays that are used again for every chunk: asking the system for fresh memory costs a fifth of the time."""

    def __init__(self) -> None:
        self._kept: dict[str, Floats] = {}

    def get(self, name: str, *shape: int) -> Floats:
        size = math.prod(shape)
        kept = self._kept.get(name)
        if kept is None or kept.size < size:
            kept = self._kept[name] = np.empty(size, np.float32)
        return kept[:size].reshape(shape)


class Model:
    """Weights, and the names behind the numbers."""

    def __init__(self, arrays: dict[str, NDArray[Any]]) -> None:
        self.tags: list[str] = json.loads(bytes(arrays["tags"]).decode())
        self.relations: list[str] = json.loads(bytes(arrays["relations"]).decode())
        names = bytes(arrays["words"]).decode().split("\n")
        spellings, other = json.loads(bytes(arrays["spellings"]).decode())
        self.classes = WordClasses(dict(zip(names, arrays["word_classes"].tolist())), spellings, other)
        self._embedding, self._scale = arrays["embedding"], arrays["embedding_scale"]

        def load(name: str) -> Floats:
            return np.ascontiguousarray(arrays[name], dtype=np.float32)

        self._input1 = halve_sigmoids(np.concatenate([load("first_input"), load("first_input_reverse")], 0).T.reshape(-1, 2, self._gates(arrays)))
        self._input1 = self._input1.reshape(self._input1.shape[0], -1)
        bias = np.stack([load("first_bias"), load("first_bias_reverse")])
        self._bias1 = halve_sigmoids(bias).reshape(-1)
        self._recurrent1 = [halve_sigmoids(load(name).T) for name in ("first_recurrent", "first_recurrent_reverse")]
        self.hidden = [self._recurrent1[0].shape[0]]
        # The layers above the first: for each side one matrix for what comes from below and from the side.
        self._upper: list[tuple[list[Floats], Floats]] = []
        for layer in UPPER_LAYERS:
            if f"{layer}_input" not in arrays:
                break
            both = [
                np.ascontiguousarray(
                    halve_sigmoids(np.concatenate([load(f"{layer}_input{side}"), load(f"{layer}_recurrent{side}")], 1).T)
                )
                for side in ("", "_reverse")
            ]
            biases = halve_sigmoids(np.stack([load(f"{layer}_bias"), load(f"{layer}_bias_reverse")]))[None]
            self._upper.append((both, biases))
            self.hidden.append(biases.shape[2] // 4)
        self._heads = np.ascontiguousarray(load("heads").T)
        self._heads_bias = load("heads_bias")
        self._arc_bilinear = load("arc_bilinear")
        self._arc_bias = load("arc_bias")
        self._arc_root = load("arc_root")
        self._distance = load("arc_distance")
        self._label_root = load("label_root")
        self._label_out = np.ascontiguousarray(load("label_out").T)
        # A word under the root has the relation "root", and no other word has it.
        label_bias = load("label_bias")
        self._root = self.relations.index("root")
        label_bias[self._root] = -1e30
        self._label_bias = label_bias
        self.exceptions: dict[str, str] = json.loads(bytes(arrays["lemmas"]).decode())
        self._lock = threading.Lock()
        self._workspace = _Workspace()
        #: What each class of words adds to the first layer, filled in when a word of it comes.
        self._inputs = np.empty((len(self._embedding), 2, self._bias1.shape[0] // 2), np.float32)
        self._known = np.zeros(len(self._embedding), np.bool_)

    @staticmethod
    def _gates(arrays: dict[str, NDArray[Any]]) -> int:
        return int(arrays["first_recurrent"].shape[0])

    # Words.

    def number(self, words: Sequence[str]) -> tuple[Integers, Floats]:
        """The numbers of words' classes, and the array of first-layer inputs that these numbers index."""
        classes = np.fromiter(map(self.classes.of, words), np.int64, len(words))
        with self._lock:
            fresh = np.unique(classes[~self._known[classes]])
            if len(fresh):
                # Whole blocks here too, so that a vector does not depend on its company.
                vectors = np.zeros((len(fresh) + -len(fresh) % BLOCK, self._embedding.shape[1]), np.float32)
                vectors[: len(fresh)] = self._embedding[fresh].astype(np.float32) * self._scale[fresh, None]
                self._inputs[fresh] = (vectors @ self._input1 + self._bias1)[: len(fresh)].reshape(len(fresh), 2, -1)
                self._known[fresh] = True
        return classes, self._inputs

    # Sentences.

    def analyse(self, words: Integers, inputs: Floats) -> Scored:
        """Tags, heads and relations of sentences of one length, given as word numbers (n, length) of `number`."""
        n, length = words.shape
        result = Scored(*(np.empty((n, length), np.int64) for _ in range(3)))
        size = chunk_size(length)
        for start in range(0, n, size):
            own = slice(start, min(start + size, n))
            part = words[own]
            padding = -len(part) % BLOCK
            if padding:
                part = np.concatenate([part, np.broadcast_to(part[-1], (padding, length))])
            self._chunk(np.ascontiguousarray(part.T), inputs, Scored(result.tags[own], result.heads[own], result.relations[own]))
        return result

    def encode(self, words: Integers, inputs: Floats) -> Floats:
        """The states of the last layer (length, n, 2 x width) for word numbers (length, n); valid until the next call."""
        length, n = words.shape
        get = self._workspace.get
        nothing = np.zeros(n, np.int64)
        out = get("states", 0)
        for layer, width in enumerate(self.hidden):
            below, out = out, self._room(layer, length, n)
            gates, state = get("gates", n, 4 * width), get("state", n, width)
            for side in (0, 1):
                own = slice(side * width, (side + 1) * width)
                state.fill(0)
                order = range(length) if side == 0 else range(length - 1, -1, -1)
                if layer:
                    # The last columns of the layer below are this layer's own state at the position before.
                    matrix, bias = self._upper[layer - 1][0][side], self._upper[layer - 1][1]
                    place = below.shape[2] - width
                    step = stepping(gates, bias, side, nothing, state, out, below)
                    for t, then in zip(order, [*order[1:], None]):
                        if t == order[0]:
                            np.matmul(below[t, :, :place], matrix[:place], out=gates)
                        else:
                            np.matmul(below[t], matrix, out=gates)
                        # The last result is nobody's state; it may stand where the first would.
                        step(gates, bias, side, nothing, state, out, t, own.start, below, order[0] if then is None else then, place)
                else:
                    step = stepping(gates, inputs, side, nothing, state, out, out)
                    gates.fill(0)
                    for t, then in zip(order, [*order[1:], None]):
                        step(gates, inputs, side, words[t], state, out, t, own.start, out, t, own.start)
                        if then is not None:
                            np.matmul(out[t, :, own], self._recurrent1[side], out=gates)
        return out

    def _room(self, layer: int, length: int, n: int) -> Floats:
        """Where a layer writes, with room for the next layer's own state."""
        last = layer + 1 == len(self.hidden)
        return self._workspace.get("states" if last else str(layer), length, n, 2 * self.hidden[layer] + (0 if last else self.hidden[layer + 1]))

    def _chunk(self, words: Integers, inputs: Floats, result: Scored) -> None:
        """Fill in the results of sentences, which may be fewer than there are: the others make up a block."""
        length, n = words.shape
        count = len(result.heads)
        get = self._workspace.get
        work = float(length) * count
        states = self.encode(words, inputs).reshape(length * n, -1)
        outputs = np.matmul(states, self._heads, out=get("outputs", length * n, self._heads.shape[1])).reshape(length, n, -1)
        # The columns: a word in an arc, as dependent and as head; in a relation, as both; tags.
        arc, label = len(self._arc_bias), len(self._label_root)
        bias = self._heads_bias
        best_columns.pick(work * len(self.tags))(outputs, 2 * (arc + label), bias, result.tags)
        dependent, keys = get("dependent", n, length, arc), get("keys", count, length + 1, arc)
        dependent[count:] = 0
        rectify.pick(work * 2 * arc)(outputs, bias, self._arc_root, dependent[:count], keys)
        queries = np.matmul(dependent.reshape(n * length, arc), self._arc_bilinear, out=get("queries", n * length, arc))[: count * length]
        queries += self._arc_bias
        scores = np.matmul(queries.reshape(count, length, arc), keys.transpose(0, 2, 1), out=get("scores", count, length, length + 1))
        best_trees.pick(work * length**2)(scores, self._distance, result.heads)
        # Relations of the chosen arcs.
        met = get("met", length, n, label)
        met[:, count:] = 0
        meet.pick(work * label)(outputs, 2 * arc, bias, self._label_root, result.heads, met)
        relations = np.matmul(met.reshape(length * n, label), self._label_out, out=get("relations", length * n, self._label_out.shape[1]))
        best_columns.pick(work * len(self.relations))(relations.reshape(length, n, -1), 0, self._label_bias, result.relations)
        result.relations[result.heads == 0] = self._root


def read_model(path: str | Path) -> Model:
    """The model in a file written by ``python -m captious.language.training.train``."""
    return Model(_stored(Path(path)))


def _stored(path: Path) -> dict[str, NDArray[Any]]:
    try:
        with np.load(path, allow_pickle=False) as stored:
            arrays = dict(stored)
    except FileNotFoundError:
        raise InputError(f"{path}: no such parser model; make one with python -m captious.language.training.train") from None
    except (ValueError, OSError, EOFError) as error:
        raise InputError(f"{path}: not a parser model ({error}); make one with python -m captious.language.training.train") from error
    found = int(arrays.pop("format")) if "format" in arrays else None
    if found != FORMAT:
        raise InputError(f"{path}: a parser model of format {found}, but this version reads format {FORMAT}; train it again")
    return arrays


@lru_cache(maxsize=1)
def shipped_model() -> Model:
    """The model that comes with captious, loaded once. It is kept unpacked, which takes a third of the time."""
    arrays = derived(
        f"parser-v{FORMAT}-{content_digest(SHIPPED)}.model",
        "the parser's weights (2 MB)",
        lambda path: container.open_kept(path, "parser weights", FORMAT),
        lambda path: container.write(path, "parser weights", FORMAT, {}, _stored(SHIPPED)),
    )
    return Model(arrays)
