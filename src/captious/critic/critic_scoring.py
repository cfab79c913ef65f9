"""Scoring with a critic: the probability that a person wrote a caption, averaged over references as context.

Every distinct caption is encoded once, and the classifier's terms that depend on one caption, reference or
image are computed once, so a pair costs little.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from captious.core.errors import InputError
from captious.core.ragged import IntArray, runs
from captious.critic.critic_examples import error_probabilities
from captious.critic.critic_network import Critic, TrainedCritic
from captious.metrics.base import FloatArray

_CAPTIONS, _PAIRS = 512, 8192


def chances(
    trained: TrainedCritic,
    candidates: Sequence[str],
    image_of: IntArray,
    references: Sequence[str],
    offsets: IntArray,
    features: NDArray[np.float32] | None = None,
    *,
    own: bool = False,
) -> FloatArray:
    """Return P(human) of each candidate.

    Captions are words joined by spaces. Candidate i belongs to image ``j = image_of[i]``, whose references
    are ``references[offsets[j]:offsets[j + 1]]``. With ``own``, the candidates are the references themselves,
    and no caption is its own context.
    """
    model = trained.model
    if not len(candidates):
        return np.zeros(0)
    context_kinds = model.shape.context
    if "image" in context_kinds and (features is None or features.shape[1] != model.width):
        available = "none" if features is None else f"{features.shape[1]}"
        raise InputError(f"this critic needs image features of {model.width} dimensions, not {available}")
    with torch.no_grad():
        rows, encoded = _encode(trained, [*candidates, *(references if "reference" in context_kinds else ())])
        candidate_rows, reference_rows = rows[: len(candidates)], rows[len(candidates) :]
        image_vectors = None
        if "image" in context_kinds and features is not None:
            image_vectors = model.see(torch.from_numpy(np.ascontiguousarray(features, np.float32)))
        errors = None
        if model.shape.reads_fluency:
            errors = np.zeros(len(encoded), np.float32)
            errors[candidate_rows] = error_probabilities(candidates)
        log_odds = _comparing(model, encoded, image_vectors, errors)
        if "reference" in context_kinds:
            contexts, bounds = runs(offsets, image_of)
            owner = np.repeat(np.arange(len(candidates)), np.diff(bounds))
            if own:
                is_other = contexts != owner
                contexts, owner = contexts[is_other], owner[is_other]
            other = reference_rows[contexts]
        else:
            owner = np.arange(len(candidates))
            other = np.zeros(len(owner), np.int64)
        counts = np.bincount(owner, minlength=len(candidates))
        if not counts.all():
            raise InputError(
                "a caption has no other reference as context; use at least two references per image"
            )
        values = np.empty(len(owner))
        for at in range(0, len(owner), _PAIRS):
            part = slice(at, at + _PAIRS)
            pair = log_odds(
                *(
                    torch.from_numpy(x)
                    for x in (candidate_rows[owner[part]], other[part], image_of[owner[part]])
                )
            )
            values[part] = torch.sigmoid(pair.double()).numpy()
    sums = np.bincount(owner, values, minlength=len(candidates))
    means: FloatArray = sums / counts
    return means


def _encode(trained: TrainedCritic, sentences: Sequence[str]) -> tuple[IntArray, Tensor]:
    """Return each sentence's index among the distinct sentences, and the vectors of those."""
    numbers: dict[str, int] = {}
    rows = np.fromiter(
        (numbers.setdefault(sentence, len(numbers)) for sentence in sentences), np.int64, len(sentences)
    )
    tokens, lengths = trained.words.encode(list(numbers))
    order = np.argsort(lengths, kind="stable")
    vectors = torch.empty(len(numbers), trained.model.shape.hidden)
    for at in range(0, len(order), _CAPTIONS):
        part = order[at : at + _CAPTIONS]
        vectors[torch.from_numpy(part)] = trained.model.encode(
            torch.from_numpy(tokens[part]), torch.from_numpy(lengths[part])
        )
    return rows, vectors


def _comparing(
    model: Critic, captions: Tensor, images: Tensor | None, errors: NDArray[np.float32] | None
) -> Callable[[Tensor, Tensor, Tensor], Tensor]:
    """Return a function from rows of candidates, references and images to log-odds (human minus machine).

    ``errors`` are the captions' probabilities of a fluency error, for critics that read them.
    """
    shape = model.shape
    of_errors = captions.new_zeros(len(captions))
    if errors is not None:
        of_errors = torch.from_numpy(errors) * (model.fluency.weight[1] - model.fluency.weight[0])
    uses_reference = "reference" in shape.context
    if shape.combine == "cbp":
        classify = model.classify
        assert isinstance(classify, torch.nn.Linear)
        form = model.pool.form(classify.weight[1] - classify.weight[0])
        bias = classify.bias[1] - classify.bias[0]
        # Bilinear form applied to each caption as a candidate.
        projected = captions @ form.T

        def bilinear(candidate: Tensor, reference: Tensor, image: Tensor) -> Tensor:
            context = [images[image]] if images is not None else []
            context += [captions[reference]] if uses_reference else []
            return (projected[candidate] * torch.cat(context, 1)).sum(1) + bias + of_errors[candidate]

        return bilinear
    first = model.classify[0] if shape.combine == "mlp" else model.classify
    blocks = list(first.weight.split(shape.hidden, 1))
    of_candidates = captions @ blocks.pop().T + first.bias
    of_references = captions @ blocks.pop().T if uses_reference else None
    of_images = images @ blocks.pop().T if images is not None else None

    def added(candidate: Tensor, reference: Tensor, image: Tensor) -> Tensor:
        total = of_candidates[candidate]
        if of_references is not None:
            total = total + of_references[reference]
        if of_images is not None:
            total = total + of_images[image]
        if shape.combine == "mlp":
            total = model.classify[1:](total)
        log_odds: Tensor = total[:, 1] - total[:, 0] + of_errors[candidate]
        return log_odds

    return added
