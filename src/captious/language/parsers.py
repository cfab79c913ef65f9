"""Which parser reads the captions. Measures, commands and signatures know parsers through this."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Sequence
from functools import cached_property, lru_cache
from typing import Protocol

from captious.corpus import Captions
from captious.errors import InputError, did_you_mean
from captious.language.model import SHIPPED, shipped_model
from captious.language.parse_types import Parse
from captious.language.parser import ParsedBatch, parse_batch, parse_numbers
from captious.ragged import runs

#: Parsers by name: our own small model, and an exact search over CoreNLP's grammar where the user has it.
NAMES = ("small", "exact")


class Parser(Protocol):
    """A parser with a name and a digest for signatures; what it gives depends on the captions alone."""

    @property
    def label(self) -> str: ...

    @property
    def digest(self) -> str:
        """Names its weights or its grammar."""
        ...

    def parse_batch(self, captions: Sequence[Sequence[str]], *, jobs: int | None = None) -> ParsedBatch:
        """Parse tokenized captions."""
        ...


class SmallParser:
    """The shipped model: small, quick, nearly always of CoreNLP's opinion."""

    label = "captious"

    @cached_property
    def digest(self) -> str:
        """Other weights find other trees."""
        return hashlib.sha256(SHIPPED.read_bytes()).hexdigest()[:8]

    def parse_batch(self, captions: Sequence[Sequence[str]], *, jobs: int | None = None) -> ParsedBatch:
        return parse_batch(captions, jobs=jobs, model=shipped_model())


class Exact:
    """CoreNLP's own analyses, from its grammar in the user's copy of its models (:mod:`captious.language.exact`)."""

    label = "corenlp-3.6.0-exact"

    def __init__(self, grammar: str | None = None) -> None:
        from captious.language.exact import ExactParser

        self._parser = ExactParser(grammar)

    @property
    def digest(self) -> str:
        """Names the grammar."""
        return self._parser.digest[:8]

    def parse_batch(self, captions: Sequence[Sequence[str]], *, jobs: int | None = None) -> ParsedBatch:
        return ParsedBatch.of(self._parser.parse_tokens(captions, jobs=jobs))


@lru_cache(maxsize=2)
def _exact(grammar: str | None) -> Exact:
    return Exact(grammar)


_SMALL = SmallParser()


def parses_of(captions: Captions, parser: Parser | str | None = None, *, jobs: int | None = None) -> list[Parse]:
    """The parses of captions, as they were tokenized; distinct captions are parsed once, and kept."""
    chosen = get(parser)

    def make() -> list[Parse]:
        distinct = batch_of(captions, chosen, jobs=jobs).parses()
        return [distinct[i] for i in captions.unique[1].tolist()]

    return captions.cached(("parses", chosen.label, chosen.digest), make)


def batch_of(captions: Captions, parser: Parser, *, jobs: int | None = None) -> ParsedBatch:
    """The distinct captions (``captions.unique``), parsed to arrays; kept."""

    def make() -> ParsedBatch:
        places, offsets = runs(captions.token_offsets, captions.unique[0])
        words, tokens = captions.encoding.words, captions.tokens[places]
        if type(parser) is SmallParser:
            return parse_numbers(words, tokens, offsets, jobs=jobs)
        listed = words[tokens].tolist()
        return parser.parse_batch([listed[a:b] for a, b in itertools.pairwise(offsets.tolist())], jobs=jobs)

    return captions.cached(("parsed", parser.label, parser.digest), make)


def get(parser: Parser | str | None = None) -> Parser:
    """A parser by name, ``small`` unless told: ``exact`` finds its grammar in an installed package, ``exact=PATH`` in a file."""
    if parser is None:
        return _SMALL
    if not isinstance(parser, str):
        if not all(hasattr(parser, name) for name in ("label", "digest", "parse_batch")):
            raise InputError("a parser has a label and a digest, for signatures, and a method parse_batch; or give its name")
        return parser
    if parser.casefold() == "small":
        return _SMALL
    name, _, path = parser.partition("=")
    if name.casefold() == "exact":
        return _exact(path or None)
    raise InputError(f"unknown parser '{parser}'{did_you_mean(parser, NAMES)} (known: {', '.join(NAMES)})")
