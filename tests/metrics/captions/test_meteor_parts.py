"""Parts of METEOR on small tables of our own: normaliser, paraphrase index, alignment."""

from __future__ import annotations

import gzip
import multiprocessing
import os
import zipfile
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from captious.core.cache import CacheWarning
from captious.core.errors import InputError
from captious.meteor import align as alignment
from captious.meteor import alignment_search as merging
from captious.meteor import meteor_tables, paraphrase_index, statistics
from captious.meteor.align import combined, score
from captious.meteor.encoding_words import encode_texts, tables_of
from captious.meteor.matches import EXACT, KINDS, STEM, SYNONYM
from captious.meteor.meteor_tables import Normaliser, Resources
from captious.meteor.relations import find, paraphrases_of, related_words
from captious.text import meteor_data
from captious.text.stemmer import java_hash, stem
from captious.text.synonyms import Synonyms
from tests.forms import FORMS, both_forms, form_of, running
from tests.metrics.captions import plain_meteor

FUNCTION_WORDS = {"a", "the", "of", "on"}
PARAPHRASES = {
    "big": ["large", "very big"],
    "large": ["big"],
    "on top of": ["on", "above the"],
    "a group of": ["several", "a lot of", "many"],
    "several": ["a group of", "many"],
    "very big": ["large"],
    "above the": ["on top of", "over"],
    "a": ["the", "one"],
    "the": ["a"],
    "dogs run on": ["the dogs on"],
    "seat": ["seats"],
    "seats": ["seat"],
}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("meteor")
    with zipfile.ZipFile(folder / "meteor-1.5.jar", "w") as jar:
        jar.writestr(
            "synonym/english.synsets", "dog\n1 2\nhound\n2\ncouch\n3\nsofa\n3 4\nseat\n4\nrun\n5\njog\n5\n"
        )
        jar.writestr("synonym/english.exceptions", "run\nran\n")
        jar.writestr("function/english.words", "\n".join(FUNCTION_WORDS) + "\n")
        jar.writestr("nonbreaking/english.prefixes", "# titles\nMr\ne.g\nNo #NUMERIC_ONLY#\n")
    write_table(folder / "paraphrase-en.gz", PARAPHRASES)
    return folder


def write_table(path: Path, table: dict[str, list[str]]) -> None:
    lines = [line for phrase, others in table.items() for other in others for line in ("0.5", phrase, other)]
    path.write_bytes(gzip.compress(("\n".join(lines) + "\n").encode()))


class TestNormaliser:
    normaliser = Normaliser(["# a comment", "", "Mr", "e.g", "No #NUMERIC_ONLY#"])

    @pytest.mark.parametrize(
        ("line", "expected"),
        [
            ("a dog 's", "a dog ' s"),
            ("the dog's bone", "the dog 's bone"),
            ("1990's cars", "1990 's cars"),
            ("rock 'n' roll", "rock ' n ' roll"),
            ("a well-known x--ray", "a well known x ray"),
            ("wait... what..?", "wait ... what .. ?"),
            ("The U.S. flag", "the us flag"),
            ("see Mr. Smith. Now", "see mr. smith . now"),
            ("the end.", "the end ."),
            ("ends. lower", "ends. lower"),
            ("No. 5 and No. Ten", "no. 5 and no . ten"),
            ("1,000 dogs, cats,birds", "1,000 dogs , cats , birds"),
            ("a,,b", "a , ,b"),
            ("50% <b>off</b> a&b", "50 % < b > off < / b > a & b"),
            ("“quoted” ‘word’ ''x''", '" quoted " \' word \' " x "'),
            ("tea–time", "tea - time"),
            ("naïve Ångström", "naïve ångström"),
            ("一只狗", "一 只 狗"),
            ("a\u3000b\u00a0c\td", "a b c d"),
            ("", ""),
            (" . ", "."),
        ],
    )
    def test_words(self, line: str, expected: str) -> None:
        assert self.normaliser.words(line) == expected.split()

    @given(
        st.lists(st.text(alphabet="ab Z09.,'`-–“|\t\x01\x0b\u2003文éΣ", max_size=20), max_size=5),
        st.booleans(),
    )
    def test_many_lines_at_once(self, lines: list[str], broken: bool) -> None:
        lines = [*lines, "a\nb-c"] if broken else lines
        assert self.normaliser.words_of(lines) == [self.normaliser.words(line) for line in lines]

    @given(st.text(alphabet="ab Z09.,'`-–“|\t\n文é", max_size=30))
    def test_never_empty_words_nor_capitals(self, line: str) -> None:
        words = self.normaliser.words(line)
        assert all(words)
        assert [word.lower() for word in words] == words
        assert not any(" " in word for word in words)


@pytest.mark.parametrize(
    ("word", "expected"),
    [("", 0), ("a", 97), ("dog", 99644), ("Aa", 2112), ("BB", 2112), ("犬", 29356), ("😀", 1772899)],
)
def test_java_hash(word: str, expected: int) -> None:
    assert java_hash(word) == expected


#: Phrases of 1 to 8 words, of which some share their first letters, some are long or of another script, and two
#: have the same key.
phrases = st.lists(
    st.sampled_from(
        [
            "a",
            "an",
            "ant",
            "dog",
            "dogs",
            "0",
            "naïve",
            "犬",
            "dogsdog",
            "dogsdogs",
            "incomprehensibility",
            "incomprehensible",
            "abcdefghABCDEFGH",
            "ABCDEFGHabcdefgh",
        ]
    ),
    min_size=1,
    max_size=8,
).map(" ".join)


def pairs_in(index: meteor_tables.Paraphrases) -> list[tuple[str, str]]:
    """Return the pairs of an index by the text of its phrases, after checking properties of every index."""
    words = ["", *index.words.tobytes().decode().split("\n")[:-1]]
    rows = [" ".join(words[number] for number in row if number) for row in index.phrases.tolist()]
    assert len(set(rows)) == len(rows) and len(set(words)) == len(words)
    assert index.phrases.tolist() == sorted(index.phrases.tolist())
    begins = [row[0] for row in index.phrases.tolist()]
    assert all(index.first[word] == begins.index(word) for word in begins)
    assert index.stems.tolist() == [0, *(java_hash(stem(word)) for word in words[1:])]
    found = [
        (p, t)
        for p in range(len(rows))
        for t in index.targets[index.offsets[p] : index.offsets[p + 1]].tolist()
    ]
    back = [
        (s, p)
        for p in range(len(rows))
        for s in index.sources[index.source_offsets[p] : index.source_offsets[p + 1]].tolist()
    ]
    assert back == sorted(found, key=lambda pair: (pair[1], pair[0]))
    return [(rows[p], rows[t]) for p, t in sorted(found, key=lambda pair: rows[pair[0]])]


INDEX = "paraphrases/*-v5"


class TestIndex:
    def test_every_pair_is_in_it(self, data: Path) -> None:
        index = meteor_tables.open_index(data / "paraphrase-en.gz")
        assert pairs_in(index) == [
            (phrase, other) for phrase, others in sorted(PARAPHRASES.items()) for other in others
        ]

    @settings(max_examples=60, deadline=None)
    @given(
        pairs=st.lists(st.tuples(phrases, phrases), max_size=30),
        block=st.integers(1, 80),
        room=st.sampled_from([1, 80, 1000]),
        form=st.sampled_from(FORMS),
    )
    def test_however_it_is_read(
        self,
        tmp_path_factory: pytest.TempPathFactory,
        pairs: list[tuple[str, str]],
        block: int,
        room: int,
        form: str,
    ) -> None:
        table = tmp_path_factory.getbasetemp() / "any.gz"
        lines = "".join(f"0.{i}\n{one}\n{other}\n" for i, (one, other) in enumerate(pairs))
        table.write_bytes(gzip.compress(lines.encode()))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(paraphrase_index, "_BLOCK", block)
            patch.setattr(paraphrase_index, "_BYTES_A_PHRASE", room)
            with running(form):
                index = meteor_tables.Paraphrases(**paraphrase_index.build(table, len(lines)))
        assert pairs_in(index) == sorted(pairs, key=lambda pair: pair[0])

    def test_many_phrases_that_begin_alike(self, tmp_path: Path) -> None:
        pairs = {"x": [f"a b c d {one} {other}" for one in range(30) for other in range(30)]}
        write_table(tmp_path / "paraphrase-en.gz", pairs)
        assert pairs_in(open_in(tmp_path / "cache", tmp_path)) == [("x", other) for other in pairs["x"]]

    @pytest.mark.parametrize("phrase", ["", "a b c d e f g h i", "a  b", " a"])
    def test_phrases_that_it_cannot_hold(self, tmp_path: Path, phrase: str) -> None:
        write_table(tmp_path / "paraphrase-en.gz", {"a": ["b", phrase]})
        with pytest.raises(InputError, match="phrases of 1 to 8 words"):
            open_in(tmp_path / "cache", tmp_path)

    @pytest.mark.parametrize("more", [0, 1])
    def test_as_many_words_as_it_can_hold(self, tmp_path: Path, more: int) -> None:
        most = paraphrase_index._MOST_WORDS
        write_table(tmp_path / "paraphrase-en.gz", {"0": [str(word) for word in range(most + more)]})
        if more:
            with pytest.raises(InputError, match="65,535 distinct words"):
                open_in(tmp_path / "cache", tmp_path)
        else:
            assert len(open_in(tmp_path / "cache", tmp_path).number_of()) == most

    def test_made_once(self, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        made = count_builds(monkeypatch)
        for _ in range(3):
            open_in(tmp_path, data)
        assert len(made) == 1

    @pytest.mark.parametrize("damage", ["flipped", "short", "long", "foreign", "empty", "header"])
    def test_made_again_when_damaged(
        self, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: str
    ) -> None:
        whole = open_in(tmp_path, data)
        (path,) = tmp_path.glob(INDEX)
        good = path.read_bytes()
        path.unlink()
        flipped = bytearray(good)
        flipped[-70] ^= 1
        path.write_bytes(
            {
                "flipped": bytes(flipped),
                "short": good[:-1],
                "long": good + b"x",
                "foreign": b"something else",
                "empty": b"",
                "header": good.replace(b'"size"', b'"sise"'),
            }[damage]
        )
        made = count_builds(monkeypatch)
        again = open_in(tmp_path, data)
        assert len(made) == 1
        assert path.read_bytes() == good
        for one, other in zip(whole, again):
            np.testing.assert_array_equal(one, other)

    def test_another_table_has_another_index(self, data: Path, tmp_path: Path) -> None:
        open_in(tmp_path, data)
        write_table(tmp_path / "paraphrase-en.gz", {"x": ["y z"]})
        index = open_in(tmp_path, tmp_path)
        assert index.words.tobytes() == b"x\ny\nz\n"
        assert len(list(tmp_path.glob(INDEX))) == 2

    def test_two_processes_at_once(self, data: Path, tmp_path: Path) -> None:
        context = multiprocessing.get_context("spawn")
        workers = [context.Process(target=open_in, args=(tmp_path, data)) for _ in range(2)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        assert [worker.exitcode for worker in workers] == [0, 0]
        assert len(list(tmp_path.glob(INDEX))) == 1
        assert not list(tmp_path.rglob(".*.tmp"))

    @pytest.mark.parametrize("damage", ["cut", "lines"])
    def test_damaged_table(self, tmp_path: Path, damage: str) -> None:
        table = tmp_path / "paraphrase-en.gz"
        if damage == "cut":
            table.write_bytes(gzip.compress(b"0.5\na\nb\n" * 1000)[:-12])
        else:
            table.write_bytes(gzip.compress(b"0.5\na\nb\n0.5\nc\n"))
        with pytest.raises(InputError, match="is damaged"):
            open_in(tmp_path / "cache", tmp_path)
        assert not list((tmp_path / "cache").glob(INDEX))

    def test_cache_that_cannot_be_written(self, data: Path, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("not a folder")
        whole = open_in(tmp_path / "good", data)
        with pytest.warns(CacheWarning, match=r"METEOR's paraphrase index .* set CAPTIOUS_CACHE"):
            made = open_in(tmp_path / "file" / "cache", data)
        for one, other in zip(whole, made):
            np.testing.assert_array_equal(one, other)

    def test_no_table(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="cannot read the paraphrase table"):
            open_in(tmp_path, tmp_path)


def open_in(cache: Path, data: Path) -> meteor_tables.Paraphrases:
    """Open it as a new process does, without a cache in memory."""
    meteor_tables._open_index.cache_clear()
    before = os.environ.get("CAPTIOUS_CACHE")
    os.environ["CAPTIOUS_CACHE"] = str(cache)
    try:
        return meteor_tables.open_index(data / "paraphrase-en.gz")
    finally:
        del os.environ["CAPTIOUS_CACHE"]
        if before is not None:
            os.environ["CAPTIOUS_CACHE"] = before


def count_builds(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    made: list[Path] = []
    build = meteor_tables.build

    def counted(table: Path, length: int) -> dict[str, NDArray[Any]]:
        made.append(table)
        return build(table, length)

    monkeypatch.setattr(meteor_tables, "build", counted)
    return made


VOCABULARY = [
    "a", "the", "of", "on", "top", "above", "over", "group", "lot", "many", "several", "big", "large", "very",
    "dog", "dogs", "hound", "hounds", "couch", "sofa", "seat", "run", "runs", "running", "ran", "jog", "one",
    "zebra",
]  # fmt: skip
lines = st.lists(st.sampled_from(VOCABULARY), max_size=9)


class TestAlignment:
    @settings(max_examples=150, deadline=None)
    @given(line1=lines, line2=lines, form=st.sampled_from(FORMS))
    def test_equal_to_the_plain_account(
        self, data: Path, line1: list[str], line2: list[str], form: str
    ) -> None:
        expected = self.expected(data, line1, line2)
        assert self.kernel(data, line1, line2, form) == expected

    @pytest.mark.parametrize("seed", range(6))
    def test_long_lines(self, data: Path, seed: int) -> None:
        generator = np.random.default_rng(seed)
        few = VOCABULARY[: 4 + 5 * seed]
        line1, line2 = (list(generator.choice(few, 18)) for _ in range(2))
        assert self.kernel(data, line1, line2) == self.expected(data, line1, line2)

    @settings(max_examples=60, deadline=None)
    @given(line1=lines, line2=lines)
    def test_short_and_long_lines_are_searched_alike(
        self, data: Path, line1: list[str], line2: list[str]
    ) -> None:
        short = self.kernel(data, line1, line2, "plain")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(alignment, "SHORT", 0)
            assert self.kernel(data, line1, line2, "plain") == short

    @settings(max_examples=60, deadline=None)
    @given(line1=lines, line2=lines, form=st.sampled_from(FORMS))
    def test_a_beam_finds_what_merged_paths_find(
        self, data: Path, line1: list[str], line2: list[str], form: str
    ) -> None:
        merged = self.kernel(data, line1, line2, form)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(alignment, "search_merged", lambda *_: False)
            assert self.kernel(data, line1, line2, "plain") == merged

    @pytest.mark.parametrize("seed", range(20))
    def test_paths_that_a_beam_drops(self, data: Path, seed: int) -> None:
        """With few words many times, the reference drops paths, and its result is not always the best one."""
        generator = np.random.default_rng(seed)
        few = VOCABULARY[: 2 + seed % 5]
        line1, line2 = (list(generator.choice(few, 8 + seed % 7)) for _ in range(2))
        assert self.kernel(data, line1, line2) == self.expected(data, line1, line2)

    def test_a_beam_that_drops_the_best_path_at_the_last_match(self, data: Path) -> None:
        """Three words that match in two ways make 27 paths, half of them equally good.

        At the last match, the paths that skip it rank after the others, though they end with a chunk less.
        """
        line1 = ["dogs", "runs", "big", "zebra", "top", "seats"]
        line2 = ["dog", "run", "large", "zebra", "top", "over", "over", "seat", "over"]
        few = self.kernel(data, line1[1:], line2[1:])
        many = self.kernel(data, line1, line2)
        assert few == self.expected(data, line1[1:], line2[1:])
        assert many == self.expected(data, line1, line2)
        assert (few[20], many[20]) == (1, 2)

    @pytest.mark.parametrize("seed", range(40))
    def test_words_that_match_in_several_ways(self, data: Path, seed: int) -> None:
        generator = np.random.default_rng(seed)
        few = [
            "dog",
            "dogs",
            "hound",
            "hounds",
            "run",
            "runs",
            "running",
            "jog",
            "large",
            "big",
            "zebra",
            "over",
            "top",
        ]
        line1, line2 = (list(generator.choice(few, 7 + seed % 4)) for _ in range(2))
        assert self.kernel(data, line1, line2) == self.expected(data, line1, line2)

    def test_merged_paths_say_where_a_beam_may_differ(
        self, data: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        said = []
        search = merging.search_merged.plain
        monkeypatch.setattr(
            alignment, "search_merged", lambda *parts: said.append(search(*parts)) or said[-1]
        )
        self.kernel(data, ["a", "dog", "zebra"], ["zebra", "a", "dog"], "plain")
        self.kernel(data, ["a"] * 9, ["a"] * 8, "plain")
        assert said == [True, False]

    @pytest.mark.parametrize("count", [61, 62, 63])
    def test_lines_at_the_border_between_short_and_long(self, data: Path, count: int) -> None:
        generator = np.random.default_rng(count)
        line1, line2 = (list(generator.choice(VOCABULARY, count)) for _ in range(2))
        assert self.kernel(data, line1, line2) == self.expected(data, line1, line2)

    def test_hash_collisions_count_as_equal_words(self, data: Path) -> None:
        # These have one hash in Java, which is all that the reference compares.
        assert java_hash("gelato") == java_hash("variants")
        row = statistics(["gelato"], ["variants"], data)[0]
        assert row[:6].tolist() == [1, 1, 0, 0, 1, 1]

    @staticmethod
    def expected(data: Path, line1: list[str], line2: list[str]) -> list[int]:
        synonyms = Synonyms.load(data)
        possible = plain_meteor.all_matches(line1, line2, stem, synonyms.synsets, PARAPHRASES)
        return plain_meteor.statistics(line1, line2, possible, FUNCTION_WORDS)

    @staticmethod
    def kernel(data: Path, line1: list[str], line2: list[str], form: str = "built") -> list[int]:
        resources = Resources.open(data)
        encoded = encode_texts([" ".join(line1), " ".join(line2)], resources)
        row, parts = np.zeros((1, 23), np.int32), np.zeros((1, 2))
        align = form_of(alignment.align, form)
        pair = encoded.ours, encoded.theirs, *tables_of(encoded, resources), np.array([0]), np.array([1])
        align(*pair, row, parts, np.zeros((0, 5), np.int32), np.zeros(0, np.int64), alignment.scratch(*pair))
        np.testing.assert_array_equal(combined(parts), score(row))
        counts: list[int] = row[0].astype(int).tolist()
        return counts


@settings(deadline=None)
@given(line=st.lists(st.sampled_from(VOCABULARY), max_size=12))
def test_phrases_are_found_by_both_forms_of_the_kernel(data: Path, line: list[str]) -> None:
    index = meteor_tables.open_index(data / "paraphrase-en.gz")
    number = index.number_of()
    rows = {tuple(n for n in row if n): p for p, row in enumerate(index.phrases.tolist())}
    numbers = np.array([number.get(word, 0) for word in line], np.int32)
    width = index.phrases.shape[1]
    expected = [
        [
            rows[phrase]
            for k in range(width)
            if t + k < len(line) and (phrase := tuple(numbers[t : t + k + 1].tolist())) in rows
        ]
        for t in range(len(line))
    ]
    for form in FORMS:
        found, ends = np.empty(len(line) * width, np.int32), np.zeros(len(line), np.int32)
        # Room to remember two steps alone, so that they displace each other, or many.
        for remembered in (2, 64):
            steps, ranges = np.zeros(remembered, np.int64), np.empty((remembered, 3), np.int32)
            count = form_of(find, form)(
                numbers, np.array([0, len(line)]), index.first, index.phrases, steps, ranges, found, ends
            )
            assert [part.tolist() for part in np.split(found[:count], ends[:-1])] == (expected or [[]])


@both_forms
def test_which_phrases_match(data: Path, form: str) -> None:
    index = meteor_tables.open_index(data / "paraphrase-en.gz")
    words = ["", *index.words.tobytes().decode().split("\n")[:-1]]
    names = [" ".join(words[number] for number in row if number) for row in index.phrases.tolist()]
    ours, theirs = (
        np.array([names.index(name) for name in side], np.int32)
        for side in (["big", "several", "the"], ["many", "large", "one", "a group of", "a", "over"])
    )
    with running(form):
        found = paraphrases_of(index, ours, theirs, 100)
    listed = {int(number): names[row] for row, number in zip(theirs.tolist(), found.numbers) if number >= 0}
    assert {number: len(name.split()) for number, name in listed.items()} == dict(
        enumerate(found.their_lengths.tolist())
    )
    got = [
        (
            names[ours[p]],
            listed[int(found.related[k]) // KINDS - 100],
            int(found.related[k]) % KINDS,
            int(found.ranks[k]),
        )
        for p in range(len(ours))
        for k in range(found.offsets[p], found.offsets[p + 1])
    ]
    # 0: the phrase of line 2 has that of line 1 as a paraphrase, at this place; 1: the other direction.
    assert sorted(got) == sorted([
        ("big", "large", 0, 0), ("big", "large", 1, 0), ("several", "a group of", 0, 0),
        ("several", "a group of", 1, 0), ("several", "many", 1, 1), ("the", "a", 0, 0), ("the", "a", 1, 0),
    ])  # fmt: skip


def test_a_paraphrase_that_is_listed_twice(tmp_path: Path) -> None:
    write_table(tmp_path / "paraphrase-en.gz", {"x": ["y", "z", "y"]})
    index = open_in(tmp_path, tmp_path)
    x, y = (np.array([number - 1], np.int32) for number in (1, 2))
    assert (
        paraphrases_of(index, x, y, 0).ranks.tolist()
        == paraphrases_of(index, y, x, 0).ranks.tolist()
        == [0, 2]
    )


@both_forms
@settings(deadline=None, max_examples=50)
@given(
    sets=st.lists(
        st.tuples(st.integers(0, 7), st.integers(0, 4), st.sets(st.integers(0, 12), max_size=5)), max_size=12
    )
)
def test_words_that_match(form: str, sets: list[tuple[int, int, set[int]]]) -> None:
    keys, stems = (np.array([one[k] for one in sets], np.uint32) for k in range(2))
    offsets = np.concatenate([[0], np.cumsum([len(one[2]) for one in sets])]).astype(np.int64)
    synsets = np.array([synset for one in sets for synset in sorted(one[2])], np.int32)
    used = np.arange(len(sets)) % 3 != 2
    expected = []
    for i, (key, stem_, own) in enumerate(sets):
        row = []
        for j, (other_key, other_stem, others) in enumerate(sets):
            row += [KINDS * j + EXACT] if key == other_key else []
            row += [KINDS * j + STEM] if key != other_key and stem_ == other_stem else []
            row += [KINDS * j + SYNONYM] if key != other_key and own & others else []
        expected.append(row if used[i] else [])
    with running(form):
        starts, related = related_words(keys, stems, offsets, synsets, used)
    assert [sorted(related[a:b].tolist()) for a, b in pairwise(starts.tolist())] == expected


def test_what_is_known_of_words_belongs_to_its_tables(data: Path, tmp_path: Path) -> None:
    """Prepared references store it. With other lists, the stored value must not be used."""
    digests = {Resources(meteor_data.find(data)).words_digest}
    for member, content in (("function/english.words", "a\n"), ("synonym/english.synsets", "big\n7\n")):
        other = tmp_path / member.replace("/", "-")
        other.mkdir()
        (other / "paraphrase-en.gz").write_bytes((data / "paraphrase-en.gz").read_bytes())
        with (
            zipfile.ZipFile(data / "meteor-1.5.jar") as source,
            zipfile.ZipFile(other / "meteor-1.5.jar", "w") as target,
        ):
            for name in source.namelist():
                target.writestr(name, content if name == member else source.read(name))
        digests.add(Resources(meteor_data.find(other)).words_digest)
    assert len(digests) == 3
