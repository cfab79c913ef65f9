"""``captious train``: composite metrics, captioners, critics and language models."""

from __future__ import annotations

from typing import Any

import click

from captious.cli import train_captioner, train_composite, train_critic, train_lm
from captious.cli.command import group


class _ByFeatures(click.Group):
    """Treat a word that is not a sub-command as a feature of a composite metric."""

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        if args and not args[0].startswith("-") and self.get_command(ctx, args[0]) is None:
            args = ["composite", *args]
        return super().resolve_command(ctx, args)


COMMAND = group(
    "train",
    "Train models of your own: composite metrics, a captioner, a critic, a language model.",
    *train_composite.COMMANDS,
    train_captioner.COMMAND,
    train_critic.COMMAND,
    train_lm.COMMAND,
    cls=_ByFeatures,
)
