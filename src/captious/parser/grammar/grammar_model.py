"""The file of the caption grammar: states, rules and lexicon as plain arrays."""

from __future__ import annotations

import hashlib
import io
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from captious.core.errors import InputError
from captious.parser.exact.pcfg import Grammar
from captious.parser.exact.rule_arrays import Rules, arrange
from captious.parser.grammar.caption_lexicon import SCALE, Arrays, CaptionLexicon, classes_digest, names_of

#: The grammar that is part of the package.
SHIPPED = Path(__file__).with_name("captions.npz")
FORMAT = 4
_NAMES = (
    "format states tags plain_of word_classes groups is_rare default pair_counts pair_tags pair_weights "
    "pair_seen plain_counts plain_tags plain_weights is_open is_common classes class_weights suffixes "
    "suffix_weights binary binary_weights unary unary_weights prior"
)


@dataclass
class GrammarModel:
    """A caption grammar that is ready for the search."""

    rules: Rules
    labels: list[str]
    lexicon: CaptionLexicon
    digest: str


def label_of(state: str) -> str:
    """Return the plain label of a state, empty for unfinished phrases."""
    return "" if state.startswith("@") else state.partition("^")[0]


def read_grammar_model(path: Path = SHIPPED) -> GrammarModel:
    """Read a grammar."""
    try:
        data = path.read_bytes()
        with np.load(io.BytesIO(data), allow_pickle=False) as file:
            arrays: Arrays = {name: file[name] for name in file.files}
    except (OSError, ValueError, zipfile.BadZipFile, zlib.error, EOFError) as error:
        raise InputError(
            f"{path}: cannot be read as a caption grammar ({error}); expected a file that "
            "captious.training.grammar.train_grammar wrote"
        ) from error
    if missing := set(_NAMES.split()) - set(arrays):
        raise InputError(
            f"{path}: not a caption grammar: it has no {min(missing)}; expected a file that "
            "captious.training.grammar.train_grammar wrote"
        )
    if int(arrays["format"]) != FORMAT:
        raise InputError(
            f"{path}: a caption grammar of format {int(arrays['format'])}, not {FORMAT}; train it again"
        )
    if str(arrays["word_classes"]) != classes_digest():
        raise InputError(
            f"{path}: a caption grammar for other word classes than those of the fast parser's model; "
            "train it again"
        )
    lexicon = CaptionLexicon(arrays)
    grammar = Grammar(
        states=names_of(arrays["states"]),
        tags=lexicon.tags,
        words=[],
        binary=arrays["binary"].astype(np.int32),
        binary_scores=arrays["binary_weights"].astype(np.float32) * SCALE,
        unary=arrays["unary"].astype(np.int32),
        unary_scores=arrays["unary_weights"].astype(np.float32) * SCALE,
        seen=np.empty((0, 2), np.int32),
        seen_counts=np.empty(0),
        unseen=np.empty((0, 2), np.int32),
        unseen_counts=np.empty(0),
    )
    grammar.check()
    rules = arrange(grammar)
    if len(arrays["prior"]) != len(grammar.states):
        raise InputError(f"{path}: not a caption grammar: a state has no frequency; train it again")
    index = {name: i for i, name in enumerate(grammar.states)}
    own = np.array([index[name] for name in rules.names], np.int64)
    rules.prior[:] = arrays["prior"].astype(np.float32)[own] * SCALE
    return GrammarModel(
        rules, [label_of(name) for name in rules.names], lexicon, hashlib.sha256(data).hexdigest()[:12]
    )
