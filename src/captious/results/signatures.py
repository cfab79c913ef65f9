"""Signatures: how a number was made, derived from all that went in. Unlike numbers are not compared."""

from __future__ import annotations

from collections.abc import Mapping

from captious._version import __version__
from captious.corpus import Corpus
from captious.metrics.base import Measure, in_signature


class Signature(str):
    """The text of a signature,
    ``CIDEr-D|n:4|sigma:6|df:references|refs:60x5@3f9c0a1b|tok:ptb|captious:0.3.0``, and its fields.
    """

    @classmethod
    def of(cls, name: str, fields: Mapping[str, str]) -> Signature:
        """From a name and fields; what would break the text apart is replaced."""
        parts = [name, *(f"{key}:{value}" for key, value in fields.items())]
        return cls("|".join(part.replace("|", "/").replace("\n", " ") for part in parts))

    @property
    def name(self) -> str:
        """The measure."""
        return self.partition("|")[0]

    @property
    def fields(self) -> dict[str, str]:
        """Everything but the name."""
        pairs = (part.partition(":") for part in self.split("|")[1:])
        return {key: value for key, _, value in pairs}

    def difference(self, other: str) -> list[tuple[str, str, str]]:
        """The fields in which two signatures differ: name of the field, here, there (``–`` where there is
        none).
        """
        theirs = Signature(other)
        here, there = {"measure": self.name, **self.fields}, {"measure": theirs.name, **theirs.fields}
        return [
            (key, here.get(key, "–"), there.get(key, "–"))
            for key in dict.fromkeys([*here, *there])
            if here.get(key) != there.get(key)
        ]


class Unsigned:
    """The signature of a measure on a corpus, while nobody has asked for it: the digest of all references
    takes longer than some measures.
    """

    def __init__(self, measure: Measure, corpus: Corpus) -> None:
        self._measure, self._corpus = measure, corpus

    def __call__(self) -> Signature:
        return sign(self._measure, self._corpus)

    def origin(self) -> dict[str, str]:
        """Data of the signature without the digest of the references."""
        return data_fields(self._measure, self._corpus, digests=False)


def sign(measure: Measure, corpus: Corpus) -> Signature:
    """The signature of a measure on a corpus: settings, resources, references, tokenizer, version."""
    return Signature.of(measure.name, {**described(measure), **data_fields(measure, corpus)})


def described(measure: Measure) -> dict[str, str]:
    """Return the settings and resources of a measure."""
    return {
        **measure.parameters(),
        **{name: in_signature(given) for name, given in measure.resources().items()},
    }


def data_fields(measure: Measure, corpus: Corpus, *, digests: bool = True) -> dict[str, str]:
    """Return the data that a score depends on besides the judged captions."""
    fields = dict(measure.data_fields(corpus))
    if corpus.has_references and measure.uses_references():
        references = corpus.references
        fields["refs"] = f"{references.n_images}x{references.sizes}" + (
            f"@{references.digest}" if digests else ""
        )
    if measure.rows == "image":
        fields["m"] = corpus.candidates.sizes
    fields["tok"] = corpus.tokenizer
    if corpus.left_out:
        fields["subset"] = f"{len(corpus)}of{len(corpus) + corpus.left_out}"
    fields["captious"] = __version__
    return fields
