"""Commands whose output is frozen. They run in the folder of a case, in this order.

Files ``out.*`` that they write are frozen, too.

``{strict}`` stands for all measures of captions that do not use the sentence encoder, ``{resources}`` for the
options of measures.
"""

from __future__ import annotations

SCORES = {
    "lexical": (
        "score references.json a.json b.json -m lexical --ci --signature --json - -q --per-image out.csv"
    ),
    "coco": "score references.json a.json b.json c.json -m coco --json - -q --per-image out.json",
    "strict": "score references.json a.json b.json -m {strict} {resources} --json - -q --per-image out.json",
    "samples": "score references.json samples.jsonl --allow-several -m coco --json - -q --per-image out.json",
    "table": "score references.json a.json b.json -m coco -f csv --digits 15 -q",
    "tokenizer-simple": "score references.json a.json -m lexical,METEOR --tokenizer simple --json - -q",
    "tokenizer-spacy": "score references.json a.json -m lexical,METEOR --tokenizer spacy-like --json - -q",
    "tokenizer-none": "score references.json a.json -m lexical,METEOR --tokenizer none --json - -q",
    "combine-max": (
        "score references.json a.json -m WEmbSim,MOWE --combine max --vectors glove-6b-50d --json - -q"
    ),
    "compare": (
        "compare references.json a.json b.json c.json -m coco --resamples 200 --trials 500 --json - -q"
    ),
    "diversity": (
        "diversity references.json samples.jsonl --train train.jsonl --best --ci --resamples 100 --json "
        "- -q --per-image out.csv"
    ),
    "kernel": "diversity references.json samples.jsonl --kernel cider-d -a CIDEr-D,METEOR --json - -q",
    "corpus": "corpus references.json a.json b.json --train train.jsonl --ci --resamples 50 --json - -q",
    "chair": "chair references.json a.json --objects objects.jsonl --json - -q",
    "tokenize": "tokenize captions.txt",
    "tokenize-punctuation": "tokenize captions.txt --keep-punctuation",
    "parse": "parse captions.txt",
    "df": "df build references.json -o out.npz",
    "concepts": "concepts build references.json -o out.gz",
}

RELAXED_SCORES = {
    "all": "score references.json a.json b.json -m all {resources} --json - -q",
    "samples": (
        "score references.json samples.jsonl --allow-several -m TokenSim-R,SentenceSim --combine "
        "centroid --json - -q"
    ),
    "explain": "explain references.json a.json -m CaptiousScore --json - -q",
}

EXPLANATIONS = {
    "demo": "demo --ci --json - -q",
    "explain-lite": "explain references.json a.json -m CaptiousScore-lite --json - -q",
    "explain-lceval": "explain references.json a.json -m LCEval --json - -q",
    "explain-nneval": "explain references.json a.json -m NNEval --json - -q",
    "scene": (
        "scene 'two small brown dogs run after a red ball' 'a dog with a ball on the green grass' --json -"
    ),
    "tree": "parse captions.txt --tree",
}

ROBUSTNESS = {
    "robustness": (
        "robustness references.json -m lexical,METEOR,SPICE,WMD,MOWE,WEmbSim --images 60 --limit 60 "
        "--resamples 50 --json - -q"
    ),
}

#: The same captions in every format that captious reads.
FORMATS = {
    f"score-{name.replace('.', '-')}": f"score references.{name} a.{name} -m BLEU-4,CIDEr-D --json - -q"
    for name in ("json", "map.json", "jsonl", "jsonl.gz", "csv", "tsv")
}

PREPARED = {
    "prepare": "prepare references.json -m {strict} {resources} -o refs.prepared",
    "score": "score refs.prepared a.json b.json -m {strict} {resources} --json - -q",
    "score-part": "score refs.prepared shards/0.jsonl --part -m coco --json - -q",
    "compare": "compare refs.prepared a.json b.json -m lexical --resamples 100 --trials 200 --json - -q",
}

SAVED = {
    "save": "score references.json a.json -m coco,Types,MTLD -o a.scores -q",
    "save-b": "score references.json b.json -m coco,Types,MTLD -o b.scores -q",
    "show": "show a.scores b.scores --ci --resamples 100 --json - -q --per-image out.csv",
    "compare": "compare a.scores b.scores --resamples 100 --trials 200 --json - -q",
    "part-0": "score references.json shards/0.jsonl --part -m coco -o part0.scores -q",
    "part-1": "score references.json shards/1.jsonl --part -m coco -o part1.scores -q",
    "part-2": "score references.json shards/2.jsonl --part -m coco -o part2.scores -q",
    "merge": "merge part0.scores part1.scores part2.scores -o merged.scores --name a --json - -q",
}

_SHARDS = "score shards --references references.json --engine local -j 1 -q --json -"
SCALE = {
    "shards": f"{_SHARDS} -m coco,ASL,Types,Hapax,TTR1,Distinct -o scale",
    "shards-saved": "show scale/captions.scores --ci --resamples 50 --json - -q",
    "sketches": f"{_SHARDS} -m Types,Distinct --top 50 -o sketches",
}

RERANK = {
    "train-unigram": "train lm references.json -o uni.npz --kind unigram --held-out 10 --json -",
    "train-trigram": "train lm references.json -o tri.npz --held-out 10 --json -",
    "train-arpa": "train lm references.json -o out.arpa --held-out 10",
    "mutual-information": (
        "rerank nbest.jsonl --lm uni.npz --lm tri.npz --lambda 0.4 --alpha 0.3 -o out.json --candidates "
        "out.jsonl -q"
    ),
    "normalised": (
        "rerank nbest.jsonl --lm tri.npz --lambda 0.4 --normalise -o out.json --candidates out.jsonl -q"
    ),
    "consensus": (
        "rerank nbest.jsonl --by consensus --metric CIDEr-D --posterior -o out.json --candidates out.jsonl -q"
    ),
    "tune": (
        "rerank nbest.jsonl --lm uni.npz --tune references.json -m BLEU-4,CIDEr-D --trials 100 "
        "--resamples 50 --json - -q"
    ),
    "templates": "templates objects.jsonl -o out.json -k 10 -q",
    "templates-curves": (
        "templates objects.jsonl --curves references.json -k 5,80 --most 1,3 -m ROUGE-L,SPICE --json - -q"
    ),
}

_PAGES = (
    "", "score", "show", "compare", "check", "report", "wrap", "site", "merge", "prepare", "dense", "diversity",
    "corpus", "agreement", "robustness", "task", "why", "formats", "changes", "metrics", "cache", "df",
    "df build", "df import", "df show", "parse", "tokenize", "demo", "scene", "facts", "concepts",
    "concepts build", "concepts import", "concepts show", "chair", "explain", "train", "train lceval",
    "train nneval", "train composite", "train captioner", "train critic", "train lm", "generate", "synonyms",
    "critic", "rerank", "likelihood", "templates",
)  # fmt: skip

#: All that these commands print, their messages and their exit code. Many are mistakes.
MESSAGES = {
    **{f"help-{page.replace(' ', '-') or 'captious'}": f"{page} --help" for page in _PAGES},
    "nothing": "",
    "version": "--version",
    "unknown-command": "scroe references.json a.json",
    "elsewhere": "evaluate references.json a.json",
    "unknown-option": "score references.json a.json --metrcis coco",
    "old-option": "explain references.json a.json --metric CIDEr-D --top 3",
    "missing-argument": "compare",
    "missing-option": "merge a.scores",
    "no-value": "score references.json a.json -m",
    "bad-number": "score references.json a.json --digits many",
    "number-out-of-range": "score references.json a.json --digits 99",
    "bad-format": "score references.json a.json -f htlm",
    "bad-level": "score references.json a.json --ci --level 0",
    "no-file": "score references.json a.jsn",
    "folder": "score . a.json",
    "unknown-metric": "score references.json a.json -m CIDER-X",
    "unknown-extra": "score references.json a.json -m BLEU-4 --objects objects.jsonl",
    "bad-pair": "score references.json a.json -O df",
    "swapped": "score a.json references.json",
    "same": "score references.json references.json",
    "part-missing": "score references.json shards/0.jsonl -m BLEU-4",
    "predictions-missing": "score references.json",
    "two-standard-outputs": "score references.json a.json --json - --per-image -",
    "no-folder": "score references.json a.json -o missing/a.scores",
    "json-and-output": "compare references.json a.json b.json -m BLEU-1 --json - -o out.txt",
    "shards-and-subset": "score shards --references references.json --subset",
    "table": "score references.json a.json b.json c.json -m coco --ci --resamples 20 --signature",
    "markdown": "score references.json a.json b.json -m coco -f markdown --ci --resamples 20",
    "latex": "score references.json a.json b.json -m lexical -f latex --percent",
    "tidy": "score references.json a.json b.json -m lexical -f csv",
    "several": "score references.json samples.jsonl --allow-several -m lexical",
    "groups": "score references.json a.json -m lexical --group length",
    "length-control": "score references.json a.json b.json -m lexical --length-control --resamples 20",
    "no-references": "score --no-references a.json b.json -m Flesch,Rep-2",
    "diversity-table": "diversity references.json samples.jsonl --best --ci --resamples 20",
    "corpus-table": "corpus references.json a.json b.json",
    "compare-table": "compare references.json a.json b.json c.json -m lexical --resamples 50 --trials 100",
    "compare-pairs": "compare references.json a.json b.json -m lexical --pairs --resamples 50 --trials 100",
    "explain-cider": "explain references.json a.json -m CIDEr-D",
    "explain-spice": "explain references.json a.json -m SPICE -f markdown",
    "explain-chair": "explain references.json a.json -m CHAIRi --objects objects.jsonl",
    "chair-table": "chair references.json a.json --objects objects.jsonl",
    "metrics-table": "metrics",
    "metrics-one": "metrics CIDEr-D SPICE",
    "formats-references": "formats references.json",
    "formats-samples": "formats samples.jsonl a.csv",
    "task-list": "task",
    "changes": "changes references.json",
    "scene-tree": "scene 'two brown dogs run after a red ball'",
    "facts-list": "facts 'A brown dog sleeps on a sofa. It is old.'",
    "templates-table": "templates objects.jsonl --curves references.json -k 5,80 -m ROUGE-L",
    "report": "report references.json a.json b.json --samples samples.jsonl --objects objects.jsonl -o out.html",
    "robustness-table": (
        "robustness references.json -m lexical --images 20 --limit 20 --resamples 20 -f markdown"
    ),
    "likelihood-both": "likelihood references.json",
    "generate-missing": "generate no.safetensors objects.jsonl -o out.jsonl",
    "rerank-nothing": "rerank nbest.jsonl",
    "critic-bad-strength": "critic references.json a.json --strength x",
    "train-bad-reward": "train captioner objects.jsonl references.json -o m.safetensors --reward CIDEr-D=x",
}

#: Needs captions that occur more than once, which the demo lacks.
LIKELIHOOD = {"distractors": "likelihood references.json --write out.jsonl -k 3 -q"}

GENERATE = {
    "train": (
        "train captioner objects.jsonl references.json -o captioner.safetensors --hidden 24 --steps 40 "
        "--batch 40 --rate 0.01 --least 1 --validation 8 --evaluate-every 20 --threads 1"
    ),
    "sample": "generate captioner.safetensors objects.jsonl --how rs -n 3 -o out.jsonl",
    "beam": "generate captioner.safetensors objects.jsonl --how beam -n 3 -o out.jsonl",
    "synonyms": "generate captioner.safetensors objects.jsonl --how ss -n 3 -o out.jsonl",
    "lstm": (
        "train lm references.json -o lstm.safetensors --kind lstm --hidden 16 --embedding 8 --epochs 1 "
        "--held-out 10 --threads 1 --json -"
    ),
}

#: ``{grammar}`` is the user's copy of CoreNLP's models.
EXACT = {
    "spice": "score references.json a.json -m SPICE,HWCM-2 --grammar {grammar} --json - -q",
    "parse": "parse captions.txt --parser exact={grammar}",
    "scene": (
        "scene 'two small brown dogs run after a red ball on top of a hill' --parser exact={grammar} --json -"
    ),
}

_AGREEMENT = {
    "flickr8k-expert": (
        "-m BLEU-1,BLEU-4,ROUGE-L,METEOR,CIDEr-D,SPICE --ci --compare METEOR,SPICE --relations"
    ),
    "composite": "-m lexical,WMD,WEmbSim,CaptiousScore-lite",
    "pascal-50s": "-m lexical,METEOR --references 5 --draws 2",
    "thumb": "-m coco,LCEval --published",
}
AGREEMENT = {
    name: f"agreement {name} --data {{data}} --resamples 50 --json - -q {options}"
    for name, options in _AGREEMENT.items()
}
