"""``captious train``: models of one's own. Each sub-command is a module of this package with a ``register(group)``."""

from __future__ import annotations

from importlib import import_module

import typer

#: In the order of the help page.
PARTS = ["train_composite", "train_captioner", "train_lm"]


def register(app: typer.Typer) -> None:
    group = typer.Typer(help="Train models of your own: composite metrics, a captioner, a language model.", no_args_is_help=True)
    for part in PARTS:
        import_module(f"captious.cli.{part}").register(group)
    app.add_typer(group, name="train")
