"""CIDEr of a caption does not depend, to the last bit, on the other captions of the file."""

from __future__ import annotations

import numpy as np
import pytest

from captious import load
from captious.corpus.frequencies import FrequencyTable
from captious.metrics.captions.cider import Cider, CiderD
from captious.results.references import References
from captious.results.scores import Score


@pytest.mark.parametrize("metric", ["CIDEr", "CIDEr-D"])
def test_new_words_are_summed_in_the_same_order_in_every_part(metric: str) -> None:
    draw = np.random.default_rng(0)
    known, new = [f"w{i}" for i in range(30)], [f"x{i}" for i in range(30)]
    texts = [" ".join(draw.choice(known, 8)) for _ in range(20)]
    table = FrequencyTable.from_counts([((word,), int(draw.integers(1, 900))) for word in known + new], 1000)
    references = References.read({str(i): [text] for i, text in enumerate(texts)})
    candidates = {str(i): " ".join(draw.choice(known + new, 14)) for i in range(20)}
    measure = {"CIDEr": Cider, "CIDEr-D": CiderD}[metric](table)
    whole = Score.of(measure, load(references, candidates)).per_image
    for image, text in candidates.items():
        assert Score.of(measure, load(references, {image: text}, part=True)).per_image[image] == whole[image]
