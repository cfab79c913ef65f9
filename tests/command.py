"""The command line in the process of the tests: arguments in, exit code and output out, as of a process.

A process of its own takes a second for imports. Tests need one only for what a process has alone: signals, pipes,
imports, the entry point (``cli/test_start.py``, ``cli/test_help_and_errors.py``, ``test_base_install.py``).
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import warnings
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import IO

from click.testing import CliRunner

from captious.cli.app import app, main
from captious.core.errors import CaptiousError
from captious.io import content

#: Warnings that Python does not show by default.
_HIDDEN = (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning)


def _text(file: IO[bytes], mode: str) -> IO[str]:
    """Open a file once more. The command may close or redirect its streams."""
    return os.fdopen(os.dup(file.fileno()), mode, encoding="utf-8")


def run_bytes(
    *words: object, folder: Path | None = None, stdin: bytes = b""
) -> subprocess.CompletedProcess[bytes]:
    """Run ``captious WORDS`` in a folder. Unexpected exceptions are raised."""
    arguments, code, before, terminal = list(map(str, words)), 0, Path.cwd(), sys.stdin
    with (
        tempfile.TemporaryFile() as given,
        tempfile.TemporaryFile() as out,
        tempfile.TemporaryFile() as errors,
    ):
        given.write(stdin)
        given.seek(0)
        with (
            _text(given, "r") as reader,
            _text(out, "w") as printed,
            _text(errors, "w") as messages,
            warnings.catch_warnings(),
            redirect_stdout(printed),
            redirect_stderr(messages),
        ):
            warnings.resetwarnings()
            for category in _HIDDEN:
                warnings.simplefilter("ignore", category)
            os.chdir(folder or before)
            sys.stdin = reader  # type: ignore[assignment]
            # Of a process, standard input can be read only once.
            content._standard_taken = False
            try:
                main(arguments)
            except SystemExit as end:
                code = end.code if isinstance(end.code, int) else int(end.code is not None)
            finally:
                sys.stdin = terminal
                content._standard_taken = False
                os.chdir(before)
        out.seek(0)
        errors.seek(0)
        return subprocess.CompletedProcess(arguments, code, out.read(), errors.read())


def run(*words: object, folder: Path | None = None, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """Run ``captious WORDS`` with texts for standard input and output."""
    done = run_bytes(*words, folder=folder, stdin=stdin.encode())
    return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())


def output(*words: object) -> str:
    """Run a command that must succeed, through Click alone, and return its standard output."""
    result = CliRunner().invoke(app, list(map(str, words)), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def refused(*words: object) -> str:
    """Run a command that must refuse its input, through Click alone, and return the message."""
    result = CliRunner().invoke(app, list(map(str, words)))
    if isinstance(result.exception, CaptiousError):
        return str(result.exception)
    assert result.exit_code == 2, result.output
    return result.output
