"""Building of the report: score systems where necessary, compare, explain, measure diversity."""

from __future__ import annotations

import math
import os
import re
import warnings
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from captious._version import __version__
from captious.core.errors import InputError
from captious.corpus import Corpus
from captious.diversity_analysis.sets.set_diversity import read_df
from captious.io import CaptionWarning
from captious.metrics.registry import Wanted, make_measures
from captious.reporting import report_data as content
from captious.reporting.document import Report
from captious.reporting.explanations import explained
from captious.reporting.facets import Groups, facets, read_facets
from captious.reporting.image_links import find_files, is_template
from captious.reporting.language_section import language, set_captions, sets
from captious.reporting.leaderboard import standings
from captious.reporting.object_boxes import boxes
from captious.reporting.report_data import ReportImages, SystemEntry
from captious.reporting.thumbnails import MEGABYTES, Thumbnails, is_available
from captious.reporting.thumbnails import embed as embed_all
from captious.results.comparison import only, saved_names
from captious.results.comparison_result import ALPHA
from captious.results.references import References, Source, distinct, load_systems, tell_apart
from captious.results.saved_scores import SUFFIX, is_saved
from captious.results.scores import Scores
from captious.results.significance import Bootstrap
from captious.text import fluency

#: Captions inspected for faults of fluency, the longest of them in words (the detector often fires on longer
#: descriptions, also by people), and the share from which the report warns.
FLUENCY_SAMPLE = 2000
FLUENCY_LONGEST = 60
FLUENCY_SHARE = 0.05

#: Endings of caption files, which titles leave out.
_ENDINGS = re.compile(r"(\.(jsonl?|csv|tsv|txt|parquet|refs|gz|zst|zip|npz))+$", re.IGNORECASE)


def report(
    *systems: Corpus | Scores | Source,
    references: Source | None = None,
    samples: Sequence[Source] | Source = (),
    objects: Any = None,
    images: str | os.PathLike[str] | None = None,
    embed: float | None = None,
    group: Groups | None = None,
    group_file: Any = None,
    metrics: Wanted | None = None,
    names: Iterable[str | None] | None = None,
    title: str | None = None,
    corpus: bool = True,
    alpha: float = ALPHA,
    bootstrap: Bootstrap | None = None,
    tokenizer: str | None = None,
    subset: bool = False,
    several: bool | None = None,
    **options: Any,
) -> Report:
    """Build an HTML report about one or more systems: ``report(…).save("report.html")``.

    Parameters
    ----------
    systems
        Corpora, scores, paths of saved scores (``NAME.scores``), or (with ``references``) predictions as for
        :func:`captious.load`.
    references
        References. Required for predictions. With saved scores, they allow the page to show references and
        explanations.
    samples
        Several captions per image, one source per system, for the diversity of sets. Requires references.
    objects
        Objects in each image (a path or a mapping). Adds CHAIR, unless ``metrics`` is set.
    images
        A folder with the pictures, or a pattern such as ``https://example.org/{id}.jpg``.
    embed
        Size of all thumbnails of a folder's pictures inside the page, in megabytes (default: 20, if Pillow is
        installed). With 0, and for patterns, pictures are linked.
    group, group_file
        Columns with groups of images ("split", "domain", or "length" for thirds), which become tables
        and filters; or a mapping from the column's name to the group of each image. Columns are read from
        ``group_file``, by default the references.
    metrics
        Metrics as for :func:`captious.score` (default: "coco", or those of the saved scores). Options of
        metrics are keyword arguments.
    names, tokenizer, subset, several
        As for :func:`captious.load_systems`.
    options
        Options of the metrics.
    title
        Title of the page (default: the systems and the file of the references).
    corpus
        Whether to add the language section, which parses all captions.
    alpha, bootstrap
        Significance level of the paired tests, and settings of the intervals.

    Returns
    -------
    Report
        The page. :meth:`Report.save` writes it, and notebooks show it.

    Examples
    --------
    >>> from captious import score
    >>> references = {1: ["a dog runs"], 2: ["a cat sleeps"]}
    >>> own = score(references, {1: "a dog sits", 2: "a cat sleeps"}, "BLEU-1", name="own")
    >>> "<html" in report(own).html()
    True
    """
    if objects is not None:
        options["objects"] = objects
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", CaptionWarning)
        loading = {"tokenizer": tokenizer, "subset": subset, "several": several}
        built = _build_report(
            systems,
            references,
            samples,
            images,
            embed,
            read_facets(group, group_file if group_file is not None else references),
            metrics,
            names,
            title,
            corpus,
            alpha,
            bootstrap or Bootstrap(),
            loading,
            options,
        )
    for message in caught:
        warnings.warn_explicit(message.message, message.category, message.filename, message.lineno)
    # The page itself counts empty captions.
    messages = [
        str(m.message)
        for m in caught
        if issubclass(m.category, CaptionWarning) and "have no words" not in str(m.message)
    ]
    built.meta["warnings"] += [_sentence(text) for text in dict.fromkeys(messages)]
    return built


def _build_report(
    systems: Sequence[Any],
    references: Any,
    samples: Any,
    images: Any,
    embed: float | None,
    columns: Mapping[str, Mapping[Any, Any]],
    metrics: Wanted | None,
    names: Iterable[str | None] | None,
    title: str | None,
    corpus: bool,
    alpha: float,
    bootstrap: Bootstrap,
    loading: Mapping[str, Any],
    options: dict[str, Any],
) -> Report:
    if not systems:
        raise InputError(
            "nothing to report on; pass systems (captions with references, scores, or NAME.scores)"
        )
    # References are read, encoded and prepared once for all systems.
    reference_captions = References.read(references, loading["tokenizer"]) if references is not None else None
    entries = _entries(systems, reference_captions, metrics, names, loading, options)
    without_scores = next((entry.name for entry in entries if not len(entry.scores)), None)
    if without_scores is not None:
        raise InputError(
            f"{without_scores} has no scores to report on; select metrics (--metrics, metrics=…)"
        )
    page_images = ReportImages(entries)
    board, incomparable = standings([entry.scores for entry in entries], bootstrap, alpha)
    blocks: dict[str, Any] = {"captions": content.captions(page_images)}
    blocks["scores"] = content.scores(page_images, [metric["name"] for metric in board["metrics"]])
    blocks |= explained(page_images, options)
    meta: dict[str, Any] = {
        "title": title if title is not None else _title(entries, references),
        "version": __version__,
        "images": len(page_images),
        "references": _reference_sizes(entries),
        "systems": [_describe_system(entry) for entry in entries],
        **board,
        "explanations": [name for name in blocks if name not in ("captions", "scores")],
        "facets": [],
        "warnings": [*_warnings(entries), *incomparable],
    }
    if columns:
        meta["facets"], blocks["groups"] = facets(page_images, columns, bootstrap)
    sample_sources = _sources(samples)
    if sample_sources:
        sample_corpora = _samples(sample_sources, reference_captions, entries, loading)
        meta["sets"], measured = sets(sample_corpora, read_df(options.get("df")), bootstrap)
        blocks["sets"] = set_captions(page_images, measured)
    if corpus:
        language_data = _language(entries)
        if language_data is not None:
            meta["language"] = language_data
    folder = os.fspath(images) if images is not None else None
    thumbnails = _thumbnails(folder, page_images.ids, embed)
    found_boxes = boxes(options.get("objects"), page_images.ids, thumbnails)
    if found_boxes is not None:
        blocks["boxes"] = found_boxes
    return Report(
        meta, blocks, page_images.ids, folder, thumbnails.addresses if thumbnails is not None else None
    )


def _thumbnails(images: str | None, ids: Sequence[str], embed: float | None) -> Thumbnails | None:
    """Return thumbnails of the pictures in a folder, or None if they are linked."""
    if embed is not None and not (embed >= 0 and math.isfinite(embed)):
        raise InputError(f"the size of embedded pictures is a number of megabytes, not {embed:g} (--embed)")
    if images is None or is_template(images) or embed == 0:
        return None
    if embed is None and not is_available():
        warnings.warn(
            CaptionWarning(
                "pictures are linked, not embedded: thumbnails need Pillow (pip install 'captious[pictures]')"
            ),
            stacklevel=2,
        )
        return None
    paths = find_files(Path(images), ids)
    made = embed_all(paths, MEGABYTES if embed is None else embed)
    if made is None:
        warnings.warn(
            CaptionWarning(
                f"pictures are linked, not embedded: {sum(path is not None for path in paths):,} thumbnails "
                f"do not fit in {MEGABYTES if embed is None else embed:g} MB (--embed MB allows more)"
            ),
            stacklevel=2,
        )
    return made


def _title(entries: Sequence[SystemEntry], references: Any) -> str:
    """Name the systems, if they are few, and the file of the references."""
    names = [entry.name for entry in entries]
    what = (
        f"{len(names)} systems"
        if len(names) > 3
        else " and ".join([", ".join(names[:-1]), names[-1]][len(names) < 2 :])
    )
    is_file = isinstance(references, str | os.PathLike)
    return f"{what} on {_ENDINGS.sub('', Path(references).name)}" if is_file else what


def _entries(
    systems: Sequence[Any],
    references: References | None,
    metrics: Wanted | None,
    names: Iterable[str | None] | None,
    loading: Mapping[str, Any],
    options: dict[str, Any],
) -> list[SystemEntry]:
    system_names = list(names) if names is not None else [None] * len(systems)
    if len(system_names) != len(systems):
        raise InputError(
            f"{len(systems)} systems were given and {len(system_names)} names; there must be as many "
            "(--name, names=…)"
        )
    paths = [Path(item) if is_saved(item) else None for item in systems]
    loaded = [Scores.load(item) if is_saved(item) else item for item in systems]
    unscored = [i for i, item in enumerate(loaded) if not isinstance(item, Scores | Corpus)]
    if unscored and references is None:
        raise InputError(
            "captions need references to be scored: report(…, references=…), 'captious report REFS "
            f"SYSTEM…' (or give NAME{SUFFIX} alone)"
        )
    for i, corpus_of in zip(
        unscored,
        load_systems(
            references, [loaded[i] for i in unscored], names=[system_names[i] for i in unscored], **loading
        )
        if unscored
        else (),
    ):
        loaded[i] = corpus_of
    corpora = [item for item in loaded if isinstance(item, Corpus)]
    saved = [item for item in loaded if isinstance(item, Scores)]
    requested = (
        metrics
        if metrics is not None
        else [name for name in saved[0] if all(name in s for s in saved)]
        if saved
        else _default_metrics(options)
    )
    # The panel of objects uses its options even if CHAIR is not among the metrics.
    measures = make_measures(requested, options, spare=("objects", "chair_synonyms")) if corpora else []
    scored = iter(Scores.of_corpora(corpora, measures))
    entries = []
    for item in loaded:
        if isinstance(item, Corpus):
            entries.append(SystemEntry(next(scored), item))
        else:
            chosen = item if metrics is None or corpora else only(item, saved_names(metrics, item))
            entries.append(SystemEntry(chosen, _with_references(item, references, loading)))
    labels = tell_apart([name or entry.name for entry, name in zip(entries, system_names)], paths)
    for entry, name in zip(entries, distinct(labels)):
        # Copy the scores: the caller's object keeps its name.
        entry.scores = Scores(name, list(entry.scores.values()), entry.scores.captions, entry.scores.lengths)
    return entries


def _default_metrics(options: Mapping[str, Any]) -> Wanted:
    return ["coco", "CHAIRs", "CHAIRi"] if options.get("objects") is not None else "coco"


def _with_references(
    scores: Scores, references: References | None, loading: Mapping[str, Any]
) -> Corpus | None:
    """Rebuild the corpus of saved captions with their references."""
    saved = scores.captions
    if references is None or saved is None or saved.texts is None:
        return None
    bounds = saved.image_offsets.tolist()
    source = {image: list(saved.texts[a:b]) for image, a, b in zip(saved.ids, bounds[:-1], bounds[1:])}
    (corpus,) = load_systems(references, [source], names=[scores.system], subset=True, several=True)
    return corpus


def _samples(
    samples: Sequence[Any],
    references: References | None,
    entries: Sequence[SystemEntry],
    loading: Mapping[str, Any],
) -> list[Corpus]:
    """Return the corpora of several captions per image; files and mappings among ``samples`` are read."""
    with_references = next(
        (entry.corpus for entry in entries if entry.corpus is not None and entry.corpus.has_references), None
    )
    if references is None and with_references is None:
        raise InputError(
            "the diversity of samples is shown beside accuracy, which needs references (references=…)"
        )
    corpora = [one for one in samples if isinstance(one, Corpus)]
    loaded = iter(
        load_systems(
            references,
            [one for one in samples if not isinstance(one, Corpus)],
            **{**loading, "several": True},
        )
        if len(corpora) < len(samples)
        else ()
    )
    return [one if isinstance(one, Corpus) else next(loaded) for one in samples]


def _sources(samples: Any) -> list[Any]:
    if isinstance(samples, str | os.PathLike | Mapping | Corpus) or hasattr(samples, "columns"):
        return [samples]
    return list(samples)


def _language(entries: Sequence[SystemEntry]) -> dict[str, Any] | None:
    """Return the language section for systems with the same references, else None."""
    with_references = [entry for entry in entries if entry.corpus is not None and entry.corpus.has_references]
    if (
        not with_references
        or len({entry.corpus.references.digest for entry in with_references if entry.corpus is not None}) > 1
    ):
        return None
    first = with_references[0].corpus
    assert first is not None
    with warnings.catch_warnings():
        # Already reported when the captions were read.
        warnings.filterwarnings("ignore", ".*have no words", CaptionWarning)
        return language(
            _texts(first.references),
            {
                entry.name: _texts(entry.corpus.candidates)
                for entry in with_references
                if entry.corpus is not None
            },
            subset=True,
        )


def _texts(captions: Any) -> dict[str, list[str]]:
    bounds = captions.image_offsets.tolist()
    texts = list(captions.texts)
    return {image: texts[a:b] for image, a, b in zip(captions.ids, bounds[:-1], bounds[1:])}


def _reference_sizes(entries: Sequence[SystemEntry]) -> str | None:
    return next(
        (e.corpus.references.sizes for e in entries if e.corpus is not None and e.corpus.has_references), None
    )


def _describe_system(entry: SystemEntry) -> dict[str, Any]:
    corpus, saved = entry.corpus, entry.scores.captions
    captions = corpus.candidates if corpus is not None else None
    counts = (
        captions.per_image
        if captions is not None
        else np.diff(saved.image_offsets)
        if saved is not None
        else None
    )
    return {
        "name": entry.name,
        "captions": int(counts.sum()) if counts is not None else None,
        "words": round(float(captions.lengths.mean()), 2) if captions is not None and len(captions) else None,
    }


def _warnings(entries: Sequence[SystemEntry]) -> list[str]:
    out = []
    for entry in entries:
        corpus = entry.corpus
        if corpus is None:
            continue
        empty = int((corpus.candidates.lengths == 0).sum())
        if empty:
            out.append(
                f"{entry.name}: {empty:,} of {len(corpus.candidates):,} captions have no words; they are "
                "scored as empty."
            )
        texts = corpus.candidates.texts[:FLUENCY_SAMPLE]
        sample = [text for text in texts if len(text.split(maxsplit=FLUENCY_LONGEST)) <= FLUENCY_LONGEST]
        fires = fluency.load().error_probability(sample) > fluency.THRESHOLD
        if len(sample) and fires.mean() > FLUENCY_SHARE:
            example = sample[int(np.flatnonzero(fires)[0])]
            out.append(
                f"{entry.name}: {int(fires.sum()):,} of {len(sample):,} captions are probably not "
                f"fluent, such as “{example[:80]}” (metric FluencyError)."
            )
        if corpus.left_out:
            out.append(
                f"{entry.name}: {corpus.left_out:,} images of the references have no caption and are left "
                "out; scores are of the others."
            )
    first = next(
        (entry.corpus for entry in entries if entry.corpus is not None and entry.corpus.has_references), None
    )
    if first is not None:
        per_image = first.references.per_image
        if len(per_image) and per_image.min() != per_image.max():
            out.append(
                f"Images have {per_image.min()} to {per_image.max()} references. Metrics that take the best "
                "reference are kinder to images with more of them."
            )
        empty = int((first.references.lengths == 0).sum())
        if empty:
            out.append(f"{empty:,} of {len(first.references):,} references have no words.")
    if any(len(scores.ids) < 100 for entry in entries for scores in entry.scores.values()):
        out.append("There are fewer than 100 images: intervals are wide, and small differences mean little.")
    return out


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", "?")) else ".")
