"""Agreement of metrics with human judgements on any number of sets, as ``captious agreement`` reports it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from captious.agreement import agreement_curves, metric_relations, result_tables
from captious.agreement.agreement_curves import AgreementCurve
from captious.agreement.agreement_scores import HumanAgreement, MetricComparison, agreement, compare_metrics
from captious.agreement.metric_relations import MetricCorrelations, PairOfMetrics
from captious.agreement.result_tables import TextTable
from captious.agreement.study import METRICS, Study
from captious.core.errors import InputError, did_you_mean
from captious.io.judgements import CaptionPairs, RatedCaptions, RatedSystems, find_judgements
from captious.metrics.registry import make_measures
from captious.results.result_rows import EXACT, NumberStyle, ResultRow

#: Curves that can be computed.
CURVES = ("references", "length", "level")


@dataclass(frozen=True)
class AgreementReport:
    """Results over all sets of judgements."""

    agreement: list[HumanAgreement] = field(default_factory=list)
    comparisons: list[list[MetricComparison]] = field(default_factory=list)
    curves: list[AgreementCurve] = field(default_factory=list)
    correlations: list[MetricCorrelations] = field(default_factory=list)
    pairs: list[list[PairOfMetrics]] = field(default_factory=list)

    @property
    def signatures(self) -> list[str]:
        """Signatures of all metrics, without duplicates."""
        return list(dict.fromkeys(item.signature for item in self.agreement))

    def tables(self, digits: int | None = None) -> list[TextTable]:
        """Return the tables of the report: an overview of several sets, then details."""
        names = list(dict.fromkeys(item.judgements for item in self.agreement))
        tables = [result_tables.overview(self.agreement, digits)] if len(names) > 1 else []
        for name in names:
            items = [item for item in self.agreement if item.judgements == name]
            if len(names) == 1 or len({(item.part, item.coefficient) for item in items}) > 1:
                tables.append(result_tables.of_set(items, digits))
        tables += [result_tables.comparisons(tests, digits) for tests in self.comparisons]
        tables += [result_tables.curve(curve, digits) for curve in self.curves if curve.points]
        tables += [result_tables.correlations(item) for item in self.correlations]
        tables += [result_tables.pairs(pairs, digits) for pairs in self.pairs if pairs]
        return tables

    def tidy_rows(self) -> list[ResultRow]:
        """Return all results as rows for CSV."""
        return [
            *(item.tidy_row() for item in self.agreement),
            *(item.tidy_row() for tests in self.comparisons for item in tests),
            *(row for curve in self.curves for row in curve.tidy_rows()),
            *(row for matrix in self.correlations for row in matrix.tidy_rows()),
            *(item.tidy_row() for pairs in self.pairs for item in pairs),
        ]

    def to_json(self, numbers: NumberStyle = EXACT) -> dict[str, Any]:
        """Return a JSON-ready description."""
        return {
            "agreement": [item.to_json(numbers) for item in self.agreement],
            "comparisons": [item.to_json(numbers) for tests in self.comparisons for item in tests],
            "curves": [item.to_json(numbers) for item in self.curves],
            "correlations": [item.to_json(numbers) for item in self.correlations],
            "pairs": [item.to_json(numbers) for pairs in self.pairs for item in pairs],
        }


def measure_agreement(
    datasets: str | Path | Sequence[str | Path],
    metrics: Any = METRICS,
    *,
    data: str | Path | None = None,
    ci: bool = False,
    compare: str | None = None,
    protocol: Mapping[str, Any] | None = None,
    curves: Sequence[str] = (),
    relations: bool = False,
    published: bool = False,
    systems: str | Path | None = None,
    references: str | Path | None = None,
    resamples: int = 1000,
    seed: int = 12345,
    **options: Any,
) -> AgreementReport:
    """Measure how well metrics agree with people.

    Parameters
    ----------
    datasets
        Sets of judgements: names ("flickr8k-expert"), "NAME=FOLDER", a folder with sets, or a table of your
        own.
    metrics
        Names, groups or measure objects, as for :func:`captious.score`.
    data
        Folder of the sets given by name. The default is the variable CAPTIOUS_DATA, else the current folder.
    ci
        Compute 95 % bootstrap intervals over images.
    compare
        Metrics to test against each other, separated by commas, or "all".
    protocol
        Settings that replace those of a set: coefficient, judges, own, level, references, draws, votes,
        ties.
    curves
        Curves to compute: "references", "length", "level".
    relations
        Correlate the metrics, and find pairs that complement each other.
    published
        Add the scores that others published with a set.
    systems, references
        For sets that rate whole systems: a folder with one file of predictions per system, and their
        references.
    resamples, seed
        Resamples of the bootstrap; seed of the bootstrap and of drawn references.
    options
        Options of metrics.

    Returns
    -------
    AgreementReport
        Coefficients, tests, curves and relations, with ``tables()`` and ``to_json()``.

    Examples
    --------
    >>> import json, tempfile
    >>> image = {"image_id": 1, "references": ["a dog runs", "the dog is running"]}
    >>> ratings = {"a dog runs": 5, "a dog sits": 3, "two men": 1}
    >>> with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
    ...     for caption, rating in ratings.items():
    ...         print(json.dumps({**image, "caption": caption, "score": rating}), file=file, flush=True)
    ...     [row.rows for row in measure_agreement(file.name, "BLEU-1").agreement]
    [3]
    """
    for name in curves:
        if name not in CURVES:
            raise InputError(
                f"unknown curve '{name}'{did_you_mean(name, CURVES)} (known: {', '.join(CURVES)})"
            )
    sources = [datasets] if isinstance(datasets, str | Path) else datasets
    sets = [load() for source in sources for load in find_judgements(source, data)]
    measures = make_measures(metrics, dict(options or {}))
    sampling: dict[str, Any] = {"resamples": resamples, "seed": seed}
    report = AgreementReport()
    for judged in sets:
        if isinstance(judged, RatedSystems) and systems is not None:
            study = _study_of_systems(judged, measures, Path(systems), references)
        else:
            study = Study.of(judged, measures, protocol=protocol or {}, published=published)
        report.agreement.extend(agreement(study, ci=ci, **sampling))
        if compare is not None:
            _add_comparisons(report, study, compare, sampling)
        _add_curves(report, study, curves, measures, {"ci": ci, **sampling})
        if relations and len(study.metrics) > 1:
            _add_relations(report, study, sampling)
    return report


def _study_of_systems(
    judged: RatedSystems, measures: list[Any], folder: Path, references: str | Path | None
) -> Study:
    if references is None:
        raise InputError("--systems needs the references too: --references REFS")
    if not folder.is_dir():
        raise InputError(f"{folder} is not a folder; give one with a predictions file for each system")
    files = {path.name.partition(".")[0]: path for path in sorted(folder.iterdir()) if path.is_file()}
    return Study.of_systems(judged, references, files, measures, subset=True)


def _add_comparisons(report: AgreementReport, study: Study, compare: str, sampling: dict[str, Any]) -> None:
    names = study.choose(None if compare.casefold() == "all" else compare)
    tables = study.tables if isinstance(study.judged, RatedSystems) else study.tables[:1]
    tests = [compare_metrics(table, names, **sampling) for table in tables]
    report.comparisons.extend(one for one in tests if one)


def _add_curves(
    report: AgreementReport, study: Study, curves: Sequence[str], measures: list[Any], how: dict[str, Any]
) -> None:
    judged = study.judged
    if not isinstance(judged, RatedCaptions | CaptionPairs) or study.whole.protocol.level == "system":
        return
    if "references" in curves:
        report.curves.append(agreement_curves.by_references(judged, measures, **how))
    if "length" in curves:
        report.curves.append(agreement_curves.by_length(study.whole, **how))
    if "level" in curves and isinstance(judged, RatedCaptions):
        report.curves.append(agreement_curves.by_level(study.whole, **how))


def _add_relations(report: AgreementReport, study: Study, sampling: dict[str, Any]) -> None:
    whole = study.whole
    if isinstance(study.judged, RatedSystems) or whole.protocol.level == "system":
        report.correlations.append(
            metric_relations.correlate_metrics(whole.scores, f"systems of {whole.name}")
        )
        return
    report.correlations.append(metric_relations.over_captions(whole))
    report.pairs.append(metric_relations.complementary_pairs(whole, **sampling))
