"""The sentence encoder beside what transformers gave for the same sentences (tests/gold/make_sentence_vectors.py)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from captious.errors import InputError
from captious.vectors.sentences import SentenceEncoder, _files, find_model

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


def test_batches_order_and_repetition_do_not_matter(encoder: SentenceEncoder, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [f"a photo of {n} {thing}" for n in ("one", "two", "three") for thing in ("dogs", "very old red cars", "x")]
    alone = np.concatenate([encoder.encode([text]) for text in texts])
    import captious.vectors.sentences as module

    monkeypatch.setattr(module, "BATCH_TOKENS", 24)
    together = encoder.encode(texts[::-1] + texts)
    np.testing.assert_allclose(together[len(texts) :], alone, atol=2e-6)
    np.testing.assert_array_equal(together[: len(texts)][::-1], together[len(texts) :])
    np.testing.assert_allclose(np.linalg.norm(alone, axis=1), 1, atol=1e-6)
    assert encoder.encode([]).shape == (0, encoder.dimension)


def test_hostile_text_is_encoded(encoder: SentenceEncoder) -> None:
    vectors = encoder.encode(["word " * 10_000, "\0\ufffd", "a\u0301" * 300, "\n\n"])
    assert np.isfinite(vectors).all()


def test_a_folder_of_the_same_format_and_damage_to_it(encoder: SentenceEncoder, tmp_path: Path) -> None:
    source = find_model()
    folder = tmp_path / "model"
    for name, content in _files(source).items():
        if name != "digest":
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content.tobytes())
    np.testing.assert_array_equal(SentenceEncoder(folder).encode(["a dog"]), encoder.encode(["a dog"]))
    assert SentenceEncoder(folder).label == "model" and encoder.label == "all-MiniLM-L6-v2"
    assert SentenceEncoder(folder).digest == encoder.digest
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
