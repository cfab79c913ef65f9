"""Language models: probabilities that are right, sum to one, and survive a file."""

from __future__ import annotations

import itertools
import json
import math
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from captious.core.errors import InputError
from captious.data import demo_path
from captious.io import CaptionWarning, read
from captious.rerank.language_models import model_files as files
from captious.rerank.language_models.arpa import read_arpa, write_arpa
from captious.rerank.language_models.language_model import (
    LanguageModel,
    ModelVocabulary,
    WordModel,
    tokens_of,
)
from captious.rerank.language_models.lstm_model import LSTM
from captious.rerank.language_models.ngram import NGram, Unigram
from tests.rerank.slow_kneser_ney import SlowKneserNey

pytestmark = pytest.mark.filterwarnings("ignore:too few")

SMALL = [["a", "b"], ["a", "b"], ["a", "c"]]


def demo() -> list[list[str]]:
    groups = read(demo_path("references"), "references").captions
    return tokens_of([text for group in groups for text in group], "ptb")


def random_lstm(words: list[str], seed: int = 0) -> LSTM:
    rng = np.random.default_rng(seed)
    vocabulary = ModelVocabulary(words)
    v, e, h = len(vocabulary), 5, 7
    shapes = {
        "embedding": (v, e),
        "input": (4 * h, e),
        "recurrent": (4 * h, h),
        "bias": (4 * h,),
        "out": (v, h),
        "out_bias": (v,),
    }
    return LSTM(
        vocabulary, {name: rng.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}
    )


def make(kind: str) -> Unigram | NGram | LSTM:
    """A small model."""
    if kind == "unigram":
        return Unigram.learn(SMALL)
    return random_lstm(["a", "b", "c"]) if kind == "lstm" else NGram.learn(SMALL, int(kind[0]))


def next_words(model: LanguageModel, context: list[str]) -> float:
    """Return the sum of the probabilities of all next words."""
    assert isinstance(model, WordModel)
    words = [*model.vocabulary.words[3:], "never-heard"]
    ends = model.score([context]).of(0)[-1]
    return float(
        np.exp(ends) + sum(np.exp(model.score([[*context, word]]).of(0)[len(context)]) for word in words)
    )


def test_kneser_ney_by_hand() -> None:
    # Too few n-grams to tell discounts: 0.5, 1, 1.5. Continuations: a 1, b 1, c 1, end 2, of 5. The discounted
    # mass, 2.5 of 5, goes to five words evenly.
    model = NGram.learn(SMALL, 2)
    p = {"a": 0.2, "b": 0.2, "c": 0.2, "end": 0.3, "unknown": 0.1}
    found = model.score([["a", "b"], ["a", "c"], ["x"]])
    assert np.exp(found.of(0)) == pytest.approx(
        [0.5 + 0.5 * p["a"], 1 / 3 + 0.5 * p["b"], 0.5 + 0.5 * p["end"]]
    )
    assert np.exp(found.of(1)) == pytest.approx([0.6, 0.5 / 3 + 0.5 * p["c"], 0.5 + 0.5 * p["end"]])
    # After an unknown word, the end has its unigram probability.
    assert np.exp(found.of(2)) == pytest.approx([0.5 * p["unknown"], p["end"]])
    assert found.unknown.tolist() == [False] * 6 + [True, False]


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_kneser_ney_is_its_slow_twin(order: int) -> None:
    captions = demo()
    fast, slow = NGram.learn(captions[40:], order), SlowKneserNey(captions[40:], order)
    if order < 3:  # this number of captions determines the discounts of these orders
        assert slow.discounts[order][1] not in (0.5, 1.0)
    tested = [*captions[:40], [], ["a"], ["zebra", "unheard", "a", "dog"], *captions[60:80]]
    found = fast.score(tested)
    for i, tokens in enumerate(tested):
        whole = ["<s>", *tokens, "</s>"]
        expected = [math.log(slow.p(whole[k], tuple(whole[:k]))) for k in range(1, len(whole))]
        assert found.of(i) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("context", [[], ["a"], ["a", "b"], ["x"], ["a", "x", "b"]])
@pytest.mark.parametrize("model", ["unigram", "1-grams", "2-grams", "4-grams", "lstm"])
def test_probabilities_sum_to_one(model: str, context: list[str]) -> None:
    assert next_words(make(model), context) == pytest.approx(1.0, abs=1e-6)


@given(
    st.lists(st.lists(st.sampled_from("abcdef"), max_size=6), min_size=1, max_size=12),
    st.integers(1, 4),
    st.lists(st.sampled_from("abcxyz"), max_size=5),
)
@pytest.mark.filterwarnings("ignore:too few")
def test_whatever_was_learned_sums_to_one(captions: list[list[str]], order: int, context: list[str]) -> None:
    if not any(captions):
        with pytest.raises(InputError, match="no word occurs"):
            NGram.learn(captions, order)
        return
    assert next_words(NGram.learn(captions, order), context) == pytest.approx(1.0)


def test_unigrams_are_shares_of_tokens() -> None:
    model = Unigram.learn([["a", "a", "b"], ["a"]])  # 4 words, 2 ends, and one for unknown words
    assert np.exp(model.score([["a", "z"]]).of(0)) == pytest.approx([3 / 7, 1 / 7, 2 / 7])
    rare = Unigram.learn([["a", "a", "b"], ["a", "c"]], least=2)
    assert np.exp(rare.score([["b"]]).of(0)) == pytest.approx([2 / 7, 2 / 7])


def test_rare_words_are_not_known() -> None:
    model = NGram.learn([["a", "b"], ["a", "c"], ["a", "a"]], 2, least=2)
    assert model.vocabulary.words[3:] == ["a"]
    assert model.score([["a", "b"]]).totals() == model.score([["a", "z"]]).totals()


def test_a_caption_that_spells_a_sign_does_not_end() -> None:
    model = NGram.learn(SMALL, 2)
    assert model.score([["a", "</s>"]]).totals() == model.score([["a", "never-heard"]]).totals()
    assert model.score([["a", "</s>"]]).unknown.sum() == 1


def test_perplexity_counts_ends() -> None:
    model = Unigram.learn([["a"], ["a"]])  # P(a) = P(end) = 2/5
    assert model.score([["a"], ["a"]]).perplexity == pytest.approx(2.5)
    assert model.score([[]]).perplexity == pytest.approx(2.5)


@pytest.mark.parametrize("kind", ["unigram", "3-grams", "lstm"])
def test_files(kind: str, tmp_path: Path) -> None:
    model, path = make(kind), tmp_path / "m"
    files.save(model, path)
    again = files.load(path)
    assert again.kind == model.kind and again.name == "m"
    assert again.log_p([["a", "b"], ["z"]]).tolist() == model.log_p([["a", "b"], ["z"]]).tolist()
    data = path.read_bytes()
    for broken in (data[: len(data) // 2], data[:-30], b"", b"hello", data[:20] + b"\0" * 40 + data[60:]):
        path.write_bytes(broken)
        with pytest.raises(InputError):
            files.load(path)


def test_files_that_are_something_else(tmp_path: Path) -> None:
    np.savez(tmp_path / "other.npz", a=np.zeros(3))
    with pytest.raises(InputError, match="captious train lm"):
        files.load(tmp_path / "other.npz")
    (tmp_path / "folder").mkdir()
    with pytest.raises(InputError, match=r"config\.json is missing"):
        files.load(tmp_path / "folder")
    model = NGram.learn(SMALL, 2)
    model.orders[1] = model.orders[1]._replace(keys=model.orders[1].keys[::-1].copy())
    files.save(model, tmp_path / "unsorted.npz")
    with pytest.raises(InputError, match="not sorted"):
        files.load(tmp_path / "unsorted.npz")


# ARPA

ARPA = """made by hand
\\data\\
ngram 1=5
ngram 2=3

\\1-grams:
-99\t<s>\t-0.3
-0.7\t</s>
-1.2\t<unk>
-0.5\ta\t-0.2
-0.9\tb\t-0.1

\\2-grams:
-0.1\t<s> a
-0.4\ta b
-0.3\tb </s>

\\end\\
"""


def test_arpa_is_read_as_it_says(tmp_path: Path) -> None:
    path = tmp_path / "m.arpa"
    path.write_text(ARPA)
    found = files.load(path).score([["a", "b"], ["b", "a"], ["x"]])
    ten = found.values / math.log(10)
    assert ten == pytest.approx([-0.1, -0.4, -0.3, -0.3 - 0.9, -0.1 - 0.5, -0.2 - 0.7, -0.3 - 1.2, -0.7])


def test_a_caption_knows_nothing_of_the_one_before(tmp_path: Path) -> None:
    """Even where a file has n-grams over the end of a text."""
    path = tmp_path / "m.arpa"
    longer = ARPA.replace("ngram 2=3", "ngram 2=4\nngram 3=1").replace(
        "-0.3\tb </s>\n", "-0.3\tb </s>\n-0.01\t</s> <s>\n\n\\3-grams:\n-0.001\t</s> <s> a\n"
    )
    path.write_text(longer)
    model = read_arpa(path)
    assert model.order == 3 and len(model.orders[2].keys) == 1
    assert model.score([["b"], ["a", "b"]]).of(1).tolist() == model.score([["a", "b"]]).of(0).tolist()


def test_arpa_there_and_back(tmp_path: Path) -> None:
    captions = demo()[:100]
    model = NGram.learn(captions, 3)
    write_arpa(model, tmp_path / "m.arpa")
    again = read_arpa(tmp_path / "m.arpa")
    tested = [*captions[:10], ["a", "never-heard", "dog"], []]
    assert again.log_p(tested) == pytest.approx(model.log_p(tested), abs=1e-6)


@pytest.mark.kenlm
def test_kenlm_agrees_with_what_is_written(tmp_path: Path) -> None:
    import kenlm

    captions = demo()
    model = NGram.learn(captions[30:], 3)
    write_arpa(model, tmp_path / "m.arpa")
    theirs = kenlm.Model(str(tmp_path / "m.arpa"))
    for tokens, ours in zip(captions[:30], model.score(captions[:30]).totals()):
        assert ours / math.log(10) == pytest.approx(
            theirs.score(" ".join(tokens), bos=True, eos=True), abs=1e-4
        )


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("\\end\\\n", "", "not a complete ARPA file"),
        ("ngram 2=3", "ngram 2=4", "4 2-grams are announced, but 3 are listed"),
        ("-0.4\ta b", "-0.4\ta q", "'q' is not among the 1-grams"),
        ("-0.4\ta b", "0.4\ta b", "log10 P"),
        ("-0.4\ta b", "nan\ta b", "log10 P"),
        ("-0.4\ta b", "-0.1\t<s> a", "occurs twice"),
        ("-0.7\t</s>\n", "-0.7\tc\n", "the 1-grams lack </s>"),
        ("ngram 1=5", "ngram 3=5", "from 1 on"),
    ],
)
def test_bad_arpa(old: str, new: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "m.arpa"
    assert old in ARPA
    path.write_text(ARPA.replace(old, new, 1))
    with pytest.raises(InputError, match=re.escape(said)):
        read_arpa(path)


def test_arpa_without_unknown_words_has_no_place_for_them(tmp_path: Path) -> None:
    path = tmp_path / "m.arpa"
    path.write_text(ARPA.replace("-1.2\t<unk>\n", "").replace("ngram 1=5", "ngram 1=4"))
    found = read_arpa(path).log_p([["a"], ["x"]])
    assert np.isfinite(found).tolist() == [True, False]


# LSTM


def test_lstm_in_numpy_is_pytorchs(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    from captious.training.lstm_trainer import Net, Settings

    torch.manual_seed(3)
    vocabulary = ModelVocabulary(["a", "b", "c"])
    net = Net(len(vocabulary), Settings(hidden=6, embedding=5)).eval()
    model = LSTM(vocabulary, net.weights())
    captions = [["a", "b", "c"], [], ["c", "z", "a", "a"], ["b"]]
    found = model.score(captions)
    numbers, offsets = vocabulary.encode(captions)
    for i, (a, b) in enumerate(itertools.pairwise(offsets.tolist())):
        row = torch.tensor([[1, *numbers[a:b].tolist()]])
        with torch.no_grad():
            scores = net(row[:, :-1]).log_softmax(2)
        assert found.of(i) == pytest.approx(scores.gather(2, row[:, 1:, None]).flatten().numpy(), abs=1e-5)


def test_lstm_learns_resumes_and_repeats(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    from captious.training import lstm_trainer as lstm

    captions = [["a", "dog", "runs"], ["a", "cat", "sits"], ["two", "dogs", "run"]] * 20
    settings = lstm.Settings(
        hidden=12, embedding=8, dropout=0.1, least=1, epochs=10, batch=8, rate=0.02, save_every=10
    )
    told: list[dict[str, float]] = []
    whole = lstm.train(
        captions, tmp_path / "whole", held_out=captions[:3], settings=settings, progress=told.append
    )
    assert told[-1]["perplexity"] < 2 < told[0]["perplexity"] and len(told) == 10

    calls = 0
    saved = lstm._checkpoint

    def killed(*arguments: object) -> None:
        nonlocal calls
        saved(*arguments)  # type: ignore[arg-type]
        calls += 1
        if calls == 3:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(lstm, "_checkpoint", killed)
        with pytest.raises(KeyboardInterrupt):
            lstm.train(captions, tmp_path / "part", held_out=captions[:3], settings=settings)
    # The model written so far can be used already.
    assert np.isfinite(files.load(tmp_path / "part").log_p(captions)).all()
    resumed = lstm.train(captions, tmp_path / "part", held_out=captions[:3], settings=settings, resume=True)
    for name, array in whole.weights.items():
        assert np.array_equal(array, resumed.weights[name]), name
    assert (tmp_path / "part").read_bytes() == (tmp_path / "whole").read_bytes()
    again = lstm.train(captions, tmp_path / "part", settings=settings, resume=True)
    assert again.log_p(captions).tolist() == whole.log_p(captions).tolist()
    with pytest.raises(InputError, match="other settings"):
        lstm.train(captions, tmp_path / "part", settings=lstm.Settings(hidden=13), resume=True)
    with pytest.raises(InputError, match="positive integer"):
        lstm.train(captions, tmp_path / "none", settings=lstm.Settings(hidden=0))


# transformers


@pytest.fixture(scope="module")
def gpt(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny GPT-2 with random weights, made here."""
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers", reason="transformers is not installed")
    tokenizers = pytest.importorskip("tokenizers")
    folder = tmp_path_factory.mktemp("gpt")
    words = ["<|end|>", "a", "dog", "cat", "runs", "[UNK]"]
    pieces = tokenizers.Tokenizer(
        tokenizers.models.WordLevel({word: i for i, word in enumerate(words)}, unk_token="[UNK]")
    )
    pieces.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=pieces, eos_token="<|end|>", bos_token="<|end|>", unk_token="[UNK]"
    ).save_pretrained(folder)
    torch.manual_seed(1)
    config = transformers.GPT2Config(
        vocab_size=len(words), n_embd=8, n_layer=1, n_head=2, n_positions=12, bos_token_id=0, eos_token_id=0
    )
    transformers.GPT2LMHeadModel(config).save_pretrained(folder)
    return folder


def test_a_causal_model_from_a_folder(gpt: Path) -> None:
    import torch
    import transformers

    model = files.load(gpt)
    found = model.score(model.tokens(["a dog runs", "a", "a zebra runs"]))
    plain = transformers.GPT2LMHeadModel.from_pretrained(gpt).eval()
    for i, ids in enumerate(([1, 2, 4, 0], [1, 0], [1, 5, 4, 0])):
        with torch.no_grad():
            logits = plain(torch.tensor([[0, *ids[:-1]]])).logits.log_softmax(2)[0]
        assert found.of(i) == pytest.approx(
            [float(logits[k, piece]) for k, piece in enumerate(ids)], abs=1e-5
        )
    assert found.unknown_share == pytest.approx(1 / 7)
    with pytest.raises(InputError, match="reads at most 12"):
        model.score([["a " * 20]])


def test_a_folder_that_is_no_model(gpt: Path, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "nonsense"}))
    with pytest.raises(InputError, match="not a causal language model"):
        files.load(tmp_path)


def test_fallback_is_said() -> None:
    with pytest.warns(CaptionWarning, match="too few 1-grams"):
        NGram.learn(SMALL, 1)
