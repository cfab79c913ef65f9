"""pycocoevalcap as it is commonly run: from raw captions to scores, tokenizer included.

    python -m benchmarks.pycocoevalcap_peer REFERENCES RESULTS METRIC,… [PER_IMAGE.json]

The files are COCO's. The program prints the scores as JSON. Other benchmarks time it in a process of its own,
so it imports nothing of captious.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import sys
from pathlib import Path
from typing import Any

#: Metric → its module and class.
SCORERS = {
    "BLEU-4": ("bleu", "Bleu"),
    "ROUGE-L": ("rouge", "Rouge"),
    "CIDEr-D": ("cider", "Cider"),
    "METEOR": ("meteor", "Meteor"),
}


def scores(
    references: Any, predictions: Any, metrics: list[str]
) -> dict[str, tuple[float, dict[str, float]]]:
    """Return the corpus score and the scores of all images of each metric. Captions are in COCO's records."""
    from pycocoevalcap.tokenizer.ptbtokenizer import PTBTokenizer

    with contextlib.redirect_stdout(io.StringIO()):
        gts, res = PTBTokenizer().tokenize(references), PTBTokenizer().tokenize(predictions)
        results = {}
        for metric in metrics:
            module, name = SCORERS[metric]
            scorer = getattr(importlib.import_module(f"pycocoevalcap.{module}.{module}"), name)()
            value, per_image = scorer.compute_score(gts, res)
            if metric == "BLEU-4":
                value, per_image = value[3], per_image[3]
            if metric == "METEOR":
                # The processor time of a child process is known when it has ended.
                scorer.meteor_p.stdin.close()
                scorer.meteor_p.wait()
            results[metric] = float(value), {str(i): float(v) for i, v in zip(gts, per_image)}
    return results


def main() -> None:
    with contextlib.redirect_stdout(io.StringIO()):
        from pycocotools.coco import COCO

        coco = COCO(sys.argv[1])
        results = coco.loadRes(sys.argv[2])
    images = results.getImgIds()
    references, predictions = ({i: of.imgToAnns[i] for i in images} for of in (coco, results))
    by_metric = scores(references, predictions, sys.argv[3].split(","))
    if len(sys.argv) > 4:
        Path(sys.argv[4]).write_text(json.dumps({name: values for name, (_, values) in by_metric.items()}))
    print(json.dumps({name: value for name, (value, _) in by_metric.items()}))


if __name__ == "__main__":
    main()
