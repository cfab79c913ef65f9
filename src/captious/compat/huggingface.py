"""Metrics for the Trainer of transformers: ``compute_metrics`` that decodes token ids and scores captions.

trainer = Seq2SeqTrainer(…, compute_metrics=captious.compat.hf_metrics(tokenizer, metrics="lexical"))
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from captious.core.errors import InputError
from captious.metrics.registry import Wanted, make_measures
from captious.results.references import parallel
from captious.results.scores import Scores

#: Label that the loss ignores.
IGNORED = -100


def hf_metrics(
    tokenizer: Any,
    references: Sequence[str | Sequence[str]] | None = None,
    metrics: Wanted = "lexical",
    *,
    prefix: str = "",
    **options: Any,
) -> Callable[[Any], dict[str, float]]:
    """Return a function for ``compute_metrics``.

    Parameters
    ----------
    tokenizer
        Tokenizer or processor with ``batch_decode`` and ``pad_token_id``.
    references
        All references of each image, in the order of the evaluation set. Without them, the labels are the
        references, one per image.
    metrics, options
        As for :func:`captious.score`.
    prefix
        Text before the names of the metrics.

    Predictions are ids (``predict_with_generate``), logits (images × tokens × vocabulary), or a tuple that
    begins with one of these. The ids −100, which pad labels and predictions, are not decoded.
    """
    measures = make_measures(metrics, options)
    decoder = tokenizer if hasattr(tokenizer, "pad_token_id") else getattr(tokenizer, "tokenizer", tokenizer)

    def decode(ids: Any) -> list[str]:
        array = np.asarray(ids)
        if array.ndim == 3:
            array = array.argmax(axis=-1)
        if array.ndim != 2 or not np.issubdtype(array.dtype, np.integer):
            raise InputError(
                f"predictions have the shape {array.shape} and the type {array.dtype}; token ids (images × "
                "tokens) or logits (images × tokens × vocabulary) are expected"
            )
        padding = getattr(decoder, "pad_token_id", None) or 0
        texts = decoder.batch_decode(np.where(array == IGNORED, padding, array), skip_special_tokens=True)
        return [text.strip() for text in texts]

    def compute_metrics(prediction: Any) -> dict[str, float]:
        predicted, labels = (
            (prediction.predictions, prediction.label_ids)
            if hasattr(prediction, "predictions")
            else prediction
        )
        captions = decode(predicted[0] if isinstance(predicted, tuple) else predicted)
        if references is None:
            targets: Sequence[str | Sequence[str]] = decode(
                labels[0] if isinstance(labels, tuple) else labels
            )
        else:
            targets = references
        if len(targets) != len(captions):
            raise InputError(
                f"{len(captions):,} captions were generated and {len(targets):,} images have references; "
                "give the references of the evaluation set, in its order"
            )
        scores = Scores.of(parallel(captions, list(targets)), measures)
        return {f"{prefix}{name}": score.value for name, score in scores.items()}

    return compute_metrics
