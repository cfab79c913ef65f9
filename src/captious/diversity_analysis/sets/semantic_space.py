"""Captions as points in a latent semantic space, and on a map (multidimensional scaling)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np

from captious.core.errors import InputError, did_you_mean
from captious.core.ragged import IntArray
from captious.corpus import Captions, Corpus
from captious.corpus.frequencies import DocumentFrequencies
from captious.diversity_analysis.sets.set_diversity import read_df
from captious.metrics.base import FloatArray
from captious.metrics.sets.similarity_kernels import KernelChoice, make_kernel, symmetric_part
from captious.text.stopwords import ENGLISH

#: Number of axes of the paper's radar charts.
AXES = 5


class Latent(NamedTuple):
    """Captions in the latent semantic space, the strongest axis first."""

    #: One row per caption, one column per axis: right singular vectors (or eigenvectors) of length 1.
    coordinates: FloatArray
    #: Singular values (square roots of eigenvalues) of the axes. Coordinates times these are positions.
    strengths: FloatArray
    #: Words with the largest weights on each axis. Empty for kernels without words.
    words: list[list[str]]

    @property
    def positions(self) -> FloatArray:
        """Coordinates scaled by the strength of their axis."""
        return self.coordinates * self.strengths


def latent_space(
    corpus: Corpus,
    image: str,
    *,
    by: Literal["LSA", "Self-CIDEr"] = "LSA",
    axes: int = AXES,
    df: DocumentFrequencies | None = None,
    kernel: KernelChoice = "cider",
    stop_words: frozenset[str] = ENGLISH,
) -> Latent:
    """Compute the latent semantic space of one image's candidates.

    "LSA" uses the right singular vectors of the word-count matrix without stop words (otherwise "a" is the
    first axis). "Self-CIDEr" uses the eigenvectors of the kernel matrix, whose document frequencies already
    damp such words. There are at most as many axes as captions. Signs are chosen so that the largest entry of
    an axis is positive, and axes of strength 0 are 0.

    Parameters
    ----------
    corpus
        Images with several candidates each.
    image
        Id of the image.
    by
        "LSA" or "Self-CIDEr".
    axes
        Largest number of axes.
    df
        Document frequencies of the kernel (default: of the corpus's references).
    kernel
        Kernel of "Self-CIDEr".
    stop_words
        Words that "LSA" leaves out.

    Examples
    --------
    >>> import captious
    >>> from captious.data import demo_path
    >>> corpus = captious.load(demo_path("references"), demo_path("sampling"), several=True)
    >>> latent_space(corpus, "1001", axes=2).coordinates.shape
    (10, 2)
    """
    captions, index = corpus.candidates, captions_of(corpus, image)
    if by == "LSA":
        counts, words = count_matrix(captions, index, stop_words)
        left, strengths, right = np.linalg.svd(counts, full_matrices=False)
        vectors = right.T
    elif by == "Self-CIDEr":
        values, vectors = np.linalg.eigh(kernel_matrix(corpus, captions, index, kernel=kernel, df=df))
        strengths, vectors = np.sqrt(np.maximum(values[::-1], 0.0)), vectors[:, ::-1]
        left, words = np.zeros((0, len(strengths))), []
    else:
        raise InputError(f"unknown space '{by}'{did_you_mean(by, ['LSA', 'Self-CIDEr'])}")
    k = min(axes, vectors.shape[1])
    strengths, vectors, left = strengths[:k], vectors[:, :k].copy(), left[:, :k]
    sign = (
        np.where(vectors[np.abs(vectors).argmax(axis=0), np.arange(k)] < 0, -1.0, 1.0)
        if len(vectors)
        else np.ones(k)
    )
    is_nonzero = strengths > 1e-7 * strengths.max(initial=0.0)
    vectors *= sign * is_nonzero
    return Latent(
        vectors, np.where(is_nonzero, strengths, 0.0), _heavy_words(left * sign * is_nonzero, words)
    )


def _heavy_words(weights: FloatArray, words: list[str], count: int = 3) -> list[list[str]]:
    if not words:
        return [[] for _ in range(weights.shape[1])]
    order = np.argsort(-weights, axis=0, kind="stable")[:count]
    return [[words[i] for i in order[:, k].tolist() if weights[i, k] > 1e-9] for k in range(weights.shape[1])]


def captions_of(corpus: Corpus, image: str) -> IntArray:
    """Return the indices of an image's candidates."""
    try:
        i = corpus.ids.index(str(image))
    except ValueError:
        raise InputError(
            f"{corpus.name} has no image '{image}'{did_you_mean(str(image), corpus.ids)}"
        ) from None
    offsets = corpus.candidates.image_offsets
    return np.arange(offsets[i], offsets[i + 1], dtype=np.int64)


def count_matrix(
    captions: Captions, index: IntArray, stop_words: frozenset[str] = frozenset()
) -> tuple[FloatArray, list[str]]:
    """Return the count matrix (words × captions), and the words."""
    spelled = [[word for word in captions.words(i) if word not in stop_words] for i in index.tolist()]
    words = sorted({word for caption in spelled for word in caption})
    row_of = {word: i for i, word in enumerate(words)}
    counts = np.zeros((len(words), len(index)))
    for column, caption in enumerate(spelled):
        for word in caption:
            counts[row_of[word], column] += 1
    return counts, words


def kernel_matrix(
    corpus: Corpus,
    captions: Captions,
    index: IntArray,
    *,
    kernel: KernelChoice = "cider",
    df: DocumentFrequencies | None = None,
) -> FloatArray:
    """Return the similarities of all pairs of captions, across images."""
    kernel_object = make_kernel(kernel, read_df(df))
    rows, columns = (place.ravel() for place in np.indices((len(index), len(index))))
    state = kernel_object.prepare(corpus.references)
    values = kernel_object.similarities(captions, index[rows], index[columns], state).reshape(
        len(index), len(index)
    )
    return symmetric_part(values)


class Placed(NamedTuple):
    """Captions of one image by one system, as points on a map."""

    image: str
    system: str
    texts: list[str]
    #: One row per caption.
    points: FloatArray
    human: bool


def caption_map(
    corpora: Sequence[Corpus],
    images: Sequence[str],
    *,
    human: bool = True,
    kernel: KernelChoice = "cider",
    df: DocumentFrequencies | None = None,
) -> list[Placed]:
    """Place captions of several images, by several systems and (``human``) by people, on one map.

    Points come from :func:`mds`. n-grams are weighted by the references of the first corpus, unless ``df`` is
    set.

    Parameters
    ----------
    corpora
        Systems with the same images and references.
    images
        Ids of the images.
    human
        Include the references.
    kernel
        Similarity of two captions.
    df
        Document frequencies of the kernel.

    Examples
    --------
    >>> import captious
    >>> from captious.data import demo_path
    >>> corpus = captious.load(demo_path("references"), demo_path("sampling"), several=True)
    >>> [placed] = caption_map([corpus], ["1001"], human=False)
    >>> placed.points.shape
    (10, 2)
    """
    first = corpora[0]
    groups: list[tuple[str, str, list[str], bool]] = []
    for image in map(str, images):
        for corpus in corpora:
            index = captions_of(corpus, image)
            groups.append((image, corpus.name, [corpus.candidates.texts[i] for i in index.tolist()], False))
        if human:
            reference_image = int(first.images[first.ids.index(image)])
            begin, end = first.references.image_offsets[reference_image : reference_image + 2].tolist()
            groups.append((image, "human", list(first.references.texts[begin:end]), True))
    all_captions = Captions.of([texts for _, _, texts, _ in groups], first.tokenizer, over=first.references)
    points = mds(kernel_matrix(first, all_captions, np.arange(len(all_captions)), kernel=kernel, df=df))
    bounds = all_captions.image_offsets.tolist()
    return [
        Placed(image, system, texts, points[begin:end], people)
        for (image, system, texts, people), begin, end in zip(groups, bounds[:-1], bounds[1:])
    ]


def distances(similarities: FloatArray) -> FloatArray:
    """Return distances in the space of a kernel: the square roots of K_ii + K_jj − 2 K_ij."""
    own = np.diag(similarities)
    squares: FloatArray = own[:, None] + own[None, :] - 2 * similarities
    return np.sqrt(np.maximum(squares, 0.0))


def mds(similarities: FloatArray, dimensions: int = 2, *, iterations: int = 300) -> FloatArray:
    """Compute points whose distances fit those of a kernel (multidimensional scaling).

    Classical scaling is followed by ``iterations`` steps of stress majorisation (SMACOF). The result is
    deterministic: the sign of each dimension is chosen so that its largest entry is positive.

    Parameters
    ----------
    similarities
        A symmetric matrix with ones on its diagonal.
    dimensions
        Number of coordinates.
    iterations
        Steps of stress majorisation.

    Examples
    --------
    >>> import numpy as np
    >>> mds(np.array([[1.0, 0.5], [0.5, 1.0]])).shape
    (2, 2)
    """
    m = len(similarities)
    if m == 0:
        return np.zeros((0, dimensions))
    points = _classical(similarities, dimensions)
    target = distances(similarities)
    for _ in range(iterations):
        current = np.sqrt(((points[:, None, :] - points[None, :, :]) ** 2).sum(axis=-1))
        ratio = np.divide(target, current, out=np.zeros_like(target), where=current > 1e-12)
        moved = (ratio.sum(axis=1)[:, None] * points - ratio @ points) / m
        if np.abs(moved - points).max() < 1e-9:
            break
        points = moved
    sign = np.where(points[np.abs(points).argmax(axis=0), np.arange(dimensions)] < 0, -1.0, 1.0)
    return points * sign


def _classical(similarities: FloatArray, dimensions: int) -> FloatArray:
    m = len(similarities)
    centring = np.eye(m) - 1.0 / m
    values, vectors = np.linalg.eigh(centring @ similarities @ centring)
    values, vectors = values[::-1][:dimensions], vectors[:, ::-1][:, :dimensions]
    points = np.zeros((m, dimensions))
    points[:, : vectors.shape[1]] = vectors * np.sqrt(np.maximum(values, 0.0))
    return points
