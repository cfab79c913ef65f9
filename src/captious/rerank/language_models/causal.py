"""Causal language models of the transformers package, from a local folder.

Nothing is downloaded, and no code from the folder is executed.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from captious.core.errors import InputError, MissingExtraError
from captious.core.progress import track
from captious.core.ragged import offsets_of
from captious.rerank.language_models.language_model import LanguageModel, WordScores

#: Number of captions per batch.
BATCH = 32


class Causal(LanguageModel):
    """Causal language model over the subwords of its own tokenizer.

    A caption is preceded by the model's begin token (or its end token, if it has no begin token) and followed
    by its end token.
    """

    kind = "transformers"
    of_words = False

    def __init__(self, folder: str | Path) -> None:
        try:
            import torch
            import transformers
        except ImportError as error:
            raise MissingExtraError(
                "transformers", "transformers", "a language model of the package transformers"
            ) from error
        where = os.fspath(folder)
        if not (Path(folder) / "config.json").is_file():
            raise InputError(f"{where}: not a folder of a transformers model (config.json is missing)")
        try:
            self._pieces: Any = transformers.AutoTokenizer.from_pretrained(
                where, local_files_only=True, trust_remote_code=False
            )
            self._model: Any = transformers.AutoModelForCausalLM.from_pretrained(
                where, local_files_only=True, trust_remote_code=False, use_safetensors=True
            ).eval()
        except (OSError, ValueError, KeyError, RuntimeError, ImportError) as error:
            raise InputError(
                f"{where}: not a causal language model that can be read ({str(error).splitlines()[0][:150]})"
            ) from None
        self._torch = torch
        self._end = self._pieces.eos_token_id
        self._begin = self._pieces.bos_token_id if self._pieces.bos_token_id is not None else self._end
        if self._end is None:
            raise InputError(
                f"{where}: the tokenizer has no end token (eos_token), so P(end) is undefined; use another "
                "model"
            )
        self.tokenizer = f"transformers:{Path(folder).name}"
        self.provenance = {"folder": Path(folder).name}
        self.longest = int(getattr(self._model.config, "max_position_embeddings", 0) or 0)

    def tokens(self, texts: Sequence[str]) -> list[list[str]]:
        """Return each text as a single token; the model's own tokenizer splits it."""
        return [[text] for text in texts]

    def score(self, captions: Sequence[Sequence[str]]) -> WordScores:
        torch = self._torch
        texts = [" ".join(tokens) for tokens in captions]
        ids = [[*self._pieces(text, add_special_tokens=False)["input_ids"], self._end] for text in texts]
        most = max(map(len, ids), default=0)
        if self.longest and most > self.longest:
            raise InputError(
                f"a caption has {most:,} subwords, but this language model reads at most {self.longest:,}"
            )
        unknown_id = self._pieces.unk_token_id
        # GPT-2 uses one token for the end and for unknown subwords: the last position is never unknown.
        unknown = np.array(
            [
                piece == unknown_id and position < len(row) - 1
                for row in ids
                for position, piece in enumerate(row)
            ],
            np.bool_,
        )
        offsets = offsets_of([len(row) for row in ids])
        values = np.zeros(int(offsets[-1]))
        order = np.argsort([len(row) for row in ids], kind="stable")
        with torch.no_grad():
            for at in track(range(0, len(order), BATCH), "language model"):
                rows = order[at : at + BATCH].tolist()
                width = max(len(ids[i]) for i in rows)
                table = torch.full((len(rows), width + 1), self._end)
                mask = torch.zeros((len(rows), width + 1), dtype=torch.long)
                for k, i in enumerate(rows):
                    table[k, 0] = self._begin
                    table[k, 1 : len(ids[i]) + 1] = torch.tensor(ids[i])
                    mask[k, : len(ids[i])] = 1
                logits = self._model(input_ids=table[:, :-1], attention_mask=mask[:, :-1]).logits.float()
                log_p = logits.log_softmax(2).gather(2, table[:, 1:, None]).squeeze(2).double().numpy()
                for k, i in enumerate(rows):
                    values[offsets[i] : offsets[i + 1]] = log_p[k, : len(ids[i])]
        return WordScores(values, offsets, unknown)
