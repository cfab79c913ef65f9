"""Rewards equal the metrics, for numbers and for text, batch by batch, and memory does not grow."""

from __future__ import annotations

import gc
import random
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import captious
from captious import InputError, References

REFERENCES = {
    "1": ["A brown dog runs on the grass.", "a dog is running", "the dog runs fast"],
    "2": ["Two cats sleep on a red sofa.", "cats on a couch"],
    "3": ["a man rides a wave on a surfboard", "a surfer in the sea", "man on a surfboard", "a man surfing"],
    "4": ["a plate of food", "food on a white plate", "a plate with rice and meat"],
}
WORDS = [
    "",
    "a",
    "dog",
    "runs",
    "on",
    "the",
    "grass",
    "two",
    "cats",
    "don't",
    ".",
    "zebra",
    "man",
    "surfboard",
    "plate",
    "of",
    "food",
]
TEXTS = [
    ["a dog runs on the grass", "two cats"],
    ["two cats on the grass on the grass", "zebra don't"],
    ["a man on a surfboard .", ""],
]
IMAGES = ["1", "2", "3"]


def _ids(texts: list[list[str]]) -> np.ndarray:
    number = {word: i for i, word in enumerate(WORDS)}
    rows = np.zeros((len(texts), len(texts[0]), 10), np.int64)
    for i, group in enumerate(texts):
        for k, text in enumerate(group):
            for t, word in enumerate(text.split()):
                rows[i, k, t] = number[word]
    return rows


def _scores(metric: str, texts: list[list[str]] = TEXTS, **options: object) -> np.ndarray:
    corpus = captious.load(REFERENCES, dict(zip(IMAGES, texts)), part=True, several=True)
    return captious.score(corpus, metric, **options)[metric].per_caption.reshape(len(texts), -1)


@pytest.fixture(scope="module")
def references() -> References:
    return captious.prepare(REFERENCES, "CIDEr-D")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "metric", ["CIDEr-D", "CIDEr", "BLEU-4", "ROUGE-L", "METEOR", "SPICE", "SentenceSim"]
)
def test_a_reward_is_the_score_of_each_caption(references: References, metric: str) -> None:
    expected = _scores(metric)
    reward = captious.reward(references, metric, vocabulary=WORDS, end=0)
    text = reward(IMAGES, TEXTS)
    assert text.dtype == np.float32 and text.shape == (3, 2)
    assert np.allclose(text, expected, atol=1e-6)
    if metric != "SentenceSim":  # which reads the text as it was given, full stop and all
        assert np.allclose(reward([1, 2, 3], _ids(TEXTS)), expected, atol=1e-6)


@pytest.mark.filterwarnings("ignore")
def test_weights_and_parts(references: References) -> None:
    reward = captious.reward(references, {"CIDEr-D": 1, "SPICE": -0.5})
    parts = reward.parts(IMAGES, TEXTS)
    assert set(parts) == {"CIDEr-D", "SPICE"} and parts["SPICE"].max() > 0
    assert np.allclose(reward(IMAGES, TEXTS), parts["CIDEr-D"] - 0.5 * parts["SPICE"], atol=1e-6)


@pytest.mark.filterwarnings("ignore")
def test_document_frequencies_from_elsewhere(references: References) -> None:
    table = captious.FrequencyTable.build(captious.Captions.of([["a dog"], ["a cat"], ["the sea"]]))
    reward = captious.reward(references, "CIDEr-D", df=table, vocabulary=WORDS, end=0)
    assert np.allclose(reward(IMAGES, _ids(TEXTS)), _scores("CIDEr-D", df=table), atol=1e-6)


def test_shapes_of_what_is_given(references: References) -> None:
    reward = captious.reward(references, "CIDEr-D", vocabulary=dict(enumerate(WORDS[1:], 1)), end=[0])
    ids = _ids(TEXTS)
    expected = reward(IMAGES, ids)
    flat = reward([i for i in IMAGES for _ in range(2)], ids.reshape(6, -1))
    assert flat.shape == (6,) and (flat == expected.reshape(-1)).all()
    ragged = [[[int(n) for n in row if n] for row in group] for group in ids]
    assert (reward(IMAGES, ragged) == expected).all()
    assert (reward(IMAGES[:1], ["a dog runs on the grass"]) == expected[0, 0]).all()
    assert (reward(["1"], [[1, 2, 3, 4, 5, 6]]) == expected[0, 0]).all()
    padded = np.where(ids == 0, -1, ids)
    assert (reward(IMAGES, padded) == expected).all()


def test_tensors_give_tensors(references: References) -> None:
    torch = pytest.importorskip("torch")
    reward = captious.reward(references, "CIDEr-D", vocabulary=WORDS, end=0)
    found = reward(torch.tensor([1, 2, 3]), torch.from_numpy(_ids(TEXTS)))
    assert found.dtype == torch.float32 and found.shape == (3, 2)
    assert (found.numpy() == reward(IMAGES, _ids(TEXTS))).all()


def test_the_rewards_of_a_batch_are_its_scores() -> None:
    """CIDEr of captions with repeated and unknown n-grams, against more references than the batch has images."""
    rng = random.Random(1)
    words = [f"w{i}" for i in range(30)]
    made = {
        str(i): [" ".join(rng.choices(words, k=rng.randint(0, 12))) or "w0" for _ in range(rng.randint(1, 4))]
        for i in range(40)
    }
    references = captious.prepare(made, "CIDEr")
    ids = sorted(rng.sample(list(made), 20), key=int)
    texts = [
        [" ".join(rng.choices([*words[:4], "x", "y"], k=rng.randint(1, 25))) for _ in range(3)] for _ in ids
    ]
    corpus = captious.load(references, dict(zip(ids, texts)), part=True, several=True)
    for metric in ("CIDEr", "CIDEr-D"):
        expected = captious.score(corpus, metric)[metric].per_caption
        reward = captious.reward(references, metric)
        assert (reward(ids, texts).reshape(-1) == expected.astype(np.float32)).all()


@pytest.mark.filterwarnings("ignore")
def test_a_batch_looks_at_its_own_references_alone(references: References) -> None:
    """METEOR and sentence vectors of a batch are those of the whole, in any order and with images repeated."""
    for metric in ("METEOR", "SentenceSim"):
        expected = _scores(metric)
        reward = captious.reward(references, metric)
        order = [2, 0, 2]
        assert np.allclose(
            reward([IMAGES[i] for i in order], [TEXTS[i] for i in order]), expected[order], atol=1e-6
        )


@pytest.mark.filterwarnings("ignore")
def test_threads_agree_and_nothing_grows(references: References) -> None:
    reward = captious.reward(references, {"CIDEr-D": 1, "SPICE": 0.5}, vocabulary=WORDS, end=0)
    rng = np.random.default_rng(0)
    batches = [rng.integers(0, len(WORDS), (3, 2, 8)) for _ in range(40)]
    expected = [reward(IMAGES, batch) for batch in batches]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda batch: reward(IMAGES, batch), batches))
    assert all((a == b).all() for a, b in zip(expected, found))
    captions = references.captions
    before = len(captions.vocabulary), len(captions.memo._values), len(captions.encoding.memo._values)
    for k in range(20):
        reward(IMAGES, [[f"new{k} word{k}"], ["a dog"], ["a cat"]])
    assert before == (
        len(captions.vocabulary),
        len(captions.memo._values),
        len(captions.encoding.memo._values),
    )
    gc.collect()


def test_what_cannot_be_rewarded_is_refused(references: References) -> None:
    with pytest.raises(InputError, match="captions of an image together"):
        captious.reward(references, "Self-CIDEr")
    with pytest.raises(InputError, match="unknown metric 'CIDER-X'"):
        captious.reward(references, {"CIDER-X": 1})
    with pytest.raises(InputError, match="weight of CIDEr-D must be a finite number, not nan"):
        captious.reward(references, {"CIDEr-D": float("nan")})
    with pytest.raises(InputError, match="there are no metrics"):
        captious.reward(references, {})
    reward = captious.reward(references, "CIDEr-D")
    with pytest.raises(InputError, match="has no vocabulary"):
        reward(IMAGES, _ids(TEXTS))
    with pytest.raises(InputError, match="3 image ids for 2"):
        reward(IMAGES, ["a", "b"])
    with pytest.raises(InputError, match="image '9' is not among"):
        reward(["9"], ["a"])
    with pytest.raises(InputError, match="not list"):
        reward(["1", "2"], ["a", ["b"]])
    with pytest.raises(InputError, match="1 to 2 captions"):
        reward(["1", "2"], [["a"], ["b", "c"]])
    with pytest.raises(InputError, match="not float64"):
        reward(["1"], np.zeros((1, 3)))
    numbered = captious.reward(references, "CIDEr-D", vocabulary={1: "a", 3: "b"}, end=0)
    with pytest.raises(InputError, match="no word with index 2, 7"):
        numbered(["1"], [[1, 2, 7]])
    with pytest.raises(InputError, match="mapping from indices"):
        captious.reward(references, "CIDEr-D", vocabulary={"a": "b"})


@pytest.mark.filterwarnings("ignore")
def test_the_examples_of_the_page_run() -> None:
    page = (Path(__file__).parents[2] / "docs" / "howto" / "rewards.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", page, flags=re.S)
    names: dict[str, object] = {}
    for block in blocks[:2]:
        exec(compile(block, "reward.md", "exec"), names)
    assert names["reward"](["1"], [[1, 2, 3, 0, 0]]).shape == (1,)  # type: ignore[operator]
