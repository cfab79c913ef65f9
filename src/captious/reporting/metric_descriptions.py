"""Descriptions of what each metric sees and misses, in plain words."""

from __future__ import annotations

from typing import NamedTuple

from captious.metrics.base import Measure


class MetricDescription(NamedTuple):
    """One sentence each. The second may be empty."""

    sees: str
    misses: str


_NGRAMS = (
    "It cannot tell a synonym from a mistake, and a wrong word in the right place costs no more than any "
    "other "
    "word."
)

_KNOWN: dict[str, MetricDescription] = {
    "BLEU-1": MetricDescription(
        "The share of the caption's words that some reference has, with a penalty for short captions.",
        "It is blind to word order and to everything the caption leaves out.",
    ),
    "BLEU": MetricDescription(
        "Runs of words that the caption shares with its references, with a penalty for short captions.",
        _NGRAMS,
    ),
    "METEOR": MetricDescription(
        "Words aligned with the best reference by form, stem, synonym or paraphrase, less a penalty for "
        "broken order.",
        "It gives much for function words and does not know which words matter.",
    ),
    "ROUGE-L": MetricDescription(
        "The longest sequence of words, gaps allowed, that the caption shares with a reference.",
        "Common words in a common order are enough for a good score.",
    ),
    "CIDEr": MetricDescription(
        "Word sequences shared with the references, each weighed by how rare it is among images.",
        "What matters depends on the other images of the set; a rare wrong word costs little.",
    ),
    "SPICE": MetricDescription(
        "Objects, attributes and relations that caption and references agree on.",
        "Grammar and fluency do not count, and what the parser misreads is lost.",
    ),
    "SPIDEr": MetricDescription(
        "The mean of SPICE and CIDEr-D: facts and phrasing together.", "It shares the blind spots of both."
    ),
    "SPIDEr-FL": MetricDescription(
        "SPIDEr, divided by ten for captions in which the fluency detector finds an error.",
        "It shares the blind spots of SPIDEr, and the detector errs on unusual sentences.",
    ),
    "CaptiousScore-FL": MetricDescription(
        "CaptiousScore, divided by ten for captions in which the fluency detector finds an error.",
        "It shares the blind spots of CaptiousScore, and the detector errs on unusual sentences.",
    ),
    "FENSE": MetricDescription(
        "How close the meaning is to that of the references, divided by ten for captions with an error.",
        "Small wrong details count little, and the detector errs on unusual sentences.",
    ),
    "FENSE-lite": MetricDescription(
        "The same as FENSE with smaller vectors, which are part of captious.",
        "Small wrong details count little, and the detector errs on unusual sentences.",
    ),
    "FluencyError": MetricDescription(
        "The share of captions that break off, repeat themselves, or lack a verb or a conjunction.",
        "It does not ask whether the caption is right.",
    ),
    "ALOHa": MetricDescription(
        "How close the object that fits least is to the objects of the references.",
        "It looks at objects only, and at the worst of them.",
    ),
    "CAPTURE": MetricDescription(
        "Objects, attributes and relations that a description and the references share, also by close words.",
        "What the parser misreads is lost, and fluency does not count.",
    ),
    "FactRecall": MetricDescription(
        "Facts of the references that a description states.",
        "It does not see wrong facts.",
    ),
    "FactPrecision": MetricDescription(
        "Facts of a description that the references state.",
        "It does not see missing facts, and right facts beyond the references count as wrong.",
    ),
    "ParaSPICE": MetricDescription(
        "Objects, attributes and relations that a description and the references share, over all sentences.",
        "What the parser misreads is lost, and right details beyond the references count as wrong.",
    ),
    "ParaSPICE-P": MetricDescription(
        "The share of a description's objects, attributes and relations that the references have.",
        "Right details beyond the references count as wrong.",
    ),
    "ParaSPICE-R": MetricDescription(
        "The share of the references' objects, attributes and relations that a description has.",
        "It does not see wrong statements.",
    ),
    "ParaScore": MetricDescription(
        "Whether each sentence fits the references, and whether each reference has a sentence that fits it.",
        "Right details beyond the references count as wrong.",
    ),
    "ParaScore-lite": MetricDescription(
        "The same as ParaScore with smaller vectors, which are part of captious.",
        "Right details beyond the references count as wrong.",
    ),
    "ParaScore-lite-P": MetricDescription(
        "How well the sentences of a description fit the references, on average.",
        "It does not see what is missing.",
    ),
    "ParaScore-lite-R": MetricDescription(
        "How well some sentence of a description fits each reference, on average.",
        "It does not see wrong sentences.",
    ),
    "SPICE-U": MetricDescription(
        "How unusual the right things are that the caption says.",
        "It rewards rare facts, not complete descriptions.",
    ),
    "Uniq": MetricDescription(
        "How unusual the things are that the caption says.", "It does not ask whether they are right."
    ),
    "CHAIRs": MetricDescription(
        "The share of captions that name an object which is not in the image.",
        "Only objects of its table count; wrong attributes, relations and numbers pass.",
    ),
    "CHAIRi": MetricDescription(
        "The share of the named objects that are not in the image.",
        "Only objects of its table count; a caption that names nothing cannot be wrong.",
    ),
    "CHAIR-Cover": MetricDescription(
        "The share of the image's objects that the caption names.",
        "Only objects of its table count; wrong objects cost nothing.",
    ),
    "AMBER-CHAIR": MetricDescription(
        "The share of the named objects that are not in the image, by AMBER's annotation.",
        "Only words of the annotation count; wrong attributes, relations and numbers pass.",
    ),
    "Cover": MetricDescription(
        "The share of the image's objects that the description names, by AMBER's annotation.",
        "Wrong objects cost nothing.",
    ),
    "Hal": MetricDescription(
        "The share of descriptions that name an object which is not in the image, by AMBER's annotation.",
        "Long descriptions have more chances to be wrong.",
    ),
    "Cog": MetricDescription(
        "How many of the objects that models tend to invent the descriptions name.",
        "Other inventions pass.",
    ),
    "Rep": MetricDescription(
        "How much of a text repeats what it has said before, in the same words.",
        "Repetition in other words passes.",
    ),
    "Truncated": MetricDescription(
        "The share of texts that end in the middle of a sentence.",
        "A single sentence without a full stop counts as whole, unless its last word ends no sentence.",
    ),
    "Boilerplate": MetricDescription(
        "The share of texts that open with a phrase about the picture.",
        "Empty phrases further on pass.",
    ),
    "Hedging": MetricDescription(
        "The share of sentences with a word such as possibly.",
        "It does not ask whether there was a reason for doubt.",
    ),
    "Flesch": MetricDescription(
        "How easy a text is to read, by the lengths of its sentences and words.",
        "It does not ask whether the text is right, or well written.",
    ),
    "AttrPerObject": MetricDescription(
        "How many attributes the text gives for each object that it names.",
        "It does not ask whether they are right.",
    ),
    "RelPerObject": MetricDescription(
        "How many relations the text gives for each object that it names.",
        "It does not ask whether they are right.",
    ),
    "WMD": MetricDescription(
        "How far the caption's words must travel, as word vectors, to become a reference's words.",
        "Word order does not count, and opposites often have similar vectors.",
    ),
    "WEmbSim": MetricDescription(
        "How similar the caption's mean word vector is to those of the references.",
        "Word order does not count, and opposites often have similar vectors.",
    ),
    "MOWE": MetricDescription(
        "How similar the mean word vectors of caption and references are.",
        "Word order does not count, and opposites often have similar vectors.",
    ),
    "SentenceSim": MetricDescription(
        "How near the caption is to its references in the space of a sentence encoder.",
        "Who does what to whom is often lost.",
    ),
    "SentenceSim-lite": MetricDescription(
        "How near the caption is to its references, by word vectors fitted to a sentence encoder.",
        "Word order hardly counts, and who does what to whom is lost.",
    ),
    "CLIP-S": MetricDescription(
        "How near the caption is to the picture itself, by a model that reads both.",
        "It was made for short captions; counts, colours and who does what to whom often pass.",
    ),
    "RefCLIP-S": MetricDescription(
        "How near the caption is to the picture and to the nearest reference, by a model that reads both.",
        "A caption that says the same as one reference does well, whatever the others say.",
    ),
    "HWCM": MetricDescription(
        "Chains of words, each the head of the next, that caption and references share.",
        "It needs the right words: synonyms do not count.",
    ),
    "Precision": MetricDescription(
        "The share of the caption's word sequences that a reference has.",
        "It does not ask what the caption leaves out.",
    ),
    "Recall": MetricDescription(
        "The share of the references' words that the caption has.", "A long list of words would win."
    ),
    "TokenSim": MetricDescription(
        "How near each word, as the sentence encoder reads it in its place, is to its nearest word on the "
        "other side.",
        "A word that is near is not always right: colours and numbers are near each other.",
    ),
    "Soft-SPICE": MetricDescription(
        "Objects, attributes and relations that are near in meaning, though the words may differ.",
        "What the parser misreads is lost, and a wrong colour is still near the right one.",
    ),
    "CaptiousScore": MetricDescription(
        "Meaning, words in context, facts and word order, weighed by a model that learned to tell people's "
        "captions from worse ones.",
        "It has never seen the image: what no reference mentions cannot be confirmed.",
    ),
    "CaptiousScore-lite": MetricDescription(
        "Word vectors, facts and word order, weighed by a model that learned to tell people's captions from "
        "worse ones.",
        "It reads words without their context, and has never seen the image.",
    ),
    "LCEval": MetricDescription(
        "Thirteen metrics of words, meaning and grammar, weighed by a small network that learned to tell "
        "people's captions from those of other images.",
        "Where all of its metrics are blind, it is blind too, and good captions lie close together near 1.",
    ),
    "NNEval": MetricDescription(
        "Eight well-known metrics, weighed by a network that learned to tell people's captions from those "
        "of other images.",
        "Where all of its metrics are blind, it is blind too, and good captions lie close together near 1.",
    ),
    "Critic": MetricDescription(
        "How likely a person wrote the caption, for this image, by networks that learned to tell people's "
        "captions from this system's.",
        "It finds what gives a machine away, which need not be a mistake, and its scale is its own: compare "
        "only critics that were trained alike.",
    ),
    "Learned": MetricDescription(
        "Features of the caption, weighed by a model that was trained with captious on examples of your own.",
        "It knows what its examples taught it, and nothing of captions unlike them.",
    ),
    "Self-CIDEr": MetricDescription(
        "How little the captions of one image repeat each other, rare words weighing more.",
        "Wrong captions are diverse, too: read it beside accuracy.",
    ),
    "LSA": MetricDescription(
        "How many directions the captions of one image take, by their words.",
        "Wrong captions are diverse, too: read it beside accuracy.",
    ),
    "mBLEU": MetricDescription(
        "How much each caption of an image repeats the others; lower is more diverse.",
        "Small changes of wording count as much as new content.",
    ),
    "1-mBLEU": MetricDescription(
        "How little each caption of an image repeats the others.",
        "Small changes of wording count as much as new content.",
    ),
    "Div": MetricDescription(
        "Different words or word pairs over all words in the captions of an image.",
        "Longer captions repeat more, whatever they say.",
    ),
    "Unique": MetricDescription(
        "The share of an image's captions that are not repeated.", "One changed word makes a caption new."
    ),
    "F-measure": MetricDescription(
        "Accuracy and diversity of a set in one number.",
        "Two sets with very different balance can have the same value.",
    ),
}


def words_of(measure: Measure) -> MetricDescription:
    """Return the description of a measure, by default its own summary."""
    name = measure.name
    if name.startswith(("mean ", "oracle ")):
        kind, _, inner = name.partition(" ")
        description = _find(inner)
        which = "mean over the captions" if kind == "mean" else "best caption"
        return (
            MetricDescription(f"{inner} of the {which} of each image. {description.sees}", description.misses)
            if description
            else MetricDescription(measure.summary, "")
        )
    return _find(name) or MetricDescription(_sentence(measure.summary), "")


def _find(name: str) -> MetricDescription | None:
    """Look up a name, then the name of its family: BLEU-4 is a BLEU."""
    if name in _KNOWN:
        return _KNOWN[name]
    family = max((known for known in _KNOWN if name.startswith(known + "-")), key=len, default=None)
    return _KNOWN[family] if family is not None else None


_NEAR = {
    "mean": "Meaning, near all references",
    "max": "Meaning, near the nearest reference",
    "min": "Meaning, near the farthest reference",
    "centroid": "Meaning, near what the references have in common",
    "agreement": "How far the references agree",
}
_FOUND = {
    "precision": "Its words, found in each reference",
    "recall": "Words of each reference, found in it",
    "union": "Its words, found in any reference",
    "worst": "Its word that is farthest from all references",
    "shared-recall": "Words that references share, found in it",
    "agreement-recall": "Words of a reference, found in each other one",
    "agreement-union": "Words of a reference, found in any other one",
}
#: A feature, and how it looks at the caption.
_FEATURES: dict[str, tuple[str, str]] = {
    **{
        f"{kind}-{how}": (label, note)
        for kind, note in (
            ("sentence", "the whole sentence"),
            ("mapped-sentence", "the whole sentence, by vectors that bring captions of one image together"),
            ("word", "content words"),
            ("all-words", "all words"),
            ("caption", "the whole caption, by distilled vectors"),
            (
                "mapped-caption",
                "the whole caption, by distilled vectors that bring captions of one image together",
            ),
        )
        for how, label in _NEAR.items()
    },
    **{
        f"{kind}-{part}{idf}": (label, note + rare)
        for kind, note in (
            ("token", "words in context"),
            ("mapped-token", "words in context, by vectors that bring captions of one image together"),
            ("soft-word", "word by word"),
            ("caption-word", "word by word, by distilled vectors"),
        )
        for part, label in _FOUND.items()
        for idf, rare in (("", ""), ("-idf", ", rare ones count more"))
    },
    "tuple-precision": ("Its facts, near to those of the references", "scene graphs"),
    "tuple-recall": ("Facts of the references, near to its own", "scene graphs"),
    **{
        f"mapped-tuple-{part}": (label, "scene graphs, by vectors that bring captions of one image together")
        for part, label in (
            ("precision", "Its facts, near to those of the references"),
            ("recall", "Facts of the references, near to its own"),
        )
    },
    "spice-precision": ("Its facts that the references state", "scene graphs"),
    "spice-recall": ("Facts of the references that it states", "scene graphs"),
    "spice-f": ("Facts shared with the references", "scene graphs, as SPICE counts"),
    "word-mover": ("Its words, close to a reference’s as a whole", "word mover’s distance"),
    "word-order": ("Usual order of words", "pairs of neighbours"),
    "fluency": ("A whole sentence without repeats", "the fluency detector"),
    "shorter": ("Shorter than the references", "words"),
    "longer": ("Longer than the references", "words"),
}


def feature_words(name: str, measure: Measure | None = None) -> tuple[str, str]:
    """Return the description of a feature, and a remark. ``measure`` is set for metrics."""
    if measure is not None:
        return name, words_of(measure).sees
    label, note = _FEATURES[name]
    return label, f"{note} · {name}"


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + ("" if not text or text.endswith(".") else ".")
