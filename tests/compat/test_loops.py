"""Training loops and trackers, with the real packages."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import captious
from captious import compat
from captious.core.errors import InputError

torch = pytest.importorskip("torch")
pytest.importorskip("torchmetrics")

REFERENCES = [["a dog runs", "the dog is running"], ["a cat on a mat", "one cat"], ["two men talk"]]
PREDICTIONS = ["a dog is running", "a cat", "two women talk – ça va"]


def wanted(metric: str = "CIDEr-D") -> float:
    return captious.compute(predictions=PREDICTIONS, references=REFERENCES, metrics=metric)[metric]


def filled(*metrics: str) -> Any:
    metric = compat.torchmetrics.CaptionMetric(list(metrics) or "CIDEr-D")
    for predicted, references in zip(PREDICTIONS, REFERENCES):
        metric.update([predicted], [references])
    return metric


def test_a_metric_of_torchmetrics() -> None:
    import torchmetrics

    metric = filled()
    assert isinstance(metric, torchmetrics.Metric) and metric.higher_is_better is True
    assert float(metric.compute()) == wanted()
    assert float(pickle.loads(pickle.dumps(metric)).compute()) == wanted()
    assert float(metric.to("cpu").clone().compute()) == wanted()
    assert metric.scores()["CIDEr-D"].signature is not None
    # forward returns the value of the batch and adds it to the state
    metric.reset()
    batch = metric(PREDICTIONS[:2], REFERENCES[:2])
    assert (
        float(batch)
        == captious.compute(predictions=PREDICTIONS[:2], references=REFERENCES[:2], metrics="CIDEr-D")[
            "CIDEr-D"
        ]
    )
    metric.update(PREDICTIONS[2:], REFERENCES[2:])
    assert float(metric.compute()) == wanted()
    metric.reset()
    with pytest.raises(InputError, match="update first"):
        metric.compute()
    with pytest.raises(InputError, match="same length"):
        metric.update(["a"], [])
    with pytest.raises(InputError, match=r"references\[0\]"):
        metric.update(["a"], [[None]])
    several = filled("BLEU-1", "BLEU-4").compute()
    assert {name: float(value) for name, value in several.items()} == {
        n: wanted(n) for n in ("BLEU-1", "BLEU-4")
    }


def test_a_collection_with_compute_groups() -> None:
    from torchmetrics import MetricCollection

    kind = compat.torchmetrics.CaptionMetric
    metrics = MetricCollection(
        {"cider": kind("CIDEr-D"), "bleu": kind("BLEU-1")}, compute_groups=[["cider", "bleu"]]
    )
    for predicted, references in zip(PREDICTIONS, REFERENCES):
        metrics.update([predicted], [references])
    values = metrics.compute()
    assert float(values["cider"]) == wanted() and float(values["bleu"]) == wanted("BLEU-1")


PROGRAM = """
import sys
import torch.distributed as distributed
from torchmetrics import MetricCollection
import captious.compat.torchmetrics
from tests.compat.test_loops import PREDICTIONS, REFERENCES

rank, size = int(sys.argv[1]), 2
distributed.init_process_group("gloo", init_method="file://" + sys.argv[2], rank=rank, world_size=size)
kind = captious.compat.torchmetrics.CaptionMetric
for mode in ("shared", "idle", "collection"):
    metric = MetricCollection({"a": kind("CIDEr-D"), "b": kind("BLEU-1")}) if mode == "collection" else kind("CIDEr-D")
    for _ in range(2):  # the second epoch starts from an empty state
        for i in range(rank, 3, 2) if mode == "shared" else range(3) if rank == 0 else []:
            metric.update([PREDICTIONS[i]], [REFERENCES[i]])
        value = metric.compute()
        metric.reset()
        print("value", mode, float(value["a"] if mode == "collection" else value))
distributed.destroy_process_group()
"""


def test_two_processes(tmp_path: Path) -> None:
    """Each process has some images; one process has all; a collection of metrics."""
    root = Path(__file__).resolve().parents[2]
    running = [
        subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(rank), str(tmp_path / "store")],
            cwd=root, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for rank in (0, 1)
    ]  # fmt: skip
    for process in running:
        out, errors = process.communicate(timeout=240)
        assert process.returncode == 0, errors
        printed = [line.split() for line in out.splitlines() if line.startswith("value ")]
        assert [mode for _, mode, _ in printed] == ["shared"] * 2 + ["idle"] * 2 + ["collection"] * 2
        assert [float(value) for _, _, value in printed] == pytest.approx([wanted()] * 6, abs=1e-12)


class Words:
    """Tokenizer with the interface of transformers: ids to texts."""

    pad_token_id = 0
    words = ("<pad>", "a", "dog", "cat", "runs")

    def batch_decode(self, ids: Any, skip_special_tokens: bool = False) -> list[str]:
        return [" ".join(self.words[i] for i in row if i or not skip_special_tokens) for row in ids.tolist()]


def test_metrics_for_the_trainer() -> None:
    ids, labels = (
        np.array([[1, 2, 4, -100], [1, 3, 0, 0]]),
        np.array([[1, 2, -100, -100], [1, 3, -100, -100]]),
    )
    logits = np.eye(5)[np.where(ids < 0, 0, ids)]
    values = captious.compute(
        predictions=["a dog runs", "a cat"], references=["a dog", "a cat"], metrics="lexical"
    )
    compute = compat.hf_metrics(Words())
    for predicted in (ids, logits, (logits, None)):
        assert compute((predicted, labels)) == values
        assert compute(SimpleNamespace(predictions=predicted, label_ids=labels)) == values
    named = compat.hf_metrics(Words(), [["a dog"], ["a cat"]], "BLEU-1", prefix="cap_")((ids, None))
    assert named == {"cap_BLEU-1": values["BLEU-1"]}
    with pytest.raises(InputError, match="2 captions were generated and 1 images"):
        compat.hf_metrics(Words(), [["a dog"]])((ids, None))
    with pytest.raises(InputError, match="token ids"):
        compute((np.zeros(3), labels))


def test_the_trainer_calls_them(tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    prediction = transformers.EvalPrediction(
        predictions=np.array([[1, 2], [1, 3]]), label_ids=np.array([[1, 2], [1, 3]])
    )
    assert compat.hf_metrics(Words(), metrics="BLEU-1")(prediction)["BLEU-1"] == pytest.approx(1)


@pytest.mark.accelerate
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("generate", [True, False])
def test_a_run_of_the_trainer(generate: bool, tmp_path: Path) -> None:
    """A network of random weights: ids with padding, or a tuple of logits and hidden states."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import (
        BartConfig,
        BartForConditionalGeneration,
        DataCollatorForSeq2Seq,
        PreTrainedTokenizerFast,
        Seq2SeqTrainer,
        Seq2SeqTrainingArguments,
    )

    words = sorted({word for texts in REFERENCES for text in texts for word in text.split()})
    core = Tokenizer(models.WordLevel({w: i for i, w in enumerate(["<s>", "<pad>", "</s>", *words])}))
    core.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=core, bos_token="<s>", eos_token="</s>", pad_token="<pad>"
    )
    torch.manual_seed(0)
    sizes = {
        f"{part}_{name}": size
        for part in ("encoder", "decoder")
        for name, size in (("layers", 1), ("attention_heads", 2), ("ffn_dim", 16))
    }
    model = BartForConditionalGeneration(
        BartConfig(
            vocab_size=len(core.get_vocab()), d_model=16, max_position_embeddings=32, pad_token_id=1,
            bos_token_id=0, eos_token_id=2, decoder_start_token_id=2, forced_eos_token_id=None, **sizes,
        )
    )  # fmt: skip
    rows = [{"input_ids": ids, "labels": ids} for ids in tokenizer([t[0] for t in REFERENCES])["input_ids"]]
    seen: list[Any] = []
    compute = compat.hf_metrics(tokenizer, REFERENCES, ["CIDEr-D", "BLEU-1"])

    def compute_metrics(prediction: Any) -> dict[str, float]:
        seen.append(prediction.predictions)
        return compute(prediction)

    trainer = Seq2SeqTrainer(
        model=model,
        args=Seq2SeqTrainingArguments(
            output_dir=str(tmp_path), predict_with_generate=generate, report_to=[], use_cpu=True,
            per_device_eval_batch_size=2, disable_tqdm=True, generation_max_length=8,
        ),
        eval_dataset=rows,
        data_collator=DataCollatorForSeq2Seq(tokenizer, model=model),
        compute_metrics=compute_metrics,
        processing_class=tokenizer,
    )  # fmt: skip
    values = trainer.evaluate()
    (ids,) = seen
    assert isinstance(ids, np.ndarray) is generate
    if not generate:
        assert ids[0].ndim == 3
        ids = ids[0].argmax(axis=-1)
    texts = tokenizer.batch_decode(np.where(ids < 0, 1, ids), skip_special_tokens=True)
    wanted = captious.compute(predictions=texts, references=REFERENCES, metrics=["CIDEr-D", "BLEU-1"])
    assert {name: values[f"eval_{name}"] for name in wanted} == wanted
    assert generate or wanted["BLEU-1"] > 0


def test_evaluate_loads_the_module_without_a_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("evaluate")
    # With transformers, which it imports if it can, evaluate takes five seconds instead of one.
    program = f"""
import sys
sys.modules["transformers"] = None
import captious.compat, evaluate
del sys.modules["transformers"]
metric = evaluate.load(captious.compat.evaluate_module())
print(metric.compute(predictions={PREDICTIONS!r}, references={REFERENCES!r})["CIDEr-D"])
metric.add_batch(predictions={PREDICTIONS!r}, references={REFERENCES!r})
print(metric.compute(metrics="BLEU-1")["BLEU-1"])
"""
    for name in ("HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE", "HF_EVALUATE_OFFLINE"):
        monkeypatch.setenv(name, "1")
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    monkeypatch.setenv("PYTHONIOENCODING", "utf-8")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert list(map(float, done.stdout.split())) == [wanted(), wanted("BLEU-1")]


def test_lightning_logs_each_epoch(tmp_path: Path) -> None:
    lightning = pytest.importorskip("lightning.pytorch")

    class Model(lightning.LightningModule):  # type: ignore[misc, name-defined]
        def validation_step(self, batch: Any, _: int) -> dict[str, Any]:
            rows = batch.tolist()
            return {
                "predictions": [PREDICTIONS[i] for i in rows],
                "references": [REFERENCES[i] for i in rows],
            }

        test_step = validation_step

    callback = compat.lightning.CaptionCallback(["CIDEr-D", "BLEU-1"])
    trainer = lightning.Trainer(
        default_root_dir=tmp_path, accelerator="cpu", callbacks=[callback], logger=False,
        enable_progress_bar=False, enable_checkpointing=False, enable_model_summary=False,
    )  # fmt: skip
    loader = torch.utils.data.DataLoader(torch.arange(3), batch_size=2)
    (values,) = trainer.validate(Model(), loader, verbose=False)
    assert values == {f"val/{name}": pytest.approx(wanted(name), abs=1e-6) for name in ("CIDEr-D", "BLEU-1")}
    (values,) = trainer.test(Model(), loader, verbose=False)
    assert values["test/BLEU-1"] == pytest.approx(wanted("BLEU-1"), abs=1e-6)
    with pytest.raises(InputError, match="'predictions' and 'references'"):
        callback._add({"loss": 1})


def scores() -> Any:
    return captious.score(dict(enumerate(REFERENCES)), dict(enumerate(PREDICTIONS)), ["CIDEr-D", "BLEU-1"])


def test_tensorboard(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    logged = captious.track.log(scores(), to=f"tensorboard:{tmp_path}", step=3, prefix="val/")
    assert logged["val/CIDEr-D"] == wanted()
    events = EventAccumulator(str(tmp_path))
    events.Reload()
    (event,) = events.Scalars("val/CIDEr-D")
    assert event.step == 3 and event.value == pytest.approx(wanted(), rel=1e-6)


@pytest.mark.mlflow
def test_mlflow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    import mlflow

    mlflow.set_tracking_uri(f"file://{tmp_path}/runs")
    mlflow.set_experiment("captions")
    with mlflow.start_run() as run:
        captious.track.log(scores(), to="mlflow", step=3)
        captious.track.log({"own": 0.5}, to=mlflow)
    stored = mlflow.get_run(run.info.run_id).data
    assert stored.metrics["CIDEr-D"] == pytest.approx(wanted()) and stored.metrics["own"] == 0.5
    assert "refs:3x" in stored.tags["CIDEr-D.signature"]


@pytest.mark.wandb
def test_weights_and_biases_offline(tmp_path: Path) -> None:
    import wandb

    with wandb.init(mode="offline", dir=str(tmp_path), project="captious") as run:
        captious.track.log(scores(), to=run, step=3)
        captious.track.log(scores(), to="wandb", step=4)
        assert run.summary["CIDEr-D"] == pytest.approx(wanted())
    assert list(tmp_path.rglob("*.wandb"))


def test_targets_that_are_refused() -> None:
    for target in ("nowhere", "tensorboard:", 3):
        with pytest.raises(InputError, match="scores are logged to"):
            captious.track.log({"a": 1.0}, to=target)
