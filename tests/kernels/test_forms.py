"""Both forms of every kernel give the same bits on the arguments of real workloads."""

from __future__ import annotations

import collections
import gzip
import json
import pickle
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import captious
from captious.agreement.coefficients import COEFFICIENTS
from captious.core.threads import working
from captious.data import demo_path
from captious.io.frequency_files import read_frequencies
from captious.kernels import library
from captious.meteor import paraphrase_index
from captious.metrics import registry
from captious.metrics.learned.composite import WEIGHTS_FOLDER
from captious.parser import collapse
from captious.parser.exact.rule_arrays import arrange
from captious.parser.exact.search import Workspace, derivations
from captious.scale.sketches import Bloom
from captious.text.ngrams import NgramIndex
from captious.text.vocabulary import WordTable
from native.compile import all_kernels
from tests.dual import vectors_for
from tests.kernels.recorder import Recorder
from tests.parser.exact.test_search import TAGS, made_up
from tests.threads import NORMS, TRAIN

#: Images of the demonstration corpus.
IMAGES = 3


def small_files(folder: Path) -> tuple[Path, Path, Path]:
    """Write references as COCO annotations, predictions as a list, and several predictions per image as
    lines of JSON."""
    file = captious.io.read(demo_path("references"), "references")
    ids, groups = file.ids[:IMAGES], [list(group)[:3] for group in file.captions[:IMAGES]]
    groups[0].append("A \"quoted\" caf\u00e9, isn't it? Mr. Smith's dogs can't run.")
    annotations = [
        {"image_id": int(i), "id": k, "caption": text}
        for k, (i, group) in enumerate(zip(ids, groups))
        for text in group
    ]
    images = [{"id": int(i), "file_name": f"{i}.jpg"} for i in ids]
    references, predictions, several = (
        folder / name for name in ("references.json", "predictions.json", "several.jsonl")
    )
    references.write_text(json.dumps({"info": {"year": 2014}, "images": images, "annotations": annotations}))
    predictions.write_text(
        json.dumps(
            [{"image_id": int(i), "caption": group[0] + " on the couch"} for i, group in zip(ids, groups)]
        )
    )
    rows = [{"image_id": i, "captions": [group[-1], group[0], group[0]]} for i, group in zip(ids, groups)]
    several.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return references, predictions, several


def read_and_score(folder: Path) -> None:
    """Score every measure of the registry on captions read from files."""
    references, predictions, several = small_files(folder)
    corpus = captious.load(references, predictions)
    sets = captious.load(references, several, several=True)
    options: dict[str, Any] = {
        "train": TRAIN, "norms": NORMS, "weights": str(WEIGHTS_FOLDER / "captious_score_lite.safetensors"),
        **vectors_for(corpus, sets),
    }  # fmt: skip
    for captions, metrics in ((corpus, "all"), (sets, "all,sets,corpus")):
        classes = [registry.measure_class(str(name)) for name in registry.resolve(metrics)]
        used = {option.name for measure in classes for option in measure.options}
        captious.score(captions, metrics, **{name: options[name] for name in options if name in used})
    captious.corpus_diversity(references, [predictions], train={"1": TRAIN}, norms=NORMS)


def _suited(coefficient: str, ratings: np.ndarray) -> np.ndarray:
    """Ratings of the kind a coefficient takes: signs, two classes, or any numbers."""
    if coefficient == "accuracy":
        return np.sign(ratings - 2)
    return (ratings > 1).astype(float) if coefficient in ("ap", "auc") else ratings


def analyse(folder: Path) -> None:
    """Prepare references, reward a batch, read a pickled table, resample coefficients."""
    references, _, _ = small_files(folder)
    prepared = captious.prepare(references, "CIDEr")
    ids = prepared.file.ids[:2]
    reward = captious.reward(prepared, "CIDEr-D")
    reward(ids, ["a man on a couch", "a dog runs and a dog barks"])
    table = folder / "df.p"
    table.write_bytes(pickle.dumps(collections.defaultdict(float, {("a", "dog"): 3.0, ("café",): 2.0})))
    read_frequencies(table, 10)
    rng = np.random.default_rng(0)
    scores, ratings, unit = (
        rng.integers(0, 9, 30).astype(float),
        rng.integers(0, 4, 30).astype(float),
        np.arange(30) % 7,
    )
    counts = rng.multinomial(7, [1 / 7] * 7, size=3).astype(np.int32)
    for coefficient in COEFFICIENTS.values():
        coefficient.resampled(scores, _suited(coefficient.name, ratings), unit, counts)
    seen = Bloom(40, 0.01)
    keys = rng.integers(0, 2**63, 40).astype(np.uint64)
    seen.add(keys[:20])
    seen.has(keys)
    WordTable.of([f"word{i}" for i in range(20)])
    grown = NgramIndex(2, exact=True)
    grown.encode(keys)
    grown.encode(np.arange(1, 600, dtype=np.uint64))


def parse_exactly() -> None:
    """Find the best derivations of a made-up grammar."""
    rng = np.random.default_rng(5)
    rules = arrange(made_up(3, 1.0))
    table = np.full((7, len(TAGS)), -np.inf, np.float32)
    table[0, -1] = 0
    table[1:, :-1] = -rng.random((6, len(TAGS) - 1)) * 4
    sentences = [np.array([*rng.integers(1, 7, length), 0], np.int32) for length in (4, 2, 3)]
    assert any(map(len, derivations(rules, table, sentences, Workspace(rules, 7))))


def index_paraphrases(folder: Path) -> None:
    """Index a small table of paraphrases."""
    lines = "".join(
        f"0.5\n{one}\n{other}\n"
        for one, other in (("a dog", "the dog"), ("a dog", "dogs"), ("two", "a pair of"))
    )
    table = folder / "paraphrase-en.gz"
    table.write_bytes(gzip.compress(lines.encode()))
    paraphrase_index.build(table, len(lines))


_RELATIONS = ["det", "root", "case", "nmod", "case", "det", "nmod"]


@pytest.fixture(scope="module")
def recorder(tmp_path_factory: pytest.TempPathFactory) -> Recorder:
    """Compare the kernel calls of all workloads."""
    outdated = [kernel.symbol for kernel in all_kernels() if kernel.built is None]
    if outdated:
        pytest.skip(f"the library is out of date: {', '.join(outdated)}")
    recorder = Recorder()
    with recorder.watching(), working(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        parse_exactly()
        collapse(["a", "dog", "on", "top", "of", "a", "bed"], ["NN"] * 7, [2, 0, 4, 2, 7, 7, 4], _RELATIONS)
        index_paraphrases(tmp_path_factory.mktemp("files"))
        analyse(tmp_path_factory.mktemp("files"))
        read_and_score(tmp_path_factory.mktemp("files"))
    return recorder


def test_both_forms_give_the_same_bits(recorder: Recorder) -> None:
    assert not recorder.differences


def test_forms_for_newer_processors_were_compared(recorder: Recorder) -> None:
    loaded = library.load()
    assert loaded is not None
    assert recorder.wide == loaded.wide


def test_every_kernel_was_compared(recorder: Recorder) -> None:
    symbols = {kernel.symbol for kernel in all_kernels()}
    missing = sorted(symbols - set(recorder.calls))
    assert not missing, f"no workload of this file calls {', '.join(missing)}"
    idle = sorted(symbols - recorder.effective)
    assert not idle, f"the workloads give nothing to do to {', '.join(idle)}"
