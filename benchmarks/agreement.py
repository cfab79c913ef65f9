"""Scores for agreement with human judgements beside pycocoevalcap: rated captions of Flickr8k-Expert and -CF.

    python -m benchmarks.agreement [--captions N] [--java DIR] [--java-images 160] [--ours]

Each caption has five references. Ours runs in a fresh process with a filled cache, from raw text to the
scores of all caption metrics except those of the sentence encoder. pycocoevalcap runs its tokenizer, BLEU,
METEOR, ROUGE-L and CIDEr on the same captions, and ours runs these metrics, too. Java SPICE is extrapolated
as in ``benchmarks.spice``. DIR is the folder of its jars. Wall-clock and processor time are shown, because
only the latter means much on a busy machine. The last line is the bootstrap of tau-c on 16,992 rows.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import tempfile
from pathlib import Path

from benchmarks.captions import public_data
from benchmarks.spice import extrapolate, java_seconds
from benchmarks.timing import Run, Seconds, python, timed

COMMON = ["BLEU-1", "BLEU-2", "BLEU-3", "BLEU-4", "METEOR", "ROUGE-L", "CIDEr-D"]
#: Metrics of the sentence encoder, and learned metrics, which combine others.
SKIPPED = ("SentenceSim", "TokenSim", "Soft-SPICE", "LCEval", "NNEval", "CaptiousScore")


def caption_metrics() -> list[str]:
    """Return all other caption metrics that need nothing but captions."""
    from captious.core.errors import InputError
    from captious.metrics import registry

    names = []
    for name in registry.of_family("all"):
        if not name.startswith(SKIPPED):
            with contextlib.suppress(InputError):
                registry.create(name).check()
                names.append(name)
    return names


def rated_captions(limit: int | None) -> tuple[list[list[str]], list[list[str]]]:
    """Return captions and references of both sets, without captions that are their image's references."""
    from captious.agreement import RatedCaptions, load_judgements

    groups: list[list[str]] = []
    references: list[list[str]] = []
    for name in ("flickr8k-expert", "flickr8k-cf"):
        judged = load_judgements(name, public_data())
        assert isinstance(judged, RatedCaptions) and judged.own is not None
        for caption, texts, own in zip(judged.captions, judged.references, judged.own):
            if not own:
                groups.append([caption])
                references.append(list(texts))
    return groups[:limit], references[:limit]


def score(side: str, limit: int | None) -> Seconds:
    """Time one side: ``peer``, ``common`` (ours, the peer's metrics) or ``all`` (ours)."""
    groups, references = rated_captions(limit)
    if side == "peer":
        from benchmarks.pycocoevalcap_peer import SCORERS, scores

        records = [
            {i: [{"caption": text} for text in texts] for i, texts in enumerate(side)}
            for side in (references, groups)
        ]
        return timed(lambda: scores(*records, list(SCORERS)))[1]

    def ours() -> None:
        from captious.agreement.study import score_captions
        from captious.metrics.registry import make_measures

        names = COMMON if side == "common" else caption_metrics()
        score_captions(groups, references, make_measures(names, {}))

    return timed(ours)[1]


def run(side: str, limit: int | None) -> tuple[Run, Seconds]:
    """Time one side in a fresh process."""
    run = Run(python("benchmarks.agreement", "--side", side, *(["--captions", str(limit)] if limit else [])))
    return run, Seconds(*run.json)


def print_bootstrap_time() -> None:
    from captious.agreement import Study, load_judgements
    from captious.agreement.resampling import resample_counts

    table = Study.of(load_judgements("flickr8k-expert", public_data()), "ROUGE-L").whole

    def resample(times: int) -> None:
        for counts in resample_counts(table.units, times):
            table.resampled("ROUGE-L", counts)

    resample(2)  # loads kernels
    _, seconds = timed(lambda: resample(1000))
    print(f"bootstrap of tau-c: 1,000 resamples of {len(table):,} rows in {seconds.wall:.2f} s")


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("--captions", type=int, help="number of captions (default: all)")
    arguments.add_argument("--java", type=Path, help="folder with the jars of Java SPICE and CoreNLP")
    arguments.add_argument("--java-images", type=int, default=160)
    arguments.add_argument("--ours", action="store_true", help="run only captious")
    arguments.add_argument("--side", help=argparse.SUPPRESS)
    options = arguments.parse_args()
    if options.side:
        print(json.dumps(score(options.side, options.captions)))
        return
    captions, references = rated_captions(options.captions)
    run("all", 200)  # fills captious's cache
    process, every = run("all", options.captions)
    metrics = len(caption_metrics())
    print(f"captious, {metrics} metrics on {len(captions):,} captions × 5 references: ", end="")
    print(f"{every}, {process.megabytes:.0f} MB")
    print_bootstrap_time()
    if options.ours:
        return
    _, common = run("common", options.captions)
    _, peer = run("peer", options.captions)
    print(f"  {', '.join(COMMON)}")
    print(f"  pycocoevalcap  {peer}")
    print(f"  captious       {common}: {peer.ratio_to(common, 1)}")
    if options.java:
        rows = [{"caption": c[0], "references": r} for c, r in zip(captions, references)][
            : options.java_images
        ]
        with tempfile.TemporaryDirectory() as folder:
            java = extrapolate(
                rows, len(captions), lambda part: java_seconds(part, options.java, Path(folder))
            )
        both = Seconds(peer.wall + java.wall, peer.processor + java.processor)
        print(f"  Java SPICE, from {len(rows)} captions: {java}")
        print(f"  pycocoevalcap with SPICE {both} beside all our metrics {every}: {both.ratio_to(every)}")


if __name__ == "__main__":
    main()
