"""Words and tags that the rules refer to."""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


PUNCTUATION = frozenset([".", ",", ":", "``", "''", "-LRB-", "-RRB-", "HYPH"])
PHRASES = _words(
    """
    ADJP ADVP CONJP FRAG INTJ LST NAC NP NP-TMP NX PP PRN PRT QP ROOT RRC S SBAR SBARQ SINV SQ UCP VP WHADJP
    WHADVP WHNP WHPP
    """
)
NOMINAL = frozenset(["NP", "NP-TMP", "NX", "WHNP"])
NOUNS = frozenset(["NN", "NNS", "NNP", "NNPS"])
VERBS = frozenset(["VB", "VBD", "VBG", "VBN", "VBP", "VBZ", "MD"])
ADVERBS = frozenset(["RB", "RBR", "RBS", "WRB", "ADVP", "WHADVP"])
ADJECTIVES = frozenset(["JJ", "JJR", "JJS", "ADJP", "WHADJP", "VBG", "VBN", "VBD", "IN"])
NEGATIONS = frozenset(["not", "n't", "never"])
REFLEXIVE = frozenset(
    ["myself", "yourself", "himself", "herself", "itself", "ourselves", "yourselves", "themselves"]
)
NOUN_PHRASES = frozenset(["NP", "NP-TMP", "WHNP"])
# Forms that the reference tool treats as "to be" and as auxiliaries, including misspellings: all of the 5,385
# forms that it tags as verbs in captions were tried.
BE = _words(
    """
    be being been am are r is ai was were 'm m 're 's s `s art ar wase
    """
)
AUXILIARIES = BE | _words(
    """
    have has had having hav 've ve v a 'd d do does did du 'll ll wo ca will would shall sha should can
    could may might must get gets got getting gotten to na
    """
)
HAVE = frozenset(["have", "has", "had", "having", "hav", "'ve", "ve", "v", "'d", "d"])
PASSIVE = BE | frozenset(["get", "gets", "got", "getting", "gotten"])
LINKING = frozenset(
    f"{stem}{ending}"
    for stem, endings in {
        "becom": "e es ing",
        "becam": "e",
        "seem": " s ed ing",
        "remain": " s ed ing",
        "resembl": "e es ed ing",
    }.items()
    for ending in endings.split(" ")
)
TEMPORAL = _words(
    """
    january february march april may june july august september october november december monday tuesday
    wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays saturdays
    sundays today tomorrow yesterday morning mornings evening evenings night nights day days week weeks
    month months year years spring summer fall winter autumn
    """
)
# Verbs whose object is the subject of the following infinitive.
CONTROL = _words(
    """
    require requires required requiring force forces forced forcing order orders ordered ordering beg
    begs begged begging tell tells told telling allow allows allowed allowing ask asks asked asking
    encourage encourages encouraged encouraging urge urges urged urging lobby lobbies lobbied lobbying
    expect expects expected expecting demand demands demanded demanding persuade persuades persuaded
    persuading convinces convinced convincing advise advises advised advising pressure pressures
    pressured pressuring prompt prompts prompted prompting implore implores implored imploring
    """
)
