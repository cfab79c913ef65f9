"""Judgements of captions of COCO images: THumB, CapEval1k, Polaris, Nebula, CxC and the 2015 challenge."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from captious.core.errors import InputError
from captious.io.content import is_number, read_json
from captious.io.judgements.judged_rows import Row, read_rows
from captious.io.judgements.judged_sets import FloatArray, Protocol, RatedCaptions, RatedSystems
from captious.io.judgements.set_files import Place, image_key, read_references


def holds_thumb(place: Place) -> bool:
    """Whether the folder has THumB."""
    return place.holds(("*THumB*.jsonl", "thumb.jsonl"), ("thumb", "mscoco"))


def thumb(place: Place, criterion: str = "human_score", people: bool = True) -> RatedCaptions:
    """Return THumB (Kasai et al. 2022): 2,500 captions by four systems and people; Pearson with the total.

    The criterion can also be ``P`` (precision) or ``R`` (recall). Without ``people``, only captions of
    systems are returned. References come from the rows, from a file ``*references*.jsonl`` by ``seg_id``,
    or from COCO without the rated caption.
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
    usable = [row for row in rows if row.has("refs")]
    boards = [row.values.get("published") or {} for row in usable]
    names = dict.fromkeys(name for board in boards if isinstance(board, dict) for name in board)
    published = {
        f"{name} (as published)": np.array([_published(board, name) for board in boards]) for name in names
    }
    return RatedCaptions(
        name="THumB"
        + ("" if criterion == "human_score" else f"-{criterion}")
        + ("" if people else "-machine"),
        images=[image_key(row.name("image")) for row in usable],
        captions=[row.text("hyp") for row in usable],
        references=[row.texts("refs") for row in usable],
        ratings=[[row.number(criterion)] for row in usable],
        systems=[row.name("SYS") for row in usable],
        protocol=Protocol("pearson", own="keep"),
        published=published,
        left_out=len(rows) - len(usable),
    )


def _published(board: object, name: str) -> float:
    value = board.get(name) if isinstance(board, dict) else None
    return float(value) if is_number(value) else float("nan")


def holds_capeval1k(place: Place) -> bool:
    """Whether the folder has CapEval1k."""
    return place.holds(("*capeval1k*.jsonl", "*capeval1k*.csv"), ("capeval1k",))


def capeval1k(place: Place) -> RatedCaptions:
    """Return CapEval1k (Lee et al. 2021): 1,000 captions by four systems with one score each; tau-c."""
    path = place.need(("*capeval1k*.jsonl", "*capeval1k*.csv"), "capeval1k", ("capeval1k",))
    rows = read_rows(path)
    references = {} if rows[0].has("references") else read_references(place, "coco")
    texts_of_rows = [
        r.texts("references") if r.has("references") else references.get(image_key(r.name("image", "imgid")))
        for r in rows
    ]
    usable = [(row, texts) for row, texts in zip(rows, texts_of_rows) if texts]
    return RatedCaptions(
        name="CapEval1k",
        images=[image_key(row.name("image", "imgid")) for row, _ in usable],
        captions=[row.text("caption") for row, _ in usable],
        references=[texts for _, texts in usable],
        ratings=[[row.number("target", "score")] for row, _ in usable],
        protocol=Protocol("tau-c", own="keep"),
        left_out=len(rows) - len(usable),
    )


def _find_polos(place: Place, which: str) -> Path | None:
    own = place.subfolder(which)
    names = (
        f"{which}_test.csv",
        f"{which}*test*.csv",
        f"{which}*.csv",
        f"{which}*.jsonl",
        f"{which}*.parquet",
    )
    path = own.find(names)
    if path is None and own.folder.name == which:
        path = own.find(("test-*.parquet", "*.parquet", "*.csv", "*.jsonl"))
    return path


def holds_polaris(place: Place) -> bool:
    """Whether the folder has Polaris."""
    return _find_polos(place, "polaris") is not None


def holds_nebula(place: Place) -> bool:
    """Whether the folder has Nebula."""
    return _find_polos(place, "nebula") is not None


def polaris(place: Place) -> RatedCaptions:
    """Return Polaris (Wada et al. 2024); tau-c."""
    return _polos("Polaris", place, "polaris")


def nebula(place: Place) -> RatedCaptions:
    """Return Nebula (Matsuda et al. 2024), which has the layout of Polaris; tau-c."""
    return _polos("Nebula", place, "nebula")


def _polos(name: str, place: Place, which: str) -> RatedCaptions:
    path = _find_polos(place, which) or place.need(
        (f"{which}_test.csv", f"{which}*.parquet"), which, (which,)
    )
    return polos_rows(name, read_rows(path))


def polos_rows(name: str, rows: list[Row]) -> RatedCaptions:
    """Return the set of rows with ``mt`` (or ``cand``), ``refs``, ``score`` (or ``human_score``), ``imgid``.

    Rows without ``imgid`` belong to one image if they have the same references.
    """
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
    """Return Crisscrossed Captions (Parekh et al. 2021): similarity of two captions, 0 to 5; Spearman.

    The first caption is scored with the second as its only reference. The published file has ids of
    sentences, whose texts are in ``dataset_coco.json`` of Karpathy's splits.
    """
    path = place.need(("sts_val.jsonl", "sts_val.csv", "sts_test.csv"), "cxc", ("cxc",))
    rows = read_rows(path)
    first, second = ([row.text(name) for row in rows] for name in ("caption1", "caption2"))
    if all(":sentid:" in text for text in first):
        texts = _sentences(place.need(("dataset_coco.json",), "cxc", ("cxc", "coco", "caption_datasets")))
        usable = [k for k, (a, b) in enumerate(zip(first, second)) if _id(a) in texts and _id(b) in texts]
        left_out = len(rows) - len(usable)
        rows = [rows[k] for k in usable]
        first, second = [texts[_id(first[k])] for k in usable], [texts[_id(second[k])] for k in usable]
    else:
        left_out = 0
    return RatedCaptions(
        name="CxC",
        # The file does not name images. Pairs with the same first caption belong together.
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
    """Return the COCO challenge of 2015: systems with M1 to M5 and the leaderboard's metrics; Pearson.

    ``test`` is the test set of the metrics, c5 or c40.
    """
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
    """Return a value of the leaderboard: nested (``c5``: {…}) or in a column ``c5_CIDEr``."""
    board = row.values.get(test)
    value = board.get(name) if isinstance(board, dict) else row.values.get(f"{test}_{name}")
    if value in (None, ""):
        return float("nan")
    return Row({name: value}, row.where).number(name)
