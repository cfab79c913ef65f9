"""What a shell runs: the command, begun and ended without work that a short run would wait for."""

from __future__ import annotations

import atexit
import gc
import os
import sys
import threading
from contextlib import suppress

#: Objects to be made before Python looks for cycles among them: importing makes tens of thousands that stay.
_OBJECTS = 100_000


def command() -> None:
    """Run the command and end the process."""
    gc.set_threshold(_OBJECTS)
    from captious.cli.app import main

    try:
        main()
    except SystemExit as end:
        if end.code is not None and not isinstance(end.code, int):
            raise
        leave(end.code or 0)
    leave(0)


def leave(status: int) -> None:
    """End the process at once: to take memory apart object by object takes a tenth of a second, and the system takes it back anyway.

    What was to be done at the end is done. Where somebody watches (a profiler, a debugger) or other threads are at work,
    the process ends in the usual way.
    """
    if sys.gettrace() is not None or sys.getprofile() is not None or threading.active_count() > 1:
        sys.exit(status)
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        # Closed, or a pipe whose reader has gone: said before, or of no interest any more.
        with suppress(OSError, ValueError, AttributeError):
            stream.flush()
    os._exit(status)
