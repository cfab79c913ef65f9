"""Captions as paragraphs: the sentences of each caption, tokenized by themselves."""

from __future__ import annotations

import numpy as np

from captious.core.container import Grouped
from captious.core.ragged import offsets_of
from captious.corpus.corpus import Captions
from captious.text.sentences import split_sentences


def sentences_of(captions: Captions) -> Captions:
    """Return the sentences of each caption (:func:`captious.text.sentences.split_sentences`).

    Caption i becomes "image" i, and its sentences are the captions of that image. The result is cached with
    the captions. Captions of one sentence keep their tokens.
    """
    return captions.cached("sentences of captions", lambda: _sentences(captions))


def _sentences(captions: Captions) -> Captions:
    texts = list(captions.texts)
    groups = [split_sentences(text) for text in texts]
    names = [str(i) for i in range(len(texts))]
    if all(len(group) == 1 and group[0] == text.strip() for group, text in zip(groups, texts)):
        return captions.take(np.arange(len(texts)), np.arange(len(texts) + 1), names)
    flat = Grouped(
        [sentence for group in groups for sentence in group], offsets_of([len(group) for group in groups])
    )
    return Captions.of(flat, captions.tokenizer, ids=names)
