"""Parsing captions: tokens in, trees out; equal sentences are parsed once."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from captious.collector import collector_paused
from captious.errors import InputError
from captious.language.lemmas import lemma
from captious.language.model import Model, chunk_size, shipped_model
from captious.language.parse_types import Parse, Sentence
from captious.language.sentences import split, terminators
from captious.progress import track
from captious.threads import one_blas_thread, side_by_side, threads

Integers = NDArray[np.int64]
#: Parses of whole corpora are kept: numbers of tags, heads, relations and lemmas in half the memory.
Small = NDArray[np.int32]
Tokenize = Callable[[str], list[str]]
#: Parses tokenized captions: `parse_batch` here, or that of another parser.
Batch = Callable[..., "ParsedBatch"]

# The only tags of these words; captions with brackets are too rare for the model to know.
BRACKETS = {"-LRB-": "-LRB-", "-LCB-": "-LRB-", "-RRB-": "-RRB-", "-RCB-": "-RRB-"}


@dataclass
class ParsedBatch:
    """Parsed captions as flat arrays, with names for the numbers in them.

    The distinct sentences stand one after the other: sentence s has the words `offsets[s]:offsets[s + 1]` of
    `forms`, `tags`, `lemmas`, `heads` (from 1 within the sentence, 0 = root) and `relations`. Caption c consists of the
    sentences `sentence_of[caption_offsets[c]:caption_offsets[c + 1]]`.
    """

    forms: list[str]
    offsets: Integers
    tags: Small
    heads: Small
    relations: Small
    lemmas: Small
    sentence_of: Integers
    caption_offsets: Integers
    tag_names: list[str]
    relation_names: list[str]
    lemma_names: list[str]

    @classmethod
    def of(cls, parses: Sequence[Parse]) -> ParsedBatch:
        """From sentences of captions; equal sentences are one object."""
        numbers: dict[int, int] = {}
        distinct: list[Sentence] = []
        chosen: list[int] = []
        for parse in parses:
            for sentence in parse:
                number = numbers.setdefault(id(sentence), len(distinct))
                if number == len(distinct):
                    distinct.append(sentence)
                chosen.append(number)
        tags, tag_names = _numbered(sentence.tags for sentence in distinct)
        relations, relation_names = _numbered(sentence.relations for sentence in distinct)
        lemmas, lemma_names = _numbered(sentence.lemmas for sentence in distinct)
        return cls(
            forms=[form for sentence in distinct for form in sentence.forms],
            offsets=_offsets(map(len, distinct), len(distinct)),
            tags=tags,
            heads=np.array([head for sentence in distinct for head in sentence.heads], np.int32),
            relations=relations,
            lemmas=lemmas,
            sentence_of=np.array(chosen, np.int64),
            caption_offsets=_offsets(map(len, parses), len(parses)),
            tag_names=tag_names,
            relation_names=relation_names,
            lemma_names=lemma_names,
        )

    def __len__(self) -> int:
        return len(self.caption_offsets) - 1

    def sentences(self) -> list[Sentence]:
        """The distinct sentences."""
        tags = np.array(self.tag_names, object)[self.tags].tolist()
        relations = np.array(self.relation_names, object)[self.relations].tolist()
        lemmas = np.array(self.lemma_names, object)[self.lemmas].tolist()
        heads = self.heads.tolist()
        forms = self.forms
        return [
            Sentence(forms[a:b], tags[a:b], lemmas[a:b], heads[a:b], relations[a:b])
            for a, b in itertools.pairwise(self.offsets.tolist())
        ]

    def sentence(self, s: int) -> Sentence:
        """One of the distinct sentences."""
        own = slice(int(self.offsets[s]), int(self.offsets[s + 1]))
        return Sentence(
            self.forms[own],
            [self.tag_names[i] for i in self.tags[own].tolist()],
            [self.lemma_names[i] for i in self.lemmas[own].tolist()],
            self.heads[own].tolist(),
            [self.relation_names[i] for i in self.relations[own].tolist()],
        )

    def parses(self) -> list[Parse]:
        """The sentences of each caption; equal sentences are one object."""
        with collector_paused():
            sentences = self.sentences()
            chosen = self.sentence_of.tolist()
            return [
                [sentences[s] for s in chosen[a:b]] for a, b in itertools.pairwise(self.caption_offsets.tolist())
            ]


def _numbered(rows: Iterable[list[str]]) -> tuple[Small, list[str]]:
    """Names as numbers, and the names."""
    known: dict[str, int] = {}
    flat = [known.setdefault(name, len(known)) for row in rows for name in row]
    return np.array(flat, np.int32), list(known)


def _offsets(lengths: Iterable[int], count: int) -> Integers:
    result = np.zeros(count + 1, np.int64)
    np.cumsum(np.fromiter(lengths, np.int64, count), out=result[1:])
    return result


def parse_batch(captions: Sequence[Sequence[str]], *, jobs: int | None = None, model: Model | None = None) -> ParsedBatch:
    """Parse tokenized captions to flat arrays."""
    model = shipped_model() if model is None else model
    with collector_paused(), one_blas_thread():
        return _parse_batch(captions, threads(jobs), model)


def _parse_batch(captions: Sequence[Sequence[str]], jobs: int, model: Model) -> ParsedBatch:
    numbers: dict[tuple[str, ...], int] = {}
    sentence_of: list[int] = []
    counts: list[int] = []
    ends = terminators(itertools.chain.from_iterable(captions))
    for caption in captions:
        found = split(caption, ends)
        counts.append(len(found))
        for sentence in found:
            sentence_of.append(numbers.setdefault(tuple(sentence), len(numbers)))
    offsets = _offsets(map(len, numbers), len(numbers))
    forms = list(itertools.chain.from_iterable(numbers))
    words, inputs = model.number(forms)
    tags, heads, relations = (np.empty(len(forms), np.int32) for _ in range(3))

    def run(places: Integers) -> None:
        scored = model.analyse(words[places], inputs)
        tags[places], heads[places], relations[places] = scored.tags, scored.heads, scored.relations

    tasks = _tasks(offsets)
    for _ in track(side_by_side(run, tasks, jobs), "Parsing", total=len(tasks)):
        pass
    for form in BRACKETS.keys() & set(forms):
        if BRACKETS[form] in model.tags:
            tags[words == words[forms.index(form)]] = model.tags.index(BRACKETS[form])
    lemmas, lemma_names = _lemmas(words, tags, forms, model)
    return ParsedBatch(
        forms=forms,
        offsets=offsets,
        tags=tags,
        heads=heads,
        relations=relations,
        lemmas=lemmas,
        sentence_of=np.array(sentence_of, np.int64),
        caption_offsets=_offsets(counts, len(counts)),
        tag_names=model.tags,
        relation_names=model.relations,
        lemma_names=lemma_names,
    )


def _tasks(offsets: Integers) -> list[Integers]:
    """Sentences of one length, in chunks: for each chunk an array (sentences, length) of places of words."""
    lengths = np.diff(offsets)
    order = np.argsort(lengths, kind="stable")
    tasks: list[Integers] = []
    for length, start in zip(*np.unique(lengths[order], return_index=True)):
        stop = int(np.searchsorted(lengths[order], length, side="right"))
        size = chunk_size(int(length))
        for first in range(int(start), stop, size):
            chosen = order[first : min(first + size, stop)]
            tasks.append(offsets[chosen][:, None] + np.arange(length))
    return tasks


def _lemmas(words: Integers, tags: Small, forms: list[str], model: Model) -> tuple[Small, list[str]]:
    """Numbers of lemmas, and their names: one for each distinct pair of word and tag."""
    _, first, inverse = np.unique(words * len(model.tags) + tags, return_index=True, return_inverse=True)
    names = [lemma(forms[i], model.tags[t], model.exceptions) for i, t in zip(first.tolist(), tags[first].tolist())]
    return inverse.reshape(-1).astype(np.int32), names


def parse_tokens(captions: Sequence[Sequence[str]], *, jobs: int | None = None, batch: Batch = parse_batch) -> list[Parse]:
    """Parse captions that are tokenized already, in Penn Treebank style."""
    return batch(captions, jobs=jobs).parses()


def parse(
    captions: Sequence[str], *, jobs: int | None = None, tokenizer: str | Tokenize = "ptb", batch: Batch = parse_batch
) -> list[Parse]:
    """Parse captions given as text: for each its sentences.

    `tokenizer` is `ptb` (keeps case and punctuation, as CoreNLP does), `none` (tokens are separated by spaces), or a
    function from text to tokens. Equal captions are parsed once and give the same `Sentence` objects; treat them as
    read-only. With `jobs` more than one thread works; the output is the same. `batch` is the ``parse_batch`` of another parser
    (:func:`captious.language.parsers.get`).
    """
    if isinstance(captions, str):
        raise InputError("parse takes a list of captions; for one caption, give a list of one")
    tokenize = _tokenizer(tokenizer) if isinstance(tokenizer, str) else tokenizer
    tokens: dict[str, list[str]] = {}
    for caption in captions:
        if caption not in tokens:
            tokens[caption] = tokenize(caption)
    return parse_tokens([tokens[caption] for caption in captions], jobs=jobs, batch=batch)


def _tokenizer(name: str) -> Tokenize:
    if name == "none":
        return str.split
    if name == "ptb":
        from captious.text.ptb import tokenize

        return lambda text: tokenize(text, keep_punctuation=True, lowercase=False)
    raise InputError(f"unknown tokenizer '{name}' for parsing (known: ptb, none; or give a function)")
