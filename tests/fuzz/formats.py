"""A sound file of every format, of realistic size, and the function that reads it."""

from __future__ import annotations

import gzip
import io
import json
import pickle
import random
import tarfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from captious.corpus import Corpus
from captious.corpus.frequencies import FrequencyTable
from captious.data import demo_path
from captious.diversity_analysis.sets.diversity_study import read_human_scores
from captious.io import read, reading
from captious.io.amber_files import read_amber
from captious.io.caption_files import Columns
from captious.io.fact_files import read_facts
from captious.io.frequency_files import read_frequencies, save_frequencies
from captious.io.judgements import load_judgements
from captious.io.object_files import read_objects
from captious.metrics.captions.chair_table import read_table
from captious.metrics.corpus.corpus_word_lists import read_norms
from captious.rerank.nbest import read_nbest
from captious.rerank.templates import read_detected
from captious.results.scores import Scores
from captious.scale import shard_rows, shards
from captious.scale.sketches import Bloom
from captious.scene.concept_truth import ConceptTruth
from captious.scene.uniqueness import ConceptTable, JoinedConcepts


class Format(NamedTuple):
    """A file format: `write` writes a sound file into a folder, `read` returns the content of a file."""

    write: Callable[[Path], Path]
    read: Callable[[Path], object]


_WORDS = [
    "a",
    "the",
    "dog",
    "cat",
    "man",
    "runs",
    "sits",
    "on",
    "in",
    "red",
    "café",
    "naïve",
    "犬",
    "park",
    "two",
]


def captions(count: int, seed: int = 0) -> list[str]:
    """Return random captions."""
    draw = random.Random(seed)
    return [" ".join(draw.choices(_WORDS, k=draw.randint(4, 14))) for _ in range(count)]


def rows(images: int, each: int) -> list[dict[str, Any]]:
    """Return rows with ids and captions."""
    texts = iter(captions(images * each))
    return [{"image_id": 1000 + i, "caption": next(texts)} for i in range(images) for _ in range(each)]


def _file(name: str, content: Callable[[], bytes | str]) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        data = content()
        path = folder / name
        path.write_bytes(data.encode() if isinstance(data, str) else data)
        return path

    return write


# Captions ---------------------------------------------------------------------------------------------------


def _coco() -> str:
    listed = rows(800, 5)
    images = [
        {"id": image, "file_name": f"{image:012}.jpg"} for image in sorted({r["image_id"] for r in listed})
    ]
    info = {"year": 2014, "contributor": "café"}
    annotations = [{"id": number, **row} for number, row in enumerate(listed)]
    return json.dumps({"info": info, "images": images, "annotations": annotations}, ensure_ascii=False)


def _karpathy() -> str:
    texts = captions(2_000)
    images = [
        {"cocoid": i, "filename": f"{i}.jpg", "split": "val", "sentences": [{"raw": t} for t in texts[5 * i : 5 * i + 5]]}
        for i in range(400)
    ]  # fmt: skip
    return json.dumps({"images": images, "dataset": "coco"})


def _lines(values: list[Any]) -> str:
    return "".join(json.dumps(value) + "\n" for value in values)


def _table(separator: str) -> str:
    listed = [(str(row["image_id"]), f'"{row["caption"]}"') for row in rows(3_000, 1)]
    return "".join(separator.join(row) + "\n" for row in [("image_id", "caption"), *listed])


def _parquet_bytes(checksums: bool) -> bytes:
    import pyarrow
    import pyarrow.parquet

    listed, out = rows(3_000, 1), io.BytesIO()
    table = pyarrow.table({name: [row[name] for row in listed] for name in ("image_id", "caption")})
    pyarrow.parquet.write_table(table, out, row_group_size=1_000, write_page_checksum=checksums)
    return out.getvalue()


def _prepared(folder: Path) -> Path:
    listed = captions(1_000)
    corpus = Corpus.build([str(i) for i in range(200)], [listed[5 * i : 5 * i + 5] for i in range(200)])
    encoded = corpus.candidates
    for n in range(1, 5):
        encoded.ngrams(n)
    reading.save_prepared(folder / "prepared.refs", encoded, "references.json")
    return folder / "prepared.refs"


def _read_captions(path: Path) -> object:
    file = read(path, "references")
    return file.ids, [list(group) for group in file.captions]


def _read_predictions(path: Path) -> object:
    file = read(path, "predictions")
    return file.ids, [list(group) for group in file.captions]


def _read_both(path: Path) -> object:
    said = read(path, "predictions")
    return _read_captions(path), said.ids, [list(group) for group in said.captions]


def _samples() -> list[dict[str, Any]]:
    texts = captions(2_000)
    return [
        {"doc_id": i, "target": str(texts[1_000 + i : 1_002 + i]), "filtered_resps": texts[i]}
        for i in range(900)
    ]


def _spreadsheet(folder: Path) -> Path:
    import openpyxl

    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("predictions")
    sheet.append(["index", "answer", "prediction"])
    for row in _samples():
        sheet.append([row["doc_id"], row["target"], row["filtered_resps"]])
    book.save(folder / "m.xlsx")
    return folder / "m.xlsx"


def _vizwiz() -> str:
    marks = [{"is_rejected": i % 7 == 0, "is_precanned": i % 11 == 0} for i in range(1_500)]
    return json.dumps(
        {"images": [], "annotations": [{**row, **mark} for row, mark in zip(rows(1_500, 1), marks)]}
    )


CAPTIONS = {
    "COCO annotations": Format(_file("captions.json", _coco), _read_captions),
    "COCO results": Format(
        _file("results.json", lambda: json.dumps(rows(4_000, 1), ensure_ascii=False)), _read_captions
    ),
    "COCO results, gzip": Format(
        _file("results.json.gz", lambda: gzip.compress(json.dumps(rows(4_000, 1)).encode(), mtime=0)), _read_captions
    ),
    "JSON lines": Format(_file("captions.jsonl", lambda: _lines(rows(1_500, 3))), _read_captions),
    "JSON object": Format(
        _file("captions.json", lambda: json.dumps({str(i): [t] for i, t in enumerate(captions(4_000))})), _read_captions
    ),
    "Karpathy's splits": Format(_file("dataset.json", _karpathy), _read_captions),
    "CSV": Format(_file("captions.csv", lambda: _table(",")), _read_captions),
    "TSV": Format(_file("captions.tsv", lambda: _table("\t")), _read_captions),
    "bars": Format(
        _file("results.csv", lambda: "image_name| comment_number| comment\n"
              + "".join(f"{i // 5}.jpg| {i % 5}| {text}\n" for i, text in enumerate(captions(3_000)))), _read_captions,
    ),
    "Flickr's lists": Format(
        _file("Flickr8k.token.txt", lambda: "".join(f"{i // 5}.jpg#{i % 5}\t{t}\n" for i, t in enumerate(captions(3_000)))),
        _read_captions,
    ),
    "Parquet, checksums": Format(_file("captions.parquet", lambda: _parquet_bytes(True)), _read_captions),
    "Parquet, no checksums": Format(_file("captions.parquet", lambda: _parquet_bytes(False)), _read_captions),
    "prepared references": Format(_prepared, _read_captions),
    "lmms-eval samples": Format(_file("samples.jsonl", lambda: _lines(_samples())), _read_both),
    "VLMEvalKit, TSV": Format(
        _file("m.tsv", lambda: "index\tanswer\tprediction\n"
              + "".join(f"{s['doc_id']}\t{s['target']}\t{s['filtered_resps']}\n" for s in _samples())), _read_both,
    ),
    "VLMEvalKit, XLSX": Format(_spreadsheet, _read_both),
    "Oscar TSV": Format(
        _file("pred.tsv", lambda: "".join(f"{i}\t{json.dumps([{'caption': t, 'conf': 0.5}])}\n" for i, t in enumerate(captions(2_000)))),
        _read_captions,
    ),
    "plain lines": Format(_file("lines.txt", lambda: "\n".join(captions(3_000))), _read_captions),
    "one-key rows": Format(
        _file("rows.json", lambda: json.dumps([{str(i): t} for i, t in enumerate(captions(3_000))])), _read_captions
    ),
    "TextCaps": Format(
        _file("textcaps.json", lambda: json.dumps({"data": [{"image_id": i, "reference_strs": [t, t]} for i, t in enumerate(captions(1_500))]})),
        _read_captions,
    ),
    "MSR-VTT": Format(
        _file("videos.json", lambda: json.dumps({"videos": [], "sentences": [{"video_id": f"v{i // 5}", "caption": t} for i, t in enumerate(captions(2_000))]})),
        _read_captions,
    ),
    "YouCook2": Format(
        _file("cook.json", lambda: json.dumps({"database": {f"v{i}": {"annotations": [{"sentence": t}]} for i, t in enumerate(captions(1_500))}})),
        _read_captions,
    ),
    "ActivityNet captions": Format(
        _file("dense.json", lambda: json.dumps({f"v{i}": {"timestamps": [[0, 1]], "sentences": [t]} for i, t in enumerate(captions(1_500))})),
        _read_captions,
    ),
    "MSVD descriptions": Format(
        _file("descriptions.txt", lambda: "".join(f"{i // 5:011}_1_9 {t}\n" for i, t in enumerate(captions(2_000)))), _read_captions
    ),
    "Clotho": Format(
        _file("clotho.csv", lambda: "file_name,caption_1,caption_2\n" + "".join(f"{i}.wav,{t},{t}\n" for i, t in enumerate(captions(2_000)))),
        _read_captions,
    ),
    "table by columns": Format(
        _file("columns.json", lambda: json.dumps({"index": dict(enumerate(range(1_500))), "caption": dict(enumerate(captions(1_500)))})),
        _read_captions,
    ),
    "results of a challenge": Format(
        _file("result.json", lambda: json.dumps({"result": [{"video_id": f"v{i}", "caption": t} for i, t in enumerate(captions(1_500))]})),
        _read_predictions,
    ),
    "VizWiz": Format(_file("vizwiz.json", _vizwiz), _read_captions),
}  # fmt: skip


# Scores and tables ------------------------------------------------------------------------------------------


def _scores(folder: Path) -> Path:
    import captious

    path = folder / "good.scores"
    captious.score(demo_path("references"), demo_path("good"), ["BLEU-4", "CIDEr-D"]).save(path)
    return path


def _read_scores(path: Path) -> object:
    loaded = Scores.load(path)
    return [
        (name, score.value, list(score.per_image.items()), str(score.signature))
        for name, score in loaded.items()
    ]


def _grams() -> dict[tuple[str, ...], int]:
    counts: dict[tuple[str, ...], int] = {}
    for text in captions(1_500):
        words = text.split()
        for n in (1, 2, 3):
            for gram in {tuple(words[i : i + n]) for i in range(len(words) - n + 1)}:
                counts[gram] = counts.get(gram, 0) + 1
    return counts


def _frequencies(folder: Path) -> Path:
    save_frequencies(FrequencyTable.from_counts(list(_grams().items()), 1_500), folder / "df.npz")
    return folder / "df.npz"


def _read_frequencies(path: Path) -> object:
    table = read_frequencies(path, 1_500)
    return table.images, table.vocabulary.words, table.grams, table.table


def _judged() -> list[dict[str, Any]]:
    texts = captions(1_200)
    return [
        {
            "image": str(i // 4),
            "caption": texts[i],
            "references": texts[600 + i : 603 + i],
            "ratings": [i % 4 + 1],
        }
        for i in range(500)
    ]


def _marked() -> list[dict[str, Any]]:
    return [
        {
            "image_path": f"{i}.jpg",
            "caption": row["caption"],
            "references": row["references"],
            "contains_hallucination": i % 3 == 0,
            "grounding": [[word, i % 3 == 0] for word in row["caption"].split()],
        }
        for i, row in enumerate(_judged())
    ]


def _judgement_table() -> str:
    return "image,caption,references,ratings\n" + "".join(
        f'{row["image"]},{row["caption"]},"{json.dumps(row["references"]).replace(chr(34), chr(34) * 2)}",{row["ratings"][0]}\n'
        for row in _judged()
    )


def _read_judgements(path: Path) -> object:
    judged = load_judgements(path)
    return vars(judged) | {"protocol": str(judged.protocol)}


def _matlab(folder: Path) -> Path:
    import numpy as np
    import scipy.io

    triplets = np.zeros((1, 400), dtype=[(name, object) for name in ("ref", "first", "second", "winner")])
    texts = captions(1_200)
    for k in range(400):
        triplets[0, k] = (texts[k], texts[400 + k // 4], texts[800 + k // 4], 1.0 if k % 3 else -1.0)
    path = folder / "consensus_abstract.mat"
    scipy.io.savemat(path, {"triplets": triplets}, do_compression=True)
    # The first bytes are free text, with the date.
    path.write_bytes(b"MATLAB 5.0 MAT-file".ljust(116) + path.read_bytes()[116:])
    return path


def _concepts(folder: Path) -> Path:
    draw = random.Random(1)
    items = {tuple(draw.choices(_WORDS, k=draw.randint(1, 3))): draw.randint(1, 99) for _ in range(3_000)}
    ConceptTable(500, items).save(folder / "concepts.gz")
    return folder / "concepts.gz"


def _read_concepts(path: Path) -> object:
    table = ConceptTable.load(path)
    return table.images, sorted(table.counts.items())


def _scene_graphs() -> list[object]:
    return [
        {
            "image_id": i,
            "objects": [
                {"object_id": k, "names": [word], "attributes": ["red"]} for k, word in enumerate(_WORDS[:5])
            ],
            "relationships": [{"predicate": "on", "subject_id": 0, "object_id": 1 + i % 4}],
        }
        for i in range(300)
    ]


def _objects() -> str:
    return json.dumps({
        "images": [{"id": i} for i in range(500)],
        "categories": [{"id": i, "name": name} for i, name in enumerate(("dog", "cat", "bus", "person"))],
        "annotations": [{"image_id": i % 500, "category_id": i % 4, "bbox": [1, 2, 3, 4]} for i in range(3_000)],
    })  # fmt: skip


def _nbest() -> list[dict[str, Any]]:
    texts = captions(2_000)
    return [
        {"image_id": i, "captions": texts[5 * i : 5 * i + 5], "logprobs": [-k - 0.5 for k in range(5)]}
        for i in range(400)
    ]


def _read_nbest(path: Path) -> object:
    lists = read_nbest(path)
    return lists.ids, lists.texts, lists.offsets, lists.log_p()


TABLES = {
    "saved scores": Format(_scores, _read_scores),
    "document frequencies, npz": Format(_frequencies, _read_frequencies),
    "document frequencies, pickle": Format(
        _file("df.p", lambda: pickle.dumps({"document_frequency": _grams(), "ref_len": 7.3}, 2)), _read_frequencies
    ),
    "document frequencies, list": Format(
        _file("df.txt", lambda: "".join(f"{' '.join(gram)}\t{count}\n" for gram, count in _grams().items())),
        _read_frequencies,
    ),
    "judgements, JSON lines": Format(_file("judged.jsonl", lambda: _lines(_judged())), _read_judgements),
    "judgements, CSV": Format(_file("judged.csv", _judgement_table), _read_judgements),
    "judgements, HAT": Format(_file("hat.jsonl", lambda: _lines(_marked())), lambda path: _read_judgements_of(path.parent, "hat")),
    "judgements, MATLAB": Format(_matlab, lambda path: _read_judgements_of(path.parent)),
    "concepts": Format(_concepts, _read_concepts),
    "concepts, pickle": Format(
        _file("concepts.p", lambda: pickle.dumps({" ".join(gram): count % 100 / 100 for gram, count in _grams().items()}, 2)),
        lambda path: sorted(JoinedConcepts.load(path).by_name.items()),
    ),
    "concepts of images": Format(
        _file("truth.json", lambda: json.dumps(_scene_graphs())), lambda path: sorted(ConceptTruth.read(path).tuples.items())
    ),
    "objects": Format(_file("instances.json", _objects), lambda path: sorted((k, sorted(v)) for k, v in read_objects(path).items())),
    "facts": Format(
        _file("facts.json", lambda: json.dumps([{"image_id": i, "facts": [f"fact {i}"] * 3} for i in range(200)])),
        lambda path: sorted(read_facts(path).items()),
    ),
    "AMBER": Format(
        _file("annotations.json", lambda: json.dumps([{"id": i, "truth": ["dog", f"a {i}"], "hallu": ["cat"]} for i in range(200)])),
        lambda path: sorted(read_amber(path).images.items()),
    ),
    "CHAIR's classes": Format(
        _file("classes.json", lambda: json.dumps({f"thing{i}": [f"word{i}", f"other {i}"] for i in range(300)})),
        lambda path: sorted(map(str, vars(read_table(path)).items())),
    ),
    "word norms": Format(
        _file("norms.csv", lambda: "word,concreteness\n" + "".join(f"word{i},{i % 50 / 10}\n" for i in range(3_000))),
        read_norms,
    ),
    "human scores": Format(
        _file("human.json", lambda: json.dumps({s: {str(i): i % 7 / 2 for i in range(500)} for s in ("a", "b", "human")})),
        read_human_scores,
    ),
    "n-best lists": Format(_file("nbest.jsonl", lambda: _lines(_nbest())), _read_nbest),
    "detected objects": Format(
        _file("objects.jsonl", lambda: _lines([{"image_id": i, "objects": _WORDS[:3], "scores": [0.5, 0.9, i / 400]} for i in range(400)])),
        read_detected,
    ),
}  # fmt: skip


def _read_judgements_of(folder: Path, name: str = "abstract-50s") -> object:
    judged = load_judgements(f"{name}={folder}")
    return vars(judged) | {"protocol": str(judged.protocol)}


# Shards -----------------------------------------------------------------------------------------------------


def _tar(compressed: bool) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for number, row in enumerate(rows(80, 1)):
            parts = {
                "jpg": b"\xff\xd8 a picture",
                "txt": row["caption"].encode(),
                "json": json.dumps(row).encode(),
            }
            for ending, content in parts.items():
                member = tarfile.TarInfo(f"{number:06d}.{ending}")
                member.size = len(content)
                archive.addfile(member, io.BytesIO(content))
    return gzip.compress(out.getvalue(), mtime=0) if compressed else out.getvalue()


def _read_shard(path: Path) -> object:
    (shard,) = shards.find(path)
    columns = Columns()
    shards.digest(shard, columns)
    return [
        (list(map(str, batch.ids or ())), list(map(str, batch.captions)))
        for batch in shard_rows.batches(shard, columns)
    ]


def _bloom(folder: Path) -> Path:
    import numpy as np

    seen = Bloom(20_000, 0.01, meta={"n": 3})
    seen.add(np.arange(20_000, dtype=np.uint64) * np.uint64(7919))
    seen.save(folder / "seen.ngrams")
    return folder / "seen.ngrams"


def _read_bloom(path: Path) -> object:
    seen = Bloom.load(path)
    return seen.bits, seen.probes, seen.words, seen.meta


SHARDS = {
    "shard, Parquet": Format(_file("part.parquet", lambda: _parquet_bytes(True)), _read_shard),
    "shard, JSON lines": Format(_file("part.jsonl", lambda: _lines(rows(3_000, 1))), _read_shard),
    "shard, tar": Format(_file("part.tar", lambda: _tar(False)), _read_shard),
    "shard, tar and gzip": Format(_file("part.tar.gz", lambda: _tar(True)), _read_shard),
    "seen n-grams": Format(_bloom, _read_bloom),
}


def _all() -> Mapping[str, Format]:
    from tests.fuzz.description_formats import DESCRIPTIONS
    from tests.fuzz.event_formats import EVENTS
    from tests.fuzz.model_formats import MODELS

    return {**CAPTIONS, **TABLES, **DESCRIPTIONS, **EVENTS, **SHARDS, **MODELS}


FORMATS = _all()
