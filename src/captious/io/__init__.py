"""Read captions from files and Python objects into a `CaptionFile`, or raise one clear error.

    references = read("captions_val2014.json", "references")
    predictions = read("results.json.gz", "predictions")
    ids, reference_captions, candidate_captions, left_out = align(references, predictions)

The format is detected from the content, never from the name of the file (see docs/reference/formats.md).
"""

from __future__ import annotations

from captious.io.caption_files import CaptionFile, CaptionWarning, Role, columns
from captious.io.describe import FileDescription, describe, has_both_sides
from captious.io.id_matching import Aligned, align
from captious.io.reading import read

__all__ = [
    "Aligned",
    "CaptionFile",
    "CaptionWarning",
    "FileDescription",
    "Role",
    "align",
    "columns",
    "describe",
    "has_both_sides",
    "read",
]
