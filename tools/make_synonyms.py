"""Make the table of synonyms that ships with captious, ``src/captious/data/wordnet``, from WordNet 3.0 as METEOR 1.5 has it.

    python -m tools.make_synonyms [FOLDER WITH meteor-1.5.jar]

The jar lists the synsets of 147,306 words and the base forms of irregular forms, and carries WordNet's licence, which is copied.
The table has the same content, as arrays that are mapped into memory; its digest is that of the jar's lists.
"""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path

from captious.text import meteor_data
from captious.text.synonyms import SHIPPED, read_meteor, shipped, write

LICENCE = "synonym/COPYING.WORDNET"


def main() -> None:
    found = meteor_data.find(sys.argv[1] if len(sys.argv) > 1 else None)
    SHIPPED.parent.mkdir(parents=True, exist_ok=True)
    write(found, SHIPPED)
    with zipfile.ZipFile(found.jar) as jar:
        (SHIPPED.parent / "LICENSE").write_bytes(jar.read(LICENCE))
    made = shipped()
    if not made.digest == made.computed_digest() == read_meteor(found).digest:
        raise SystemExit("the table does not have the content of the jar")
    print(
        f"{Path(SHIPPED)}: {len(made):,} words, {SHIPPED.stat().st_size / 1e6:.2f} MB, wordnet-3.0@{made.digest}"
    )


if __name__ == "__main__":
    main()
