"""``captious agreement``: metrics beside people's judgements."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from captious.cli import options
from captious.cli.look import takes_look
from captious.cli.output import is_taken, note, print_text_tables, write_json
from captious.errors import InputError, did_you_mean

if TYPE_CHECKING:
    from captious.human import HumanAgreement, MetricComparison, Study
    from captious.human.curves import AgreementCurve
    from captious.human.relations import MetricCorrelations, PairOfMetrics
    from captious.human.tables import TextTable
    from captious.io.judgements import JudgementSet

CURVES = ("references", "length", "level")


def register(app: typer.Typer) -> None:
    app.command("agreement")(options.takes_jobs(options.takes_measure_options(options.takes_output(takes_look(agreement, of_scores=False)))))


def agreement(
    datasets: Annotated[
        list[str],
        typer.Argument(metavar="DATASET", help="Sets by name (flickr8k-expert, …), NAME=FOLDER, a folder with sets, or your own table."),
    ],
    metrics: options.Metrics = "",
    data: Annotated[Path | None, typer.Option("--data", metavar="DIR", help="Folder of the sets given by name (default: CAPTIOUS_DATA, else the current folder).")] = None,
    ci: Annotated[bool, typer.Option("--ci", help="Show 95 % bootstrap intervals over images.")] = False,
    compare: Annotated[str | None, typer.Option("--compare", metavar="A,B,…", help="Test these metrics against each other, or 'all'.")] = None,
    coefficient: Annotated[str | None, typer.Option("--coefficient", help="tau-b, tau-c, pearson, spearman, accuracy.")] = None,
    judges: Annotated[str | None, typer.Option("--judges", help="each, mean or mode.")] = None,
    own: Annotated[str | None, typer.Option("--own", help="If a rated caption is among its references: drop it, remove it from them, or keep both.")] = None,
    level: Annotated[str | None, typer.Option("--level", help="Compute over captions, within each image, or over systems: caption, image, system.")] = None,
    references: Annotated[int | None, typer.Option("--references", min=1, help="How many references to draw for each image.")] = None,
    draws: Annotated[int | None, typer.Option("--draws", min=1, help="How often to draw them.")] = None,
    votes: Annotated[str | None, typer.Option("--votes", help="For pairs, which votes to use: pairs or triplets.")] = None,
    curves: Annotated[str | None, typer.Option("--curves", help="Curves to compute, separated by commas: references, length, level.")] = None,
    relations: Annotated[bool, typer.Option("--relations", help="Show how metrics correlate, and which pairs complement each other.")] = False,
    published: Annotated[bool, typer.Option("--published", help="Add the scores that others published with a set.")] = False,
    systems: Annotated[Path | None, typer.Option("--systems", metavar="DIR", help="Predictions of whole systems, one file named after each.")] = None,
    refs: Annotated[Path | None, typer.Option("--refs", metavar="REFS", help="References for --systems.")] = None,
    resamples: Annotated[int, typer.Option("--resamples", min=2, help="Resamples of the bootstrap.")] = 1000,
    seed: Annotated[int, typer.Option("--seed", help="Seed of the bootstrap and of drawn references.")] = 12345,
    plots: Annotated[Path | None, typer.Option("--plots", metavar="DIR", help="Write the figures into this folder.")] = None,
    json: options.JsonOut = None,
    *,
    given: dict[str, Any],
) -> None:
    """Measure how well metrics agree with people, on any set of judgements, with error bars and tests."""
    from captious.human import METRICS
    from captious.human import agreement as measure
    from captious.human.scoring import make

    wanted = _curves(curves)
    changes = {
        "coefficient": coefficient, "judges": judges, "own": own, "level": level, "references": references, "draws": draws, "votes": votes,
    }  # fmt: skip
    changes = {key: value for key, value in changes.items() if value is not None}
    sets = [load() for load in _find(datasets, data)]
    made = make(metrics or METRICS, given)
    report = _Report()
    for judged in sets:
        study = _study(judged, made, changes, published, systems, refs)
        report.found += measure(study, ci=ci, resamples=resamples, seed=seed)
        report.add(study, compare, wanted, relations, made, ci, resamples, seed)
    if plots is not None:
        from captious.figures import agreement_plots

        written = agreement_plots.write(report.found, report.curves, report.correlations, plots)
    if json is not None:
        write_json(report.to_json(), json)
    if not is_taken(json):
        print_text_tables(report.tables(), list(dict.fromkeys(item.signature for item in report.found)))
        if plots is not None:
            note(f"{len({path.stem for path in written})} figures ({len(written)} files) in {plots}")


def _find(datasets: list[str], data: Path | None) -> list[Any]:
    from captious.io.judgements import find_judgements

    return [load for source in datasets for load in find_judgements(source, data)]


def _curves(given: str | None) -> list[str]:
    wanted = [part.strip() for part in given.split(",")] if given else []
    for name in wanted:
        if name not in CURVES:
            raise InputError(f"unknown curve '{name}'{did_you_mean(name, CURVES)} (known: {', '.join(CURVES)})")
    return wanted


def _study(
    judged: JudgementSet, made: list[Any], changes: dict[str, Any], published: bool, systems: Path | None, refs: Path | None
) -> Study:
    from captious.human import RatedSystems, Study

    if isinstance(judged, RatedSystems) and systems is not None:
        if refs is None:
            raise InputError("--systems needs the references too: --refs REFS")
        if not systems.is_dir():
            raise InputError(f"{systems} is not a folder; give one with a predictions file for each system")
        files = {path.name.partition(".")[0]: path for path in sorted(systems.iterdir()) if path.is_file()}
        return Study.of_systems(judged, refs, files, made, subset=True)
    return Study.of(judged, made, protocol=changes, published=published)


class _Report:
    """All that was asked for, over all sets."""

    def __init__(self) -> None:
        self.found: list[HumanAgreement] = []
        self.comparisons: list[list[MetricComparison]] = []
        self.curves: list[AgreementCurve] = []
        self.correlations: list[MetricCorrelations] = []
        self.pairs: list[list[PairOfMetrics]] = []

    def add(
        self, study: Study, compare: str | None, curves: list[str], relations: bool, made: list[Any], ci: bool, resamples: int, seed: int
    ) -> None:
        from captious.human import CaptionPairs, RatedCaptions, RatedSystems, compare_metrics
        from captious.human import curves as curve
        from captious.human import relations as relate

        systems = isinstance(study.judged, RatedSystems)
        if compare is not None:
            names = study.choose(None if compare.casefold() == "all" else compare)
            for table in study.tables if systems else study.tables[:1]:
                tested = compare_metrics(table, names, resamples=resamples, seed=seed)
                if tested:
                    self.comparisons.append(tested)
        if isinstance(study.judged, RatedCaptions | CaptionPairs) and study.whole.protocol.level != "system":
            if "references" in curves:
                self.curves.append(curve.by_references(study.judged, made, ci=ci, resamples=resamples, seed=seed))
            if "length" in curves:
                self.curves.append(curve.by_length(study.whole, ci=ci, resamples=resamples, seed=seed))
            if "level" in curves and isinstance(study.judged, RatedCaptions):
                self.curves.append(curve.by_level(study.whole, ci=ci, resamples=resamples, seed=seed))
        if relations and len(study.metrics) > 1:
            if systems or study.whole.protocol.level == "system":
                self.correlations.append(relate.correlate_metrics(study.whole.scores, f"systems of {study.whole.name}"))
            else:
                self.correlations.append(relate.over_captions(study.whole))
                self.pairs.append(relate.complementary_pairs(study.whole, resamples=resamples, seed=seed))

    def tables(self) -> list[TextTable]:
        from captious.human import tables

        sets = list(dict.fromkeys(item.judgements for item in self.found))
        shown = [tables.overview(self.found)] if len(sets) > 1 else []
        for name in sets:
            items = [item for item in self.found if item.judgements == name]
            if len(sets) == 1 or len({(item.part, item.coefficient) for item in items}) > 1:
                shown.append(tables.of_set(items))
        shown += [tables.comparisons(tested) for tested in self.comparisons]
        shown += [tables.curve(item) for item in self.curves if item.points]
        shown += [tables.correlations(item) for item in self.correlations]
        shown += [tables.pairs(item) for item in self.pairs if item]
        return shown

    def to_json(self) -> dict[str, Any]:
        return {
            "agreement": [item.to_json() for item in self.found],
            "comparisons": [item.to_json() for tested in self.comparisons for item in tested],
            "curves": [item.to_json() for item in self.curves],
            "correlations": [item.to_json() for item in self.correlations],
            "pairs": [item.to_json() for found in self.pairs for item in found],
        }
