"""``captious train``: what can be trained, each part in a file of its own."""

from __future__ import annotations

from importlib import import_module

import typer

#: Modules of this package with a ``register(group)``; the order is that of the help page.
PARTS = ["train_composite"]


def register(app: typer.Typer) -> None:
    group = typer.Typer(name="train", help="Train models of your own.", no_args_is_help=True)
    for part in PARTS:
        import_module(f"captious.cli.{part}").register(group)
    app.add_typer(group)
