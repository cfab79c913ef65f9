"""Content of single figures: axes, legends, intervals, and when a figure is left out."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import captious
from captious.data import demo_path
from captious.figures import corpus_plots, style
from captious.figures import diversity_plots as plots
from captious.figures import diversity_relations as relations
from captious.figures.diversity_figures import draw


@pytest.fixture(autouse=True)
def close() -> Iterator[None]:
    yield
    style.pyplot().close("all")


@pytest.fixture(scope="module")
def corpus() -> captious.diversity_analysis.corpus.CorpusDiversity:  # type: ignore[name-defined]
    return captious.corpus_diversity(demo_path("references"), [demo_path("good"), demo_path("generic")])


def test_one_naming_scheme() -> None:
    assert style.file_name("corpus", "pp_depths") == "corpus_pp_depths"
    assert style.file_name("agreement", "Flickr8k-Expert", "by words in the caption") == (
        "agreement_flickr8k_expert_by_words_in_the_caption"
    )
    assert style.file_name("diversity", "latent Self-CIDEr") == "diversity_latent_self_cider"
    assert style.file_name("agreement", "../../é") == "agreement_set"


def test_tenths_of_the_vocabulary_do_not_read_as_cumulative(corpus: Any) -> None:
    [axes] = corpus_plots.coverage_by_decile(corpus).axes
    labels = [text.get_text() for text in axes.get_xticklabels()]
    assert labels[:2] == ["0–10", "10–20"] and labels[-1] == "90–100"
    assert "top" not in axes.get_xlabel() and "this tenth" in axes.get_ylabel()


def test_word_frequencies_are_shares_by_rank(corpus: Any) -> None:
    [axes] = corpus_plots.word_frequencies(corpus).axes
    lines = {line.get_label(): np.asarray(line.get_ydata(), float) for line in axes.lines}
    assert len(lines) == 3  # two systems and people
    for shares in lines.values():
        assert shares.sum() == pytest.approx(1) and (np.diff(shares) <= 0).all()
    good, generic = (len(shares) for shares in list(lines.values())[:2])
    assert good > generic  # different words


def test_correlations_need_eight_systems(corpus: Any) -> None:
    names = ["good", "generic", "poor", "good"]
    few = captious.corpus_diversity(
        demo_path("references"), [demo_path(name) for name in names[:3]], parse=False
    )
    assert few.correlations is not None and "correlations" not in corpus_plots.figures(few)
    many = captious.corpus_diversity(
        demo_path("references"),
        [demo_path(name) for name in names * 2],
        names=[f"s{k}" for k in range(8)],
        parse=False,
    )
    assert "correlations" in corpus_plots.figures(many)
    cells = [text.get_text() for text in corpus_plots.correlations(many).axes[0].texts]
    assert "1.00" in cells and "nan" not in cells


def test_depths_are_dots_and_none_is_hollow(corpus: Any) -> None:
    for figure in (corpus_plots.pp_depths(corpus), corpus_plots.compound_lengths(corpus)):
        [axes] = figure.axes
        assert not axes.patches and axes.get_yscale() == "log"
        dots = [line for line in axes.get_lines() if line.get_marker() not in ("None", "")]
        assert all(line.get_linestyle() == "None" for line in dots)
        hollow = [line for line in dots if line.get_markerfacecolor() == "white"]
        assert hollow and all(np.ptp(line.get_ydata()) == 0 for line in hollow if len(line.get_ydata()))
        assert axes.get_yticklabels()[0].get_text() == "none"
        lowest = min(np.min(line.get_ydata()) for line in dots if line not in hollow)
        assert all(y < lowest for line in hollow for y in line.get_ydata())
        assert {text.get_text() for text in axes.get_legend().get_texts()} == {"good", "generic", "humans"}


def test_the_best_m_have_intervals_and_people() -> None:
    curves = [
        plots.PlotCurve("a", [2, 5], [0.5, 0.6], intervals=[(0.45, 0.55), (0.5, 0.7)]),
        plots.PlotCurve("human (any m)", [2, 3], [0.8, 0.7], human=True, intervals=[(0.7, 0.9), (0.6, 0.8)]),
    ]
    [axes] = plots.effect_of_m(curves).axes
    ends = [segment for part in axes.collections for segment in part.get_segments()]
    assert sorted(float(y) for segment in ends for y in segment[:, 1]) == pytest.approx(
        [0.45, 0.5, 0.55, 0.6, 0.7, 0.7, 0.8, 0.9]
    )
    low, high = axes.get_ylim()
    assert 0 < low < 0.45 and high > 0.9
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["a", "human (any m)"]


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of all figures of sets of captions, with people's scores of some."""
    folder = tmp_path_factory.mktemp("figures")
    sampled = captious.load(demo_path("references"), demo_path("sampling"))
    measured, people = captious.diversity(sampled), captious.diversity_analysis.sets.human(sampled)
    scores = {
        d.system: {image: 0.1 * k for k, image in enumerate(sampled.ids[:5])} for d in (measured, people)
    }
    written = draw([measured], people, folder, human_scores=scores)
    assert {path.name for path in written} == {path.name for path in folder.iterdir()}
    return folder


def test_people_are_in_the_figure_of_the_best_m(drawn: Path) -> None:
    assert "human (any m)" in (drawn / "diversity_best_m.svg").read_text(encoding="utf-8")
    # The map lists captions, including people's.
    shown = (drawn / "diversity_map.svg").read_text(encoding="utf-8")
    assert "similar captions are close together" in shown and "firefighters putting out a car fire" in shown


def test_the_map_numbers_its_captions() -> None:
    groups = [
        plots.MapGroup("7", "a", np.zeros((2, 2)), texts=["a dog", "a $cat$ \x1b[2J"]),
        plots.MapGroup("7", "h", np.ones((1, 2)), human=True, texts=["two dogs"]),
        plots.MapGroup("8", "a", np.ones((30, 2)), texts=["x"] * 30),
    ]
    axes, key = plots.mds_map(groups).axes
    assert [text.get_text() for text in axes.texts[:3]] == ["1", "2", "3"]
    lines = [text.get_text() for text in key.texts]
    assert {"image 7", "image 8", "1 a dog", "3 two dogs"} <= set(lines)
    assert r"2 a \$cat\$ [2J" in lines
    assert len(lines) == 2 + 3 + plots.LISTED and len(axes.texts) == 3 + plots.LISTED
    assert [text.get_color() for text in key.texts if text.get_text() == "3 two dogs"] == [style.HUMAN]


def test_the_key_of_the_latent_space() -> None:
    names = ["car, fire", "truck, full", "a, b, c"]
    figure = plots.radar(np.eye(3), ["x", "y", "z"], axes_names=names)
    key = figure.get_supxlabel()
    assert all(f"axis {k}: {name}" in key for k, name in enumerate(names, 1))
    assert "…" not in key and "Dashed ring: 0" in key
    assert "Axes 1 to 3: directions" in plots.radar(np.eye(3), ["x", "y", "z"]).get_supxlabel()


def test_measures_are_drawn_beside_each_other_and_beside_people(drawn: Path) -> None:
    names = ("plane_lsa", "best_m_lsa", "f_measure", "vocabulary", "measures", "ranking", "human_scores")
    assert {f"diversity_{name}" for name in names} <= {path.stem for path in drawn.iterdir()}


def test_ranks_and_bars_put_the_highest_first() -> None:
    looks = style.looks_of(["a", "b"])
    values = {"a": 0.2, "b": 0.5, "human": 0.9}
    [axes] = relations.bars(values, "human", "title", "F", looks=looks).axes
    assert [label.get_text() for label in axes.get_yticklabels()] == ["human", "b", "a"]
    [axes] = relations.ranking(
        {"x": values, "y": {"a": 1.0, "b": 0.5, "human": 0.7}}, "human", looks=looks
    ).axes
    ranks = {line.get_label(): list(line.get_ydata()) for line in axes.get_lines()}
    assert ranks == {"a": [3, 1], "b": [2, 3], "human": [1, 2]}
    rows = [("a", np.array([0.0, 1.0]), np.array([1.0, 3.0])), ("human", np.array([2.0]), np.array([5.0]))]
    [axes] = relations.human_scores({"LSA": rows}, "human", looks=looks).axes
    assert list(axes.get_lines()[-1].get_ydata()) == pytest.approx([1.0, 5.0])
