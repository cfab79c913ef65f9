"""The parser's network: reading a model, and analysing sentences with NumPy and a few kernels.

The input of the network is the class of each word (:class:`WordClasses`). A word's input to the first layer
depends on its class alone and is cached by class, so a sentence costs one small matrix product per word and
direction in the first layer. Sentences of similar length are processed together, word by word, in whole
blocks of `BLOCK` rows. Results do not depend on the other sentences of a batch.
"""

from __future__ import annotations

import itertools
import json
import math
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from captious.core.errors import InputError
from captious.core.memo import Lock
from captious.core.ragged import offsets_of
from captious.parser.network_kernels import best_columns, best_trees, cell, meet, rectify

SHORT = 3  # letters; the last letter of an unknown word counts only in longer words


def spelling(word: str) -> str:
    """Return the spelling pattern of a word, by which the reference parser classes unknown words."""
    letters = [c for c in word if c.isalpha()]
    digits = any(c.isdigit() for c in word)
    if letters:
        upper, lower = word[:1].isupper(), any(c.islower() for c in letters)
        case = ("u" if lower else "U") if upper else "l" if lower else "x"
    elif digits:
        case = "9" if all(c.isdigit() for c in word) else "8"
    else:
        case = ""
    kind = case + ("-" if "-" in word else "") + ("0" if digits else "")
    return kind + word[-1].lower() if len(word) > SHORT and not digits else kind


@dataclass
class WordClasses:
    """Classes of words by word and by `spelling`. Other spellings have the class `other`."""

    words: Mapping[str, int]
    spellings: Mapping[str, int]
    other: int

    @property
    def size(self) -> int:
        """Number of classes."""
        return 1 + max(itertools.chain(self.words.values(), self.spellings.values(), [self.other]))

    def of(self, word: str) -> int:
        """Return the class of a word."""
        number = self.words.get(word)
        if number is None:
            kind = spelling(word)
            # A last letter without a class of its own takes the class of q, which stands for unseen letters.
            number = self.spellings.get(kind, self.spellings.get(kind[:-1] + "q", self.other))
        return number


Floats = NDArray[np.float32]
Integers = NDArray[np.int64]

FORMAT = 2
BLOCK = 32  # sentences; with fewer rows, BLAS would choose other code paths that round differently
CHUNK_SENTENCES, CHUNK_WORDS = 256, 2816  # processed at a time: larger chunks exceed the processor's cache
UPPER_LAYERS = ("second", "third")
SHIPPED = Path(__file__).with_name("model.npz")
_TRAINER = "python -m captious.training.parser.train_parser"


@dataclass
class Scored:
    """Analyses of words: tag numbers, heads and relation numbers."""

    tags: NDArray[np.int64]
    heads: NDArray[np.int64]
    relations: NDArray[np.int64]


def halve_sigmoids(matrix: Floats) -> Floats:
    """Halve the columns of the input, forget and output gates (last axis), as `lstm_cell.cell` expects."""
    matrix = matrix.copy()
    width = matrix.shape[-1] // 4
    matrix[..., : 2 * width] *= np.float32(0.5)
    matrix[..., 3 * width :] *= np.float32(0.5)
    return matrix


def chunk_size(length: int) -> int:
    """Return how many sentences of at most `length` words to process at a time."""
    return max(BLOCK, min(CHUNK_SENTENCES, CHUNK_WORDS // max(length, 1) // BLOCK * BLOCK))


def _blocks(count: int) -> int:
    """Round a number of rows up to whole blocks. The content of the extra rows does not matter."""
    return -(-count // BLOCK) * BLOCK


class Steps(NamedTuple):
    """Layout of sentences word by word, the longest sentence first.

    Word t of the `counts[t]` sentences that have one is in the rows from `starts[t]` on, padded to whole
    blocks.
    """

    counts: list[int]
    starts: Integers

    @classmethod
    def of(cls, lengths: Integers) -> Steps:
        """Build the layout of sentences with these lengths, in descending order."""
        counts = np.searchsorted(-lengths, -np.arange(int(lengths[0])), side="left").tolist()
        return cls(counts, offsets_of([_blocks(count) for count in counts]))

    def order(self, side: int) -> Iterator[tuple[int, int | None, int | None]]:
        """Return the steps from the left (0) or right (1), each with its predecessor and successor."""
        order = list(range(len(self.counts)))[:: -1 if side else 1]
        return zip(order, [None, *order], [*order[1:], None])


class _Workspace(threading.local):
    """Arrays that are reused for every chunk. Allocating them anew takes 20 % of the time."""

    def __init__(self) -> None:
        self._arrays: dict[str, Floats] = {}

    def get(self, name: str, *shape: int) -> Floats:
        size = math.prod(shape)
        array = self._arrays.get(name)
        if array is None or array.size < size:
            # Padding rows keep their previous content. Starting from zeros keeps it finite.
            array = self._arrays[name] = np.zeros(size, np.float32)
        return array[:size].reshape(shape)


class Model:
    """Weights of the network, with the names of tags and relations."""

    def __init__(self, arrays: dict[str, NDArray[Any]]) -> None:
        self.tags: list[str] = json.loads(bytes(arrays["tags"]).decode())
        self.relations: list[str] = json.loads(bytes(arrays["relations"]).decode())
        names = bytes(arrays["words"]).decode().split("\n")
        spellings, other = json.loads(bytes(arrays["spellings"]).decode())
        self.classes = WordClasses(dict(zip(names, arrays["word_classes"].tolist())), spellings, other)
        self._embedding, self._scale = arrays["embedding"], arrays["embedding_scale"]

        def load(name: str) -> Floats:
            return np.ascontiguousarray(arrays[name], dtype=np.float32)

        gates = int(arrays["first_recurrent"].shape[0])
        input1 = np.concatenate([load("first_input"), load("first_input_reverse")], 0).T
        self._input1 = halve_sigmoids(input1.reshape(-1, 2, gates)).reshape(len(input1), -1)
        bias = np.stack([load("first_bias"), load("first_bias_reverse")])
        self._bias1 = halve_sigmoids(bias).reshape(-1)
        self._recurrent1 = [
            halve_sigmoids(load(name).T) for name in ("first_recurrent", "first_recurrent_reverse")
        ]
        self.hidden = [self._recurrent1[0].shape[0]]
        # The layers above the first: one matrix per direction for inputs from below and from the previous
        # word.
        self._upper: list[tuple[list[Floats], Floats]] = []
        for layer in UPPER_LAYERS:
            if f"{layer}_input" not in arrays:
                break
            both = [
                np.ascontiguousarray(
                    halve_sigmoids(
                        np.concatenate([load(f"{layer}_input{side}"), load(f"{layer}_recurrent{side}")], 1).T
                    )
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
        self._lock = Lock()
        self._workspace = _Workspace()
        #: Inputs of the first layer by class of words, computed on first use.
        self._inputs = np.empty((len(self._embedding), 2, self._bias1.shape[0] // 2), np.float32)
        self._is_computed = np.zeros(len(self._embedding), np.bool_)

    def number(self, words: Sequence[str]) -> tuple[Integers, Floats]:
        """Return the classes of words, and the array of first-layer inputs by class."""
        classes = np.fromiter(map(self.classes.of, words), np.int64, len(words))
        with self._lock:
            fresh = np.unique(classes[~self._is_computed[classes]])
            if len(fresh):
                # Whole blocks, so that a vector does not depend on the other rows.
                vectors = np.zeros((len(fresh) + -len(fresh) % BLOCK, self._embedding.shape[1]), np.float32)
                vectors[: len(fresh)] = self._embedding[fresh].astype(np.float32) * self._scale[fresh, None]
                self._inputs[fresh] = (vectors @ self._input1 + self._bias1)[: len(fresh)].reshape(
                    len(fresh), 2, -1
                )
                self._is_computed[fresh] = True
        return classes, self._inputs

    def analyse(self, words: Integers, lengths: Integers, inputs: Floats) -> Scored:
        """Return tags, heads and relations of concatenated sentences, the longest first.

        `words` and `inputs` are classes and inputs as `number` returns them.
        """
        steps = Steps.of(lengths)
        row_of = np.repeat(np.arange(len(lengths)), lengths)
        bounds = offsets_of(lengths)
        rows = steps.starts[np.arange(len(words)) - bounds[row_of]] + row_of
        placed = np.zeros(int(steps.starts[-1]), np.int64)
        placed[rows] = words
        get, padded = self._workspace.get, _blocks(len(words))
        states = self.encode(placed, steps, inputs)
        outputs = np.matmul(states, self._heads, out=get("outputs", len(states), self._heads.shape[1]))
        # Columns: arc vectors of dependents and of heads, relation vectors of both, tags.
        arc, label, bias = len(self._arc_bias), len(self._label_root), self._heads_bias
        result = Scored(*(np.empty(len(words), np.int64) for _ in range(3)))
        best_columns(outputs, rows, 2 * (arc + label), bias, result.tags)
        # The keys of each sentence are the root, then its words.
        dependent, keys = get("dependent", padded, arc), get("keys", len(words) + len(lengths), arc)
        keys[bounds[:-1] + np.arange(len(lengths))] = self._arc_root
        rectify(outputs, bias, rows, np.arange(1, len(words) + 1) + row_of, dependent, keys)
        queries = np.matmul(dependent, self._arc_bilinear, out=get("queries", padded, arc))
        queries += self._arc_bias
        for first, last in itertools.pairwise(
            [0, *(np.flatnonzero(np.diff(lengths)) + 1).tolist(), len(lengths)]
        ):
            own, count, length = slice(bounds[first], bounds[last]), last - first, int(lengths[first])
            scores = queries[own].reshape(count, length, arc) @ keys[
                own.start + first : own.stop + last
            ].reshape(count, length + 1, arc).transpose(0, 2, 1)
            best_trees(scores, self._distance, result.heads[own].reshape(count, length))
        # Relations of the chosen arcs.
        under_root = result.heads == 0
        heads = np.where(under_root, -1, rows[np.maximum(bounds[row_of] + result.heads - 1, 0)])
        met = get("met", padded, label)
        meet(outputs, 2 * arc, bias, self._label_root, rows, heads, met)
        relations = np.matmul(met, self._label_out, out=get("relations", padded, self._label_out.shape[1]))
        best_columns(relations, np.arange(len(words)), 0, self._label_bias, result.relations)
        result.relations[under_root] = self._root
        return result

    def encode(self, words: Integers, steps: Steps, inputs: Floats) -> Floats:
        """Return the last layer's states of words in the layout `steps`, valid until the next call."""
        get = self._workspace.get
        out = get("states", 0)
        for layer, width in enumerate(self.hidden):
            last = layer + 1 == len(self.hidden)
            # The last columns hold the state of the layer above.
            room = 2 * width + (0 if last else self.hidden[layer + 1])
            below, out = out, get("states" if last else str(layer), len(words), room)
            gates, state = (
                get("gates", _blocks(steps.counts[0]), 4 * width),
                get("state", steps.counts[0], width),
            )
            for side in (0, 1):
                state.fill(0)
                if layer:
                    self._upper_side(layer, side, steps, below, gates, state, out)
                else:
                    self._first_side(side, steps, words, inputs, gates, state, out)
        return out

    def _first_side(
        self,
        side: int,
        steps: Steps,
        words: Integers,
        inputs: Floats,
        gates: Floats,
        state: Floats,
        out: Floats,
    ) -> None:
        width = state.shape[1]
        own = slice(side * width, (side + 1) * width)
        for t, before, _ in steps.order(side):
            count, start = steps.counts[t], int(steps.starts[t])
            going = min(count, steps.counts[before]) if before is not None else 0
            if before is not None:
                padded = _blocks(going)
                np.matmul(
                    out[int(steps.starts[before]) :][:padded, own], self._recurrent1[side], out=gates[:padded]
                )
            # Sentences begin with an empty state.
            gates[going:count] = 0
            cell(
                gates,
                inputs,
                side,
                words[start : start + count],
                state[:count],
                out,
                start,
                own.start,
                out,
                0,
                0,
                0,
            )

    def _upper_side(
        self, layer: int, side: int, steps: Steps, below: Floats, gates: Floats, state: Floats, out: Floats
    ) -> None:
        """Run one direction of an upper LSTM layer on the outputs of the layer below, into ``out``."""
        width = state.shape[1]
        matrix, bias = self._upper[layer - 1][0][side], self._upper[layer - 1][1]
        place = below.shape[1] - width
        nothing = np.zeros(len(state), np.int64)
        for t, before, then in steps.order(side):
            count, start = steps.counts[t], int(steps.starts[t])
            padded = _blocks(count)
            if before is None:
                np.matmul(below[start : start + padded, :place], matrix[:place], out=gates[:padded])
            else:
                below[start + min(count, steps.counts[before]) : start + count, place:] = 0
                np.matmul(below[start : start + padded], matrix, out=gates[:padded])
            following, copied = (
                (int(steps.starts[then]), min(count, steps.counts[then])) if then is not None else (0, 0)
            )
            cell(
                gates,
                bias,
                side,
                nothing[:count],
                state[:count],
                out,
                start,
                side * width,
                below,
                following,
                place,
                copied,
            )


def read_model(path: str | Path) -> Model:
    """Read a model written by ``python -m captious.training.parser.train_parser``."""
    return Model(read_arrays(path))


def read_arrays(path: str | Path) -> dict[str, NDArray[Any]]:
    """Read the arrays of a model file, after checking its format."""
    try:
        with np.load(path, allow_pickle=False) as stored:
            arrays = dict(stored)
    except FileNotFoundError:
        raise InputError(f"{path}: no such parser model; train one with {_TRAINER}") from None
    except (ValueError, OSError, EOFError) as error:
        raise InputError(f"{path}: not a parser model ({error}); train one with {_TRAINER}") from error
    version = int(arrays["format"]) if "format" in arrays else None
    if version != FORMAT:
        raise InputError(
            f"{path}: a parser model of format {version}, not {FORMAT}; train it again with {_TRAINER}"
        )
    return arrays


@lru_cache(maxsize=1)
def shipped_model() -> Model:
    """Return the model that ships with captious, loaded once."""
    return read_model(SHIPPED)
