"""Sentences: splitting of texts as CoreNLP does it, parsed sentences, and lemmas."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from captious.core.errors import InputError
from captious.parser.dependency_graph import Edge, collapse

LIMIT = 100  # words; longer sentences are cut, so that time stays linear in the length of a text
_END = re.compile(r"\.|[!?]+")
_AFTER_END = re.compile(r"[)\]}»”’'\"]|''|-R[CRS]B-")
_CUT_AFTER = frozenset({",", ";", ":", "--", "-", "..."})
_CUT_BEFORE = frozenset({"and", "but", "while", "with", "as", "or"})


def terminators(tokens: Iterable[str]) -> frozenset[str]:
    """Return the tokens that end a sentence."""
    return frozenset(token for token in set(tokens) if token[:1] in ".!?" and _END.fullmatch(token))


def split(tokens: Sequence[str], ends: frozenset[str] | None = None) -> list[Sequence[str]]:
    """Split a tokenized text into sentences, after `.`, `!` or `?` and the brackets and quotes that follow.

    `ends` are the `terminators` among the tokens, if the caller has computed them for many texts at once.
    """
    ends = terminators(tokens) if ends is None else ends
    if ends.isdisjoint(tokens):
        return cut(tokens) if len(tokens) else []
    sentences: list[Sequence[str]] = []
    start = 0
    for i, token in enumerate(tokens):
        if i >= start and token in ends:
            end = i + 1
            while end < len(tokens) and _AFTER_END.fullmatch(tokens[end]):
                end += 1
            sentences.extend(cut(tokens[start:end]))
            start = end
    if start < len(tokens):
        sentences.extend(cut(tokens[start:]))
    return sentences


def cut(tokens: Sequence[str], limit: int = LIMIT) -> list[Sequence[str]]:
    """Cut a sentence into parts of at most `limit` words, at commas and conjunctions where possible."""
    if len(tokens) <= limit:
        return [tokens]
    parts: list[Sequence[str]] = []
    start = 0
    while len(tokens) - start > limit:
        end = limit
        for size in range(limit, limit // 2, -1):
            if tokens[start + size - 1] in _CUT_AFTER or tokens[start + size] in _CUT_BEFORE:
                end = size
                break
        parts.append(tokens[start : start + end])
        start += end
    parts.append(tokens[start:])
    return parts


@dataclass(slots=True)
class Sentence:
    """One parsed sentence: Penn tags, lemmas and a basic tree of Universal Dependencies v1.

    `heads` count words from 1; 0 is the root.
    """

    forms: list[str]
    tags: list[str]
    lemmas: list[str]
    heads: list[int]
    relations: list[str]
    _graph: list[Edge] | None = field(default=None, repr=False, compare=False)

    def __len__(self) -> int:
        return len(self.forms)

    @property
    def graph(self) -> list[Edge]:
        """Collapsed edges with conjunctions propagated, derived from the tree on first use."""
        if self._graph is None:
            self._graph = collapse(self.forms, self.tags, self.heads, self.relations)
        return self._graph

    @classmethod
    def from_dict(cls, row: Mapping[str, Any], *, keep_graph: bool = True) -> Sentence:
        """Build a sentence from a dictionary with `form`, `tag`, `lemma`, `basic` and optionally `cc`.

        With `keep_graph` the graph stored under `cc` is used; otherwise it is derived by rules.
        """
        forms = list(row["form"])
        heads = [0] * len(forms)
        relations = ["root"] * len(forms)
        for head, dependent, relation in row["basic"]:
            if not 1 <= dependent <= len(forms):
                raise InputError(
                    f"A basic edge names word {dependent} of a sentence with {len(forms)} words; "
                    "words count from 1."
                )
            heads[dependent - 1] = int(head)
            relations[dependent - 1] = str(relation)
        graph: list[Edge] | None = None
        if keep_graph and "cc" in row:
            graph = [
                (float(governor), float(dependent), str(relation))
                for governor, dependent, relation in row["cc"]
            ]
        return cls(forms, list(row["tag"]), list(row.get("lemma", ())), heads, relations, graph)

    def to_dict(self) -> dict[str, Any]:
        """Return the sentence as a dictionary that `from_dict` reads, with the graph."""
        return {
            "form": self.forms,
            "tag": self.tags,
            "lemma": self.lemmas,
            "basic": [[h, d, r] for d, (h, r) in enumerate(zip(self.heads, self.relations), start=1)],
            "cc": [list(edge) for edge in self.graph],
        }


# The sentences of one caption; an empty caption has none.
Parse = list[Sentence]


# Lemmas -------------------------------------------------------------------------------------------


_VOWELS = "aeiou"

# Irregular past forms. The learned table has those that occur in captions.
_IRREGULAR_FORMS = """
    arose:arise arisen:arise awoke:awake awoken:awake beaten:beat became:become began:begin begun:begin
    bent:bend bit:bite bitten:bite bled:bleed blew:blow blown:blow bound:bind bought:buy bred:breed
    broke:break broken:break brought:bring built:build burnt:burn came:come caught:catch chose:choose
    chosen:choose clung:cling crept:creep dealt:deal did:do done:do drank:drink drawn:draw dreamt:dream
    drew:draw driven:drive drove:drive drunk:drink dug:dig dwelt:dwell eaten:eat ate:eat fallen:fall fed:feed
    fell:fall felt:feel fled:flee flew:fly flown:fly flung:fling forgot:forget forgotten:forget fought:fight
    found:find froze:freeze frozen:freeze gave:give given:give gone:go got:get gotten:get grew:grow
    ground:grind grown:grow had:have has:have heard:hear held:hold hid:hide hidden:hide hung:hang kept:keep
    knelt:kneel knew:know known:know laid:lay lain:lie lay:lie leapt:leap led:lead left:leave lent:lend
    lit:light lost:lose made:make meant:mean met:meet overtaken:overtake overtook:overtake paid:pay ran:run
    rang:ring ridden:ride risen:rise rode:ride rose:rise rung:ring said:say sang:sing sank:sink sat:sit
    saw:see seen:see sent:send sewn:sew shaken:shake shone:shine shook:shake shot:shoot shown:show
    shrank:shrink shrunk:shrink slept:sleep slid:slide slung:sling sold:sell sought:seek spent:spend
    spoke:speak spoken:speak sprang:spring sprung:spring spun:spin stole:steal stolen:steal stood:stand
    strewn:strew struck:strike strung:string stuck:stick stung:sting sung:sing sunk:sink swam:swim swept:sweep
    swore:swear sworn:swear swum:swim swung:swing taken:take taught:teach thought:think threw:throw
    thrown:throw told:tell took:take tore:tear torn:tear undone:undo was:be went:go were:be woke:wake
    woken:wake won:win wore:wear worn:wear wound:wind wove:weave woven:weave written:write wrote:write
"""
_IRREGULAR = dict(pair.split(":") for pair in _IRREGULAR_FORMS.split())


def _is_word(text: str) -> bool:
    """Return whether a stripped word can be a base form: it has a vowel."""
    return len(text) > 1 and any(c in "aeiouy" for c in text)


def _without_s(word: str) -> str:
    """Return the base of a plural noun or of a verb in the third person."""
    if len(word) < 3 or not word.endswith("s") or word.endswith("ss"):
        return word
    if word.endswith("ies"):
        return word[:-1] if len(word) == 4 else word[:-3] + "y"
    if word.endswith(("sses", "shes", "ches", "xes", "zzes", "oes")):
        return word[:-1] if word.endswith("oes") and len(word) <= 5 else word[:-2]
    if word.endswith("uses") and len(word) > 5 and word[-5] not in _VOWELS:
        return word[:-1]
    return word[:-1]


def _restore(stem: str) -> str:
    """Return the base of a verb from its stem before -ed or -ing."""
    if not _is_word(stem):
        return stem
    last, rest = stem[-1], stem[:-1]
    if len(stem) > 2 and last == stem[-2] and last not in "aeiouflsz":
        return rest if len(stem) > 3 else stem  # sitt-, runn-, but add-, err-
    if last in "cuvz" and not stem.endswith("zz"):
        return stem + "e"
    if last == "s" and not stem.endswith("ss"):
        return stem + "e"
    if last == "g" and stem[-2:] in ("dg", "rg", "ng") and not stem.endswith(("ing", "ang", "ong", "ung")):
        return stem + "e"
    if last == "g" and len(stem) > 2 and stem[-2] in _VOWELS and stem[-2:] != "ig":
        return stem + "e"
    if last == "l" and len(stem) > 2 and stem[-2] in "bcdfgkptz":
        return stem + "e"  # juggl-, settl-, twinkl-
    if len(stem) == 3 and stem[0] not in _VOWELS and stem[1] in _VOWELS and last not in "aeiouwxy":
        return stem + "e"  # rid-, tak-
    if last in "kmnprtd" and len(stem) > 3 and stem[-2] in "aiou" and stem[-3] not in _VOWELS:
        # A single vowel before a single consonant: mostly silent e (smoke, slide), unless the vowel is
        # unstressed.
        vowels = sum(c in _VOWELS for c in stem)
        if vowels == 1 or stem.endswith(
            ("at", "iz", "ut", "uc", "ir", "ar", "iv", "id", "ud", "in", "ok", "ak")
        ):
            return stem + "e"
    return stem


def regular(form: str, tag: str) -> str:
    """Return the base of a word by the spelling rules."""
    word = form if tag.startswith("NNP") else form.lower()
    if tag == "NNS":
        if word.endswith("i") and len(word) > 3:
            return word[:-1] + "us"  # Latin plurals; CoreNLP treats graffiti as one, too
        return _without_s(word)
    if not tag.startswith("V"):
        return word
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if word.endswith("ing") and _is_word(word[:-3]):
        return word[:-4] + "ie" if len(word) == 5 and word[1] == "y" else _restore(word[:-3])
    if word.endswith("ied") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith("ed") and not word.endswith("eed") and _is_word(word[:-2]):
        return _restore(word[:-2])
    return _without_s(word)


def key(form: str, tag: str) -> str:
    """Return the key of a word in the table of exceptions.

    Verb tags are merged; only proper nouns keep their case.
    """
    if tag.startswith("NNP"):
        return f"{form} {tag}"
    return f"{form.lower()} {'V' if tag.startswith('V') else tag}"


def lemma(form: str, tag: str, exceptions: Mapping[str, str]) -> str:
    """Return the base form of a word with a tag."""
    exception = exceptions.get(key(form, tag))
    return regular(form, tag) if exception is None else exception
