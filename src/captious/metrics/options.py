"""Options of measures.

Declared once here, they reach Python (``captious.score(…, df=…)``), the command line (``--df FILE``,
``--option df=FILE``) and the signature.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

#: Entry-point group through which other packages add measures: name of the measure → its class.
ENTRY_POINTS = "captious.measures"


@dataclass(frozen=True)
class Option:
    """Keyword argument of a measure's constructor."""

    name: str
    help: str
    #: Type of the value on the command line: a path, text, a number or a switch.
    kind: type = str
    metavar: str | None = None
    #: Allowed values, where they can be listed.
    choices: tuple[str, ...] = ()
    #: Whether the value itself belongs in the signature. For files and models, the digest of their content
    #: does instead.
    setting: bool = False

    @property
    def flag(self) -> str:
        """Name of the option on the command line."""
        return "--" + self.name.replace("_", "-")


DF = Option(
    "df",
    "Document frequencies for CIDEr and Self-CIDEr (default: the references of the run).",
    metavar="FILE",
)
METEOR_DATA = Option(
    "meteor_data",
    "Folder with METEOR's data (default: the installed pycocoevalcap); "
    "SPICE then reads its synonyms there, too.",
    metavar="DIR",
)
VECTORS = Option("vectors", "Word vectors: a file, glove-6b-50d, captions, or default.", metavar="VECTORS")
COMBINE = Option(
    "combine",
    "Over references, for WEmbSim, MOWE, SentenceSim and SentenceSim-lite: mean, max, min, or centroid "
    "(cosine with the mean of their vectors).",
    choices=("mean", "max", "min", "centroid"),
    setting=True,
)
CONCEPTS = Option(
    "concepts", "Concept frequencies for SPICE-U (default: the references of the run).", metavar="FILE"
)
TRUTH = Option(
    "truth",
    "Concepts of each image in place of reference captions, for SPICE, SPICE-U and Uniq: tuples, objects, or "
    "scene graphs of Visual Genome.",
    metavar="FILE",
)
TRUTH_NAMES = Option(
    "truth_names",
    "With objects as --truth, the objects of a caption: its nouns, or the classes that CHAIR's synonym table "
    "finds in it (other words do not count).",
    choices=("nouns", "classes"),
)
OBJECTS = Option("objects", "Objects per image for CHAIR and ALOHa.", metavar="FILE")
FACTS = Option(
    "facts",
    "Facts per image for FactRecall (default: facts of the references by the parser).",
    metavar="FILE",
)
ALOHA = Option(
    "aloha",
    "Support of an object, for ALOHa: logistic (a probability, fitted to marked captions) or matching "
    "(cosine with the object assigned one to one, as published).",
    choices=("logistic", "matching"),
    setting=True,
)
AMBER = Option(
    "amber",
    "AMBER's folder (annotations.json, relation.json, safe_words.txt) or a file of such annotations, for "
    "Cover, Hal, Cog and AMBER-CHAIR.",
    metavar="PATH",
)
CHAIR_SYNONYMS = Option("chair_synonyms", "Synonym table for CHAIR (default: our own).", metavar="FILE")
SENTENCE_MODEL = Option(
    "sentence_model",
    "Folder or package of the sentence encoder; "
    "for SentenceSim several, with commas (the mean of their scores).",
    metavar="MODEL",
)
TRAIN = Option(
    "train", "Training captions, for the share of novel captions and for learnable words.", metavar="FILE"
)
KERNEL = Option(
    "kernel", "Similarity inside Self-CIDEr: cider, cider-d, or the name of a metric.", metavar="NAME"
)
PARSER = Option(
    "parser",
    "Parser of SPICE, HWCM and corpus measures: fast, grammar (closer to CoreNLP), or exact (CoreNLP's own).",
    metavar="NAME",
)

WEIGHTS = Option(
    "weights",
    "Weights of a learned metric (captious train), for Learned; "
    "captious_score-0.8, captious_score_lite-0.8 and -0.7 are our own metrics as of these versions.",
    metavar="FILE",
)
CHAINS = Option(
    "chains",
    "Chains of HWCM-n: of n words (single), or the mean over chains of 1 to n words (cumulated).",
    choices=("single", "cumulated"),
    setting=True,
)
OVERLAP = Option(
    "overlap",
    "Over references, for Precision-n, Recall-1 and HWCM: max, mean or min (default: max; for Precision-n, "
    "n-grams that any reference has, as in BLEU).",
    choices=("max", "mean", "min"),
    setting=True,
)
OVER_IMAGES = Option(
    "over_images",
    "Over images, for Loc and Prec: pooled (all words together, as published) or mean (over images).",
    choices=("pooled", "mean"),
    setting=True,
)
NORMS = Option("norms", "Concreteness ratings by word (CSV or TSV), for Concr.", metavar="TABLE")
IMAGE_VECTORS = Option(
    "image_vectors",
    "Vectors of images by id (npz, npy, safetensors, Parquet), for CLIP-S and RefCLIP-S.",
    metavar="FILE",
)
TEXT_VECTORS = Option(
    "text_vectors",
    "Vectors of captions by text, of the same model, for CLIP-S and RefCLIP-S.",
    metavar="FILE",
)
CLIP = Option(
    "clip",
    "Folder of a CLIP model that encodes captions and pictures, for CLIP-S and RefCLIP-S.",
    metavar="FOLDER",
)
PICTURES = Option(
    "pictures", "Folder of the pictures, each named by its image's id, for --clip.", metavar="DIR"
)
CRITIC = Option(
    "critic", "Trained critic (safetensors), or a folder of critics to average, for Critic.", metavar="FILE"
)
CRITIC_IMAGES = Option(
    "critic_images", "Objects or features of the images, for a Critic that sees them.", metavar="FILE"
)

#: Options of the built-in measures. Each is a flag of the commands that compute scores.
STANDARD = (
    DF,
    METEOR_DATA,
    VECTORS,
    COMBINE,
    CONCEPTS,
    TRUTH,
    TRUTH_NAMES,
    OBJECTS,
    FACTS,
    AMBER,
    ALOHA,
    CHAIR_SYNONYMS,
    SENTENCE_MODEL,
    TRAIN,
    KERNEL,
    PARSER,
    WEIGHTS,
    CHAINS,
    OVERLAP,
    OVER_IMAGES,
    NORMS,
    IMAGE_VECTORS,
    TEXT_VECTORS,
    CLIP,
    PICTURES,
    CRITIC,
    CRITIC_IMAGES,
)


def entry_points() -> list[EntryPoint]:
    """Return the entry points of measures in other installed packages.

    Python's own lookup takes 30 ms in an environment with a hundred packages, 10 % of a small run. So the
    packages' files are first searched for the name of the group.
    """
    if not any(map(_may_have, sys.path)):
        return []
    from importlib import metadata

    return list(metadata.entry_points(group=ENTRY_POINTS))


def _may_have(place: str) -> bool:
    """Return whether a package in a folder of Python's path names the group.

    True for archives, which cannot be scanned.
    """
    try:
        with os.scandir(place or os.curdir) as entries:
            infos = [
                entry.path for entry in entries if entry.name.endswith((".dist-info", ".egg-info", ".egg"))
            ]
    except NotADirectoryError:
        return True
    except OSError:
        return False
    group = ENTRY_POINTS.encode()
    for info in infos:
        for inside in ("entry_points.txt", "EGG-INFO/entry_points.txt"):
            # The file may be missing, and an old .egg-info may be a file itself.
            with suppress(OSError), Path(info, inside).open("rb") as file:
                if group in file.read():
                    return True
    return False
