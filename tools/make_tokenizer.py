"""Make the tokenizer's automaton that ships with captious from its rules, ``captious.text.ptb.lexer_rules``.

python -m tools.make_tokenizer
"""

from __future__ import annotations

import numpy as np

from captious.core.writing import atomic_write
from captious.text.ptb.generator import generate
from captious.text.ptb.lexer import SHIPPED


def main() -> None:
    automaton = generate()
    with atomic_write(SHIPPED) as temporary, temporary.open("wb") as stream:
        np.savez_compressed(stream, **automaton.arrays)
    states, classes = automaton.arrays["steps"].shape
    print(f"{SHIPPED}: {states:,} states, {classes} classes of characters, {SHIPPED.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
