"""Parsing of tokenized captions with the shipped model. Equal sentences are parsed once."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from captious.core.errors import InputError
from captious.core.memo import cached_property
from captious.core.progress import track
from captious.core.ragged import offsets_of, runs
from captious.core.threads import collector_paused, one_blas_thread, side_by_side, threads
from captious.corpus.corpus import distinct_runs
from captious.parser.network_model import Model, chunk_size, shipped_model
from captious.parser.parsed_sentences import LIMIT, Parse, Sentence, lemma, split, terminators
from captious.text.vocabulary import Vocabulary

Integers = NDArray[np.int64]
#: Parses of whole corpora stay in memory, so their numbers are stored in 32 bits.
Small = NDArray[np.int32]
Tokenize = Callable[[str], list[str]]
#: A function that parses tokenized captions: `parse_batch` of this module or of another parser.
Batch = Callable[..., "ParsedBatch"]

# Fixed tags of brackets, which are too rare in captions for the model to learn.
BRACKETS = {"-LRB-": "-LRB-", "-LCB-": "-LRB-", "-RRB-": "-RRB-", "-RCB-": "-RRB-"}


@dataclass
class ParsedBatch:
    """Parsed captions as flat arrays of numbers, with the names that the numbers stand for.

    The distinct sentences are concatenated: sentence s is `offsets[s]:offsets[s + 1]` of `words`, `tags`,
    `lemmas`, `heads` (from 1 within the sentence, 0 = root) and `relations`. Caption c consists of the
    sentences `sentence_of[caption_offsets[c]:caption_offsets[c + 1]]`.
    """

    words: Small
    offsets: Integers
    tags: Small
    heads: Small
    relations: Small
    lemmas: Small
    sentence_of: Integers
    caption_offsets: Integers
    word_names: list[str]
    tag_names: list[str]
    relation_names: list[str]
    lemma_names: list[str]

    @classmethod
    def of(cls, parses: Sequence[Parse]) -> ParsedBatch:
        """Convert the sentences of captions. Equal sentences have to be one object."""
        numbers: dict[int, int] = {}
        distinct: list[Sentence] = []
        sentence_of: list[int] = []
        for parse in parses:
            for sentence in parse:
                number = numbers.setdefault(id(sentence), len(distinct))
                if number == len(distinct):
                    distinct.append(sentence)
                sentence_of.append(number)
        words, word_names = _numbered(sentence.forms for sentence in distinct)
        tags, tag_names = _numbered(sentence.tags for sentence in distinct)
        relations, relation_names = _numbered(sentence.relations for sentence in distinct)
        lemmas, lemma_names = _numbered(sentence.lemmas for sentence in distinct)
        return cls(
            words=words,
            offsets=offsets_of([len(sentence) for sentence in distinct]),
            tags=tags,
            heads=np.array([head for sentence in distinct for head in sentence.heads], np.int32),
            relations=relations,
            lemmas=lemmas,
            sentence_of=np.array(sentence_of, np.int64),
            caption_offsets=offsets_of([len(parse) for parse in parses]),
            word_names=word_names,
            tag_names=tag_names,
            relation_names=relation_names,
            lemma_names=lemma_names,
        )

    def __len__(self) -> int:
        return len(self.caption_offsets) - 1

    @cached_property
    def forms(self) -> list[str]:
        """The words of the distinct sentences."""
        forms: list[str] = np.array(self.word_names, object)[self.words].tolist()
        return forms

    def sentences(self) -> list[Sentence]:
        """Return the distinct sentences."""
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
        """Return one of the distinct sentences."""
        own = slice(int(self.offsets[s]), int(self.offsets[s + 1]))
        return Sentence(
            [self.word_names[i] for i in self.words[own].tolist()],
            [self.tag_names[i] for i in self.tags[own].tolist()],
            [self.lemma_names[i] for i in self.lemmas[own].tolist()],
            self.heads[own].tolist(),
            [self.relation_names[i] for i in self.relations[own].tolist()],
        )

    def parses(self) -> list[Parse]:
        """Return the sentences of each caption; equal sentences are one object."""
        with collector_paused():
            sentences = self.sentences()
            sentence_of = self.sentence_of.tolist()
            return [
                [sentences[s] for s in sentence_of[a:b]]
                for a, b in itertools.pairwise(self.caption_offsets.tolist())
            ]


def _numbered(rows: Iterable[list[str]]) -> tuple[Small, list[str]]:
    """Return names as numbers, and the distinct names."""
    numbers: dict[str, int] = {}
    flat = [numbers.setdefault(name, len(numbers)) for row in rows for name in row]
    return np.array(flat, np.int32), list(numbers)


def parse_batch(
    captions: Sequence[Sequence[str]], *, jobs: int | None = None, model: Model | None = None
) -> ParsedBatch:
    """Parse tokenized captions to flat arrays."""
    vocabulary = Vocabulary()
    tokens = vocabulary.encode(list(itertools.chain.from_iterable(captions)))
    return parse_numbers(
        vocabulary.words, tokens, offsets_of([len(caption) for caption in captions]), jobs=jobs, model=model
    )


def parse_numbers(
    names: Sequence[str] | NDArray[np.object_],
    tokens: Small,
    offsets: Integers,
    *,
    jobs: int | None = None,
    model: Model | None = None,
) -> ParsedBatch:
    """Parse captions of word numbers: caption i is `tokens[offsets[i]:offsets[i + 1]]`, rows of `names`."""
    model = shipped_model() if model is None else model
    used = np.zeros(len(names), np.bool_)
    used[tokens] = True
    numbers = np.cumsum(used, dtype=np.int32) - 1
    with collector_paused(), one_blas_thread():
        return _parse(
            [names[i] for i in np.flatnonzero(used).tolist()], numbers[tokens], offsets, threads(jobs), model
        )


def _parse(names: list[str], tokens: Small, offsets: Integers, jobs: int, model: Model) -> ParsedBatch:
    bounds, caption_offsets = _sentences(names, tokens, offsets)
    first, sentence_of = distinct_runs(tokens, bounds)
    places, offsets = runs(bounds, first)
    words = tokens[places]
    classes, inputs = model.number(names)
    tags, heads, relations = (np.empty(len(words), np.int32) for _ in range(3))

    lengths = np.diff(offsets)

    def run(sentences: Integers) -> None:
        places, _ = runs(offsets, sentences)
        scored = model.analyse(classes[words[places]], lengths[sentences], inputs)
        tags[places], heads[places], relations[places] = scored.tags, scored.heads, scored.relations

    tasks = _tasks(lengths)
    for _ in track(side_by_side(run, tasks, jobs), "Parsing", total=len(tasks)):
        pass
    for form in BRACKETS.keys() & set(names):
        if BRACKETS[form] in model.tags:
            tags[words == names.index(form)] = model.tags.index(BRACKETS[form])
    lemmas, lemma_names = _lemmas(words, tags, names, model)
    return ParsedBatch(
        words=words,
        offsets=offsets,
        tags=tags,
        heads=heads,
        relations=relations,
        lemmas=lemmas,
        sentence_of=sentence_of,
        caption_offsets=caption_offsets,
        word_names=names,
        tag_names=model.tags,
        relation_names=model.relations,
        lemma_names=lemma_names,
    )


def _sentences(names: Sequence[str], tokens: Small, offsets: Integers) -> tuple[Integers, Integers]:
    """Return the offsets of sentences among the tokens, and of captions among the sentences."""
    lengths = np.diff(offsets)
    ends = terminators(names)
    is_end = np.array([name in ends for name in names], np.bool_)
    # Most captions are one sentence. Only captions with a terminator, or too long ones, are split.
    several = lengths > LIMIT
    if ends:
        several[np.searchsorted(offsets, np.flatnonzero(is_end[tokens]), side="right") - 1] = True
    counts = (lengths > 0).astype(np.int64)
    sentence_lengths = {}
    for i in np.flatnonzero(several).tolist():
        words = [names[word] for word in tokens[offsets[i] : offsets[i + 1]].tolist()]
        sentence_lengths[i] = [len(sentence) for sentence in split(words, ends)]
        counts[i] = len(sentence_lengths[i])
    caption_offsets = offsets_of(counts)
    sizes = np.empty(int(caption_offsets[-1]), np.int64)
    whole = (counts > 0) & ~several
    sizes[caption_offsets[:-1][whole]] = lengths[whole]
    for i, own in sentence_lengths.items():
        sizes[caption_offsets[i] : caption_offsets[i + 1]] = own
    return offsets_of(sizes), caption_offsets


def _tasks(lengths: Integers) -> list[Integers]:
    """Group sentences of similar length, the longest first."""
    order = np.argsort(-lengths, kind="stable")
    tasks: list[Integers] = []
    start = 0
    while start < len(order):
        stop = start + chunk_size(int(lengths[order[start]]))
        tasks.append(order[start:stop])
        start = stop
    return tasks


def _lemmas(words: Small, tags: Small, names: list[str], model: Model) -> tuple[Small, list[str]]:
    """Return the numbers of lemmas, and their names: one for each pair of word and tag that occurs."""
    pairs = words.astype(np.int64) * len(model.tags) + tags
    occurs = np.zeros(len(names) * len(model.tags), np.bool_)
    occurs[pairs] = True
    numbers = np.cumsum(occurs, dtype=np.int32) - 1
    distinct = (divmod(pair, len(model.tags)) for pair in np.flatnonzero(occurs).tolist())
    return numbers[pairs], [lemma(names[word], model.tags[tag], model.exceptions) for word, tag in distinct]


def parse_tokens(
    captions: Sequence[Sequence[str]], *, jobs: int | None = None, batch: Batch = parse_batch
) -> list[Parse]:
    """Parse captions that are tokenized in Penn Treebank style.

    The other parameters are those of :func:`parse`.
    """
    return batch(captions, jobs=jobs).parses()


def parse(
    captions: Sequence[str],
    *,
    jobs: int | None = None,
    tokenizer: str | Tokenize = "ptb",
    batch: Batch = parse_batch,
) -> list[Parse]:
    """Parse captions.

    Parameters
    ----------
    captions
        Texts. Equal captions are parsed once and share their `Sentence` objects, so treat these as read-only.
    jobs
        Number of threads. Results do not depend on it.
    tokenizer
        ``ptb`` (keeps case and punctuation, as CoreNLP does), ``none`` (tokens are separated by spaces), or a
        function from text to tokens.
    batch
        The ``parse_batch`` of another parser (:func:`captious.parser.choice.get`).

    Returns
    -------
    list of Parse
        The sentences of each caption.

    Examples
    --------
    >>> [[sentence]] = parse(["two dogs run"])
    >>> sentence.tags, sentence.heads, sentence.relations
    (['CD', 'NNS', 'VBP'], [2, 3, 0], ['nummod', 'nsubj', 'root'])
    """
    if isinstance(captions, str):
        raise InputError("parse needs a list of captions, not a string; for one caption, pass a list of one")
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
    raise InputError(
        f"unknown tokenizer '{name}' for parsing; use ptb, none or a function from text to tokens"
    )
