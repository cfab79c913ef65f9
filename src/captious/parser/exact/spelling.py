"""Spelling as CoreNLP's lexicon treats it: American spellings, and the classes of unknown words.

The rules were determined from CoreNLP's answers for 8.7 million spellings of real and invented English words.
"""

from __future__ import annotations

import re

_WORDS = """
    anaesthetic:anesthetic analogue:analog analogues:analogs analyse:analyze analysed:analyzed
    armoured:armored cancelled:canceled cancelling:canceling capitalisation:capitalization
    capitalise:capitalize capitalised:capitalized centre:center chimaeric:chimeric coloured:colored
    colourful:colorful colouring:coloring defence:defense discoloured:discolored discolouring:discoloring
    encyclopaedia:encyclopedia endeavoured:endeavored endeavouring:endeavoring favoured:favored
    favouring:favoring favourite:favorite favourites:favorites fibre:fiber fibres:fibers finalise:finalize
    finalised:finalized finalising:finalizing flavoured:flavored flavouring:flavoring grey:gray
    honourable:honorable honoured:honored honouring:honoring humoured:humored humouring:humoring kerb:curb
    labelled:labeled labelling:labeling laboured:labored labouring:laboring leant:leaned learnt:learned
    localise:localize localised:localized manoeuvre:maneuver manoeuvres:maneuvers maximise:maximize
    maximised:maximized maximising:maximizing meagre:meager minimise:minimize minimised:minimized
    minimising:minimizing modernise:modernize modernised:modernized modernising:modernizing
    neighbourhood:neighborhood neighbourhoods:neighborhoods oestrogen:estrogen oestrogens:estrogens
    organisation:organization organisations:organizations penalise:penalize penalised:penalized
    popularise:popularize popularised:popularized popularises:popularizes popularising:popularizing
    practise:practice practised:practiced pressurise:pressurize pressurised:pressurized
    pressurises:pressurizes realise:realize realised:realized realises:realizes realising:realizing
    recognise:recognize recognised:recognized recognises:recognizes recognising:recognizing rumoured:rumored
    rumouring:rumoring savoured:savored savouring:savoring theatre:theater theatres:theaters titre:titer
    titres:titers travelled:traveled travelling:traveling
"""
_AMERICAN = dict(pair.split(":") for pair in _WORDS.split())
# Not "march" and "may", which are verbs.
_DAYS_AND_MONTHS = """
    monday tuesday wednesday thursday friday saturday sunday
    january february april june july august september october november december
"""
_AMERICAN.update((name, name.capitalize()) for name in _DAYS_AND_MONTHS.split())

_OUR = re.compile(r"[a-z]{3,}ours?")
# Words that keep their u, also as part of another word.
_KEEPS_U = re.compile(
    "carrefour|contour|cornflour|detour|devour|downpour|giaour|glamour|holour|inpour|outpour|pandour|paramour"
    "|pompadour|repour|tambour|troubadour|velour"
)
_PROGRAMME = re.compile(r"([a-z]*program)me(s?)")


def american(word: str) -> str:
    """Return the American spelling of a word, as CoreNLP does before a lookup.

    Days and months are capitalised.
    """
    listed = _AMERICAN.get(word)
    if listed is not None:
        return listed
    if "aem" in word:
        if word.endswith("aemia") and word.isascii() and word.islower() and word.isalpha():
            return word[:-5] + "emia"
        for old, new in (("haemato", "hemato"), ("leukaem", "leukem")):
            if old in word and word.isascii() and word.islower() and word.isalpha():
                return word.replace(old, new, 1)
    if "ou" in word and _OUR.fullmatch(word) and not _KEEPS_U.search(word):
        return word[:-4] + "ors" if word.endswith("s") else word[:-3] + "or"
    if "programme" in word and (match := _PROGRAMME.fullmatch(word)):
        return match[1] + match[2]
    return word


def signature(word: str, first: bool) -> str:
    """Return the class of an unknown word: case, hyphen, digits, last letter.

    `first` marks the sentence's first word.
    """
    lower = any(c.islower() for c in word)
    digits = sum(c.isdigit() for c in word)
    kind = "UNK"
    if word[:1].isupper() or word[:1].istitle():
        kind += "-ALLC" if not lower else "-INIT" if first else "-UC"
    elif lower:
        kind += "-LC"
    if "-" in word:
        kind += "-DASH"
    if digits:
        return kind + ("-NUM" if digits == len(word) else "-DIG")
    return kind + word[-1].lower() if len(word) > 3 else kind
