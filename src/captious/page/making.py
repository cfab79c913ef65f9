"""From systems to the page: score what is not scored yet, compare, explain, measure diversity."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from captious._version import __version__
from captious.comparison import ALPHA
from captious.corpus import Corpus
from captious.errors import InputError
from captious.frequencies import DocumentFrequencies
from captious.io import CaptionWarning
from captious.measures.making import make_measures
from captious.measures.registry import Wanted
from captious.names import distinct, tell_apart
from captious.page import content
from captious.page.content import Entry, Images
from captious.page.explanations import explained
from captious.page.output import Report
from captious.page.standings import standings
from captious.page.variety import language, set_captions, sets
from captious.progress import track
from captious.records import SUFFIX, ScoredCaptions
from captious.references import References, Source, load_systems
from captious.scores import Score, Scores
from captious.significance import Bootstrap
from captious.variety.sets.api import read_df

TITLE = "Caption report"


def report(
    *systems: Corpus | Scores | Source,
    references: Source | None = None,
    samples: Sequence[Source] | Source = (),
    objects: Any = None,
    images: str | os.PathLike[str] | None = None,
    metrics: Wanted | None = None,
    names: Iterable[str | None] | None = None,
    title: str = TITLE,
    corpus: bool = True,
    alpha: float = ALPHA,
    bootstrap: Bootstrap = Bootstrap(),  # noqa: B008
    tokenizer: str | None = None,
    subset: bool = False,
    several: bool | None = None,
    **options: Any,
) -> Report:
    """A page about one or more systems, to be looked at in a browser: ``report(…).save("report.html")``.

    Parameters
    ----------
    systems
        Corpora, scores, paths of saved scores (``NAME.scores``); with ``references`` also predictions as
        :func:`captious.load` takes them.
    references
        Needed for predictions. Beside scores they let the page show the references and explain the scores.
    samples
        Several captions per image, one source per system: for the diversity of sets. Needs references.
    objects
        What is in each image (a path or a mapping): adds CHAIR, unless ``metrics`` says otherwise.
    images
        A folder with the pictures, or a pattern such as ``https://example.org/{id}.jpg``.
    metrics
        As for :func:`captious.score`; "coco" unless told, and all that scores have. Options of metrics follow by name.
    corpus
        Whether to measure the language of the systems as a whole, which parses all captions.
    alpha, bootstrap
        Of the paired tests, and of the intervals.
    """
    if objects is not None:
        options["objects"] = objects
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", CaptionWarning)
        loading = {"tokenizer": tokenizer, "subset": subset, "several": several}
        made = _made(systems, references, samples, images, metrics, names, title, corpus, alpha, bootstrap, loading, options)
    for message in said:
        warnings.warn_explicit(message.message, message.category, message.filename, message.lineno)
    # Empty captions are counted on the page itself.
    extra = [str(m.message) for m in said if issubclass(m.category, CaptionWarning) and "have no words" not in str(m.message)]
    made.meta["warnings"] += [_sentence(text) for text in dict.fromkeys(extra)]
    return made


def _made(
    systems: Sequence[Any], references: Any, samples: Any, images: Any, metrics: Wanted | None, names: Iterable[str | None] | None,
    title: str, corpus: bool, alpha: float, bootstrap: Bootstrap, loading: Mapping[str, Any], options: dict[str, Any],
) -> Report:  # fmt: skip
    if not systems:
        raise InputError("there is nothing to report on: give systems (captions with references, scores, or NAME.scores)")
    # One object for all: references are read, encoded and prepared once.
    known = References.read(references, loading["tokenizer"]) if references is not None else None
    entries = _entries(systems, known, metrics, names, loading, options)
    bare = next((entry.name for entry in entries if not len(entry.scores)), None)
    if bare is not None:
        raise InputError(f"{bare} has no scores to report on; name metrics (--metrics, metrics=…)")
    seen = Images(entries)
    board, apart = standings([entry.scores for entry in entries], bootstrap, alpha)
    blocks: dict[str, Any] = {"captions": content.captions(seen)}
    blocks["scores"] = content.scores(seen, [metric["name"] for metric in board["metrics"]])
    blocks |= explained(seen, options)
    meta: dict[str, Any] = {
        "title": title,
        "version": __version__,
        "images": len(seen),
        "references": _sizes(entries),
        "systems": [_described(entry) for entry in entries],
        **board,
        "explanations": [name for name in blocks if name not in ("captions", "scores")],
        "warnings": [*_warnings(entries), *apart],
    }
    listed = _sources(samples)
    if listed:
        sampled = _samples(listed, known, entries, loading)
        meta["sets"], measured = sets(sampled, _df(options), bootstrap)
        blocks["sets"] = set_captions(seen, measured)
    if corpus:
        told = _language(entries)
        if told is not None:
            meta["language"] = told
    return Report(meta, blocks, seen.ids, os.fspath(images) if images is not None else None)


def _entries(
    systems: Sequence[Any], references: References | None, metrics: Wanted | None, names: Iterable[str | None] | None,
    loading: Mapping[str, Any], options: dict[str, Any],
) -> list[Entry]:  # fmt: skip
    called = list(names) if names is not None else [None] * len(systems)
    if len(called) != len(systems):
        raise InputError(f"{len(systems)} systems were given and {len(called)} names; there must be as many (--name, names=…)")
    paths = [Path(one) if _is_saved(one) else None for one in systems]
    loaded = [Scores.load(one) if _is_saved(one) else one for one in systems]
    fresh = [i for i, one in enumerate(loaded) if not isinstance(one, Scores | Corpus)]
    if fresh and references is None:
        raise InputError(
            f"captions need references to be scored: report(…, references=…), 'captious report REFS SYSTEM…' (or give NAME{SUFFIX} alone)"
        )
    for i, found in zip(fresh, load_systems(references, [loaded[i] for i in fresh], names=[called[i] for i in fresh], **loading) if fresh else ()):
        loaded[i] = found
    corpora = [one for one in loaded if isinstance(one, Corpus)]
    saved = [one for one in loaded if isinstance(one, Scores)]
    wanted = metrics if metrics is not None else [name for name in saved[0] if all(name in s for s in saved)] if saved else _default(options)
    measures = make_measures(wanted, options) if corpora else []
    scored: dict[int, list[Score]] = {}
    for corpus, measure in track([(corpus, measure) for corpus in corpora for measure in measures], "scoring"):
        scored.setdefault(id(corpus), []).append(Score.of(measure, corpus))
    entries = []
    for one in loaded:
        if isinstance(one, Corpus):
            entries.append(Entry(Scores(one.name, scored[id(one)], ScoredCaptions.of(one)), one))
        else:
            chosen = one if metrics is None or corpora else _only(one, metrics)
            entries.append(Entry(chosen, _with_references(one, references, loading)))
    told = tell_apart([name or entry.name for entry, name in zip(entries, called)], paths)
    for entry, name in zip(entries, distinct(told)):
        # The scores are somebody else's, and keep their name.
        entry.scores = Scores(name, list(entry.scores.values()), entry.scores.captions)
    return entries


def _is_saved(one: Any) -> bool:
    return isinstance(one, str | os.PathLike) and os.fspath(one).endswith(SUFFIX)


def _default(options: Mapping[str, Any]) -> Wanted:
    return ["coco", "CHAIRs", "CHAIRi"] if options.get("objects") is not None else "coco"


def _only(scores: Scores, metrics: Wanted) -> Scores:
    from captious.comparison import only, saved_names

    return only(scores, saved_names(metrics, scores))


def _with_references(scores: Scores, references: References | None, loading: Mapping[str, Any]) -> Corpus | None:
    """The captions that were scored, beside their references again."""
    kept = scores.captions
    if references is None or kept is None or kept.texts is None:
        return None
    bounds = kept.image_offsets.tolist()
    source = {image: list(kept.texts[a:b]) for image, a, b in zip(kept.ids, bounds[:-1], bounds[1:])}
    (found,) = load_systems(references, [source], names=[scores.system], subset=True, several=True)
    return found


def _samples(listed: Sequence[Any], references: References | None, entries: Sequence[Entry], loading: Mapping[str, Any]) -> list[Corpus]:
    own = next((entry.corpus for entry in entries if entry.corpus is not None and entry.corpus.has_references), None)
    if references is None and own is None:
        raise InputError("the diversity of samples is shown beside accuracy, which needs references (references=…)")
    made = [one for one in listed if isinstance(one, Corpus)]
    fresh = iter(load_systems(references, [one for one in listed if not isinstance(one, Corpus)], **{**loading, "several": True}) if len(made) < len(listed) else ())
    return [one if isinstance(one, Corpus) else next(fresh) for one in listed]


def _sources(samples: Any) -> list[Any]:
    if isinstance(samples, str | os.PathLike | Mapping | Corpus) or hasattr(samples, "columns"):
        return [samples]
    return list(samples)


def _df(options: Mapping[str, Any]) -> DocumentFrequencies | None:
    return read_df(options.get("df"))


def _language(entries: Sequence[Entry]) -> dict[str, Any] | None:
    """Whole corpora, of systems that have references; nothing where they are not of the same ones."""
    known = [entry for entry in entries if entry.corpus is not None and entry.corpus.has_references]
    if not known or len({entry.corpus.references.digest for entry in known if entry.corpus is not None}) > 1:
        return None
    first = known[0].corpus
    assert first is not None
    with warnings.catch_warnings():
        # Said already, when the captions were read.
        warnings.filterwarnings("ignore", ".*have no words", CaptionWarning)
        return language(_texts(first.references), {entry.name: _texts(entry.corpus.candidates) for entry in known if entry.corpus is not None}, subset=True)


def _texts(captions: Any) -> dict[str, list[str]]:
    bounds = captions.image_offsets.tolist()
    texts = list(captions.texts)
    return {image: texts[a:b] for image, a, b in zip(captions.ids, bounds[:-1], bounds[1:])}


def _sizes(entries: Sequence[Entry]) -> str | None:
    return next((e.corpus.references.sizes for e in entries if e.corpus is not None and e.corpus.has_references), None)


def _described(entry: Entry) -> dict[str, Any]:
    corpus, kept = entry.corpus, entry.scores.captions
    captions = corpus.candidates if corpus is not None else None
    counts = captions.per_image if captions is not None else np.diff(kept.image_offsets) if kept is not None else None
    return {
        "name": entry.name,
        "captions": int(counts.sum()) if counts is not None else None,
        "words": round(float(captions.lengths.mean()), 2) if captions is not None and len(captions) else None,
    }


def _warnings(entries: Sequence[Entry]) -> list[str]:
    out = []
    for entry in entries:
        corpus = entry.corpus
        if corpus is None:
            continue
        empty = int((corpus.candidates.lengths == 0).sum())
        if empty:
            out.append(f"{entry.name}: {empty:,} of {len(corpus.candidates):,} captions have no words; they are scored as empty.")
        if corpus.left_out:
            out.append(f"{entry.name}: {corpus.left_out:,} images of the references have no caption and are left out; scores are of the others.")
    first = next((entry.corpus for entry in entries if entry.corpus is not None and entry.corpus.has_references), None)
    if first is not None:
        per_image = first.references.per_image
        if len(per_image) and per_image.min() != per_image.max():
            out.append(
                f"Images have {per_image.min()} to {per_image.max()} references. Metrics that take the best reference are kinder to images with more of them."
            )
        empty = int((first.references.lengths == 0).sum())
        if empty:
            out.append(f"{empty:,} of {len(first.references):,} references have no words.")
    if any(len(scores.ids) < 100 for entry in entries for scores in entry.scores.values()):
        out.append("There are fewer than 100 images: intervals are wide, and small differences mean little.")
    return out


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", "?")) else ".")
