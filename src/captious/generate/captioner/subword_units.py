"""Units of a captioner: words, characters, or subwords (BPE, unigram).

Captions are tokenised as in the metrics (lower case, no punctuation), so words are the words that are scored.
Subwords are learned and applied by SentencePiece (Kudo & Richardson 2018).

Unit 0 ends a caption (and pads rows), unit 1 begins one, unit 2 is the unknown unit.
"""

from __future__ import annotations

import io
from base64 import b64decode, b64encode
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from captious.core.errors import InputError, MissingExtraError, printable
from captious.core.memo import cached_property
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
        trainer, written = _sentencepiece().SentencePieceTrainer, io.BytesIO()
        try:
            trainer.train(
                sentence_iterator=iter(sentences),
                model_writer=written,
                model_type=kind,
                vocab_size=size,
                # Fewer pieces than requested if the captions do not have more.
                hard_vocab_limit=False,
                # The tokenizer has normalised the captions, and rules would be stored in every model.
                normalization_rule_name="identity",
                character_coverage=1.0,
                eos_id=END,
                bos_id=BEGIN,
                unk_id=UNKNOWN,
                eos_piece=SPECIAL[END],
                bos_piece=SPECIAL[BEGIN],
                unk_piece=SPECIAL[UNKNOWN],
                num_threads=1,
                minloglevel=3,
            )
        except (RuntimeError, OSError) as error:
            reason = printable(" ".join(str(error).split()))[-200:]
            raise InputError(
                f"no {kind} units of {size:,} pieces can be learned from these {len(sentences):,} captions "
                f"({reason}); give more captions, or another --vocabulary"
            ) from None
        units = cls("bpe" if kind == "bpe" else "unigram", (), b64encode(written.getvalue()).decode())
        units.names = [units._pieces.id_to_piece(i) for i in range(units._pieces.get_piece_size())]
        return units

    @cached_property
    def _pieces(self) -> Any:
        """Model of the pieces. Only encoding needs it."""
        if self._model is None:
            raise InputError(f"units of kind '{self.kind}' need the model of their pieces, and it is missing")
        try:
            if self.is_hugging_face:
                return _tokenizers().Tokenizer.from_str(self._model)
            return _sentencepiece().SentencePieceProcessor(model_proto=b64decode(self._model, validate=True))
        except MissingExtraError:
            raise
        except Exception as error:  # tokenizers raises plain exceptions
            reason = printable(" ".join(str(error).split()))[:100]
            raise InputError(
                f"the model of the {self.kind} units is damaged ({reason}); train the captioner again"
            ) from None

    def __len__(self) -> int:
        return len(self.names)

    def encode(self, sentences: Sequence[str]) -> list[list[int]]:
        """Return tokenised captions as indices, without begin and end."""
        if self.kind in ("bpe", "unigram"):
            if self.is_hugging_face:
                encoded = self._pieces.encode_batch(list(sentences), add_special_tokens=False)
                return [one.ids for one in encoded]
            rows: list[list[int]] = self._pieces.encode(list(sentences))
            return rows
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
    def is_hugging_face(self) -> bool:
        """Whether the pieces are those of the tokenizers library, as in files of older versions."""
        return self._model is not None and self._model.startswith("{")

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


def _sentencepiece() -> Any:
    try:
        import sentencepiece
    except ImportError as error:
        raise MissingExtraError("sentencepiece", "train", "subword units") from error
    return sentencepiece


def _tokenizers() -> Any:
    try:
        import tokenizers
    except ImportError as error:
        raise MissingExtraError(
            "tokenizers", "sentences", "subword units of captious 0.7 and older"
        ) from error
    return tokenizers
