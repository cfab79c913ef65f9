"""Parts written by hand beside libraries that do the same, both timed in one run.

    pip install POT kenlm gensim onnxruntime datasketches pybloom-live orjson pysimdjson javaobj-py3
    python -m benchmarks.libraries [NAME…]

Input is generated. Times are processor seconds, the least of three runs (one for the Java stream). Sections
whose library is not installed are skipped. docs/architecture.md quotes the ratios.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import tempfile
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from captious.corpus import Corpus
from tests.gold.parity_captions import images


def seconds(work: Callable[..., Any], prepare: Callable[[], Any] | None = None) -> tuple[Any, float]:
    """Return the result and the least processor time of three runs.

    captious caches results with the corpus and in the cache folder. ``prepare`` makes fresh input for each
    run, outside the time, so that no run finds the result of another.
    """
    times = []
    for _ in range(3):
        arguments = () if prepare is None else (prepare(),)
        start = time.process_time()
        result = work(*arguments)
        times.append(time.process_time() - start)
    return result, min(times)


def row(thing: str, ours: float, library: str, theirs: float, equality: str) -> None:
    """Print one comparison."""
    print(
        f"{thing}: captious {ours:.4f} s, {library} {theirs:.4f} s: ratio {theirs / ours:.2f}; {equality}",
        flush=True,
    )


def captions() -> list[str]:
    """Return all captions of the parity set."""
    return [
        text
        for entry in images().values()
        for value in entry.values()
        for text in (value if isinstance(value, list) else [value])
    ]


def transport(folder: Path) -> None:
    """Word mover's distance by our network simplex and by POT's, on the same costs."""
    import ot

    from captious.metrics.captions.wmd import nearest_distances
    from captious.text.stopwords import ENGLISH
    from captious.vectors import get

    embeddings = get("default")
    rows = list(images().values())
    for name in ("close", "long"):

        def corpus(name: str = name) -> Corpus:
            return Corpus.build(
                [str(i) for i in range(len(rows))],
                [[str(entry[name])] for entry in rows],
                [[str(entry["references"][0])] for entry in rows],
            )

        built = corpus()
        # Ours includes looking up the vectors, POT does not.
        ours, own = seconds(lambda fresh: nearest_distances(fresh, embeddings), corpus)

        def words(part: Any, i: int) -> tuple[Any, Any]:
            content = [word for word in part.words(i) if word not in ENGLISH]
            table, has_vector = embeddings.lookup(content)
            named: dict[str, Any] = {}
            for word, vector, is_known in zip(content, table, has_vector):
                if is_known:
                    named.setdefault(word, [0, vector])[0] += 1
            return (
                np.array([count for count, _ in named.values()], float)
                / max(1, sum(c for c, _ in named.values())),
                np.array([vector for _, vector in named.values()], np.float64),
            )

        pairs = [(words(built.candidates, i), words(built.references, i)) for i in range(len(rows))]
        pairs = [(a, b) for a, b in pairs if len(a[0]) and len(b[0])]

        def by_pot(pairs: Any = pairs) -> Any:
            return np.array([ot.emd2(a, b, ot.dist(x, y, "euclidean")) for (a, x), (b, y) in pairs])

        theirs, other = seconds(by_pot)
        difference = "different pairs" if len(theirs) != len(ours) else f"{np.abs(theirs - ours).max():.1e}"
        row(
            f"transport ({name}, {len(pairs)} pairs)",
            own,
            "POT emd2",
            other,
            f"largest difference {difference}",
        )


def language_model(folder: Path) -> None:
    """Read an ARPA file and score captions."""
    import kenlm

    from captious.rerank.language_models.arpa import read_arpa, write_arpa
    from captious.rerank.language_models.ngram import NGram

    texts = [text.lower().rstrip(".!").split() for text in captions()]
    texts = [[word for word in text if word.isalpha()] for text in texts]
    model = NGram.learn(texts[::2], 3)
    path = folder / "model.arpa"
    write_arpa(model, path)
    ours, own_read = seconds(lambda: read_arpa(path))
    theirs, their_read = seconds(lambda: kenlm.Model(str(path)))
    row(
        "ARPA: read",
        own_read,
        "kenlm",
        their_read,
        f"{sum(len(o.keys) for o in ours.orders):,} n-grams" if hasattr(ours, "orders") else "",
    )
    tested = texts[1::2] * 5
    first, own = seconds(lambda: ours.score(tested).totals())
    lines = [" ".join(text) for text in tested]
    second, other = seconds(lambda: np.array([theirs.score(line, bos=True, eos=True) for line in lines]))
    difference = np.abs(np.asarray(first) / np.log(10) - second).max()
    row(
        f"ARPA: score {len(lines):,} captions",
        own,
        "kenlm",
        other,
        f"largest difference {difference:.1e} (log10)",
    )


def word_vectors(folder: Path) -> None:
    """Open word2vec files, text and binary, and look up words."""
    from gensim.models import KeyedVectors

    from captious import vectors

    rows = np.random.default_rng(0).normal(size=(50_000, 100)).astype(np.float32)
    words = [f"word{i}" for i in range(len(rows))]
    sample = words[::50]
    table = KeyedVectors(100)
    table.add_vectors(words, rows)
    for binary, name in ((False, "table.vec"), (True, "table.bin")):
        path = folder / name
        table.save_word2vec_format(str(path), binary=binary)

        def empty_cache() -> None:
            vectors._file.cache_clear()
            os.environ["CAPTIOUS_CACHE"] = tempfile.mkdtemp(dir=folder)

        def reopened() -> None:
            vectors._file.cache_clear()

        def ours(_: None, path: Path = path) -> Any:
            return vectors.get(path).lookup(sample)[0]

        def theirs(path: Path = path, binary: bool = binary) -> Any:
            return KeyedVectors.load_word2vec_format(str(path), binary=binary)[sample]

        first, own = seconds(ours, empty_cache)
        _, later = seconds(ours, reopened)
        second, other = seconds(theirs)
        row(f"word2vec {name}: first use", own, "gensim", other, f"equal: {np.array_equal(first, second)}")
        row(f"word2vec {name}: later uses", later, "gensim", other, "converted file in the cache folder")


def sketches(folder: Path) -> None:
    """Count distinct keys, and test membership."""
    import datasketches
    import pybloom_live

    from captious.scale.sketches import Bloom, DistinctCount

    keys = np.random.default_rng(0).integers(0, 1 << 40, 200_000).astype(np.uint64)

    def count() -> float:
        sketch = DistinctCount()
        sketch.add(keys)
        return sketch.value

    def their_count() -> float:
        sketch = datasketches.hll_sketch(14)
        for key in keys.tolist():
            sketch.update(key)
        return float(sketch.get_estimate())

    true = len(np.unique(keys))
    (ours, own), (theirs, other) = seconds(count), seconds(their_count)
    row(
        f"HyperLogLog ({len(keys):,} keys)",
        own,
        "datasketches",
        other,
        f"errors {ours / true - 1:+.2%}, {theirs / true - 1:+.2%}",
    )

    def bloom() -> int:
        filled = Bloom(len(keys), 0.01)
        filled.add(keys)
        return int(filled.has(keys + np.uint64(1 << 41)).sum())

    def their_bloom() -> int:
        filled = pybloom_live.BloomFilter(len(keys), 0.01)
        for key in keys.tolist():
            filled.add(key)
        return sum(key in filled for key in (keys + np.uint64(1 << 41)).tolist())

    (ours, own), (theirs, other) = seconds(bloom), seconds(their_bloom)
    rates = f"false positives {ours / len(keys):.2%}, {theirs / len(keys):.2%}"
    row("Bloom filter: add and query", own, "pybloom_live", other, rates)


def json_files(folder: Path) -> None:
    """Read a COCO file of 100,000 captions into ids and texts."""
    import orjson
    import simdjson

    from captious.io.reading import read

    texts = captions()
    content = [{"image_id": i, "caption": texts[i % len(texts)]} for i in range(100_000)]
    path = folder / "results.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    # Ours leaves the texts as bytes in one array; the libraries make Python strings.
    _, own = seconds(lambda: read(path, "predictions"))

    def columns(value: Any) -> tuple[list[str], list[str]]:
        return [str(entry["image_id"]) for entry in value], [entry["caption"] for entry in value]

    for name, load in (
        ("json", lambda: columns(json.loads(path.read_bytes()))),
        ("orjson", lambda: columns(orjson.loads(path.read_bytes()))),
        ("simdjson", lambda: columns(simdjson.Parser().parse(path.read_bytes(), True))),
    ):
        theirs, other = seconds(load)
        row("JSON: read 100,000 captions", own, name, other, f"{len(theirs[0]):,} rows")


def encoder(folder: Path) -> None:
    """Sentence vectors by our encoder and by onnxruntime, with the same tokenizer, batches and threads."""
    import onnxruntime
    import torch
    from transformers import AutoModel

    from captious.vectors.sentence_vectors import SentenceEncoder, find_model

    with zipfile.ZipFile(find_model()) as archive:
        archive.extractall(folder / "model")
    own = SentenceEncoder()
    texts = captions()[:600]
    own.encode(texts[:8])
    ours, mine = seconds(lambda: own.encode(texts))
    model = AutoModel.from_pretrained(folder / "model", attn_implementation="eager").eval()

    class States(torch.nn.Module):  # the model's own arguments confuse the export
        def forward(self, ids: Any, mask: Any) -> Any:
            return model(input_ids=ids, attention_mask=mask).last_hidden_state

    network = States()
    network.model = model
    sample = (torch.ones(2, 5, dtype=torch.long), torch.ones(2, 5, dtype=torch.long))
    names = ["input_ids", "attention_mask"]
    torch.onnx.export(
        *(network, sample, str(folder / "model.onnx")),
        input_names=names,
        output_names=["states"],
        dynamic_axes={name: {0: "batch", 1: "length"} for name in [*names, "states"]},
        dynamo=False,
    )
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(folder / "model.onnx"), options)

    def by_onnx() -> Any:
        # token_numbers leaves out the marks of beginning and end that the network sees.
        numbers = [np.concatenate([[101], n, [102]]) for n in own.token_numbers(texts)]
        out = np.empty_like(ours)
        order = np.argsort([len(n) for n in numbers], kind="stable")
        for start in range(0, len(order), 32):
            batch = order[start : start + 32]
            length = max(len(numbers[i]) for i in batch)
            ids, mask = np.zeros((2, len(batch), length), np.int64)
            for k, i in enumerate(batch):
                ids[k, : len(numbers[i])] = numbers[i]
                mask[k, : len(numbers[i])] = 1
            (states,) = session.run(["states"], {"input_ids": ids, "attention_mask": mask})
            mean = (states * mask[..., None]).sum(1) / mask.sum(1, keepdims=True)
            out[batch] = mean / np.linalg.norm(mean, axis=1, keepdims=True)
        return out

    theirs, other = seconds(by_onnx)
    difference = f"largest difference {np.abs(theirs - ours).max():.1e}"
    row(f"encoder: {len(texts)} captions", mine, "onnxruntime", other, difference)


def java_stream(folder: Path) -> None:
    """Read CoreNLP's grammar as a stream of Java objects."""
    import javaobj.v2 as javaobj

    from captious.parser.exact.javastream import JavaStream

    with zipfile.ZipFile(os.environ["CAPTIOUS_GRAMMAR"]) as jar:
        data = gzip.decompress(jar.read("edu/stanford/nlp/models/lexparser/englishPCFG.ser.gz"))
    start = time.process_time()
    JavaStream(data).read()
    own = time.process_time() - start
    path = folder / "grammar.ser"
    path.write_bytes(data)
    start = time.process_time()
    with path.open("rb") as handle:
        try:
            javaobj.load(handle)
            outcome = "reads it"
        except Exception as error:
            outcome = f"fails: {type(error).__name__}: {error}"
    row("Java stream", own, "javaobj", time.process_time() - start, outcome)


SECTIONS = {
    section.__name__: section
    for section in (transport, language_model, word_vectors, sketches, json_files, encoder, java_stream)
}


def main() -> None:
    """Run all sections, or those named."""
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("names", nargs="*", metavar="NAME", help=", ".join(SECTIONS))
    for name in arguments.parse_args().names or SECTIONS:
        with tempfile.TemporaryDirectory() as folder:
            try:
                SECTIONS[name](Path(folder))
            except ImportError as error:
                print(f"{name}: skipped ({error})")


if __name__ == "__main__":
    main()
