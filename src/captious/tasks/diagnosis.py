"""Diagnosis of a number that does not match a published one: score variants of the evaluation and compare."""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from captious.core.errors import InputError, printable
from captious.io import read
from captious.io.caption_files import columns
from captious.io.describe import failed_answers
from captious.io.id_matching import rename_ids
from captious.io.image_columns import image_values
from captious.metrics import registry
from captious.metrics.registry import make_measures
from captious.results.references import load
from captious.results.scores import Scores
from captious.tasks.task_files import Task
from captious.text.endings import ENDS, OPEN_WORDS

Texts = dict[str, list[str]]

#: Names in print that mean another measure here: the COCO tools call CIDEr-D CIDEr.
_PRINTED = {
    "cider": "CIDEr-D",
    "b@1": "BLEU-1",
    "b@2": "BLEU-2",
    "b@3": "BLEU-3",
    "b@4": "BLEU-4",
    "rouge": "ROUGE-L",
}
_PAIR = re.compile(r"([A-Za-z][\w@-]*)\s*[:=]?\s*(\d*\.\d+|\d+)")
#: Openings by which vision-language models introduce a description.
BOILERPLATE = re.compile(
    r"^\W{0,20}(?:in (?:this|the) (?:image|picture|photo)(?:graph)?,?\s*|(?:sure|here is|here's)[^:]*:\s*|"
    r"(?:the|this|an|a)?\s{0,5}(?:image|picture|photo(?:graph)?)\s+(?:\w+ )?(?:shows?|features?|depicts?|of|"
    r"captures?|displays?|showcases?|contains?)\s+)",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"^(.*?[.!?])\s+\S.*$", re.DOTALL)
#: Share of captions that must begin (or end) with the same words before these count as a prompt.
_SHARED = 0.8
#: Largest difference of scores that are printed with one digit, in percent.
ROUNDING = 0.05
AS_GIVEN = "as given"


@dataclass(frozen=True)
class Variant:
    """A way to evaluate, its values in percent, and their largest distance from the published ones."""

    name: str
    values: dict[str, float]
    distance: float
    #: Whether all values are the published ones, up to rounding.
    matches: bool = False


def _pairs(text: str) -> dict[str, str]:
    pairs = _PAIR.findall(text)
    if not pairs:
        raise InputError(f"published scores are written 'CIDEr 131.2 BLEU-4 39.1', not {text!r}")
    return {str(registry.resolve([_PRINTED.get(name.lower(), name)])[0]): number for name, number in pairs}


def _is_fraction(metric: str, number: str) -> bool:
    """Whether a number can only be a fraction. CIDEr and its kin reach 10, and systems about 1.5."""
    return float(number) <= (3 if "CIDEr" in metric else 1)


def parse_published(text: str) -> dict[str, float]:
    """Return published scores in percent, from a text such as ``CIDEr 131.2 BLEU-4 39.1``.

    Numbers that can only be fractions are multiplied by 100.

    Parameters
    ----------
    text
        Names and numbers.

    Examples
    --------
    >>> parse_published("SPICE 0.25 BLEU-4 39.1")
    {'SPICE': 25.0, 'BLEU-4': 39.1}
    """
    return {
        metric: float(number) * (100 if _is_fraction(metric, number) else 1)
        for metric, number in _pairs(text).items()
    }


def published_fractions(text: str) -> list[str]:
    """Return the metrics whose published scores are fractions, not percent.

    Parameters
    ----------
    text
        Names and numbers, as for :func:`parse_published`.

    Examples
    --------
    >>> published_fractions("BLEU-4 0.391")
    ['BLEU-4']
    """
    return [metric for metric, number in _pairs(text).items() if _is_fraction(metric, number)]


def rounding(text: str) -> dict[str, float]:
    """Return half a unit of the last digit of each published score, in percent.

    Parameters
    ----------
    text
        Names and numbers, as for :func:`parse_published`.

    Examples
    --------
    >>> rounding("BLEU-4 39.1")
    {'BLEU-4': 0.05}
    """
    return {
        metric: 0.5 * 10.0 ** -len(number.partition(".")[2]) * (100 if _is_fraction(metric, number) else 1)
        for metric, number in _pairs(text).items()
    }


def diagnose(
    references: Any,
    predictions: Any,
    published: Mapping[str, float],
    split: str | None = None,
    tolerance: Mapping[str, float] | None = None,
    task: Task | None = None,
) -> list[Variant]:
    """Score a system in the ways in which evaluations differ, nearest to the published values first.

    Variants that match, or that are equally near, are listed in a fixed order. The evaluation as given is the
    first of them, so that rounding cannot suggest a cause where there is none.

    Parameters
    ----------
    references, predictions
        As for :func:`captious.score`.
    published
        Values in percent by metric (see :func:`parse_published`).
    split
        Split that the published values are said to be of.
    tolerance
        Differences by metric that rounding explains (see :func:`rounding`; default 0.05).
    task
        Task of the published values: its split, its columns and its rule of ids.

    Examples
    --------
    >>> references, captions = {1: ["a dog runs"], 2: ["a cat sits"]}, {1: "a dog sits", 2: "a cat sits"}
    >>> diagnose(references, captions, {"BLEU-1": 83.3})[0].name
    'as given'
    """
    evaluation = _Evaluation.read(references, predictions, split, task)
    allowed = {metric: 1e-9 + (tolerance or {}).get(metric, ROUNDING) for metric in published}
    variants = []
    for name, score in evaluation.variants():
        values = score(list(published))
        if values is not None:
            apart = {metric: abs(values[metric] - value) for metric, value in published.items()}
            is_match = all(apart[metric] <= allowed[metric] for metric in published)
            variants.append(Variant(name, values, max(apart.values()), is_match))
    if not variants:
        raise InputError(
            "references and predictions have no image in common; compare their ids with 'captious formats'"
        )
    return sorted(variants, key=nearness)


def nearness(variant: Variant) -> tuple[bool, float]:
    """Return a key that sorts matches first, then by distance.

    Distances are compared as they are printed, so that a variant that is hardly nearer is not suggested.
    """
    return not variant.matches, 0.0 if variant.matches else round(variant.distance, 1)


def remarks(
    references: Any, predictions: Any, split: str | None = None, task: Task | None = None
) -> list[str]:
    """Return peculiarities of the captions that can explain a difference and that no variant shows.

    Parameters
    ----------
    references
        Reference captions.
    predictions
        Captions of the system.
    split
        Split of the references to use.
    task
        Task that the captions belong to.

    Examples
    --------
    >>> remarks({1: ["a dog"], 2: ["a cat"]}, {1: "a dog on a", 2: "a cat on a"})
    ['100% of the captions end in the middle of a sentence: a limit of tokens may have cut them off']
    """
    evaluation = _Evaluation.read(references, predictions, split, task)
    refs, said, split = evaluation.refs, evaluation.said, evaluation.split
    missing, unknown = sum(i not in said for i in refs), sum(i not in refs for i in said)
    where = f"of the split '{split}'" if evaluation.splits and split is not None else "of the references"
    empty = sum(not text.strip() for texts in said.values() for text in texts)
    notes = []
    if missing:
        notes.append(f"{missing:,} of {len(refs):,} images {where} have no caption")
    if unknown:
        notes.append(f"{unknown:,} of {len(said):,} captioned images are not {where}")
    if empty:
        notes.append(f"{empty:,} captions are empty")
    if failed := failed_answers(said.values()):
        notes.append(f"{failed:,} captions are VLMEvalKit's message of a failed request")
    share = cut_off_share(predictions)
    if share > 0.05:
        notes.append(
            f"{share:.0%} of the captions end in the middle of a sentence: a limit of tokens may have cut "
            "them off"
        )
    return notes


def _texts(source: Any, role: Any) -> Texts:
    file = read(source, role)
    return {image: list(texts) for image, texts in zip(file.ids, file.captions)}


def cut_off_share(predictions: Any) -> float:
    """Return the share of captions that end in the middle of a sentence.

    In descriptions, a missing end is a sign of a limit of tokens. Classic captioners write no punctuation, so
    of theirs only captions count whose last word ends no caption, such as "the".

    Parameters
    ----------
    predictions
        A caption file, or a mapping from image to caption.

    Examples
    --------
    >>> cut_off_share({1: "A dog runs. It is", 2: "A cat sleeps. It is grey."})
    0.5
    """
    texts = [text.strip() for texts in _texts(predictions, "predictions").values() for text in texts]
    if not texts:
        return 0.0
    has_marks = 2 * sum(any(mark in text for mark in ".!?,;") for text in texts) >= len(texts)
    return sum(_is_cut_off(text, has_marks) for text in texts) / len(texts)


def _is_cut_off(text: str, has_marks: bool) -> bool:
    if has_marks:
        return not text.endswith(ENDS)
    return bool(text) and text.split()[-1].lower() in OPEN_WORDS


def shared_words(texts: list[str], *, last: bool = False) -> list[str]:
    """Return the words with which most texts begin (or end): a prompt, or a mark of the end.

    A single first word and words without letters do not count.
    """
    split = [text.split()[::-1] if last else text.split() for text in texts]
    shared: list[str] = []
    while split:
        counts = Counter(words[len(shared)] for words in split if len(words) > len(shared) + 1)
        word, count = counts.most_common(1)[0] if counts else ("", 0)
        if count < _SHARED * len(texts):
            break
        shared.append(word)
        split = [words for words in split if words[: len(shared)] == shared]
    if not any(character.isalpha() for word in shared for character in word):
        return []
    return shared[::-1] if last else shared if len(shared) > 1 else []


Score = Callable[[list[str]], "dict[str, float] | None"]


@dataclass(frozen=True)
class _Evaluation:
    """Captions, their references, and those of other splits."""

    everything: Texts
    refs: Texts
    said: Texts
    splits: dict[str, tuple[str, ...]]
    split: str | None
    tokenizer: str = "ptb"

    @classmethod
    def read(cls, references: Any, predictions: Any, split: str | None, task: Task | None) -> _Evaluation:
        """Read both sides. A task says which columns its references have, and how ids are compared."""
        own = task or Task("", "", ())
        splits: dict[str, tuple[str, ...]] = {}
        with columns(own.caption_column, own.id_column):
            file = read(references, "references")
            with suppress(InputError):
                splits = image_values(references, "split")
        named = rename_ids(file, read(predictions, "predictions"), own.ids)
        everything = dict(zip(file.ids, map(list, file.captions)))
        split = split if split is not None else own.split
        refs = everything
        if split is not None and splits:
            refs = {image: texts for image, texts in everything.items() if split in splits.get(image, ())}
        said = dict(zip(named.ids, map(list, named.captions)))
        return cls(everything, refs, said, splits, split, own.tokenizer)

    def scored(
        self,
        references: Texts | None = None,
        captions: Texts | None = None,
        *,
        plain: bool = False,
        **options: Any,
    ) -> Score:
        """Return a function that scores captions, with CIDEr in place of CIDEr-D if ``plain``."""
        refs = self.refs if references is None else references
        said = self.said if captions is None else captions
        options = {"tokenizer": self.tokenizer, **options}

        def score(metrics: list[str]) -> dict[str, float] | None:
            names = {metric: "CIDEr" if plain and metric == "CIDEr-D" else metric for metric in metrics}
            try:
                with warnings.catch_warnings():
                    # Such as empty captions, which a variant has on purpose.
                    warnings.simplefilter("ignore")
                    corpus = load(refs, said, subset="part" not in options, several=True, **options)
                    scores = Scores.of(corpus, make_measures(list(names.values()), {}))
            except InputError:
                return None
            return {metric: 100 * scores[name].value for metric, name in names.items()}

        return score

    def variants(self) -> Iterator[tuple[str, Score]]:
        """Yield the ways to evaluate, each with a function that scores them."""
        if self.splits and self.split is not None and not any(image in self.refs for image in self.said):
            yield from self._of_other_split()
            return
        yield AS_GIVEN, self.scored()
        if self.tokenizer == "raw":
            yield "captions tokenized, not as they come", self.scored(tokenizer="ptb")
        else:
            yield "captions not tokenized", self.scored(tokenizer="raw")
        yield "CIDEr without clipping and length penalty, not CIDEr-D", self.scored(plain=True)
        yield from self._of_images()
        yield from self._of_texts()
        for other in sorted({name for names in self.splits.values() for name in names} - {self.split}):
            part = {
                image: texts
                for image, texts in self.everything.items()
                if other in self.splits.get(image, ())
            }
            if any(image in self.said for image in part):
                yield f"split '{other}'", self.scored(part)
        if self.splits and self.split is not None:
            yield "all splits", self.scored(self.everything)

    def _of_other_split(self) -> Iterator[tuple[str, Score]]:
        """Yield variants of the split that has the captions: the stated one has none."""
        counts = Counter(name for image in self.said for name in self.splits.get(image, ()))
        if not counts:
            return
        other = counts.most_common(1)[0][0]
        refs = {
            image: texts for image, texts in self.everything.items() if other in self.splits.get(image, ())
        }
        for name, score in replace(self, refs=refs, split=other).variants():
            if name == AS_GIVEN:
                yield f"split '{other}'", score
            elif not name.startswith(("split ", "all splits")):
                yield f"split '{other}', {name}", score

    def _of_images(self) -> Iterator[tuple[str, Score]]:
        """Yield variants of the images, the document frequencies and the number of references."""
        refs, said = self.refs, self.said
        missing = [image for image in refs if image not in said]
        if missing and len(missing) < len(refs):
            empty = {image: said.get(image, [""]) for image in refs}
            yield f"{len(missing):,} missing images as empty captions", self.scored(captions=empty)
            yield "document frequencies of all references, not of the scored images", self.scored(part=True)
        common = {image: texts for image, texts in said.items() if image in refs}
        if len(self.everything) > len(refs) and common:
            yield "document frequencies of all splits", self.scored(self.everything, common, part=True)
        most = max(map(len, refs.values()), default=1)
        for count in sorted({1, 5, most - 1}):
            if 0 < count < most:
                few = {image: texts[:count] for image, texts in refs.items()}
                yield f"only {count} reference{'s' if count > 1 else ''} per image", self.scored(few)

    def _of_texts(self) -> Iterator[tuple[str, Score]]:
        """Yield variants of the captions."""
        texts = [text for listed in self.said.values() for text in listed]

        def changed(change: Callable[[str], str]) -> Score:
            return self.scored(captions={i: [change(text) for text in own] for i, own in self.said.items()})

        if any(map(BOILERPLATE.match, texts)):
            yield (
                "openings such as 'The image shows' removed",
                changed(lambda text: BOILERPLATE.sub("", text)),
            )
        for last in (False, True):
            if words := shared_words(texts, last=last):
                shown, place = printable(" ".join(words))[:60], "end" if last else "begin"
                yield f"'{shown}', with which most captions {place}, removed", changed(_without(words, last))
        if any(map(_SENTENCE.match, texts)):
            yield "first sentence only", changed(lambda text: _SENTENCE.sub(r"\1", text))
        if any(_finished(text) != text for text in texts):
            yield "unfinished last sentences removed", changed(_finished)


def _finished(text: str) -> str:
    """Return a text without its last sentence if that one has no end and is not the only one."""
    stripped = text.rstrip()
    ends = [stripped.rfind(mark + space) for mark in ".!?" for space in " \n\t"]
    return text if stripped.endswith(ENDS) or max(ends) < 0 else stripped[: max(ends) + 1]


def _without(words: list[str], last: bool) -> Callable[[str], str]:
    def change(text: str) -> str:
        own, n = text.split(), len(words)
        if last:
            return " ".join(own[:-n]) if own[-n:] == words else text
        return " ".join(own[n:]) if own[:n] == words else text

    return change
