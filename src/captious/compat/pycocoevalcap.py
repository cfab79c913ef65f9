"""The interface of pycocoevalcap: change the import, keep the code, get the same numbers.

    from captious.compat import COCOEvalCap                      # for pycocoevalcap.eval
    from captious.compat import PTBTokenizer, Bleu, Cider        # for pycocoevalcap.bleu.bleu, …

The tokenizer reads captions as the lines of one file, as the Java tool does, and scorers split tokens where
the COCO tools split them. No Java is needed. SPICE uses our own parser; docs/results/fidelity.md lists the
differences.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.compat.coco import COCO
from captious.compat.scoring import Captions, Scorer, checked, words
from captious.compat.segment_scorers import BleuScorer, CiderScorer, listed_results, print_counts
from captious.core.errors import InputError, some
from captious.core.memo import Lock
from captious.io.caption_files import kind
from captious.metrics import registry
from captious.metrics.captions.bleu import MAX_N
from captious.metrics.captions.spice import KINDS, Scenes, tuple_counts
from captious.metrics.captions.spice import Spice as SpiceMeasure
from captious.results.scores import Score
from captious.text import ptb
from captious.text.ptb import PUNCTUATION
from captious.text.tokenizers import pieces

__all__ = [
    "COCO",
    "Bleu",
    "BleuScorer",
    "COCOEvalCap",
    "Cider",
    "CiderScorer",
    "Meteor",
    "PTBTokenizer",
    "Rouge",
    "Spice",
]

#: Tokens that the tokenizer drops, under their name in pycocoevalcap.
PUNCTUATIONS = list(PUNCTUATION)


class PTBTokenizer:
    """Stanford's tokenizer as the COCO tools call it: one file of lines, lower case, punctuation dropped."""

    def tokenize(self, captions_for_image: Mapping[Any, Sequence[Mapping[str, Any]]]) -> dict[Any, list[str]]:
        """Tokenize image id → ``[{"caption": text}, …]`` into image id → captions as tokens separated by
        spaces.
        """
        rows = [(image, _text(row, image)) for image, listed in captions_for_image.items() for row in listed]
        tokens = ptb.tokenize_lines([text.replace("\n", " ") for _, text in rows])
        tokenized: dict[Any, list[str]] = {}
        for (image, _), caption in zip(rows, tokens):
            tokenized.setdefault(image, []).append(" ".join(caption))
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


class Bleu(Scorer):
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
        corpus = self._corpus(gts, res, words)
        scores = [Score.of(registry.create(f"BLEU-{n}"), corpus) for n in range(1, self._n + 1)]
        if verbose:
            print_counts(scores[0].statistics, self._n)
        return [score.value for score in scores], [score.per_caption.tolist() for score in scores]


class Rouge(Scorer):
    """ROUGE-L."""

    _method = "Rouge"

    def compute_score(self, gts: Captions, res: Captions) -> tuple[np.float64, NDArray[np.float64]]:
        """Return the mean, and the values by image in the order of the keys."""
        value, each = self._score(registry.create("ROUGE-L"), self._corpus(gts, res, pieces))
        return np.float64(value), np.array(each)

    def calc_score(self, candidate: Sequence[str], refs: Sequence[str]) -> float:
        """Return the value of one candidate, given as a list of one."""
        return float(self.compute_score({0: refs}, {0: candidate})[1][0])


class Cider(Scorer):
    """CIDEr as the COCO tools name it: CIDEr-D.

    Document frequencies are those of the references (``df="corpus"``), or of a file. Results are a mapping
    from image to one caption in a list, or rows ``{"image_id": …, "caption": […]}``, in which an image can
    occur several times.
    """

    _method = "CIDEr"
    _measure = "CIDEr-D"

    def __init__(
        self, test: object = None, refs: object = None, n: int = 4, sigma: float = 6.0, df: str = "corpus"
    ) -> None:
        self._scorer = CiderScorer(n=n, sigma=sigma, df_mode=df, measure=self._measure)

    def compute_score(self, gts: Captions, res: Any) -> tuple[np.float64, NDArray[np.float64]]:
        """Return the mean, and the values by image in the order of the keys, or of the rows."""
        if isinstance(res, Mapping):
            order = checked(gts, res)
            candidates, references = [res[image][0] for image in order], [gts[image] for image in order]
        else:
            candidates, references = listed_results(gts, res)
        return self._scorer.score(candidates, references)


class _StoppedProcess:
    """Stand-in for the Java process of METEOR, which code kills when it is done. There is no process."""

    def __init__(self) -> None:
        self.stdin, self.stdout, self.stderr = io.BytesIO(), io.BytesIO(), io.BytesIO()
        self.pid = None
        self.returncode = 0

    def kill(self) -> None:
        """Do nothing."""

    terminate = kill

    def wait(self, timeout: float | None = None) -> int:
        """Return at once."""
        return 0

    def poll(self) -> int:
        """Return the exit code."""
        return 0


class Meteor(Scorer):
    """METEOR 1.5 for English; needs its data (``pip install 'captious[meteor]'``), and no Java."""

    _method = "METEOR"

    def __init__(self) -> None:
        self.meteor_p = _StoppedProcess()
        self.lock = Lock()

    def compute_score(self, gts: Captions, res: Captions) -> tuple[float, list[float]]:
        """Return the corpus value, and the values by image in the order of the keys."""
        return self._score(registry.create("METEOR"), self._corpus(gts, res, str))


class Spice(Scorer):
    """SPICE with its categories."""

    _method = "SPICE"

    def compute_score(
        self, gts: Captions, res: Captions
    ) -> tuple[np.float64, list[dict[str, dict[str, float]]]]:
        """Return the mean F, and the counts and scores of each category by image.

        As in pycocoevalcap, images are in the order of *sorted* keys.
        """
        order = sorted(gts)
        corpus = self._corpus({image: gts[image] for image in order}, res, str)
        measure = SpiceMeasure()
        scenes: Scenes = measure.prepare(corpus.references)
        value = np.float64(Score.of(measure, corpus).value)
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


class COCOEvalCap:
    """All COCO metrics of one system.

    ``coco`` and ``cocoRes`` are objects of pycocotools, or :class:`COCO`.
    """

    def __init__(self, coco: Any, cocoRes: Any, df: str = "corpus") -> None:
        """Take references and results, and the document frequencies for CIDEr as in some copies of the tools:
        ``"corpus"``, or a file.
        """
        self._cider = Cider(df=df)
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
            (self._cider, ["CIDEr"]),
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
                self.setEval(value, name)
                self.setImgToEvalImgs(row, images, name)
                say(f"{name}: {value:0.3f}")
        self.setEvalImgs()

    def setEval(self, score: Any, method: str) -> None:  # noqa: N802  (names of pycocoevalcap)
        """Store the value of a metric."""
        self.eval[method] = score

    def setImgToEvalImgs(self, scores: Iterable[Any], imgIds: Iterable[Any], method: str) -> None:  # noqa: N802
        """Store the values of a metric by image."""
        for image, value in zip(imgIds, scores):
            self.imgToEval.setdefault(image, {"image_id": image})[method] = value

    def setEvalImgs(self) -> None:  # noqa: N802
        """List the values by image."""
        self.evalImgs = list(self.imgToEval.values())
