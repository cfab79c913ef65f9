"""Threads that share references and corpora get the results of a single thread, bit for bit."""

from __future__ import annotations

import threading
from contextvars import ContextVar

import pytest

from captious.core import threads
from captious.core.errors import InputError
from captious.corpus import Corpus
from captious.metrics import registry
from tests.threads import THREADS, Bits, at_once, bits, eager_switching, systems, together

pytestmark = pytest.mark.filterwarnings("ignore")

NAMES = [str(name) for name in registry.resolve("all,sets,corpus")]
QUICK = [
    str(name) for name in registry.resolve("lexical,CIDEr,Recall-1,precision,Div-1,Div-2,mBLEU-4,Self-CIDEr")
]
#: Images of each system. Threads meet at data that measures share, such as tables, not in long loops.
FEW = 15


@pytest.fixture(scope="module")
def serial() -> list[Bits]:
    with pytest.warns(UserWarning):
        return [bits(corpus, NAMES) for corpus in systems(images=FEW)]


def unlike(one: Bits, other: Bits) -> list[str]:
    assert one.keys() == other.keys()
    return [name for name in one if one[name] != other[name]]


def test_all_measures_of_the_registry_are_here(serial: list[Bits]) -> None:
    assert set(NAMES) == set(registry.names())
    assert len(serial) == THREADS
    for found in serial:
        assert list(found) == NAMES


def test_eight_systems_in_eight_threads(serial: list[Bits]) -> None:
    for alone, beside in zip(serial, together(NAMES, images=FEW)):
        assert unlike(alone, beside) == []


def test_eight_systems_in_eight_threads_many_times(serial: list[Bits]) -> None:
    for _ in range(10):
        for alone, beside in zip(serial, together(QUICK, images=FEW)):
            assert unlike({name: alone[name] for name in beside}, beside) == []


def test_eight_threads_with_inner_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """The short form of ``python -m tests.threads``."""
    names = [str(name) for name in registry.resolve("lexical,CIDEr")]
    monkeypatch.setenv("CAPTIOUS_JOBS", "1")
    corpora = systems(60)
    assert min(len(corpora[0].references.tokens), len(corpora[0].candidates.tokens)) >= threads._FEW
    alone = [bits(corpus, names) for corpus in corpora]
    monkeypatch.setenv("CAPTIOUS_JOBS", "4")
    assert together(names, 60) == alone


@pytest.mark.parametrize("system", [0, 7], ids=["single captions", "sets"])
def test_one_corpus_in_eight_threads(serial: list[Bits], system: int) -> None:
    corpus = systems(images=FEW)[system]
    with eager_switching():
        for found in at_once([lambda: bits(corpus, NAMES)] * THREADS):
            assert unlike(serial[system], found) == []


def test_systems_encoded_in_threads() -> None:
    """Not only scored: tokenized and numbered over the same references at the same time."""
    corpus = systems()[0]
    texts = [[[f"a dog {i} runs {i * k}", "a cat"] for k in range(len(corpus))] for i in range(THREADS)]
    alone = [
        bits(Corpus.build(corpus.ids, groups, systems()[0].references, name=str(i)), QUICK)
        for i, groups in enumerate(texts)
    ]
    with eager_switching():
        works = [
            lambda i=i, groups=groups: bits(
                Corpus.build(corpus.ids, groups, corpus.references, name=str(i)), QUICK
            )
            for i, groups in enumerate(texts)
        ]
        for one, other in zip(alone, at_once(works)):
            assert unlike(one, other) == []


def test_results_come_in_order_and_pieces_divide_no_further() -> None:
    with threads.working(3):
        assert list(threads.side_by_side(lambda i: (i, threads.jobs()), range(20))) == [
            (i, 1) for i in range(20)
        ]
        assert threads.jobs() == 3
    with threads.working(1):
        assert (
            list(threads.side_by_side(lambda i: threading.get_ident(), range(3)))
            == [threading.get_ident()] * 3
        )


def test_an_error_in_a_piece_is_raised() -> None:
    with threads.working(2), pytest.raises(ZeroDivisionError):
        list(threads.side_by_side(lambda i: 1 // i, [1, 2, 0, 3]))


def test_settings_reach_the_threads() -> None:
    setting: ContextVar[int] = ContextVar("setting", default=0)
    setting.set(5)
    with threads.working(2):
        assert list(threads.side_by_side(lambda i: setting.get(), [1, 2, 3])) == [5] * 3


def test_how_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CAPTIOUS_JOBS", raising=False)
    assert threads.jobs() == threads.cores()
    monkeypatch.setenv("CAPTIOUS_JOBS", "3")
    assert threads.jobs() == 3
    monkeypatch.setenv("CAPTIOUS_JOBS", "many")
    with pytest.raises(InputError, match="CAPTIOUS_JOBS is the number of threads, not 'many'"):
        threads.jobs()
    with pytest.raises(InputError, match="at least 1"):
        threads.threads(0)


def test_a_result_does_not_depend_on_the_number_of_threads() -> None:
    names = "BLEU,CIDEr-D,ROUGE-L,METEOR,SPICE,WMD"
    found = []
    for count in (1, 2, 5):
        with threads.working(count):
            found.append(bits(systems()[0], registry.resolve(names)))
    assert found[0] == found[1] == found[2]
