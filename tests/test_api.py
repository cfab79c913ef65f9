"""The public interface: names, signatures, and kinds of input."""

from __future__ import annotations

import inspect
import json
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import captious
from captious.core.errors import InputError
from captious.data import demo_path

#: The public interface. After a deliberate change: python -m tests.test_api > tests/public_api.txt
INTERFACE = Path(__file__).with_name("public_api.txt")
ROOMS = (
    "captious",
    "captious.agreement",
    "captious.critic",
    "captious.diversity_analysis.sets",
    "captious.generate",
    "captious.rerank",
    "captious.rewards",
    "captious.robustness",
    "captious.scale",
    "captious.tasks",
    "captious.training",
)

REFERENCES = {1: ["a dog runs", "the dog is running"], 2: ["a cat on a mat", "one cat"], 3: ["two men talk"]}
PREDICTIONS = {1: "a dog is running", 2: "a cat", 3: "two women talk"}


def interface() -> Iterator[str]:
    """Describe the public names of all documented rooms, one line each."""
    for room in ROOMS:
        module = import_module(room)
        yield f"[{room}]"
        for name in module.__all__:
            item = getattr(module, name)
            if inspect.isclass(item):
                yield f"class {name}"
            elif inspect.isfunction(item):
                yield f"{name}{_signature(item)}"
            else:
                yield name
        yield ""


def _signature(function: Any) -> inspect.Signature:
    """Return a function's signature without types."""
    parameters = inspect.signature(function).parameters.values()
    return inspect.Signature([p.replace(annotation=p.empty, default=_plain(p.default)) for p in parameters])


def _plain(default: Any) -> Any:
    """Return a default; sets, whose order is not fixed, as dots."""
    return ... if isinstance(default, frozenset) else default


def test_the_public_interface_is_the_listed_one() -> None:
    assert list(interface()) == INTERFACE.read_text(encoding="utf-8").split("\n")


def test_score_takes_files_mappings_and_corpora() -> None:
    corpus = captious.load(demo_path("references"), demo_path("good"))
    wanted = captious.score(corpus, "lexical")
    for scores in (
        captious.score(demo_path("references"), demo_path("good"), "lexical"),
        captious.score(str(demo_path("references")), str(demo_path("good")), metrics="lexical"),
        captious.score(references=demo_path("references"), predictions=demo_path("good"), metrics="lexical"),
        captious.score(corpus, metrics="lexical"),
        captious.score(captious.prepare(demo_path("references"), "lexical"), demo_path("good"), "lexical"),
    ):
        assert {name: score.value for name, score in scores.items()} == {
            name: score.value for name, score in wanted.items()
        }
        assert scores["CIDEr-D"].signature == wanted["CIDEr-D"].signature
    assert captious.score(REFERENCES, PREDICTIONS, "BLEU-1", name="mine").system == "mine"
    part = captious.score(REFERENCES, {1: "a dog"}, "BLEU-1", subset=True)["BLEU-1"]
    assert part.ids == ("1",)


def test_score_names_missing_input() -> None:
    with pytest.raises(InputError, match="predictions are missing"):
        captious.score(demo_path("references"))  # type: ignore[call-overload]
    with pytest.raises(InputError, match="nothing to score"):
        captious.score()  # type: ignore[call-overload]
    with pytest.raises(InputError, match="without a name"):
        captious.score(REFERENCES, PREDICTIONS, "BLEU-1", "BLEU-2")  # type: ignore[call-overload]
    with pytest.raises(InputError, match="unknown option"):
        captious.score(REFERENCES, PREDICTIONS, "BLEU-1", sigma=3)


def test_compute_takes_parallel_lists() -> None:
    values = captious.compute(
        predictions=list(PREDICTIONS.values()), references=list(REFERENCES.values()), metrics="lexical"
    )
    wanted = captious.score(REFERENCES, PREDICTIONS, "lexical")
    assert values == {name: score.value for name, score in wanted.items()}
    assert all(type(value) is float for value in values.values())
    # A single reference needs no list.
    alone = captious.compute(
        predictions=["a dog", "a cat"], references=["a dog", "two cats"], metrics="BLEU-1"
    )
    assert alone["BLEU-1"] == pytest.approx(0.5, abs=1e-6)


@pytest.mark.parametrize(
    ("predictions", "references", "message"),
    [
        (["a"], ["a", "b"], "give references for each prediction"),
        ("a dog", ["a"], "not str"),
        ([1], ["a"], r"predictions\[0\]"),
        (["a"], [["a", None]], r"references\[0\]"),
        ([], [], "no images"),
    ],
)
def test_compute_refuses(predictions: Any, references: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        captious.compute(predictions=predictions, references=references, metrics="BLEU-1")


def test_a_metric_for_training_loops() -> None:
    metric = captious.compat.torchmetrics.CaptionScore("CIDEr-D")
    for image in PREDICTIONS:
        metric.update([PREDICTIONS[image]], [REFERENCES[image]])
    value = captious.score(REFERENCES, PREDICTIONS, "CIDEr-D")["CIDEr-D"].value
    assert float(metric.compute()) == value
    assert metric.higher_is_better is True
    other = captious.compat.torchmetrics.CaptionScore("CIDEr-D")
    other.update([PREDICTIONS[1]], [REFERENCES[1]])
    rest = captious.compat.torchmetrics.CaptionScore("CIDEr-D")
    rest.update([PREDICTIONS[2], PREDICTIONS[3]], [REFERENCES[2], REFERENCES[3]])
    other.merge_state([rest])
    assert float(other.compute()) == value
    metric.reset()
    with pytest.raises(InputError, match="update first"):
        metric.compute()
    with pytest.raises(InputError, match="same length"):
        metric.update(["a"], [])
    several = captious.compat.torchmetrics.CaptionScore("bleu")
    batch = several(list(PREDICTIONS.values()), list(REFERENCES.values()))
    assert set(batch) == {"BLEU-1", "BLEU-2", "BLEU-3", "BLEU-4"}
    assert float(batch["BLEU-1"]) == captious.score(REFERENCES, PREDICTIONS, "BLEU-1")["BLEU-1"].value


def test_values_are_tensors_where_there_is_torch() -> None:
    torch = pytest.importorskip("torch")
    metric = captious.compat.torchmetrics.CaptionScore("BLEU-1")
    metric.update(["a dog"], [["a dog"]])
    assert isinstance(metric.to("cpu").compute(), torch.Tensor)


def test_import_stays_cheap() -> None:
    program = "import json, sys, captious; names = [n for n in ('numba', 'torch', 'rich', 'numpy') if n in sys.modules]; print(json.dumps(names))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == []


if __name__ == "__main__":
    print("\n".join(interface()), end="")
