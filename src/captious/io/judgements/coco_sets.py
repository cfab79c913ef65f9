"""Judgements of captions of COCO images: THumB, CapEval1k, Polaris and Nebula, Crisscrossed Captions, the
2015 challenge."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from captious.core.errors import InputError
from captious.io.content import read_json
from captious.io.judgements.data_places import Place
from captious.io.judgements.judged_rows import Row, read_rows
from captious.io.judgements.judged_sets import FloatArray, Protocol, RatedCaptions, RatedSystems
from captious.io.judgements.reference_captions import image_key, read_references


def holds_thumb(place: Place) -> bool:
    """Whether the folder has THumB."""
    return place.holds(("*THumB*.jsonl", "thumb.jsonl"), ("thumb", "mscoco"))


def thumb(place: Place, criterion: str = "human_score", people: bool = True) -> RatedCaptions:
    """THumB (Kasai et al. 2022): 2,500 captions by four systems and people; Pearson with the total score.

    The criterion may also be ``P`` (precision) or ``R`` (recall); without ``people`` only the systems'
    captions count. References are those of the rows, of a file ``*references*.jsonl`` by ``seg_id``, or
    COCO's without the rated caption.
    """
    path = place.need(("*THumB*.jsonl", "thumb.jsonl"), "thumb", ("thumb", "mscoco"))
    rows = read_rows(path)
    if not rows[0].has("refs"):
        beside = Place(path.parent).find(("*references*.jsonl",))
        if beside is not None and beside != path:
            by_id = {row.name("seg_id"): row.texts("refs", "references") for row in read_rows(beside)}
        else:
            by_id = read_references(place, "coco")
        rows = [
            Row(
                {**r.values, "refs": by_id.get(r.name("seg_id")) or by_id.get(image_key(r.name("image")))},
                r.where,
            )
            for r in rows
        ]
    if not people:
        rows = [row for row in rows if row.name("SYS") != "Human"]
    known = [row for row in rows if row.has("refs")]
    boards = [row.values.get("published") or {} for row in known]
    names = dict.fromkeys(name for board in boards if isinstance(board, dict) for name in board)
    published = {
        f"{name} (as published)": np.array([_published(board, name) for board in boards]) for name in names
    }
    return RatedCaptions(
        name="THumB"
        + ("" if criterion == "human_score" else f"-{criterion}")
        + ("" if people else "-machine"),
        images=[image_key(row.name("image")) for row in known],
        captions=[row.text("hyp") for row in known],
        references=[row.texts("refs") for row in known],
        ratings=[[row.number(criterion)] for row in known],
        systems=[row.name("SYS") for row in known],
        protocol=Protocol("pearson", own="keep"),
        published=published,
        left_out=len(rows) - len(known),
    )


def _published(board: object, name: str) -> float:
    value = board.get(name) if isinstance(board, dict) else None
    return float(value) if isinstance(value, int | float) else float("nan")


def holds_capeval1k(place: Place) -> bool:
    """Whether the folder has CapEval1k."""
    return place.holds(("*capeval1k*.jsonl", "*capeval1k*.csv"), ("capeval1k",))


def capeval1k(place: Place) -> RatedCaptions:
    """CapEval1k (Lee et al. 2021): 1,000 captions by four systems with one score each; tau-c, COCO's
    references."""
    path = place.need(("*capeval1k*.jsonl", "*capeval1k*.csv"), "capeval1k", ("capeval1k",))
    rows = read_rows(path)
    references = {} if rows[0].has("references") else read_references(place, "coco")
    given = [
        r.texts("references") if r.has("references") else references.get(image_key(r.name("image", "imgid")))
        for r in rows
    ]
    known = [(row, texts) for row, texts in zip(rows, given) if texts]
    return RatedCaptions(
        name="CapEval1k",
        images=[image_key(row.name("image", "imgid")) for row, _ in known],
        captions=[row.text("caption") for row, _ in known],
        references=[texts for _, texts in known],
        ratings=[[row.number("target", "score")] for row, _ in known],
        protocol=Protocol("tau-c", own="keep"),
        left_out=len(rows) - len(known),
    )


def _find_polos(place: Place, which: str) -> Path | None:
    own = Place(place.folder / which) if (place.folder / which).is_dir() else place
    names = (
        f"{which}_test.csv",
        f"{which}*test*.csv",
        f"{which}*.csv",
        f"{which}*.jsonl",
        f"{which}*.parquet",
    )
    found = own.find(names)
    if found is None and own.folder.name == which:
        found = own.find(("test-*.parquet", "*.parquet", "*.csv", "*.jsonl"))
    return found


def holds_polaris(place: Place) -> bool:
    """Whether the folder has Polaris."""
    return _find_polos(place, "polaris") is not None


def holds_nebula(place: Place) -> bool:
    """Whether the folder has Nebula."""
    return _find_polos(place, "nebula") is not None


def polaris(place: Place) -> RatedCaptions:
    """Polaris (Wada et al. 2024): ``mt``, ``refs``, ``score`` and ``imgid``; tau-c."""
    return _polos("Polaris", place, "polaris")


def nebula(place: Place) -> RatedCaptions:
    """Nebula (Matsuda et al. 2024), in the layout of Polaris; tau-c."""
    return _polos("Nebula", place, "nebula")


def _polos(name: str, place: Place, which: str) -> RatedCaptions:
    path = _find_polos(place, which) or place.need(
        (f"{which}_test.csv", f"{which}*.parquet"), which, (which,)
    )
    return polos_rows(name, read_rows(path))


def polos_rows(name: str, rows: list[Row]) -> RatedCaptions:
    """Rows with ``mt`` (or ``cand``), ``refs``, ``score`` (or ``human_score``) and, if it is there,
    ``imgid``. Without the latter the references say which captions share an image."""
    references = [row.texts("refs") for row in rows]
    images = [
        image_key(row.name("imgid")) if row.has("imgid") else "\n".join(texts)
        for row, texts in zip(rows, references)
    ]
    return RatedCaptions(
        name=name,
        images=images,
        captions=[row.text("mt", "cand") for row in rows],
        references=references,
        ratings=[[row.number("score", "human_score")] for row in rows],
        protocol=Protocol("tau-c", own="keep"),
    )


def holds_cxc(place: Place) -> bool:
    """Whether the folder has the caption similarities of CxC."""
    return place.holds(("sts_val.csv", "sts_test.csv", "sts_val.jsonl"), ("cxc",))


def cxc(place: Place) -> RatedCaptions:
    """Crisscrossed Captions (Parekh et al. 2021): how similar two captions are, 0 to 5; Spearman.

    The first caption is scored with the second as its only reference. The published file has ids of
    sentences, whose texts are in ``dataset_coco.json`` of Karpathy's splits.
    """
    path = place.need(("sts_val.jsonl", "sts_val.csv", "sts_test.csv"), "cxc", ("cxc",))
    rows = read_rows(path)
    first, second = ([row.text(name) for row in rows] for name in ("caption1", "caption2"))
    if all(":sentid:" in text for text in first):
        texts = _sentences(place.need(("dataset_coco.json",), "cxc", ("cxc", "coco", "caption_datasets")))
        known = [k for k, (a, b) in enumerate(zip(first, second)) if _id(a) in texts and _id(b) in texts]
        left_out = len(rows) - len(known)
        rows = [rows[k] for k in known]
        first, second = [texts[_id(first[k])] for k in known], [texts[_id(second[k])] for k in known]
    else:
        left_out = 0
    return RatedCaptions(
        name="CxC",
        # Nothing in the file says which image a caption is of; the pairs of one first caption belong
        # together.
        images=first,
        captions=first,
        references=[[text] for text in second],
        ratings=[[row.number("agg_score", "score")] for row in rows],
        protocol=Protocol("spearman", own="keep"),
        left_out=left_out,
    )


def _id(text: str) -> str:
    return text.rpartition(":")[2]


def _sentences(path: Path) -> dict[str, str]:
    try:
        images = read_json(path, "expected Karpathy's splits")["images"]
        return {str(s["sentid"]): str(s["raw"]) for image in images for s in image["sentences"]}
    except (KeyError, TypeError) as problem:
        raise InputError(
            f"{path}: not Karpathy's splits with 'images', 'sentences', 'sentid' and 'raw' ({problem})"
        ) from None


def holds_challenge(place: Place) -> bool:
    """Whether the folder has the judgements of the 2015 challenge."""
    return place.holds(("challenge2015.jsonl", "challenge2015.csv"), ("coco",))


def challenge(place: Place, test: str = "c5") -> RatedSystems:
    """The COCO captioning challenge of 2015: systems with M1 to M5, and the leaderboard's metrics on c5
    or c40; Pearson."""
    path = place.need(("challenge2015.jsonl", "challenge2015.csv"), "challenge2015", ("coco",))
    rows = read_rows(path)
    human = {name: np.array([row.number(name) for row in rows]) for name in ("M1", "M2", "M3", "M4", "M5")}
    metrics: dict[str, FloatArray] = {}
    for name, shown in _LEADERBOARD.items():
        values = [_board(row, test, name) for row in rows]
        if any(value == value for value in values):
            metrics[shown] = np.array(values, dtype=np.float64)
    return RatedSystems(
        f"COCO-2015-{test}",
        [row.name("team") for row in rows],
        human,
        metrics,
        Protocol("pearson", level="system"),
    )


_LEADERBOARD = {
    "Bleu_1": "BLEU-1", "Bleu_2": "BLEU-2", "Bleu_3": "BLEU-3", "Bleu_4": "BLEU-4", "METEOR": "METEOR",
    "ROUGE_L": "ROUGE-L", "CIDEr": "CIDEr-D", "SPICE": "SPICE",
}  # fmt: skip


def _board(row: Row, test: str, name: str) -> float:
    """A leaderboard's value: nested (``c5``: {…}) or a column ``c5_CIDEr``."""
    board = row.values.get(test)
    value = board.get(name) if isinstance(board, dict) else row.values.get(f"{test}_{name}")
    if value in (None, ""):
        return float("nan")
    return Row({name: value}, row.where).number(name)
