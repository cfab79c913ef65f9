"""References, captions, corpora and prepared states travel to another process and give the same numbers
there.
"""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import captious
from captious import References
from captious.corpus import Captions, Corpus
from captious.data import demo_path
from captious.io import read
from captious.metrics import registry
from captious.metrics.learned.composite import WEIGHTS_FOLDER
from tests.dual import vectors_for
from tests.threads import NORMS, TRAIN, rows, systems

pytestmark = pytest.mark.filterwarnings("ignore")

#: All measures except those that carry a model of 90 MB.
NAMES = [
    name
    for name in registry.names()
    if "sentence_model" not in {option.name for option in registry.measure_class(name).options}
]

THERE = """
import pickle, sys, warnings
warnings.simplefilter("ignore")
given = pickle.load(open(sys.argv[1], "rb"))
found = {name: measure.statistics(given["corpus"], state) for name, (measure, state) in given["prepared"].items()}
pickle.dump((found, given["corpus"].references.digest), open(sys.argv[2], "wb"))
"""

PREPARE_THERE = """
import pickle, sys, warnings
warnings.simplefilter("ignore")
import captious
from captious.data import demo_path
given = pickle.load(open(sys.argv[1], "rb"))
corpus = captious.load(given["references"], demo_path("sampling"), several=True)
scores = captious.score(corpus, given["names"], train=given["train"])
pickle.dump({name: (score.signature, score.statistics) for name, score in scores.items()}, open(sys.argv[2], "wb"))
"""


def elsewhere(script: str, given: Any, folder: Path) -> Any:
    """Run a script in a process of its own, which gets and returns a pickle."""
    (folder / "given").write_bytes(pickle.dumps(given))
    done = subprocess.run(
        [sys.executable, "-c", script, folder / "given", folder / "found"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return pickle.loads((folder / "found").read_bytes())


def test_prepared_states_of_all_measures(tmp_path: Path) -> None:
    corpus = systems()[7]
    options = {
        "train": TRAIN,
        "norms": NORMS,
        "weights": str(WEIGHTS_FOLDER / "captious_score_lite.safetensors"),
        **vectors_for(corpus),
    }
    measures = {name: registry.create(name, options) for name in NAMES}
    prepared = {name: (measure, measure.prepare(corpus.references)) for name, measure in measures.items()}
    result, digest = elsewhere(THERE, {"corpus": corpus, "prepared": prepared}, tmp_path)
    assert digest == corpus.references.digest
    for name, (measure, state) in prepared.items():
        assert rows(result[name]) == rows(measure.statistics(corpus, state)), name


def test_references_pickle_with_their_cached_products(tmp_path: Path) -> None:
    """Pickled before and after use: computed n-grams, lines and scene graphs are included."""
    references = References.read(demo_path("references"))
    names = ["BLEU-4", "CIDEr-D", "METEOR", "SPICE", "SPICE-U", "HWCM-2", "mBLEU-2", "Self-CIDEr", "Novel"]
    fresh = elsewhere(PREPARE_THERE, {"references": references, "names": names, "train": TRAIN}, tmp_path)
    corpus = captious.load(references, demo_path("sampling"), several=True)
    own = {
        name: (s.signature, s.statistics) for name, s in captious.score(corpus, names, train=TRAIN).items()
    }
    kinds = {key[0] for key in pickle.loads(pickle.dumps(references)).captions.memo.stored}
    assert {"METEOR lines", "scene graphs", "document frequencies"} <= kinds
    used = elsewhere(PREPARE_THERE, {"references": references, "names": names, "train": TRAIN}, tmp_path)
    for result in (fresh, used):
        for name, (signature, statistics) in own.items():
            assert result[name][0] == signature
            assert result[name][1].tobytes() == statistics.tobytes(), name


def test_shared_parts_stay_shared() -> None:
    references = References.read(demo_path("references"))
    corpora = [references.corpus(read(demo_path(name), "predictions"), name) for name in ("good", "poor")]
    again_references, again = pickle.loads(pickle.dumps((references, corpora)))
    assert again[0].references is again[1].references is again_references.captions
    assert again[0].candidates.encoding.base is again_references.captions.encoding
    # A new system can be encoded over the unpickled references.
    third = again_references.corpus(read(demo_path("generic"), "predictions"), "generic")
    assert third.references is again_references.captions
    mine = references.corpus(read(demo_path("generic"), "predictions"), "generic")
    assert (
        captious.score(third, "CIDEr-D")["CIDEr-D"].value == captious.score(mine, "CIDEr-D")["CIDEr-D"].value
    )


def test_captions_that_were_taken_from_others() -> None:
    captions = Captions.of([["a b", "b c"], ["c a", "d"], ["e"]], "none", ids=["1", "2", "3"])
    taken = captions.take_images(np.array([2, 0]))
    again = pickle.loads(pickle.dumps(taken))
    assert (again.ids, list(again.texts), again.digest) == (taken.ids, list(taken.texts), taken.digest)
    for n in (1, 2):
        for part in ("number", "count", "offsets", "totals"):
            np.testing.assert_array_equal(getattr(again.ngrams(n), part), getattr(taken.ngrams(n), part))


def test_restored_objects_are_frozen() -> None:
    corpus = pickle.loads(pickle.dumps(Corpus.build(["1"], [["a b"]], [["a c"]], tokenizer="none")))
    for side in (corpus.candidates, corpus.references):
        with pytest.raises(ValueError, match="frozen"):
            side.vocabulary.encode(["zzz"])
