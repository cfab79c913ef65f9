"""Installs captious as a stand-in for pycocoevalcap when Python starts (see captious.compat.stand_in).

Another sitecustomize, which this one hides, runs afterwards.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import sys
from pathlib import Path


def _install() -> None:
    try:
        from captious.compat import stand_in
    except ImportError:
        print(
            f"captious: warning: captious is not installed for {sys.executable}, which runs without the "
            f"stand-in; install it: {sys.executable} -m pip install captious",
            file=sys.stderr,
        )
        return
    stand_in.install(children=False)


def _run_hidden() -> None:
    here = Path(__file__).resolve().parent
    others = [folder for folder in sys.path if Path(folder or ".").resolve() != here]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", others)
    if spec is not None and spec.loader is not None:
        spec.loader.exec_module(importlib.util.module_from_spec(spec))


_install()
_run_hidden()
