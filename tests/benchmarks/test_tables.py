"""Tables and targets of the benchmarks, from invented numbers with known ratios."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks import cores, fresh, growth, long
from benchmarks.spice import extrapolate
from benchmarks.steps import Target, at_least, with_targets
from benchmarks.timing import Seconds


def row(
    peers: list[float], cold: float, prepared: float, warm: float = 0.5, load: float = 0.1
) -> dict[str, Any]:
    return {
        "images": 12_454,
        "peers": peers,
        "cold": cold,
        "prepared": prepared,
        "warm": warm,
        "json.load": load,
        "megabytes": 186.4,
    }


def results() -> dict[str, Any]:
    return {
        fresh.LEXICAL: row([20.0, 18.0], 1.2, 0.5), fresh.METEOR: row([40.0, 32.0], 1.6, 1.0), fresh.ALL: row([], 8.0, 2.0),
        fresh.SPICE: row([2000.0, 2400.0], 8.0, 2.5, load=0.12), fresh.FIFTY: {"prepared": 0.69, "prepared megabytes": 160.0},
    }  # fmt: skip


def met(targets: list[Target]) -> dict[str, bool]:
    by_text = {f"{target.subject}: {target.target}": target.is_met for target in targets}
    assert len(by_text) == len(targets)
    return by_text


def test_the_main_table() -> None:
    lines = fresh.table(results()).split("\n")
    assert lines[0] == (
        "12,454 images. A process that only reads both files with `json.load`: 0.100 s. "
        "Each peer ran before and after ours. The slower run took up to 1.25 times as long."
    )
    assert lines[4:] == [
        "| BLEU, ROUGE-L, CIDEr-D | 18.0 s | 1.20 s (15.0×) | 0.50 s (36.0×) | 0.50 s (36.0×) | 186 MB | 5 |",
        "| and METEOR | 32.0 s | 1.60 s (20.0×) | 1.00 s (32.0×) | 0.50 s (64.0×) | 186 MB | 10 |",
        "| SPICE | 2,000.0 s | 8.00 s (250×) | 2.50 s (800×) | 0.50 s (4,000×) | 186 MB | 21 |",
        "| all eight | 2,032.0 s | 8.00 s (254×) | 2.00 s (1,016×) | 0.50 s (4,064×) | 186 MB | 20 |",
        "| 50 images, all eight | | | 0.69 s | | 160 MB (prepared) | |",
    ]
    assert all(line.count("|") == lines[2].count("|") for line in lines[2:])


def test_the_main_targets() -> None:
    assert met(fresh.targets(results())) == {
        "BLEU, ROUGE-L, CIDEr-D, cold: at least 15 ×": True, "BLEU, ROUGE-L, CIDEr-D, prepared: at least 40 ×": False,
        "and METEOR, cold: at least 20 ×": True, "and METEOR, prepared: at least 60 ×": False,
        "SPICE, cold: at least 250 × (aim 400 ×)": True, "SPICE, prepared: at least 1000 ×": False, "all eight, cold: at least 200 ×": True,
        "all eight, prepared: at most 20 `json.load`s (aim 10)": True, "50 images, all eight: under 0.7 s": True,
    }  # fmt: skip
    slower = {
        **results(),
        fresh.ALL: row([], 11.0, 2.1),
        fresh.FIFTY: {"prepared": 0.7, "prepared megabytes": 1.0},
    }
    assert [target.is_met for target in fresh.targets(slower)][-3:] == [False, False, False]


def test_without_java_and_in_the_middle_of_a_run() -> None:
    no_java = {**results(), fresh.SPICE: row([], 8.0, 2.5)}
    assert fresh.peer_of(no_java, fresh.ALL) is None and fresh.peer_of(no_java, fresh.SPICE) is None
    assert "| SPICE | – | 8.00 s | 2.50 s | 0.50 s |" in fresh.table(no_java)
    assert not any(
        "SPICE" in target.subject or target.subject == "all eight, cold" for target in fresh.targets(no_java)
    )
    begun = {fresh.LEXICAL: results()[fresh.LEXICAL]}
    assert fresh.table(begun).count("\n") == 4 and len(fresh.targets(begun)) == 2
    assert fresh.targets({}) == []


def test_a_sample_is_extrapolated_to_all_images() -> None:
    # 7 s to start and 0.5 s per image, with two processors.
    total = extrapolate(range(160), 12_000, lambda rows: Seconds(7 + len(rows) / 2, 14 + len(rows)))
    assert total == pytest.approx((7 + 6_000, 14 + 12_000))


def test_two_threads_beside_one() -> None:
    numbers = {
        "METEOR, own work": {"references": [1.0, 0.5], "candidates": [3.0, 2.0], "both": [4.0, 2.5]},
        "SPICE, command": {"cold": [8.5, 5.0], "prepared": [2.0, 1.9]},
    }
    lines = cores.table(numbers).split("\n")
    assert lines[2:] == [
        "| METEOR, own work: references | 1.00 s | 0.50 s | 2.00× |", "| METEOR, own work: candidates | 3.00 s | 2.00 s | 1.50× |", "| METEOR, own work: both | 4.00 s | 2.50 s | 1.60× |",
        "| SPICE, command: cold | 8.50 s | 5.00 s | 1.70× |", "| SPICE, command: prepared | 2.00 s | 1.90 s | 1.05× |",
    ]  # fmt: skip
    assert met(cores.targets(numbers)) == {
        "two threads, METEOR, own work: both: at least 1.7 ×": False,
        "two threads, SPICE, command: cold: at least 1.7 ×": True,
    }


def grown(name: str, *rows: tuple[int, float, float]) -> dict[str, dict[str, float]]:
    return {
        f"{name}; {images}": {
            "images": images,
            "seconds": seconds,
            "processor": seconds,
            "megabytes": megabytes,
        }
        for images, seconds, megabytes in rows
    }


def test_growth_is_shown_beyond_the_fewest_images() -> None:
    # The table has another order than the measurements.
    numbers = {
        **grown("and METEOR", (100_000, 10.0, 690.0), (1_000, 1.0, 100.0)),
        **grown("and SPICE", (1_000, 2.0, 200.0)),
    }
    lines = growth.table(numbers).split("\n")
    assert lines[2:] == ["| and METEOR | 100,000 | 10.0 s | 100 µs | 690 MB | 6.1 KB |"]
    assert met(growth.targets(numbers)) == {
        "and METEOR, memory at 100,000 images: at most 5 KB an image": False
    }


def test_growth_beyond_proportion_is_noticed() -> None:
    least, some = (1_000, 1.0, 100.0), (100_000, 10.0, 500.0)
    fine = growth.targets(grown("BLEU, ROUGE-L, CIDEr-D", least, some, (1_000_000, 105.0, 4_900.0)))
    assert [target.is_met for target in fine] == [True, True, True]
    bad = growth.targets(grown("BLEU, ROUGE-L, CIDEr-D", least, some, (1_000_000, 120.0, 6_000.0)))
    assert [target.is_met for target in bad] == [True, False, False]
    scenes = growth.targets(grown("and SPICE", least, (100_000, 60.0, 1_250.0)))
    assert [(target.target, target.is_met) for target in scenes] == [("at most 12 KB an image", True)]


def test_growth_with_length_as_a_power_of_it() -> None:
    numbers = {
        f"growth, {words} words": {
            "words": 5.0,
            "BLEU-4": 3.0,
            "METEOR": words**0.5 - 5.0,
            "ROUGE-L": words / 10_000,
        }
        for words in (10_000, 200, 400, 800, 1_600)
    }
    powers = {
        target.subject.partition(",")[0]: (target.measured, target.is_met) for target in long.targets(numbers)
    }
    # Time of ROUGE-L grows with the square of the length, but is small beside that of the words.
    assert powers == {"BLEU-4": ("1.00", True), "METEOR": ("1.50", False), "ROUGE-L": ("1.06", True)}
    lines = long.growth_table(numbers).split("\n")
    assert (
        lines[0] == "| words | tokens | BLEU-4 | METEOR | ROUGE-L |"
        and lines[2] == "| 200 | 5.0 | 3.0 | 9.1 | 0.0 |"
        and lines[-1] == "| 10,000 | 5.0 | 3.0 | 95.0 | 1.0 |"
    )


def test_long_captions_beside_their_tools() -> None:
    numbers = {
        "METEOR": {
            "peer": 60.0,
            "peer processor": 90.0,
            "ours": 3.0,
            "ours processor": 5.0,
            "difference": 2e-16,
        },
        "BLEU-4": {
            "peer": 6.0,
            "peer processor": 6.0,
            "ours": 2.0,
            "ours processor": 2.0,
            "difference": 0.25,
        },
        "SPICE, alone": {"images": 1_000, "ours": 50.0, "ours processor": 80.0},
        "Java SPICE, words": {
            "start": 8.0,
            "start processor": 10.0,
            "image": 250.0,
            "image processor": 300.0,
            "f": [0.25, 0.125],
        },
        "SPICE of the sample, words, small": {"image processor": 0.1, "f": [0.26, 0.12]},
        "WMD, gensim": {"peer": 6.0, "ours": 0.08, "difference": 3e-15},
    }
    lines = long.table(numbers).split("\n")
    assert lines[2:] == [
        "| BLEU-4 | 6.0 s | 2.00 s | 3× | 3× | 0.2 |", "| METEOR | 60.0 s | 3.00 s | 20× | 18× | 2e-16 |",
        "| SPICE | 250,008 s | 50.00 s | 5,000× | 3,750× | |", "| WMD beside gensim, 100 distances | 6.00 s | 0.080 s | 75× | | 3e-15 |",
    ]  # fmt: skip
    assert (
        long.spice_table(numbers).split("\n")[2]
        == "| as the COCO tools pass it, a sentence of 300 words | 2 | 300.0 s | 0.1875 | 0.1900 (± 0.01) | – |"
    )
    assert [target.is_met for target in long.targets(numbers)] == [False, True]
    assert long.spice_table({}) == "" and long.growth_table({}) == ""


def test_targets_below_a_table() -> None:
    assert with_targets("table", []) == "table"
    lines = with_targets("table", [at_least("a", 14.96, 15), at_least("b", 1234.5, 1000, 2000)]).split("\n")
    assert lines[0] == "table" and lines[4:] == [
        "| a | at least 15 × | 14.9 × | **no** |",
        "| b | at least 1000 × (aim 2000 ×) | 1,234 × | yes |",
    ]


def test_differences_are_relative() -> None:
    assert long.relative_difference(0.0, 0.0) == 0 and long.relative_difference(2e-240, 2e-240) == 0
    assert (
        long.relative_difference(2e-240, 1e-240) == long.relative_difference(1.0, 2.0) == 0.5
        and long.relative_difference(0.0, 1e-300) == 1
    )
