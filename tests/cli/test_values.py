"""Values of options are those that Typer makes, with and without Pydantic."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Annotated, Any

import pytest
import typer

from captious.cli.app import tidy
from captious.cli.values import Plain
from captious.data import demo_path

GIVEN = [
    ["x"], ["x", "y/z", "-t", "ü"], ["x", "-n", "007"], ["x", "-n", "3"], ["x", "-n", "0"], ["x", "-n", "11"], ["x", "-n", "3.5"], ["x", "-n", "+3"],
    ["x", "-n", "1_0"], ["x", "-f", "0.5"], ["x", "-f", "half"], ["x", "-s", "a", "-s", ""], ["x", "--flag"], [], ["."], ["x", "-i", "99999999999"],
]  # fmt: skip


def made(given: list[str], *, plain: bool) -> Any:
    """What a command gets, or what it says."""
    found: list[Any] = []
    app = typer.Typer(pretty_exceptions_enable=False)

    @app.command()
    def run(
        paths: Annotated[list[Path], typer.Argument()],
        text: Annotated[str, typer.Option("-t")] = "none",
        number: Annotated[int | None, typer.Option("-n", min=1, max=10)] = None,
        any_number: Annotated[int, typer.Option("-i")] = 7,
        fraction: Annotated[float, typer.Option("-f")] = 0.95,
        several: Annotated[list[str] | None, typer.Option("-s")] = None,
        path: Annotated[Path | None, typer.Option("-p")] = None,
        flag: bool = False,
    ) -> None:
        found.append((paths, text, number, any_number, fraction, several, path, flag))

    command = typer.main.get_command(app)
    try:
        (tidy(command) if plain else command)(given, standalone_mode=False)
    except Exception as error:
        return type(error).__name__, str(getattr(error, "message", error))
    return found


@pytest.mark.parametrize("given", GIVEN, ids=" ".join)
def test_values_are_those_of_typer(given: list[str]) -> None:
    assert made(given, plain=True) == made(given, plain=False)


def test_what_is_not_simple_is_left_to_typer() -> None:
    class Parameter:
        _runtime_param: Any = None

        def get_runtime_param(self) -> Parameter:
            return self

        def coerce(self, value: Any, **_: Any) -> tuple[str, Any]:
            return "typer", value

    assert Plain(int, False, 1, 10).coerce("11", Parameter(), None) == ("typer", "11")
    assert Plain(int, False, 1, 10).coerce("10", Parameter(), None) == 10
    assert Plain(Path, True, None, None).coerce(["a", 5], Parameter(), None) == ("typer", ["a", 5])


def test_a_command_starts_without_pydantic() -> None:
    code = (
        "import sys; from captious.cli.app import main; sys.argv = ['captious', 'score', *sys.argv[1:]]\n"
        "try: main()\nfinally: print('pydantic' in sys.modules, file=sys.stderr)"
    )
    files = [str(demo_path("references")), str(demo_path("good"))]
    done = subprocess.run([sys.executable, "-c", code, *files, "-m", "BLEU-1", "-j", "1", "-q"], capture_output=True, text=True, check=False)
    assert done.stderr.split()[-1] == "False", done.stderr
