"""Files of trained grammars: integers of 16 bits or fewer, and only the weights that matter."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.core.writing import atomic_write
from captious.parser.grammar.caption_lexicon import SCALE, classes_digest
from captious.parser.grammar.grammar_model import FORMAT
from captious.training.grammar.perceptron import GrammarTrainer
from captious.training.grammar.score_equations import SolvedWeights

SMALL = 0.03  # weights nearer to zero are dropped
PRIOR = 0.7  # weight of a state's log frequency where the search compares states


def _text(names: list[str]) -> NDArray[np.uint8]:
    return np.frombuffer("\n".join(names).encode("utf-8"), np.uint8)


def _whole(weights: NDArray[Any]) -> NDArray[np.int16]:
    whole: NDArray[np.int16] = np.clip(np.rint(weights / SCALE), -32767, 32767).astype(np.int16)
    return whole


def prior_of(seen: NDArray[np.int64], sentences: int) -> NDArray[np.int16]:
    """Return what the beam adds to the score of each state: part of its log frequency."""
    return _whole(PRIOR * np.log(np.maximum(seen, 0.5) / sentences))


def grammar_arrays(trainer: GrammarTrainer) -> dict[str, NDArray[Any]]:
    """Return the arrays of a model file."""
    lexicon, grammar = trainer.lexicon, trainer.grammar
    scores = trainer.rule_scores()
    size, plain = len(lexicon.tags), len(lexicon.plain_tags)
    proper = np.flatnonzero(lexicon.is_proper)
    rows = lexicon.row_of[proper]
    weights = lexicon.word_tag.values.reshape(-1, size)[rows]
    is_seen, is_allowed = lexicon.is_seen[proper], lexicon.is_allowed[proper]
    rare = lexicon.is_rare[proper]
    # Most tags of a rare word share one weight, which is stored once.
    masked = np.where(is_allowed & ~is_seen, weights, np.nan)
    has_unseen = ~np.isnan(masked).all(1)
    shared = np.zeros(len(proper))
    chosen = rare & has_unseen
    shared[chosen] = np.nanmedian(masked[chosen], axis=1)
    default = _whole(shared)
    rest = weights - default[:, None] * SCALE
    stored = is_seen | (is_allowed & (np.abs(rest) > SMALL))
    line, tag = np.nonzero(stored)
    by_plain = lexicon.word_plain.values.reshape(-1, plain)[rows]
    used: NDArray[np.bool_] = np.zeros_like(by_plain, np.bool_)
    all_line, all_tag = np.nonzero(is_allowed)
    used[all_line, lexicon.plain_of[all_tag]] = True
    plain_line, plain_tag = np.nonzero(used & (np.abs(by_plain) > SMALL))
    suffix = lexicon.suffix_plain.values.reshape(-1, plain)
    matters = np.asarray((np.abs(suffix) > SMALL).any(1))
    matters[0] = True
    classes = lexicon.class_tag.values.reshape(-1, size)
    seen = np.bincount(trainer.bank.states, minlength=len(grammar.states))[trainer.scores.number]
    return {
        "format": np.array(FORMAT),
        "states": _text(grammar.states),
        "tags": _text(lexicon.tags),
        "plain_of": lexicon.plain_of.astype(np.uint8),
        "word_classes": np.array(classes_digest()),
        "groups": trainer.classes[proper].astype(np.uint16),
        "is_rare": np.packbits(rare),
        "default": default,
        "pair_counts": np.bincount(line, minlength=len(proper)).astype(np.uint16),
        "pair_tags": tag.astype(np.uint16),
        "pair_weights": _whole(rest[line, tag]),
        "pair_seen": np.packbits(is_seen[line, tag]),
        "plain_counts": np.bincount(plain_line, minlength=len(proper)).astype(np.uint8),
        "plain_tags": plain_tag.astype(np.uint8),
        "plain_weights": _whole(by_plain[plain_line, plain_tag]),
        "is_open": np.packbits(lexicon.is_open),
        "is_common": np.packbits(lexicon.is_common),
        "classes": _text(lexicon.class_names),
        # The last row, for classes that never occurred, is their mean.
        "class_weights": _whole(np.concatenate([classes, classes.mean(0, keepdims=True)])),
        "suffixes": _text([name for name, use in zip(lexicon.suffix_names, matters) if use]),
        "suffix_weights": _whole(suffix[matters]),
        "binary": grammar.binary.astype(np.int16),
        "binary_weights": _whole(scores[~trainer.is_unary]),
        "unary": grammar.unary.astype(np.int16),
        "unary_weights": np.minimum(_whole(scores[trainer.is_unary]), -1),
        "prior": prior_of(seen, len(trainer.bank)),
    }


def solved_arrays(solved: SolvedWeights) -> dict[str, NDArray[Any]]:
    """Return the arrays of a model file whose weights were fitted to scores."""
    lexicon = solved.lexicon
    rules, is_unary = solved.rules, solved.rules[:, 2] < 0
    line, tag = np.nonzero(np.isfinite(solved.table))
    plain = len(lexicon.plain_tags)
    spellings = lexicon.class_tag.values.reshape(len(lexicon.class_names), -1) + solved.tag_shifts
    none: NDArray[np.int16] = np.zeros(0, np.int16)
    return {
        "format": np.array(FORMAT),
        "states": _text(solved.state_names),
        "tags": _text(lexicon.tags),
        "plain_of": lexicon.plain_of.astype(np.uint8),
        "word_classes": np.array(classes_digest()),
        "groups": solved.classes.astype(np.uint16),
        "is_rare": np.packbits(np.zeros(len(solved.classes), np.bool_)),
        "default": np.zeros(len(solved.classes), np.int16),
        "pair_counts": np.bincount(line, minlength=len(solved.classes)).astype(np.uint16),
        "pair_tags": tag.astype(np.uint16),
        "pair_weights": _whole(solved.table[line, tag]),
        "pair_seen": np.packbits(np.ones(len(line), np.bool_)),
        "plain_counts": np.zeros(len(solved.classes), np.uint8),
        "plain_tags": none.astype(np.uint8),
        "plain_weights": none,
        "is_open": np.packbits(lexicon.is_open),
        "is_common": np.packbits(np.zeros(len(lexicon.tags), np.bool_)),
        "classes": _text(lexicon.class_names),
        "class_weights": _whole(np.concatenate([spellings, spellings.mean(0, keepdims=True)])),
        "suffixes": _text([""]),
        "suffix_weights": np.zeros((1, plain), np.int16),
        "binary": rules[~is_unary].astype(np.int16),
        "binary_weights": _whole(solved.rule_weights[~is_unary]),
        "unary": rules[is_unary, :2].astype(np.int16),
        "unary_weights": np.minimum(_whole(solved.rule_weights[is_unary]), -1),
        "prior": prior_of(solved.seen, solved.count),
    }


def write_arrays(path: Path, arrays: dict[str, NDArray[Any]]) -> None:
    """Write the arrays of a model file."""
    with atomic_write(path) as temporary, temporary.open("wb") as file:
        np.savez_compressed(file, **arrays)  # type: ignore[arg-type]


def export_grammar(trainer: GrammarTrainer, path: Path) -> None:
    """Write the grammar of a trainer."""
    write_arrays(path, grammar_arrays(trainer))
