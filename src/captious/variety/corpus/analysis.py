"""Everything about whole corpora of captions: systems, and the people who wrote the references."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from captious.errors import InputError, MissingInputError
from captious.io import CaptionFile, read
from captious.language.parsers import Parser
from captious.language.parsers import get as get_parser
from captious.measures import registry
from captious.names import tell_apart
from captious.progress import track
from captious.references import References
from captious.variety.corpus.base import CorpusMeasure, TreeMeasure
from captious.variety.corpus.result import CorpusDiversity, Report
from captious.variety.corpus.study import CorpusStudy
from captious.variety.corpus.word_lists import Norms
from captious.variety.training_captions import TrainingCaptions
from captious.writing import is_standard

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
    parser: Parser | str | None = None,
    norms: Norms | str | Path | Mapping[str, float] | None = None,
    seed: int = SEED,
    jobs: int | None = None,
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
        Allow references and predictions to cover different images. Measures that compare them use the images that
        both have; measures that need no references always use all captions.
    parse
        Whether to compute what needs tags and trees (compounds, prepositional phrases, local recall, complexity, parts
        of speech). ``parser`` replaces the built-in one: a name, or a parser (:class:`captious.language.parsers.Parser`),
        which signatures name.
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
        if isinstance(source, str | Path) and not is_standard(source) and not Path(source).exists():
            raise InputError(f"{source}: there is no such file")
    # A file that does not belong to the references is best refused before they are parsed.
    first = _file(sources[0], "predictions", several)
    sources[0] = first
    training = TrainingCaptions.read(train) if train is not None else None
    chosen = get_parser(parser) if parse or parser is not None else None
    known = References.read(references, tokenizer)
    options = {"train": training, "parser": chosen, "norms": Norms.read(norms) if norms is not None else None}
    study = CorpusStudy(known, corpus_measures(options), parser=chosen, train=training, seed=seed, jobs=jobs)
    study.check(first, subset=subset)
    study.prepare()
    humans = study.humans()
    reports: list[Report] = []
    paths: list[Path | None] = []
    work = list(zip(sources, called))
    # Parsing has a bar of its own, and two at once would fight for the line.
    for source, name in work if chosen is not None else track(work, "measuring systems"):
        file = _file(source, "predictions", several)
        paths.append(file.path if name is None else None)
        reports.append(study.system(file, name or file.system_name, subset=subset))
    for report, told in zip(reports, tell_apart([report.name for report in reports], paths)):
        report.name = told
        if report.scores is not None:
            report.scores.system = told
    return study.result(humans, reports)


def corpus_measures(options: Mapping[str, Any]) -> list[CorpusMeasure]:
    """Every measure of whole corpora that can run with what is given; those of trees only with a parser."""
    made: list[CorpusMeasure] = []
    for name in registry.of_family("corpus"):
        measure = registry.create(name, options)
        if not isinstance(measure, CorpusMeasure) or (isinstance(measure, TreeMeasure) and options.get("parser") is None):
            continue
        try:
            measure.check()
        except MissingInputError:
            continue
        made.append(measure)
    return made


def _several_sources(predictions: Any) -> list[Any]:
    single = isinstance(predictions, str | Path | Mapping | CaptionFile) or hasattr(predictions, "columns")
    sources = [predictions] if single else list(predictions)
    if not sources:
        raise InputError("no predictions were given; at least one system is needed")
    return sources


def _file(source: Any, role: Any, several: bool | None = None) -> CaptionFile:
    return source if isinstance(source, CaptionFile) else read(source, role, several=several)
