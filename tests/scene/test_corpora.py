"""SPICE of corpora is the same by kernels and by plain objects, with and without prepared references."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import captious
from captious.corpus import Captions, Corpus
from captious.data import demo_path
from captious.metrics.captions.spice import Spice, tuple_counts
from captious.parser import ParsedBatch, Sentence, parses_of
from captious.parser.choice import batch_of
from captious.parser.choice import get as get_parser
from captious.results.references import References
from captious.scene import SceneGraphs, graphs
from captious.scene.sentence_tuples import read_tuples
from captious.text.synonyms import Synonyms
from tests.conftest import read_jsonl
from tests.gold.edge_captions import groups
from tests.scene import plain_scene


def compare(corpus: Corpus) -> None:
    """Compare all graphs and counts of a corpus with plain objects."""
    spice = Spice()
    scenes = spice.prepare(corpus.references)
    candidates, references, images = scenes.of(corpus)
    synonyms = Synonyms.load()

    def plain(captions: Captions, bounds: list[int]) -> list[plain_scene.PlainGraph]:
        stated = [[item for s in parse for item in plain_scene.tuples(s)] for parse in parses_of(captions)]
        return [
            plain_scene.PlainGraph((item for items in stated[a:b] for item in items), synonyms)
            for a, b in itertools.pairwise(bounds)
        ]

    ours = plain(corpus.candidates, list(range(len(corpus.candidates) + 1)))
    theirs = plain(corpus.references, corpus.references.image_offsets.tolist())
    for built, expected in ((candidates, ours), (references, theirs)):
        assert [graph.tuples for graph in built] == [graph.tuples for graph in expected]
        assert list(built.tuple_table.tuples()) == [item for graph in expected for item in graph.tuples]
    expected_table = [
        list(plain_scene.counts(graph, theirs[image]).values()) for graph, image in zip(ours, images.tolist())
    ]
    assert np.array_equal(tuple_counts(corpus, scenes), np.array(expected_table))


@pytest.mark.parametrize("system", ["good", "poor", "generic"])
def test_the_demo(system: str) -> None:
    compare(captious.load(demo_path("references"), demo_path(system)))


def test_edge_captions() -> None:
    """Every rule and hostile text, on both sides."""
    references = {str(i): group for i, group in enumerate(groups())}
    more = "a couple of dogs , and they sit in front of and behind it . Two men !"
    predictions = {image: [texts[-1], more] for image, texts in references.items()}
    compare(captious.load(references, predictions, several=True))


def test_prepared_references_give_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The arrays of a file are used without a copy, and written again unchanged."""
    path = tmp_path / "references.prepared"
    raw = captious.load(demo_path("references"), demo_path("poor"))
    expected = tuple_counts(raw, Spice().prepare(raw.references))
    references = References.read(demo_path("references"))
    references.prepare([Spice()])
    references.save(path)
    corpus = captious.load(path, demo_path("poor"))
    scenes = Spice().prepare(corpus.references)
    scenes.of(corpus)
    # Synsets of the references are in the file, so the dictionary is not used.
    monkeypatch.setattr(graphs, "look_up", None)
    assert np.array_equal(tuple_counts(corpus, scenes), expected)
    monkeypatch.undo()
    # Files of earlier versions do not have it.
    stored = scenes.references
    older = {name: array for name, array in stored.pack().items() if not name.startswith("synset")}
    again = SceneGraphs.unpack(older, scenes.synonyms).meanings
    assert all(
        np.array_equal(getattr(again, name), getattr(stored.meanings, name))
        for name in ("synsets", "offsets", "bits")
    )
    products = raw.references.memo.products()
    [arrays] = [arrays for key, arrays in products if key[0] == "scene graphs"]
    for name, array in scenes.references.pack().items():
        assert np.array_equal(array, arrays[name]), name


def lines(folder: Path) -> Iterator[str]:
    """Captions by people, by machines, and captions changed to be wrong."""
    for row in itertools.islice(read_jsonl(folder / "coco" / "references.jsonl.gz"), 3000):
        yield from row["captions"]
    for path in sorted((folder / "coco" / "systems").glob("*.jsonl.gz"))[::3]:
        for row in itertools.islice(read_jsonl(path), 3000):
            yield row["caption"]


@pytest.mark.shared
def test_captions_of_people_and_machines(shared_data: Path) -> None:
    """Tuples of more than twenty thousand captions, as people and as SPICE's tokenizer write them."""
    texts = list(dict.fromkeys(lines(shared_data)))
    assert len(texts) > 20_000
    captions = Captions.of([texts])
    batch = batch_of(captions, get_parser())
    table = read_tuples(batch)
    assert not [s.forms for i, s in enumerate(batch.sentences()) if table.of(i) != plain_scene.tuples(s)]


@pytest.mark.shared
def test_parses_of_corenlp(shared_data: Path) -> None:
    """Trees of CoreNLP's own, with relations and tags that our parser seldom gives."""
    rows = itertools.islice(read_jsonl(shared_data / "parses" / "captions.jsonl.gz"), 0, None, 10)
    sentences = [
        Sentence.from_dict(sentence, keep_graph=False) for row in rows for sentence in row["sentences"]
    ]
    table = read_tuples(ParsedBatch.of([[sentence] for sentence in sentences]))
    assert not [s.forms for i, s in enumerate(sentences) if table.of(i) != plain_scene.tuples(s)]
