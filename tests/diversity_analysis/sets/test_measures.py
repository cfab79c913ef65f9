"""Every measure against its definition, written directly, and in corner cases."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
import pytest

import captious
from benchmarks import plain_diversity as plain
from captious.core.errors import InputError
from captious.corpus import Corpus
from captious.diversity_analysis.sets import CiderDKernel, CiderKernel, SetDiversity
from captious.io import CaptionWarning
from captious.io.frequency_files import save_frequencies
from captious.metrics.captions.rouge import RougeL
from captious.metrics.sets.mbleu import MBleu
from captious.metrics.sets.selection import with_selected
from tests.forms import FORMS, form_of

Make = Callable[..., Corpus]


def split(corpus: Corpus, side: str, i: int) -> list[list[str]]:
    captions = getattr(corpus, side)
    return [captions.words(k) for k in range(captions.image_offsets[i], captions.image_offsets[i + 1])]


def of(sets: dict[str, list[str]], **options: object) -> SetDiversity:
    """Measures of sets by themselves, without the warning that there are no references."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CaptionWarning)
        return captious.diversity(sets, tokenizer="none", **options)


def test_all_measures_equal_the_direct_implementation(make: Make) -> None:
    corpus = make(40, (10, 2, 5, 7))
    found = captious.diversity(corpus)
    df = plain.document_frequencies([split(corpus, "references", i) for i in range(len(corpus))])
    for i, image in enumerate(corpus.ids):
        expected = plain.measure(
            split(corpus, "candidates", i), split(corpus, "references", i), df, len(corpus)
        )
        for name, value in expected.items():
            assert found[name].per_image[image] == pytest.approx(value, abs=1e-9), (image, name)
    for name in ("LSA", "Self-CIDEr", "mBLEU-4", "Div-2", "Unique"):
        assert found[name].value == pytest.approx(np.mean(list(found[name].per_image.values())))


def test_cider_d_kernel_equals_the_direct_implementation(make: Make) -> None:
    corpus = make(20, (6, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CaptionWarning)
        found = captious.diversity(corpus, kernel="cider-d", accuracy=())
    df = plain.document_frequencies([split(corpus, "references", i) for i in range(len(corpus))])
    for i, image in enumerate(corpus.ids):
        expected = plain.self_cider(split(corpus, "candidates", i), df, len(corpus), clip=True)
        assert found["Self-CIDEr"].per_image[image] == pytest.approx(expected, abs=1e-9)
    assert "kernel:CIDEr-D" in found["Self-CIDEr"].signature


@pytest.mark.parametrize("kind", [CiderKernel, CiderDKernel])
def test_batched_matrices_equal_pairwise_similarities(make: Make, kind: type[CiderKernel]) -> None:
    corpus = make(15, (6,))
    kernel = kind()
    images = np.arange(len(corpus))
    state = kernel.prepare(corpus.references)
    quick = kernel.matrices(corpus.candidates, images, 6, state)
    slow = super(CiderKernel, kernel).matrices(corpus.candidates, images, 6, state)
    np.testing.assert_allclose(quick, slow, atol=1e-12)


def test_the_size_of_a_large_set_does_not_matter_for_the_batches(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus = make(30, (4, 9))
    whole = captious.diversity(corpus)["Self-CIDEr"].per_image
    monkeypatch.setattr("captious.metrics.sets.lsa._CELLS", 100)
    again = captious.diversity(make(30, (4, 9)))["Self-CIDEr"].per_image
    assert whole == pytest.approx(again)


def test_both_forms_of_the_kernels_agree(make: Make) -> None:
    from captious.metrics.sets import chained_products as products
    from captious.metrics.sets import distinct, mbleu

    corpus = make(12, (5, 3))
    captions = corpus.candidates
    table = captions.ngrams(2)
    starts = captions.image_offsets[:-1][captions.per_image == 5]
    weight = table.count.astype(np.float64)
    size = int(table.number.max()) + 1

    def run(form: str) -> list[np.ndarray]:
        head = np.full(size, -1, dtype=np.int64)
        before, owner = np.zeros(len(weight), dtype=np.int64), np.zeros(len(weight), dtype=np.int64)
        out, most = np.zeros((len(starts), 5, 5)), np.zeros(len(weight), dtype=np.int32)
        form_of(products._chained_products, form)(
            table.number, weight, table.offsets, starts, 5, True, head, before, owner, out
        )
        assert (head == -1).all()
        form_of(products._most_elsewhere, form)(
            table.number, table.count, table.offsets, captions.image_offsets, head, before, most
        )
        closest = np.zeros(len(captions), dtype=np.int64)
        form_of(mbleu.closest_other_lengths, form)(captions.lengths, captions.image_offsets, closest)
        grams = np.zeros(len(corpus), dtype=np.int64)
        form_of(distinct._count_distinct, form)(
            table.number, table.offsets, captions.image_offsets, head, grams
        )
        return [out, most, closest, grams]

    for a, b in zip(*map(run, FORMS)):
        np.testing.assert_array_equal(a, b)


# Corners


def test_a_single_caption_has_no_diversity() -> None:
    found = of({"a": ["a dog runs"], "b": ["a cat sleeps"]})
    for name in ("LSA", "Self-CIDEr", "1-mBLEU-1", "1-mBLEU-4", "1-mBLEU-mix"):
        assert found[name].value == 0.0, name
    assert found["mBLEU-2"].value == 1.0
    assert found["Div-1"].value == 1.0
    assert found["Unique"].value == 1.0


def test_equal_captions_have_no_diversity() -> None:
    found = of({"a": ["a dog runs in the park"] * 5, "b": ["a cat sleeps on the bed"] * 3})
    for name in ("LSA", "Self-CIDEr", "1-mBLEU-4"):
        assert found[name].value == pytest.approx(0.0, abs=1e-7), name
    assert found["Unique"].per_image == pytest.approx({"a": 1 / 5, "b": 1 / 3})
    assert found["Div-1"].per_image["a"] == pytest.approx(6 / 30)


def test_captions_without_a_common_word_have_full_diversity() -> None:
    found = of({"a": ["a b c d", "e f g h", "i j k l"], "b": ["m n o p", "q r s t", "u v w x"]})
    assert found["Self-CIDEr"].value == pytest.approx(1.0)
    assert found["LSA"].value == pytest.approx(1.0)
    assert found["1-mBLEU-1"].value == pytest.approx(1.0)


def test_empty_captions() -> None:
    found = of(
        {
            "all": ["", "", ""],
            "some": ["a dog runs home", "", ""],
            "one": ["a red cat sits", "the dog ran home", ""],
        }
    )
    for name in ("LSA", "Self-CIDEr"):
        assert found[name].per_image["all"] == 0.0
        # An empty caption adds no direction to the space.
        assert found[name].per_image["some"] == pytest.approx(0.0, abs=1e-7)
        # Two directions of equal strength among three captions.
        assert found[name].per_image["one"] == pytest.approx(np.log(2) / np.log(3))
    assert found["mBLEU-1"].per_image["all"] == 1.0
    # The two empty captions repeat each other. The third has no match on either side.
    assert found["mBLEU-1"].per_image["some"] == pytest.approx(2 / 3, abs=1e-6)
    assert found["Div-1"].per_image["all"] == 0.0
    assert found["Vocabulary"].per_image["all"] == 0.0
    assert found["Unique"].per_image == pytest.approx({"all": 1 / 3, "some": 2 / 3, "one": 1.0})


def test_hostile_captions() -> None:
    found = of({"a": ["😀 ||| <b>x</b>\n$1", "word " * 10_000, "\u200b"], "b": ["x", "y\ty", "z"]})
    for name, score in found.items():
        assert np.isfinite(score.value), name


def test_zebras() -> None:
    """mBLEU-1 and -2 cannot tell sub-phrases from repetition; Self-CIDEr can (the paper's example)."""
    phrases = ["zebras grazing grass", "grazing grass", "zebras grazing"]
    same = ["zebras grazing grass"] * 3
    filler = {f"f{i}": ["a dog", "a cat"] for i in range(5)}
    found = of({"phrases": phrases, "same": same, **filler})
    for n in (1, 2):
        scores = found[f"mBLEU-{n}"].per_image
        assert scores["phrases"] == pytest.approx(scores["same"], abs=1e-6)
        assert scores["same"] == pytest.approx(1.0, abs=1e-6)
    diversity = found["Self-CIDEr"].per_image
    assert diversity["same"] == pytest.approx(0.0, abs=1e-7)
    assert diversity["phrases"] > 0.4


def test_order_of_captions_and_of_images_does_not_matter(make: Make) -> None:
    corpus = make(10, (4, 6))
    sets = {
        image: corpus.candidates.texts[
            corpus.candidates.image_offsets[i] : corpus.candidates.image_offsets[i + 1]
        ]
        for i, image in enumerate(corpus.ids)
    }
    turned = {image: captions[::-1] for image, captions in reversed(sets.items())}
    first, second = of(sets), of(turned)
    for name in first:
        assert first[name].per_image == pytest.approx(second[name].per_image, abs=1e-9), name


# Document frequencies and kernels


def test_without_references_the_captions_are_counted_and_that_is_said() -> None:
    with pytest.warns(CaptionWarning, match="by the captions themselves"):
        found = captious.diversity({"a": ["a dog", "a cat"], "b": ["a man", "a car"]}, tokenizer="none")
    assert found["Self-CIDEr"].signature.fields["df"] == f"candidates@{found.corpus.candidates.digest}"
    assert "refs" not in found["Self-CIDEr"].signature.fields
    assert "mean CIDEr-D" not in found


def test_one_image_without_frequencies_has_no_self_cider_but_the_rest() -> None:
    with pytest.warns(CaptionWarning, match="skipping Self-CIDEr"):
        found = captious.diversity({"a": ["a dog", "a cat"]}, tokenizer="none")
    assert found["LSA"].value > 0
    with pytest.raises(InputError, match="document frequencies from a larger corpus"):
        found["Self-CIDEr"]
    table = captious.FrequencyTable.from_counts([(["a"], 90), (["dog"], 3)], 100, "none")
    one = captious.diversity({"a": ["a dog", "a cat"]}, df=table, tokenizer="none")
    assert 0 < one["Self-CIDEr"].value <= 1


def test_frequencies_from_a_file(make: Make, tmp_path: object) -> None:
    corpus = make(10)
    path = f"{tmp_path}/df.npz"
    built = captious.FrequencyTable.build(corpus.references)
    save_frequencies(built, path)
    own, table = captious.diversity(corpus), captious.diversity(corpus, df=path)
    assert own["Self-CIDEr"].per_image == pytest.approx(table["Self-CIDEr"].per_image)
    assert own["Self-CIDEr"].signature.fields["df"] == "references"
    assert own["Self-CIDEr"].signature.fields["refs"] == f"10x5@{corpus.references.digest}"
    assert table["Self-CIDEr"].signature.fields["df"] == f"table@{built.digest}"
    assert "refs" not in table["Self-CIDEr"].signature.fields


def test_any_metric_can_be_the_kernel(make: Make) -> None:
    corpus = make(8, (4,))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CaptionWarning)
        by_name = captious.diversity(corpus, kernel="rouge-l", accuracy=())["Self-CIDEr"]
        by_object = captious.diversity(corpus, kernel=RougeL(), accuracy=())["Self-CIDEr"]
    assert by_name.per_image == by_object.per_image
    assert "kernel:ROUGE-L" in by_name.signature
    # The general function with CIDEr's kernel equals CIDEr's own.
    general = captious.diversity(corpus, kernel=captious.metrics.captions.cider.Cider(), accuracy=())[
        "Self-CIDEr"
    ]
    assert general.per_image == pytest.approx(captious.diversity(corpus)["Self-CIDEr"].per_image)


def test_a_function_can_be_the_kernel_and_is_checked() -> None:
    sets = {"a": ["x y", "y z", "z x"], "b": ["x", "y", "z"]}

    def overlap(first: list[str], second: list[str]) -> list[float]:
        return [float(len({*a.split()} & {*b.split()})) for a, b in zip(first, second)]

    found = captious.diversity(sets, kernel=overlap, tokenizer="none")
    # With 0/1 vectors of words, the kernel is LSA's.
    assert found["Self-CIDEr"].per_image == pytest.approx(found["LSA"].per_image)
    with pytest.raises(InputError, match="returned an array of shape"):
        captious.diversity(sets, kernel=lambda a, b: [1.0], tokenizer="none")
    with pytest.raises(InputError, match="not finite"):
        captious.diversity(sets, kernel=lambda a, b: [float("nan")] * len(a), tokenizer="none")


def test_a_kernel_that_is_not_positive_definite_is_reported() -> None:
    sets = {"a": ["x", "y", "z"], "b": ["x", "y", "q"]}

    def hostile(first: list[str], second: list[str]) -> list[float]:
        return [0.0 if a == b else 1.0 for a, b in zip(first, second)]

    with pytest.warns(CaptionWarning, match="not positive definite on 2 of 2 images"):
        found = captious.diversity(sets, kernel=hostile, tokenizer="none")
    # The eigenvalues are 2, −1, −1; the negative ones count as 0.
    assert found["Self-CIDEr"].value == 0.0


def test_unknown_kernel() -> None:
    with pytest.raises(InputError, match="unknown kernel 'cidr'; did you mean"):
        captious.diversity({"a": ["x", "y"], "b": ["z", "x"]}, kernel="cidr", tokenizer="none")


# Novelty, names, intervals


def test_novel_captions(make: Make) -> None:
    sets = {"a": ["a dog runs", "a cat sits"], "b": ["a dog runs", "a dog runs"]}
    found = of(sets, train=["a  dog runs", "something else"])
    assert found["Novel"].per_image == {"a": 0.5, "b": 0.0}
    assert found["Novel"].signature.fields["train"].startswith("training@")
    # Neither order nor repeats matter; another caption does, where a count of them would be the same.
    same, other = (
        of(sets, train=t)["Novel"]
        for t in (["something else", "a  dog runs", "a  dog runs"], ["a  dog runs", "else"])
    )
    assert same.signature == found["Novel"].signature != other.signature
    assert "Novel" not in of(sets)
    assert of(sets, train={"t": ["a cat sits"]})["Novel"].value == pytest.approx(0.75)
    with pytest.raises(InputError, match="no training captions"):
        of(sets, train=[])


def test_names_are_found_in_many_spellings(make: Make) -> None:
    found = captious.diversity(make(5))
    assert found["self-cider"] is found["Self-CIDEr"] is found["SelfCIDEr"]
    assert found["1 − mBLEU-4"] is found["1-mBLEU-4"]
    assert found["F"] is found["F-measure"]
    assert "lsa" in found and "nothing" not in found
    with pytest.raises(KeyError, match="no measure 'Self-SPICE'"):
        found["Self-SPICE"]


def test_intervals_json_and_signature_come_with_every_measure(make: Make) -> None:
    found = captious.diversity(make(12, (3, 5)))
    for name, score in found.items():
        low, high = score.interval(resamples=50)
        assert low <= score.value <= high, name
        assert score.signature.name == name
        assert score.signature.fields["m"] == "3-5", name
    data = found.to_json(per_image=True)
    assert data["captions"] == 48 and data["images"] == 12
    assert set(data["scores"]) == set(found)
    assert len(data["scores"]["LSA"]["per_image"]) == 12
    assert data["total_vocabulary"] == len(set(found.corpus.candidates.tokens.tolist()))


def test_mbleu_mix_is_the_mean(make: Make) -> None:
    found = captious.diversity(make(6))
    assert found["mBLEU-mix"].value == pytest.approx(
        np.mean([found[f"mBLEU-{n}"].value for n in range(1, 5)])
    )
    assert not MBleu(2).higher_is_better and found["1-mBLEU-2"].metric.higher_is_better


def test_a_set_of_no_captions_has_no_value() -> None:
    with pytest.raises(InputError, match="image b has no candidate caption"):
        Corpus.build(["a", "b", "c"], [["x y", "y z"], [], ["x"]], [["x"], ["y"], ["z"]], tokenizer="none")
    whole = Corpus.build(
        ["a", "b", "c"], [["x y", "y z"], ["q"], ["x"]], [["x"], ["y"], ["z"]], tokenizer="none"
    )
    corpus = with_selected(whole, np.array([0, 1, 3]), np.array([2, 0, 1]))
    found = captious.diversity(corpus, accuracy=())
    for name, score in found.items():
        assert np.isnan(score.per_image["b"]), name
        assert np.isfinite(score.value), name


def test_a_corpus_takes_no_other_references(make: Make) -> None:
    with pytest.raises(InputError, match="its own references"):
        captious.diversity(make(3), references={"a": ["x"]})
    with pytest.raises(InputError, match="accuracy needs reference captions"):
        of({"a": ["x", "y"], "b": ["z", "x"]}, accuracy="CIDEr-D")
