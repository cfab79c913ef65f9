"""Files of prepared references: captions, their encoding, and data that measures derived from them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from captious.core.container import Grouped
from captious.core.memo import Arrays, Memo, ProductKey
from captious.corpus import Captions
from captious.corpus.encoding import Encoding
from captious.io import saved_files as container
from captious.io.caption_files import CaptionFile
from captious.text.vocabulary import Vocabulary

KIND = "prepared references"
#: Files of version 1 (captious 0.4) hold a larger n-gram index, which is read still.
VERSION, OLDEST = 2, 1
_HOW = "'captious prepare REFS -o FILE' makes one"


def save(path: str | Path, captions: Captions, name: str) -> None:
    """Write encoded references with all products they have."""
    if captions.rows is not None or captions.encoding.base is not None:
        raise ValueError("only captions that were encoded by themselves can be kept")
    encoding = captions.encoding
    arrays: dict[str, NDArray[Any]] = {
        **container.text_arrays("ids", captions.ids),
        **container.text_arrays("texts", encoding.texts),
        **container.text_arrays("words", encoding.vocabulary.words),
        "image_offsets": captions.image_offsets,
        "tokens": encoding.tokens,
        "token_offsets": encoding.offsets,
    }
    listed: list[dict[str, Any]] = []
    for owner, memo in (("encoding", encoding.memo), ("captions", captions.memo)):
        for key, parts in memo.products():
            names = {}
            for part, values in parts.items():
                names[part] = f"product {len(listed)}/{part}"
                arrays[names[part]] = values
            listed.append({"of": owner, "key": list(key), "arrays": names})
    meta = {
        "name": name, "tokenizer": encoding.tokenizer, "digest": captions.digest, "products": listed,
    }  # fmt: skip
    container.write(path, KIND, VERSION, meta, arrays)


def is_prepared_content(content: bytes) -> bool:
    """Whether content can be that of prepared references."""
    return container.begins(content)


def is_prepared(path: str | Path) -> bool:
    """Whether a file can hold prepared references."""
    return container.is_container(path)


def open_captions(path: str | Path, content: bytes | None = None) -> tuple[Captions, str]:
    """Return the captions, mapped from the file or from its content, and the name of their source."""
    opened = container.read(path, KIND, VERSION, _HOW, content, oldest=OLDEST)
    if content is None and opened.path.is_file():
        container.vouch(opened)
    meta, arrays = opened.meta, opened.arrays
    memos: dict[str, dict[ProductKey, Arrays]] = {"encoding": {}, "captions": {}}
    for row in meta["products"]:
        memos[row["of"]][tuple(row["key"])] = _Parts(arrays, row["arrays"])
    encoding = Encoding(
        opened.texts("texts"),
        arrays["tokens"],
        arrays["token_offsets"],
        Vocabulary(opened.texts("words")),
        meta["tokenizer"],
        memo=Memo(memos["encoding"]),
    )
    ids = list(opened.texts("ids"))
    captions = Captions(
        ids, arrays["image_offsets"], encoding, memo=Memo(memos["captions"]), digest=meta["digest"]
    )
    return captions, meta["name"]


def caption_file(captions: Captions, name: str, path: Path | None) -> CaptionFile:
    """Return encoded references as a `CaptionFile`."""
    groups = Grouped(captions.texts, captions.image_offsets)
    return CaptionFile(name, list(captions.ids), groups, KIND, several=True, role="references", path=path)


class _Parts(Mapping[str, NDArray[Any]]):
    """Arrays of one product, read when it is unpacked."""

    def __init__(self, arrays: Mapping[str, NDArray[Any]], names: Mapping[str, str]) -> None:
        self._arrays, self._names = arrays, names

    def __getitem__(self, part: str) -> NDArray[Any]:
        return self._arrays[self._names[part]]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)
