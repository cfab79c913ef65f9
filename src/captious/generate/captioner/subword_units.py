"""Units of a captioner: words, characters, or subwords (BPE, unigram).

Captions are tokenised as in the metrics (lower case, no punctuation), so words are the words that are scored.
Unit 0 ends a caption (and pads rows), unit 1 begins one, unit 2 is the unknown unit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from captious.core.errors import InputError, MissingExtraError
from captious.corpus import Captions

END, BEGIN, UNKNOWN = 0, 1, 2
SPECIAL = ("<end>", "<begin>", "<unk>")
Kind = Literal["words", "characters", "bpe", "unigram"]
KINDS: tuple[str, ...] = get_args(Kind)
#: Marks a subword that begins a word.
_SPACE = "▁"


def sentences_of(texts: Sequence[str], tokenizer: str = "ptb") -> list[str]:
    """Return captions as tokens joined by single spaces."""
    return Captions.of([list(texts)], tokenizer).sentences


class Units:
    """Units by index.

    Subwords mark the beginning of a word, so spaces are part of the units.
    """

    def __init__(self, kind: Kind, names: Sequence[str], model: str | None = None) -> None:
        self.kind: Kind = kind
        self.names = list(names)
        self._model = model
        self._number = {name: i for i, name in enumerate(self.names)}
        self._pieces: Any = _load(model) if model is not None else None

    @classmethod
    def learn(
        cls, sentences: Iterable[str], kind: str = "words", size: int | None = None, least: int = 5
    ) -> Units:
        """Learn units from tokenised captions.

        ``size`` is their maximum number. Words must occur at least ``least`` times.
        """
        if kind not in KINDS:
            raise InputError(f"unknown units '{kind}'; choose {', '.join(KINDS)}")
        if size is not None and size < len(SPECIAL) + 1:
            raise InputError(f"a vocabulary of {size} units is too small")
        all_sentences = list(sentences)
        if kind in ("bpe", "unigram"):
            return cls._learn_pieces(all_sentences, kind, size or 1000)
        counts: Counter[str] = Counter()
        for sentence in all_sentences:
            counts.update(sentence.split(" ") if kind == "words" else sentence)
        counts.pop("", None)
        ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        frequent = [name for name, count in ranked if count >= (least if kind == "words" else 1)]
        if not frequent:
            raise InputError(
                f"no word occurs {least} times in these {len(all_sentences):,} captions; give more "
                "captions, or a "
                "lower --least"
            )
        names = [*SPECIAL, *(frequent if size is None else frequent[: size - len(SPECIAL)])]
        return cls("words" if kind == "words" else "characters", names)

    @classmethod
    def _learn_pieces(cls, sentences: list[str], kind: str, size: int) -> Units:
        tokenizers = _tokenizers()
        from tokenizers import decoders, models, pre_tokenizers, trainers

        common: dict[str, Any] = {"vocab_size": size, "special_tokens": list(SPECIAL), "show_progress": False}
        if kind == "bpe":
            pieces = tokenizers.Tokenizer(models.BPE(unk_token=SPECIAL[UNKNOWN]))
            trainer: Any = trainers.BpeTrainer(**common)
        else:
            pieces = tokenizers.Tokenizer(models.Unigram())
            trainer = trainers.UnigramTrainer(unk_token=SPECIAL[UNKNOWN], **common)
        pieces.pre_tokenizer = pre_tokenizers.Metaspace()
        pieces.decoder = decoders.Metaspace()
        pieces.train_from_iterator(sentences, trainer)
        names = [pieces.id_to_token(i) for i in range(pieces.get_vocab_size())]
        return cls("bpe" if kind == "bpe" else "unigram", names, pieces.to_str())

    def __len__(self) -> int:
        return len(self.names)

    def encode(self, sentences: Sequence[str]) -> list[list[int]]:
        """Return tokenised captions as indices, without begin and end."""
        if self._pieces is not None:
            return [
                encoded.ids
                for encoded in self._pieces.encode_batch(list(sentences), add_special_tokens=False)
            ]
        get = self._number.get
        if self.kind == "words":
            return [
                [get(word, UNKNOWN) for word in sentence.split(" ")] if sentence else []
                for sentence in sentences
            ]
        return [[get(letter, UNKNOWN) for letter in sentence] for sentence in sentences]

    def decode(self, rows: NDArray[np.integer[Any]] | Sequence[Sequence[int]]) -> list[str]:
        """Return rows of indices as captions, each up to its first end."""
        captions = []
        for row in rows.tolist() if isinstance(rows, np.ndarray) else rows:
            ids = list(row)
            ids = ids[: ids.index(END)] if END in ids else ids
            names = [self.names[i] if i != UNKNOWN else "unk" for i in ids if i != BEGIN]
            if self.kind == "words":
                captions.append(" ".join(names))
            else:
                captions.append(" ".join("".join(names).replace(_SPACE, " ").split()))
        return captions

    @property
    def words(self) -> list[str] | None:
        """The words by index for rewards, or None for other units."""
        return (
            [*("" for _ in SPECIAL[:2]), "unk", *self.names[len(SPECIAL) :]] if self.kind == "words" else None
        )

    def to_json(self) -> dict[str, Any]:
        """Return a JSON-ready description."""
        return {
            "kind": self.kind,
            "names": self.names,
            **({"model": self._model} if self._model is not None else {}),
        }

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> Units:
        """Rebuild from :meth:`to_json`."""
        return cls(stored["kind"], stored["names"], stored.get("model"))


def _tokenizers() -> Any:
    try:
        import tokenizers
    except ImportError as error:
        raise MissingExtraError("tokenizers", "train", "subword units") from error
    return tokenizers


def _load(model: str) -> Any:
    return _tokenizers().Tokenizer.from_str(model)
