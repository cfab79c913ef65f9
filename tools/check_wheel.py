"""Check an installed wheel: the library of kernels is used, and the demo has the expected scores.

    pip install 'captious[meteor]' && python tools/check_wheel.py

The release runs this on every platform.
"""

from __future__ import annotations

import platform
import sys
import warnings

import captious
from captious.data import demo_path
from captious.kernels import library

EXPECTED = {
    "BLEU-4": 0.4433825075157798,
    "ROUGE-L": 0.6375624325458563,
    "CIDEr-D": 1.1184857651895193,
    "METEOR": 0.37599894917613347,
    "SPICE": 0.3578465970142051,
}


def main() -> None:
    """Score the demo and compare."""
    # A kernel that is not in the library is an error here.
    warnings.simplefilter("error", library.KernelWarning)
    scores = captious.score(demo_path("references"), demo_path("good"), metrics=list(EXPECTED))
    wrong = [name for name, value in EXPECTED.items() if abs(scores[name].value - value) > 1e-12]
    print(
        f"captious {captious.__version__} on {sys.platform} {platform.machine()}: "
        f"{len(EXPECTED)} scores, {len(wrong)} wrong"
    )
    if wrong:
        sys.exit("\n".join(f"{name}: {scores[name].value!r}, not {EXPECTED[name]!r}" for name in wrong))


if __name__ == "__main__":
    main()
