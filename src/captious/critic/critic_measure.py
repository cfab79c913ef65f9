"""The critic as a metric: the probability that a person wrote a caption, by critics that are trained already.

``captious critic`` trains critics for each system. This measure applies finished ones to any captions,
wherever a metric can be named: ``-m Critic=critic.safetensors``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from captious.core import digests as digest
from captious.core.cache import content_digest
from captious.core.errors import InputError, MissingInputError, some
from captious.core.memo import cached_property
from captious.core.threads import require_torch
from captious.corpus import Corpus
from captious.io.id_matching import plain_id
from captious.metrics.base import FloatArray, Measure, Resource, as_statistics, check_needs
from captious.metrics.options import CRITIC, CRITIC_IMAGES, Option
from captious.text import fluency

if TYPE_CHECKING:
    from captious.critic.critic_network import TrainedCritic

Floats = NDArray[np.float32]
SUFFIX = ".safetensors"


class _Content(NamedTuple):
    """Digest of files for signatures."""

    label: str
    digest: str


class CriticMeasure(Measure):
    """Mean score of trained critics."""

    name = "Critic"
    summary = "probability that a person wrote the caption, by a trained critic (Cui et al. 2018)"
    perfect_is_maximum = False
    needs = frozenset({"references"})
    options: ClassVar[tuple[Option, ...]] = (CRITIC, CRITIC_IMAGES)
    value_option = "critic"

    def __init__(
        self,
        critic: str | Path | Sequence[TrainedCritic] | None = None,
        critic_images: str | Path | Mapping[str, Floats] | None = None,
        *,
        name: str = "Critic",
        fixed: Mapping[str, str] | None = None,
    ) -> None:
        """``critic`` is a file, a folder of files, or critics. Several are averaged.

        ``critic_images`` is a file of objects or features, or maps image ids to vectors, for critics that use
        the image.
        """
        self.name = name
        self._source, self._image_source = critic, critic_images
        self.fixed = dict(fixed or {})

    @property
    def _paths(self) -> list[Path]:
        """Files of the critics."""
        if not isinstance(self._source, str | Path):
            return []
        path = Path(self._source).expanduser()
        if not path.is_dir():
            return [path]
        paths = sorted(path.glob(f"*{SUFFIX}"))
        if not paths:
            raise InputError(
                f"{path} has no critics (*{SUFFIX}); name a critic, or a folder that 'captious critic … -o "
                "FOLDER' wrote, such as FOLDER/critics/SYSTEM"
            )
        return paths

    @cached_property
    def critics(self) -> tuple[TrainedCritic, ...]:
        """The critics, read on first use."""
        if self._source is None:
            return ()
        if not isinstance(self._source, str | Path):
            return tuple(self._source)
        return tuple(_load(path.resolve(), content_digest(path)) for path in self._existing())

    def _existing(self) -> list[Path]:
        paths = self._paths
        for path in paths:
            if not path.is_file():
                raise InputError(f"{path}: no such critic; create one with 'captious train critic'")
        return paths

    def check(self, corpus: Corpus | None = None) -> None:
        if self._source is None or (not isinstance(self._source, str | Path) and not len(self._source)):
            raise MissingInputError(
                "the measure Critic needs a trained critic: pass its file (-m Critic=FILE or --critic FILE), "
                "which 'captious train critic' or 'captious critic' wrote"
            )
        require_torch("scoring with a critic")
        if self._sees_images() and self._image_source is None:
            raise InputError(
                "this critic was trained with images: pass their objects or features (--critic-images FILE)"
            )
        if corpus is not None:
            check_needs(self, corpus)
            self._features(corpus)

    def _sees_images(self) -> bool:
        return any("image" in critic.model.shape.context for critic in self.critics)

    def resources(self) -> dict[str, Resource]:
        resources: dict[str, Resource] = {}
        if isinstance(self._source, str | Path):
            paths = self._existing()
            contents = digest.together(*(content_digest(path) for path in paths))
            resources["critic"] = _Content(
                f"{len(paths)} critics" if len(paths) > 1 else "1 critic", contents
            )
            if isinstance(self._image_source, str | Path) and self._sees_images():
                resources["images"] = _Content("images", content_digest(Path(self._image_source)))
        if any(critic.model.shape.reads_fluency for critic in self.critics):
            resources["detector"] = fluency.load()
        return resources

    def _features(self, corpus: Corpus) -> Floats | None:
        """Return one vector for each image of the references. Images without candidates have zeros."""
        if self._image_source is None or not self._sees_images():
            return None
        wanted = corpus.image_names
        if isinstance(self._image_source, Mapping):
            missing = [image for image in wanted if image not in self._image_source]
            if missing:
                raise InputError(f"the features have no vector for image {some(dict.fromkeys(missing))}")
            rows = np.stack([self._image_source[image] for image in wanted])
        else:
            from captious.generate.captioner.image_features import read_images

            classes = next((critic.classes for critic in self.critics if critic.classes), ())
            images = read_images(self._image_source, classes=classes)
            wanted = _as_in_file(wanted, images.ids)
            distinct = list(dict.fromkeys(wanted))
            vectors = images.take(distinct, str(self._image_source)).counted()
            place = {image: row for row, image in enumerate(distinct)}
            rows = vectors[[place[image] for image in wanted]]
        features = np.zeros((corpus.references.n_images, rows.shape[1]), np.float32)
        features[corpus.images] = rows
        return features

    def statistics(self, corpus: Corpus, state: Any) -> FloatArray:
        self.check()
        from captious.critic.critic_scoring import chances

        candidates, references = corpus.candidates, corpus.references
        features = self._features(corpus)
        image_of = corpus.images[candidates.image_of]
        values = [
            chances(
                critic,
                candidates.sentences,
                image_of,
                references.sentences,
                references.image_offsets,
                features,
            )
            for critic in self.critics
        ]
        return as_statistics(np.mean(values, axis=0))


def _as_in_file(wanted: Sequence[str], ids: Sequence[str]) -> list[str]:
    """Return the ids of a file for images that are named by file names or by numbers."""
    in_file = set(ids)
    if all(image in in_file for image in wanted):
        return list(wanted)
    plain = {plain_id(image): image for image in ids}
    return [image if image in in_file else plain.get(plain_id(image), image) for image in wanted]


@lru_cache(maxsize=16)
def _load(path: Path, content: str) -> TrainedCritic:
    """Read a critic, once as long as its file does not change."""
    require_torch("scoring with a critic")
    from captious.critic.critic_network import load_critic

    return load_critic(path)
