"""Corpus diversity of systems, and of the people who wrote the references."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from captious.core.errors import InputError, MissingInputError
from captious.core.progress import track
from captious.core.writing import is_standard
from captious.diversity_analysis.corpus.corpus_result import CorpusDiversity, CorpusReport
from captious.diversity_analysis.corpus.corpus_study import CorpusStudy
from captious.io import CaptionFile, read
from captious.metrics import registry
from captious.metrics.corpus.corpus_measure import CorpusMeasure, TreeMeasure
from captious.metrics.corpus.corpus_word_lists import Norms
from captious.metrics.corpus.novel_captions import TrainingCaptions
from captious.parser.choice import Parser
from captious.parser.choice import get as get_parser
from captious.results.references import References, check_repeated, tell_apart

#: Tokenizer of the published study. See docs/reference/metrics/corpus-diversity.md.
TOKENIZER = "spacy-like"
SEED = 1
#: Orders in which captions can be read.
ORDERS = ("file", "id")

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
    over_images: str = "pooled",
    order: str = "file",
    seed: int = SEED,
    jobs: int | None = None,
) -> CorpusDiversity:
    """Measure how diverse the captions of one or more systems are as a whole, and how diverse people are.

    Parameters
    ----------
    references, predictions
        Paths, mappings or rows; ``predictions`` is one source (a path or a mapping) or a list of them.
    train
        Training captions of the systems. Needed for the share of novel captions, and for global recall to
        know which words can be learned.
    tokenizer
        Name of a tokenizer.
    several, names
        As for :func:`captious.load_systems`.
    subset
        Allow references and predictions to cover different images. Measures that compare them use the images
        of both. Measures without references always use all captions.
    parse
        Whether to compute measures that need tags and trees (compounds, prepositional phrases, local recall,
        complexity, parts of speech).
    parser
        Replacement of the built-in parser: a name, or a :class:`captious.parser.choice.Parser`.
    norms
        Concreteness ratings by word, or a file of them.
    over_images
        Local recall and precision: ``pooled``, all words together, as in the published tables, or ``mean``.
    order
        Order in which captions are read as one text: ``file``, as published, or ``id``, the same for all
        systems. TTR and MTLD depend on it.
    seed
        Random seed of the type-token curve.
    jobs
        Number of threads for parsing. It does not change the results.

    Examples
    --------
    >>> from captious.data import demo_path
    >>> result = corpus_diversity(demo_path("references"), demo_path("good"), parse=False)
    >>> result.systems[0].name
    'good'
    """
    sources = _several_sources(predictions)
    system_names = list(names) if names is not None else [None] * len(sources)
    if len(system_names) != len(sources):
        raise InputError(f"{len(sources)} systems but {len(system_names)} names; pass one name per system")
    for source in [references, *sources, *([train] if train is not None else [])]:
        if isinstance(source, str | Path) and not is_standard(source) and not Path(source).exists():
            raise InputError(f"{source}: no such file")
    if order not in ORDERS:
        raise InputError(f"captions are read in the order of the file or of their ids (id), not '{order}'")
    check_repeated(references, sources)
    # Check the first file before parsing the references, which takes longer.
    first = _file(sources[0], "predictions", several)
    sources[0] = first
    training = TrainingCaptions.read(train) if train is not None else None
    chosen_parser = get_parser(parser) if parse or parser is not None else None
    reference_captions = References.read(references, tokenizer)
    options = {
        "train": training,
        "parser": chosen_parser,
        "norms": Norms.read(norms) if norms is not None else None,
        "over_images": over_images,
    }
    study = CorpusStudy(
        reference_captions,
        corpus_measures(options),
        parser=chosen_parser,
        train=training,
        over_images=over_images,
        by_id=order == "id",
        seed=seed,
        jobs=jobs,
    )
    study.check(first, subset=subset)
    study.prepare()
    humans = study.humans()
    reports: list[CorpusReport] = []
    paths: list[Path | None] = []
    named_sources = list(zip(sources, system_names))
    # Parsing has its own progress bar.
    for source, name in (
        named_sources if chosen_parser is not None else track(named_sources, "measuring systems")
    ):
        file = _file(source, "predictions", several)
        paths.append(file.path if name is None else None)
        reports.append(study.system(file, name or file.system_name, subset=subset))
    for report, unique_name in zip(reports, tell_apart([report.name for report in reports], paths)):
        report.name = unique_name
        if report.scores is not None:
            report.scores.system = unique_name
    return study.result(humans, reports)


def corpus_measures(options: Mapping[str, Any]) -> list[CorpusMeasure]:
    """Return every corpus measure whose inputs are available. Tree measures need a parser."""
    measures: list[CorpusMeasure] = []
    for name in registry.of_family("corpus"):
        measure = registry.create(name, options)
        if not isinstance(measure, CorpusMeasure) or (
            isinstance(measure, TreeMeasure) and options.get("parser") is None
        ):
            continue
        try:
            measure.check()
        except MissingInputError:
            continue
        measures.append(measure)
    return measures


def _several_sources(predictions: Any) -> list[Any]:
    is_single = isinstance(predictions, str | Path | Mapping | CaptionFile) or hasattr(predictions, "columns")
    sources = [predictions] if is_single else list(predictions)
    if not sources:
        raise InputError("no predictions; pass at least one system")
    return sources


def _file(source: Any, role: Any, several: bool | None = None) -> CaptionFile:
    return source if isinstance(source, CaptionFile) else read(source, role, several=several)
