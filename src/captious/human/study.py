"""A study: one set of judgements, scored once by some metrics; agreement, comparisons, curves and relations come from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from captious.errors import InputError, did_you_mean
from captious.human.kendall import FloatArray, IntArray
from captious.human.scoring import CaptionScores, make, names_of, score_captions, score_systems
from captious.human.table import JudgementTable
from captious.io.judgements import (
    CaptionPairs,
    JudgementSet,
    Protocol,
    RatedCaptions,
    RatedSystems,
    own_key,
    plain_words,
)

#: What `captious agreement` measures unless told otherwise.
METRICS = (
    "BLEU-1,BLEU-4,ROUGE-L,METEOR,CIDEr-D,SPICE,SPICE-U,HWCM-1,HWCM-2,HWCM-3,HWCM-4,WMD,MOWE,WEmbSim,SentenceSim"
)

#: Differences of two scores below this are rounding, not a preference.
TIE = 1e-12


class Study:
    """Judgements and scores. ``tables`` has the whole set first, then its parts."""

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
        """Score a set.

        ``protocol`` changes parts of the set's own protocol (``{"judges": "mean"}``); ``published`` adds the scores that others
        published with the set.
        """
        if protocol:
            judged = replace(judged, protocol=replace(judged.protocol, **protocol))
        if isinstance(judged, RatedSystems):
            asked = names_of(make(metrics, options))
            kept = {name: values for name, values in judged.scores.items() if name in asked}
            return cls(judged, _systems_tables(replace(judged, scores=kept or judged.scores)))
        made = make(metrics, options)
        if isinstance(judged, CaptionPairs):
            return cls(judged, _pair_tables(judged, made))
        return cls(judged, [_rated_table(judged, made, published)])

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
        """Whole systems scored by our metrics instead of a leaderboard's: predictions by the judged systems' names, compared by
        their letters and digits. Judged systems without predictions are left out."""
        by_key = {own_key(name): source for name, source in predictions.items()}
        kept = [k for k, name in enumerate(judged.systems) if own_key(name) in by_key]
        if len(kept) < 3:
            raise InputError(
                f"{judged.name}: predictions of {len(kept)} of the judged systems; three or more are needed "
                f"(judged: {', '.join(judged.systems)}; given: {', '.join(predictions)})"
            )
        names = [judged.systems[k] for k in kept]
        chosen = {name: by_key[own_key(name)] for name in names}
        scored = score_systems(references, chosen, make(metrics, options), subset=subset)
        human = {criterion: values[kept] for criterion, values in judged.human.items()}
        rated = replace(judged, systems=names, human=human, scores={item.metric: item.values for item in scored})
        signatures = {item.metric: item.signature for item in scored}
        return cls(rated, [replace(table, signatures=signatures) for table in _systems_tables(rated)])

    def choose(self, names: str | Sequence[str] | None) -> list[str]:
        """Metrics of this study by name (upper or lower case); all of them if no names are given."""
        if names is None:
            return self.metrics
        wanted = [part.strip() for part in names.split(",")] if isinstance(names, str) else list(names)
        by_fold = {name.casefold(): name for name in self.metrics}
        for name in wanted:
            if name.casefold() not in by_fold:
                raise InputError(f"'{name}' was not measured{did_you_mean(name, self.metrics)}; add it to the metrics (-m)")
        return list(dict.fromkeys(by_fold[name.casefold()] for name in wanted))


def _numbers(names: Sequence[str]) -> IntArray:
    return np.unique(np.array(names, dtype=object).astype(str), return_inverse=True)[1].reshape(-1).astype(np.int64)


def _words(captions: Sequence[str]) -> IntArray:
    return np.array([len(plain_words(text)) for text in captions], dtype=np.int64)


def draw_references(
    images: Sequence[str], references: Sequence[Sequence[str]], count: int | None, seed: int, draw: int
) -> list[list[int]]:
    """Which references each entry may use, by number: the same for all entries of an image, and fewer references are a subset
    of more."""
    if count is None:
        return [list(range(len(texts))) for texts in references]
    orders: dict[tuple[str, int], list[int]] = {}
    for image, texts in sorted(set(zip(images, map(len, references)))):
        generator = np.random.default_rng([seed, draw, texts, *image.encode("utf-8", "surrogatepass")])
        orders[image, texts] = generator.permutation(texts).tolist()
    return [orders[image, len(texts)] for image, texts in zip(images, references)]


def _usable(order: list[int], texts: Sequence[str], without: set[str], count: int | None) -> list[str]:
    kept = [texts[k] for k in order if not without or own_key(texts[k]) not in without]
    return kept if count is None else kept[:count]


def _rated_table(judged: RatedCaptions, metrics: Sequence[Any], published: bool) -> JudgementTable:
    protocol = judged.protocol
    if protocol.coefficient == "accuracy":
        raise InputError(f"{judged.name} has ratings, not pairs: choose tau-b, tau-c, pearson or spearman")
    own = _own(judged) if protocol.own != "keep" else [False] * len(judged)
    blocks: list[tuple[list[int], list[CaptionScores]]] = []
    for draw in range(protocol.draws if protocol.references else 1):
        orders = draw_references(judged.images, judged.references, protocol.references, protocol.seed, draw)
        chosen: list[int] = []
        references: list[list[str]] = []
        for k, caption in enumerate(judged.captions):
            if own[k] and protocol.own == "drop":
                continue
            without = {own_key(caption)} if own[k] else set()
            texts = _usable(orders[k], judged.references[k], without, protocol.references)
            if texts:
                chosen.append(k)
                references.append(texts)
        if not chosen:
            raise InputError(f"{judged.name}: no caption is left under this protocol ({protocol})")
        found = score_captions([[judged.captions[k]] for k in chosen], references, metrics, judged.name)
        given = {**judged.scores, **(judged.published if published else {})}
        found += [CaptionScores(name, values[chosen], f"{name}|from:{judged.name}") for name, values in given.items()]
        blocks.append((chosen, found))
    table = _join(judged, blocks)
    return _by_system(judged, table) if protocol.level == "system" else table


def _own(judged: RatedCaptions) -> list[bool]:
    if judged.own is not None:
        return list(judged.own)
    return [own_key(c) in {own_key(r) for r in texts} for c, texts in zip(judged.captions, judged.references)]


def _judge(ratings: Sequence[float], judges: str) -> list[float]:
    if judges == "each":
        return list(ratings)
    if judges == "mean":
        return [float(np.mean(ratings))]
    values, counts = np.unique(ratings, return_counts=True)
    return [float(values[np.argmax(counts)])]


def _join(judged: RatedCaptions, blocks: Sequence[tuple[list[int], list[CaptionScores]]]) -> JudgementTable:
    ratings = [_judge(r, judged.protocol.judges) for r in judged.ratings]
    image, words = _numbers(judged.images), _words(judged.captions)
    row_caption: list[IntArray] = []
    human: list[float] = []
    scores: dict[str, list[FloatArray]] = {}
    for chosen, found in blocks:
        repeats = [len(ratings[k]) for k in chosen]
        row_caption.append(np.repeat(np.array(chosen, dtype=np.int64), repeats))
        human.extend(value for k in chosen for value in ratings[k])
        for item in found:
            scores.setdefault(item.metric, []).append(np.repeat(item.values, repeats))
    caption = np.concatenate(row_caption)
    used = np.unique(caption)
    return JudgementTable(
        name=judged.name,
        judged=f"{judged.judged}|used:{len(used)}" if len(used) != len(judged) else judged.judged,
        protocol=judged.protocol,
        human=np.array(human, dtype=np.float64),
        unit=_numbers([str(image[k]) for k in caption]),
        scores={name: np.concatenate(parts) for name, parts in scores.items()},
        signatures={item.metric: item.signature for item in blocks[0][1]},
        words=words[caption],
        caption=caption,
        left_out=judged.left_out + len(judged) - len(used),
    )


def _by_system(judged: RatedCaptions, table: JudgementTable) -> JudgementTable:
    """One row for each system: the means of its captions' scores and ratings."""
    if judged.systems is None:
        raise InputError(f"{judged.name} does not say which system wrote a caption: no agreement over systems")
    names = sorted(set(judged.systems))
    number = np.array([names.index(judged.systems[k]) for k in table.caption], dtype=np.int64)

    def means(values: FloatArray) -> FloatArray:
        known = np.isfinite(values)
        total = np.bincount(number[known], values[known], minlength=len(names))
        count = np.bincount(number[known], minlength=len(names)).astype(np.float64)
        found: FloatArray = np.divide(total, count, out=np.full(len(names), np.nan), where=count > 0)
        return found

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
            without = {own_key(judged.first[k]), own_key(judged.second[k])} if protocol.own != "keep" else set()
            kept = _usable(orders[k], texts, without, protocol.references)
            if not kept:
                raise InputError(f"{judged.name}: no reference is left for the pair {judged.first[k]!r} / {judged.second[k]!r}")
            references.append(kept)
        groups = list(zip(judged.first, judged.second))
        for item in score_captions(groups, references, metrics, judged.name):
            difference = item.values[0::2] - item.values[1::2]
            scores.setdefault(item.metric, []).append(np.where(np.abs(difference) <= TIE, 0.0, difference))
            signatures[item.metric] = item.signature
    whole = JudgementTable(
        name=judged.name,
        judged=f"{judged.judged}|votes:{protocol.votes}",
        protocol=protocol,
        human=np.tile(judged.margins, draws),
        unit=np.tile(_numbers(judged.images), draws),
        scores={name: np.concatenate(parts) for name, parts in scores.items()},
        signatures=signatures,
        words=np.tile((_words(judged.first) + _words(judged.second)) // 2, draws),
        caption=np.tile(np.arange(len(judged), dtype=np.int64), draws),
    )
    categories = np.tile(np.array(judged.categories, dtype=object), draws)
    kinds = [kind for kind in dict.fromkeys(judged.categories) if kind]
    kinds.sort()
    parts = [whole.where(categories == kind, kind) for kind in kinds] if len(kinds) > 1 else []
    return [whole, *parts]


def _systems_tables(judged: RatedSystems) -> list[JudgementTable]:
    number = np.arange(len(judged), dtype=np.int64)
    protocol = replace(judged.protocol, level="system")
    return [
        JudgementTable(
            name=judged.name, judged=judged.judged, protocol=protocol, human=values, unit=number, scores=judged.scores,
            signatures={name: f"{name}|from:{judged.name}" for name in judged.scores},
            words=np.zeros(len(judged), dtype=np.int64), caption=number, part=criterion,
        )
        for criterion, values in judged.human.items()
    ]  # fmt: skip


__all__ = ["METRICS", "Protocol", "Study", "draw_references"]
