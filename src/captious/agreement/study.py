"""Judgements with scores of metrics: captions or systems are scored once, under the set's protocol."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from captious.agreement.coefficients import FloatArray, IntArray
from captious.agreement.judgement_table import JudgementTable
from captious.core.errors import InputError, did_you_mean
from captious.core.progress import track
from captious.corpus import Corpus
from captious.io.judgements import (
    CaptionPairs,
    JudgementSet,
    RatedCaptions,
    RatedSystems,
    own_key,
    plain_words,
)
from captious.metrics.base import NamesWrongWords
from captious.metrics.registry import make_measures
from captious.results.references import load_systems
from captious.results.scores import Score

#: Default metrics of `captious agreement`.
METRICS = (
    "BLEU-1,BLEU-4,ROUGE-L,METEOR,CIDEr-D,SPICE,SPICE-U,HWCM-1,HWCM-2,HWCM-3,HWCM-4,"
    "WMD,MOWE,WEmbSim,SentenceSim"
)

#: Smaller differences between two scores are rounding errors and count as ties.
TIE = 1e-12


@dataclass(frozen=True)
class CaptionScores:
    """One metric's score of each caption (or system), negated where lower is better."""

    metric: str
    values: FloatArray
    signature: str
    #: Words that the metric blames in each caption, where it can name them.
    wrong_words: Sequence[str] | None = None


class Study:
    """Judgements with scores. ``tables`` has the whole set first, then its parts."""

    def __init__(self, judged: JudgementSet, tables: Sequence[JudgementTable]) -> None:
        self.judged = judged
        self.tables = list(tables)

    @property
    def whole(self) -> JudgementTable:
        return self.tables[0]

    @property
    def metrics(self) -> list[str]:
        return list(self.whole.scores)

    @classmethod
    def of(
        cls,
        judged: JudgementSet,
        metrics: Any = METRICS,
        *,
        options: Mapping[str, Any] | None = None,
        protocol: Mapping[str, Any] | None = None,
        published: bool = False,
    ) -> Study:
        """Score a set of judgements.

        ``protocol`` overrides parts of the set's own protocol (``{"judges": "mean"}``). ``published`` adds
        the scores published with the set.
        """
        if protocol:
            judged = replace(judged, protocol=replace(judged.protocol, **protocol))
        if isinstance(judged, RatedSystems):
            requested = {measure.name for measure in make_measures(metrics, dict(options or {}))}
            selected = {name: values for name, values in judged.scores.items() if name in requested}
            return cls(judged, _systems_tables(replace(judged, scores=selected or judged.scores)))
        measures = make_measures(metrics, dict(options or {}))
        if isinstance(judged, CaptionPairs):
            return cls(judged, _pair_tables(judged, measures))
        return cls(judged, _rated_tables(judged, measures, published))

    @classmethod
    def of_systems(
        cls,
        judged: RatedSystems,
        references: Any,
        predictions: Mapping[str, Any],
        metrics: Any = METRICS,
        *,
        options: Mapping[str, Any] | None = None,
        subset: bool = False,
    ) -> Study:
        """Score judged systems from their predictions instead of taking a leaderboard's scores.

        Names of predictions and judged systems are compared by letters and digits only. Judged systems
        without predictions are skipped.
        """
        by_key = {own_key(name): source for name, source in predictions.items()}
        scored_rows = [k for k, name in enumerate(judged.systems) if own_key(name) in by_key]
        if len(scored_rows) < 3:
            raise InputError(
                f"{judged.name}: predictions match {len(scored_rows)} of the judged systems; at least 3 "
                f"are needed (judged: {', '.join(judged.systems)}; predictions: {', '.join(predictions)})"
            )
        names = [judged.systems[k] for k in scored_rows]
        chosen = {name: by_key[own_key(name)] for name in names}
        scored = score_systems(references, chosen, make_measures(metrics, dict(options or {})), subset=subset)
        human = {criterion: values[scored_rows] for criterion, values in judged.human.items()}
        rated = replace(
            judged, systems=names, human=human, scores={item.metric: item.values for item in scored}
        )
        signatures = {item.metric: item.signature for item in scored}
        return cls(rated, [replace(table, signatures=signatures) for table in _systems_tables(rated)])

    def choose(self, names: str | Sequence[str] | None) -> list[str]:
        """Return metrics of this study by name (case-insensitive), or all of them for None."""
        if names is None:
            return self.metrics
        wanted = [part.strip() for part in names.split(",")] if isinstance(names, str) else list(names)
        by_fold = {name.casefold(): name for name in self.metrics}
        for name in wanted:
            if name.casefold() not in by_fold:
                raise InputError(
                    f"'{name}' was not measured{did_you_mean(name, self.metrics)}; add it to the metrics (-m)"
                )
        return list(dict.fromkeys(by_fold[name.casefold()] for name in wanted))


def score_captions(
    groups: Sequence[Sequence[str]],
    references: Sequence[Sequence[str]] | None,
    metrics: Sequence[Any],
    name: str = "captions",
    images: Sequence[str] | None = None,
    name_words: bool = False,
) -> list[CaptionScores]:
    """Score groups of captions, each group with its own references, as entries of one corpus.

    An image is repeated for each of its judgements, as in the published experiments: CIDEr's document
    frequencies depend on it. ``images`` are the images of the groups, for metrics that see them. With
    ``name_words``, metrics that can name the words to blame do so.
    """
    ids = [str(k) for k in range(len(groups))]
    corpus = Corpus.build(ids, groups, references, name=name, image_names=images)
    caption_scores = []
    for metric in track(metrics, f"scoring {name}"):
        state = metric.prepare(corpus.references) if corpus.has_references else None
        score = Score.of(metric, corpus, state)
        sign = 1.0 if metric.higher_is_better else -1.0
        words = (
            metric.wrong_words(corpus, state) if name_words and isinstance(metric, NamesWrongWords) else None
        )
        caption_scores.append(CaptionScores(score.name, sign * score.per_caption, score.signature, words))
    return caption_scores


def score_systems(
    references: Any, predictions: Mapping[str, Any], metrics: Sequence[Any], *, subset: bool = False
) -> list[CaptionScores]:
    """Compute the corpus score of each system, from the same sources as :func:`captious.load`."""
    corpora = load_systems(references, list(predictions.values()), subset=subset, names=list(predictions))
    system_scores = []
    for metric in track(metrics, "scoring systems"):
        scores = [Score.of(metric, corpus) for corpus in corpora]
        sign = 1.0 if metric.higher_is_better else -1.0
        system_scores.append(
            CaptionScores(scores[0].name, np.array([sign * s.value for s in scores]), scores[0].signature)
        )
    return system_scores


def _number_distinct(names: Sequence[str]) -> IntArray:
    return (
        np.unique(np.array(names, dtype=object).astype(str), return_inverse=True)[1]
        .reshape(-1)
        .astype(np.int64)
    )


def _word_counts(captions: Sequence[str]) -> IntArray:
    return np.array([len(plain_words(text)) for text in captions], dtype=np.int64)


def draw_references(
    images: Sequence[str], references: Sequence[Sequence[str]], count: int | None, seed: int, draw: int
) -> list[list[int]]:
    """Return the order in which each entry uses its references, by index.

    All entries of an image share the order, so a smaller number of references is a subset of a larger one.
    """
    if count is None:
        return [list(range(len(texts))) for texts in references]
    orders: dict[tuple[str, int], list[int]] = {}
    for image, texts in sorted(set(zip(images, map(len, references)))):
        generator = np.random.default_rng([seed, draw, texts, *image.encode("utf-8", "surrogatepass")])
        orders[image, texts] = generator.permutation(texts).tolist()
    return [orders[image, len(texts)] for image, texts in zip(images, references)]


def _usable_references(
    order: list[int], texts: Sequence[str], without: set[str], count: int | None
) -> list[str]:
    usable = [texts[k] for k in order if not without or own_key(texts[k]) not in without]
    return usable if count is None else usable[:count]


def _rated_tables(judged: RatedCaptions, metrics: Sequence[Any], published: bool) -> list[JudgementTable]:
    """Return the table of all captions, then those of its parts, and those of named wrong words."""
    protocol = judged.protocol
    if protocol.coefficient in ("accuracy", "word named"):
        raise InputError(
            f"{judged.name} has ratings, not pairs: choose tau-b, tau-c, pearson, spearman, ap or auc"
        )
    is_own = _is_own_reference(judged) if protocol.own != "keep" else [False] * len(judged)
    blocks: list[tuple[list[int], list[CaptionScores]]] = []
    for draw in range(protocol.draws if protocol.references else 1):
        orders = draw_references(judged.images, judged.references, protocol.references, protocol.seed, draw)
        chosen: list[int] = []
        references: list[list[str]] = []
        for k, caption in enumerate(judged.captions):
            if is_own[k] and protocol.own == "drop":
                continue
            without = {own_key(caption)} if is_own[k] else set()
            texts = _usable_references(orders[k], judged.references[k], without, protocol.references)
            if texts:
                chosen.append(k)
                references.append(texts)
        if not chosen:
            raise InputError(f"{judged.name}: no caption is left under this protocol ({protocol})")
        caption_scores = score_captions(
            [[judged.captions[k]] for k in chosen],
            references,
            metrics,
            judged.name,
            [judged.images[k] for k in chosen],
            name_words=judged.wrong_words is not None and protocol.level == "caption",
        )
        supplied = {**judged.scores, **(judged.published if published else {})}
        caption_scores += [
            CaptionScores(name, values[chosen], f"{name}|from:{judged.name}")
            for name, values in supplied.items()
        ]
        blocks.append((chosen, caption_scores))
    table = _join_draws(judged, blocks)
    if protocol.level == "system":
        return [_by_system(judged, table)]
    named = _word_table(judged, table, blocks)
    return [part for one in (table, named) if one is not None for part in _with_parts(judged, one)]


def _with_parts(judged: RatedCaptions, table: JudgementTable) -> list[JudgementTable]:
    """Return a table, then its parts by category."""
    category_of = judged.categories or ()
    kinds = sorted({kind for kind in category_of if kind})
    if len(kinds) < 2:
        return [table]
    categories = np.array(category_of, dtype=object)[table.caption]
    return [table, *(table.where(categories == kind, kind) for kind in kinds)]


def _word_table(
    judged: RatedCaptions,
    table: JudgementTable,
    blocks: Sequence[tuple[list[int], list[CaptionScores]]],
) -> JudgementTable | None:
    """Return a row for each caption with marked words: 1 where a metric names one of them, else 0."""
    marked = [{own_key(word) for word in words} - {""} for words in judged.wrong_words or ()]
    answers = {item.metric for _, items in blocks for item in items if item.wrong_words is not None}
    if not answers or not any(marked):
        return None
    hits: dict[str, list[float]] = {}
    captions: list[int] = []
    for chosen, items in blocks:
        wrong_places = [place for place, k in enumerate(chosen) if marked[k]]
        captions.extend(chosen[place] for place in wrong_places)
        for item in items:
            if item.wrong_words is not None:
                hits.setdefault(item.metric, []).extend(
                    float(_shares_a_word(item.wrong_words[place], marked[chosen[place]]))
                    for place in wrong_places
                )
    caption = np.array(captions, dtype=np.int64)
    image = _number_distinct(judged.images)[caption]
    return replace(
        table,
        protocol=replace(judged.protocol, coefficient="word named"),
        human=np.ones(len(caption)),
        unit=_number_distinct([str(number) for number in image]),
        scores={name: np.array(values, dtype=np.float64) for name, values in hits.items()},
        words=_word_counts(judged.captions)[caption],
        caption=caption,
    )


def _shares_a_word(answer: str, marked: set[str]) -> bool:
    return own_key(answer) in marked or any(own_key(word) in marked for word in answer.split())


def _is_own_reference(judged: RatedCaptions) -> list[bool]:
    if judged.own is not None:
        return list(judged.own)
    return [own_key(c) in {own_key(r) for r in texts} for c, texts in zip(judged.captions, judged.references)]


def _aggregate_ratings(ratings: Sequence[float], judges: str) -> list[float]:
    if judges == "each":
        return list(ratings)
    if judges == "mean":
        return [float(np.mean(ratings))]
    values, counts = np.unique(ratings, return_counts=True)
    return [float(values[np.argmax(counts)])]


def _join_draws(
    judged: RatedCaptions, blocks: Sequence[tuple[list[int], list[CaptionScores]]]
) -> JudgementTable:
    ratings = [_aggregate_ratings(r, judged.protocol.judges) for r in judged.ratings]
    image, words = _number_distinct(judged.images), _word_counts(judged.captions)
    row_caption: list[IntArray] = []
    human: list[float] = []
    scores: dict[str, list[FloatArray]] = {}
    for chosen, caption_scores in blocks:
        repeats = [len(ratings[k]) for k in chosen]
        row_caption.append(np.repeat(np.array(chosen, dtype=np.int64), repeats))
        human.extend(value for k in chosen for value in ratings[k])
        for item in caption_scores:
            scores.setdefault(item.metric, []).append(np.repeat(item.values, repeats))
    caption = np.concatenate(row_caption)
    used = np.unique(caption)
    return JudgementTable(
        name=judged.name,
        judged=f"{judged.judged}|used:{len(used)}" if len(used) != len(judged) else judged.judged,
        protocol=judged.protocol,
        human=np.array(human, dtype=np.float64),
        unit=_number_distinct([str(image[k]) for k in caption]),
        scores={name: np.concatenate(parts) for name, parts in scores.items()},
        signatures={item.metric: item.signature for item in blocks[0][1]},
        words=words[caption],
        caption=caption,
        left_out=judged.left_out + len(judged) - len(used),
    )


def _by_system(judged: RatedCaptions, table: JudgementTable) -> JudgementTable:
    """Average the scores and ratings of each system's captions into one row."""
    if judged.systems is None:
        raise InputError(
            f"{judged.name}: captions have no system names, so the level 'system' is not available"
        )
    names = sorted(set(judged.systems))
    number = np.array([names.index(judged.systems[k]) for k in table.caption], dtype=np.int64)

    def means(values: FloatArray) -> FloatArray:
        is_finite = np.isfinite(values)
        total = np.bincount(number[is_finite], values[is_finite], minlength=len(names))
        count = np.bincount(number[is_finite], minlength=len(names)).astype(np.float64)
        averages: FloatArray = np.divide(total, count, out=np.full(len(names), np.nan), where=count > 0)
        return averages

    return replace(
        table,
        human=means(table.human),
        unit=np.arange(len(names), dtype=np.int64),
        scores={name: means(values) for name, values in table.scores.items()},
        words=np.zeros(len(names), dtype=np.int64),
        caption=np.arange(len(names), dtype=np.int64),
    )


def _pair_tables(judged: CaptionPairs, metrics: Sequence[Any]) -> list[JudgementTable]:
    protocol = judged.protocol
    scores: dict[str, list[FloatArray]] = {}
    signatures: dict[str, str] = {}
    draws = protocol.draws if protocol.references else 1
    for draw in range(draws):
        orders = draw_references(judged.images, judged.references, protocol.references, protocol.seed, draw)
        references = []
        for k, texts in enumerate(judged.references):
            without = (
                {own_key(judged.first[k]), own_key(judged.second[k])} if protocol.own != "keep" else set()
            )
            usable = _usable_references(orders[k], texts, without, protocol.references)
            if not usable and texts:
                raise InputError(
                    f"{judged.name}: no reference is left for the pair "
                    f"{judged.first[k]!r} / {judged.second[k]!r}"
                )
            references.append(usable)
        groups = list(zip(judged.first, judged.second))
        texts_or_none = references if any(references) else None
        for item in score_captions(groups, texts_or_none, metrics, judged.name, judged.images):
            difference = item.values[0::2] - item.values[1::2]
            scores.setdefault(item.metric, []).append(np.where(np.abs(difference) <= TIE, 0.0, difference))
            signatures[item.metric] = item.signature
    whole = JudgementTable(
        name=judged.name,
        judged=f"{judged.judged}|votes:{protocol.votes}",
        protocol=protocol,
        human=np.tile(judged.margins, draws),
        unit=np.tile(_number_distinct(judged.images), draws),
        scores={name: np.concatenate(parts) for name, parts in scores.items()},
        signatures=signatures,
        words=np.tile((_word_counts(judged.first) + _word_counts(judged.second)) // 2, draws),
        caption=np.tile(np.arange(len(judged), dtype=np.int64), draws),
    )
    categories = np.tile(np.array(judged.categories, dtype=object), draws)
    kinds = sorted({kind for kind in judged.categories if kind})
    parts = [whole.where(categories == kind, kind) for kind in kinds] if len(kinds) > 1 else []
    return [whole, *parts]


def _systems_tables(judged: RatedSystems) -> list[JudgementTable]:
    number = np.arange(len(judged), dtype=np.int64)
    protocol = replace(judged.protocol, level="system")
    return [
        JudgementTable(
            name=judged.name,
            judged=judged.judged,
            protocol=protocol,
            human=values,
            unit=number,
            scores=judged.scores,
            signatures={name: f"{name}|from:{judged.name}" for name in judged.scores},
            words=np.zeros(len(judged), dtype=np.int64),
            caption=number,
            part=criterion,
        )
        for criterion, values in judged.human.items()
    ]
