"""CLIP-S and RefCLIP-S: the formula on generated vectors, the checks, and a tiny model of random weights."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import captious
from captious.core.errors import InputError, MissingInputError
from captious.corpus import Corpus
from captious.metrics.captions.clip_score import ClipS, RefClipS
from captious.vectors import keyed_vectors as keyed

REFERENCES = {"1": ["two dogs run", "dogs on grass"], "2": ["a man surfs", "a surfer on a wave", "surfing"]}
SAID = {"1": "a dog", "2": "a wave"}
TEXTS = [*SAID.values(), *(text for texts in REFERENCES.values() for text in texts)]


def corpus() -> Corpus:
    return Corpus.build(list(SAID), [[text] for text in SAID.values()], list(REFERENCES.values()))


def table(names: list[str], seed: int, width: int = 6) -> dict[str, np.ndarray[Any, Any]]:
    generator = np.random.default_rng(seed)
    return {name: generator.normal(size=width) * generator.uniform(0.1, 9) for name in names}


def cosine(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> float:
    return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))


@pytest.mark.parametrize("seed", range(6))
def test_the_formula(seed: int) -> None:
    images, texts = table(list(SAID), seed), table(TEXTS, seed + 100)
    files = {
        "image_vectors": keyed.from_arrays(np.stack(list(images.values())), images),
        "text_vectors": keyed.from_arrays(np.stack(list(texts.values())), texts),
    }
    scores = captious.score(corpus(), "CLIP-S,RefCLIP-S", **files)
    for place, image in enumerate(SAID):
        clip = 2.5 * max(cosine(images[image], texts[SAID[image]]), 0)
        near = max(max(cosine(texts[SAID[image]], texts[text]) for text in REFERENCES[image]), 0)
        harmonic = 2 * clip * near / (clip + near) if clip and near else 0.0
        assert scores["CLIP-S"].per_caption[place] == pytest.approx(clip, abs=1e-5)
        assert scores["RefCLIP-S"].per_caption[place] == pytest.approx(harmonic, abs=1e-5)
    assert "|w:2.5|" in scores["CLIP-S"].signature
    assert files["text_vectors"].digest in scores["RefCLIP-S"].signature
    assert "refs" not in scores["CLIP-S"].signature.fields


def saved(folder: Path, name: str, names: list[Any], vectors: np.ndarray[Any, Any]) -> Path:
    path = folder / name
    if path.suffix == ".npz":
        np.savez(path, ids=np.array(names), vectors=vectors)
    elif path.suffix == ".npy":
        np.save(path, vectors)
        path.with_suffix(".json").write_text(json.dumps(names))
    elif path.suffix == ".parquet":
        arrow = pytest.importorskip("pyarrow")
        import pyarrow.parquet

        pyarrow.parquet.write_table(
            arrow.table({"text": [str(n) for n in names], "vector": vectors.tolist()}), path
        )
    else:
        from safetensors.numpy import save_file

        save_file({"vectors": vectors}, path, metadata={"texts": json.dumps(names)})
    return path


@pytest.mark.parametrize("ending", ["npz", "npy", "parquet", "safetensors"])
def test_every_format_gives_the_same(ending: str, tmp_path: Path) -> None:
    vectors = np.random.default_rng(1).normal(size=(len(TEXTS), 5)).astype(np.float32)
    images = saved(tmp_path, f"images.{ending}", ["2", "1"], vectors[:2])
    texts = saved(tmp_path, f"texts.{ending}", TEXTS, vectors)
    found = keyed.read_vectors(texts)
    assert found.of_texts(TEXTS[:3]) == pytest.approx(
        vectors[:3] / np.linalg.norm(vectors[:3], axis=1)[:, None], abs=1e-6
    )
    assert found.digest == keyed.from_arrays(vectors, TEXTS).digest
    score = captious.score(corpus(), "CLIP-S", image_vectors=images, text_vectors=texts)["CLIP-S"]
    assert score.per_caption[0] == pytest.approx(2.5 * max(cosine(vectors[1], vectors[0]), 0), abs=1e-5)


def test_half_precision_and_numbers_as_ids(tmp_path: Path) -> None:
    from safetensors.numpy import save_file

    vectors = np.random.default_rng(2).normal(size=(2, 5)).astype(np.float16)
    save_file({"embeddings": vectors}, tmp_path / "v.safetensors")
    (tmp_path / "v.json").write_text("[1, 42]")
    found = keyed.read_vectors(tmp_path / "v.safetensors")
    unit = vectors[1].astype(np.float32) / np.linalg.norm(vectors[1].astype(np.float32))
    assert found.of_images(["COCO_val2014_000000000042.jpg"])[0] == pytest.approx(unit, abs=1e-3)


@pytest.mark.parametrize(
    ("names", "vectors", "message"),
    [
        (["a", "b"], np.array([[1.0, 0], [np.nan, 1]]), "'b' has values that are not finite"),
        (["a", "b"], np.array([[1.0, 0], [0, 0]]), "'b' is zero"),
        (["a", "a"], np.array([[1.0, 0], [0, 1]]), "'a' has two different vectors"),
        (["a"], np.eye(2), "2 vectors, but 1 names"),
        (["a", "b"], np.ones(2), "one row per vector"),
    ],
)
def test_wrong_vectors_are_refused(
    names: list[str], vectors: np.ndarray[Any, Any], message: str, tmp_path: Path
) -> None:
    np.savez(tmp_path / "v.npz", ids=np.array(names), vectors=vectors)
    with pytest.raises(InputError, match=message) as found:
        keyed.read_vectors(tmp_path / "v.npz")
    assert "v.npz" in str(found.value)


def test_missing_inputs_are_reported_before_scoring(tmp_path: Path) -> None:
    good, short = keyed.from_arrays(np.eye(2, 4), ["1", "2"]), keyed.from_arrays(np.eye(1, 4), ["1"])
    texts = keyed.from_arrays(np.eye(len(TEXTS), 4) + 0.1, TEXTS)
    with pytest.raises(InputError, match="no vector for image '2'"):
        captious.score(corpus(), "CLIP-S", image_vectors=short, text_vectors=texts)
    spoken = keyed.from_arrays(np.eye(2, 4), list(SAID.values()))
    assert captious.score(corpus(), "CLIP-S", image_vectors=good, text_vectors=spoken)
    with pytest.raises(InputError, match=r"no vector for the caption 'two dogs run', .*\(5 in all\)"):
        captious.score(corpus(), "RefCLIP-S", image_vectors=good, text_vectors=spoken)
    with pytest.raises(InputError, match="4 numbers and caption vectors 3; use one model for both"):
        captious.score(
            corpus(),
            "CLIP-S",
            image_vectors=good,
            text_vectors=keyed.from_arrays(np.eye(2, 3), ["a dog", "a wave"]),
        )
    with pytest.raises(MissingInputError, match="--image-vectors FILE --text-vectors FILE"):
        captious.score(corpus(), "CLIP-S")
    with pytest.raises(InputError, match="pass --text-vectors FILE, too"):
        ClipS(image_vectors=good)
    with pytest.raises(InputError, match="pass its folder"):
        ClipS(pictures=tmp_path)
    with pytest.raises(InputError, match="no vectors at"):
        ClipS(image_vectors=tmp_path / "none.npz", text_vectors=tmp_path / "none.npz")
    np.save(tmp_path / "bare.npy", np.eye(2))
    with pytest.raises(InputError, match=r"JSON list in bare\.json"):
        keyed.read_vectors(tmp_path / "bare.npy")
    (tmp_path / "x.npz").write_bytes(b"PK\x03\x04 and no more")
    with pytest.raises(InputError, match=r"x\.npz"):
        keyed.read_vectors(tmp_path / "x.npz")


def test_a_caption_of_nothing_is_near_to_nothing() -> None:
    silent = Corpus.build(["1"], [["", "a dog"]], [["two dogs run", ""]])
    texts = keyed.from_arrays(np.array([[1.0, 0.2], [1.0, 0.1]]), ["a dog", "two dogs run"])
    image = keyed.from_arrays(np.array([[1.0, 0.0]]), ["1"])
    for kind in (ClipS, RefClipS):
        values = captious.score(silent, kind(image, texts))[kind.name].per_caption
        assert values[0] == 0
        assert values[1] > 0.9


# With a model here ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A CLIP with random weights, as transformers saves one: 12 positions, a vocabulary of letters."""
    transformers = pytest.importorskip("transformers", reason="CLIP here needs transformers")
    torch = pytest.importorskip("torch")
    folder = tmp_path_factory.mktemp("clip")
    letters = [chr(c) for c in range(ord("a"), ord("z") + 1)]
    pieces = [*letters, *(f"{c}</w>" for c in letters), "<|startoftext|>", "<|endoftext|>", "ab"]
    (folder / "vocab.json").write_text(json.dumps({piece: place for place, piece in enumerate(pieces)}))
    (folder / "merges.txt").write_text("#version: 0.2\na b\n")
    transformers.CLIPTokenizer.from_pretrained(str(folder)).save_pretrained(folder)
    torch.manual_seed(3)
    text = {
        "vocab_size": len(pieces),
        "hidden_size": 16,
        "intermediate_size": 16,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "max_position_embeddings": 30,
        "bos_token_id": 52,
        "eos_token_id": 53,
    }
    vision = {
        "hidden_size": 16,
        "intermediate_size": 16,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "image_size": 32,
        "patch_size": 16,
    }
    config = transformers.CLIPConfig(text_config=text, vision_config=vision, projection_dim=8)
    transformers.CLIPModel(config).save_pretrained(folder)
    transformers.CLIPImageProcessor(
        size={"shortest_edge": 32}, crop_size={"height": 32, "width": 32}
    ).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    image = pytest.importorskip("PIL.Image")
    folder = tmp_path_factory.mktemp("pictures")
    for name, colour in {"COCO_val2014_000000000001.jpg": (250, 20, 20), "2.png": (10, 30, 200)}.items():
        image.new("RGB", (48, 40), colour).save(folder / name)
    return folder


def test_a_model_agrees_with_transformers(model: Path, pictures: Path) -> None:
    import torch
    from PIL import Image
    from transformers import AutoTokenizer, CLIPImageProcessor, CLIPModel

    from captious.vectors.clip_encoders import PROMPT, _pooled, load

    scores = captious.score(corpus(), "CLIP-S,RefCLIP-S", clip=model, pictures=pictures)
    clip, tokenizer = CLIPModel.from_pretrained(model).eval(), AutoTokenizer.from_pretrained(model)
    processor = CLIPImageProcessor.from_pretrained(model)
    with torch.inference_mode():
        image = _pooled(
            clip.get_image_features(**processor(images=Image.open(pictures / "2.png"), return_tensors="pt"))
        ).numpy()[0]

        def text_of(text: str) -> np.ndarray[Any, Any]:
            found: np.ndarray[Any, Any] = _pooled(
                clip.get_text_features(**tokenizer([PROMPT + text], return_tensors="pt"))
            ).numpy()[0]
            return found

        near = max(max(cosine(text_of(SAID["2"]), text_of(text)) for text in REFERENCES["2"]), 0)
        nearness = 2.5 * max(cosine(image, text_of(SAID["2"])), 0)
    assert scores["CLIP-S"].per_caption[1] == pytest.approx(nearness, abs=1e-5)
    assert scores["RefCLIP-S"].per_caption[1] == pytest.approx(
        2 * nearness * near / (nearness + near) if nearness + near else 0, abs=1e-5
    )
    signature = scores["CLIP-S"].signature
    assert load(model).digest in signature
    assert "prompt:A photo depicts" in signature


def test_long_captions_go_through_in_windows(model: Path) -> None:
    from captious.vectors.clip_encoders import load

    encoder = load(model)
    long = "a dog runs on the green grass of a field and jumps over the fence"
    windows = encoder.windows(long)
    assert len(windows) > 1
    assert all(len(window) <= 30 and window[0] == 52 and window[-1] == 53 for window in windows)
    whole = encoder.tokenizer("A photo depicts " + long, add_special_tokens=False)["input_ids"]
    assert [token for window in windows for token in window[1:-1]] == whole
    # The end counts. Cut at the model's length, both would be the same.
    first, other = encoder.texts([long, long.replace("fence", "house")])
    assert not np.allclose(first, other, atol=1e-6)
    assert np.linalg.norm(first) == pytest.approx(1, abs=1e-5)
    # A caption's vector does not depend on the other captions of its batch.
    assert encoder.texts([long])[0] == pytest.approx(first, abs=1e-6)


def test_missing_pictures_and_models(model: Path, pictures: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no picture of image 2"):
        (tmp_path / "1.jpg").write_bytes((pictures / "COCO_val2014_000000000001.jpg").read_bytes())
        captious.score(corpus(), "CLIP-S", clip=model, pictures=tmp_path)
    (tmp_path / "2.jpg").write_bytes(b"no picture")
    with pytest.raises(InputError, match=r"2\.jpg: not a readable picture"):
        captious.score(corpus(), "CLIP-S", clip=model, pictures=tmp_path)
    with pytest.raises(InputError, match="no CLIP model at"):
        ClipS(clip=tmp_path, pictures=pictures)
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(InputError, match="not a CLIP model that transformers can read"):
        captious.score(corpus(), "CLIP-S", clip=tmp_path, pictures=pictures)


# With open_clip ---------------------------------------------------------------------------------------------

WINDOW = 20


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small model of random weights in a folder of open_clip; its tokenizer is the library's own."""
    try:
        import open_clip
    except RuntimeError as error:
        pytest.skip(f"needs a torchvision that fits torch ({error})")
    import torch
    from safetensors.torch import save_file

    folder = tmp_path_factory.mktemp("open_clip")
    sizes = {
        "embed_dim": 8,
        "vision_cfg": {"image_size": 32, "layers": 1, "width": 32, "head_width": 16, "patch_size": 16},
        "text_cfg": {"context_length": WINDOW, "vocab_size": 49408, "width": 16, "heads": 2, "layers": 1},
    }
    (folder / "open_clip_config.json").write_text(
        json.dumps({"model_cfg": sizes, "preprocess_cfg": {"size": [32, 32]}})
    )
    torch.manual_seed(5)
    save_file(open_clip.CLIP(**sizes).state_dict(), folder / "open_clip_model.safetensors")
    return folder


@pytest.mark.open_clip
def test_a_model_agrees_with_open_clip(opened: Path, pictures: Path) -> None:
    import open_clip
    import torch
    from PIL import Image

    from captious.vectors.clip_encoders import PROMPT, load

    scores = captious.score(corpus(), "CLIP-S,RefCLIP-S", clip=opened, pictures=pictures)
    clip, _, transform = open_clip.create_model_and_transforms(f"local-dir:{opened}")
    tokenizer = open_clip.get_tokenizer(f"local-dir:{opened}")
    with torch.inference_mode():
        image = clip.eval().encode_image(transform(Image.open(pictures / "2.png"))[None]).numpy()[0]

        def text_of(text: str) -> np.ndarray[Any, Any]:
            found: np.ndarray[Any, Any] = clip.encode_text(tokenizer([PROMPT + text])).numpy()[0]
            return found

        near = max(max(cosine(text_of(SAID["2"]), text_of(text)) for text in REFERENCES["2"]), 0)
        nearness = 2.5 * max(cosine(image, text_of(SAID["2"])), 0)
    assert nearness != 0, "this seed would test nothing"
    assert scores["CLIP-S"].per_caption[1] == pytest.approx(nearness, abs=1e-5)
    assert scores["RefCLIP-S"].per_caption[1] == pytest.approx(
        2 * nearness * near / (nearness + near) if nearness + near else 0, abs=1e-5
    )
    assert "open-clip-8" in str(scores["CLIP-S"].signature)
    assert load(opened).digest in scores["CLIP-S"].signature


@pytest.mark.parametrize(
    "long",
    [
        "a dog runs on the green grass of a field and jumps over the old white fence !",
        "xq" * 60,
        "! a ? " * 12,
    ],
)
@pytest.mark.open_clip
def test_open_clip_cuts_nothing_off(long: str, opened: Path) -> None:
    from captious.vectors.clip_encoders import load

    encoder = load(opened)
    windows = encoder.windows(long)
    assert len(windows) > 1
    begin, end = 49406, 49407
    assert all(len(window) == WINDOW and window[0] == begin and end in window for window in windows)
    spoken = "".join(encoder.tokenizer.decode(window[1 : window.index(end)]) for window in windows)  # type: ignore[attr-defined]
    assert spoken.replace(" ", "") == ("a photo depicts " + long).replace(" ", "")
    assert len(encoder.windows("a dog")) == 1


@pytest.mark.open_clip
def test_a_damaged_folder_of_open_clip(opened: Path, pictures: Path, tmp_path: Path) -> None:
    (tmp_path / "open_clip_config.json").write_text("{}")
    with pytest.raises(InputError, match="not a CLIP model that open_clip can read"):
        captious.score(corpus(), "CLIP-S", clip=tmp_path, pictures=pictures)
