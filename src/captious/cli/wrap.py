"""``captious wrap``: run evaluation code that uses pycocoevalcap on captious."""

from __future__ import annotations

from typing import Annotated

from captious.cli.command import Argument, command


def wrap(
    words: Annotated[
        list[str],
        Argument(metavar="COMMAND", help="Program with its arguments, after '--'."),
    ],
) -> None:
    """Run a program whose pycocoevalcap, pyciderevalcap and coco_caption are captious.

    An example: captious wrap -- python -m lmms_eval --tasks coco2014_cap_val …
    """
    import sys

    from captious.compat.stand_in import run_wrapped

    sys.exit(run_wrapped(words))


COMMAND = command("wrap", wrap)
