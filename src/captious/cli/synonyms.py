"""``captious synonyms``: sets of captions from one caption per image, by switching words for similar ones."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar

from captious.cli import options
from captious.cli.command import Argument, Flag, OptionGroup, command
from captious.cli.output import say, write_json_lines


@dataclass
class SynonymOptions(OptionGroup):
    """How words are switched."""

    heading: ClassVar[str] = "Switching words (ss)"

    training: Annotated[
        Path | None,
        Flag(
            "--training",
            metavar="CAPTIONS",
            help="Train word2vec on these captions, whose words are the replacements.",
        ),
    ] = None
    switch: Annotated[
        str,
        Flag("--switch", metavar="FROM:TO", help="Probability of replacing a word, from second to last."),
    ] = "0.1:0.5"
    vectors: Annotated[
        str | None, Flag("--vectors", help="Word vectors: a file, glove-6b-50d, or default.")
    ] = None
    vocabulary: Annotated[
        Path | None,
        Flag("--vocabulary", metavar="CAPTIONS", help="Captions whose words can be replacements."),
    ] = None
    neighbours: Annotated[int, Flag("--neighbours", min=1, help="Nearest words that one is drawn from.")] = 10
    similarity: Annotated[float, Flag("--similarity", help="Least cosine of a word and its replacement.")] = (
        0.0
    )
    same_tags: Annotated[bool, Flag("--same-tags", help="Replace only words of the same part of speech.")] = (
        False
    )

    def settings(self) -> dict[str, Any]:
        """Return the arguments of `synonym_sets`."""
        return vars(self) | {"switch": options.number_range(self.switch, "--switch")}


def synonyms(
    captions: Annotated[Path, Argument(metavar="CAPTIONS", help="One caption per image.")],
    output: Annotated[
        Path,
        options.to_file("OUT", "JSONL: image_id, captions; '-' for stdout."),
    ],
    m: Annotated[
        int, Flag("--captions", "-n", min=1, help="Captions per image, the original one included.")
    ] = 10,
    tokenizer: options.Tokenizer = None,
    seed: Annotated[int, options.random_seed("captions")] = 12345,
    *,
    switching: SynonymOptions,
) -> None:
    """Write sets of captions by switching words for similar ones (SS of Wang & Chan 2019).

    'captious diversity' reads the output.
    """
    from captious.generate import synonym_sets

    sets = synonym_sets(captions, m=m, tokenizer=tokenizer or "ptb", seed=seed, **switching.settings())
    write_json_lines([{"image_id": image, "captions": texts} for image, texts in sets.items()], output)
    say(f"{output}: {len(sets):,} images, {sum(map(len, sets.values())):,} captions", output)


COMMAND = command("synonyms", synonyms, options.ColumnOptions)
