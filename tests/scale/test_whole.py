"""Measures of all captions together, without references."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
import pytest

import captious
from captious import scale
from captious.corpus import Captions
from captious.corpus.frequencies import FrequencyTable
from captious.io.caption_files import Columns
from captious.io.frequency_files import read_frequencies
from captious.parser.choice import get as get_parser
from captious.scale import first_pass
from captious.scale.engines import Executing
from captious.scale.first_pass import Counting
from captious.scene import ConceptTable, reference_graphs
from captious.text.synonyms import Synonyms
from tests.scale import making
from tests.scale.making import Serial

ALL = "ASL,SDSL,Types,Hapax,TTR1,TTR2,Distinct"


def one_shard(folder: Path, rows: list[making.Row]) -> Path:
    folder.mkdir()
    making.parquet(folder / "a.parquet", rows)
    return folder


def test_one_shard_is_measured_as_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # In several batches, across which segments go on.
    monkeypatch.setattr(scale.run_shards, "Job", partial(scale.run_shards.Job, batch=37))
    rows = making.rows(4)
    found = scale.score(
        one_shard(tmp_path / "in", rows), None, ALL, output=tmp_path / "out", executor=Serial()
    )
    # One image with all captions in order is the same text as the shard.
    corpus = captious.load(None, {"all": [caption for _, caption in rows]}, several=True)
    for name, score in captious.score(corpus, "ASL,SDSL,Types,Hapax,TTR1,TTR2").items():
        ours = found.values[name] if name in found.values else found.scores[name].value
        assert ours == pytest.approx(score.value, rel=1e-12), name
    assert found.values["Distinct"] == len({caption for _, caption in rows}) / len(rows)
    words = " ".join(corpus.candidates.sentences).split()
    assert found.words[0] == (max(sorted(set(words)), key=words.count), max(map(words.count, set(words))))
    assert found.curve is not None and found.curve.types[-1] == found.values["Types"]


def test_shards_merge_exactly(tmp_path: Path) -> None:
    rows = making.rows(3)
    whole = scale.score(
        one_shard(tmp_path / "one", rows), None, ALL, output=tmp_path / "1", executor=Serial()
    )
    making.folder(tmp_path / "many", 40, 3)
    parts = scale.score(tmp_path / "many", None, ALL, output=tmp_path / "2", executor=Serial())
    assert parts.values == whole.values and parts.words == whole.words
    for name in ("ASL", "SDSL"):
        assert parts.scores[name].value == pytest.approx(whole.scores[name].value, rel=1e-12)
    # Forty shards are merged in two steps, and temporary files are removed.
    assert not [path for path in (tmp_path / "2").rglob("*") if path.name.startswith(".")]


def test_the_length_of_each_caption_is_a_column(tmp_path: Path) -> None:
    import pyarrow.parquet

    rows = making.rows()
    scale.score(
        one_shard(tmp_path / "in", rows), None, "ASL,SDSL", output=tmp_path / "out", executor=Serial()
    )
    table = pyarrow.parquet.read_table(tmp_path / "out" / "a.scores.parquet")
    captions = Captions.of([[caption] for _, caption in rows])
    assert table.column("ASL").to_pylist() == captions.lengths.tolist()
    assert set(table.column("SDSL").to_pylist()) == {None}, "one caption has no spread"


def test_no_ids_are_needed(tmp_path: Path) -> None:
    import pyarrow
    import pyarrow.parquet

    pyarrow.parquet.write_table(
        pyarrow.table({"text": [caption for _, caption in making.rows()]}), tmp_path / "a.parquet"
    )
    found = scale.score(
        tmp_path / "a.parquet", None, ALL, output=tmp_path / "out", executor=Serial(), caption_column="text"
    )
    assert found.rows == len(making.rows()) and found.bad == 0
    with pytest.raises(captious.core.errors.InputError, match="no image ids"):
        scale.score(
            tmp_path / "a.parquet",
            making.REFERENCES,
            "BLEU-4",
            output=tmp_path / "out2",
            executor=Serial(),
            caption_column="text",
        )


def test_approximate_counts_state_their_error(tmp_path: Path) -> None:
    making.folder(tmp_path / "in", 3, 3)
    exact = scale.score(tmp_path / "in", None, ALL, output=tmp_path / "1", executor=Serial())
    near = scale.score(tmp_path / "in", None, ALL, output=tmp_path / "2", executor=Serial(), top=50)
    assert (
        near.values["Types"] == pytest.approx(exact.values["Types"], rel=0.04)
        and "standard error 0.81%" in near.errors["Types"]
    )
    assert near.values["Distinct"] == pytest.approx(exact.values["Distinct"], rel=0.04)
    off = int(near.errors["words"].split("at most ")[1].split(" ")[0].replace(",", ""))
    counts = dict(exact.words)
    for word, count in near.words[:20]:
        assert counts[word] - off <= count <= counts[word]
    assert "Hapax" not in near.values, "what sketches cannot know is not said"


def test_sampled_curves_do_not_depend_on_the_number_of_workers(tmp_path: Path) -> None:
    from captious.scale.whole_corpus import Sample

    rng = np.random.default_rng(0)
    keys = rng.integers(0, 2**63, 500, dtype=np.uint64)
    texts = [str(key) for key in keys.tolist()]
    one, two = Sample(20), Sample(20)
    one.add(keys, texts)
    for start in (400, 0, 200):
        part = Sample(20)
        for end in range(start, min(start + 200, 500), 30):
            stop = min(end + 30, start + 200, 500)
            part.add(keys[end:stop], texts[end:stop])
        two.add(part.keys, part.texts)
    assert one.texts == two.texts == [str(key) for key in sorted(keys.tolist())[:20]]


def test_hallucination_against_given_objects(tmp_path: Path) -> None:
    rows = making.rows()
    objects = str(making.demo_path("objects"))
    found = scale.score(
        one_shard(tmp_path / "in", rows),
        None,
        "CHAIRs,CHAIRi",
        output=tmp_path / "out",
        executor=Serial(),
        objects=objects,
    )
    given: dict[str, list[str]] = {}
    for image, caption in rows:
        given.setdefault(str(image), []).append(caption)
    whole = captious.score(captious.load(None, given, several=True), "CHAIRs,CHAIRi", objects=objects)
    assert found.scores["CHAIRs"].value == pytest.approx(whole["CHAIRs"].value, rel=1e-12)
    assert found.scores["CHAIRi"].value == pytest.approx(whole["CHAIRi"].value, rel=1e-12)


def test_ngrams_that_the_training_captions_do_not_have(tmp_path: Path) -> None:
    import pyarrow.parquet

    rows = making.rows()
    train = [(image, caption) for image, caption in rows[::2]]
    making.jsonl(tmp_path / "train.jsonl", train)
    found = scale.score(
        one_shard(tmp_path / "in", rows), None, "Novel-1,Novel-3", output=tmp_path / "out", executor=Serial(), train=tmp_path / "train.jsonl", false_rate=1e-6,
    )  # fmt: skip
    table = pyarrow.parquet.read_table(tmp_path / "out" / "a.scores.parquet")
    sentences = [sentence.split() for sentence in Captions.of([[caption] for _, caption in rows]).sentences]

    def grams(words: list[str], n: int) -> list[tuple[str, ...]]:
        return [tuple(words[k : k + n]) for k in range(len(words) - n + 1)]

    for n in (1, 3):
        seen = {gram for words in sentences[::2] for gram in grams(words, n)}
        expected = [
            np.mean([gram not in seen for gram in grams(words, n)]) if len(words) >= n else None
            for words in sentences
        ]
        assert table.column(f"Novel-{n}").to_pylist() == pytest.approx(expected, abs=1e-12)
        assert 0 < found.scores[f"Novel-{n}"].value < 1
    assert "false:1e-06" in found.scores["Novel-1"].signature


# The first pass ---------------------------------------------------------------------------------------------


def counted(
    tmp_path: Path, kind: first_pass.Kind, top: int | None = None
) -> tuple[first_pass.Counted, Captions]:
    making.folder(tmp_path / "in", 20)
    (tmp_path / "work").mkdir(exist_ok=True)
    captions = Captions.of([[caption] for part in making.split(making.rows(), 20) for _, caption in part])
    how = Counting(kind, Columns(), "ptb", top, batch=11)
    return first_pass.count(
        Executing(Serial()), scale.find(tmp_path / "in"), tmp_path / "work", how
    ), captions


def test_document_frequencies_of_shards_are_those_of_one_file(tmp_path: Path) -> None:
    making.folder(tmp_path / "in", 20)
    (tmp_path / "work").mkdir()
    settings = Counting("n-grams", Columns(), "ptb", batch=11)
    counted = first_pass.count(Executing(Serial()), scale.find(tmp_path / "in"), tmp_path / "work", settings)
    first_pass.FIRST_PASS["df"][1](counted, settings, tmp_path / "df")
    captions = Captions.of([[caption] for part in making.split(making.rows(), 20) for _, caption in part])
    assert read_frequencies(tmp_path / "df").digest == FrequencyTable.build(captions).digest


def test_concepts_of_shards_are_those_of_one_file(tmp_path: Path) -> None:
    found, captions = counted(tmp_path, "concepts")
    graphs = reference_graphs(captions, get_parser(None), Synonyms.load(None))
    expected = ConceptTable.of(graph.tuples for graph in graphs)
    assert found.documents == expected.images
    assert {tuple(item.split(first_pass.JOIN)): count for item, count in found.counts} == expected.counts


def test_the_most_frequent_ngrams_are_within_the_bound(tmp_path: Path) -> None:
    found, _ = counted(tmp_path, "n-grams", 200)
    near = dict(found.counts)
    exact, _ = counted(tmp_path, "n-grams")
    assert found.error > 0 and len(near) <= 200
    for item, count in exact.counts:
        assert count - found.error <= near.get(item, 0) <= count


def test_two_passes(tmp_path: Path) -> None:
    """CIDEr with document frequencies of the captions themselves equals CIDEr with a table built from them."""
    making.folder(tmp_path / "in")
    rows = [row for part in making.split(making.rows(), 4) for row in part]
    captions = Captions.of([[caption] for _, caption in rows])
    from captious.io.frequency_files import save_frequencies

    save_frequencies(FrequencyTable.build(captions), tmp_path / "df")
    one = scale.score(
        tmp_path / "in", making.REFERENCES, "CIDEr-D", output=tmp_path / "1", executor=Serial(), df="shards"
    )
    two = scale.score(
        tmp_path / "in",
        making.REFERENCES,
        "CIDEr-D",
        output=tmp_path / "2",
        executor=Serial(),
        df=str(tmp_path / "df"),
    )
    assert (
        making.content(tmp_path / "1") == making.content(tmp_path / "2") and one.scores["CIDEr-D"].value > 0
    )
    again = scale.score(
        tmp_path / "in", making.REFERENCES, "CIDEr-D", output=tmp_path / "1", executor=Serial(), df="shards"
    )
    assert again.kept == 4 and two.kept == 0
