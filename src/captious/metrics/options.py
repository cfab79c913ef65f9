"""Options of measures.

Declared once here, they reach Python (``captious.score(…, df=…)``), the command line (``--df FILE``,
``--option df=FILE``) and the signature.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

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
VECTORS = Option("vectors", "Word vectors: a file, glove-6b-50d, or default.", metavar="VECTORS")
COMBINE = Option(
    "combine",
    "Over references, for WEmbSim, MOWE and SentenceSim: mean, max, min, or centroid "
    "(cosine with the mean of their vectors).",
    choices=("mean", "max", "min", "centroid"),
    setting=True,
)
CONCEPTS = Option(
    "concepts", "Concept frequencies for SPICE-U (default: the references of the run).", metavar="FILE"
)
OBJECTS = Option("objects", "Objects per image for CHAIR.", metavar="FILE")
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
    "Parser of SPICE, HWCM and corpus measures: small, or exact (CoreNLP's own analyses).",
    metavar="NAME",
)

WEIGHTS = Option("weights", "Weights of a learned metric (captious train), for Learned.", metavar="FILE")
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

#: Options of the built-in measures. Each is a flag of the commands that compute scores.
STANDARD = (
    DF,
    METEOR_DATA,
    VECTORS,
    COMBINE,
    CONCEPTS,
    OBJECTS,
    CHAIR_SYNONYMS,
    SENTENCE_MODEL,
    TRAIN,
    KERNEL,
    PARSER,
    WEIGHTS,
    NORMS,
    IMAGE_VECTORS,
    TEXT_VECTORS,
    CLIP,
    PICTURES,
)


def converted(option: Option, value: Any) -> Any:
    """Convert a value from the command line (text) to the option's type."""
    if not isinstance(value, str) or option.kind is str:
        return value
    return option.kind(value)
