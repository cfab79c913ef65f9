"""Resources: tables and models that numbers depend on. A signature lists each by its content."""

from __future__ import annotations

from typing import Protocol, runtime_checkable


@runtime_checkable
class Resource(Protocol):
    """Anything whose content decides a score: document frequencies, vectors, weights, word lists, objects."""

    @property
    def digest(self) -> str:
        """Short digest of the content (:mod:`captious.core.digests`)."""
        ...

    @property
    def label(self) -> str:
        """Short name for people."""
        ...


def in_signature(resource: Resource) -> str:
    """Return ``label@digest``."""
    return f"{resource.label}@{resource.digest}"
