"""Long captions as vision-language models write them: several sentences with openings, clauses and punctuation, about related things, made of real captions."""

from __future__ import annotations

import random
from collections import Counter

from benchmarks.common import coco
from captious.text.stopwords import ENGLISH

REFERENCES = 5
_FIRST = ("The image shows", "The image depicts", "In this image, there is", "The photo captures")
_LATER = (
    "In the background, there is", "In the foreground, there is", "To the left,", "On the right side,", "There is also", "Nearby,",
    "Next to it,", "Further back, we see", "The scene also includes", "",
)  # fmt: skip
_JOINED = (", while", ", and", ", with", ";")
#: A caption has about ten words, and what joins them two or three: so many words come of one image's caption.
_WORDS_OF_ONE = 10


class Writer:
    """Texts of any length about neighbouring images: those whose references have the same words most often. Of a seed always the same."""

    def __init__(self, seed: int = 0) -> None:
        self.draw = random.Random(seed)
        self.references, self.predictions = coco()
        self.images = sorted(self.references, key=self._topic)

    def _topic(self, image: str) -> tuple[list[str], str]:
        """What the references of an image speak of, the commonest word first."""
        counted = Counter(
            word
            for text in self.references[image]
            for word in set(text.lower().replace(".", " ").replace(",", " ").split())
            if word not in ENGLISH
        )
        return [
            word for word, _ in sorted(counted.items(), key=lambda found: (-found[1], found[0]))[:3]
        ], image

    def text(self, captions: list[str], words: int) -> str:
        """Captions as clauses of sentences, one or two in each, until there are so many words; the last sentence is cut."""
        found: list[str] = []
        pool: list[str] = []
        while len(found) < words:
            sentence = self.draw.choice(_LATER if found else _FIRST).split()
            for clause in range(self.draw.randint(1, 2)):
                if not pool:
                    pool = self.draw.sample(captions, len(captions))
                if clause:
                    joint = self.draw.choice(_JOINED)
                    sentence[-1] += joint[0]
                    sentence += joint[1:].split()
                sentence += _clause(pool.pop())
            sentence[0] = sentence[0][:1].upper() + sentence[0][1:]
            sentence[-1] += "."
            found += sentence
        del found[words:]
        # A single letter before the last full stop is an abbreviation for the COCO tools' tokenizer, or not, depending on the next line of their file.
        if len(found[-1].rstrip(".,;")) < 2:
            found[-1] = "it"
        return " ".join(found).rstrip(".,;") + "."

    def rows(self, images: int, words: int, reference_words: int) -> list[tuple[str, list[str]]]:
        """Captions with their references, all of a row about the same neighbourhood of images."""
        told = []
        near = min(max(32, max(words, reference_words) // _WORDS_OF_ONE), len(self.images))
        for _ in range(images):
            start = self.draw.randrange(len(self.images) - near + 1)
            here = self.images[start : start + near]
            human = [text for image in here for text in self.references[image]]
            told.append(
                (
                    self.text([self.predictions[image] for image in here], words),
                    [self.text(human, reference_words) for _ in range(REFERENCES)],
                )
            )
        return told


def _clause(caption: str) -> list[str]:
    """A caption as part of a sentence: no capital at the beginning, no full stop at the end."""
    words = caption.strip().rstrip(". ").split() or ["something"]
    return [words[0][:1].lower() + words[0][1:], *words[1:]]
