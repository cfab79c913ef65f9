"""Stand-in for pycocoevalcap and its relatives: unmodified evaluation code runs on captious.

    import captious.compat
    captious.compat.install()
    from pycocoevalcap.eval import COCOEvalCap       # is captious.compat.COCOEvalCap

``captious wrap -- COMMAND`` does this for a program and for the programs that it starts. Child processes find
the stand-in through the environment: a folder on ``PYTHONPATH`` whose ``sitecustomize`` installs it when
Python starts.
"""

from __future__ import annotations

import importlib.machinery
import os
import subprocess
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType

from captious.core.errors import InputError, did_you_mean

__all__ = ["environment", "install", "run_wrapped", "uninstall"]

#: Names of a module, each with its module in captious and its name there.
Names = dict[str, tuple[str, str]]

_COCO = "captious.compat.coco"
_CAP = "captious.compat.pycocoevalcap"
_CIDER = "captious.compat.pyciderevalcap"

#: Modules of pycocoevalcap, and the names in them: module of captious and name there.
_PYCOCOEVALCAP: dict[str, Names] = {
    "": {},
    "eval": {
        name: (_CAP, name)
        for name in ("COCOEvalCap", "PTBTokenizer", "Bleu", "Meteor", "Rouge", "Cider", "Spice")
    },
    "tokenizer": {},
    "tokenizer.ptbtokenizer": {
        "PTBTokenizer": (_CAP, "PTBTokenizer"),
        "PUNCTUATIONS": (_CAP, "PUNCTUATIONS"),
    },
    "bleu": {},
    "bleu.bleu": {"Bleu": (_CAP, "Bleu"), "BleuScorer": (_CAP, "BleuScorer")},
    "bleu.bleu_scorer": {"BleuScorer": (_CAP, "BleuScorer")},
    "rouge": {},
    "rouge.rouge": {"Rouge": (_CAP, "Rouge")},
    "cider": {},
    "cider.cider": {"Cider": (_CAP, "Cider"), "CiderScorer": (_CAP, "CiderScorer")},
    "cider.cider_scorer": {"CiderScorer": (_CAP, "CiderScorer")},
    "ciderD": {},
    "ciderD.ciderD": {"CiderD": (_CIDER, "CiderD")},
    "ciderD.ciderD_scorer": {"CiderScorer": (_CIDER, "CiderDScorer")},
    "meteor": {},
    "meteor.meteor": {"Meteor": (_CAP, "Meteor")},
    "spice": {},
    "spice.spice": {"Spice": (_CAP, "Spice")},
}
_PYCIDEREVALCAP: dict[str, Names] = {
    **{name: names for name, names in _PYCOCOEVALCAP.items() if name.partition(".")[0] in ("", "ciderD")},
    "eval": {name: (_CIDER, name) for name in ("CIDErEvalCap", "PTBTokenizer", "Cider", "CiderD")},
    "tokenizer": {},
    "tokenizer.ptbtokenizer": {
        "PTBTokenizer": (_CIDER, "PTBTokenizer"),
        "PUNCTUATIONS": (_CAP, "PUNCTUATIONS"),
    },
    "cider": {},
    "cider.cider": {"Cider": (_CIDER, "Cider")},
    "cider.cider_scorer": {"CiderScorer": (_CIDER, "CiderScorer")},
}
_PYCOCOTOOLS: dict[str, Names] = {"": {}, "coco": {"COCO": (_COCO, "COCO")}}


def _under(package: str, modules: dict[str, Names]) -> dict[str, Names]:
    return {f"{package}.{name}".rstrip("."): names for name, names in modules.items()}


#: Modules that always resolve to captious.
MODULES = {
    **_under("pycocoevalcap", _PYCOCOEVALCAP),
    **_under("pyciderevalcap", _PYCIDEREVALCAP),
    "coco_caption": {},
    **_under("coco_caption.pycocoevalcap", _PYCOCOEVALCAP),
    **_under("coco_caption.pycocotools", _PYCOCOTOOLS),
}
#: Modules that do so where they are not installed.
FALLBACKS = _under("pycocotools", _PYCOCOTOOLS)


class _Loader:
    """Makes a module whose names are those of captious."""

    def __init__(self, names: Names) -> None:
        self.names = names

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        return ModuleType(spec.name, f"Stand-in by captious for {spec.name}.")

    def exec_module(self, module: ModuleType) -> None:
        for name, (home, there) in self.names.items():
            setattr(module, name, getattr(import_module(home), there))
        module.__dict__["__captious__"] = True


class _Finder:
    """Finds the modules of the stand-in by name."""

    def __init__(self, modules: dict[str, Names]) -> None:
        self.modules = modules

    def find_spec(
        self, name: str, path: object = None, target: object = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name not in self.modules:
            if name.partition(".")[0] in self.modules and _is_ours(name.partition(".")[0]):
                raise ModuleNotFoundError(
                    f"No module named {name!r}: captious stands in for "
                    f"{name.partition('.')[0]} and has no such module"
                    f"{did_you_mean(name, self.modules)} (captious.compat.uninstall() ends that)",
                    name=name,
                )
            return None
        is_package = any(other.startswith(f"{name}.") for other in self.modules)
        loader: object = _Loader(self.modules[name])
        return importlib.machinery.ModuleSpec(name, loader, is_package=is_package)  # type: ignore[arg-type]


_FIRST, _LAST = _Finder(MODULES), _Finder(FALLBACKS)


def _is_ours(name: str) -> bool:
    return bool(getattr(sys.modules.get(name), "__captious__", False))


def install(*, children: bool = True) -> None:
    """Let ``pycocoevalcap``, ``pyciderevalcap`` and ``coco_caption`` resolve to captious in this process.

    ``pycocotools.coco`` does so where pycocotools is not installed. Names that code has imported before keep
    their meaning. With ``children``, the environment is changed so that child processes follow.
    """
    if _FIRST not in sys.meta_path:
        for name in [name for name in sys.modules if name in MODULES and not _is_ours(name)]:
            del sys.modules[name]
        sys.meta_path.insert(0, _FIRST)
        sys.meta_path.append(_LAST)
    if children:
        os.environ.update(environment(os.environ))


def uninstall() -> None:
    """Undo :func:`install`."""
    for finder in (_FIRST, _LAST):
        if finder in sys.meta_path:
            sys.meta_path.remove(finder)
    for name in [name for name in sys.modules if (name in MODULES or name in FALLBACKS) and _is_ours(name)]:
        del sys.modules[name]
    folders = [folder for folder in os.environ.get("PYTHONPATH", "").split(os.pathsep) if folder]
    if str(_STARTUP) in folders:
        folders.remove(str(_STARTUP))
        os.environ["PYTHONPATH"] = os.pathsep.join(folders)


#: Folder with the ``sitecustomize`` that installs the stand-in when Python starts.
_STARTUP = Path(__file__).with_name("startup")


def environment(variables: os._Environ[str] | dict[str, str]) -> dict[str, str]:
    """Return the variables that make Python programs use the stand-in."""
    folders = [folder for folder in variables.get("PYTHONPATH", "").split(os.pathsep) if folder]
    if str(_STARTUP) not in folders:
        folders.insert(0, str(_STARTUP))
    return {"PYTHONPATH": os.pathsep.join(folders)}


def run_wrapped(command: Sequence[str]) -> int:
    """Run a command whose Python programs, and those that they start, use the stand-in.

    Return its exit code.
    """
    if not command:
        raise InputError("there is no command to run: captious wrap -- python evaluate.py …")
    try:
        done = subprocess.run(list(command), env={**os.environ, **environment(os.environ)}, check=False)
    except FileNotFoundError:
        raise InputError(f"there is no program {command[0]!r}; give the command after '--'") from None
    except OSError as error:
        raise InputError(f"{command[0]!r} cannot be run: {error.strerror or error}") from None
    return done.returncode
