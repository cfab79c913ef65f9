"""Subword units: learned by SentencePiece, stored in captioner files, and read from older files."""

from __future__ import annotations

import json
import sys
from base64 import b64encode
from pathlib import Path

import pytest

from captious import InputError
from captious.core.errors import MissingExtraError
from captious.generate.captioner.subword_units import END, SPECIAL, UNKNOWN, Units
from tests.generate.world import world

pytest.importorskip("sentencepiece")

SENTENCES = [text for texts in world()[1].values() for text in texts] + ["a dog next to two dogs"] * 20


def old_units(kind: str) -> Units:
    """Units as version 0.7 wrote them: pieces of the tokenizers library."""
    tokenizers = pytest.importorskip("tokenizers")
    from tokenizers import decoders, models, pre_tokenizers, trainers

    pieces = tokenizers.Tokenizer(models.BPE(unk_token=SPECIAL[UNKNOWN]))
    pieces.pre_tokenizer, pieces.decoder = pre_tokenizers.Metaspace(), decoders.Metaspace()
    trainer = trainers.BpeTrainer(vocab_size=60, special_tokens=list(SPECIAL), show_progress=False)
    pieces.train_from_iterator(SENTENCES, trainer)
    names = [pieces.id_to_token(i) for i in range(pieces.get_vocab_size())]
    return Units.from_json({"kind": kind, "names": names, "model": pieces.to_str()})


@pytest.mark.parametrize("kind", ["bpe", "unigram"])
def test_a_frequent_word_of_one_letter_is_one_piece(kind: str) -> None:
    units = Units.learn(SENTENCES, kind, 60)
    assert units.names[: len(SPECIAL)] == list(SPECIAL)
    assert "▁a" in units.names and "▁dog" in units.names
    row = units.encode(["a dog"])[0]
    assert [units.names[i] for i in row] == ["▁a", "▁dog"]
    assert units.decode(units.encode(SENTENCES)) == SENTENCES
    assert UNKNOWN in units.encode(["a ☃"])[0] and units.encode([""]) == [[]]
    assert Units.learn(SENTENCES, kind, 60).to_json() == units.to_json()


def test_more_pieces_than_the_captions_have_are_not_an_error_and_fewer_than_letters_are() -> None:
    assert 10 < len(Units.learn(SENTENCES, "unigram", 5000)) < 5000
    for kind in ("bpe", "unigram"):
        with pytest.raises(InputError, match=r"8 pieces can be learned .*--vocabulary") as error:
            Units.learn(SENTENCES, kind, 8)
        assert "\n" not in str(error.value)


def test_older_units_still_encode_and_decode() -> None:
    units = old_units("bpe")
    rows = units.encode(SENTENCES)
    assert units.decode([[*row, END] for row in rows]) == SENTENCES
    again = Units.from_json(json.loads(json.dumps(units.to_json())))
    assert again.encode(SENTENCES) == rows


@pytest.mark.parametrize("age", ["new", "old"])
def test_captions_are_written_without_the_library_that_learned_the_pieces(
    age: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    units = Units.learn(SENTENCES, "bpe", 60) if age == "new" else old_units("bpe")
    rows, stored = units.encode(SENTENCES), units.to_json()
    library, extra = ("sentencepiece", "train") if age == "new" else ("tokenizers", "sentences")
    monkeypatch.setitem(sys.modules, library, None)
    again = Units.from_json(stored)
    assert again.decode(rows) == SENTENCES
    with pytest.raises(MissingExtraError, match=rf"captious\[{extra}\]"):
        again.encode(["a dog"])


@pytest.mark.parametrize("model", ["{}", "no base64!", b64encode(b"no model").decode(), None])
def test_a_damaged_model_of_pieces_is_one_message(model: str | None) -> None:
    if model == "{}":
        pytest.importorskip("tokenizers")
    units = Units("unigram", [*SPECIAL, "▁a"], model)
    with pytest.raises(InputError, match=r"damaged|missing"):
        units.encode(["a"])


def test_deep_transformers_have_the_published_sizes_and_warm_up(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    from captious.generate.captioner.captioners import CaptionerShape, build
    from captious.generate.captioner.image_features import read_images
    from captious.results.references import References
    from captious.training.captioner_trainer import CaptionerSettings, train
    from tests.generate.world import write

    deep = build(CaptionerShape("relation", 512, layers=6, heads=8, width=2048), 1085, 2048)
    assert len(deep.encoder) == len(deep.decoder.layers) == 6
    assert deep.decoder.layers[0].linear1.out_features == deep.encoder[0].feed[0].out_features == 2048
    # 46.3 million parameters are printed for 1,085 pieces; input and output embeddings are one table here.
    assert sum(parameter.numel() for parameter in deep.parameters()) == pytest.approx(46.3e6, rel=0.02)
    with pytest.raises(InputError, match="positive integers"):
        CaptionerShape("relation", width=-1).check()

    images, references = read_images(write(tmp_path)[0]), References.read(world()[1])
    shape, weights = CaptionerShape("relation", 16, 0.0, heads=2), []
    for warmup in (0, 99):
        settings = CaptionerSettings(steps=1, batch=9, rate=1e-2, warmup=warmup, evaluate_every=1)
        trained = train(images, references, tmp_path / f"{warmup}", shape=shape, least=1, settings=settings)
        weights.append(trained.model.embed.weight.detach())
    torch.manual_seed(settings.seed)
    start = build(shape, len(trained.units), images.width).embed.weight.detach()
    full, first = (float((weight - start).abs().max()) for weight in weights)
    assert first == pytest.approx(full / 100, rel=1e-3)
    with pytest.raises(InputError, match="warmup"):
        CaptionerSettings(warmup=-1).check()
