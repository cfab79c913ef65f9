"""All measures by name, and their creation. A measure's module is imported when it is first requested."""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache, lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from captious.core.errors import InputError, MissingExtraError, MissingInputError, did_you_mean, some
from captious.io import CaptionWarning
from captious.io.frequency_files import read_frequencies
from captious.metrics.base import Measure, Unit
from captious.metrics.options import Option, entry_points

#: Names, groups, lists of them, or measure objects.
Wanted = str | Measure | Iterable[str | Measure]


class Entry(NamedTuple):
    """Location of a measure: ``module:class`` and the fixed arguments that select a member of a family."""

    path: str
    arguments: Mapping[str, Any] = {}


_CAPTIONS = "captious.metrics.captions."
_LEARNED = "captious.metrics.learned."
_SETS = "captious.metrics.sets."
_CORPUS = "captious.metrics.corpus."

#: In the order of tables, one line per measure.
ENTRIES: dict[str, Entry] = {
    "BLEU-1": Entry(_CAPTIONS + "bleu:BLEU", {"n": 1}),
    "BLEU-2": Entry(_CAPTIONS + "bleu:BLEU", {"n": 2}),
    "BLEU-3": Entry(_CAPTIONS + "bleu:BLEU", {"n": 3}),
    "BLEU-4": Entry(_CAPTIONS + "bleu:BLEU", {"n": 4}),
    "METEOR": Entry(_CAPTIONS + "meteor:Meteor"),
    "ROUGE-L": Entry(_CAPTIONS + "rouge:RougeL"),
    "CIDEr-D": Entry(_CAPTIONS + "cider:CiderD"),
    "CIDEr": Entry(_CAPTIONS + "cider:Cider"),
    "CIDEr-R": Entry(_CAPTIONS + "cider_r:CiderR"),
    "SPICE": Entry(_CAPTIONS + "spice:Spice"),
    "SPICE-Object": Entry(_CAPTIONS + "spice:Spice", {"category": "Object"}),
    "SPICE-Attribute": Entry(_CAPTIONS + "spice:Spice", {"category": "Attribute"}),
    "SPICE-Relation": Entry(_CAPTIONS + "spice:Spice", {"category": "Relation"}),
    "SPICE-Cardinality": Entry(_CAPTIONS + "spice:Spice", {"category": "Cardinality"}),
    "SPICE-Color": Entry(_CAPTIONS + "spice:Spice", {"category": "Color"}),
    "SPICE-Size": Entry(_CAPTIONS + "spice:Spice", {"category": "Size"}),
    "SPIDEr": Entry(_CAPTIONS + "spider:Spider"),
    "SPIDEr-FL": Entry(_CAPTIONS + "fluency_penalty:SpiderFL"),
    "SPICE-U": Entry(_CAPTIONS + "spice_u:SpiceU"),
    "Uniq": Entry(_CAPTIONS + "spice_u:Uniq"),
    "CHAIRs": Entry(_CAPTIONS + "chair:ChairS"),
    "CHAIRi": Entry(_CAPTIONS + "chair:ChairI"),
    "CHAIR-Cover": Entry(_CAPTIONS + "chair:ChairCover"),
    "AMBER-CHAIR": Entry(_CAPTIONS + "amber:AmberChair"),
    "Cover": Entry(_CAPTIONS + "amber:Cover"),
    "Hal": Entry(_CAPTIONS + "amber:Hal"),
    "Cog": Entry(_CAPTIONS + "amber:Cog"),
    "ALOHa": Entry(_CAPTIONS + "aloha:Aloha"),
    "CAPTURE": Entry(_CAPTIONS + "capture:Capture"),
    "FactRecall": Entry(_CAPTIONS + "fact_coverage:FactRecall"),
    "FactPrecision": Entry(_CAPTIONS + "fact_coverage:FactPrecision"),
    "ParaSPICE": Entry(_CAPTIONS + "para_spice:ParaSpice"),
    "ParaSPICE-P": Entry(_CAPTIONS + "para_spice:ParaSpice", {"category": "P"}),
    "ParaSPICE-R": Entry(_CAPTIONS + "para_spice:ParaSpice", {"category": "R"}),
    "ParaSPICE-Object": Entry(_CAPTIONS + "para_spice:ParaSpice", {"category": "Object"}),
    "ParaSPICE-Attribute": Entry(_CAPTIONS + "para_spice:ParaSpice", {"category": "Attribute"}),
    "ParaSPICE-Relation": Entry(_CAPTIONS + "para_spice:ParaSpice", {"category": "Relation"}),
    "ParaSPICE-Cardinality": Entry(_CAPTIONS + "para_spice:ParaSpice", {"category": "Cardinality"}),
    "ParaSPICE-Color": Entry(_CAPTIONS + "para_spice:ParaSpice", {"category": "Color"}),
    "ParaSPICE-Size": Entry(_CAPTIONS + "para_spice:ParaSpice", {"category": "Size"}),
    "Rep-2": Entry(_CAPTIONS + "text_measures:RepeatedNgrams", {"n": 2}),
    "Rep-3": Entry(_CAPTIONS + "text_measures:RepeatedNgrams", {"n": 3}),
    "Rep-4": Entry(_CAPTIONS + "text_measures:RepeatedNgrams", {"n": 4}),
    "Rep-S": Entry(_CAPTIONS + "text_measures:RepeatedSentences"),
    "Truncated": Entry(_CAPTIONS + "text_measures:Truncated"),
    "Boilerplate": Entry(_CAPTIONS + "text_measures:Boilerplate"),
    "Hedging": Entry(_CAPTIONS + "text_measures:Hedging"),
    "Flesch": Entry(_CAPTIONS + "text_measures:Flesch"),
    "AttrPerObject": Entry(_CAPTIONS + "scene_density:SceneDensity", {"size": 2}),
    "RelPerObject": Entry(_CAPTIONS + "scene_density:SceneDensity", {"size": 3}),
    "Precision-1": Entry(_CAPTIONS + "ngram_overlap:NgramPrecision", {"n": 1}),
    "Precision-2": Entry(_CAPTIONS + "ngram_overlap:NgramPrecision", {"n": 2}),
    "Precision-3": Entry(_CAPTIONS + "ngram_overlap:NgramPrecision", {"n": 3}),
    "Precision-4": Entry(_CAPTIONS + "ngram_overlap:NgramPrecision", {"n": 4}),
    "Recall-1": Entry(_CAPTIONS + "ngram_overlap:UnigramRecall"),
    "WMD": Entry(_CAPTIONS + "wmd:WMD"),
    "WEmbSim": Entry(_CAPTIONS + "wembsim:WEmbSim"),
    "MOWE": Entry(_CAPTIONS + "wembsim:MOWE"),
    "SentenceSim": Entry(_CAPTIONS + "sentence_sim:SentenceSim"),
    "SentenceSim-lite": Entry(_CAPTIONS + "sentence_sim:SentenceSimLite"),
    "FENSE": Entry(_CAPTIONS + "fluency_penalty:Fense"),
    "FENSE-lite": Entry(_CAPTIONS + "fluency_penalty:FenseLite"),
    "FluencyError": Entry(_CAPTIONS + "fluency_penalty:FluencyError"),
    "TokenSim-P": Entry(_CAPTIONS + "token_sim:TokenSim", {"kind": "P"}),
    "TokenSim-R": Entry(_CAPTIONS + "token_sim:TokenSim", {"kind": "R"}),
    "TokenSim-R-idf": Entry(_CAPTIONS + "token_sim:TokenSim", {"kind": "R-idf"}),
    "TokenSim-P-union": Entry(_CAPTIONS + "token_sim:TokenSim", {"kind": "P-union"}),
    "Soft-SPICE": Entry(_CAPTIONS + "soft_spice:SoftSpice"),
    "CLIP-S": Entry(_CAPTIONS + "clip_score:ClipS"),
    "RefCLIP-S": Entry(_CAPTIONS + "clip_score:RefClipS"),
    "HWCM-1": Entry(_CAPTIONS + "hwcm:HWCM", {"n": 1}),
    "HWCM-2": Entry(_CAPTIONS + "hwcm:HWCM", {"n": 2}),
    "HWCM-3": Entry(_CAPTIONS + "hwcm:HWCM", {"n": 3}),
    "HWCM-4": Entry(_CAPTIONS + "hwcm:HWCM", {"n": 4}),
    "LCEval": Entry(_LEARNED + "lceval:LCEval"),
    "NNEval": Entry(_LEARNED + "lceval:NNEval"),
    "CaptiousScore": Entry(_LEARNED + "captious_score:CaptiousScore"),
    "CaptiousScore-FL": Entry(_LEARNED + "captious_score_fl:CaptiousScoreFL"),
    "CaptiousScore-lite": Entry(_LEARNED + "captious_score:CaptiousScoreLite"),
    "ParaScore": Entry(_LEARNED + "para_score:ParaScore"),
    "ParaScore-lite": Entry(_LEARNED + "para_score:ParaScoreLite"),
    "ParaScore-lite-P": Entry(_LEARNED + "para_score:ParaScoreLite", {"kind": "P"}),
    "ParaScore-lite-R": Entry(_LEARNED + "para_score:ParaScoreLite", {"kind": "R"}),
    "Learned": Entry(_LEARNED + "composite:Learned"),
    "LSA": Entry(_SETS + "lsa:LSA"),
    "Self-CIDEr": Entry(_SETS + "self_cider:SelfCider"),
    "mBLEU-1": Entry(_SETS + "mbleu:MBleu", {"n": 1}),
    "mBLEU-2": Entry(_SETS + "mbleu:MBleu", {"n": 2}),
    "mBLEU-3": Entry(_SETS + "mbleu:MBleu", {"n": 3}),
    "mBLEU-4": Entry(_SETS + "mbleu:MBleu", {"n": 4}),
    "mBLEU-mix": Entry(_SETS + "mbleu:MBleu", {"n": 0}),
    "1-mBLEU-1": Entry(_SETS + "mbleu:InverseMBleu", {"n": 1}),
    "1-mBLEU-2": Entry(_SETS + "mbleu:InverseMBleu", {"n": 2}),
    "1-mBLEU-3": Entry(_SETS + "mbleu:InverseMBleu", {"n": 3}),
    "1-mBLEU-4": Entry(_SETS + "mbleu:InverseMBleu", {"n": 4}),
    "1-mBLEU-mix": Entry(_SETS + "mbleu:InverseMBleu", {"n": 0}),
    "Div-1": Entry(_SETS + "distinct:Div", {"n": 1}),
    "Div-2": Entry(_SETS + "distinct:Div", {"n": 2}),
    "Vocabulary": Entry(_SETS + "distinct:VocabularySize"),
    "Unique": Entry(_SETS + "distinct:Unique"),
    "Novel": Entry(_SETS + "distinct:Novel"),
    "ASL": Entry(_CORPUS + "vocabulary_measures:ASL"),
    "SDSL": Entry(_CORPUS + "vocabulary_measures:SDSL"),
    "Types": Entry(_CORPUS + "vocabulary_measures:Types"),
    "TTR1": Entry(_CORPUS + "vocabulary_measures:TTR", {"n": 1}),
    "TTR2": Entry(_CORPUS + "vocabulary_measures:TTR", {"n": 2}),
    "%Novel": Entry(_CORPUS + "novel_captions:NovelShare"),
    "Cov": Entry(_CORPUS + "global_recall:Coverage"),
    "Loc": Entry(_CORPUS + "local_recall:Recall"),
    "Prec": Entry(_CORPUS + "local_recall:Precision"),
    "Hapax": Entry(_CORPUS + "vocabulary_measures:Hapax"),
    "MTLD": Entry(_CORPUS + "vocabulary_measures:MTLD"),
    "Comp": Entry(_CORPUS + "composition:PhrasesPerCaption", {"name": "Comp", "kind": "compound"}),
    "Comp-2": Entry(_CORPUS + "composition:PhraseTypes", {"name": "Comp-2", "kind": "compound"}),
    "Prep": Entry(_CORPUS + "composition:PhrasesPerCaption", {"name": "Prep", "kind": "preposition"}),
    "PP-1": Entry(_CORPUS + "composition:PhraseTypes", {"name": "PP-1", "kind": "preposition"}),
    "Yngve": Entry(_CORPUS + "complexity:MeanComplexity", {"name": "Yngve", "key": "yngve"}),
    "Frazier": Entry(_CORPUS + "complexity:MeanComplexity", {"name": "Frazier", "key": "frazier"}),
    "Frazier3": Entry(_CORPUS + "complexity:MeanComplexity", {"name": "Frazier3", "key": "frazier_peak"}),
    "Neg": Entry(_CORPUS + "corpus_word_lists:Negations"),
    "Concr": Entry(_CORPUS + "corpus_word_lists:Concreteness"),
    "POS-JSD": Entry(_CORPUS + "pos_counts:PosDistance"),
}

#: Measures that exist with a file only (``-m NAME=FILE``). No group contains them.
OF_FILES: dict[str, Entry] = {"Critic": Entry("captious.critic.critic_measure:CriticMeasure")}

#: Groups of metrics.
GROUPS: dict[str, tuple[str, ...]] = {
    "coco": ("BLEU-1", "BLEU-2", "BLEU-3", "BLEU-4", "METEOR", "ROUGE-L", "CIDEr-D", "SPICE"),
    "lexical": ("BLEU-1", "BLEU-2", "BLEU-3", "BLEU-4", "ROUGE-L", "CIDEr-D"),
    "bleu": ("BLEU-1", "BLEU-2", "BLEU-3", "BLEU-4"),
    "spice-all": (
        "SPICE",
        "SPICE-Object",
        "SPICE-Attribute",
        "SPICE-Relation",
        "SPICE-Cardinality",
        "SPICE-Color",
        "SPICE-Size",
    ),
    "descriptions": ("ALOHa", "CAPTURE", "FactRecall", "FactPrecision", "ParaSPICE", "ParaScore-lite"),
    "text": (
        "Rep-4",
        "Rep-S",
        "Truncated",
        "Boilerplate",
        "Hedging",
        "Flesch",
        "AttrPerObject",
        "RelPerObject",
    ),
    "precision": ("Precision-1", "Precision-2", "Precision-3", "Precision-4"),
}

#: Families of measures by unit: single captions, the set of captions of an image, whole corpora.
FAMILIES: dict[str, Unit] = {"all": "caption", "sets": "image", "corpus": "corpus"}


@lru_cache(maxsize=1)
def entries() -> Mapping[str, Entry]:
    """Return all measures: built-in ones, those of installed packages, those that exist with a file only."""
    table = dict(ENTRIES)
    folded = {name.casefold() for name in table}
    for point in entry_points():
        if point.name.casefold() not in folded:
            table[point.name] = Entry(point.value)
    return table | OF_FILES


def names() -> list[str]:
    """Return all names in the order of tables."""
    return [name for name in entries() if name not in OF_FILES]


@lru_cache(maxsize=1)
def usable() -> tuple[str, ...]:
    """Return the names of all measures that can be loaded, and warn of broken packages."""
    loaded = list(ENTRIES)
    for name in names()[len(ENTRIES) :]:
        try:
            measure_class(name)
            loaded.append(name)
        except InputError as error:
            warnings.warn(CaptionWarning(f"left out {name}: {error}"), stacklevel=2)
    return tuple(loaded)


def _folded() -> dict[str, str]:
    return {name.casefold(): name for name in entries()}


#: Names of our measures in other tools and papers, as :func:`_plain` writes them.
_ALSO = {
    "rouge": "ROUGE-L",
    "cococider": "CIDEr-D",
    "wordmoversdistance": "WMD",
    "selfcider": "Self-CIDEr",
}


def _plain(name: str) -> str:
    return re.sub(r"[\s_.-]", "", name.casefold())


@lru_cache(maxsize=1)
def _by_plain() -> dict[str, str]:
    # Where two names are equal without signs, the first one counts.
    return {**_ALSO, **{_plain(name): name for name in reversed(names())}}


def canonical(name: str) -> str | None:
    """Return our name of a measure from any spelling (``Bleu_4``, ``rouge_l``), or None if unknown."""
    return _folded().get(name.casefold()) or _by_plain().get(_plain(name))


def parts(wanted: Wanted) -> list[str | Measure]:
    """Return names, groups and measures one by one."""
    separate: list[str | Measure] = []
    for item in [wanted] if isinstance(wanted, str | Measure) else wanted:
        separate.extend([item] if isinstance(item, Measure) else map(str.strip, item.split(",")))
    return separate


def split_value(name: str) -> tuple[str, str | None]:
    """Return the name and the value of ``NAME=VALUE``, such as ``Critic=critic.safetensors``."""
    own, sign, value = name.partition("=")
    return (own.strip(), value.strip()) if sign else (name, None)


def _with_value(part: str) -> str | None:
    """Return ``NAME=VALUE`` with our name of the measure. None if the text has no value."""
    own, value = split_value(part)
    if value is None:
        return None
    name = canonical(own)
    if name is None:
        raise InputError(
            f"unknown metric '{own}'{did_you_mean(own, _folded().values())} ('captious metrics' lists all)"
        )
    if measure_class(name).value_option is None or not value:
        takers = [one for one in (*usable(), *OF_FILES) if measure_class(one).value_option is not None]
        raise InputError(
            f"'{part}': {name} is written without a file; {some(takers)} are written NAME=FILE"
            if value
            else f"'{part}': the file is missing; write {name}=FILE"
        )
    return f"{name}={value}"


def resolve(wanted: Wanted) -> list[str | Measure]:
    """Return the names in names, groups ("coco", "all") and comma-separated lists. Objects pass through."""
    return list(_resolve(wanted))


def _resolve(wanted: Wanted) -> dict[str | Measure, bool]:
    """Return the measures, and whether each was requested by its own name, not as a member of a group."""
    resolved: dict[str | Measure, bool] = {}
    for part in parts(wanted):
        if isinstance(part, Measure):
            resolved[part] = True
        elif (named := _with_value(part)) is not None:
            resolved[named] = True
        elif (group := part.casefold()) in (*GROUPS, *FAMILIES) and group not in _folded():
            for member in GROUPS.get(group) or of_family(group):
                resolved.setdefault(member, False)
        elif (name := canonical(part)) is not None:
            resolved[name] = True
        elif part:
            hint = did_you_mean(part, [*entries(), *GROUPS, *FAMILIES])
            raise InputError(f"unknown metric '{part}'{hint} ('captious metrics' lists all)")
    if not resolved:
        raise InputError("no metric was named ('captious metrics' lists all)")
    return resolved


def of_family(family: str) -> list[str]:
    """Return the measures of a family: ``all`` (captions), ``sets`` (images) or ``corpus`` (corpora)."""
    return [name for name in usable() if measure_class(name).rows == FAMILIES[family]]


@cache
def measure_class(name: str) -> type[Measure]:
    """Return the class of a measure."""
    name, _ = split_value(name)
    path = entries()[name].path
    module, _, attribute = path.partition(":")
    try:
        kind: Any = getattr(import_module(module), attribute, None)
    except Exception as error:
        if name in ENTRIES:
            raise
        # Modules of other packages may raise any exception.
        raise InputError(
            f"the measure '{name}' cannot be loaded from {path} ({type(error).__name__}: {error}); "
            "check the package that provides it"
        ) from error
    if not (isinstance(kind, type) and issubclass(kind, Measure)):
        raise InputError(
            f"the entry point of the measure '{name}' is {path}, which is no Measure; "
            "check the package that provides it"
        )
    return kind


def option_table() -> dict[str, Option]:
    """Return the options of all measures by name."""
    return {option.name: option for name in (*usable(), *OF_FILES) for option in measure_class(name).options}


def create(name: str, options: Mapping[str, Any] | None = None) -> Measure:
    """Create the measure of that name with those of the options that it takes."""
    name, own_value = split_value(name)
    kind = measure_class(name)
    arguments = dict(entries()[name].arguments)
    if own_value is not None and kind.value_option is not None:
        options = {**(options or {}), kind.value_option: own_value}
    for option in kind.options:
        value = (options or {}).get(option.name)
        if value is not None:
            # Values from the command line are text.
            arguments[option.name] = option.kind(value) if isinstance(value, str) else value
    return kind(**arguments)


def check_options(metrics: Wanted, options: Iterable[str], spare: Collection[str] = ()) -> None:
    """Refuse options that none of the metrics has. Other parts of the run use the ``spare`` ones."""
    own: dict[str, Option] = {}
    chosen: list[str] = []
    for wanted in resolve(metrics):
        chosen.append(wanted.name if isinstance(wanted, Measure) else wanted)
        if isinstance(wanted, str):
            own |= {option.name: option for option in measure_class(wanted).options}
    for name in options:
        if name in own or name in spare:
            continue
        table = option_table()
        if name not in table:
            raise InputError(f"unknown option '{name}'{did_you_mean(name, table)}")
        takers = [metric for metric in (*usable(), *OF_FILES) if table[name] in measure_class(metric).options]
        theirs = ", ".join(f"{option.name} ({option.flag})" for option in own.values()) or "none"
        raise InputError(
            f"'{name}' ({table[name].flag}) is an option of {some(takers)}, but not of the chosen "
            f"metric{'s' if len(chosen) > 1 else ''} {some(chosen, 10)}, whose options are: {theirs}; "
            "leave it out, or choose another metric"
        )


def make_measures(
    metrics: Wanted, options: Mapping[str, Any], *, spare: Collection[str] = ()
) -> list[Measure]:
    """Create measures from names, groups and options. An option that none of them has is an error.

    A measure that cannot run is an error if it was named, and left out of a group with a warning. ``spare``
    has the names of options that other parts of the run use.
    """
    if options:
        check_options(metrics, options, spare)
    if isinstance(options.get("df"), str | Path):
        options = {**options, "df": read_frequencies(options["df"])}
    measures: list[Measure] = []
    left_out: dict[str, list[str]] = {}
    resolved = _resolve(metrics)
    for wanted, is_named in resolved.items():
        try:
            measure = wanted if isinstance(wanted, Measure) else create(wanted, options)
            measure.check()
        except (MissingExtraError, MissingInputError) as error:
            if is_named:
                raise
            left_out.setdefault(str(error), []).append(str(wanted))
            continue
        measures.append(measure)
    _tell_apart(measures, resolved)
    if resolved.get("CIDEr") and not any(measure.name == "CIDEr-D" for measure in measures):
        _hint_at_cider_d()
    for reason, absent in left_out.items():
        warnings.warn(CaptionWarning(f"left out {', '.join(absent)}: {reason}"), stacklevel=3)
    return measures


def _tell_apart(measures: Sequence[Measure], wanted: Iterable[str | Measure]) -> None:
    """Name measures of one kind after their files, if there are several."""
    for name, count in Counter(measure.name for measure in measures).items():
        values = [
            split_value(one)[1] for one in wanted if isinstance(one, str) and split_value(one)[0] == name
        ]
        if count > 1 and len(values) == count:
            for measure, value in zip((one for one in measures if one.name == name), values):
                measure.name = f"{name}={Path(value or '').stem}"


@lru_cache(maxsize=1)
def _hint_at_cider_d() -> None:
    """Warn once per process that the COCO tools and most papers use the name CIDEr for CIDEr-D."""
    warnings.warn(
        CaptionWarning(
            "CIDEr is the form without clipping; the COCO tools and most papers say CIDEr for CIDEr-D "
            "(-m CIDEr-D)"
        ),
        stacklevel=4,
    )
