"""Parts that all scorers of the COCO tools' interface share: checks, corpora, the warning of raw captions."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from captious.core.errors import InputError, some
from captious.corpus import Corpus
from captious.io.caption_files import CaptionWarning, kind
from captious.metrics.base import Measure
from captious.results.scores import Score

#: Image id → captions; those of candidates are one per image.
Captions = Mapping[Any, Sequence[str]]

#: Signs of text that was not tokenized: a capital letter, or a mark of punctuation at the end of a word.
_RAW = re.compile(r"[A-Z]|[^\W_][.,;:!?](?:\s|$)")
#: Captions that are inspected, and the share that must look raw: some tokens end in a period ("st.").
_INSPECTED, _SHARE = 200, 0.2
_CAPITAL = re.compile("[A-Z]")
_warned = False


def warn_if_raw(texts: Sequence[str]) -> None:
    """Warn, once per process, of captions that were not tokenized."""
    global _warned
    if _warned:
        return
    inspected = dict.fromkeys(texts[:: max(1, len(texts) // _INSPECTED)])
    matches = [text for text in inspected if _RAW.search(text)]
    raw = len(matches)
    # A single caption with a period says little: dense captions come one at a time, and one may end in "st.".
    if raw < max(1, _SHARE * len(inspected)) or (raw == 1 and not _CAPITAL.search(matches[0])):
        return
    _warned = True
    warnings.warn(
        CaptionWarning(
            f"captions come untokenized (capitals or attached punctuation in {raw} of {len(inspected)} that "
            "were inspected), so 'Dog.' and 'dog' are different words, and the numbers are not comparable "
            "with those of tokenized captions; tokenize both sides with PTBTokenizer().tokenize first (the "
            "same numbers elsewhere: captious score … --tokenizer raw)"
        ),
        stacklevel=4,
    )


class Scorer:
    """Base of all scorers."""

    _method: str

    def method(self) -> str:
        """Return the name by which the COCO tools announce the metric."""
        return self._method

    def _corpus(self, gts: Captions, res: Captions, split: Callable[[str], str]) -> Corpus:
        ids = checked(gts, res)
        return build([res[i][0] for i in ids], [gts[i] for i in ids], split)

    def _score(self, measure: Measure, corpus: Corpus) -> tuple[float, list[float]]:
        score = Score.of(measure, corpus)
        return score.value, score.per_caption.tolist()


def build(
    candidates: Sequence[str], references: Sequence[Sequence[str]], split: Callable[[str], str]
) -> Corpus:
    """Return a corpus of candidates with their references. ``split`` puts single spaces between tokens."""
    warn_if_raw(candidates)
    warn_if_raw([texts[0] for texts in references if len(texts)])
    return Corpus.build(
        [str(place) for place in range(len(candidates))],
        [[split(text)] for text in candidates],
        [[split(text) for text in texts] for texts in references],
        tokenizer="none",
    )


def checked(gts: Captions, res: Captions) -> list[Any]:
    if gts.keys() != res.keys():
        apart = [key for key in [*gts, *res] if key not in gts or key not in res]
        raise InputError(
            f"references and candidates must be of the same images; only one side has {some(apart)}"
        )
    for image in gts:
        if isinstance(res[image], str) or isinstance(gts[image], str):
            raise InputError(f"image {image!r} has a text where a list of captions is expected")
        if len(res[image]) != 1:
            raise InputError(
                f"image {image!r} has {len(res[image])} candidates; the COCO tools take one (captious.score "
                "takes any number)"
            )
        if not len(gts[image]):
            raise InputError(f"image {image!r} has no reference")
        for text in (*res[image], *gts[image]):
            if not isinstance(text, str):
                raise InputError(f"image {image!r}: a caption is {kind(text)}; scorers take text")
    return list(gts)


def words(text: str) -> str:
    """Split as ``text.split()``: for BLEU and CIDEr, a no-break space also separates words."""
    return " ".join(text.split())
