"""Captions that benchmarks score: COCO, random words, recombined captions and long texts."""

from __future__ import annotations

import gzip
import json
import os
import random
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from captious.text.stopwords import ENGLISH

ROOT = Path(__file__).resolve().parent.parent
#: References per image of generated captions.
REFERENCES = 5

#: References and one system's captions by image.
References = dict[str, list[str]]
Predictions = dict[str, str]


def data_folder() -> Path | None:
    """Return the folder of the public data sets (CAPTIOUS_DATA, else ../shared/data), or None."""
    folder = Path(os.environ.get("CAPTIOUS_DATA") or ROOT.parent / "shared" / "data")
    return folder if folder.is_dir() else None


def public_data() -> Path:
    """Return the folder of the public data sets, or end the program."""
    return data_folder() or sys.exit(
        "this benchmark needs the public data sets: set CAPTIOUS_DATA to their folder"
    )


def read_jsonl(path: Path) -> list[Any]:
    """Read a gzipped JSONL file."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def coco(system: str = "Dai-et-al-2017", images: int | None = None) -> tuple[References, Predictions]:
    """Return raw references and one system's captions of COCO, or random captions without the public data."""
    folder = data_folder()
    if folder is None:
        return random_captions(images or 12_454)
    references = {
        str(row["image_id"]): row["captions"] for row in read_jsonl(folder / "coco" / "references.jsonl.gz")
    }
    predictions = coco_system(folder, system)
    ids = list(references)[:images]
    return {image: references[image] for image in ids}, {image: predictions[image] for image in ids}


def coco_systems(folder: Path) -> list[str]:
    """Return the names of the COCO systems in the public data."""
    return sorted(
        path.name.removesuffix(".jsonl.gz") for path in (folder / "coco/systems").glob("*.jsonl.gz")
    )


def coco_system(folder: Path, name: str) -> Predictions:
    """Return the captions of one COCO system by image."""
    rows = read_jsonl(folder / "coco" / "systems" / f"{name}.jsonl.gz")
    return {str(row["image_id"]): row["caption"] for row in rows}


def random_captions(images: int, seed: int = 0) -> tuple[References, Predictions]:
    """Draw captions of COCO's length (about 10 words) and word frequencies (Zipf's law)."""
    rng = random.Random(seed)
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = ["".join(rng.choices(letters, k=rng.randint(2, 9))) for _ in range(20_000)]
    weights = [1 / (rank + 2.7) for rank in range(len(words))]

    def caption() -> str:
        return " ".join(rng.choices(words, weights, k=max(5, round(rng.gauss(10.5, 2))))).capitalize() + "."

    references = {str(i): [caption() for _ in range(REFERENCES)] for i in range(images)}
    return references, {i: caption() for i in references}


def write_coco(folder: Path, references: References, predictions: Predictions) -> tuple[Path, Path]:
    """Write COCO's annotation and result files and return their paths."""
    annotations = [
        {"image_id": int(image), "id": k, "caption": text}
        for k, (image, text) in enumerate((i, t) for i, texts in references.items() for t in texts)
    ]
    head = {"info": {}, "licenses": [], "type": "captions", "images": [{"id": int(i)} for i in references]}
    results = [{"image_id": int(image), "caption": text} for image, text in predictions.items()]
    paths = folder / "references.json", folder / "results.json"
    paths[0].write_text(json.dumps({**head, "annotations": annotations}))
    paths[1].write_text(json.dumps(results))
    return paths


class Recombiner:
    """Generator of any number of captions: the beginning of one COCO caption and the end of another."""

    def __init__(self, seed: int = 0) -> None:
        references, predictions = coco()
        self.seed = seed
        self.references = _halves([text for texts in references.values() for text in texts])
        self.predictions = _halves(list(predictions.values()))

    def write(self, folder: Path, images: int) -> tuple[Path, Path]:
        """Write COCO's annotation and result files without holding all captions in memory."""
        paths = folder / "references.json", folder / "results.json"
        rng = random.Random(self.seed)
        rows = (
            f'{{"image_id": {k // REFERENCES}, "id": {k}, "caption": {text}}}'
            for k, text in enumerate(_recombined(self.references, images * REFERENCES, rng))
        )
        ids = ", ".join(f'{{"id": {i}}}' for i in range(images))
        head = f'{{"info": {{}}, "licenses": [], "type": "captions", "images": [{ids}], "annotations": ['
        _write_rows(paths[0], head, rows, "]}")
        rows = (
            f'{{"image_id": {i}, "caption": {text}}}'
            for i, text in enumerate(_recombined(self.predictions, images, rng))
        )
        _write_rows(paths[1], "[", rows, "]")
        return paths


def _halves(texts: list[str]) -> tuple[list[str], list[str]]:
    """Return the beginnings and the ends of captions, escaped for JSON strings."""
    words = [text.split() for text in texts]
    quoted = [
        (json.dumps(" ".join(own[: len(own) // 2]))[1:-1], json.dumps(" ".join(own[len(own) // 2 :]))[1:-1])
        for own in words
        if len(own) > 1
    ]
    return [begin for begin, _ in quoted], [end for _, end in quoted]


def _recombined(halves: tuple[list[str], list[str]], count: int, rng: random.Random) -> Iterator[str]:
    begins, ends = halves
    size, step = len(begins), 100_000
    for start in range(0, count, step):
        number = min(step, count - start)
        for a, b in zip(rng.choices(range(size), k=number), rng.choices(range(size), k=number)):
            yield f'"{begins[a]} {ends[b]}"'


def _write_rows(path: Path, head: str, rows: Iterator[str], tail: str) -> None:
    with path.open("w", encoding="utf-8", buffering=1 << 20) as out:
        out.write(head)
        out.write(next(rows))
        for row in rows:
            out.write(", ")
            out.write(row)
        out.write(tail)


_FIRST_OPENINGS = ("The image shows", "The image depicts", "In this image, there is", "The photo captures")
_LATER_OPENINGS = (
    "In the background, there is",
    "In the foreground, there is",
    "To the left,",
    "On the right side,",
    "There is also",
    "Nearby,",
    "Next to it,",
    "Further back, we see",
    "The scene also includes",
    "",
)
_JOINTS = (", while", ", and", ", with", ";")
#: Words that one image's caption contributes to a long text.
_WORDS_PER_CAPTION = 10


class LongTexts:
    """Generator of long captions as vision-language models write them.

    A text has several sentences with openings, clauses and punctuation. Its clauses are captions of
    neighbouring images: those whose references have the same frequent words. Equal seeds give equal texts.
    """

    def __init__(self, seed: int = 0) -> None:
        self.rng = random.Random(seed)
        self.references, self.predictions = coco()
        self.images = sorted(self.references, key=self._topic)

    def _topic(self, image: str) -> tuple[list[str], str]:
        """Return the three most frequent content words of an image's references as a sort key."""
        counts = Counter(
            word
            for text in self.references[image]
            for word in set(text.lower().replace(".", " ").replace(",", " ").split())
            if word not in ENGLISH
        )
        return [word for word, _ in sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:3]], image

    def text(self, captions: list[str], words: int) -> str:
        """Join captions to sentences of one or two clauses. The text is cut after ``words`` words."""
        text: list[str] = []
        pool: list[str] = []
        while len(text) < words:
            sentence = self.rng.choice(_LATER_OPENINGS if text else _FIRST_OPENINGS).split()
            for clause in range(self.rng.randint(1, 2)):
                if not pool:
                    pool = self.rng.sample(captions, len(captions))
                if clause:
                    joint = self.rng.choice(_JOINTS)
                    sentence[-1] += joint[0]
                    sentence += joint[1:].split()
                sentence += _clause(pool.pop())
            sentence[0] = sentence[0][:1].upper() + sentence[0][1:]
            sentence[-1] += "."
            text += sentence
        del text[words:]
        # The COCO tokenizer treats a single letter before the last full stop as an abbreviation or not,
        # depending on the next line of its input.
        if len(text[-1].rstrip(".,;")) < 2:
            text[-1] = "it"
        return " ".join(text).rstrip(".,;") + "."

    def rows(self, images: int, words: int, reference_words: int) -> list[tuple[str, list[str]]]:
        """Generate captions with references. All texts of a row are about the same neighbourhood."""
        rows = []
        size = min(max(32, max(words, reference_words) // _WORDS_PER_CAPTION), len(self.images))
        for _ in range(images):
            start = self.rng.randrange(len(self.images) - size + 1)
            neighbours = self.images[start : start + size]
            human = [text for image in neighbours for text in self.references[image]]
            caption = self.text([self.predictions[image] for image in neighbours], words)
            rows.append((caption, [self.text(human, reference_words) for _ in range(REFERENCES)]))
        return rows


def _clause(caption: str) -> list[str]:
    """Return the words of a caption without capital and full stop."""
    words = caption.strip().rstrip(". ").split() or ["something"]
    return [words[0][:1].lower() + words[0][1:], *words[1:]]
