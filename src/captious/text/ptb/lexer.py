"""The lexer: scan a caption and convert each match to a token as the reference writes it.

The automaton is a table of all states, which ships with captious. ``python -m tools.make_tokenizer`` makes it
from the rules (:mod:`captious.text.ptb.lexer_rules`); a test compares the two.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from captious.text.ptb.lexer_rules import RULES, SPLIT_WORDS

SHIPPED = Path(__file__).with_name("automaton.npz")


class Automaton:
    """Deterministic automaton."""

    def __init__(
        self, classes: NDArray[np.uint8], steps: NDArray[np.int16], accepts: NDArray[np.int16]
    ) -> None:
        """``classes`` has the class of each UTF-16 code unit, ``steps[state, class]`` the next
        state (-1: none), ``accepts`` the rule that is accepted in each state (-1: none)."""
        self.arrays = {"classes": classes, "steps": steps, "accepts": accepts}
        self._class_of, self._n_classes = classes, steps.shape[1]
        # Indexing a memoryview takes half the time of indexing an array.
        self._steps = np.ascontiguousarray(steps).reshape(-1).data
        self._accepts: list[int] = accepts.tolist()

    @classmethod
    def shipped(cls) -> Automaton:
        """Return the shipped automaton."""
        with np.load(SHIPPED, allow_pickle=False) as arrays:
            return cls(**arrays)

    def classes(self, text: str) -> list[int]:
        """Return the class of each code unit of a text."""
        units = np.frombuffer(text.encode("utf-16-le", "surrogatepass"), dtype="<u2")
        return self._class_of[units].tolist()  # type: ignore[no-any-return]

    def longest(self, kinds: Sequence[int], start: int, dead: set[int] | None = None) -> tuple[int, int]:
        """Return (rule, end) of the longest match at ``start``. The rule is -1 if nothing matches.

        For long text, ``dead`` collects (place, state) pairs from which nothing more was accepted
        (Reps 1998). Scans that cannot match again are not repeated, so that hostile text takes linear
        instead of quadratic time.
        """
        steps, n_classes, accepts = self._steps, self._n_classes, self._accepts
        state, rule, end = 0, -1, start
        pending: list[int] = []
        for at in range(start, len(kinds)):
            state = steps[state * n_classes + kinds[at]]
            if state < 0:
                break
            accepted = accepts[state]
            if accepted >= 0:
                rule, end = accepted, at + 1
                pending.clear()
            elif dead is not None:
                key = at << 32 | state
                if key in dead:
                    break
                pending.append(key)
        if dead is not None:
            dead.update(pending)
        return rule, end


#: Text that the rules see after a caption. The reference reads a whole file, and a few rules look past the
#: end of a line: after an abbreviation or a single letter, a capital on the next line means that a sentence
#: has ended. Captions that are tokenized on their own are treated as if the next line began with the
#: commonest first word of captions.
NEXT_LINE = "\nA\n"

#: Tokens that the COCO pipeline drops. It does so after lowercasing, so the lowercase names of brackets
#: remain.
PUNCTUATION = frozenset(
    ["''", "'", "``", "`", "-LRB-", "-RRB-", "-LCB-", "-RCB-", ".", "?", "!", ",", ":", "-", "--", "...", ";"]
)

# UTF-16 units from which scans are remembered, so that hostile text takes linear time.
_LONG = 500

_BRACKETS = {"(": "-LRB-", ")": "-RRB-", "{": "-LCB-", "}": "-RCB-", "[": "-LSB-", "]": "-RSB-"}
_CURRENCY = {"\u00a2": "cents", "\u00a3": "#", "\u00a4": "$", "\u0080": "$", "\u20a0": "$", "\u20ac": "$"}
_VULGAR = {"\u00bc": "1/4", "\u00bd": "1/2", "\u00be": "3/4", "\u2153": "1/3", "\u2154": "2/3"}
_QUOTES = str.maketrans(
    {
        "\u2018": "`", "\u2019": "'", "\u0091": "`", "\u0092": "'", "\u201b": "`", "\u2039": "`",
        "\u203a": "'",
        "\u201c": "``", "\u201d": "''", "\u0093": "``", "\u0094": "''", "\u00ab": "``", "\u00bb": "''",
    }
)  # fmt: skip


_DOUBLE = ('"', "&quot;")  # the entity in other capitals stays as it is


def _straighten(token: str) -> str:
    return token.replace("&apos;", "'").translate(_QUOTES)


def _word(token: str) -> str:
    return token.replace("\u00ad", "") or "-"


def _hyphens(token: str) -> str:
    return "--" if len(token) in (3, 4) else token


def _round_brackets(token: str) -> str:
    return token.replace("(", "-LRB-").replace(")", "-RRB-")


def _fraction(token: str) -> str:
    return token.replace("\\/", "/").replace(" ", "\u00a0")


# Letters followed by a space are a word whatever comes next, because no rule continues over a space after a
# letter. This saves most of the scanning. Words that are divided must be scanned.
_WORDS = re.compile("(?:[A-Za-z]+ +)+")
_SPLIT = frozenset(SPLIT_WORDS)

# Function of each action that returns the token of the matched text, or None for no token.
ACTIONS: dict[str, Callable[[str], str | None]] = {
    "keep": str,
    "markup": lambda token: token.replace(" ", "\u00a0"),
    "word": _word,
    "number": _word,
    "abbreviation_end": str,
    "reduced": _straighten,
    "dash": lambda token: "--",
    "ampersand": lambda token: "&",
    "thing_amp": lambda token: token.replace("&amp;", "&"),
    "fraction": _fraction,
    "vulgar": lambda token: _VULGAR.get(token, token),
    "currency": lambda token: _CURRENCY.get(token, token),
    "phone": lambda token: _round_brackets(token).replace(" ", "\u00a0"),
    "open_double": lambda token: "``" if token in _DOUBLE else token,
    "close_double": lambda token: "''" if token in _DOUBLE else token,
    "less": lambda token: "<",
    "greater": lambda token: ">",
    "smiley": _round_brackets,
    "bracket": lambda token: _BRACKETS[token],
    "hyphens": _hyphens,
    "ellipsis": lambda token: "...",
    "open_single": lambda token: "`",
    "quotes": _straighten,
    "skip": lambda token: None,
}


class Lexer:
    """Compiled rules. One instance serves all captions."""

    def __init__(self, scanner: Automaton) -> None:
        self.scanner = scanner
        self.actions = [ACTIONS[rule.action] for rule in RULES]
        self.back = [rule.back if isinstance(rule.back, int) else 0 for rule in RULES]
        self.cut = [re.compile(rule.back) if isinstance(rule.back, str) else None for rule in RULES]
        self.twice = [
            rule.action == "abbreviation_end" for rule in RULES
        ]  # the period is scanned again on its own

    def tokens(self, text: str, following: str = NEXT_LINE) -> list[str]:
        """Return the tokens of one caption, not lowercased. A few rules look at the text ``following`` it."""
        source = _as_units(text + following)
        kinds = self.scanner.classes(source)
        end_of_caption = len(kinds) - len(_as_units(following))
        tokens: list[str] = []
        dead: set[int] | None = set() if len(kinds) > _LONG else None
        at = 0
        while at < end_of_caption:
            run = _WORDS.match(source, at, end_of_caption)
            if run is not None:
                words = run.group().split()
                if _SPLIT.isdisjoint(word.lower() for word in words):
                    tokens += words
                    at = run.end()
                    continue
            at = self._scan_token(source, kinds, at, end_of_caption, tokens, dead)
        return [_from_units(token) for token in tokens]

    def _scan_token(
        self,
        source: str,
        kinds: list[int],
        at: int,
        end_of_caption: int,
        tokens: list[str],
        dead: set[int] | None,
    ) -> int:
        """Scan one token (or text without one) at ``at``. Return the index at which to continue."""
        rule, end = self.scanner.longest(kinds, at, dead)
        cut = self.cut[rule]
        if cut is not None:
            match = cut.search(source[at:end])
            end = at + match.start() if match else end
        else:
            end -= self.back[rule]
        end = max(min(end, end_of_caption), at + 1)
        token = self.actions[rule](source[at:end])
        if token is not None:
            tokens.append(token)
        return end - 1 if self.twice[rule] else end


def _as_units(text: str) -> str:
    """Write characters beyond the basic plane as surrogate pairs, as the reference sees them."""
    if text.isascii() or max(text) < "\U00010000":
        return text
    return "".join(
        char if char < "\U00010000" else chr(0xD7C0 + (ord(char) >> 10)) + chr(0xDC00 + (ord(char) & 0x3FF))
        for char in text
    )


def _from_units(token: str) -> str:
    if token.isascii() or not any("\ud800" <= char <= "\udfff" for char in token):
        return token
    return token.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


@lru_cache(maxsize=1)
def lexer() -> Lexer:
    """Return the lexer with the shipped automaton."""
    return Lexer(Automaton.shipped())


def tokenize(
    text: str, keep_punctuation: bool = False, *, lowercase: bool = True, following: str = NEXT_LINE
) -> list[str]:
    """Return the tokens of one caption. A few rules look at the text ``following`` it."""
    tokens = lexer().tokens(text.replace("\n", " "), following)
    if lowercase:
        tokens = [token.lower() for token in tokens]
    return tokens if keep_punctuation else [token for token in tokens if token not in PUNCTUATION]
