"""``captious train lm``: a language model of captions, for re-ranking."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from captious.cli import options
from captious.cli.output import number, say, write_json
from captious.cli.train_captioner import hold_back, needs_torch
from captious.errors import InputError

KINDS = ("unigram", "ngram", "lstm")


def register(group: typer.Typer) -> None:
    group.command("lm")(options.takes_columns(lm))


def lm(
    captions: Annotated[Path, typer.Argument(metavar="CAPTIONS", help="Captions to learn from; any file of captions.")],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="MODEL", help="Where to write the model (npz; an LSTM: safetensors; n-grams: also .arpa).")],
    kind: Annotated[str, typer.Option("--kind", help="unigram, ngram (modified Kneser–Ney) or lstm.")] = "ngram",
    order: Annotated[int, typer.Option("--order", min=1, help="The length of n-grams.")] = 3,
    least: Annotated[int | None, typer.Option("--least", min=1, help="How often a word must occur to be known (default: 1; lstm: 5).")] = None,
    held_out: Annotated[int, typer.Option("--held-out", min=0, help="Images to hold back for the perplexity.")] = 100,
    exclude: Annotated[
        Path | None, typer.Option("--exclude", metavar="CAPTIONS", help="Images (any file of captions) that must not be learned from.")
    ] = None,
    hidden: Annotated[int, typer.Option("--hidden", min=1, help="Width of the LSTM.")] = 512,
    embedding: Annotated[int, typer.Option("--embedding", min=1, help="Numbers of a word's vector (lstm).")] = 300,
    dropout: Annotated[float, typer.Option("--dropout", help="Share of numbers left out at random (lstm).")] = 0.3,
    epochs: Annotated[int, typer.Option("--epochs", min=1, help="How often all captions are seen (lstm).")] = 5,
    batch: Annotated[int, typer.Option("--batch", min=1, help="Captions of a step (lstm).")] = 64,
    rate: Annotated[float, typer.Option("--rate", help="Learning rate (lstm).")] = 2e-3,
    save_every: Annotated[int, typer.Option("--save-every", min=1, help="Steps between checkpoints (lstm).")] = 200,
    resume: Annotated[bool, typer.Option("--resume", help="Go on from the last checkpoint in MODEL (lstm).")] = False,
    seed: Annotated[int, typer.Option("--seed", min=0, help="The same seed gives the same model.")] = 1,
    threads: Annotated[int, typer.Option("--threads", min=1, help="Threads of PyTorch (lstm).")] = 1,
    tokenizer: options.Tokenizer = None,
    json: options.JsonOut = None,
) -> None:
    """Train a language model of captions. Its perplexity on images that were held back counts words and ends."""
    from captious.io import read
    from captious.rerank.models import files
    from captious.rerank.models.base import tokens_of
    from captious.rerank.models.ngram import NGram
    from captious.rerank.models.unigram import Unigram

    if kind not in KINDS:
        raise InputError(f"language models are {', '.join(KINDS)}, not '{kind}'")
    if output.suffix == ".arpa" and kind != "ngram":
        raise InputError(f"an ARPA file holds n-grams, not {kind}; name the file .npz or .safetensors")
    if output.exists() and not resume:
        raise InputError(f"{output} is there already; {'--resume goes on with it, or ' if kind == 'lstm' else ''}name another file")
    if kind == "lstm":
        needs_torch("training an LSTM").set_num_threads(threads)
    file = read(captions, "references")
    barred = set(read(exclude, "references").ids) if exclude is not None else set()
    usable = [image for image in file.ids if image not in barred]
    if not usable:
        raise InputError(f"{captions} has no image that may be learned from")
    held = set(hold_back(usable, held_out, seed)) if held_out else set()
    cut = tokenizer or "ptb"
    by_image = dict(zip(file.ids, file.captions))
    taught = tokens_of([text for image in usable if image not in held for text in by_image[image]], cut)
    tested = tokens_of([text for image in usable if image in held for text in by_image[image]], cut)
    model: Any
    if kind == "unigram":
        model = Unigram.learn(taught, least or 1, cut)
    elif kind == "ngram":
        model = NGram.learn(taught, order, least or 1, cut)
    else:
        from captious.rerank.models.training.lstm import Settings, train

        settings = Settings(hidden, embedding, dropout, least or 5, epochs, batch, rate, seed, save_every)

        def told(row: dict[str, Any]) -> None:
            say("  ".join(f"{name} {number(value, '.4f') if isinstance(value, float) else value}" for name, value in row.items()), json)

        model = train(taught, output, held_out=tested, tokenizer=cut, settings=settings, resume=resume, told=told)
    scored = model.score(tested) if tested else None
    found = {
        "captions": len(taught), "words": len(model.vocabulary),
        **({"perplexity": scored.perplexity, "unknown": scored.unknown_share, "held out": len(tested)} if scored is not None else {}),
    }  # fmt: skip
    model.made = {**model.made, **found}
    if output.suffix == ".arpa":
        from captious.rerank.models.arpa import write_arpa

        write_arpa(model, output)
    else:
        files.save(model, output)
    told_of = f", perplexity {scored.perplexity:.2f} on {len(tested):,} held-out captions ({scored.unknown_share:.2%} of tokens unknown)" if scored is not None else ""
    say(f"{output}: {kind}, {len(model.vocabulary):,} words, {len(taught):,} captions{told_of}", json)
    if json is not None:
        write_json({"model": str(output), "kind": kind, **found}, json)
