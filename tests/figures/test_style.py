"""Figures: looks, saving, hostile text, a missing package."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from captious.core.errors import InputError, MissingExtraError
from captious.figures import diversity_plots as plots
from captious.figures import style


def test_looks_differ() -> None:
    result = style.looks(14)
    assert len({(look.colour, look.marker) for look in result}) == 14
    assert style.HUMAN not in {look.colour for look in result}


def test_saved_in_every_format_and_the_same_each_time(tmp_path: Path) -> None:
    def draw(folder: str) -> dict[str, bytes]:
        figure = plots.plane(
            [
                plots.PlanePoint("a", 0.5, 0.6, (0.4, 0.6), (0.5, 0.7)),
                plots.PlanePoint("h", 0.7, 0.8, human=True),
            ]
        )
        return {path.name: path.read_bytes() for path in style.save(figure, tmp_path / folder, "plane")}

    first, second = draw("one"), draw("two")
    assert set(first) == {"plane.png", "plane.pdf", "plane.svg"}
    assert first == second
    assert not [path for path in (tmp_path / "one").iterdir() if path.suffix == ".tmp"]


def test_settings_do_not_leak() -> None:
    plt = style.pyplot()
    before = dict(plt.rcParams)
    style.pyplot().close(
        plots.word_frequencies([plots.frequency_curve("a", np.array([1, 1, 2], dtype=np.int32))])
    )
    assert dict(plt.rcParams) == before


def test_hostile_names_and_captions(tmp_path: Path) -> None:
    # A formula that cannot be set: matplotlib would give up.
    name = "$x^{ $ <b>&amp; \n😀 |||"
    captions = ["costs $5 or $6", "a_b^c \\frac", "word " * 10_000, "", name]
    coordinates = np.random.default_rng(0).normal(size=(5, 5))
    figures = {
        "plane": plots.plane([plots.PlanePoint(name, 0.0, 0.0)]),
        "radar": plots.radar(coordinates, captions, axes_names=[name] * 5, title=style.shorten(name)),
        "map": plots.mds_map([plots.MapGroup(name, name, coordinates[:, :2])]),
        "m": plots.effect_of_m([plots.PlotCurve(name, [2, 5], [0.1, 0.2])]),
    }
    for key, figure in figures.items():
        assert style.save(figure, tmp_path, key, formats=["svg"])[0].stat().st_size > 1000


def test_radar_of_few_axes_and_many_captions() -> None:
    for axes, captions in ((1, 1), (2, 3), (5, 25), (0, 2)):
        figure = plots.radar(np.ones((captions, axes)), ["a caption"] * captions)
        assert sum(a.get_visible() for a in figure.axes) == min(captions, 20)
        style.pyplot().close(figure)


def test_frequency_curve() -> None:
    curve = plots.frequency_curve("a", np.array([3, 1, 3, 3, 2, 1], dtype=np.int32), human=True)
    assert curve.x == [1, 2, 3]
    assert curve.y == pytest.approx([0.5, 1 / 3, 1 / 6])


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("")
    with pytest.raises(InputError, match="is a file"):
        style.save(plots.plane([plots.PlanePoint("a", 1, 1)]), tmp_path / "x", "plane")


def test_missing_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'captious\[plots\]'"):
        plots.plane([plots.PlanePoint("a", 1, 1)])


def test_a_system_has_one_look_in_all_figures_of_a_run() -> None:
    """Also in a figure that lacks some of the systems."""
    looks = style.looks_of(["a", "b", "c"])
    assert looks["c"].colour == style.COLOURS[2]
    figure = plots.word_frequencies(
        [plots.frequency_curve("c", np.array([1, 1, 2], dtype=np.int32))], looks=looks
    )
    [line] = figure.axes[0].get_lines()
    assert line.get_color() == looks["c"].colour and line.get_linestyle() == looks["c"].line
    plane = plots.plane(
        [plots.PlanePoint("c", 0.5, 0.6), plots.PlanePoint("h", 0.7, 0.8, human=True)], looks=looks
    )
    assert {line.get_color() for line in plane.axes[0].get_lines()} == {looks["c"].colour, style.HUMAN}
    grid = [plots.MapGroup("1", "c", np.zeros((2, 2))), plots.MapGroup("2", "h", np.ones((2, 2)), human=True)]
    drawn = plots.mds_map(grid, looks=looks).axes[0].collections
    from matplotlib.colors import to_hex

    assert [to_hex(part.get_facecolor()[0]).upper() for part in drawn] == [looks["c"].colour, style.HUMAN]
    style.pyplot().close("all")


def test_legends_hide_nothing() -> None:
    for figure in (
        plots.plane(
            [
                plots.PlanePoint("a", 0.5, 0.6, (0.4, 0.6), (0.5, 0.7)),
                plots.PlanePoint("h", 0.7, 0.8, human=True),
            ]
        ),
        plots.effect_of_m([plots.PlotCurve("a", [1, 2], [0.1, 0.2])]),
        plots.word_frequencies([plots.frequency_curve("a", np.array([1, 1, 2], dtype=np.int32))]),
    ):
        figure.canvas.draw()
        [axes] = figure.axes
        assert axes.get_legend().get_window_extent().x0 >= axes.get_window_extent().x1
    style.pyplot().close("all")


def test_names_of_curves_keep_away_from_points() -> None:
    points = [
        plots.PlanePoint("a", 0.6, 0.9, (0.5, 0.7), (0.85, 0.95)),
        plots.PlanePoint("h", 0.3, 0.95, human=True),
    ]
    figure = plots.plane(points)
    [axes] = figure.axes
    named = [text for text in axes.texts if text.get_text().startswith("F = ")]
    assert named
    (_, right), (_, top) = axes.get_xlim(), axes.get_ylim()
    for text in named:
        x, y = text.get_position()
        assert all(abs(x - p.accuracy) / right + abs(y - p.diversity) / top > 0.15 for p in points)
    style.pyplot().close("all")


@pytest.mark.parametrize(
    ("values", "start"),
    [([50.0, 3.0, 0.0], 1.0), ([10.0, 100.0], 1.0), ([0.02], 0.01), ([0.0], 0.1), ([], 0.1)],
)
def test_bars_start_where_the_axis_starts(values: list[float], start: float) -> None:
    from captious.figures.corpus_plots import _below

    assert _below(values) == pytest.approx(start)
