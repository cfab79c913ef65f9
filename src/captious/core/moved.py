"""Old import paths of the public interface.

Rooms were renamed in version 0.7. `import captious.scores` still works: it imports
`captious.results.scores` with a `DeprecationWarning`. Files merged in version 0.9 are among them.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import sys
import warnings
from collections.abc import Sequence
from types import ModuleType

#: Old module → new module, without the leading `captious.`. Modules inside an old package follow their
#: package.
MOVED = {
    "cache": "core.cache",
    "comparison": "results.comparison",
    "encoding": "corpus.encoding",
    "errors": "core.errors",
    "frequencies": "corpus.frequencies",
    "human": "agreement",
    "io.saved_files": "core.container",
    "language": "parser",
    "learned": "metrics.learned",
    "measures": "metrics",
    "metrics.bleu": "metrics.captions.bleu",
    "metrics.chair": "metrics.captions.chair",
    "metrics.captions.boilerplate": "metrics.captions.text_measures",
    "metrics.captions.hedging": "metrics.captions.text_measures",
    "metrics.captions.readability": "metrics.captions.text_measures",
    "metrics.captions.repetition": "metrics.captions.text_measures",
    "metrics.captions.sentence_sim_lite": "metrics.captions.sentence_sim",
    "metrics.captions.text_measure": "metrics.captions.text_measures",
    "metrics.captions.truncation": "metrics.captions.text_measures",
    "metrics.cider": "metrics.captions.cider",
    "metrics.corpus.training_captions": "metrics.corpus.novel_captions",
    "metrics.meteor": "metrics.captions.meteor",
    "metrics.rouge": "metrics.captions.rouge",
    "metrics.spice": "metrics.captions.spice",
    "metrics.statistics": "metrics.base",
    "page": "reporting",
    "parser.sentences": "parser.parsed_sentences",
    "references": "results.references",
    "results.merging": "results.score_merging",
    "scene.build": "scene.graphs",
    "scene.tuple_table": "scene.sentence_tuples",
    "scores": "results.scores",
    "signature": "results.signatures",
    "significance": "results.significance",
    "statistics": "metrics.base",
    "torchmetrics": "compat.torchmetrics",
    "training.recipes": "training.network_recipes",
    "variety": "diversity_analysis",
}


class _OldPaths(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finder and loader of modules under their old names."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        return importlib.util.spec_from_loader(fullname, self) if _new_name(fullname) else None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        new = str(_new_name(spec.name))
        warnings.warn(
            DeprecationWarning(f"{spec.name} is now {new}; the old name will be removed in version 1.0"),
            stacklevel=2,
        )
        return importlib.import_module(new)

    def exec_module(self, module: ModuleType) -> None:
        """Give the module, which has run under its new name, its own spec again."""
        locations = list(module.__path__) if hasattr(module, "__path__") else None
        module.__spec__ = importlib.util.spec_from_file_location(
            module.__name__, module.__file__, submodule_search_locations=locations
        )


def _new_name(name: str) -> str | None:
    """Return the new name of a module, or None if it has not moved."""
    package, _, rest = name.partition(".")
    if package != "captious":
        return None
    # Try the longest prefix first.
    parts = rest.split(".")
    for size in range(len(parts), 0, -1):
        moved = MOVED.get(".".join(parts[:size]))
        if moved is not None:
            return ".".join(["captious", moved, *parts[size:]])
    return None


def install() -> None:
    """Make the old paths importable.

    This finder comes first, because Python's own would load the modules of an old package a second time.
    """
    sys.meta_path.insert(0, _OldPaths())
