"""The sentence encoder against transformers (tests/gold/make_sentence_vectors.py)."""

from __future__ import annotations

import os
import shutil
import zipfile
from pathlib import Path

import numpy as np
import pytest

import captious
from captious.core.errors import InputError
from captious.corpus import Corpus
from captious.metrics.captions import encoded_captions
from captious.metrics.captions.sentence_sim import SentenceSim
from captious.vectors.sentence_vectors import SentenceEncoder, find_model

GOLD = Path(__file__).parent.parent / "gold" / "sentence_vectors.npz"


@pytest.fixture(scope="module")
def encoder() -> SentenceEncoder:
    return SentenceEncoder()


def test_equal_to_transformers(encoder: SentenceEncoder) -> None:
    with np.load(GOLD, allow_pickle=False) as gold:
        sentences, vectors = [str(s) for s in gold["sentences"]], gold["vectors"]
    ours = encoder.encode(sentences)
    np.testing.assert_allclose(ours, vectors, atol=1e-5)
    np.testing.assert_allclose(ours @ ours.T, vectors @ vectors.T, atol=1e-5)


def test_batches_order_and_repetition_do_not_matter(
    encoder: SentenceEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [
        f"a photo of {n} {thing}"
        for n in ("one", "two", "three")
        for thing in ("dogs", "very old red cars", "x")
    ]
    alone = np.concatenate([encoder.encode([text]) for text in texts])
    import captious.vectors.sentence_vectors as module

    monkeypatch.setattr(module, "BATCH_TOKENS", 24)
    together = encoder.encode(texts[::-1] + texts)
    np.testing.assert_allclose(together[len(texts) :], alone, atol=2e-6)
    np.testing.assert_array_equal(together[: len(texts)][::-1], together[len(texts) :])
    np.testing.assert_allclose(np.linalg.norm(alone, axis=1), 1, atol=1e-6)
    assert encoder.encode([]).shape == (0, encoder.dimension)


def test_texts_of_earlier_results_are_not_encoded_again(
    encoder: SentenceEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = ["a dog runs", "two red buses", "a dog runs", ""]
    second = ["a cat", "two red buses", "a cat", "a man on a horse", ""]
    sentences, tokens = encoder.encode(first), encoder.encode_tokens(first)
    whole, whole_tokens = encoder.encode(second), encoder.encode_tokens(second)
    seen: list[str] = []
    tokenised = encoder._tokenised
    monkeypatch.setattr(encoder, "_tokenised", lambda texts: seen.extend(texts) or tokenised(texts))
    np.testing.assert_allclose(encoder.encode(second, [(first, sentences)]), whole, atol=2e-6)
    assert seen == ["a cat", "a man on a horse"]
    seen.clear()
    shared = encoder.encode_tokens(second, [(["other"], tokens), (first, tokens)])
    assert seen == ["a cat", "a man on a horse"]
    np.testing.assert_allclose(shared.sentences, whole_tokens.sentences, atol=2e-6)
    np.testing.assert_allclose(shared.rows.astype(float), whole_tokens.rows.astype(float), atol=1e-3)
    for name in ("sequence", "offsets", "ids"):
        np.testing.assert_array_equal(getattr(shared, name), getattr(whole_tokens, name))


def test_systems_share_the_vectors_of_equal_captions_and_phrases(monkeypatch: pytest.MonkeyPatch) -> None:
    references = {"1": ["a brown dog runs", "a dog"], "2": ["a bus", "a red bus on a street"]}
    one = {"1": "a wooden chair", "2": "a tall giraffe"}
    other = {"1": "a wooden chair", "2": "a tall lamp in a street"}
    metrics = "SentenceSim,TokenSim-R,Soft-SPICE"
    encoded_captions._encoded.clear()  # of other tests
    seen: list[str] = []
    tokenised = SentenceEncoder._tokenised
    monkeypatch.setattr(
        SentenceEncoder, "_tokenised", lambda self, texts: seen.extend(texts) or tokenised(self, texts)
    )
    first, second = captious.load_systems(references, [one, other])
    captious.score(first, metrics)
    assert {"a wooden chair", "a tall giraffe", "giraffe", "tall giraffe", "chair", "dog"} <= set(seen)
    seen.clear()
    scores = captious.score(second, metrics)
    assert sorted(seen) == ["a tall lamp in a street", "lamp", "lamp in street", "tall lamp"]
    encoded_captions._encoded.clear()
    alone = captious.score(captious.load(references, other), metrics)
    for name, score in scores.items():
        np.testing.assert_allclose(score.per_caption, alone[name].per_caption, atol=1e-5)


def test_hostile_text_is_encoded(encoder: SentenceEncoder) -> None:
    vectors = encoder.encode(["word " * 10_000, "\0\ufffd", "a\u0301" * 300, "\n\n"])
    assert np.isfinite(vectors).all()


def unpack(source: Path, folder: Path) -> None:
    if source.is_dir():
        shutil.copytree(source, folder)
        return
    with zipfile.ZipFile(source) as packed:
        packed.extractall(folder)


def test_a_damaged_copy_in_the_cache_is_unpacked_again(
    encoder: SentenceEncoder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not find_model().is_file():
        pytest.skip("the model is not packed")
    monkeypatch.setenv("CAPTIOUS_CACHE", str(tmp_path))
    expected = SentenceEncoder().encode(["a dog"])
    (kept,) = (path for path in (tmp_path / "sentences").iterdir() if path.suffix != ".lock")
    before = kept.stat()
    with kept.open("r+b") as handle:
        handle.seek(before.st_size // 2)
        handle.write(bytes(100_000))
    os.utime(kept, ns=(before.st_atime_ns, before.st_mtime_ns))
    np.testing.assert_array_equal(SentenceEncoder().encode(["a dog"]), expected)


def test_a_folder_of_the_same_format_and_damage_to_it(encoder: SentenceEncoder, tmp_path: Path) -> None:
    source = find_model()
    folder = tmp_path / "model"
    unpack(source, folder)
    copy = SentenceEncoder(folder)
    np.testing.assert_array_equal(copy.encode(["a dog"]), encoder.encode(["a dog"]))
    # The same content has the same name in signatures, whatever its path.
    assert (copy.label, copy.digest) == (encoder.label, encoder.digest) and encoder.label == "bert-6x384"
    weights = folder / "model.safetensors"
    with weights.open("r+b") as handle:
        handle.truncate(1_000_000)
    with pytest.raises(InputError, match=r"model\.safetensors is not a whole safetensors file"):
        SentenceEncoder(folder)
    (folder / "tokenizer.json").write_text("{")
    with pytest.raises(InputError, match=r"tokenizer\.json"):
        SentenceEncoder(folder)


def test_a_missing_model_is_an_error_not_a_download(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no sentence encoder at"):
        SentenceEncoder(tmp_path / "nothing")


def test_several_encoders_are_a_mean(encoder: SentenceEncoder, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    unpack(find_model(), folder)
    # The same weights, read at the first token: other vectors.
    (folder / "1_Pooling").mkdir(exist_ok=True)
    (folder / "1_Pooling" / "config.json").write_text('{"pooling_mode_cls_token": true}')
    corpus = Corpus.build(
        ["1", "2"], [["a dog runs"], ["a red bus"]], [["two dogs", "a dog in a field"], ["a bus on a street"]]
    )
    one, other = (
        captious.score(corpus, SentenceSim(model))["SentenceSim"].per_caption for model in (None, folder)
    )
    assert not np.allclose(one, other, atol=1e-3)
    for both in (f"default,{folder}", ["default", folder]):
        score = captious.score(corpus, SentenceSim(both))["SentenceSim"]
        np.testing.assert_allclose(score.per_caption, (one + other) / 2, atol=1e-6)
        assert score.signature.fields["model"] != score.signature.fields["model-2"]
    with pytest.raises(InputError, match="no sentence encoder at /nowhere"):
        SentenceSim("default,/nowhere")
