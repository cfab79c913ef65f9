"""Scoring: the chance that a person wrote a caption, averaged over all references as context.

Every distinct caption is read once. What a classifier needs of a caption, a reference or an image by itself is made once as well,
so that a pair costs little.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from captious.critic.checkpoint import Trained
from captious.critic.model import Critic
from captious.errors import InputError
from captious.ragged import IntArray, runs

FloatArray = NDArray[np.float64]
_CAPTIONS, _PAIRS = 512, 8192


def chances(
    trained: Trained,
    candidates: Sequence[str],
    image_of: IntArray,
    references: Sequence[str],
    offsets: IntArray,
    features: NDArray[np.float32] | None = None,
    *,
    own: bool = False,
) -> FloatArray:
    """P(a person wrote it) of each candidate. Captions are words joined by spaces; candidate i is of image ``image_of[i]``, whose
    references are ``references[offsets[j]:offsets[j + 1]]``. With ``own`` the candidates are the references themselves, and none is
    its own context."""
    model = trained.model
    if not len(candidates):
        return np.zeros(0)
    looks = model.shape.context
    if "image" in looks and (features is None or features.shape[1] != model.width):
        found = "none" if features is None else f"{features.shape[1]}"
        raise InputError(f"this critic looks at images by {model.width} numbers, and {found} were given")
    with torch.no_grad():
        rows, encoded = _encode(trained, [*candidates, *(references if "reference" in looks else ())])
        mine, theirs = rows[: len(candidates)], rows[len(candidates) :]
        seen = None
        if "image" in looks and features is not None:
            seen = model.see(torch.from_numpy(np.ascontiguousarray(features, np.float32)))
        compare = _comparing(model, encoded, seen)
        if "reference" in looks:
            contexts, bounds = runs(offsets, image_of)
            owner = np.repeat(np.arange(len(candidates)), np.diff(bounds))
            if own:
                kept = contexts != owner
                contexts, owner = contexts[kept], owner[kept]
            other = theirs[contexts]
        else:
            owner = np.arange(len(candidates))
            other = np.zeros(len(owner), np.int64)
        counts = np.bincount(owner, minlength=len(candidates))
        if not counts.all():
            raise InputError("a caption has no other reference to be judged beside; give at least two references for each image")
        values = np.empty(len(owner))
        for at in range(0, len(owner), _PAIRS):
            part = slice(at, at + _PAIRS)
            pair = compare(*(torch.from_numpy(x) for x in (mine[owner[part]], other[part], image_of[owner[part]])))
            values[part] = torch.sigmoid(pair.double()).numpy()
    sums = np.bincount(owner, values, minlength=len(candidates))
    means: FloatArray = sums / counts
    return means


def _encode(trained: Trained, sentences: Sequence[str]) -> tuple[IntArray, Tensor]:
    """Each sentence's place among the distinct ones, and the vectors of those."""
    numbers: dict[str, int] = {}
    rows = np.fromiter((numbers.setdefault(sentence, len(numbers)) for sentence in sentences), np.int64, len(sentences))
    tokens, lengths = trained.words.encode(list(numbers))
    order = np.argsort(lengths, kind="stable")
    vectors = torch.empty(len(numbers), trained.model.shape.hidden)
    for at in range(0, len(order), _CAPTIONS):
        part = order[at : at + _CAPTIONS]
        vectors[torch.from_numpy(part)] = trained.model.encode(torch.from_numpy(tokens[part]), torch.from_numpy(lengths[part]))
    return rows, vectors


def _comparing(model: Critic, captions: Tensor, images: Tensor | None) -> Callable[[Tensor, Tensor, Tensor], Tensor]:
    """A function from rows of candidates, references and images to log-odds: the score of a person less that of a machine."""
    shape = model.shape
    referred = "reference" in shape.context
    if shape.combine == "cbp":
        classify = model.classify
        assert isinstance(classify, torch.nn.Linear)
        form = model.pool.form(classify.weight[1] - classify.weight[0])
        bias = classify.bias[1] - classify.bias[0]
        # What a caption, as candidate, asks of each number of the context.
        asked = captions @ form.T

        def bilinear(candidate: Tensor, reference: Tensor, image: Tensor) -> Tensor:
            context = [images[image]] if images is not None else []
            context += [captions[reference]] if referred else []
            return (asked[candidate] * torch.cat(context, 1)).sum(1) + bias

        return bilinear
    first = model.classify[0] if shape.combine == "mlp" else model.classify
    blocks = list(first.weight.split(shape.hidden, 1))
    of_candidates = captions @ blocks.pop().T + first.bias
    of_references = captions @ blocks.pop().T if referred else None
    of_images = images @ blocks.pop().T if images is not None else None

    def added(candidate: Tensor, reference: Tensor, image: Tensor) -> Tensor:
        total = of_candidates[candidate]
        if of_references is not None:
            total = total + of_references[reference]
        if of_images is not None:
            total = total + of_images[image]
        if shape.combine == "mlp":
            total = model.classify[1:](total)
        found: Tensor = total[:, 1] - total[:, 0]
        return found

    return added
