"""The interface of pycocoevalcap: change the import, keep the code, get the same numbers.

    from captious.compat import COCOEvalCap                      # for pycocoevalcap.eval
    from captious.compat import PTBTokenizer, Bleu, Cider        # for pycocoevalcap.bleu.bleu, …

The tokenizer reads captions as the lines of one file, as the Java tool does, and scorers split tokens where
the COCO tools split them. No Java is needed. SPICE uses our own parser; docs/results/fidelity.md lists the
differences.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.core.errors import InputError, some
from captious.corpus import Corpus
from captious.io.caption_files import kind
from captious.metrics import registry
from captious.metrics.base import Measure
from captious.metrics.captions.bleu import MAX_N
from captious.metrics.captions.spice import KINDS, Scenes, tuple_counts
from captious.metrics.captions.spice import Spice as SpiceMeasure
from captious.results.scores import Score
from captious.text import ptb

__all__ = ["COCO", "Bleu", "COCOEvalCap", "Cider", "Meteor", "PTBTokenizer", "Rouge", "Spice"]

#: Image id → captions; those of candidates are one per image.
Captions = Mapping[Any, Sequence[str]]


class PTBTokenizer:
    """Stanford's tokenizer as the COCO tools call it: one file of lines, lower case, punctuation dropped."""

    def tokenize(self, captions_for_image: Mapping[Any, Sequence[Mapping[str, Any]]]) -> dict[Any, list[str]]:
        """Tokenize image id → ``[{"caption": text}, …]`` into image id → captions as tokens separated by
        spaces.
        """
        rows = [(image, _text(row, image)) for image, listed in captions_for_image.items() for row in listed]
        tokens = ptb.tokenize_lines([text.replace("\n", " ") for _, text in rows])
        tokenized: dict[Any, list[str]] = {}
        for (image, _), words in zip(rows, tokens):
            tokenized.setdefault(image, []).append(" ".join(words))
        return tokenized


def _text(row: Mapping[str, Any], image: Any) -> str:
    """Return the caption of a row. The COCO tools refuse all but text, too."""
    text = row["caption"] if isinstance(row, Mapping) and "caption" in row else row
    if not isinstance(text, str) or not isinstance(row, Mapping):
        raise InputError(
            f"image {image!r}: the caption is {kind(text)}; the tokenizer takes "
            "{image: [{'caption': text}, …]} (write '' for an empty caption)"
        )
    return text


class _Scorer:
    """Base of all scorers."""

    _method: str

    def method(self) -> str:
        """Return the name by which the COCO tools announce the metric."""
        return self._method

    def _corpus(self, gts: Captions, res: Captions, split: Any) -> Corpus:
        ids = _checked(gts, res)
        names = [f"{place}" for place in range(len(ids))]
        return Corpus.build(
            names,
            [[split(text) for text in res[i]] for i in ids],
            [[split(text) for text in gts[i]] for i in ids],
            tokenizer="none",
        )

    def _score(self, measure: Measure, corpus: Corpus) -> tuple[float, list[float]]:
        score = Score.of(measure, corpus)
        return score.value, score.per_caption.tolist()


def _checked(gts: Captions, res: Captions) -> list[Any]:
    if gts.keys() != res.keys():
        apart = [key for key in [*gts, *res] if key not in gts or key not in res]
        raise InputError(
            f"references and candidates must be of the same images; only one side has {some(apart)}"
        )
    for image in gts:
        if isinstance(res[image], str) or isinstance(gts[image], str):
            raise InputError(f"image {image!r} has a text where a list of captions is expected")
        if len(res[image]) != 1:
            raise InputError(
                f"image {image!r} has {len(res[image])} candidates; the COCO tools take one (captious.score "
                "takes any number)"
            )
        if not len(gts[image]):
            raise InputError(f"image {image!r} has no reference")
    return list(gts)


def _words(text: str) -> str:
    """Split as ``text.split()``: for BLEU and CIDEr, a no-break space also separates words."""
    return " ".join(text.split())


#: Replacements for characters at which the tokenizer "none" would split a token, and for the empty token.
_INSIDE = str.maketrans({"\t": "\ue000", "\r": "\ue001", "\n": "\ue002", "\f": "\ue003", "\v": "\ue004"})
_EMPTY = "\ue005"


def _pieces(text: str) -> str:
    """Split as ``text.split(" ")``: for ROUGE-L, the empty text between two spaces is a word, and an empty
    caption has one.
    """
    return " ".join(piece.translate(_INSIDE) or _EMPTY for piece in text.split(" "))


class Bleu(_Scorer):
    """BLEU-1 to BLEU-n."""

    _method = "Bleu"

    def __init__(self, n: int = 4) -> None:
        if not 1 <= n <= MAX_N:
            raise InputError(f"BLEU takes n from 1 to {MAX_N}, not {n}")
        self._n = n

    def compute_score(
        self, gts: Captions, res: Captions, verbose: int = 1
    ) -> tuple[list[float], list[list[float]]]:
        """Return corpus values and values by image, in the order of the keys, for n = 1, 2, …"""
        corpus = self._corpus(gts, res, _words)
        scores = [Score.of(registry.create(f"BLEU-{n}"), corpus) for n in range(1, self._n + 1)]
        if verbose:
            sums = scores[0].statistics.sum(axis=0)
            counts = [int(value) for value in sums]
            guess, correct = counts[MAX_N : MAX_N + self._n], counts[: self._n]
            print({"testlen": counts[-2], "reflen": counts[-1], "guess": guess, "correct": correct})
            print("ratio:", (counts[-2] + 1e-15) / (counts[-1] + 1e-9))
        return [score.value for score in scores], [score.per_caption.tolist() for score in scores]


class Rouge(_Scorer):
    """ROUGE-L."""

    _method = "Rouge"

    def compute_score(self, gts: Captions, res: Captions) -> tuple[float, NDArray[np.float64]]:
        """Return the mean, and the values by image in the order of the keys."""
        value, each = self._score(registry.create("ROUGE-L"), self._corpus(gts, res, _pieces))
        return value, np.array(each)


class Cider(_Scorer):
    """CIDEr as the COCO tools name it: CIDEr-D, with document frequencies of the references."""

    _method = "CIDEr"

    def __init__(self, test: object = None, refs: object = None, n: int = 4, sigma: float = 6.0) -> None:
        if (n, sigma) != (4, 6.0):
            raise InputError(f"CIDEr-D takes only n = 4 and sigma = 6, not n = {n} and sigma = {sigma:g}")

    def compute_score(self, gts: Captions, res: Captions) -> tuple[float, NDArray[np.float64]]:
        """Return the mean, and the values by image in the order of the keys."""
        corpus = self._corpus(gts, res, _words)
        if len(corpus) == 1:
            # Every n-gram is in all images, so all weights are zero.
            return 0.0, np.zeros(1)
        value, each = self._score(registry.create("CIDEr-D"), corpus)
        return value, np.array(each)


class Meteor(_Scorer):
    """METEOR 1.5 for English; needs its data (``pip install 'captious[meteor]'``), and no Java."""

    _method = "METEOR"

    def compute_score(self, gts: Captions, res: Captions) -> tuple[float, list[float]]:
        """Return the corpus value, and the values by image in the order of the keys."""
        return self._score(registry.create("METEOR"), self._corpus(gts, res, str))


class Spice(_Scorer):
    """SPICE with its categories."""

    _method = "SPICE"

    def compute_score(self, gts: Captions, res: Captions) -> tuple[float, list[dict[str, dict[str, float]]]]:
        """Return the mean F, and the counts and scores of each category by image.

        As in pycocoevalcap, images are in the order of *sorted* keys.
        """
        order = sorted(gts)
        corpus = self._corpus({image: gts[image] for image in order}, res, str)
        measure = SpiceMeasure()
        scenes: Scenes = measure.prepare(corpus.references)
        value = Score.of(measure, corpus).value
        rows = tuple_counts(corpus, scenes).tolist()
        return value, [
            {kind: _category(kind, *row[place]) for place, kind in enumerate(KINDS)} for row in rows
        ]


def _category(kind: str, hits: float, candidate: float, reference: float) -> dict[str, float]:
    """Describe one category of an image. Scores are NaN if the references have no such tuple."""
    from captious.scene.tuple_match import precision_recall_f

    counted = reference > 0 or kind == "All"
    scores = precision_recall_f((int(hits), int(candidate), int(reference))) if counted else (np.nan,) * 3
    return {
        **dict(zip(("pr", "re", "f"), scores)),
        "tp": hits,
        "fp": candidate - hits,
        "fn": reference - hits,
        "numImages": 1.0,
    }


class COCO:
    """The part of pycocotools' COCO that caption scores need.

    :class:`COCOEvalCap` takes objects of pycocotools as well.
    """

    def __init__(self, annotation_file: str | Path | None = None) -> None:
        self.dataset: dict[str, Any] = {}
        self.anns: dict[Any, dict[str, Any]] = {}
        self.imgs: dict[Any, dict[str, Any]] = {}
        self.imgToAnns: dict[Any, list[dict[str, Any]]] = defaultdict(list)
        if annotation_file is not None:
            dataset = _read(annotation_file)
            if not isinstance(dataset, dict) or "annotations" not in dataset:
                raise InputError(
                    f"{annotation_file}: no COCO annotations (an object with the key 'annotations' is "
                    "expected)"
                )
            self._index(dataset)

    def _index(self, dataset: dict[str, Any]) -> None:
        self.dataset = dataset
        try:
            for place, row in enumerate(dataset["annotations"]):
                self.imgToAnns[row["image_id"]].append(row)
                self.anns[row.get("id", place)] = row
        except (KeyError, TypeError, AttributeError) as error:
            raise InputError(
                f"COCO annotations are objects with 'image_id' and 'caption'; one is not ({error})"
            ) from error
        listed = dataset.get("images") or [{"id": image} for image in self.imgToAnns]
        self.imgs = {row["id"]: row for row in listed}

    def getImgIds(self) -> list[Any]:  # noqa: N802  (its name in pycocotools)
        """Return all image ids."""
        return list(self.imgs)

    def loadRes(self, resFile: str | Path | Sequence[Mapping[str, Any]]) -> COCO:  # noqa: N802
        """Read results, ``[{"image_id": …, "caption": …}, …]``, from a file or a list."""
        listed = _read(resFile) if isinstance(resFile, str | Path) else list(resFile)
        if not isinstance(listed, list):
            raise InputError("COCO results are a list of objects with 'image_id' and 'caption'")
        results = COCO()
        rows = [{**row, "id": place} for place, row in enumerate(listed, 1)]
        unknown = [row["image_id"] for row in rows if "image_id" in row and row["image_id"] not in self.imgs]
        if unknown:
            raise InputError(f"results for images that the references do not have: {some(unknown)}")
        present = {row.get("image_id") for row in rows}
        results._index(
            {"annotations": rows, "images": [row for image, row in self.imgs.items() if image in present]}
        )
        return results


def _read(path: str | Path) -> Any:
    from captious.io.content import read_json

    return read_json(path, "expected COCO annotations or results")


class COCOEvalCap:
    """All COCO metrics of one system.

    ``coco`` and ``cocoRes`` are objects of pycocotools, or :class:`COCO`.
    """

    def __init__(self, coco: Any, cocoRes: Any) -> None:
        self.evalImgs: list[dict[str, Any]] = []
        self.eval: dict[str, float] = {}
        self.imgToEval: dict[Any, dict[str, Any]] = {}
        self.coco = coco
        self.cocoRes = cocoRes
        self.params: dict[str, Any] = {"image_id": coco.getImgIds()}

    def evaluate(self, verbose: bool = True) -> None:
        """Tokenize and score; results are in ``eval``, ``imgToEval`` and ``evalImgs``."""
        say = print if verbose else lambda *_: None
        ids = self.params["image_id"]
        missing = [image for image in ids if not self.cocoRes.imgToAnns.get(image)]
        if missing:
            raise InputError(
                f"no result for {len(missing):,} of {len(ids):,} images ({some(missing)}); "
                "evaluate those that have one: params['image_id'] = cocoRes.getImgIds()"
            )
        say("tokenization...")
        gts = PTBTokenizer().tokenize({image: self.coco.imgToAnns[image] for image in ids})
        res = PTBTokenizer().tokenize({image: self.cocoRes.imgToAnns[image] for image in ids})
        say("setting up scorers...")
        scorers: list[tuple[Any, list[str]]] = [
            (Bleu(4), ["Bleu_1", "Bleu_2", "Bleu_3", "Bleu_4"]),
            (Meteor(), ["METEOR"]),
            (Rouge(), ["ROUGE_L"]),
            (Cider(), ["CIDEr"]),
            (Spice(), ["SPICE"]),
        ]
        for scorer, names in scorers:
            say(f"computing {scorer.method()} score...")
            if isinstance(scorer, Bleu):
                values, rows = scorer.compute_score(gts, res, verbose=int(verbose))
            else:
                value, each = scorer.compute_score(gts, res)
                values, rows = [value], [each]
            # SPICE sorts its images; the other scorers keep their order.
            images = sorted(gts) if isinstance(scorer, Spice) else list(gts)
            for name, value, row in zip(names, values, rows):
                self.eval[name] = value
                self._keep(name, images, row)
                say(f"{name}: {value:0.3f}")
        self.evalImgs = list(self.imgToEval.values())

    def _keep(self, name: str, images: Iterable[Hashable], values: Iterable[Any]) -> None:
        for image, value in zip(images, values):
            self.imgToEval.setdefault(image, {"image_id": image})[name] = value
