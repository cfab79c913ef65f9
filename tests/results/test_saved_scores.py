"""Scores in files: the same bits after loading, parts merged into a whole, and untrusted files."""

from __future__ import annotations

import hashlib
import json
import pickle
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import captious
from captious.core import container
from captious.corpus import Corpus
from captious.data import demo_path
from captious.diversity_analysis.sets import best, diversity, human
from captious.metrics import registry
from captious.metrics.base import FloatArray, Measure, Sequences
from captious.results import saved_scores as records
from captious.results.scores import Score, Scores

#: Means, formulas of sums with settings of their own, less-is-better, undefined values.
METRICS = ["BLEU-1", "BLEU-4", "ROUGE-L", "CIDEr-D", "Precision-2", "Recall-1", "CHAIRs", "CHAIRi"]


def demo(name: str = "good", **options: Any) -> Corpus:
    return captious.load(demo_path("references"), demo_path(name), name=name, **options)


@pytest.fixture(scope="module")
def scores() -> Scores:
    return captious.score(demo(), METRICS)


@pytest.fixture(scope="module")
def sets() -> Scores:
    return diversity(demo("sampling", several=True), accuracy=["CIDEr-D", "BLEU-4"])


def assert_same(a: Scores, b: Scores) -> None:
    """All derived values are bit-equal."""
    assert list(a) == list(b)
    for name in a:
        one, other = a[name], b[name]
        assert one.signature == other.signature
        assert one.ids == other.ids
        assert np.array_equal(one.image_offsets, other.image_offsets)
        assert repr(one.value) == repr(other.value), name
        assert repr(one.oracle) == repr(other.oracle), name
        assert np.array_equal(one.per_caption, other.per_caption, equal_nan=True), name
        assert repr(one.per_image) == repr(other.per_image)
        assert one.interval(resamples=200) == other.interval(resamples=200) or np.isnan(one.value)
        assert one.measure.higher_is_better == other.measure.higher_is_better
        assert tuple(one.measure.bounds) == tuple(other.measure.bounds)
        assert one.measure.rows == other.measure.rows


def test_saved_scores_are_equal_bit_for_bit(scores: Scores, tmp_path: Path) -> None:
    scores.save(tmp_path / "good.scores")
    loaded = captious.load_scores(tmp_path / "good.scores")
    assert loaded.system == "good"
    assert_same(scores, loaded)
    assert loaded.to_json(per_image=True, ci=True) == scores.to_json(per_image=True, ci=True)
    assert loaded.captions is not None
    assert list(loaded.captions.texts or ()) == list(demo().candidates.texts)


def test_undefined_values_stay_undefined(tmp_path: Path) -> None:
    corpus = captious.load({1: ["a dog"], 2: ["a cat"]}, {1: "something", 2: "something else"})
    loaded = captious.score(corpus, "CHAIRi")
    assert np.isnan(loaded["CHAIRi"].value)
    loaded.save(tmp_path / "x.scores")
    assert_same(loaded, Scores.load(tmp_path / "x.scores"))


def test_saved_again_it_is_the_same_file(scores: Scores, tmp_path: Path) -> None:
    scores.save(tmp_path / "a.scores")
    captious.load_scores(tmp_path / "a.scores").save(tmp_path / "b.scores")
    assert (tmp_path / "a.scores").read_bytes() == (tmp_path / "b.scores").read_bytes()


def test_meteor_and_its_formula(tmp_path: Path) -> None:
    pytest.importorskip("pycocoevalcap")
    loaded = captious.score(demo(), ["METEOR"])
    loaded.save(tmp_path / "x.scores")
    assert_same(loaded, Scores.load(tmp_path / "x.scores"))


def test_composed_measures_come_back(sets: Scores, tmp_path: Path) -> None:
    assert {"mean CIDEr-D", "oracle CIDEr-D", "oracle BLEU-4", "F-measure"} <= set(sets)
    people = human(demo("sampling", several=True), accuracy=["BLEU-4"])
    cut = best(demo("sampling", several=True), [2])[0].scores
    for k, result in enumerate([sets, people, cut]):
        result.save(tmp_path / f"{k}.scores")
        assert_same(result, Scores.load(tmp_path / f"{k}.scores"))


def test_equal_tables_are_written_once(tmp_path: Path) -> None:
    captious.score(demo(), "bleu").save(tmp_path / "x.scores")
    arrays = container.read(tmp_path / "x.scores", records.KIND, records.VERSION, "").arrays
    assert [name for name in arrays if name.startswith("statistics/")] == ["statistics/0/numbers"]


def test_texts_can_be_left_out(scores: Scores, tmp_path: Path) -> None:
    scores.save(tmp_path / "x.scores", texts=False)
    loaded = Scores.load(tmp_path / "x.scores")
    assert loaded.captions is not None
    assert loaded.captions.texts is None
    assert b"dog" not in (tmp_path / "x.scores").read_bytes()
    assert_same(scores, loaded)


def test_hostile_captions_and_ids_survive(tmp_path: Path) -> None:
    texts = {"a|b\nc": "🐶 \u202e ||| x", "\x00": "\x00", "日本": "a " * 5000}
    corpus = captious.load({image: ["a dog"] for image in texts}, texts, tokenizer="simple", name="x/../\ny")
    loaded = captious.score(corpus, "BLEU-1")
    loaded.save(tmp_path / "x.scores")
    result = Scores.load(tmp_path / "x.scores")
    assert result.system == "x/../\ny"
    assert result["BLEU-1"].ids == tuple(texts)
    assert result.captions is not None
    assert list(result.captions.texts or ()) == list(texts.values())


# Other measures ---------------------------------------------------------------------------------------------


class Words(Measure):
    """Different words of all captions, squared: rows of words, and a formula of its own."""

    name = "Words"
    rows = "corpus"
    needs = frozenset()

    def statistics(self, corpus: Corpus, state: Any) -> Sequences:
        captions = corpus.candidates
        keys = np.array([hash_of(word) for word in captions.vocabulary.words], dtype=np.uint64)
        return Sequences(captions.tokens, captions.token_offsets, keys).grouped(captions.image_offsets)

    def value(self, sums: Any) -> FloatArray:
        return np.asarray((sums.counts() > 0).sum(axis=-1) ** 2, dtype=np.float64)


def hash_of(word: str) -> int:
    return int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest(), "little")


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A package that brings the measure, as another project would."""
    folder = tmp_path / "site" / "wordy-1.0.dist-info"
    folder.mkdir(parents=True)
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: wordy\nVersion: 1.0\n")
    (folder / "entry_points.txt").write_text(f"[captious.measures]\nWords = {__name__}:Words\n")
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path / "site")])
    registry.entries.cache_clear()
    registry.measure_class.cache_clear()
    yield
    monkeypatch.undo()
    registry.entries.cache_clear()
    registry.measure_class.cache_clear()


def test_rows_of_words_and_measures_of_other_packages(installed: None, tmp_path: Path) -> None:
    loaded = captious.score(demo(), "Words")
    loaded.save(tmp_path / "x.scores")
    result = Scores.load(tmp_path / "x.scores")
    assert result["Words"].value == loaded["Words"].value > 10_000
    assert result["Words"].interval(resamples=50) == loaded["Words"].interval(resamples=50)
    parts = [Scores.of(corpus, [Words()]) for corpus in shards(demo)]
    merged = Scores.merge(reversed(parts))
    assert merged["Words"].value == loaded["Words"].value
    assert merged["Words"].interval(resamples=50) == loaded["Words"].interval(resamples=50)


def test_an_unknown_measure_is_named_with_its_package(tmp_path: Path) -> None:
    Scores.of(demo(), [Words()]).save(tmp_path / "x.scores")
    with pytest.raises(
        captious.InputError,
        match=rf"x\.scores: the measure 'Words' is not known here: install .*'{__name__.partition('.')[0]}'",
    ):
        Scores.load(tmp_path / "x.scores")


class Length(Measure):
    """A mean needs no package, because its formula is always known."""

    name = "Length"
    needs = frozenset()

    def statistics(self, corpus: Corpus, state: Any) -> FloatArray:
        lengths = corpus.candidates.lengths.astype(np.float64)
        return np.asfortranarray(np.stack([lengths / 3, np.ones_like(lengths)], axis=1))


def test_a_mean_is_read_without_its_package(tmp_path: Path) -> None:
    result = Scores.of(demo(), [Length()])
    result.save(tmp_path / "x.scores")
    loaded = Scores.load(tmp_path / "x.scores")
    assert_same(result, loaded)
    with pytest.raises(captious.InputError, match="saved scores and cannot score"):
        Score.of(loaded["Length"].measure, demo())


# Files that cannot be trusted -------------------------------------------------------------------------------


def test_every_damaged_byte_is_noticed(scores: Scores, tmp_path: Path) -> None:
    path = tmp_path / "x.scores"
    scores.save(path)
    whole = path.read_bytes()
    for at in [*range(0, 40), *range(40, len(whole), 997), len(whole) - 1]:
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0x20]) + whole[at + 1 :])
        with pytest.raises(captious.InputError, match=r"x\.scores"):
            Scores.load(path)
    for length in (0, 3, 20, 500, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:length])
        with pytest.raises(captious.InputError, match=r"x\.scores"):
            Scores.load(path)
    path.write_bytes(whole + b"\0")
    with pytest.raises(captious.InputError, match="damaged"):
        Scores.load(path)


def test_foreign_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.scores"
    for content in (b"", json.dumps({"a": 1}).encode(), pickle.dumps({"a": 1})):
        path.write_bytes(content)
        with pytest.raises(captious.InputError, match="not a file of scores; 'captious score"):
            Scores.load(path)
    container.write(path, "something else", 1, {}, {})
    with pytest.raises(captious.InputError, match="a file of something else, not a file of scores"):
        Scores.load(path)
    container.write(path, records.KIND, records.VERSION + 1, {}, {})
    with pytest.raises(captious.InputError, match="newer captious"):
        Scores.load(path)
    with pytest.raises(captious.InputError, match="No such file"):
        Scores.load(tmp_path / "missing.scores")


def rewritten(path: Path, change: Any) -> None:
    file = container.read(path, records.KIND, records.VERSION, "")
    meta, arrays = json.loads(json.dumps(file.meta)), dict(file.arrays)
    change(meta, arrays)
    container.write(path, records.KIND, records.VERSION, meta, arrays)


def nested(depth: int) -> dict[str, Any]:
    recipe: dict[str, Any] = {"formula": "mean"}
    for _ in range(depth):
        recipe = {
            "formula": "F-measure",
            "diversity": recipe,
            "accuracy": {"formula": "mean"},
            "columns": 2,
            "beta2": 5,
        }
    return recipe


@pytest.mark.parametrize(
    "change",
    [
        lambda meta, arrays: meta.pop("system"),
        lambda meta, arrays: meta.update(scores=[1]),
        lambda meta, arrays: meta["scores"][0].update(frame=7),
        lambda meta, arrays: meta["scores"][0].update(rows="sentence"),
        lambda meta, arrays: meta["scores"][0].update(recipe={}),
        lambda meta, arrays: arrays.update({"statistics/0/numbers": arrays["statistics/0/numbers"][1:]}),
        lambda meta, arrays: arrays.update({"frame/0/captions": arrays["frame/0/captions"][::-1].copy()}),
        lambda meta, arrays: arrays.update({"captions/texts/offsets": arrays["captions/texts/offsets"][:-1]}),
        lambda meta, arrays: arrays.update({"frame/0/ids/offsets": arrays["frame/0/ids/offsets"] * 2}),
        lambda meta, arrays: meta["scores"][0].update(recipe=nested(500)),
    ],
)
def test_a_description_that_makes_no_sense_is_one_message(
    scores: Scores, tmp_path: Path, change: Any
) -> None:
    scores.save(tmp_path / "x.scores")
    rewritten(tmp_path / "x.scores", change)
    with pytest.raises(captious.InputError, match=r"x\.scores: its description cannot be understood"):
        Scores.load(tmp_path / "x.scores")


def test_a_formula_of_tomorrow_is_refused(scores: Scores, tmp_path: Path) -> None:
    scores.save(tmp_path / "x.scores")
    rewritten(
        tmp_path / "x.scores", lambda meta, arrays: meta["scores"][0]["recipe"].update(formula="os.system")
    )
    with pytest.raises(captious.InputError, match=r"'os\.system' is not known here"):
        Scores.load(tmp_path / "x.scores")


def test_a_file_does_not_say_which_files_to_open(scores: Scores, tmp_path: Path) -> None:
    """Options of measures that name files are no settings; in a recipe they are passed over."""
    scores.save(tmp_path / "x.scores")
    settings = {"objects": str(tmp_path / "missing.json")}
    recipe = {"formula": "measure", "measure": "CHAIRs", "settings": settings, "package": "captious"}
    rewritten(tmp_path / "x.scores", lambda meta, arrays: meta["scores"][6].update(recipe=recipe))
    assert Scores.load(tmp_path / "x.scores")["CHAIRs"].value == scores["CHAIRs"].value


def test_a_formula_that_has_changed_since_is_noticed(scores: Scores, tmp_path: Path) -> None:
    scores.save(tmp_path / "x.scores")
    rewritten(tmp_path / "x.scores", lambda meta, arrays: meta["scores"][1].update(value=0.5))
    with pytest.raises(captious.InputError, match=r"BLEU-4 was 0\.5 when it was saved and is 0\.44"):
        Scores.load(tmp_path / "x.scores")


def test_nothing_is_half_written(scores: Scores, tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("a file, not a folder")
    with pytest.raises(captious.InputError, match="cannot write"):
        scores.save(tmp_path / "plain" / "x.scores")
    assert [path.name for path in tmp_path.iterdir()] == ["plain"]


# Parts ------------------------------------------------------------------------------------------------------


def shards(load: Any, name: str = "good", n: int = 3, **options: Any) -> list[Corpus]:
    """Every n-th image: interleaved parts."""
    whole = captious.io.read(demo_path(name), "predictions", several=options.get("several"))
    return [
        captious.load(
            demo_path("references"),
            dict(zip(whole.ids[k::n], whole.captions[k::n])),
            part=True,
            name=f"part {k}",
            **options,
        )
        for k in range(n)
    ]


def test_parts_equal_the_whole_bit_for_bit_in_any_order(scores: Scores, tmp_path: Path) -> None:
    parts = [captious.score(corpus, METRICS) for corpus in shards(demo)]
    parts[1].save(tmp_path / "1.scores")
    ways = [
        parts,
        [parts[2], parts[0], tmp_path / "1.scores"],
        [Scores.merge(parts[1:], part=True), parts[0]],
    ]
    for way in ways:
        merged = Scores.merge(way, name="good")
        assert merged.system == "good"
        assert_same(merged, scores)
        assert merged.captions is not None
        assert list(merged.captions.texts or ()) == list(demo().candidates.texts)
    merged.save(tmp_path / "whole.scores")
    scores.save(tmp_path / "good.scores")
    assert (tmp_path / "whole.scores").read_bytes() == (tmp_path / "good.scores").read_bytes()


def test_parts_that_lack_images_are_refused() -> None:
    parts = [captious.score(corpus, METRICS) for corpus in shards(demo)]
    with pytest.raises(
        captious.core.errors.InputError, match=r"have 40 of the 60 images of the references; .* --part"
    ):
        Scores.merge(parts[:2])
    assert len(Scores.merge(parts[:2], part=True)["BLEU-4"].ids) == 40


def test_parts_of_sets_equal_the_whole(sets: Scores) -> None:
    parts = [
        diversity(corpus, accuracy=["CIDEr-D", "BLEU-4"]) for corpus in shards(demo, "sampling", several=True)
    ]
    assert_same(Scores.merge(parts[::-1]), sets)


def test_corpus_measures_are_kept_and_merged_too(tmp_path: Path) -> None:
    wanted = ["ASL", "SDSL", "Types", "Cov", "Hapax", "MTLD", "Neg"]
    whole = captious.score(demo(), wanted)
    whole.save(tmp_path / "x.scores")
    merged = Scores.merge([captious.score(corpus, wanted) for corpus in shards(demo)][::-1])
    for result in (Scores.load(tmp_path / "x.scores"), merged):
        for name in wanted:
            assert result[name].signature == whole[name].signature
            assert result[name].value == whole[name].value
            assert result[name].interval(resamples=30) == whole[name].interval(resamples=30)


def test_sizes_of_sets_are_those_of_all_parts() -> None:
    references = {i: [f"dog {i} runs", "a dog"] for i in range(4)}
    samples = {i: [f"a dog {i}", "dog", "runs"][: 2 + i % 2] for i in range(4)}
    whole = captious.score(captious.load(references, samples, several=True), "Div-1")
    parts = [
        captious.score(
            captious.load(references, {i: samples[i] for i in some}, several=True, part=True), "Div-1"
        )
        for some in ([1, 3], [0, 2])
    ]
    assert "|m:3|" in parts[0]["Div-1"].signature
    assert "|m:2-3|" in whole["Div-1"].signature
    assert_same(Scores.merge(parts), whole)


def test_without_references_images_are_sorted_by_id_or_by_the_order() -> None:
    samples = {f"img{i}": [f"a dog {i}", "dog " * i] for i in (10, 9, 2, 1)}
    parts = [captious.score(captious.load(None, {k: v}, several=True), "Div-1") for k, v in samples.items()]
    for way in (parts, parts[::-1]):
        assert Scores.merge(way)["Div-1"].ids == ("img1", "img2", "img9", "img10")
    whole = captious.score(captious.load(None, samples, several=True), "Div-1")
    assert_same(Scores.merge(parts, order=list(samples)), whole)
    with pytest.raises(captious.InputError, match="lacks images that were scored: img2"):
        Scores.merge(parts, order=["img10", "img9", "img1"])


def test_references_in_another_order_give_the_order_of_ids() -> None:
    references = {i: [f"dog {i} runs", "a dog"] for i in (3, 20, 1, 4)}
    turned = dict(reversed(references.items()))
    a = captious.score(captious.load(references, {3: "a dog", 20: "dog 20"}, part=True), "BLEU-1")
    b = captious.score(captious.load(turned, {4: "a cat", 1: "a"}, part=True), "BLEU-1")
    assert Scores.merge([a, b])["BLEU-1"].ids == Scores.merge([b, a])["BLEU-1"].ids == ("1", "3", "4", "20")


def test_unrelated_parts_are_refused(scores: Scores) -> None:
    first, second, _ = (captious.score(corpus, ["BLEU-4", "CIDEr-D"]) for corpus in shards(demo))
    with pytest.raises(captious.InputError, match="nothing to merge"):
        Scores.merge([])
    with pytest.raises(
        captious.InputError, match=r"parts 1 and 3 .* share images: .* each image must be in one part"
    ):
        Scores.merge([first, second, first])
    with pytest.raises(captious.InputError, match="not scored by the same measures: CIDEr-D"):
        Scores.merge([first, captious.score(shards(demo)[1], ["BLEU-4"])])
    references = captious.io.read(demo_path("references"), "references")
    others = {**dict(zip(references.ids, references.captions)), references.ids[0]: ["another caption"]}
    whole = captious.io.read(demo_path("good"), "predictions")
    part = captious.load(others, dict(zip(whole.ids[1::3], whole.captions[1::3])), part=True)
    with pytest.raises(
        captious.InputError,
        match=r"BLEU-4: part 1 .* cannot be merged, they were made differently \(refs: 60x5@\w+ / 60x1-5@\w+\)",
    ):
        Scores.merge([first, captious.score(part, ["BLEU-4", "CIDEr-D"])])
    subset = captious.load(
        demo_path("references"), dict(zip(whole.ids[1::3], whole.captions[1::3])), subset=True
    )
    with pytest.raises(captious.InputError, match=r"refs: .*subset: – / 20of60"):
        Scores.merge([first, captious.score(subset, ["BLEU-4", "CIDEr-D"])])
