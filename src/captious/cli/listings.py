"""``captious metrics`` and ``captious cache``: lists of all measures and of cached files."""

from __future__ import annotations

import datetime
from typing import TYPE_CHECKING, Annotated

from captious.cli.command import Argument, Flag, command
from captious.cli.formatting import Tables, look
from captious.cli.options import GRAMMAR_HELP, JsonOut, PrintedOutput, flag_of, metric_names
from captious.cli.output import is_taken, note, print_table, write_json
from captious.core.errors import InputError, did_you_mean
from captious.metrics.options import PARSER, Option

if TYPE_CHECKING:
    from captious.core.cache import CachedFile
    from captious.metrics.base import Measure


def metrics(
    names: Annotated[
        list[str] | None,
        Argument(
            metavar="NAME", help="Metrics or groups to describe, with all options.", values=metric_names
        ),
    ] = None,
    json: JsonOut = None,
) -> None:
    """List all metrics, or describe some: what they measure and which options they take."""
    from captious.metrics import registry

    chosen = registry.resolve(names) if names else [*registry.usable(), *registry.OF_FILES]
    measures = {name: registry.create(name) for name in chosen if isinstance(name, str)}
    if json is not None:
        described = [
            {
                "name": name,
                "rows": measure.rows,
                "higher_is_better": measure.higher_is_better,
                "bounds": measure.bounds,
                "options": sorted(option.name for option in measure.options),
                "needs": sorted(measure.needs),
                "summary": measure.summary,
            }
            for name, measure in measures.items()
        ]
        write_json(described, json)
    if is_taken(json):
        return
    table = [
        [
            name,
            measure.rows,
            "higher" if measure.higher_is_better else "lower",
            _bounds(measure.bounds),
            ", ".join(sorted(option.name for option in measure.options)),
            measure.summary,
        ]
        for name, measure in measures.items()
    ]
    print_table(
        "", ["metric", "of a", "better", "range", "options", "what it measures"], table, text=(0, 1, 2, 4, 5)
    )
    if names:
        if look().format != "csv":  # one table per file
            _print_options(measures)
        return
    groups = "; ".join(f"{group} = {', '.join(members)}" for group, members in registry.GROUPS.items())
    note(
        f"groups: {groups}; all, sets, corpus = every measure of a caption, of the captions of an image, of "
        "a corpus\n'captious metrics NAME' describes the options of a metric"
    )


def _print_options(measures: dict[str, Measure]) -> None:
    takes: dict[Option, list[str]] = {}
    for name, measure in measures.items():
        for option in measure.options:
            takes.setdefault(option, []).append(name)
    if not takes:
        note("no options")
        return
    table = [
        [f"{flag_of(option)} {option.metavar or _value_name(option)}", option.help, ", ".join(listed)]
        for option, listed in takes.items()
    ]
    if any(option.name == "parser" for option in takes):
        table.append(["--grammar PATH", GRAMMAR_HELP, ", ".join(takes[PARSER])])
    print_table("", ["option", "meaning", "of"], table, text=(0, 1, 2))
    note("an example: captious score REFS PRED -m " + ",".join(measures) + f" {table[0][0]}")


def _value_name(option: Option) -> str:
    return "|".join(option.choices) or {int: "N", float: "NUMBER"}.get(option.kind, "TEXT")


def _bounds(bounds: tuple[float | None, float | None]) -> str:
    low, high = ("∞" if bound is None else f"{bound:g}" for bound in bounds)
    return f"{low} … {high}"


def cache(
    kind: Annotated[
        str | None, Argument(metavar="KIND", help="One kind of file, as the table names it.")
    ] = None,
    clear: Annotated[bool, Flag("--clear", help="Remove the files: all, or those of one kind.")] = False,
    json: JsonOut = None,
) -> None:
    """List or clear the files that captious keeps for later runs. All of them can be made again."""
    from captious.core import cache as files
    from captious.core import limits

    names = [one.name for one in files.KINDS]
    if kind is not None and kind not in names:
        raise InputError(
            f"there is no kind {kind!r} of cached files{did_you_mean(kind, names)}; "
            f"there are {', '.join(names)}"
        )
    folder = files.cache_directory()
    if folder is None:
        raise InputError(
            "there is no home folder, so nothing is cached; set CAPTIOUS_CACHE to a folder that can be "
            "written"
        )
    kinds = [one for one in files.KINDS if kind in (None, one.name)]
    entries = (
        files.clear(folder, kinds)
        if clear
        else [entry for entry in files.entries(folder) if entry.kind in kinds]
    )
    by_kind = [(one, [entry for entry in entries if entry.kind == one]) for one in kinds]
    limit, total = limits.CACHE.value(), _total(entries)
    if json is not None:
        listed = [
            {
                "kind": one.name,
                "purpose": one.purpose,
                "files": len(files),
                "bytes": _total(files),
                "last_used": _last_used(files),
            }
            for one, files in by_kind
        ]
        write_json(
            {"path": str(folder), "limit": limit, "bytes": total, "cleared": clear, "kinds": listed}, json
        )
    if is_taken(json):
        return
    table = [
        [one.name, str(len(files)), _size(_total(files)), _last_used(files) or "", one.purpose]
        for one, files in by_kind
    ]
    print_table("", ["kind", "files", "size", "last used", "what it is for"], table, text=(0, 3, 4))
    note(
        f"{folder}: {'removed ' if clear else ''}{_size(total)}; limit {_size(limit)} (CAPTIOUS_CACHE_LIMIT)"
    )


def _total(entries: list[CachedFile]) -> int:
    return sum(entry.size for entry in entries)


def _last_used(entries: list[CachedFile]) -> str | None:
    if not entries:
        return None
    return datetime.datetime.fromtimestamp(max(entry.used for entry in entries)).date().isoformat()


def _size(count: int) -> str:
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count} bytes"


METRICS = command("metrics", metrics, PrintedOutput, Tables)
CACHE = command("cache", cache, PrintedOutput, Tables)
