"""Signatures: whatever changes a number changes its signature, and nothing else does."""

from __future__ import annotations

import gzip
import json
import pickle
import shutil
import zipfile
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import captious
from captious import References
from captious.corpus import Captions, Corpus
from captious.corpus.frequencies import FrequencyTable
from captious.data import demo_path
from captious.io.frequency_files import read_frequencies, save_frequencies
from captious.metrics import registry
from captious.metrics.learned.composite import WEIGHTS_FOLDER
from captious.parser.choice import SmallParser
from captious.parser.fast_parser import ParsedBatch
from captious.results.signatures import Signature
from captious.scene import ConceptTable
from captious.text import meteor_data, tokenizers
from tests.dual import vectors_for

pytestmark = pytest.mark.filterwarnings("ignore")

REFERENCES = {
    "1": ["two dogs run across a green field", "a pair of dogs running on grass"],
    "2": ["a man rides a wave on a surfboard", "a surfer riding a big wave"],
    "3": ["a red bus parked beside a building", "a double decker bus on a street"],
}
CANDIDATES = {
    "1": "two brown dogs run on the grass",
    "2": "a man is surfing a wave",
    "3": "a red bus on a street",
}
SETS = {image: [caption, "a dog"] for image, caption in CANDIDATES.items()}


def corpus(references: Any = None, candidates: Any = None, **options: Any) -> Corpus:
    return captious.load(references or REFERENCES, candidates or CANDIDATES, **options)


def signature(name: str, given: Corpus | None = None, **options: Any) -> Signature:
    return captious.score(given or corpus(), name, **options)[name].signature


def difference(one: Signature, other: Signature) -> set[str]:
    return {field for field, _, _ in one.difference(other)}


# The text ---------------------------------------------------------------------------------------------------


def test_fields_and_differences() -> None:
    one = Signature.of("X", {"n": "4", "df": "table@1", "tok": "ptb"})
    assert one == "X|n:4|df:table@1|tok:ptb"
    assert (one.name, one.fields) == ("X", {"n": "4", "df": "table@1", "tok": "ptb"})
    other = Signature.of("X", {"n": "4", "df": "references", "refs": "3x2@5"})
    assert one.difference(other) == [
        ("df", "table@1", "references"),
        ("tok", "ptb", "–"),
        ("refs", "–", "3x2@5"),
    ]
    assert one.difference(Signature("Y|n:4|df:table@1|tok:ptb")) == [("measure", "X", "Y")]
    assert one.difference(one) == []


def test_nothing_in_a_field_breaks_the_text_apart() -> None:
    hostile = Signature.of("X", {"vectors": "my|file:1\nname", "tok": "ptb"})
    assert hostile.fields == {"vectors": "my/file:1 name", "tok": "ptb"}


def of(name: str, options: dict[str, Any]) -> dict[str, Any]:
    """Return the options that a measure has."""
    own = {option.name for option in registry.measure_class(name).options}
    return {key: value for key, value in options.items() if key in own}


@cache
def two_systems() -> tuple[Corpus, Corpus]:
    """Candidates are not part of a signature: another system has the same one."""
    result = corpus(candidates=SETS, several=True)
    return result, Corpus.build(result.ids, [["a cat sleeps", "x"]] * 3, result.references, name="other")


@pytest.mark.parametrize("name", registry.names())
def test_every_signature_names_version_tokenizer_options_and_resources(name: str) -> None:
    result, other = two_systems()
    options = {
        "train": ["a dog"],
        "norms": {"dog": 4.8, "bus": 5.0},
        "weights": str(WEIGHTS_FOLDER / "captious_score_lite.safetensors"),
        **vectors_for(result, other),
    }
    score = captious.score(result, name, **of(name, options))[name]
    fields = score.signature.fields
    assert (score.signature.name, fields["captious"], fields["tok"]) == (name, captious.__version__, "ptb")
    assert ("m" in fields) == (score.measure.rows == "image")
    if score.measure.uses_references():
        assert fields["refs"] == f"3x2@{result.references.digest}"
    for field, resource in score.measure.resources().items():
        assert fields[field] == f"{resource.label}@{resource.digest}"
    for option in score.measure.options:
        assert option.name in fields or not option.setting, option
    assert captious.score(other, name, **of(name, options))[name].signature == score.signature


# References -------------------------------------------------------------------------------------------------


def test_order_in_the_file_does_not_matter(tmp_path: Path) -> None:
    rows = [{"image_id": image, "caption": text} for image, texts in REFERENCES.items() for text in texts]
    listed = [
        (tmp_path / "a.json", rows),
        (tmp_path / "b.json", rows[::-1]),
        (tmp_path / "c.json", rows[1::2] + rows[::2]),
    ]
    result = set()
    for path, content in listed:
        path.write_text(json.dumps({"annotations": content, "images": [{"id": i} for i in REFERENCES]}))
        result.add(signature("ROUGE-L", corpus(path)))
    assert result == {signature("ROUGE-L")}


@pytest.mark.parametrize(
    "changed",
    [
        {**REFERENCES, "2": ["a man rides a wave on a surfboard", "a surfer riding a big wave."]},
        {**REFERENCES, "2": REFERENCES["2"][:1]},
        {**REFERENCES, "1": REFERENCES["2"], "2": REFERENCES["1"]},
        {**REFERENCES, "3": [REFERENCES["3"][0]] * 2},
    ],
    ids=["one character", "one caption fewer", "images exchanged", "one caption twice"],
)
def test_every_reference_matters(changed: dict[str, list[str]]) -> None:
    for name in ("BLEU-4", "CIDEr-D", "METEOR", "SPICE", "CHAIRi", "SPIDEr", "Uniq"):
        one, other = signature(name), signature(name, corpus(changed))
        assert difference(one, other) == {"refs"}, name


def test_ids_matter() -> None:
    renamed = {f"x{image}": texts for image, texts in REFERENCES.items()}
    one = signature("BLEU-4")
    assert difference(
        one, signature("BLEU-4", corpus(renamed, {f"x{i}": c for i, c in CANDIDATES.items()}))
    ) == {"refs"}


def test_a_subset_names_its_own_references_and_a_part_those_of_all() -> None:
    some = {image: CANDIDATES[image] for image in ("1", "3")}
    whole = signature("CIDEr-D")
    subset = signature("CIDEr-D", corpus(candidates=some, subset=True))
    assert difference(whole, subset) == {"refs", "subset"}
    fewer = corpus({image: REFERENCES[image] for image in some}, some)
    assert subset.fields["refs"] == f"2x2@{fewer.references.digest}"
    assert signature("CIDEr-D", corpus(candidates=some, part=True)) == whole


@pytest.mark.parametrize("tokenizer", [name for name in tokenizers.names() if name != "ptb"])
def test_tokenizers(tokenizer: str) -> None:
    for name in ("BLEU-4", "METEOR"):
        one, other = signature(name), signature(name, corpus(tokenizer=tokenizer))
        assert difference(one, other) == {"tok"}
        assert other.fields["tok"] == tokenizer


# Document frequencies ---------------------------------------------------------------------------------------


def table(*captions: str, images: int = 9, tokenizer: str = "ptb") -> FrequencyTable:
    counts: dict[tuple[str, ...], int] = {}
    for caption in captions:
        words = caption.split()
        for n in range(1, 5):
            for gram in {tuple(words[k : k + n]) for k in range(len(words) - n + 1)}:
                counts[gram] = counts.get(gram, 0) + 1
    return FrequencyTable.from_counts(counts.items(), images, tokenizer)


TEXTS = ("a dog runs in the park", "a cat sleeps", "café au lait", "the dog")


def test_one_table_reached_in_every_way_has_one_signature(tmp_path: Path) -> None:
    result = table(*TEXTS)
    save_frequencies(result, tmp_path / "a.npz")
    words = result.vocabulary.words
    rows = [
        (tuple(words[i] for i in gram), count)
        for n in (3, 1, 4, 2)
        for gram, count in zip(result.grams[n][::-1].tolist(), result.table[n][::-1].tolist())
    ]
    (tmp_path / "a.tsv").write_text(
        "".join(f"{' '.join(gram)}\t{count}\n" for gram, count in rows), encoding="utf-8"
    )
    (tmp_path / "a.tsv.gz").write_bytes(gzip.compress((tmp_path / "a.tsv").read_bytes()))
    counted = {gram: float(count) for gram, count in rows}
    (tmp_path / "a.p").write_bytes(pickle.dumps({"document_frequency": counted, "ref_len": 9}))
    (tmp_path / "b.p").write_bytes(pickle.dumps({" ".join(gram): count for gram, count in rows}))
    built = FrequencyTable.build(Captions.of([[text] for text in TEXTS] + [[""]] * 5))
    tables = [
        result,
        table(*TEXTS[::-1]),
        built,
        *(read_frequencies(path, images=9) for path in sorted(tmp_path.iterdir())),
    ]
    assert len(tables) == 8
    assert len({t.digest for t in tables}) == 1
    for name in ("CIDEr-D", "CIDEr", "SPIDEr", "Self-CIDEr"):
        results = corpus(candidates=SETS, several=True)
        assert len({signature(name, results, df=t) for t in tables}) == 1
        assert signature(name, results, df=tmp_path / "a.npz").fields["df"] == f"table@{result.digest}"


@pytest.mark.parametrize(
    "other",
    [
        table(*TEXTS, images=10),
        table(*TEXTS, "a dog"),
        table(*TEXTS[1:]),
        table(*TEXTS, tokenizer="none"),
        table("a dog runs on the park", *TEXTS[1:]),
    ],
    ids=["images", "a caption more", "a caption fewer", "tokenizer", "a word"],
)
def test_every_count_matters(other: FrequencyTable) -> None:
    for name in ("CIDEr-D", "CIDEr", "SPIDEr"):
        assert difference(signature(name, df=table(*TEXTS)), signature(name, df=other)) == {"df"}
    assert difference(signature("CIDEr-D"), signature("CIDEr-D", df=other)) == {"df"}


def test_counts_that_change_places_are_another_table() -> None:
    one, other = (
        [(["a", "dog"], a), (["dog", "a"], b), (["a"], 3), (["dog"], 3)] for a, b in ((2, 1), (1, 2))
    )
    assert FrequencyTable.from_counts(one, 5).digest != FrequencyTable.from_counts(other, 5).digest


@pytest.mark.parametrize("name", ["CIDEr-D", "CIDEr", "SPIDEr", "Self-CIDEr"])
def test_a_table_of_another_tokenizer_is_refused(name: str) -> None:
    result = corpus(candidates=SETS, several=True)
    with pytest.raises(
        captious.InputError,
        match=r"made with the tokenizer 'simple' and the captions are tokenized with 'ptb'",
    ):
        captious.score(result, name, df=table(*TEXTS, tokenizer="simple"))
    # Captions that come tokenized may have been tokenized by anything.
    captious.score(
        corpus(candidates=SETS, several=True, tokenizer="none"), name, df=table(*TEXTS, tokenizer="simple")
    )


# Other resources --------------------------------------------------------------------------------------------


def test_concepts(tmp_path: Path) -> None:
    one, other, more = (
        ConceptTable(n, {("dog",): k, ("dog", "run"): 1}) for n, k in ((9, 3), (9, 4), (10, 3))
    )
    one.save(tmp_path / "a.concepts")
    for name in ("Uniq", "SPICE-U"):
        rows = [signature(name, concepts=c) for c in (one, other, more, None)]
        assert len(set(rows)) == 4
        assert all(difference(rows[0], f) == {"concepts"} for f in rows[1:])
        assert signature(name, concepts=tmp_path / "a.concepts") == rows[0]


def test_word_vectors() -> None:
    words = [
        word
        for text in (*CANDIDATES.values(), *(text for texts in REFERENCES.values() for text in texts))
        for word in text.split()
    ]
    vectors = {word: [1.0, i / 10, 0.5] for i, word in enumerate(dict.fromkeys(words))}
    changed = {**vectors, "dogs": [1.0, 2.0, 0.5]}
    for name in ("WMD", "WEmbSim", "MOWE"):
        one, other = signature(name, vectors=vectors), signature(name, vectors=changed)
        assert difference(one, other) == {"vectors"}
        assert signature(name, vectors=dict(reversed(vectors.items()))) == one
        assert difference(one, signature(name)) == {"vectors"}


def copied_data(folder: Path, member: str | None = None, change: Callable[[str], str] = str) -> Path:
    """METEOR's data in a folder of its own, with one list of the jar or the paraphrases (``None``) changed."""
    source = meteor_data.find()
    folder.mkdir()
    shutil.copy(source.paraphrases, folder / "paraphrase-en.gz")
    with zipfile.ZipFile(source.jar) as jar, zipfile.ZipFile(folder / source.jar.name, "w") as out:
        for name in (
            "synonym/english.synsets",
            "synonym/english.exceptions",
            "function/english.words",
            "nonbreaking/english.prefixes",
        ):
            text = jar.read(name).decode()
            out.writestr(name, change(text) if name == member else text)
    return folder


def another_synonym(text: str) -> str:
    lines = text.split("\n")
    at = lines.index("surfboard", 0) + 1
    lines[at] = lines[at] + " " + lines[lines.index("wave") + 1].split()[0]
    return "\n".join(lines)


def test_meteor_tables(tmp_path: Path) -> None:
    names = ("METEOR", "SPICE", "SPIDEr", "Uniq")
    usual = {name: signature(name) for name in names}
    same = copied_data(tmp_path / "same")
    assert {name: signature(name, meteor_data=same) for name in names} == usual
    synonyms = copied_data(tmp_path / "synonyms", "synonym/english.synsets", another_synonym)
    for name in names:
        changed = {"data"} if name == "METEOR" else {"synonyms"}
        assert difference(usual[name], signature(name, meteor_data=synonyms)) == changed
    # Options that SPICE does not read do not change its signature.
    for i, member in enumerate(("function/english.words", "nonbreaking/english.prefixes")):
        other = copied_data(tmp_path / f"list{i}", member, lambda text: text + "zebra\n")
        assert difference(usual["METEOR"], signature("METEOR", meteor_data=other)) == {"data"}
        assert signature("SPICE", meteor_data=other) == usual["SPICE"]
    exceptions = copied_data(
        tmp_path / "forms", "synonym/english.exceptions", lambda text: text + "zebra\nzebrae\n"
    )
    assert difference(usual["METEOR"], signature("METEOR", meteor_data=exceptions)) == {"data"}
    assert difference(usual["SPICE"], signature("SPICE", meteor_data=exceptions)) == {"synonyms"}


def test_meteor_paraphrases(tmp_path: Path) -> None:
    """A small table of paraphrases: one line more is another signature, and another number."""
    rows = []
    dog = ["0.5", "a dog", "the hound"]
    for name, lines in (("a", dog), ("b", [*dog, "0.5", "is surfing", "rides"])):
        folder = copied_data(tmp_path / name)
        (folder / "paraphrase-en.gz").write_bytes(gzip.compress(("\n".join(lines) + "\n").encode()))
        rows.append(captious.score(corpus(), "METEOR", meteor_data=folder)["METEOR"])
    assert difference(rows[0].signature, rows[1].signature) == {"data"}
    assert rows[0].value != rows[1].value


def test_chair(tmp_path: Path) -> None:
    objects = {"1": ["dog"], "2": ["person", "surfboard"], "3": ["bus"]}
    (tmp_path / "o.json").write_text(json.dumps(objects))
    synonyms = {"dog": ["puppy"], "person": ["man"], "bus": [], "surfboard": []}
    for name in ("CHAIRs", "CHAIRi"):
        one = signature(name, objects=objects)
        assert signature(name, objects=tmp_path / "o.json") == one
        assert signature(name, objects=dict(reversed(objects.items()))) == one
        assert difference(one, signature(name, objects={**objects, "3": ["bus", "person"]})) == {"objects"}
        assert difference(one, signature(name)) == {"objects"}
        table = signature(name, chair_synonyms=synonyms)
        assert difference(signature(name), table) == {"synonyms"}
        assert difference(table, signature(name, chair_synonyms={**synonyms, "dog": ["pup"]})) == {"synonyms"}


def test_training_captions(tmp_path: Path) -> None:
    result = corpus(candidates=SETS, several=True)
    one = signature("Novel", result, train=["a dog", "a cat"])
    (tmp_path / "t.json").write_text(json.dumps({"x": ["a cat"], "y": ["a dog"]}))
    assert signature("Novel", result, train=tmp_path / "t.json") == one
    for other in (["a dog", "a cow"], ["a dog", "a cat", "a cow"], ["a dog\na cat"]):
        assert difference(one, signature("Novel", result, train=other)) == {"train"}


class Shortsighted:
    """A parser that does not see the last word of a caption."""

    label = "shortsighted"
    digest = "0000abcd"

    def parse_batch(self, captions: Sequence[Sequence[str]], *, jobs: int = 1) -> ParsedBatch:
        return SmallParser().parse_batch([words[:-1] for words in captions], jobs=jobs)


@pytest.mark.parametrize("name", ["SPICE", "SPICE-Object", "SPIDEr", "SPICE-U", "Uniq", "HWCM-1", "HWCM-2"])
def test_parsers(name: str) -> None:
    """Another parser has another signature, and none of its numbers come from the cache of the first."""
    result, again = (captious.load(demo_path("references"), demo_path("good")) for _ in range(2))
    options = {
        "concepts": ConceptTable(9, {("dog",): 3, ("man",): 8, ("table",): 5, ("grass",): 7, ("street",): 2})
    }
    options = of(name, options)
    usual = captious.score(result, name, **options)[name]
    other = captious.score(result, name, parser=Shortsighted(), **options)[name]
    alone = captious.score(again, name, parser=Shortsighted(), **options)[name]
    assert difference(usual.signature, other.signature) == {"parser"}
    assert other.signature.fields["parser"] == "shortsighted@0000abcd"
    assert other.statistics.tolist() == alone.statistics.tolist()
    assert other.statistics.tolist() != usual.statistics.tolist()
    assert captious.score(result, name, parser="small", **options)[name].signature == usual.signature


def test_settings() -> None:
    assert difference(signature("WEmbSim"), signature("WEmbSim", combine="max")) == {"combine"}
    assert signature("WEmbSim", combine="mean") == signature("WEmbSim")
    result = corpus(candidates=SETS, several=True)
    kernels = {signature("Self-CIDEr", result, kernel=kernel) for kernel in ("cider", "cider-d", "rouge-l")}
    assert len(kernels) == 3


# Comparing --------------------------------------------------------------------------------------------------


def test_compare_refuses_numbers_on_other_references_and_says_so() -> None:
    other = {**REFERENCES, "1": ["a cat sleeps", "a sleeping cat"]}
    digests = [References.read(r).captions.digest for r in (REFERENCES, other)]
    message = rf"ROUGE-L: .* cannot be compared, .*\(refs: 3x2@{digests[0]} / 3x2@{digests[1]}\)"
    with pytest.raises(captious.InputError, match=message):
        captious.compare(corpus(), corpus(other), "ROUGE-L")


def test_compare_refuses_other_tables_and_says_which() -> None:
    one, other = (captious.score(corpus(), "CIDEr-D", df=t) for t in (table(*TEXTS), table(*TEXTS[1:])))
    with pytest.raises(captious.InputError, match=r"\(df: table@[0-9a-f]{8} / table@[0-9a-f]{8}\)"):
        captious.compare(one, other)
    with pytest.raises(captious.InputError, match=r"\(df: references / table@[0-9a-f]{8}\)"):
        captious.compare(captious.score(corpus(), "CIDEr-D"), one)


def test_compare_names_everything_that_differs() -> None:
    one = captious.score(corpus(), "METEOR")
    other = captious.score(corpus({**REFERENCES, "1": ["a cat"]}, tokenizer="simple"), "METEOR")
    with pytest.raises(captious.InputError, match=r"\(refs: .* / .*; tok: ptb / simple\)"):
        captious.compare(one, other)


def test_equal_content_compares_however_it_was_read(tmp_path: Path) -> None:
    one = captious.load(demo_path("references"), demo_path("good"))
    again = json.loads(Path(demo_path("references")).read_text())
    again["annotations"] = again["annotations"][::-1]
    (tmp_path / "r.json").write_text(json.dumps(again))
    two = captious.load(References.read(tmp_path / "r.json"), demo_path("poor"))
    assert (
        captious.score(one, "lexical")["CIDEr-D"].signature
        == captious.score(two, "lexical")["CIDEr-D"].signature
    )


def test_the_digest_of_references_is_computed_for_signatures_only() -> None:
    corpus = captious.load({"1": ["a dog", "dogs"], "2": ["a cat", "cats"]}, {"1": "a dog", "2": "a cat"})
    score = captious.score(corpus, metrics=["BLEU-1"])["BLEU-1"]
    assert score.origin["refs"] == "2x2" and score.origin["tok"] == "ptb"
    assert "digest" not in corpus.references.__dict__
    assert score.signature.fields["refs"] == f"2x2@{corpus.references.digest}"
    assert score.origin == score.signature.fields
