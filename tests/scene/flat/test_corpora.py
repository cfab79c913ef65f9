"""SPICE of corpora, by kernels and by objects: the same numbers, from captions and from prepared references."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import captious
from captious.corpus import Captions, Corpus
from captious.data import demo_path
from captious.kernels import called_often
from captious.language import ParsedBatch, Sentence, parses_of
from captious.language.parsers import batch_of
from captious.language.parsers import get as get_parser
from captious.metrics.spice import Spice, tuple_counts
from captious.references import References
from captious.scene import SceneGraph, counts, packed, tuples
from captious.scene.flat.sentences import flat_tuples
from captious.scene.packed import PackedGraphs, pack
from captious.text.synonyms import Synonyms
from tests.conftest import read_jsonl
from tests.gold.edge_captions import groups


def compare(corpus: Corpus) -> None:
    """All graphs and counts of a corpus, against graphs of tuples that were read from objects."""
    spice = Spice()
    with called_often():
        scenes = spice.prepare(corpus.references)
        candidates, references, images = scenes.of(corpus)
        table = tuple_counts(corpus, scenes)
    assert isinstance(candidates, PackedGraphs) and isinstance(references, PackedGraphs)
    synonyms = Synonyms.load()
    stated = [[item for sentence in parse for item in tuples(sentence)] for parse in parses_of(corpus.candidates)]
    ours = [SceneGraph(items, synonyms) for items in stated]
    stated = [[item for sentence in parse for item in tuples(sentence)] for parse in parses_of(corpus.references)]
    bounds = corpus.references.image_offsets.tolist()
    theirs = [SceneGraph((item for items in stated[a:b] for item in items), synonyms) for a, b in itertools.pairwise(bounds)]
    for made, graphs in ((candidates, ours), (references, theirs)):
        expected = pack(graphs)
        for name, array in made.arrays.items():
            assert np.array_equal(array, expected[name]), name
    expected_table = np.array([list(counts(graph, theirs[image]).values()) for graph, image in zip(ours, images)])
    assert np.array_equal(table, expected_table)


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
    """The arrays of a file serve as they are, and are written again as they were."""
    path = tmp_path / "references.prepared"
    with called_often():
        raw = captious.load(demo_path("references"), demo_path("poor"))
        expected = tuple_counts(raw, Spice().prepare(raw.references))
        references = References.read(demo_path("references"))
        references.prepare([Spice()])
        references.save(path)
        corpus = captious.load(path, demo_path("poor"))
        scenes = Spice().prepare(corpus.references)
        # What the words mean is in the file, and nobody asks the dictionary.
        monkeypatch.setattr(packed, "meanings", None)
        assert np.array_equal(tuple_counts(corpus, scenes), expected)
        monkeypatch.undo()
        # Files of earlier versions do not have it.
        graphs = scenes.references
        assert isinstance(graphs, PackedGraphs)
        older = {name: array for name, array in graphs.arrays.items() if not name.startswith("synset")}
        again = packed.unpack(older, scenes.synonyms).meanings
        assert all(np.array_equal(getattr(again, name), getattr(graphs.meanings, name)) for name in ("synsets", "offsets", "bits"))
    made = raw.references.memo.products()
    [arrays] = [arrays for key, arrays in made if key[0] == "scene graphs"]
    for name, array in pack(scenes.references).items():
        assert np.array_equal(array, arrays[name]), name


@pytest.mark.parametrize("count", [1, 40])
def test_few_captions_need_no_compiled_code(count: int) -> None:
    """Little work is done on objects, and gives the same."""
    ids = [str(i) for i in range(count)]
    texts = [["two dogs run in front of a sofa and they bark", "a couple of hounds are next to a couch"] for _ in ids]
    corpus = Corpus.build(ids, [["a dog barks at a couch"] for _ in ids], texts)
    small = tuple_counts(corpus, Spice().prepare(corpus.references))
    corpus = Corpus.build(ids, [["a dog barks at a couch"] for _ in ids], texts)
    with called_often():
        assert np.array_equal(tuple_counts(corpus, Spice().prepare(corpus.references)), small)


def lines(folder: Path) -> Iterator[str]:
    """Captions of people, of machines, and such as were changed to be wrong."""
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
    with called_often():
        batch = batch_of(captions, get_parser())
        made = flat_tuples(batch)
    assert not [s.forms for i, s in enumerate(batch.sentences()) if made.of(i) != tuples(s)]


@pytest.mark.shared
def test_parses_of_corenlp(shared_data: Path) -> None:
    """Trees of CoreNLP's own, with relations and tags that our parser seldom gives."""
    rows = itertools.islice(read_jsonl(shared_data / "parses" / "captions.jsonl.gz"), 0, None, 10)
    sentences = [Sentence.from_dict(sentence, keep_graph=False) for row in rows for sentence in row["sentences"]]
    with called_often():
        made = flat_tuples(ParsedBatch.of([[sentence] for sentence in sentences]))
    assert not [s.forms for i, s in enumerate(sentences) if made.of(i) != tuples(s)]
