"""``captious train lm``: a language model of captions, for re-ranking."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

from captious.cli import options
from captious.cli.command import Argument, Flag, OptionGroup, command
from captious.cli.output import say, write_json
from captious.cli.train_captioner import say_row


@dataclass
class LanguageModelOptions(OptionGroup):
    """Options of all kinds of models, as `train_language_model` takes them."""

    order: Annotated[int, Flag("--order", min=1, help="Length of n-grams.")] = 3
    least: Annotated[
        int | None,
        Flag("--least", min=1, help="Occurrences that a word needs to be known (default: 1; lstm: 5)."),
    ] = None
    held_out: Annotated[int, Flag("--held-out", min=0, help="Images to hold out for the perplexity.")] = 100
    exclude: options.Exclude = None
    hidden: Annotated[int, Flag("--hidden", min=1, help="Width of the LSTM.")] = 512
    embedding: Annotated[int, Flag("--embedding", min=1, help="Size of word vectors (lstm).")] = 300
    dropout: Annotated[float, Flag("--dropout", help="Share of dropout (lstm).")] = 0.3
    epochs: Annotated[int, Flag("--epochs", min=1, help="Passes over the captions (lstm).")] = 5
    batch: Annotated[int, Flag("--batch", min=1, help="Captions per step (lstm).")] = 64
    rate: Annotated[float, Flag("--rate", help="Learning rate (lstm).")] = 2e-3
    save_every: Annotated[int, Flag("--save-every", min=1, help="Steps between checkpoints (lstm).")] = 200
    resume: Annotated[bool, Flag("--resume", help="Continue from the last checkpoint in MODEL (lstm).")] = (
        False
    )
    seed: Annotated[int, options.random_seed("model")] = 1


def lm(
    captions: Annotated[
        Path, Argument(metavar="CAPTIONS", help="Captions to learn from; any file of captions.")
    ],
    output: Annotated[
        Path,
        options.to_file(
            "MODEL", "Where to write the model (npz; an LSTM: safetensors; n-grams: also .arpa)."
        ),
    ],
    kind: Annotated[str, Flag("--kind", help="unigram, ngram (modified Kneser–Ney) or lstm.")] = "ngram",
    *,
    training: LanguageModelOptions,
    jobs: options.Threads = 1,
    tokenizer: options.Tokenizer = None,
    json: options.JsonOut = None,
) -> None:
    """Train a language model of captions.

    Its perplexity on held-out images counts words and ends.
    """
    from captious.training import train_language_model

    result = train_language_model(
        captions,
        output,
        kind,
        **vars(training),
        threads=jobs,
        tokenizer=tokenizer,
        progress=partial(say_row, json=json),
    )
    facts = result.facts
    text = f"{output}: {kind}, {facts['words']:,} words, {facts['captions']:,} captions"
    if "perplexity" in facts:
        text += (
            f", perplexity {facts['perplexity']:.2f} on {facts['held out']:,} held-out captions "
            f"({facts['unknown']:.2%} of tokens unknown)"
        )
    say(text, json)
    if json is not None:
        write_json(result.to_json(), json)


COMMAND = command("lm", lm, options.ColumnOptions)
