"""Everything about whole corpora of captions: systems, and the people who wrote the references."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from captious.corpus import offsets_of
from captious.diversity.corpus import word_lists
from captious.diversity.corpus.result import CorpusDiversity, Report
from captious.diversity.corpus.study import Study
from captious.diversity.corpus.trees import Parser
from captious.errors import InputError
from captious.io import CaptionFile, read
from captious.progress import track
from captious.text import tokenizers

if TYPE_CHECKING:
    from captious.language import ParsedBatch

#: Reads captions as the published study did: see docs/corpus.md.
TOKENIZER = "spacy-like"
SEED = 1

Source = Any


def corpus_diversity(
    references: Source,
    predictions: Source | Iterable[Source],
    *,
    train: Source | None = None,
    tokenizer: str = TOKENIZER,
    subset: bool = False,
    several: bool | None = None,
    names: Iterable[str | None] | None = None,
    parse: bool = True,
    parser: Parser | None = None,
    norms: str | Path | Mapping[str, float] | None = None,
    seed: int = SEED,
    jobs: int = 1,
) -> CorpusDiversity:
    """Measure how diverse the captions of one or more systems are as a whole, and how diverse people are.

    Parameters
    ----------
    references, predictions
        Paths, mappings or rows; ``predictions`` is one source (a path or a mapping) or a list of them.
    train
        The captions the systems were trained on: needed for the share of novel captions, and for global recall to know
        which words can be learned.
    subset
        Allow references and predictions to be of different images: what compares them is computed on the images that
        both have. What needs no references is always computed on all captions.
    parse
        Whether to compute what needs tags and trees (compounds, prepositional phrases, local recall, complexity, parts
        of speech). ``parser`` replaces the built-in one.
    norms
        Concreteness ratings by word, or a file of them.
    seed
        Seeds the random orders of the type-token curve.
    jobs
        Threads for parsing; the numbers are the same.
    """
    sources = _several_sources(predictions)
    called = list(names) if names is not None else [None] * len(sources)
    if len(called) != len(sources):
        raise InputError(f"{len(sources)} systems were given and {len(called)} names")
    for source in [references, *sources, *([train] if train is not None else [])]:
        if isinstance(source, str | Path) and not Path(source).is_file():
            raise InputError(f"{source}: there is no such file")
    study = Study(_file(references, "references"), tokenizer=tokenizer, seed=seed)
    if norms is not None:
        study.norms = dict(norms) if isinstance(norms, Mapping) else word_lists.read_norms(norms)
    # A file that does not belong to the references is best refused before they are parsed.
    first = _file(sources[0], "predictions", several)
    study.check(first, subset=subset)
    sources[0] = first
    if parse or parser is not None:
        study.parse_references(parser or built_in_parser(jobs))
    if train is not None:
        study.add_training(_file(train, "references"))
    humans = study.humans()
    reports = []
    work = list(zip(sources, called))
    # Parsing has a bar of its own, and two at once would fight for the line.
    for source, name in work if study.bank is not None else track(work, "measuring systems"):
        file = _file(source, "predictions", several)
        reports.append(study.system(file, name or file.system_name, subset=subset))
    _refuse_equal_names(reports)
    return study.result(humans, reports)


def built_in_parser(jobs: int = 1) -> Parser:
    """Parses by :mod:`captious.language`, of PTB tokens without punctuation."""

    def parser(texts: Sequence[str]) -> ParsedBatch:
        from captious.language import parse_batch

        words, counts = tokenizers.get("ptb")(texts)
        bounds = offsets_of(counts).tolist()
        return parse_batch([words[a:b] for a, b in pairwise(bounds)], jobs=jobs)

    return parser


def _several_sources(predictions: Any) -> list[Any]:
    single = isinstance(predictions, str | Path | Mapping | CaptionFile) or hasattr(predictions, "columns")
    sources = [predictions] if single else list(predictions)
    if not sources:
        raise InputError("no predictions were given; at least one system is needed")
    return sources


def _file(source: Any, role: Any, several: bool | None = None) -> CaptionFile:
    return source if isinstance(source, CaptionFile) else read(source, role, several=several)


def _refuse_equal_names(reports: list[Report]) -> None:
    seen: dict[str, int] = {}
    for report in reports:
        seen[report.name] = seen.get(report.name, 0) + 1
        if seen[report.name] > 1:
            report.name = f"{report.name} ({seen[report.name]})"
