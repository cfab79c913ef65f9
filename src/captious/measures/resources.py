"""Resources: tables and models that numbers depend on. A signature names each by its content."""

from __future__ import annotations

from typing import Protocol, runtime_checkable


@runtime_checkable
class Resource(Protocol):
    """Anything whose content decides a score: document frequencies, vectors, weights, word lists, objects."""

    @property
    def digest(self) -> str:
        """A short name of the content (:mod:`captious.digest`)."""
        ...

    @property
    def label(self) -> str:
        """What people call it, short."""
        ...


def in_signature(resource: Resource) -> str:
    """``label@digest``."""
    return f"{resource.label}@{resource.digest}"
