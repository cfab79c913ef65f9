"""Loading the library, checking arguments, and running without a library."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from captious.corpus.corpus import _number_distinct
from captious.kernels import kernel, library
from captious.kernels.types import Float64, Int64, Out
from captious.metrics.captions.cider import _pair_cosines
from captious.metrics.captions.rouge import common_subsequences
from captious.metrics.corpus.corpus_measure import _hash_runs
from captious.parser.exact.derivation import derive
from captious.text.hashing import MULTIPLIER
from native.compile import all_kernels
from tests.forms import form_of
from tests.kernels.copies import copy_package, run


def test_the_library_is_up_to_date() -> None:
    """Other tests skip kernels that the library lacks. This one fails."""
    loaded = library.load()
    assert loaded is not None, "build the library: python -m native.build"
    outdated = [kernel.symbol for kernel in all_kernels() if kernel.built is None]
    assert not outdated, f"python -m native.build: {', '.join(outdated)} changed since the library was built"
    assert set(loaded.kernels) == {kernel.symbol for kernel in all_kernels()}


# Arguments ----------------------------------------------------------------------------------------


def distinct_arguments() -> dict[str, Any]:
    """Right arguments for `captious.corpus.corpus._number_distinct`."""
    return {
        "tokens": np.array([1, 2, 1, 2], np.int32),
        "offsets": np.array([0, 2, 4]),
        "places": np.zeros(8, np.int32),
        "first": np.zeros(2, np.int64),
        "inverse": np.zeros(2, np.int64),
    }


def hash_arguments() -> dict[str, Any]:
    """Right arguments for `captious.metrics.corpus.corpus_measure._hash_runs`, two of which are numbers."""
    return {
        "words": np.zeros(2, np.uint64),
        "first": np.array([0]),
        "end": np.array([2]),
        "counted": np.ones(2, bool),
        "multiplier": MULTIPLIER,
        "half": np.uint64(32),
        "out": np.zeros(1, np.uint64),
    }


def frozen(array: Any) -> Any:
    array.flags.writeable = False
    return array


def unaligned(values: list[int]) -> Any:
    data = np.zeros(8 * len(values) + 1, np.uint8)[1:].view(np.int64)
    data[:] = values
    assert not data.flags.aligned
    return data


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        (
            "tokens",
            np.zeros(4, np.int64),
            "tokens is int32[:], C-contiguous and aligned, not an array int64[:]",
        ),
        (
            "tokens",
            np.zeros(4, np.uint32),
            "tokens is int32[:], C-contiguous and aligned, not an array uint32[:]",
        ),
        ("tokens", np.zeros(4, ">i4"), "tokens is int32[:], C-contiguous and aligned, not an array int32[:]"),
        (
            "tokens",
            np.zeros(4, object),
            "tokens is int32[:], C-contiguous and aligned, not an array object[:]",
        ),
        (
            "tokens",
            np.zeros((2, 2), np.int32),
            "tokens is int32[:], C-contiguous and aligned, not an array int32[:, :]",
        ),
        ("tokens", np.int32(3), "tokens is int32[:], not int32"),
        ("tokens", [1, 2, 1, 2], "tokens is int32[:], not list"),
        ("tokens", None, "tokens is int32[:], not NoneType"),
        (
            "offsets",
            np.arange(6)[::2],
            "offsets is int64[:], C-contiguous and aligned, not an array int64[:], not contiguous",
        ),
        (
            "offsets",
            unaligned([0, 2, 4]),
            "offsets is int64[:], C-contiguous and aligned, not an array int64[:]",
        ),
        ("first", frozen(np.zeros(2, np.int64)), "first is written to, but the array is read-only"),
    ],
)
def test_wrong_arguments_are_refused(name: str, value: Any, message: str) -> None:
    arguments = {**distinct_arguments(), name: value}
    with pytest.raises(TypeError) as error:
        form_of(_number_distinct, "built")(*arguments.values())
    assert str(error.value) == f"_number_distinct: {message}"


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("multiplier", 1.5, "multiplier is uint64, not float"),
        ("multiplier", "1", "multiplier is uint64, not str"),
        ("half", np.zeros(1, np.uint64), "half is uint64, not an array uint64[:]"),
    ],
)
def test_wrong_numbers_are_refused(name: str, value: Any, message: str) -> None:
    arguments = {**hash_arguments(), name: value}
    with pytest.raises(TypeError) as error:
        form_of(_hash_runs, "built")(*arguments.values())
    assert str(error.value) == f"_hash_runs: {message}"


@pytest.mark.parametrize("value", [2**64, -1, 2**70])
def test_integers_that_do_not_fit_are_refused(value: int) -> None:
    arguments = {**hash_arguments(), "multiplier": value}
    with pytest.raises(OverflowError) as error:
        form_of(_hash_runs, "built")(*arguments.values())
    assert str(error.value) == f"_hash_runs: multiplier is uint64, which cannot hold {value}"


def test_threads_load_the_library_once(monkeypatch: pytest.MonkeyPatch) -> None:
    loads: list[str] = []

    def load_slowly(path: str) -> object:
        loads.append(path)
        time.sleep(0.05)
        return object()

    library._load.cache_clear()
    try:
        with monkeypatch.context() as patch:
            patch.setattr(library.ctypes, "CDLL", load_slowly)
            results: list[Any] = []
            threads = [threading.Thread(target=lambda: results.append(library.load())) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        assert len(loads) == 1 and len({id(result) for result in results}) == 1
    finally:
        library._load.cache_clear()


@pytest.mark.parametrize("count", [0, 4, 6])
def test_the_number_of_arguments_is_checked(count: int) -> None:
    arguments = [*distinct_arguments().values(), 0][:count]
    with pytest.raises(TypeError, match=f"_number_distinct takes 5 arguments, not {count}"):
        form_of(_number_distinct, "built")(*arguments)


def test_truth_values_are_no_numbers() -> None:
    numbers, floats, offsets = np.zeros(1, np.int32), np.zeros(1), np.array([0, 1])
    arguments: list[Any] = [numbers, numbers, offsets, floats, numbers, numbers, offsets, floats, floats, 1.0]
    arguments += [offsets[:1], offsets[:1]]
    built = form_of(_pair_cosines, "built")
    for clip in (1, 0.0, "yes", None):
        with pytest.raises(TypeError, match="_pair_cosines: clip is bool, not"):
            built(*arguments, clip, np.zeros(1))
    for clip in (True, np.True_):
        built(*arguments, clip, np.zeros(1))
    # An integer is accepted as a float, but not a float as an integer.
    arguments[9] = 1
    built(*arguments, True, np.zeros(1))
    arguments[9] = "1.0"
    with pytest.raises(TypeError, match="_pair_cosines: unseen is float64, not str"):
        built(*arguments, True, np.zeros(1))


def test_parts_of_tuples_are_checked() -> None:
    words, table = np.zeros((1, 1), np.int64), np.zeros((1, 1), np.float32)
    arguments: list[Any] = [np.zeros(1, np.int64), 0, words, table, np.zeros(3, np.int64)]
    built = form_of(derive, "built")
    rest = [None] * 8
    for down, message in (
        ([], r"derive: down is a tuple of 4 parts, not list"),
        ((1, 2, 3), r"derive: down is a tuple of 4 parts, not tuple"),
        (
            (np.zeros(1, np.int32), np.zeros(1), 0, 0),
            r"derive: down\[1\] is int32\[:\], C-contiguous and aligned, not an array float64\[:\]",
        ),
    ):
        with pytest.raises(TypeError, match=message):
            built(*arguments, down, *rest)


@pytest.mark.parametrize("name", ["tokens", "offsets"])
def test_arrays_that_are_only_read_may_be_read_only(name: str) -> None:
    arguments = distinct_arguments()
    frozen(arguments[name])
    assert form_of(_number_distinct, "built")(*arguments.values()) == 1
    assert arguments["inverse"].tolist() == [0, 0]


def test_arrays_of_files_are_accepted(tmp_path: Path) -> None:
    """They are of a subclass."""
    np.array([1, 2, 3, 4], np.int32).tofile(tmp_path / "tokens")
    arguments = {**distinct_arguments(), "tokens": np.memmap(tmp_path / "tokens", np.int32, "r")}
    assert form_of(_number_distinct, "built")(*arguments.values()) == 2


def test_arrays_without_items_are_accepted() -> None:
    arguments = {**distinct_arguments(), "tokens": np.zeros(0, np.int32), "offsets": np.zeros(1, np.int64)}
    assert form_of(_number_distinct, "built")(*arguments.values()) == 0


def test_every_kernel_refuses_nonsense() -> None:
    """No argument reaches the library unchecked."""
    for each in all_kernels():
        parameters = each.signature[0]
        with pytest.raises(TypeError, match=each.__name__):
            form_of(each, "built")(*[object()] * len(parameters))
        with pytest.raises(TypeError, match=f"{each.__name__} takes {len(parameters)} arguments"):
            form_of(each, "built")()


def test_a_failure_of_the_library_is_an_error() -> None:
    """Numba's status of a kernel that ran out of memory, or whose arrays do not fit."""

    @kernel
    def failing(values: Int64) -> int:
        return 0

    class Function:
        def __call__(self, *_: Any) -> int:
            return 1

    with pytest.raises(MemoryError, match="kernel failing failed with status 1"):
        library._bind(failing, Function())(np.zeros(1, np.int64))


# Threads ------------------------------------------------------------------------------------------


def long_call(seconds: float) -> Callable[[], float]:
    """Return a kernel call that takes about this many seconds."""
    tokens, offsets = np.arange(400, dtype=np.int32) % 50, np.array([0, 400])
    run = form_of(common_subsequences, "built")

    def call(pairs: int) -> float:
        places, out = np.zeros(pairs, np.int64), np.zeros(pairs, np.int64)
        begin = time.perf_counter()
        run(tokens, offsets, tokens, offsets, places, places, np.full(50, -1, np.int32), out)
        return time.perf_counter() - begin

    pairs = 1000
    while (taken := call(pairs)) < seconds / 8:
        pairs *= 2
    pairs = int(pairs * seconds / taken)
    return lambda: call(pairs)


def test_other_threads_run_during_a_call() -> None:
    call = long_call(0.4)
    span: list[float] = []

    def work() -> None:
        span.append(time.perf_counter())
        call()
        span.append(time.perf_counter())

    thread = threading.Thread(target=work)
    ticks = []
    thread.start()
    while thread.is_alive():
        ticks.append(time.perf_counter())
        time.sleep(0.001)
    thread.join()
    begin, end = span
    inside = [tick for tick in ticks if begin < tick < end]
    # While the interpreter is locked, there is none except at the ends.
    middle = [tick for tick in inside if begin + 0.2 * (end - begin) < tick < end - 0.2 * (end - begin)]
    assert len(middle) > 5


# Without a library --------------------------------------------------------------------------------

SCORE = """
import sys, warnings
from pathlib import Path
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    import captious
    references = {"1": ["a dog runs", "a small dog"], "2": ["two cats", "cats on a mat"]}
    corpus = captious.load(references, {"1": "a dog", "2": "cats sit"})
    scores = captious.score(corpus, "BLEU,ROUGE-L,CIDEr-D,METEOR,SPICE")
from captious.kernels.library import KernelWarning
print({name: one.value for name, one in scores.items()})
for warning in caught:
    if issubclass(warning.category, KernelWarning):
        print(warning.message)
print(*sorted({"numba", "llvmlite"} & set(sys.modules)))
"""


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package."""
    return copy_package(tmp_path_factory.mktemp("copy"))


@pytest.fixture(scope="module")
def expected() -> str:
    """Scores with the library."""
    done = run(SCORE)
    assert done.returncode == 0, done.stderr
    scores, *rest = done.stdout.splitlines()
    assert rest == [""], "no warnings, no compiler"
    return scores


def manifest(folder: Path, **changed: Any) -> None:
    """Change entries of the manifest; None removes an entry."""
    path = folder / "kernels.json"
    content = {**json.loads(path.read_text()), **changed}
    path.write_text(
        json.dumps(
            {name: value for name, value in content.items() if value is not None or name == "development"}
        )
    )


def truncate(folder: Path, size: int) -> None:
    path = folder / library.library_name()
    path.write_bytes(path.read_bytes()[:size])


DAMAGES: dict[str, tuple[Callable[[Path], Any], str]] = {
    "no manifest": (
        lambda folder: (folder / "kernels.json").unlink(),
        "there is no library of compiled kernels;",
    ),
    "no library": (
        lambda folder: (folder / library.library_name()).unlink(),
        "there is no library of compiled kernels;",
    ),
    "another format": (
        lambda folder: manifest(folder, format=99),
        r"cannot be used \(it has format 99, not 1\)",
    ),
    "no format": (
        lambda folder: manifest(folder, format=None),
        r"cannot be used \(its manifest lacks 'format'\)",
    ),
    "no size": (lambda folder: manifest(folder, size=None), r"cannot be used \(its manifest lacks 'size'\)"),
    "another Python": (
        lambda folder: manifest(folder, development="3.9"),
        r"\(it was built for development with Python 3\.9\)",
    ),
    "half a manifest": (
        lambda folder: (folder / "kernels.json").write_text('{"format": 1,'),
        r"cannot be used \(",
    ),
    "a list": (lambda folder: (folder / "kernels.json").write_text("[]"), r"cannot be used \("),
    "an empty library": (
        lambda folder: truncate(folder, 0),
        r"cannot be used \(it has 0 bytes, not [\d,]+\)",
    ),
    "half a library": (
        lambda folder: truncate(folder, 100_000),
        r"cannot be used \(it has 100,000 bytes, not [\d,]+\)",
    ),
    "text": (
        lambda folder: ((folder / library.library_name()).write_text("text"), manifest(folder, size=4)),
        r"cannot be used \(.*(too short|invalid|header)",
    ),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_without_a_library_everything_works_with_one_warning(
    damage: str, package: Path, expected: str
) -> None:
    folder = package / "kernels" / "lib"
    before = {path: path.read_bytes() for path in folder.iterdir()}
    change, message = DAMAGES[damage]
    try:
        change(folder)
        done = run(SCORE, package)
    finally:
        for path, content in before.items():
            path.write_bytes(content)
    assert done.returncode == 0, done.stderr
    scores, *warned, loaded = done.stdout.splitlines()
    assert scores == expected
    assert len(warned) == 1
    assert re.search(message, warned[0]), warned
    assert "plain Python runs instead" in warned[0] and "make kernels" in warned[0]
    assert not loaded


LENGTHS = """
import warnings
import numpy as np
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    from captious.metrics.sets.mbleu import closest_other_lengths
    out = np.zeros(3, np.int64)
    for _ in range(2):
        closest_other_lengths(np.array([5, 7, 1]), np.array([0, 3]), out)
print(out.tolist(), closest_other_lengths.built is not None)
for warning in caught:
    print(warning.message)
"""


def test_a_changed_kernel_runs_as_its_source_says(package: Path) -> None:
    assert run(LENGTHS, package).stdout == "[7, 5, 5] True\n"
    path = package / "metrics" / "sets" / "mbleu.py"
    source = path.read_text()
    changed = source.replace("            out[i] = best\n", "            out[i] = best + 100\n")
    assert changed != source
    try:
        # A comment or another line number is no change.
        path.write_text(
            source.replace(
                "            out[i] = best\n", "            # The best.\n            out[i] = best\n"
            )
        )
        assert run(LENGTHS, package).stdout == "[7, 5, 5] True\n"
        path.write_text(changed)
        done = run(LENGTHS, package)
        lines, *rest = done.stdout.splitlines()
        assert lines == "[107, 105, 105] False", done.stderr
        assert len(rest) == 1
        assert rest[0].startswith(
            "captious.metrics.sets.mbleu.closest_other_lengths has changed since the library was built;"
        )
        # The library of a release is not compared with the sources.
        folder = package / "kernels" / "lib"
        before = (folder / "kernels.json").read_bytes()
        try:
            manifest(folder, development=None)
            assert run(LENGTHS, package).stdout == "[7, 5, 5] True\n"
        finally:
            (folder / "kernels.json").write_bytes(before)
    finally:
        path.write_text(source)


def test_a_kernel_that_is_not_in_the_library_runs_plain() -> None:
    @kernel
    def halves(values: Int64, out: Out[Float64]) -> None:
        for i in range(values.shape[0]):
            out[i] = values[i] / 2

    out = np.zeros(2)
    with pytest.warns(
        library.KernelWarning, match=r"the library has no kernel tests\.kernels\.test_library\.halves"
    ):
        halves(np.array([1, 2]), out)
    assert out.tolist() == [0.5, 1.0]
    with pytest.MonkeyPatch.context() as patch:
        # The manifest lists it, but the library does not have it.
        loaded = library.load()
        assert loaded is not None
        patch.setattr(
            library, "load", lambda: loaded._replace(kernels={halves.symbol: {"digest": halves.digest}})
        )
        with pytest.warns(library.KernelWarning, match="the library has no kernel"):
            assert library.find(halves) is None
        # The other way round.
        patch.setattr(library, "load", lambda: loaded._replace(kernels={}))
        with pytest.warns(
            library.KernelWarning,
            match=r"the library has no kernel captious\.corpus\.corpus\._number_distinct",
        ):
            assert library.find(_number_distinct) is None
