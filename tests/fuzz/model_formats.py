"""Files of vectors, language models and networks."""

from __future__ import annotations

import gzip
import json
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from captious.metrics.learned import composite
from captious.metrics.learned.composite_network import Network, pack, to_bytes
from captious.rerank.language_models import model_files
from captious.rerank.language_models.arpa import write_arpa
from captious.rerank.language_models.language_model import ModelVocabulary
from captious.rerank.language_models.lstm_model import LSTM
from captious.rerank.language_models.ngram import NGram
from captious.text import meteor_data, synonyms
from captious.vectors import get
from captious.vectors.fasttext import MAGIC
from captious.vectors.keyed_vectors import read_vectors
from tests.fuzz.formats import Format, captions


def _numbers(*shape: int) -> Any:
    return np.random.default_rng(1).normal(0.3, 1, shape).astype(np.float32)


# Vectors by name --------------------------------------------------------------------------------------------


def _vectors(ending: str) -> Callable[[Path], Path]:
    names, table = [f"image {i}" for i in range(300)], _numbers(300, 32)

    def write(folder: Path) -> Path:
        path = folder / f"vectors.{ending}"
        if ending == "npz":
            np.savez_compressed(path, ids=np.array(names), vectors=table)
        elif ending == "npy":
            np.save(path, table)
            path.with_suffix(".json").write_text(json.dumps(names))
        elif ending == "safetensors":
            from safetensors.numpy import save_file

            save_file({"vectors": table}, path, metadata={"ids": json.dumps(names)})
        else:
            import pyarrow
            import pyarrow.parquet

            columns = pyarrow.table({"id": names, "vector": table.tolist()})
            pyarrow.parquet.write_table(columns, path, write_page_checksum=True)
        return path

    return write


def _read_vectors(path: Path) -> object:
    vectors = read_vectors(path)
    return list(vectors.places.items()), vectors.rows


# Word vectors -----------------------------------------------------------------------------------------------


def _word2vec(folder: Path) -> Path:
    table = _numbers(800, 25)
    content = b"800 25\n" + b"".join(b"word%d " % i + row.tobytes() + b"\n" for i, row in enumerate(table))
    (folder / "vectors.bin").write_bytes(content)
    return folder / "vectors.bin"


def _glove(folder: Path) -> Path:
    lines = (
        f"word{i} " + " ".join(f"{value:.5f}" for value in row) for i, row in enumerate(_numbers(800, 25))
    )
    (folder / "vectors.txt").write_text("\n".join(lines) + "\n")
    return folder / "vectors.txt"


def _fasttext(folder: Path) -> Path:
    words, buckets, dimension = [f"word{i}" for i in range(500)], 200, 20
    content = struct.pack("<14i", MAGIC, 12, dimension, 5, 5, 1, 5, 0, 2, 1, buckets, 3, 6, 100)
    content += struct.pack("<d", 1e-4) + struct.pack("<3i2q", len(words), len(words), 0, 9_999, -1)
    content += b"".join(word.encode() + b"\0" + struct.pack("<qb", 5, 0) for word in words)
    content += struct.pack("<?2q", False, len(words) + buckets, dimension)
    path = folder / "model.bin"
    path.write_bytes(content + _numbers(len(words) + buckets, dimension).tobytes())
    return path


def _read_words(path: Path) -> object:
    vectors = get(path)
    return (
        len(vectors),
        vectors.dimension,
        vectors.lookup([*(f"word{i}" for i in range(800)), "unheard", "é"]),
    )


# Language models --------------------------------------------------------------------------------------------


def _tokens() -> list[list[str]]:
    return [text.split() for text in captions(300)]


def _ngrams(name: str) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        model, path = NGram.learn(_tokens(), 3), folder / name
        if path.suffix == ".arpa":
            write_arpa(model, path)
        else:
            model_files.save(model, path)
        return path

    return write


def _lstm(folder: Path) -> Path:
    vocabulary, e, h = ModelVocabulary([f"word{i}" for i in range(100)]), 16, 24
    v = len(vocabulary)
    shapes = {
        "embedding": (v, e), "input": (4 * h, e), "recurrent": (4 * h, h), "bias": (4 * h,), "out": (v, h),
        "out_bias": (v,),
    }  # fmt: skip
    model = LSTM(vocabulary, {name: _numbers(*shape) for name, shape in shapes.items()})
    model_files.save(model, folder / "lstm.safetensors")
    return folder / "lstm.safetensors"


def _read_model(path: Path) -> object:
    model = model_files.load(path)
    scores = model.score([["a", "dog", "word5"], ["word7", "runs"], []])
    return scores.of(0), scores.of(1), scores.of(2)


def _composite(folder: Path) -> Path:
    features = ("BLEU-4", "CIDEr-D", "METEOR")
    layers = ((_numbers(3, 8), _numbers(8)), (_numbers(8, 1), _numbers(1)))
    network = Network("own", features, _numbers(3), np.ones(3, np.float32), layers, {})
    (folder / "weights.safetensors").write_bytes(to_bytes(network))
    return folder / "weights.safetensors"


def _read_composite(path: Path) -> object:
    network = composite.load(path)
    return network.name, network.features, network.score(np.ones((2, len(network.features))))


# Sentence encoders ------------------------------------------------------------------------------------------


def _encoder(folder: Path) -> Path:
    """Write a small encoder, and return its folder."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    pieces = [
        "[PAD]",
        "[UNK]",
        "[CLS]",
        "[SEP]",
        *sorted({word for text in captions(50) for word in text.split()}),
    ]
    vocabulary = {piece: number for number, piece in enumerate(pieces)}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    d, inner, shapes = 8, 16, {}
    shapes["embeddings.word_embeddings.weight"] = (len(pieces), d)
    shapes["embeddings.position_embeddings.weight"] = (32, d)
    shapes["embeddings.token_type_embeddings.weight"] = (2, d)
    for name in ("weight", "bias"):
        shapes[f"embeddings.LayerNorm.{name}"] = (d,)
        stem = "encoder.layer.0."
        for part in ("query", "key", "value"):
            shapes[f"{stem}attention.self.{part}.{name}"] = (d, d) if name == "weight" else (d,)
        shapes[f"{stem}attention.output.dense.{name}"] = (d, d) if name == "weight" else (d,)
        shapes[f"{stem}attention.output.LayerNorm.{name}"] = (d,)
        shapes[f"{stem}intermediate.dense.{name}"] = (inner, d) if name == "weight" else (inner,)
        shapes[f"{stem}output.dense.{name}"] = (d, inner) if name == "weight" else (d,)
        shapes[f"{stem}output.LayerNorm.{name}"] = (d,)
    config = {"model_type": "bert", "num_attention_heads": 2, "num_hidden_layers": 1, "layer_norm_eps": 1e-12}
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "tokenizer.json").write_text(tokenizer.to_str())
    (folder / "model.safetensors").write_bytes(
        pack({name: _numbers(*shape) for name, shape in shapes.items()}, {})
    )
    return folder


def _encoder_zip(folder: Path) -> Path:
    path, files = folder / "encoder.zip", folder / "files"
    files.mkdir()
    _zip(path, {file.name: file.read_bytes() for file in sorted(_encoder(files).iterdir())})
    return path


def _zip(path: Path, parts: dict[str, bytes]) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            # A fixed date, so that the file is the same in every run.
            archive.writestr(zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0)), content, zipfile.ZIP_DEFLATED)


def _read_encoder(path: Path) -> object:
    from captious.vectors.sentence_vectors import SentenceEncoder

    return SentenceEncoder(path).encode(["a dog runs", "ünheard ☃ words", "", "a " * 100])


# Networks and their data ------------------------------------------------------------------------------------


def _onnx(folder: Path) -> Path:
    from tests.generate.test_backbone import network

    return network(folder / "net.onnx", classes=True)


def _read_onnx(path: Path) -> object:
    from captious.generate.captioner.image_source import Backbone

    backbone = Backbone(path)
    return backbone.output, backbone.height, backbone.width, backbone.last


def _captioner(folder: Path) -> Path:
    import torch

    from captious.generate.captioner.captioner_checkpoint import TrainedCaptioner, save
    from captious.generate.captioner.captioners import CaptionerShape, build
    from captious.generate.captioner.subword_units import Units

    torch.manual_seed(0)
    units = Units.learn(captions(300), least=1)
    model = build(CaptionerShape("fc", 16, 0.0), len(units), 5)
    save(folder / "captioner.safetensors", TrainedCaptioner(model, units, ("a", "b", "c", "d", "e"), 12))
    return folder / "captioner.safetensors"


def _read_captioner(path: Path) -> object:
    from captious.generate.captioner.captioner_checkpoint import load

    trained = load(path)
    tensors = trained.model.state_dict()
    return trained.classes, trained.longest, {name: tensor.numpy() for name, tensor in tensors.items()}


def _features(ending: str) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        path, arrays = folder / f"features.{ending}", {"features": _numbers(200, 24), "ids": np.arange(200)}
        if ending == "npz":
            np.savez(path, **arrays)
        elif ending == "h5":
            import h5py

            with h5py.File(path, "w") as file:
                for name, array in arrays.items():
                    file[name] = array
        elif ending == "safetensors":
            from safetensors.numpy import save_file

            save_file(arrays, path)
        else:
            import pyarrow
            import pyarrow.parquet

            table = pyarrow.table({"image_id": arrays["ids"], "features": arrays["features"].tolist()})
            pyarrow.parquet.write_table(table, path, write_page_checksum=True)
        return path

    return write


def _read_features(path: Path) -> object:
    from captious.generate.captioner.image_features import read_images

    images = read_images(path)
    return images.ids, images.offsets, images.vectors


def _meteor(folder: Path) -> Path:
    path = folder / "meteor-1.5.jar"
    lists = {
        "synonym/english.synsets": "".join(f"word{i}\n{i} {i + 1}\n" for i in range(2_000)),
        "synonym/english.exceptions": "".join(f"word{i}\nform{i}\n" for i in range(500)),
        "function/english.words": "a\nthe\nof\n",
    }
    _zip(path, {name: text.encode() for name, text in lists.items()})
    (folder / "paraphrase-en.gz").write_bytes(gzip.compress(b""))
    return path


def _read_meteor(path: Path) -> object:
    data = meteor_data.find(path.parent)
    table = synonyms.read_meteor(data)
    return table.computed_digest(), list(data.lines("function/english.words"))


MODELS = {
    **{f"vectors, {ending}": Format(_vectors(ending), _read_vectors) for ending in ("npz", "npy", "safetensors", "parquet")},
    "word2vec, binary": Format(_word2vec, _read_words),
    "word vectors, text": Format(_glove, _read_words),
    "fastText": Format(_fasttext, _read_words),
    "ARPA": Format(_ngrams("model.arpa"), _read_model),
    "n-gram model, npz": Format(_ngrams("model.npz"), _read_model),
    "LSTM, safetensors": Format(_lstm, _read_model),
    "composite weights, safetensors": Format(_composite, _read_composite),
    **{
        f"sentence encoder, {name}": Format(
            lambda folder, name=name: _encoder(folder) / name, lambda path: _read_encoder(path.parent)  # type: ignore[misc]
        )
        for name in ("config.json", "tokenizer.json", "model.safetensors")
    },
    "sentence encoder, zip": Format(_encoder_zip, _read_encoder),
    "captioner, safetensors": Format(_captioner, _read_captioner),
    "image network, ONNX": Format(_onnx, _read_onnx),
    **{f"image features, {ending}": Format(_features(ending), _read_features) for ending in ("npz", "h5", "safetensors", "parquet")},
    "METEOR's jar": Format(_meteor, _read_meteor),
}  # fmt: skip
