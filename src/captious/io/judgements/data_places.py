"""Where the files of judgement sets lie, and where people get those that are missing.

Nothing is ever downloaded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from captious.core.errors import InputError

#: What a missing file belongs to, and who gives it away.
SOURCES = {
    "flickr8k": "Flickr8k_text.zip of Hodosh et al. 2013 (ask the University of Illinois; mirrors are easy "
    "to find)",
    "flickr30k": "the Flickr30k annotations of Young et al. 2014 (University of Illinois)",
    "coco": "the COCO 2014 annotations (annotations_trainval2014.zip on cocodataset.org)",
    "composite": "AMT_eval of Aditya et al. 2015 (the DeepIU project page, Arizona State University)",
    "pascal50s": "the consensus data of Vedantam et al. 2015 (vrama91.github.io/cider)",
    "abstract50s": "the consensus data of Vedantam et al. 2015 (vrama91.github.io/cider)",
    "thumb": "the THumB repository of Kasai et al. 2022 (mscoco_THumB-1.0.jsonl)",
    "capeval1k": "the UMIC repository of Lee et al. 2021; its pickle has to be saved as JSON lines or CSV "
    "first, since a "
    "pickle could run code",
    "polaris": "the Polaris data set of Wada et al. 2024 (polaris_test.csv)",
    "nebula": "the Nebula data set of Matsuda et al. 2024",
    "cxc": "the Crisscrossed Captions repository of Parekh et al. 2021 (sts_val.csv), with "
    "dataset_coco.json of Karpathy's splits",
    "challenge2015": "the leaderboard of the COCO captioning challenge 2015 (cocodataset.org), saved as "
    "JSON lines or CSV",
    "distractions": "the binary forced-choice tasks of Hodosh & Hockenmaier 2016 (University of Illinois)",
}


@dataclass(frozen=True)
class Place:
    """A folder, and the folders beside and below it where a set's other files may lie."""

    folder: Path

    def find(self, names: Sequence[str], inside: Sequence[str] = ()) -> Path | None:
        """The first file of these names (a ``*`` stands for anything) here, in a folder of one of
        the names ``inside`` below here, or in such a folder beside this one. Each name is also
        looked for with ``.gz``."""
        return self._first(names, [*self._below(inside), *(self.folder.parent / name for name in inside)])

    def holds(self, names: Sequence[str], inside: Sequence[str] = ()) -> bool:
        """Whether one of these files is here or in a folder below; what lies beside belongs to
        someone else."""
        return self._first(names, self._below(inside)) is not None

    def _below(self, inside: Sequence[str]) -> list[Path]:
        return [self.folder, *(self.folder / name for name in inside)]

    @staticmethod
    def _first(names: Sequence[str], folders: Sequence[Path]) -> Path | None:
        for name in names:
            for folder in folders:
                for ending in ("", ".gz"):
                    found = sorted(folder.glob(name + ending)) if "*" in name else [folder / (name + ending)]
                    if found and found[0].is_file():
                        return found[0]
        return None

    def need(self, names: Sequence[str], source: str, inside: Sequence[str] = ()) -> Path:
        """As :meth:`find`; a missing file is an error that says where people get it."""
        found = self.find(names, inside)
        if found is None:
            looked = ", ".join([str(self.folder), *(f"{name}/" for name in inside)])
            raise InputError(f"no {' nor '.join(names)} in {looked}; people get it from {SOURCES[source]}")
        return found
