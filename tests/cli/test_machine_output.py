"""CSV and JSON of all commands that print results: one table, one schema."""

from __future__ import annotations

import csv
import io
import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from captious.cli.app import app
from captious.data import demo_path
from captious.results.result_rows import COLUMNS, NumberStyle

SCHEMA = Path(__file__).parents[2] / "docs" / "reference" / "output.schema.json"
REFERENCES, GOOD, POOR, GENERIC = (str(demo_path(n)) for n in ("references", "good", "poor", "generic"))
SAMPLES = str(demo_path("sampling"))
FEW = ["--resamples", "20"]

COMMANDS: dict[str, list[str]] = {
    "score": ["score", REFERENCES, GOOD, POOR, "-m", "BLEU-4,CIDEr-D,CHAIRs", "--ci", *FEW],
    "score groups": ["score", REFERENCES, GOOD, "-m", "BLEU-4,SPICE-Color", "--group", "length", "--ci", *FEW],
    "score several": ["score", REFERENCES, SAMPLES, "-m", "ROUGE-L", "--allow-several"],
    "compare": ["compare", REFERENCES, GOOD, POOR, GENERIC, "-m", "BLEU-4,CHAIRs", "--trials", "200", *FEW],
    "compare two": ["compare", REFERENCES, GOOD, POOR, "-m", "ROUGE-L", "--trials", "200", *FEW],
    "diversity": ["diversity", REFERENCES, SAMPLES, "--best", "--ci", *FEW],
    "corpus": ["corpus", REFERENCES, GOOD, POOR, GENERIC, "--ci", *FEW],
    "corpus without trees": ["corpus", REFERENCES, GOOD, "--no-trees"],
    "agreement": ["agreement", "TABLE", "-m", "ROUGE-L,BLEU-1", "--ci", "--compare", "all", *FEW,
                  "--curves", "references,length,level", "--relations"],
    "robustness": ["robustness", REFERENCES, "-m", "ROUGE-L", "--images", "20", "--limit", "10", *FEW],
}  # fmt: skip


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Ratings of captions in a table of our own."""
    path = tmp_path_factory.mktemp("ratings") / "mine.jsonl"
    people = json.loads(Path(GOOD).read_text()), json.loads(Path(GENERIC).read_text())
    references: dict[str, list[str]] = {}
    for row in json.loads(Path(REFERENCES).read_text())["annotations"]:
        references.setdefault(str(row["image_id"]), []).append(row["caption"])
    rows = [
        {
            "image": str(row["image_id"]),
            "caption": row["caption"],
            "references": references[str(row["image_id"])],
            "rating": rating + k % 3,
        }
        for rating, system in enumerate(people)
        for k, row in enumerate(system)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


@cache
def output(name: str, table: str, *options: str) -> str:
    words = [table if word == "TABLE" else word for word in COMMANDS[name]]
    done = CliRunner().invoke(app, [*words, "--quiet", *options])
    assert done.exit_code == 0, done.output
    return done.stdout


def rows_of(name: str, table: str, *options: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(output(name, table, "--format", "csv", *options))))


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_prints_the_same_columns(name: str, table: str) -> None:
    text = output(name, table, "--format", "csv")
    assert text.split("\n", 1)[0] == ",".join(COLUMNS) and text.count(",".join(COLUMNS)) == 1
    rows = rows_of(name, table)
    keys = [(row["system"], row["metric"], row["other_system"]) for row in rows]
    assert len(keys) == len(set(keys)) > 0
    for row in rows:
        numbers = {key: float(row[key]) if row[key] else None for key in COLUMNS[3:9]}
        assert int(row["n"]) > 0 and all(row[key] == "" or row[key] != "–" for key in COLUMNS)
        if numbers["low"] is not None and numbers["high"] is not None and numbers["value"] is not None:
            assert numbers["low"] <= numbers["high"]
        for key in ("p", "p_corrected"):
            assert numbers[key] is None or 0 <= numbers[key] <= 1  # type: ignore[operator]
        assert (numbers["p_corrected"] is not None) <= bool(row["other_system"])
    assert any(row["signature"] for row in rows)


@pytest.mark.parametrize(
    ("words", "path"),
    [
        (["chair", REFERENCES, POOR], ["CHAIRs", "value"]),
        (["demo", "-m", "ROUGE-L"], ["systems", 0, "scores", "ROUGE-L", "value"]),
    ],
)
def test_percent_and_digits_in_other_json(words: list[str], path: list[str | int]) -> None:
    values = []
    for options in ((), ("--percent", "--digits", "1")):
        done = CliRunner().invoke(app, [*words, "--format", "json", *options])
        assert done.exit_code == 0, done.output
        value: Any = json.loads(done.stdout)
        for key in path:
            value = value[key]
        values.append(value)
    assert values[1] == round(100 * values[0], 1)


def test_csv_and_json_hold_the_same_numbers(table: str) -> None:
    data = json.loads(output("score", table, "--format", "json"))
    for row in rows_of("score", table):
        score = next(s for s in data["systems"] if s["system"] == row["system"])["scores"][row["metric"]]
        assert (float(row["value"]), row["signature"]) == (score["value"], score["signature"])
        assert [float(row["low"]), float(row["high"])] == score["interval"]
    (oracle,) = (row for row in rows_of("score several", table) if row["metric"] == "oracle ROUGE-L")
    data = json.loads(output("score several", table, "--format", "json"))
    assert float(oracle["value"]) == data["systems"][0]["scores"]["ROUGE-L"]["oracle"]
    data = json.loads(output("agreement", table, "--format", "json"))
    first = rows_of("agreement", table)[0]
    assert (first["system"], first["metric"]) == ("ROUGE-L", "mine tau-b")
    assert float(first["value"]) == data["agreement"][0]["value"]
    people = [row for row in rows_of("corpus", table) if row["system"] == "humans"]
    data = json.loads(output("corpus", table, "--format", "json"))
    types = next(row for row in people if row["metric"] == "Types")
    assert float(types["value"]) == data["humans"]["measures"]["types"]
    robust = rows_of("robustness", table)
    data = json.loads(output("robustness", table, "--format", "json"))
    assert float(robust[0]["value"]) == data["curves"][0]["area"]
    assert {"Replace Person: accuracy", "all tasks: mean accuracy"} <= {row["metric"] for row in robust}


@pytest.mark.parametrize("name", ["score", "compare", "diversity", "corpus", "agreement", "robustness"])
def test_percent_and_digits_apply_to_scores_only(name: str, table: str) -> None:
    exact, rounded = rows_of(name, table), rows_of(name, table, "--percent", "--digits", "2")
    factors = set()
    for a, b in zip(exact, rounded, strict=True):
        assert all(a[key] == b[key] for key in COLUMNS if key not in ("value", "low", "high"))
        for key in ("value", "low", "high"):
            if a[key] and abs(float(a[key])) > 0.01:
                factor = 100 if abs(float(b[key]) - float(a[key])) > 0.02 else 1
                assert float(b[key]) == pytest.approx(factor * float(a[key]), abs=0.0051)
                factors.add(factor)
            if b[key]:
                assert float(b[key]) == round(float(b[key]), 2)
    assert 100 in factors
    if name in ("diversity", "corpus"):
        assert 1 in factors  # counts stay counts
    exact_json, percent_json = (
        json.loads(output(name, table, "--format", "json", *options)) for options in ((), ("--percent",))
    )
    assert exact_json != percent_json and _shape(exact_json) == _shape(percent_json)


def _shape(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _shape(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_shape(item) for item in value]
    return None if isinstance(value, int | float) or value is None else value


def test_number_style() -> None:
    assert (
        NumberStyle(percent=True).number(0.07) == 7.0
        and NumberStyle(percent=True).number(12.5, ".1f") == 12.5
    )
    assert (
        NumberStyle(digits=2).number(0.125) == round(0.125, 2)
        and NumberStyle().number(0.1 + 0.2) == 0.1 + 0.2
    )
    assert NumberStyle().number(float("nan")) is None and NumberStyle().number(float("inf")) is None


# --- the schema in the documentation


def problems(value: Any, schema: dict[str, Any], path: str = "$") -> list[str]:
    """Validate the part of JSON Schema that the document uses, and refuse other keywords."""
    known = {"$ref", "anyOf", "enum", "type", "properties", "required", "additionalProperties", "items",
             "minItems", "maxItems", "description", "title", "$schema", "$defs"}  # fmt: skip
    assert set(schema) <= known, set(schema) - known
    if "$ref" in schema:
        return problems(value, document()["$defs"][schema["$ref"].removeprefix("#/$defs/")], path)
    if "anyOf" in schema:
        tried = [problems(value, one, path) for one in schema["anyOf"]]
        return [] if any(not found for found in tried) else min(tried, key=len)
    if "enum" in schema:
        return [] if value in schema["enum"] else [f"{path}: {value!r} is not in {schema['enum']}"]
    kinds = {
        "object": dict,
        "array": list,
        "string": str,
        "boolean": bool,
        "integer": int,
        "number": (int, float),
    }
    types = [schema["type"]] if isinstance(schema["type"], str) else schema["type"]
    fits = [
        value is None if kind == "null"
        else isinstance(value, kinds[kind]) and (kind == "boolean" or not isinstance(value, bool))  # type: ignore[arg-type]
        for kind in types
    ]  # fmt: skip
    if not any(fits):
        return [f"{path}: {value!r} is not {types}"]
    out = []
    if isinstance(value, dict):
        named, others = schema.get("properties", {}), schema.get("additionalProperties", True)
        out += [f"{path}: {key} is missing" for key in schema.get("required", ()) if key not in value]
        for key, item in value.items():
            if key in named:
                out += problems(item, named[key], f"{path}.{key}")
            elif others is False:
                out.append(f"{path}: {key} is not allowed")
            elif isinstance(others, dict):
                out += problems(item, others, f"{path}.{key}")
    if isinstance(value, list):
        if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
            out.append(f"{path}: {len(value)} items")
        for i, item in enumerate(value):
            out += problems(item, schema.get("items", {"type": [*kinds, "null"]}), f"{path}[{i}]")
    return out


@cache
def document() -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(SCHEMA.read_text(encoding="utf-8"))
    return loaded


@pytest.mark.parametrize("name", COMMANDS)
def test_json_follows_the_schema(name: str, table: str) -> None:
    data = json.loads(output(name, table, "--format", "json"))
    own = {"$ref": f"#/$defs/{name.split()[0]}_output"}
    assert problems(data, own) == [] and problems(data, document()) == []
    assert "per_image" not in json.dumps(data)


def test_single_images_follow_the_schema(table: str, tmp_path: Path) -> None:
    out = tmp_path / "images.json"
    output("score", table, "--per-image", str(out))
    data = json.loads(out.read_text())
    assert problems(data, {"$ref": "#/$defs/score_output"}) == []
    assert len(data["systems"][0]["scores"]["BLEU-4"]["per_image"]) == 60


def test_a_check_follows_the_schema(tmp_path: Path) -> None:
    for name, file in (("old", GOOD), ("new", POOR)):
        done = CliRunner().invoke(
            app, ["score", REFERENCES, file, "-m", "BLEU-4", "-o", str(tmp_path / f"{name}.scores")]
        )
        assert done.exit_code == 0, done.output
    saved = [str(tmp_path / f"{name}.scores") for name in ("new", "old")]
    done = CliRunner().invoke(
        app, ["check", saved[0], "--against", saved[1], "--fail", "BLEU-4 < -1%", "--json", "-", *FEW]
    )
    assert done.exit_code == 1, (done.output, done.exception)
    data = json.loads(done.stdout)
    assert not data["passed"]
    assert problems(data, {"$ref": "#/$defs/check_output"}) == [] and problems(data, document()) == []


def test_the_validator_notices_mistakes(table: str) -> None:
    data = json.loads(output("score", table, "--format", "json"))
    own = {"$ref": "#/$defs/score_output"}
    score = data["systems"][0]["scores"]["BLEU-4"]
    for change in ({"value": "0.4"}, {"other": 1}, {"interval": [0.1]}, {"higher_is_better": 1}):
        changed = json.loads(json.dumps(data))
        changed["systems"][0]["scores"]["BLEU-4"] = {**score, **change}
        assert problems(changed, own)
    del data["systems"][0]["system"]
    assert problems(data, own) == ["$.systems[0]: system is missing"]
