"""Judgements of hallucinations and descriptions: HAT, nocaps-FOIL, ImageInWords and FAITHSCORE."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from captious.core.errors import InputError, did_you_mean
from captious.io.caption_files import show
from captious.io.judgements.judged_rows import Row, read_rows
from captious.io.judgements.judged_sets import CaptionPairs, Protocol, RatedCaptions
from captious.io.judgements.set_files import Place, image_key, read_references

_HAT = ("hat.jsonl", "HAT*.jsonl", "hat.json", "HAT*.json")
_FOIL = ("*foil*.jsonl", "*foil*.json")
_FAITH = ("*faithscore*.jsonl", "*faithscore*.json")

#: Five axes of the side-by-side comparisons of ImageInWords: name in the files → name in tables.
AXES = {
    "Comprehensiveness": "comprehensive",
    "Specificity": "specific",
    "Hallucination": "hallucination",
    "First few line(s) as tldr": "summary",
    "Human Like": "human-like",
}
_STRENGTH = {"marginally": 0.5, "substantially": 1.0}


def holds_hat(place: Place) -> bool:
    """Whether the folder has HAT."""
    return place.holds(_HAT, ("hat",))


def hat(place: Place) -> RatedCaptions:
    """Return HAT (Petryk et al. 2024): captions with or without a hallucination, wrong words marked.

    Average precision of finding captions with a hallucination, lowest score first. ``grounding`` lists each
    word with true where it is wrong. Rows can name their own references or the COCO image.
    """
    rows = read_rows(place.need(_HAT, "hat", ("hat",)))
    references = {} if rows[0].has("references") else read_references(place, "coco")
    usable, texts = _with_references(rows, references, "image_path")
    return RatedCaptions(
        name="HAT",
        images=[image_key(row.name("image_path", "image")) for row in usable],
        captions=[row.text("caption") for row in usable],
        references=texts,
        ratings=[[float(not row.flag("contains_hallucination"))] for row in usable],
        protocol=Protocol("ap", own="keep"),
        left_out=len(rows) - len(usable),
        wrong_words=[_marked_words(row) for row in usable],
    )


def _with_references(
    rows: Sequence[Row], references: Mapping[str, list[str]], image: str
) -> tuple[list[Row], list[list[str]]]:
    texts = [
        row.texts("references")
        if row.has("references")
        else references.get(image_key(row.name(image, "image")))
        for row in rows
    ]
    usable = [(row, own) for row, own in zip(rows, texts) if own]
    return [row for row, _ in usable], [own for _, own in usable]


def _marked_words(row: Row) -> list[str]:
    value = row.values.get("grounding") or []
    if not isinstance(value, list) or not all(
        isinstance(item, list) and len(item) == 2 and isinstance(item[0], str) and isinstance(item[1], bool)
        for item in value
    ):
        raise InputError(
            f"{row.where}: 'grounding' must be a list of [word, true if wrong], found {show(value, 80)}"
        )
    return [word for word, is_wrong in value if is_wrong]


def _names(place: Place, folder: str, common: str, others: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names of a set's file. A common name counts only in the folder of the set."""
    return (common, *others) if place.subfolder(folder).folder.name == folder else others


def _foil_names(place: Place) -> tuple[str, ...]:
    return _names(place, "nocaps_foil", "pairs.jsonl", _FOIL)


def holds_foil(place: Place) -> bool:
    """Whether the folder has nocaps-FOIL."""
    return place.subfolder("nocaps_foil").holds(_foil_names(place))


def _foil_rows(place: Place) -> list[Row]:
    rows = read_rows(place.subfolder("nocaps_foil").need(_foil_names(place), "nocaps-foil"))
    for row in rows:
        if len(row.texts("replacement")) != 2:
            raise InputError(
                f"{row.where}: 'replacement' must be [the word, its foil], "
                f"found {show(row.get('replacement'), 80)}"
            )
    return rows


def foil(place: Place) -> RatedCaptions:
    """Return nocaps-FOIL (Petryk et al. 2024): captions, and the same with one noun replaced.

    Average precision of finding the foiled captions, lowest score first, over the whole set and by domain.
    """
    rows = _foil_rows(place)
    return RatedCaptions(
        name="nocaps-FOIL",
        images=[image_key(row.name("image_path", "image")) for row in rows for _ in range(2)],
        captions=[row.text(side) for row in rows for side in ("baseline", "foil")],
        references=[row.texts("references") for row in rows for _ in range(2)],
        ratings=[[rating] for _ in rows for rating in (1.0, 0.0)],
        protocol=Protocol("ap", own="keep"),
        categories=[str(row.values.get("domain") or "") for row in rows for _ in range(2)],
        wrong_words=[words for row in rows for words in ([], _foiled_words(row))],
    )


def _foiled_words(row: Row) -> list[str]:
    """Return the foil and each of its words ("traffic light", "traffic", "light")."""
    text = row.texts("replacement")[1]
    return [text, *text.split()]


def foil_pairs(place: Place) -> CaptionPairs:
    """Return nocaps-FOIL as pairs: accuracy of scoring the true caption above its foil, by domain."""
    rows = _foil_rows(place)
    return CaptionPairs(
        name="nocaps-FOIL-pairs",
        images=[image_key(row.name("image_path", "image")) for row in rows],
        first=[row.text("baseline") for row in rows],
        second=[row.text("foil") for row in rows],
        references=[row.texts("references") for row in rows],
        votes=[[1.0]] * len(rows),
        categories=[str(row.values.get("domain") or "") for row in rows],
        protocol=Protocol("accuracy", own="keep"),
    )


def holds_iiw(place: Place) -> bool:
    """Whether the folder has the side-by-side comparisons of ImageInWords with objects as references."""
    return place.holds(("IIW-400.jsonl",), ("imageinwords",))


def holds_iiw_docci(place: Place) -> bool:
    """Whether the folder has the comparison of ImageInWords with DOCCI."""
    return place.holds(("DOCCI_Test.jsonl",), ("imageinwords",))


def iiw(place: Place) -> CaptionPairs:
    """Return IIW-400 (Garg et al. 2024): a person's description against a model's, on five axes.

    References are the annotators' descriptions of single objects. Pairs without one of the two texts are
    left out.
    """
    rows = read_rows(place.need(("IIW-400.jsonl",), "imageinwords", ("imageinwords",)))
    verdicts = "iiw-human-sxs-iiw-p5b"
    usable = [row for row in rows if row.has("IIW") and row.has("IIW-P5B") and row.has(verdicts)]
    references = [_object_texts(row) for row in usable]
    axes = [_axes(row, row.get(verdicts), "IIW-Human", "IIW-P5B") for row in usable]
    return _side_by_side("ImageInWords", usable, ("IIW", "IIW-P5B"), "image/key", references, axes)


def iiw_docci(place: Place) -> CaptionPairs:
    """Return DOCCI's descriptions against those of ImageInWords, on five axes, without references."""
    rows = read_rows(place.need(("DOCCI_Test.jsonl",), "imageinwords", ("imageinwords",)))
    usable = [row for row in rows if row.has("IIW") and row.has("DOCCI")]
    axes = [_axes(row, row.values, "IIW", "DOCCI") for row in usable]
    return _side_by_side("ImageInWords-DOCCI", usable, ("IIW", "DOCCI"), "image", [[]] * len(usable), axes)


def _side_by_side(
    name: str,
    rows: Sequence[Row],
    sides: tuple[str, str],
    image: str,
    references: Sequence[list[str]],
    axes: Sequence[dict[str, float]],
) -> CaptionPairs:
    """Return one pair for each row and axis. The axis is its category."""
    cells = [(k, axis) for axis in AXES.values() for k in range(len(rows))]
    return CaptionPairs(
        name=name,
        images=[rows[k].name(image) for k, _ in cells],
        first=[rows[k].text(sides[0]) for k, _ in cells],
        second=[rows[k].text(sides[1]) for k, _ in cells],
        references=[references[k] for k, _ in cells],
        votes=[[axes[k][axis]] for k, axis in cells],
        categories=[axis for _, axis in cells],
        protocol=Protocol("accuracy", own="keep"),
    )


def _object_texts(row: Row) -> list[str]:
    value = row.values.get("objects")
    texts = [
        item["description"]
        for item in (value if isinstance(value, list) else [])
        if isinstance(item, dict) and isinstance(item.get("description"), str) and item["description"].strip()
    ]
    if not texts:
        raise InputError(
            f"{row.where}: 'objects' must be a list of objects with a 'description', found {show(value, 80)}"
        )
    return texts


def _axes(row: Row, values: object, first: str, second: str) -> dict[str, float]:
    """Return the verdict on each axis, from 1 (first side substantially better) to −1."""
    if not isinstance(values, Mapping):
        raise InputError(f"{row.where}: the verdicts must be an object, found {show(values, 80)}")
    known = {"Neutral": 0.0}
    for word, strength in _STRENGTH.items():
        known[f"{first} is {word} better"] = strength
        known[f"{second} is {word} better"] = -strength
    margins = {}
    for name, axis in AXES.items():
        verdict = values.get(f"metrics/{name}")
        if not isinstance(verdict, str) or verdict not in known:
            near = did_you_mean(verdict, known) if isinstance(verdict, str) else ""
            raise InputError(
                f"{row.where}: unknown verdict {show(verdict, 80)} on '{name}'{near} "
                f"(known: {', '.join(known)})"
            )
        margins[axis] = known[verdict]
    return margins


def holds_faithscore(place: Place) -> bool:
    """Whether the folder has the annotation of FAITHSCORE."""
    return place.subfolder("faithscore").holds(_faith_names(place))


def _faith_names(place: Place) -> tuple[str, ...]:
    return _names(place, "faithscore", "annotation.jsonl", _FAITH)


def faithscore(place: Place) -> RatedCaptions:
    """Return FAITHSCORE's annotation (Jing et al. 2024): atomic facts of answers, true or wrong.

    Area under the curve of telling true from wrong facts by their score against COCO's references. Facts of
    images without references are left out.
    """
    rows = read_rows(place.subfolder("faithscore").need(_faith_names(place), "faithscore"))
    references = {} if all(row.has("references") for row in rows) else read_references(place, "coco")
    images, captions, texts, ratings = [], [], [], []
    left_out = 0
    for row in rows:
        facts = row.get("stage 2")
        if not isinstance(facts, dict) or any(type(value) is not int for value in facts.values()):
            raise InputError(
                f"{row.where}: 'stage 2' must be an object of facts with 1 (true) or 0, "
                f"found {show(facts, 80)}"
            )
        image = row.name("id")
        number = image.lstrip("0") if image.isdecimal() else image_key(image)
        own = row.texts("references") if row.has("references") else references.get(number)
        if not own:
            left_out += len(facts)
            continue
        for fact, is_true in facts.items():
            images.append(number)
            captions.append(fact.strip())
            texts.append(own)
            ratings.append([float(is_true > 0)])
    return RatedCaptions(
        name="FAITHSCORE",
        images=images,
        captions=captions,
        references=texts,
        ratings=ratings,
        protocol=Protocol("auc", own="keep"),
        left_out=left_out,
    )
