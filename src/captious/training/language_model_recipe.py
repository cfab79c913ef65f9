"""Training a language model of captions from files, as ``captious train lm`` does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from captious.core.errors import InputError
from captious.core.torch_extra import require_torch
from captious.io import read
from captious.rerank.language_models import model_files
from captious.rerank.language_models.arpa import write_arpa
from captious.rerank.language_models.language_model import tokens_of
from captious.rerank.language_models.ngram import NGram
from captious.rerank.language_models.unigram import Unigram
from captious.training.held_out import excluded_ids, hold_out_images

KINDS = ("unigram", "ngram", "lstm")


@dataclass(frozen=True)
class TrainedLanguageModel:
    """A language model, its file, and its perplexity on captions that were held out."""

    path: Path
    kind: str
    model: Any
    #: Numbers of captions and words; with held-out captions also perplexity and the share of unknown tokens.
    facts: dict[str, Any]

    def to_json(self) -> dict[str, Any]:
        """Return a JSON-ready description."""
        return {"model": str(self.path), "kind": self.kind, **self.facts}


def train_language_model(
    captions: str | Path,
    output: str | Path,
    kind: str = "ngram",
    *,
    order: int = 3,
    least: int | None = None,
    held_out: int = 100,
    exclude: str | Path | None = None,
    resume: bool = False,
    seed: int = 1,
    threads: int = 1,
    tokenizer: str | None = None,
    progress: Callable[[dict[str, Any]], None] | None = None,
    **settings: Any,
) -> TrainedLanguageModel:
    """Train a language model of captions.

    Parameters
    ----------
    captions
        File of captions to learn from.
    output
        File for the model: npz, safetensors for an LSTM, or .arpa for n-grams.
    kind
        "unigram", "ngram" (modified Kneser–Ney) or "lstm".
    order
        Length of n-grams.
    least
        How often a word must occur to be known (default: 1, and 5 for an LSTM).
    held_out
        Number of images held out for the perplexity, which counts words and ends.
    exclude
        A file of captions whose images are not used.
    resume
        Continue an LSTM from the last checkpoint in ``output``.
    seed, threads, tokenizer
        Seed of all random choices, threads of PyTorch, and the tokenizer (default: ptb).
    progress
        Callback for each row of an LSTM's training.
    settings
        Other fields of an LSTM's :class:`~captious.training.language_models.lstm_trainer.Settings`: hidden,
        embedding,
        dropout, epochs, batch, rate, save_every.
    """
    path = Path(output)
    if kind not in KINDS:
        raise InputError(f"language models are {', '.join(KINDS)}, not '{kind}'")
    if path.suffix == ".arpa" and kind != "ngram":
        raise InputError(f"an ARPA file holds n-grams, not {kind}; name the file .npz or .safetensors")
    if path.exists() and not resume:
        hint = "--resume goes on with it, or " if kind == "lstm" else ""
        raise InputError(f"{output} is there already; {hint}name another file")
    if kind == "lstm":
        require_torch("training an LSTM", threads)
    file = read(captions, "references")
    unusable = excluded_ids(exclude)
    usable = [image for image in file.ids if image not in unusable]
    if not usable:
        raise InputError(f"{captions} has no image that may be learned from")
    tested_images = set(hold_out_images(usable, held_out, seed)) if held_out else set()
    tokenizer = tokenizer or "ptb"
    by_image = dict(zip(file.ids, file.captions))
    training = [text for image in usable if image not in tested_images for text in by_image[image]]
    testing = [text for image in usable if image in tested_images for text in by_image[image]]
    taught, tested = tokens_of(training, tokenizer), tokens_of(testing, tokenizer)
    model: Any
    if kind == "unigram":
        model = Unigram.learn(taught, least or 1, tokenizer)
    elif kind == "ngram":
        model = NGram.learn(taught, order, least or 1, tokenizer)
    else:
        from captious.training.language_models.lstm_trainer import Settings, train

        chosen = Settings(least=least or 5, seed=seed, **settings)
        model = train(
            taught,
            output,
            held_out=tested,
            tokenizer=tokenizer,
            settings=chosen,
            resume=resume,
            told=progress,
        )
    facts: dict[str, Any] = {"captions": len(taught), "words": len(model.vocabulary)}
    if tested:
        scored = model.score(tested)
        facts |= {
            "perplexity": scored.perplexity,
            "unknown": scored.unknown_share,
            "held out": len(tested),
        }
    model.made = {**model.made, **facts}
    (write_arpa if path.suffix == ".arpa" else model_files.save)(model, path)
    return TrainedLanguageModel(path, kind, model, facts)
