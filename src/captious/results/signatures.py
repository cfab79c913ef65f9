"""Signatures: how a number was made, derived from all its inputs. Different signatures are not comparable."""

from __future__ import annotations

from collections.abc import Mapping

from captious._version import __version__
from captious.corpus import Corpus
from captious.metrics.base import Measure, in_signature


class Signature(str):
    """A signature as text, with access to its fields.

    Example: ``CIDEr-D|n:4|sigma:6|df:references|refs:60x5@3f9c0a1b|tok:ptb|captious:0.3.0``.
    """

    @classmethod
    def of(cls, name: str, fields: Mapping[str, str]) -> Signature:
        """Build a signature from a name and fields. Separators inside them are replaced."""
        parts = [name, *(f"{key}:{value}" for key, value in fields.items())]
        return cls("|".join(part.replace("|", "/").replace("\n", " ") for part in parts))

    @property
    def name(self) -> str:
        """Name of the measure."""
        return self.partition("|")[0]

    @property
    def fields(self) -> dict[str, str]:
        """All fields but the name."""
        pairs = (part.partition(":") for part in self.split("|")[1:])
        return {key: value for key, _, value in pairs}

    def difference(self, other: str) -> list[tuple[str, str, str]]:
        """Return the fields that differ as (field, own value, other value), with ``–`` for a missing one."""
        second = Signature(other)
        here, there = {"measure": self.name, **self.fields}, {"measure": second.name, **second.fields}
        return [
            (key, here.get(key, "–"), there.get(key, "–"))
            for key in dict.fromkeys([*here, *there])
            if here.get(key) != there.get(key)
        ]


class LazySignature:
    """Signature of a measure on a corpus, computed on demand.

    The digest of all references takes longer than some measures.
    """

    def __init__(self, measure: Measure, corpus: Corpus) -> None:
        self._measure, self._corpus = measure, corpus

    def __call__(self) -> Signature:
        return sign(self._measure, self._corpus)

    def origin(self) -> dict[str, str]:
        """Return the data fields without the digest of the references."""
        return data_fields(self._measure, self._corpus, digests=False)


def sign(measure: Measure, corpus: Corpus) -> Signature:
    """Return the signature of a measure on a corpus: settings, resources, references, tokenizer, version."""
    return Signature.of(measure.name, {**described(measure), **data_fields(measure, corpus)})


def described(measure: Measure) -> dict[str, str]:
    """Return the settings and resources of a measure."""
    return {
        **measure.parameters(),
        **{name: in_signature(resource) for name, resource in measure.resources().items()},
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
