"""Static site of many runs: tables of comparable scores, a page for each run, badges, a feed, search."""

from __future__ import annotations

import hashlib
import re
import shutil
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from html import escape
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from captious._version import __version__
from captious.core.errors import InputError, printable
from captious.core.progress import track
from captious.core.writing import check_folder
from captious.reporting.document import _asset, _data, _hash, _json
from captious.reporting.make_report import report
from captious.results.references import distinct
from captious.results.saved_scores import is_saved
from captious.results.scores import Scores, json_number
from captious.results.signatures import Signature
from captious.results.significance import Bootstrap

TITLE = "Caption scores"
#: File that marks a folder as a site of ours, which may be replaced.
MARK = "captious-site.json"
#: Fields of a signature that describe one system's captions. They do not decide what can be compared.
_OWN_FIELDS = ("m",)


@dataclass
class SavedRun:
    """One file of scores: its name on the site, its time, and its scores."""

    name: str
    slug: str
    time: datetime
    scores: Scores


@dataclass
class Site:
    """A site that was written: its folder, runs, and number of tables."""

    folder: Path
    runs: list[SavedRun]
    boards: list[dict[str, Any]]

    def __repr__(self) -> str:
        return f"Site({self.folder}: {len(self.runs)} runs in {len(self.boards)} tables)"


def site(
    runs: Iterable[str | Path],
    folder: str | Path,
    *,
    title: str = TITLE,
    names: Sequence[str] | None = None,
    data_names: Mapping[str, str] | None = None,
    address: str | None = None,
    bootstrap: Bootstrap | None = None,
    reports: bool = True,
) -> Site:
    """Write a static site about saved scores.

    Parameters
    ----------
    runs
        Paths of saved scores (``NAME.scores``). The time of a run is that of its file.
    folder
        Folder of the site. An earlier site there is replaced as a whole; any other content is refused.
    title
        Title of the site.
    names
        Names of the runs, one for each (default: those in the files).
    data_names
        Names of data sets by the digest or description of their references, such as
        ``{"60x5@4c02afc5": "demo"}``.
    address
        Address at which the site will be published, for the links of the feed.
    bootstrap
        Settings of the intervals.
    reports
        Whether each run gets its report.

    Returns
    -------
    Site
        The folder, the runs, and the tables. Scores share a table only if their signatures agree.

    Examples
    --------
    >>> import tempfile
    >>> from captious import score
    >>> own = score({1: ["a dog runs"], 2: ["a cat"]}, {1: "a dog", 2: "a cat"}, "BLEU-1", name="own")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     own.save(f"{folder}/own.scores")
    ...     written = site([f"{folder}/own.scores"], f"{folder}/site")
    ...     (written.folder / "index.html").exists()
    True
    """
    paths = [Path(path) for path in runs]
    _check(paths, names, address)
    target = Path(folder)
    if target.exists() and not target.is_dir():
        raise InputError(f"{printable(str(target))} is a file; a site is a folder")
    if target.is_dir() and any(target.iterdir()) and not (target / MARK).is_file():
        raise InputError(
            f"{printable(str(target))} has files that are not of a site; give a new folder, or empty it first"
        )
    check_folder(target)
    found = _runs(paths, names)
    boards = _boards(found, data_names or {}, bootstrap or Bootstrap())
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".site-") as scratch:
        inside = Path(scratch) / "site"
        _write(inside, found, boards, title, address, reports, bootstrap or Bootstrap())
        if target.is_dir():
            shutil.rmtree(target)
        inside.rename(target)
    return Site(target, found, boards)


def _check(paths: Sequence[Path], names: Sequence[str] | None, address: str | None) -> None:
    if not paths:
        raise InputError(
            "a site needs runs: give saved scores, NAME.scores ('captious score … -o NAME.scores')"
        )
    wrong = next((path for path in paths if not is_saved(path)), None)
    if wrong is not None:
        raise InputError(
            f"{printable(str(wrong))}: a site is made of saved scores (NAME.scores); "
            "'captious score … -o NAME.scores' saves them"
        )
    if names is not None and len(names) != len(paths):
        raise InputError(f"{len(paths)} runs were given and {len(names)} names; give one for each (--name)")
    if address is not None and not re.match(r"https?://[^\s<>\"']+$", address):
        raise InputError(f"'{printable(address)}': the address of a site begins with http:// or https://")


def _runs(paths: Sequence[Path], names: Sequence[str] | None) -> list[SavedRun]:
    loaded = [Scores.load(path) for path in track(paths, "reading runs")]
    labels = distinct(list(names) if names is not None else [scores.system for scores in loaded])
    runs, taken = [], set[str]()
    for path, scores, name in zip(paths, loaded, labels):
        slug = base = _slug(name)[:60]
        number = 2
        while slug in taken:
            slug, number = f"{base}-{number}", number + 1
        taken.add(slug)
        time = datetime.fromtimestamp(path.stat().st_mtime, timezone.utc)
        runs.append(SavedRun(name, slug, time, scores))
    return runs


def _kind(signature: Signature) -> tuple[str, ...]:
    """Return what must agree for scores of one table: all fields of the signature but a run's own."""
    fields = {key: value for key, value in signature.fields.items() if key not in _OWN_FIELDS}
    return (signature.name, *(f"{key}:{value}" for key, value in fields.items()))


def _boards(
    runs: Sequence[SavedRun], data_names: Mapping[str, str], bootstrap: Bootstrap
) -> list[dict[str, Any]]:
    """Return a table for each data set. A metric that was computed in two ways has two columns."""
    boards: dict[str, dict[str, Any]] = {}
    for place, run in enumerate(track(runs, "computing intervals")):
        data = _data_of(run.scores)
        board = boards.setdefault(data, {"data": data, "name": _data_name(data, data_names), "columns": {}})
        for name, score in run.scores.items():
            images = hashlib.sha256("\n".join(sorted(score.ids)).encode("utf-8", "replace")).hexdigest()[:8]
            key = (*_kind(score.signature), images)
            column = board["columns"].setdefault(
                key,
                {
                    "name": name,
                    "higher": score.measure.higher_is_better,
                    "format": score.measure.format,
                    "signature": str(score.signature),
                    "images": len(score.ids),
                    "rows": {},
                },
            )
            bounds = score.interval(*bootstrap) if len(score.ids) > 1 else (float("nan"), float("nan"))
            column["rows"][place] = [json_number(score.value), *map(json_number, bounds)]
    listed = []
    for board in boards.values():
        columns = list(board["columns"].values())
        # Columns of one metric are told apart by what differs in their signatures.
        for column in columns:
            alike = [other for other in columns if other["name"] == column["name"] and other is not column]
            apart = {
                f"{field}:{own}"
                for other in alike
                for field, own, _ in Signature(column["signature"]).difference(other["signature"])
            }
            column["apart"] = ", ".join(sorted(apart)) or (f"{column['images']:,} images" if alike else "")
        listed.append({**board, "columns": columns})
    return listed


def _data_of(scores: Scores) -> str:
    """Return the references of a run as its signatures name them, or its number of images."""
    fields = [score.signature.fields for score in scores.values()]
    references = next((own["refs"] for own in fields if "refs" in own), None)
    images = max((len(score.ids) for score in scores.values()), default=0)
    return references or f"{images} images without references"


def _data_name(data: str, names: Mapping[str, str]) -> str:
    known = names.get(data) or names.get(data.rpartition("@")[2])
    if known is not None:
        return known
    size, _, digest = data.partition("@")
    images, _, references = size.partition("x")
    return f"{images} images × {references} references ({digest})" if digest else data


# Files ------------------------------------------------------------------------------------------------


def _write(
    folder: Path,
    runs: Sequence[SavedRun],
    boards: Sequence[Mapping[str, Any]],
    title: str,
    address: str | None,
    reports: bool,
    bootstrap: Bootstrap,
) -> None:
    for name in ("runs", "reports", "badges"):
        (folder / name).mkdir(parents=True)
    described = [
        {
            "name": run.name,
            "slug": run.slug,
            "time": run.time.isoformat(timespec="seconds"),
            "badges": [_slug(name) for name in run.scores],
            "report": reports,
        }
        for run in runs
    ]
    meta = {
        "title": title,
        "version": __version__,
        "level": bootstrap.level,
        "runs": described,
        "boards": [
            {
                **board,
                "columns": [{**column, "rows": list(column["rows"].items())} for column in board["columns"]],
            }
            for board in boards
        ],
    }
    _save(folder / "index.html", _page(title, {**meta, "run": None}, feed=True))
    for place, run in enumerate(track(list(runs), "writing pages")):
        _save(folder / "runs" / f"{run.slug}.html", _page(f"{run.name} – {title}", {**meta, "run": place}))
        if reports:
            # In a folder of their own, where no run can have the same name.
            own = report(run.scores, title=run.name, corpus=False, bootstrap=bootstrap)
            own.save(folder / "reports" / f"{run.slug}.html")
        for name, score in run.scores.items():
            badge = badge_svg(
                name, format(score.value, score.measure.format) if score.value == score.value else "–"
            )
            _save(folder / "badges" / f"{run.slug}-{_slug(name)}.svg", badge)
    _save(folder / "feed.xml", _feed(runs, title, address))
    _save(folder / MARK, _json({"captious": __version__, "runs": [run.name for run in runs]}))


def _slug(name: str) -> str:
    """Return a name for files and addresses."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "run"


def _save(path: Path, text: str) -> None:
    path.write_bytes(text.encode("utf-8", "replace"))


def _page(title: str, meta: Mapping[str, Any], *, feed: bool = False) -> str:
    style, script = _asset("page.css") + _asset("site.css"), _script()
    policy = "; ".join(
        [
            "default-src 'none'",
            f"script-src '{_hash(script)}'",
            f"style-src '{_hash(style)}'",
            # Badges are files beside the page.
            "img-src 'self' file:",
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )
    page = _asset("page.html").format(
        title=escape(title.encode("utf-8", "replace").decode()),
        policy=escape(policy, quote=True),
        style=style,
        script=script,
        data=_data("meta", "application/json", _json(meta)),
    )
    link = '<link rel="alternate" type="application/rss+xml" title="New runs" href="feed.xml">\n'
    return page.replace("</head>", link + "</head>", 1) if feed else page


def _script() -> str:
    return "(() => {\n'use strict';\n" + _asset("elements.js") + "\n" + _asset("site.js") + "\n})();\n"


def badge_svg(name: str, value: str) -> str:
    """Return a badge with a metric and its value, for a README."""
    name, value = _text(name), _text(value)
    left, right = 12 + 7 * len(name), 12 + 7 * len(value)
    label = escape(f"{name}: {value}", quote=True)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="20" role="img" '
        f'aria-label="{label}"><title>{label}</title>'
        f'<rect width="{left + right}" height="20" rx="4" fill="#3a3f47"/>'
        f'<path d="M{left} 0h{right - 4}a4 4 0 0 1 4 4v12a4 4 0 0 1-4 4h-{right - 4}z" fill="#0b5ea8"/>'
        '<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11" text-anchor="middle">'
        f'<text x="{left / 2:g}" y="14">{escape(name)}</text>'
        f'<text x="{left + right / 2:g}" y="14">{escape(value)}</text></g></svg>\n'
    )


def _feed(runs: Sequence[SavedRun], title: str, address: str | None) -> str:
    """Return an RSS feed of the runs, the newest first."""
    home = (address or "index.html").rstrip("/")
    base = home if address is not None else "."
    feed = ElementTree.Element("rss", version="2.0")
    channel = ElementTree.SubElement(feed, "channel")
    for tag, text in (("title", title), ("link", home), ("description", f"Runs of {title}")):
        ElementTree.SubElement(channel, tag).text = _text(text)
    for run in sorted(runs, key=lambda one: one.time, reverse=True)[:100]:
        item = ElementTree.SubElement(channel, "item")
        values = ", ".join(
            f"{name} {score.value:{score.measure.format}}" for name, score in run.scores.items()
        )
        digest = hashlib.sha256(
            "\n".join(f"{score.signature} {score.value!r}" for score in run.scores.values()).encode()
        ).hexdigest()[:16]
        for tag, text in (
            ("title", run.name),
            ("link", f"{base}/runs/{run.slug}.html"),
            ("description", values),
            ("pubDate", run.time.strftime("%a, %d %b %Y %H:%M:%S +0000")),
        ):
            ElementTree.SubElement(item, tag).text = _text(text)
        ElementTree.SubElement(item, "guid", isPermaLink="false").text = f"{run.slug}-{digest}"
    ElementTree.indent(feed)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(feed, encoding="unicode") + "\n"


def _text(text: str) -> str:
    """Replace characters that XML does not allow."""
    return printable(text.encode("utf-8", "replace").decode())
