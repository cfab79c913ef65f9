"""captious beside pycocoevalcap: from raw text in memory to BLEU, ROUGE-L and CIDEr-D, tokenizer included, one process.

    pip install -e '.[benchmark]'      (and a Java runtime for pycocoevalcap's tokenizer)
    python -m benchmarks.coco          the comparison, then how time grows with the number of images
    python -m benchmarks.coco --growth only the growth

Each side runs in a process of its own; imports are not counted on either side. Ours is shown for the first run of a
process and for the best of three.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from benchmarks.common import best_of, coco, in_child, made_up, peak_megabytes, timed

NAMES = ["BLEU-1", "BLEU-2", "BLEU-3", "BLEU-4", "ROUGE-L", "CIDEr-D"]


def ours(references: dict[str, list[str]], predictions: dict[str, str]) -> dict[str, float]:
    import captious

    scores = captious.score(captious.load(references, predictions), NAMES)
    return {name: scores[name].value for name in NAMES}


def theirs(references: dict[str, list[str]], predictions: dict[str, str]) -> dict[str, float]:
    import contextlib
    import io

    from pycocoevalcap.bleu.bleu import Bleu
    from pycocoevalcap.cider.cider import Cider
    from pycocoevalcap.rouge.rouge import Rouge
    from pycocoevalcap.tokenizer.ptbtokenizer import PTBTokenizer

    with contextlib.redirect_stdout(io.StringIO()):
        tokenizer = PTBTokenizer()
        gts = tokenizer.tokenize({i: [{"caption": c} for c in cs] for i, cs in references.items()})
        res = tokenizer.tokenize({i: [{"caption": c}] for i, c in predictions.items()})
        bleu = Bleu(4).compute_score(gts, res)[0]
        values = [*bleu, Rouge().compute_score(gts, res)[0], Cider().compute_score(gts, res)[0]]
    return dict(zip(NAMES, map(float, values)))


def child(side: str) -> None:
    references, predictions = coco()
    before = peak_megabytes()
    report: dict[str, Any] = {"images": len(references)}
    if side == "ours":
        import captious.api
        import captious.metrics.captions.bleu
        import captious.metrics.captions.cider
        import captious.metrics.captions.rouge
        import captious.text.tokenizers  # noqa: F401

        values, report["first"] = timed(lambda: ours(references, predictions))
        _, report["seconds"] = best_of(3, lambda: ours(references, predictions))
    else:
        values, report["seconds"] = timed(lambda: theirs(references, predictions))
    report |= {"values": values, "peak": peak_megabytes(), "before": before}
    print(json.dumps(report))


def grow(images: int) -> None:
    references, predictions = made_up(images)
    before = peak_megabytes()
    ours(*made_up(200))
    _, seconds = best_of(2, lambda: ours(references, predictions))
    print(json.dumps({"seconds": seconds, "peak": peak_megabytes(), "before": before}))


def main() -> None:
    if "--growth" not in sys.argv:
        in_child("benchmarks.coco", "--child", "ours")  # fills the cache, once on a machine
        mine = in_child("benchmarks.coco", "--child", "ours")
        other = in_child("benchmarks.coco", "--child", "theirs")
        apart = max(abs(mine["values"][n] - other["values"][n]) for n in NAMES)
        print(f"{mine['images']:,} images, raw text to {', '.join(NAMES)}; largest difference {apart:.1e}")
        print(
            f"  pycocoevalcap  {other['seconds']:8.2f} s   peak {other['peak']:6.0f} MB (data {other['before']:.0f} MB)"
        )
        for label, key in (("captious, first run", "first"), ("captious, best of 3", "seconds")):
            ratio = other["seconds"] / mine[key]
            print(f"  {label}  {mine[key]:6.2f} s   peak {mine['peak']:6.0f} MB   {ratio:5.1f}× as fast")
    print("growth (made-up captions, 5 references each)")
    for images in (1_000, 10_000, 100_000):
        report = in_child("benchmarks.coco", "--grow", str(images))
        per = 1e6 * report["seconds"] / images
        print(
            f"  {images:8,} images  {report['seconds']:7.2f} s  {per:6.1f} µs an image  peak {report['peak']:6.0f} MB"
        )


if __name__ == "__main__":
    if "--child" in sys.argv:
        child(sys.argv[-1])
    elif "--grow" in sys.argv:
        grow(int(sys.argv[-1]))
    else:
        main()
