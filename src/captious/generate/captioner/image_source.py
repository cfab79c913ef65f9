"""Where the images of a captioner or a critic come from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from captious.core.errors import InputError
from captious.generate.captioner.backbone import Photographs
from captious.generate.captioner.image_features import ImageFeatures, read_images


@dataclass(frozen=True)
class ImageSource:
    """A file of objects or features, or photographs with a network that computes features."""

    path: str | Path
    #: ONNX network for photographs, and the name of the output to use (default: its last feature map).
    backbone: str | Path | None = None
    backbone_output: str | None = None
    #: File with the image ids of a bare array, one per line.
    ids: str | Path | None = None
    #: Threads of the network.
    threads: int = 1

    @classmethod
    def of(cls, images: str | Path | ImageSource) -> ImageSource:
        """Return the source itself, or the source of a path."""
        return images if isinstance(images, ImageSource) else cls(images)

    def photographs(self, classes: Sequence[str] = ()) -> Photographs | None:
        """Open the folder of photographs; None for files.

        ``classes`` are those of the model that reads the images.
        """
        if self.backbone is None:
            if Path(self.path).is_dir():
                raise InputError(
                    f"{self.path} is a folder of photographs; "
                    "name a network that computes their features with --backbone"
                )
            return None
        photographs = Photographs(self.path, self.backbone, output=self.backbone_output, threads=self.threads)
        if classes:
            raise InputError(
                f"{self.path}: the model was trained on objects (classes by name), "
                "and these are photographs; give objects"
            )
        return photographs

    def read(self, wanted: Sequence[str] | None = None, classes: Sequence[str] = ()) -> ImageFeatures:
        """Return the features of the wanted images, or of all."""
        photographs = self.photographs(classes)
        if photographs is not None:
            return photographs.images(photographs.ids if wanted is None else wanted)
        images = read_images(self.path, self.ids, classes)
        return images if wanted is None else images.take(wanted, str(self.path))
