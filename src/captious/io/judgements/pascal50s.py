"""PASCAL-50S and ABSTRACT-50S (Vedantam et al. 2015): pairs of captions with votes, and fifty references
for each image.

The authors publish MATLAB files: ``pascal50S.mat`` and ``abstract50S.mat`` (references),
``pair_pascal.mat`` (pairs, their categories and the systems) and ``consensus_pascal.mat`` or
``consensus_abstract.mat`` (triplets: a reference, the two captions of a pair and which of them was voted
nearer). Our own layout is JSON lines: ``*pairs.jsonl`` with ``image``, ``sent1``, ``sent2``, ``category``
and ``pair_votes``, and ``*references.jsonl`` with ``image`` and ``references``.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from captious.core.errors import InputError
from captious.io.caption_files import show
from captious.io.content import read_bytes
from captious.io.judgements.judged_rows import Row, read_rows
from captious.io.judgements.judged_sets import CaptionPairs, Protocol
from captious.io.judgements.set_files import Place, image_key
from captious.io.matlab_files import read_variables

#: Categories by number, as in the authors' file.
CATEGORIES = ("HC", "HI", "HM", "MM")
_INSIDE = ("pascal50s", "PASCAL-50S", "pyCIDErConsensus")
_ABSTRACT_INSIDE = ("abstract50s", "ABSTRACT-50S", "pyCIDErConsensus")
#: Votes on pairs, all references but the two captions themselves, ties half (Wang et al. 2020, Table 2).
_DEFAULT = Protocol("accuracy", own="remove", votes="pairs")


def holds_pascal(place: Place) -> bool:
    """Whether the folder has PASCAL-50S."""
    own = place.subfolder("pascal50s")
    return place.holds(("pair_pascal.mat", "consensus_pascal.mat"), _INSIDE) or (
        own.folder.name == "pascal50s" and own.holds(("*pairs.jsonl",))
    )


def holds_abstract(place: Place) -> bool:
    """Whether the folder has ABSTRACT-50S."""
    own = place.subfolder("abstract50s")
    return place.holds(("consensus_abstract.mat",), _ABSTRACT_INSIDE) or (
        own.folder.name == "abstract50s" and own.holds(("*pairs.jsonl",))
    )


def pascal(place: Place) -> CaptionPairs:
    """Return PASCAL-50S, from the files of its authors or in the format of captious."""
    pairs = place.find(("pair_pascal.mat",), _INSIDE)
    triplets = place.find(("consensus_pascal.mat",), _INSIDE)
    if pairs is None and triplets is None:
        return _own("PASCAL-50S", place, "pascal50s", _INSIDE)
    references = place.find(("pascal50S.mat",), _INSIDE)
    return _authors("PASCAL-50S", pairs, triplets, references)


def abstract(place: Place) -> CaptionPairs:
    """Return ABSTRACT-50S: 200 pairs of category HC, then 200 of HI."""
    triplets = place.find(("consensus_abstract.mat",), _ABSTRACT_INSIDE)
    if triplets is None:
        return _own("ABSTRACT-50S", place, "abstract50s", _ABSTRACT_INSIDE)
    return _authors("ABSTRACT-50S", place.find(("pair_abstract.mat",), _ABSTRACT_INSIDE), triplets, None)


def _own(name: str, place: Place, source: str, inside: Sequence[str]) -> CaptionPairs:
    pairs = read_rows(place.need(("*pairs.jsonl",), source, inside))
    references = {
        image_key(row.name("image")): row.texts("references")
        for row in read_rows(place.need(("*references.jsonl",), source, inside))
    }
    for row in pairs:
        if image_key(row.name("image")) not in references:
            raise InputError(f"{row.where}: image {row.name('image')} has no references")
    triplets = [_label(row) for row in pairs] if all(r.has("triplet_majority_label") for r in pairs) else None
    return CaptionPairs(
        name=name,
        images=[image_key(row.name("image")) for row in pairs],
        first=[row.text("sent1") for row in pairs],
        second=[row.text("sent2") for row in pairs],
        references=[references[image_key(row.name("image"))] for row in pairs],
        votes=[_votes(row) for row in pairs],
        categories=[str(row.values.get("category", "")) for row in pairs],
        protocol=_DEFAULT,
        triplet_votes=triplets,
    )


def _votes(row: Row) -> list[int]:
    votes = row.numbers("pair_votes")
    if set(votes) - {1.0, -1.0}:
        raise InputError(f"{row.where}: votes are 1 (the first caption) or -1 (the second), found {votes}")
    return [int(v) for v in votes]


def _label(row: Row) -> list[int]:
    label = row.number("triplet_majority_label")
    if label not in (0.0, 1.0):
        raise InputError(
            f"{row.where}: 'triplet_majority_label' is 0 (the first caption) or 1 (the second), found "
            f"{label:g}"
        )
    return [1 if label == 0 else -1]


def read_mat(path: Path) -> dict[str, Any]:
    """Return the variables of a MATLAB file of version 5 to 7."""
    data = read_bytes(path)
    if not data.startswith(b"MATLAB 5.0"):
        kind = (
            "a MATLAB 7.3 file; save it with '-v7'"
            if data.startswith((b"\x89HDF", b"MATLAB 7.3"))
            else "no MATLAB file"
        )
        raise InputError(f"{path} is {kind}")
    return read_variables(data, str(path))


def _records(mat: dict[str, Any], name: str, count: int, path: Path) -> list[list[Any]]:
    """Return the first fields of each structure of a variable."""
    records = _variable(mat, name, path)
    if not isinstance(records, list) or not all(isinstance(r, dict) and len(r) >= count for r in records):
        raise InputError(f"{path}: '{name}': expected records of {count} fields")
    return [list(record.values())[:count] for record in records]


def _variable(mat: dict[str, Any], name: str, path: Path) -> Any:
    if name not in mat:
        raise InputError(f"{path}: no variable '{name}'; it holds {', '.join(mat) or 'nothing'}")
    return mat[name]


def _text(value: Any, path: Path) -> str:
    """Return the text inside nested cells."""
    while isinstance(value, list | dict):
        parts = list(value.values()) if isinstance(value, dict) else value
        value = parts[0] if parts else ""
    if isinstance(value, np.ndarray) and not value.size:
        return ""
    if not isinstance(value, str):
        raise InputError(f"{path}: expected text, found {show(value)}")
    return value.strip()


class _Voted(NamedTuple):
    """Pair of the file of triplets, with its references and the vote for each."""

    pair: tuple[str, str]
    references: list[str]
    votes: list[int]


def _triplets(path: Path, pairs: int | None) -> list[_Voted]:
    """Return the pairs in the order of the file.

    Triplets of a pair are adjacent: an equal number for each of ``pairs``, or, without that number, as long
    as the two captions stay the same. (Two images can have the same two captions.)
    """
    flat: list[_Voted] = []
    for reference, first, second, winner in _records(read_mat(path), "triplets", 4, path):
        vote = float(winner.ravel()[0]) if isinstance(winner, np.ndarray) and winner.size else 0.0
        if vote not in (1.0, -1.0):
            raise InputError(f"{path}: a vote is 1 or -1, found {vote:g}")
        flat.append(_Voted((_text(first, path), _text(second, path)), [_text(reference, path)], [int(vote)]))
    each = len(flat) // pairs if pairs and len(flat) % pairs == 0 else None
    pairs_in_order: list[_Voted] = []
    for k, triplet in enumerate(flat):
        last = pairs_in_order[-1] if pairs_in_order else None
        if last is None or last.pair != triplet.pair or (each is not None and k % each == 0):
            pairs_in_order.append(triplet)
        else:
            last.references.extend(triplet.references)
            last.votes.extend(triplet.votes)
    return pairs_in_order


def _sentences(path: Path) -> dict[str, list[str]]:
    """Return the references by image key, from records of an image name and a cell of sentences."""
    mat = read_mat(path)
    name = next((n for n in ("train_sent_final", "abs_sent") if n in mat), "train_sent_final")
    by_image = {}
    for one, other in _records(mat, name, 2, path):
        # The two files have the fields in different orders. The sentences are the cell with several entries.
        image, sentences = (other, one) if _size(one) > _size(other) else (one, other)
        by_image[image_key(_text(image, path))] = [
            _text(s, path) for s in (sentences if isinstance(sentences, list) else [sentences])
        ]
    return by_image


def _size(value: Any) -> int:
    return len(value) if isinstance(value, list) else 1


def _pair_votes(mat: dict[str, Any], pairs: int) -> list[list[int]] | None:
    """Return the votes on pairs: the matrix with one row per pair and only 1 and −1 (its name is
    undocumented).
    """
    for value in mat.values():
        if not isinstance(value, np.ndarray) or value.ndim != 2:
            continue
        matrix = value if value.shape[0] == pairs else value.T
        if matrix.shape[0] == pairs and matrix.shape[1] >= 3 and set(np.unique(matrix)) <= {-1, 1}:
            return [[int(v) for v in row] for row in matrix]
    return None


def _authors(name: str, pairs: Path | None, triplets: Path | None, references: Path | None) -> CaptionPairs:
    fifty = _sentences(references) if references is not None else {}
    votes: list[list[int]] | None = None
    voted: list[_Voted] | None
    if pairs is not None:
        mat = read_mat(pairs)
        rows = [[_text(field, pairs) for field in record] for record in _records(mat, "new_input", 3, pairs)]
        images = [image_key(row[0]) for row in rows]
        listed = [(row[1], row[2]) for row in rows]
        category = _variable(mat, "category", pairs)
        numbers = category.ravel() if isinstance(category, np.ndarray) else np.zeros(0)
        if len(numbers) != len(listed) or not set(numbers.tolist()) <= set(range(1, len(CATEGORIES) + 1)):
            raise InputError(
                f"{pairs}: 'category' must be a number from 1 to 4 for each of the {len(listed):,} pairs"
            )
        categories = [CATEGORIES[int(k) - 1] for k in numbers]
        votes = _pair_votes(mat, len(listed))
        voted = _triplets(triplets, len(listed)) if triplets is not None else None
        if voted is not None and [item.pair for item in voted] != listed:
            raise InputError(
                f"{triplets} and {pairs} are not of the same {len(listed):,} pairs in the same order"
            )
    else:
        assert triplets is not None
        voted = _triplets(triplets, None)
        listed = [item.pair for item in voted]
        # Without the file of pairs, it is unknown which pairs share an image.
        images = [f"pair {k}" for k in range(len(listed))]
        halves = name == "ABSTRACT-50S" and len(listed) == 400
        categories = (["HC"] * 200 + ["HI"] * 200) if halves else [""] * len(listed)
    by_triplet = [item.votes for item in voted] if voted is not None else None
    if votes is None and by_triplet is None:
        raise InputError(f"{pairs} holds no votes; put consensus_pascal.mat beside it")
    references_of = [
        fifty.get(image) or (voted[k].references if voted is not None else [])
        for k, image in enumerate(images)
    ]
    bare = next((image for image, texts in zip(images, references_of) if not texts), None)
    if bare is not None:
        raise InputError(
            f"no references for image {bare}; put pascal50S.mat or consensus_pascal.mat beside {pairs}"
        )
    protocol = _DEFAULT if votes is not None else Protocol("accuracy", own="remove", votes="triplets")
    return CaptionPairs(
        name=name, images=images, first=[a for a, _ in listed], second=[b for _, b in listed],
        references=references_of,
        votes=votes if votes is not None else by_triplet or [], categories=categories, protocol=protocol,
        triplet_votes=by_triplet,
    )  # fmt: skip
