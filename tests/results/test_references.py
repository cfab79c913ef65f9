"""Prepared references: frozen, stored in a file, and with the same scores as the captions themselves."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
import pytest

import captious
from captious.core import container
from captious.core.container import _checksum
from captious.core.errors import InputError
from captious.corpus import Captions
from captious.data import demo_path
from captious.io import read
from captious.io import reading as prepared_files
from captious.parser.choice import get
from captious.parser.fast_parser import ParsedBatch
from captious.results.references import References
from captious.results.scores import Scores

#: A dozen images of the demo.
GIVEN = read(demo_path("references"), "references")
IDS = GIVEN.ids[10:22]
REFERENCES = {image: list(captions) for image, captions in zip(GIVEN.ids, GIVEN.captions) if image in IDS}
METRICS = "BLEU-4,ROUGE-L,CIDEr-D,METEOR,SPICE,SPICE-Attribute,SPICE-Color,SPICE-U,HWCM-2,CHAIRi"


def system(name: str) -> dict[str, list[str]]:
    file = read(demo_path(name), "predictions")
    return {image: list(captions) for image, captions in zip(file.ids, file.captions) if image in IDS}


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("prepared") / "references.prepared"
    captious.prepare(REFERENCES, METRICS).save(path)
    return path


def assert_equal(a: Scores, b: Scores) -> None:
    assert list(a) == list(b)
    for name in a:
        assert a[name].signature == b[name].signature
        assert np.array_equal(a[name].statistics, b[name].statistics), name
        assert a[name].ids == b[name].ids


def test_scores_from_the_file_are_those_from_the_captions(prepared: Path) -> None:
    raw = captious.score(captious.load(REFERENCES, system("good")), METRICS)
    assert_equal(captious.score(captious.load(prepared, system("good")), METRICS), raw)
    # The second system reuses everything.
    references = References.read(prepared)
    for name in ("good", "poor"):
        raw = captious.score(captious.load(REFERENCES, system(name)), METRICS)
        assert_equal(captious.score(captious.load(references, system(name)), METRICS), raw)


def test_products_in_the_file_are_not_computed_again(prepared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from captious.scene import graphs

    asked: list[Captions] = []
    usual = graphs._graphs

    def counted(captions: Captions, *rest: Any) -> Any:
        asked.append(captions)
        return usual(captions, *rest)

    monkeypatch.setattr(graphs, "_graphs", counted)
    references = References.read(prepared)
    # Digests of the words and digests of the images.
    of_words, of_images = (
        {key[0] for key in memo.stored}
        for memo in (references.captions.encoding.memo, references.captions.memo)
    )
    assert "n-grams" in of_words and {"document frequencies", "scene graphs"} <= of_images
    corpus = captious.load(references, system("good"))
    captious.score(corpus, "SPICE,CIDEr-D")
    assert [captions is corpus.candidates for captions in asked] == [True]


def test_captious_score_encodes_no_reference_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("tokenizers")
    from captious.metrics.captions import encoded_captions, soft_spice, token_alignment
    from captious.vectors.sentence_vectors import SentenceEncoder

    raw = captious.score(captious.load(REFERENCES, system("good")), "CaptiousScore,Soft-SPICE")
    captious.prepare(REFERENCES, "CaptiousScore").save(tmp_path / "r.prepared")
    references = References.read(tmp_path / "r.prepared")
    products = {key[0] for key in references.captions.memo.stored}
    assert {"phrases of scenes", "alignment of references"} <= products
    phrases = {
        str(text)
        for key, arrays in references.captions.memo.stored.items()
        if key[0] == "phrases of scenes"
        for text in soft_spice._unpack(arrays).texts
    }
    encoded: list[str] = []
    usual = SentenceEncoder._tokenised

    def counted(self: SentenceEncoder, texts: list[str]) -> Any:
        encoded.extend(texts)
        return usual(self, texts)

    def refused(*_: Any) -> Any:
        raise AssertionError("references are aligned again")

    # Otherwise vectors of the same captions, encoded for `raw`, would serve.
    monkeypatch.setattr(encoded_captions, "_encoded", WeakValueDictionary())
    monkeypatch.setattr(SentenceEncoder, "_tokenised", counted)
    monkeypatch.setattr(token_alignment, "_agreement", refused)
    corpus = captious.load(references, system("good"))
    assert_equal(captious.score(corpus, "CaptiousScore,Soft-SPICE"), raw)
    assert encoded and not set(encoded) & phrases


class Backwards:
    """Another parser that goes by the same name: it reads captions from the end."""

    label = get().label
    digest = "00000000"

    def parse_batch(self, captions: Sequence[Sequence[str]], *, jobs: int = 1) -> ParsedBatch:
        return get().parse_batch([caption[::-1] for caption in captions], jobs=jobs)


def test_scenes_of_another_parser_are_not_taken(prepared: Path) -> None:
    shipped = captious.score(captious.load(prepared, system("good")), "SPICE")["SPICE"]
    raw = captious.score(captious.load(REFERENCES, system("good")), "SPICE", parser=Backwards())["SPICE"]
    scores = captious.score(captious.load(prepared, system("good")), "SPICE", parser=Backwards())["SPICE"]
    assert scores.value == raw.value != shipped.value
    assert scores.signature == raw.signature != shipped.signature


def test_the_captions_themselves_come_back(prepared: Path) -> None:
    results, result = read(REFERENCES, "references"), read(prepared, "references")
    assert result.ids == results.ids
    assert [list(group) for group in result.captions] == [list(group) for group in results.captions]
    opened = References.read(prepared)
    assert [list(group) for group in opened.file.captions] == [list(group) for group in results.captions]
    assert [list(opened.file.captions[i]) for i in (0, 7, -1)] == [
        list(results.captions[i]) for i in (0, 7, -1)
    ]
    assert opened.captions.digest == References.read(REFERENCES).captions.digest


@pytest.mark.parametrize("way", ["subset", "part"])
def test_parts_and_subsets_of_a_prepared_file(way: str, prepared: Path) -> None:
    some = dict(list(system("good").items())[3:9])
    raw, result = (
        captious.load(references, some, subset=way == "subset", part=way == "part")
        for references in (REFERENCES, prepared)
    )
    assert_equal(captious.score(result, METRICS), captious.score(raw, METRICS))


def test_another_tokenizer_is_refused(prepared: Path) -> None:
    with pytest.raises(
        InputError, match=r"prepared with the tokenizer 'ptb', and 'simple' was asked for; prepare"
    ):
        captious.load(prepared, system("good"), tokenizer="simple")
    assert captious.load(prepared, system("good"), tokenizer="ptb").tokenizer == "ptb"


def test_damage_is_noticed_in_every_part(tmp_path: Path) -> None:
    path = tmp_path / "small.prepared"
    captious.prepare({"1": ["a dog runs"], "2": ["two cats sleep"]}, "BLEU-4,CIDEr-D").save(path)
    whole = path.read_bytes()
    opened = container.read(path, prepared_files.KIND, prepared_files.VERSION, "")
    for name in opened.arrays:
        row = opened.arrays._rows[name]
        if not np.prod(row["shape"]):
            continue
        at = opened.arrays._start + row["at"]
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        with pytest.raises(InputError, match=r"damaged \(its part"):
            container.read(path, prepared_files.KIND, prepared_files.VERSION, "").arrays[name]
    path.write_bytes(whole[:-1])
    with pytest.raises(InputError, match="damaged"):
        References.read(path)


def test_a_sound_file_is_checked_again_after_it_was_touched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "small.prepared"
    captious.prepare({"1": ["a dog runs"], "2": ["two cats sleep"]}, "CIDEr-D").save(path)
    References.read(path)
    # Unchanged files are not checked again.
    real = _checksum
    with monkeypatch.context() as patch:
        patch.setattr(
            "captious.core.container._checksum",
            lambda data: real(data) if b"captious" in bytes(data) or b'"kind"' in bytes(data) else "",
        )
        References.read(path)
    whole, before = path.read_bytes(), path.stat()
    at = len(whole) - 1
    path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    for _ in range(2):
        with pytest.raises(InputError, match=r"damaged \(its part .* make the file again"):
            References.read(path)
    path.write_bytes(whole)
    assert len(References.read(path)) == 2


def test_meteor_finds_words_and_phrases_in_the_file(prepared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from captious.meteor import encoding_words as encode

    references = References.read(prepared)
    assert {"METEOR lines", "METEOR words", "METEOR phrases by number"} <= {
        key[0] for key in references.captions.memo.stored
    }
    looked_up: list[str] = []
    usual = encode.look_up_words

    def counted(words: Sequence[str], resources: Any) -> Any:
        looked_up.extend(words)
        return usual(words, resources)

    monkeypatch.setattr(encode, "look_up_words", counted)
    captious.score(captious.load(references, system("good")), "METEOR")
    assert not set(looked_up) & set(references.captions.vocabulary.words)


@pytest.mark.parametrize("version", range(prepared_files.OLDEST, prepared_files.VERSION + 1))
def test_files_of_older_versions_are_read(version: int, prepared: Path, tmp_path: Path) -> None:
    opened = container.read(prepared, prepared_files.KIND, prepared_files.VERSION, "")
    container.write(tmp_path / "r.prepared", prepared_files.KIND, version, opened.meta, dict(opened.arrays))
    old, new = (
        captious.score(path, demo_path("good"), "CIDEr-D", subset=True)["CIDEr-D"].value
        for path in (tmp_path / "r.prepared", prepared)
    )
    assert old == new > 0


@pytest.mark.parametrize(
    ("version", "age"), [(prepared_files.OLDEST - 1, "an older"), (prepared_files.VERSION + 1, "a newer")]
)
def test_files_of_other_versions_are_refused(version: int, age: str, tmp_path: Path) -> None:
    container.write(tmp_path / "r.prepared", prepared_files.KIND, version, {}, {})
    with pytest.raises(InputError, match=f"of {age} captious"):
        References.read(tmp_path / "r.prepared")


def test_only_whole_references_can_be_saved(tmp_path: Path) -> None:
    references = References.read(REFERENCES)
    part = references.captions.take_images(np.array([0, 1]))
    with pytest.raises(ValueError, match="encoded by themselves"):
        References(references.file, part).save(tmp_path / "part.prepared")
    assert not list(tmp_path.iterdir())


def test_references_that_are_predictions_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "captions.jsonl"
    path.write_text(
        '{"image_id": 1, "captions": ["a dog", "the dog"]}\n{"image_id": 2, "captions": ["a cat"]}\n'
    )
    (tmp_path / "link.jsonl").symlink_to(path)
    for references in (path, References.read(path)):
        with pytest.raises(InputError, match="as references and as predictions"):
            captious.score(references, tmp_path / "link.jsonl", "BLEU-1")
    with pytest.raises(InputError, match="as references and as predictions"):
        captious.corpus_diversity(path, [path], parse=False)


def test_a_system_that_is_given_twice_is_noticed(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match=r"good\.json is given twice: two systems are equal"):
        captious.load_systems(demo_path("references"), [demo_path("good")] * 2)


def test_results_in_place_of_references(tmp_path: Path) -> None:
    """In the format of COCO results, one caption per image is a system's."""
    with pytest.warns(UserWarning, match="format of COCO results"):
        captious.score(demo_path("good"), demo_path("poor"), "BLEU-1")
    with pytest.raises(InputError, match="references are expected; if they are references, save them as"):
        captious.prepare(demo_path("good"), "BLEU-1")
    rows = '[{"image_id": 1, "caption": "a dog"}, {"image_id": 1, "caption": "the dog"}]'
    (tmp_path / "references.json").write_text(rows)
    assert len(captious.prepare(tmp_path / "references.json", "BLEU-1")) == 1
