"""Diagnoses of numbers that do not match: each on captions with that defect, and none on correct captions."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import captious
from captious.cli.app import app
from captious.core.errors import InputError
from captious.data import demo_path
from captious.tasks import (
    Task,
    cut_off_share,
    diagnose,
    parse_published,
    published_fractions,
    remarks,
    rounding,
    run_task,
)
from captious.tasks.diagnosis import Variant, nearness, shared_words
from tests.tasks.test_tasks import captions

pytestmark = pytest.mark.filterwarnings("ignore::captious.io.CaptionWarning")

Texts = dict[str, list[str]]
METRICS = ["CIDEr-D", "BLEU-4", "ROUGE-L"]


def references() -> Texts:
    return captions("references", "references")


def predictions(name: str = "good") -> Texts:
    return captions(name, "predictions")


def values(refs: Any, said: Any, plain: bool = False, **options: Any) -> dict[str, float]:
    """Return scores in percent, as an evaluation prints them."""
    names = {name: "CIDEr" if plain and name == "CIDEr-D" else name for name in METRICS}
    scores = captious.score(refs, said, list(names.values()), **options)
    return {name: round(100 * scores[own].value, 1) for name, own in names.items()}


def each(said: Texts, change: Callable[[str, int], str]) -> Texts:
    return {image: [change(texts[0], place)] for place, (image, texts) in enumerate(said.items())}


def case(kind: str) -> tuple[Texts, Texts, dict[str, float], str]:
    """Return references, captions, published values, and the name of the evaluation that gives them."""
    refs, said = references(), predictions()
    few = dict(list(said.items())[:45])
    first = {image: texts[:1] for image, texts in refs.items()}
    right = values(refs, said)
    two = each(said, lambda t, n: f"{t.rstrip('. ')}. It is number {n} of many.")
    cut = each(two, lambda t, n: f"{t} Behind it stands a {n % 3} of")
    stopped = each(said, lambda t, n: t.rstrip(". ") + ".")
    return {
        "as given": (refs, said, right, "as given"),
        "tokenised or not": (refs, said, values(refs, said, tokenizer="raw"), "captions not tokenized"),
        "CIDEr or CIDEr-D": (refs, said, values(refs, said, plain=True), "CIDEr without clipping and length penalty, not CIDEr-D"),
        "missing images": (refs, few, values(refs, {i: few.get(i, [""]) for i in refs}), "15 missing images as empty captions"),
        "document frequencies": (refs, few, values(refs, few, part=True), "document frequencies of all references, not of the scored images"),
        "references count": (refs, said, values(first, said), "only 1 reference per image"),
        "four references": (refs, said, values({i: t[:4] for i, t in refs.items()}, said), "only 4 references per image"),
        "boilerplate": (refs, each(said, lambda t, n: f"The image {'shows' if n % 2 else 'depicts'} {t}"), right, "openings such as 'The image shows' removed"),
        "photo of": (refs, each(said, lambda t, n: f"a photo of {t}"), right, "openings such as 'The image shows' removed"),
        "prompt": (refs, each(said, lambda t, n: f"USER: caption it ASSISTANT: {t}"), right, "'USER: caption it ASSISTANT:', with which most captions begin, removed"),
        "end mark": (refs, each(said, lambda t, n: f"{t} endofsentence"), right, "'endofsentence', with which most captions end, removed"),
        "several sentences": (refs, two, values(refs, stopped), "first sentence only"),
        "truncated captions": (refs, cut, values(refs, two), "unfinished last sentences removed"),
    }[kind]  # fmt: skip


KINDS = [
    "as given", "tokenised or not", "CIDEr or CIDEr-D", "missing images", "document frequencies", "references count",
    "four references", "boilerplate", "photo of", "prompt", "end mark", "several sentences", "truncated captions",
]  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_the_cause_is_the_first_that_is_listed(kind: str) -> None:
    refs, said, published, name = case(kind)
    variants = diagnose(refs, said, published)
    assert (variants[0].name, variants[0].matches) == (name, True)
    assert variants[0].distance <= 0.05
    if kind != "as given":
        given = next(variant for variant in variants if variant.name == "as given")
        assert not given.matches and given.distance > 0.05


def karpathy(folder: Path) -> Path:
    """Write references with three splits, as Karpathy's files have them."""
    rows = [
        {
            "cocoid": int(image),
            "split": ("test", "val", "train")[n % 3],
            "sentences": [{"raw": t} for t in texts],
        }
        for n, (image, texts) in enumerate(references().items())
    ]
    path = folder / "dataset_coco.json"
    path.write_text(json.dumps({"images": rows, "dataset": "coco"}))
    return path


def of_split(place: int, texts: Texts) -> Texts:
    return {image: own for n, (image, own) in enumerate(texts.items()) if n % 3 == place}


def test_the_wrong_split(tmp_path: Path) -> None:
    path, refs, said = karpathy(tmp_path), references(), predictions()
    published = values(of_split(1, refs), of_split(1, said))
    # Captions of all splits, and captions of the wrong split alone
    for own in (said, of_split(1, said)):
        nearest = diagnose(path, own, published, "test")[0]
        assert nearest.name == "split 'val'" and nearest.matches
    assert remarks(path, of_split(1, said), "test") == [
        "20 of 20 images of the split 'test' have no caption",
        "20 of 20 captioned images are not of the split 'test'",
    ]
    everything = diagnose(path, said, values(refs, said), "test")[0]
    assert everything.name == "all splits" and everything.matches


def test_the_wrong_split_and_another_cause(tmp_path: Path) -> None:
    path, refs, said = karpathy(tmp_path), of_split(1, references()), of_split(1, predictions())
    nearest = diagnose(path, said, values(refs, said, tokenizer="raw"), "test")[0]
    assert nearest.name == "split 'val', captions not tokenized" and nearest.matches


def test_a_task_names_the_splits_of_captions(tmp_path: Path) -> None:
    path, said = karpathy(tmp_path), of_split(1, predictions())
    with pytest.raises(
        InputError, match=r"the split 'test', and some captions are of other splits: 20 of 'val'"
    ):
        run_task("coco-karpathy-test", [said], path)
    with pytest.raises(InputError, match=r"are unknown to the references.*other splits: 20 of 'val'"):
        run_task("coco-karpathy-test", [said | of_split(0, predictions())], path)


def test_document_frequencies_of_all_splits(tmp_path: Path) -> None:
    path, refs, said = karpathy(tmp_path), references(), of_split(0, predictions())
    nearest = diagnose(path, said, values(refs, said, part=True), "test")[0]
    assert nearest.name == "document frequencies of all splits" and nearest.matches
    right = diagnose(path, said, values(of_split(0, refs), said), "test")[0]
    assert right.name == "as given" and right.matches


@pytest.mark.parametrize("system", ["good", "generic", "poor"])
def test_a_right_file_is_not_suspected(system: str, tmp_path: Path) -> None:
    """Published values are rounded. Another evaluation that happens to be nearer is not the cause."""
    refs, said = references(), predictions(system)
    published = values(refs, said)
    nearest = diagnose(refs, said, published)[0]
    assert nearest.name == "as given" and nearest.matches
    assert remarks(refs, said) == []
    for scale, digits in ((1, 1), (0.01, 3)):
        text = " ".join(f"{name} {value * scale:.{digits}f}" for name, value in published.items())
        done = CliRunner().invoke(
            app,
            [
                "why",
                str(demo_path(system)),
                "--published",
                text,
                "--references",
                str(demo_path("references")),
            ],
            catch_exceptions=False,
        )
        assert "as given: your captions give the published numbers, up to rounding" in done.output
        assert "nearest" not in done.output
        assert ("are fractions; all numbers here are in percent" in done.output) is (scale != 1)


def test_a_variant_that_is_hardly_nearer_is_not_suggested() -> None:
    listed = [
        Variant("as given", {}, 0.12), Variant("hardly nearer", {}, 0.08), Variant("nearer", {}, 0.02),
        Variant("matches", {}, 0.04, True), Variant("matches, too", {}, 0.0, True),
    ]  # fmt: skip
    ordered = [variant.name for variant in sorted(listed, key=nearness)]
    assert ordered == ["matches", "matches, too", "nearer", "as given", "hardly nearer"]


def test_the_command_names_the_cause(tmp_path: Path) -> None:
    _, few, published, name = case("missing images")
    path = tmp_path / "few.json"
    path.write_text(json.dumps({image: f"{texts[0].rstrip('. ')} with a" for image, texts in few.items()}))
    text = " ".join(f"{metric} {value}" for metric, value in published.items())
    options = ["--published", text, "--references", str(demo_path("references"))]
    done = CliRunner().invoke(app, ["why", str(path), *options], catch_exceptions=False)
    assert "none of these differences explains the numbers exactly" in done.output
    assert "15 of 60 images of the references have no caption" in done.output
    assert "100% of the captions end in the middle of a sentence" in done.output
    path.write_text(json.dumps(few))
    done = CliRunner().invoke(app, ["why", str(path), *options], catch_exceptions=False)
    assert f"nearest: {name} (largest difference 0.0)" in done.output and "explains" not in done.output
    listed = CliRunner().invoke(app, ["why", str(path), *options, "--json", "-"], catch_exceptions=False)
    assert json.loads(listed.stdout)[0]["name"] == name


def test_file_names_of_images_are_their_ids(tmp_path: Path) -> None:
    refs, said = references(), predictions()
    renamed = {f"val2014/COCO_val2014_{int(image):012}.jpg": texts for image, texts in said.items()}
    nearest = diagnose(refs, renamed, values(refs, said))[0]
    assert nearest.name == "as given" and nearest.matches and remarks(refs, renamed) == []


def test_columns_and_ids_of_a_task() -> None:
    refs, said = references(), predictions()
    rows = [{"key": f"a/{i}", "GT_x": t[0], "GT_y": t[1]} for i, t in refs.items()]
    task = Task("ours", "", ("CIDEr-D",), ids="number", id_column="key", caption_column="GT_*")
    published = values({i: t[:2] for i, t in refs.items()}, said)
    named = {f"photo-{image}.jpeg": texts for image, texts in said.items()}
    nearest = diagnose(rows, named, published, task=task)[0]
    assert nearest.name == "as given" and nearest.matches and remarks(rows, named, task=task) == []


def test_the_tokenizer_of_a_task() -> None:
    refs, said = references(), predictions()
    task = Task("ours", "", ("CIDEr-D",), tokenizer="raw")
    right = diagnose(refs, said, values(refs, said, tokenizer="raw"), task=task)[0]
    assert right.name == "as given" and right.matches
    other = diagnose(refs, said, values(refs, said), task=task)[0]
    assert other.name == "captions tokenized, not as they come" and other.matches


def test_published_scores() -> None:
    assert parse_published("CIDEr 131.2 BLEU-4 39.1") == {"CIDEr-D": 131.2, "BLEU-4": 39.1}
    assert parse_published("CIDEr: 1.312, b@4=0.391") == pytest.approx({"CIDEr-D": 131.2, "BLEU-4": 39.1})
    assert parse_published("CIDEr 1.312 b@4 .391") == pytest.approx({"CIDEr-D": 131.2, "BLEU-4": 39.1})
    with pytest.raises(InputError, match="published scores are written"):
        parse_published("good")
    mixed = "CIDEr 1.31 METEOR 29.2 SPICE 22"
    assert published_fractions(mixed) == ["CIDEr-D"]
    assert rounding(mixed) == pytest.approx({"CIDEr-D": 0.5, "METEOR": 0.05, "SPICE": 0.5})


def test_captions_that_were_cut_off() -> None:
    said = {1: "The image shows a dog, which runs on a", 2: "A cat sits on a mat. It", 3: "Two men talk."}
    assert cut_off_share(said) == pytest.approx(2 / 3)
    assert cut_off_share({1: "a dog runs", 2: "a cat"}) == 0
    assert cut_off_share({1: "a man riding a wave on top of a", 2: "a cat", 3: "two dogs"}) == pytest.approx(
        1 / 3
    )
    assert remarks({1: ["a dog"], 2: ["a cat"]}, {1: "", 3: "a cow"}) == [
        "1 of 2 images of the references have no caption",
        "1 of 2 captioned images are not of the references",
        "1 captions are empty",
    ]


def test_words_that_most_captions_share() -> None:
    texts = [f"Sure, here it is: a {animal} runs </s>" for animal in ("dog", "cat", "cow", "fox", "pig")]
    assert shared_words(texts) == ["Sure,", "here", "it", "is:", "a"]
    assert shared_words(texts, last=True) == ["runs", "</s>"]
    assert shared_words(["a dog .", "a cat .", "a cow ."]) == []
    assert shared_words(["a dog .", "a cat .", "a cow ."], last=True) == []
    assert shared_words([]) == shared_words(["", ""]) == []


@pytest.mark.parametrize(
    "text", [" " * 200_000, '"' + " " * 200_000, "a. " * 50_000, "a. b" + " " * 200_000 + "."]
)
def test_long_hostile_captions_take_little_time(text: str) -> None:
    """Patterns whose time grows with the square would take minutes."""
    variants = diagnose({1: ["a dog"], 2: ["a cat"]}, {1: text, 2: "a cat"}, {"BLEU-1": 50.0})
    assert variants[0].values["BLEU-1"] < 100
