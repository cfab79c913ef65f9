"""``captious likelihood``: how often a captioner finds a wrong generic caption likelier than a human one."""

from __future__ import annotations

import json as json_format
from pathlib import Path
from typing import Annotated, Any

import typer

from captious.cli import options
from captious.cli.look import takes_look
from captious.cli.output import is_taken, note, print_table, say, write_json, write_text
from captious.errors import InputError


def register(app: typer.Typer) -> None:
    app.command("likelihood")(options.takes_columns(options.takes_output(takes_look(likelihood, of_scores=False))))


def likelihood(
    references: options.References,
    scored: Annotated[
        Path | None, typer.Option("--scored", metavar="FILE", help="log P of the captions: JSONL, as 'captious generate MODEL IMAGES --score CAPTIONS' writes it.")
    ] = None,
    write: Annotated[Path | None, typer.Option("--write", metavar="CAPTIONS", help="Make no test: write the captions whose log P it needs.")] = None,
    training: Annotated[Path | None, typer.Option("--training", metavar="CAPTIONS", help="Where the commonest captions are taken from (default: the references).")] = None,
    common: Annotated[int, typer.Option("--common", "-k", min=1, help="How many of the commonest captions are distractors.")] = 5,
    objects: options.Objects = None,
    chair_synonyms: options.ChairSynonyms = None,
    models: Annotated[list[Path] | None, typer.Option("--lm", metavar="MODEL", help="Also compare by log P(s|I) − λ log P(s) with this language model; twice to interpolate.")] = None,
    lam: Annotated[float | None, typer.Option("--lambda", metavar="λ", help="Weight of the language model.")] = None,
    alpha: Annotated[float | None, typer.Option("--alpha", metavar="α", help="Weight of the first of two language models.")] = None,
    normalise: Annotated[bool, typer.Option("--normalise", help="Compare log P per token.")] = False,
    words: Annotated[str | None, typer.Option("--words", metavar="IMAGE", help="Show the captions of an image with the probability of each word (--scored with --tokens).")] = None,
    figure: Annotated[Path | None, typer.Option("--figure", metavar="OUT", help="With --words: write it as .html or .svg.")] = None,
    trials: Annotated[int, typer.Option("--trials", min=1, help="Trials of the randomisation test (before and after).")] = 10_000,
    tokenizer: options.Tokenizer = None,
    json: options.JsonOut = None,
) -> None:
    """Test whether a captioner prefers wrong generic captions to human ones (Wang et al. 2020, §3.1).

    Distractors are the commonest captions of the training corpus that name an object which the image does not have.
    """
    from captious.io import read
    from captious.metrics.chair import ChairS
    from captious.references import References
    from captious.rerank import Prior, Weights, load_model
    from captious.rerank import likelihood as tests
    from captious.rerank.information import information

    if (scored is None) == (write is None):
        raise InputError("give log P of the captions (--scored FILE), or have the captions written that need it (--write CAPTIONS)")
    if bool(models) != (lam is not None):
        raise InputError("--lm and --lambda belong together")
    if models and (len(models) == 2) != (alpha is not None):
        raise InputError("--alpha weighs two language models, and belongs with two of them")
    if figure is not None and (words is None or figure.suffix not in (".html", ".svg")):
        raise InputError("--figure is of the words of one image (--words IMAGE), and ends in .html or .svg")
    is_taken(json, write, figure)
    known = References.read(references, tokenizer)
    source = read(training, "references") if training is not None else None
    texts = [text for group in source.captions for text in group] if source is not None else list(known.captions.texts)
    generic = tests.commonest(texts, common, known.captions.tokenizer)
    wrong = tests.distractors(known, [text for text, _ in generic], ChairS(objects, chair_synonyms))
    if write is not None:
        rows = tests.to_score(known, wrong)
        write_text("".join(json_format.dumps(row, ensure_ascii=False) + "\n" for row in rows), str(write))
        say(f"{write}: {sum(len(row['captions']) for row in rows):,} captions of {len(rows):,} images", write)
        return
    assert scored is not None
    if words is not None:
        _words(scored, words, figure)
        return
    lists = tests.read_scored(scored)
    prior = Prior.of(lists, [load_model(path, known.captions.tokenizer) for path in models]) if models else None
    lengths = [len(tokens) + 1 for tokens in lists.tokens_for(known.captions.tokenizer)] if normalise else None
    before_values = lists.log_p() / lengths if lengths is not None else lists.log_p()
    before = tests.likelihood_test(lists, before_values, known, wrong)
    found = {"log P(s|I)": before}
    p = None
    if prior is not None:
        weights = Weights(float(lam or 0.0), 1.0 if alpha is None else alpha)
        weights.check()
        after = tests.likelihood_test(lists, information(lists.log_p(), prior, weights, normalise=normalise), known, wrong)
        found[f"log P(s|I) − {weights.lam:g} log P(s)"] = after
        p = tests.p_of_difference(before, after, trials)
    if json is not None:
        write_json({"distractors": [{"caption": t, "count": n} for t, n in generic], "tests": {name: one.to_json() for name, one in found.items()}, "p": p}, json)
        if json == "-":
            return
    heads = {"some": "some human caption", "every": "every human caption", "pairs": "pairs"}
    table = [[name, *(f"{v:.1%} [{low:.1%}, {high:.1%}]" for v, low, high in (one.shares()[key] for key in heads))] for name, one in found.items()]
    print_table(f"Images with a wrong caption that is likelier than … ({len(before.ids):,} images)", ["", *heads.values()], table)
    note(f"{before.left_out:,} images were left out: no distractor is surely wrong there. Distractors: " + "; ".join(f"{t} ({n:,})" for t, n in generic))
    if p is not None:
        note(f"The first column differs with p = {p:.4f} (approximate randomisation).")


def _words(scored: Path, image: str, figure: Path | None) -> None:
    """The captions of an image, word by word."""
    from captious.figures import word_colours
    from captious.rerank.nbest import read_rows

    for row in read_rows(scored, "'captious generate MODEL IMAGES --score CAPTIONS --tokens' writes it"):
        if isinstance(row, dict) and str(row.get("image_id")) == image:
            break
    else:
        raise InputError(f"{scored} has no image {image}")
    lines = [word_colours.WordLine(text, tokens, values) for text, tokens, values in _token_rows(row, scored, image)]
    if figure is None:
        from rich.console import Console

        Console(highlight=False, soft_wrap=True).print(word_colours.terminal(lines))
        return
    text = word_colours.as_svg(lines) if figure.suffix == ".svg" else word_colours.as_html(lines, f"Image {image}")
    write_text(text, str(figure))
    say(f"{figure}: {len(lines):,} captions of image {image}", figure)


def _token_rows(row: dict[str, Any], scored: Path, image: str) -> list[tuple[str, list[str], list[float]]]:
    from captious.rerank.nbest import numbers

    texts, tokens, values = row.get("captions"), row.get("tokens"), row.get("token_logprobs")
    sizes = [len(part) if isinstance(part, list) else -1 for part in (texts, tokens, values)]
    if len(set(sizes)) != 1 or sizes[0] < 1:
        raise InputError(f"{scored} has no log P of single words for image {image}; make it with 'captious generate MODEL IMAGES --score CAPTIONS --tokens'")
    found = []
    for text, words, own in zip(texts, tokens, values):  # type: ignore[arg-type]
        if not isinstance(words, list) or not isinstance(own, list) or len(own) not in (len(words), len(words) + 1):
            raise InputError(f"{scored}, image {image}: 'token_logprobs' has one number for each token, and one for the end")
        found.append((str(text), [str(word) for word in words], numbers(own, len(own), image, str(scored), "token_logprobs")))
    return found
