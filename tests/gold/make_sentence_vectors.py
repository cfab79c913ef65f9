"""Make ``sentence_vectors.npz``: vectors of our own sentences by transformers (torch).

    python -m tests.gold.make_sentence_vectors

Needs transformers, torch and the installed MiniLM package. The vector is the mean over tokens, scaled to length one,
as in the model's configuration.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import numpy as np

SENTENCES = [
    "Two dogs chase a frisbee across the lawn.",
    "two dogs chase a frisbee across the lawn",
    "A woman in a yellow raincoat waits at a bus stop",
    "An old man is repairing a bicycle in front of his garage , smiling .",
    "A plate of food",
    "dog",
    "",
    "   ",
    "🐕🐕 running!!! on the béach… naïve café",
    "<b>bold</b> ||| text\nwith a newline\tand a tab",
    "The quick brown fox doesn't jump over the lazy dog's 3rd bed; it's 12:45.",
    "数字 and 漢字 beside Привет",
    "pneumonoultramicroscopicsilicovolcanoconiosis and floccinaucinihilipilification",
    "a " * 40 + "very long caption",
    " ".join(f"word{i}" for i in range(400)),
    "A group of skiers stands on top of a snow covered mountain under a clear blue sky while one of them takes a photo "
    "of the valley below with a small camera.",
]


def main() -> None:
    import torch
    from transformers import AutoModel, AutoTokenizer

    from captious.vectors.sentence_vectors import find_model

    with tempfile.TemporaryDirectory() as folder:
        source = find_model()
        if source.is_file():
            shutil.unpack_archive(source, folder, "zip")
            source = Path(folder)
        tokenizer, model = AutoTokenizer.from_pretrained(source), AutoModel.from_pretrained(source).eval()
    rows = []
    with torch.no_grad():
        for sentence in SENTENCES:
            inputs = tokenizer(sentence, return_tensors="pt", truncation=True, max_length=256, padding=False)
            states = model(**inputs).last_hidden_state[0]
            rows.append(torch.nn.functional.normalize(states.mean(dim=0), dim=0).numpy())
    out = Path(__file__).parent / "sentence_vectors.npz"
    np.savez_compressed(out, sentences=np.array(SENTENCES), vectors=np.stack(rows).astype(np.float32))
    print(f"{out}: {len(rows)} sentences")


if __name__ == "__main__":
    main()
