"""Selection of a parser by name. Measures, commands and signatures use parsers through this module."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Sequence
from functools import lru_cache
from typing import Protocol

from captious.core.errors import InputError, did_you_mean
from captious.core.memo import cached_property
from captious.core.ragged import runs
from captious.corpus import Captions
from captious.parser.fast_parser import ParsedBatch, parse_batch, parse_numbers
from captious.parser.network_model import SHIPPED, shipped_model
from captious.parser.parsed_sentences import Parse

#: Names of parsers: the shipped network, the shipped caption grammar, and an exact search over CoreNLP's
#: grammar, which the user supplies. The network is also called ``small``.
NAMES = ("fast", "grammar", "exact")


class Parser(Protocol):
    """A parser with a label and a digest for signatures. Its output depends on the captions alone."""

    @property
    def label(self) -> str: ...

    @property
    def digest(self) -> str:
        """Digest of the weights or the grammar."""
        ...

    def parse_batch(self, captions: Sequence[Sequence[str]], *, jobs: int | None = None) -> ParsedBatch:
        """Parse tokenized captions."""
        ...


class SmallParser:
    """The shipped network: small and fast."""

    label = "captious"

    @cached_property
    def digest(self) -> str:
        """Digest of the weights."""
        return hashlib.sha256(SHIPPED.read_bytes()).hexdigest()[:8]

    def parse_batch(self, captions: Sequence[Sequence[str]], *, jobs: int | None = None) -> ParsedBatch:
        return parse_batch(captions, jobs=jobs, model=shipped_model())


class Exact:
    """CoreNLP's analyses by its own grammar, which the user supplies (:mod:`captious.parser.exact`)."""

    label = "corenlp-3.6.0-exact"

    def __init__(self, grammar: str | None = None) -> None:
        from captious.parser.exact import ExactParser

        self._parser = ExactParser(grammar)

    @property
    def digest(self) -> str:
        """Digest of the grammar."""
        return self._parser.digest[:8]

    def parse_batch(self, captions: Sequence[Sequence[str]], *, jobs: int | None = None) -> ParsedBatch:
        return ParsedBatch.of(self._parser.parse_tokens(captions, jobs=jobs))


@lru_cache(maxsize=1)
def _grammar() -> Parser:
    from captious.parser.grammar import GrammarParser

    parser: Parser = GrammarParser()
    return parser


@lru_cache(maxsize=2)
def _exact(grammar: str | None) -> Exact:
    return Exact(grammar)


_SMALL = SmallParser()


def parses_of(
    captions: Captions, parser: Parser | str | None = None, *, jobs: int | None = None
) -> list[Parse]:
    """Parse captions; equal captions are parsed once, and the result is cached with the captions.

    Parameters
    ----------
    captions
        Tokenized captions.
    parser
        A parser or its name, as :func:`get` accepts them.
    jobs
        Number of threads. Results do not depend on it.

    Returns
    -------
    list of Parse
        The sentences of each caption.
    """
    chosen = get(parser)

    def compute() -> list[Parse]:
        distinct = batch_of(captions, chosen, jobs=jobs).parses()
        return [distinct[i] for i in captions.unique[1].tolist()]

    return captions.cached(("parses", chosen.label, chosen.digest), compute)


def batch_of(captions: Captions, parser: Parser, *, jobs: int | None = None) -> ParsedBatch:
    """Parse the distinct captions (``captions.unique``) to arrays, cached with the captions."""

    def compute() -> ParsedBatch:
        places, offsets = runs(captions.token_offsets, captions.unique[0])
        words, tokens = captions.encoding.words, captions.tokens[places]
        if type(parser) is SmallParser:
            return parse_numbers(words, tokens, offsets, jobs=jobs)
        listed = words[tokens].tolist()
        return parser.parse_batch([listed[a:b] for a, b in itertools.pairwise(offsets.tolist())], jobs=jobs)

    return captions.cached(("parsed", parser.label, parser.digest), compute)


def get(parser: Parser | str | None = None) -> Parser:
    """Return a parser by name: ``fast`` (the default), ``grammar``, ``exact`` or ``exact=PATH``.

    ``fast``, also called ``small``, is the shipped network. ``grammar`` searches the shipped caption grammar.
    ``exact`` searches installed packages for CoreNLP's grammar, ``exact=PATH`` reads it from a file. An
    object with the interface of :class:`Parser` is returned as it is.
    """
    if parser is None:
        return _SMALL
    if not isinstance(parser, str):
        if not all(hasattr(parser, name) for name in ("label", "digest", "parse_batch")):
            raise InputError(
                f"{type(parser).__name__} is not a parser: it needs label, digest and parse_batch; "
                f"or pass a name ({', '.join(NAMES)})"
            )
        return parser
    if parser.casefold() in ("fast", "small"):
        return _SMALL
    if parser.casefold() == "grammar":
        return _grammar()
    name, _, path = parser.partition("=")
    if name.casefold() == "exact":
        return _exact(path or None)
    raise InputError(f"unknown parser '{parser}'{did_you_mean(parser, NAMES)} (known: {', '.join(NAMES)})")
