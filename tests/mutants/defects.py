"""The mutants, room by room from the ground up."""

from __future__ import annotations

from tests.mutants import Mutant

MUTANTS: list[Mutant] = []


def _mutant(name: str, file: str, old: str, new: str, *tests: str) -> None:
    MUTANTS.append(Mutant(name, file, old, new, tests))


# The ground: digests, kernels, what is made once ---------------------------------------------------------------------

_mutant(
    "two-lines-are-one", "core/digests.py",
    'b"%d:%b" % (len(data), data)', "data",
    "core/test_digest.py",
)  # fmt: skip
_mutant(
    "digest-of-groups-by-order", "core/digests.py",
    'total = sum(int.from_bytes(digest, "big") for digest in digests)',
    'total = sum(k * int.from_bytes(digest, "big") for k, digest in enumerate(digests, 1))',
    "core/test_digest.py",
)  # fmt: skip
_mutant(
    "digest-of-arrays-without-shape", "core/digests.py",
    "repr((array.dtype.str, array.shape))", "repr(array.dtype.str)",
    "core/test_digest.py",
)  # fmt: skip
_mutant(
    "two-threads-make-two-values", "core/memo.py",
    "            if key not in self._values:\n", "            if True:\n",
    "core/test_memo.py",
)  # fmt: skip
_mutant(
    "products-without-parameters", "core/memo.py",
    "key: ProductKey = (kind.name, *parameters)", "key: ProductKey = (kind.name,)",
    "metrics/captions/test_live_coco.py::test_odd_captions",
)  # fmt: skip
_mutant(
    "runs-start-at-the-front", "core/ragged.py",
    "np.repeat(starts - new[:-1], lengths)", "np.repeat(-new[:-1], lengths)",
    "corpus/test_corpus.py::test_candidates_may_be_of_some_of_the_images_of_the_references",
)  # fmt: skip
_mutant(
    "half-written-files-stay", "core/writing.py",
    "        temporary.unlink(missing_ok=True)\n        if handle", "        if handle",
    "core/test_writing.py::test_a_failure_leaves_what_was_there",
)  # fmt: skip

# Text ----------------------------------------------------------------------------------------------------------------

_TOKENS = "text/test_demo_gold.py"
#: The rules are in the automaton that ships, which a mutant does not change.
_RULES = "text/test_ptb.py::test_the_shipped_automaton_is_that_of_the_rules"
_METEOR = "metrics/captions/test_demo_gold.py"

_mutant(
    "lemme-is-one-word", "text/ptb/lexer_rules.py",
    'LexerRule("keep", "gonna|gotta|lemme|gimme|wanna", back=2)', 'LexerRule("keep", "gonna|gotta|gimme|wanna", back=2)', _RULES,
)  # fmt: skip
_mutant("dr-ends-a-sentence", "text/ptb/lexer_rules.py", "mr mrs ms dr drs", "mr mrs ms drs", _RULES)
_mutant("while-after-an-abbreviation", "text/ptb/lexer_rules.py", "[W]hile|[Y]et", "[Y]et", _RULES)
_mutant(
    "short-words-end-sentences",
    "text/ptb/numbering.py",
    "plain = before_space and not _is_short(data, low, at, kinds, codes)",
    "plain = before_space",
    "text/test_numbering.py",
)
_mutant(
    "divided-words-are-plain",
    "text/ptb/numbering.py",
    "and _is_split(data, at - 3, high, split_words)",
    "and False",
    "text/test_numbering.py",
)
_mutant(
    "words-with-one-head-are-one",
    "text/vocabulary.py",
    "if heads[number] == head and ends[number + 1] - first == size:",
    "if heads[number] == head:",
    "text/test_numbering.py",
)
_mutant(
    "long-words-by-their-heads",
    "text/vocabulary.py",
    "                k = 8\n",
    "                k = size\n",
    "text/test_numbering.py",
)
_mutant(
    "only-whole-texts-match",
    "text/ptb/lexer.py",
    "            if state < 0:\n                break\n",
    "            if state < 0:\n                return -1, start\n",
    _TOKENS,
)
_mutant(
    "captions-hashed-as-they-come",
    "core/digests.py",
    "            while place > 0:",
    "            while False:",
    "core/test_digest.py",
)
_mutant(
    "semicolon-is-a-word",
    "text/ptb/lexer.py",
    '":", "-", "--", "...", ";"]',
    '":", "-", "--", "..."]',
    _TOKENS,
)
_mutant(
    "simple-keeps-capitals",
    "text/tokenizers.py",
    "_WORD.findall(text.lower())",
    "_WORD.findall(text)",
    "text/test_tokenizers.py",
)
_mutant(
    "spacy-peels-in-the-wrong-order", "text/spacy_like.py",
    "(middle or []) + closing[::-1]", "(middle or []) + closing", "text/test_spacy_like.py",
)  # fmt: skip
_mutant(
    "no-derivations-in-stems",
    "text/stemmer.py",
    "        word = _derivations(word, r1, r2)\n",
    "",
    "text/test_stemmer.py",
    _METEOR,
)
_mutant("dying-is-regular", "text/stemmer.py", '"dying": "die", ', "", "text/test_stemmer.py", _METEOR)
_mutant(
    "arsenal-has-no-prefix",
    "text/stemmer.py",
    '("gener", "commun", "arsen")',
    '("gener", "commun")',
    "text/test_stemmer.py",
    _METEOR,
)
_mutant(
    "no-e-after-at",
    "text/stemmer.py",
    '    if word.endswith(("at", "bl", "iz")):\n        return word + "e"\n',
    "",
    "text/test_stemmer.py",
    _METEOR,
)
_mutant("men-are-no-man", "text/synonyms.py", '("men", "man"),', "", "text/test_synonyms.py", _METEOR)
_mutant(
    "bases-of-one-rule-only",
    "text/synonyms.py",
    "        if irregular >= 0:\n",
    "        if False:\n",
    "text/test_synonyms.py",
    _METEOR,
)
_mutant(
    "glass-is-a-plural",
    "text/synonyms.py",
    "if letters <= 2 or (text[end - 1] == 115 and text[end - 2] == 115):",
    "if letters <= 2:",
    "text/test_synonyms.py",
    _METEOR,
)
_mutant(
    "frozen-vocabulary-grows", "text/vocabulary.py",
    "            if self.frozen:\n", "            if False:\n", "text/test_vocabulary.py",
)  # fmt: skip
_mutant(
    "overlay-numbers-from-zero", "text/vocabulary.py",
    "number = self.first + len(self.new)", "number = len(self.new)", "text/test_vocabulary.py",
)  # fmt: skip
_mutant(
    "hashed-ngrams-forget-order", "text/ngrams.py",
    "keys = _mix(keys) ^ following", "keys = keys ^ following", "corpus/test_encoding.py::test_numbers_agree_between_candidates_and_references",
)  # fmt: skip
_mutant(
    "ngrams-cross-captions", "text/ngrams.py",
    "np.maximum(np.diff(offsets) - (n - 1), 0))", "np.maximum(np.diff(offsets), 0))", "corpus/test_corpus.py::test_ngram_tables_are_sorted_counted_and_shared",
)  # fmt: skip

# Encodings, corpora, document frequencies, rows of statistics -----------------------------------------------------------

_mutant(
    "new-ngrams-take-old-numbers", "corpus/encoding.py",
    "numbers[new] = below.size + own.encode(keys[new])", "numbers[new] = own.encode(keys[new])",
    "corpus/test_encoding.py::test_numbers_agree_between_candidates_and_references",
)  # fmt: skip
_mutant(
    "base-packed-as-the-overlay",
    "corpus/encoding.py",
    "if below.finder.exact == exact",
    "if True",
    "corpus/test_encoding.py::test_more_words_than_can_be_packed",
)
_mutant(
    "the-last-portion-is-left-out",
    "corpus/encoding.py",
    "for start in range(0, max(len(texts), 1), PORTION):",
    "for start in range(0, max(len(texts) - PORTION, 1), PORTION):",
    "corpus/test_portions.py::test_captions_are_encoded_in_portions",
)
_mutant(
    "stretches-number-from-the-start",
    "text/ngrams.py",
    "        offsets += self._used\n",
    "",
    "corpus/test_portions.py::test_captions_are_encoded_in_portions",
)
_mutant(
    "captions-of-one-length-are-equal",
    "corpus/corpus.py",
    "same = tokens[j] == tokens[start + j - low]",
    "pass",
    "corpus/test_portions.py::test_equal_captions_share_a_number",
)
_mutant(
    "overlay-looks-up-the-base-again", "corpus/encoding.py",
    "np.concatenate([below, look_up(self.vocabulary.new)])", "np.concatenate([look_up(self.vocabulary.new), below])",
    "corpus/test_encoding.py::test_values_per_word_are_looked_up_once_for_the_base",
)  # fmt: skip
_mutant(
    "digest-without-ids",
    "corpus/corpus.py",
    "[image, *sorted(texts[a:b])]",
    "[*sorted(texts[a:b])]",
    "corpus/test_corpus.py::test_the_digest_names_every_id_and_text_in_any_order",
)
_mutant(
    "digest-by-order-of-captions",
    "corpus/corpus.py",
    "[image, *sorted(texts[a:b])]",
    "[image, *texts[a:b]]",
    "corpus/test_corpus.py::test_the_digest_names_every_id_and_text_in_any_order",
)
_mutant(
    "pairs-with-another-image", "corpus/corpus.py",
    "reference, _ = runs(self.references.image_offsets, image)", "reference, _ = runs(self.references.image_offsets, np.sort(image)[::-1])",
    "corpus/test_corpus.py::test_pairs_run_over_each_candidate_and_the_references_of_its_image",
)  # fmt: skip
_mutant(
    "images-without-captions-pass", "corpus/corpus.py",
    "bare = next((image for image, count in zip(ids, counts) if not count), None)", "bare = None",
    "corpus/test_corpus.py::test_what_is_missing_is_named",
)  # fmt: skip
_mutant(
    "df-counts-captions",
    "corpus/frequencies.py",
    "if last[number[j]] != image:",
    "if True:",
    "corpus/test_frequencies.py",
)
_mutant(
    "df-of-new-ngrams", "corpus/frequencies.py",
    "np.where(number < len(own), own[np.minimum(number, len(own) - 1)], 0)", "own[np.minimum(number, len(own) - 1)]",
    "corpus/test_frequencies.py::test_ngrams_that_the_references_do_not_have_count_nothing",
)  # fmt: skip
_mutant(
    "df-of-another-tokenizer", "corpus/frequencies.py",
    'if tokenizer != self.tokenizer and "none" not in (tokenizer, self.tokenizer):', "if False:", "results/test_signature.py::test_a_table_of_another_tokenizer_is_refused",
)  # fmt: skip
_mutant(
    "df-digest-without-images",
    "corpus/frequencies.py",
    "str(self.images), self.tokenizer]",
    "self.tokenizer]",
    "results/test_signature.py::test_every_count_matters",
)
_mutant(
    "words-of-two-tables-mixed", "metrics/base.py",
    "items = [number[table.items].astype(np.int32) for table", "items = [table.items.astype(np.int32) for table",
    "metrics/test_statistics.py",
)  # fmt: skip
_mutant(
    "items-counted-once",
    "metrics/base.py",
    "out[t, items[j]] += 1.0",
    "out[t, items[j]] = 1.0",
    "metrics/test_statistics.py",
)
_mutant(
    "known-of-the-last-table",
    "metrics/base.py",
    "known[number] = table.known",
    "known[: len(number)] = table.known",
    "metrics/test_statistics.py",
)

# Files ---------------------------------------------------------------------------------------------------------------

_mutant(
    "unknown-images-are-scored",
    "io/id_matching.py",
    "if not subset and (missing or unknown):",
    "if not subset and missing:",
    "io/test_id_matching.py",
)
_mutant(
    "swapped-files-pass",
    "io/id_matching.py",
    "if single and most and len(references) > 1:",
    "if False:",
    "io/test_id_matching.py",
)
_mutant(
    "the-first-of-two-rows",
    "io/caption_files.py",
    "if captions[row] != first:",
    "if False:",
    "io/test_id_matching.py",
)
_mutant(
    "repeated-rows-count-twice",
    "io/caption_files.py",
    "        del of_image[1:]",
    "        pass",
    "io/test_id_matching.py",
)
_mutant(
    "the-id-of-the-caption",
    "io/caption_files.py",
    '("image_id", "image", "id")',
    '("id", "image_id", "image")',
    "io/test_reading.py::test_the_annotation_id_is_not_the_image_id",
)
_mutant(
    "equal-keys-within-a-row",
    "io/json_scan.py",
    "    for other in range(first, known):",
    "    for other in range(known, known):",
    "io/test_json_reader.py",
)
_mutant(
    "half-characters-are-copied",
    "io/json_reader.py",
    "                if not 0xDC00 <= low <= 0xDFFF:",
    "                if low < 0:",
    "io/test_json_reader.py",
)
_mutant(
    "any-depth-is-read",
    "io/json_scan.py",
    "            if depth >= deepest:",
    "            if False:",
    "io/test_json_reader.py",
)
_mutant(
    "numbers-of-any-length",
    "io/json_scan.py",
    "    last = min(end, at + _DIGITS)",
    "    last = end",
    "io/test_json_reader.py",
)
_mutant(
    "ids-beyond-64-bits",
    "io/json_scan.py",
    "digits == 0 or digits > _ID_DIGITS or",
    "digits == 0 or",
    "io/test_json_reader.py",
)
_mutant(
    "other-encodings-are-read",
    "io/json_reader.py",
    "        _check_encoding(self.data)\n",
    "",
    "io/test_json_reader.py",
)
_mutant(
    "what-follows-is-not-seen",
    "io/json_reader.py",
    "            self._check_end(rows.end)\n",
    "",
    "io/test_json_reader.py",
)
_mutant(
    "one-row-too-many-is-quickly-read",
    "io/json_reader.py",
    "            if not stated:",
    "            if False:",
    "io/test_json_reader.py",
)
_mutant(
    "karpathy-read-as-coco",
    "io/json_formats.py",
    'return "annotations" in value and not is_karpathy(value) and',
    'return "annotations" in value and',
    "io/test_json_reader.py",
)
_mutant(
    "candidates-in-their-own-order",
    "io/id_matching.py",
    "return captions.take(np.array(places, dtype=np.int64))",
    "return captions",
    "io/test_json_reader.py",
)
_mutant("no-gzip", "io/content.py", "if start != _GZIP:", "if True:", "io/test_bad_files.py::test_bad_files")
_mutant(
    "the-last-of-equal-keys",
    "io/content.py",
    "if key in seen and seen[key] != item:",
    "if False:",
    "io/test_bad_files.py",
)
_mutant(
    "pickles-run-code", "io/pickled.py",
    "            return _REPLACEMENTS[module, name]\n", "            return super().find_class(module, name)\n", "corpus/test_frequencies.py",
)  # fmt: skip
_mutant(
    "parquet-pages-are-not-verified",
    "io/table_files.py",
    "page_checksum_verification=True",
    "page_checksum_verification=False",
    "fuzz/test_readers.py::test_damaged_pages_of_parquet_are_refused",
)
_mutant(
    "cut-archives-pass",
    "scale/shards.py",
    'raise tarfile.ReadError("the end mark is missing; the archive is empty or cut off") from None',
    "raise",
    "fuzz/test_readers.py::test_an_archive_that_ends_too_early_is_refused",
)
_mutant(
    "huge-numbers-overflow",
    "io/content.py",
    "    except OverflowError:\n",
    "    except ZeroDivisionError:\n",
    "fuzz/test_readers.py::test_huge_numbers_are_one_message",
)
_mutant(
    "keys-before-their-encoding",
    "io/json_reader.py",
    "        _check_encoding(self.data)\n",
    "",
    "io/test_json_reader.py::test_messages_are_those_of_the_plain_reader",
)
_mutant(
    "cells-of-any-depth",
    "io/matlab_files.py",
    "if depth > _DEEPEST:",
    "if False:",
    "io/test_matlab_files.py::test_limits_hold",
)
_mutant(
    "arrays-are-not-checked",
    "core/container.py",
    'if not self._trusted and _checksum(block) != row["check"]:',
    "if False:",
    "results/test_saved_scores.py::test_every_damaged_byte_is_noticed",
)
_mutant(
    "headers-are-not-checked", "core/container.py",
    "if len(header) != length or _checksum(header) != check:", "if len(header) != length:", "results/test_saved_scores.py::test_every_damaged_byte_is_noticed",
)  # fmt: skip
_mutant(
    "any-format-is-read",
    "core/container.py",
    'if not (version if oldest is None else oldest) <= described["version"] <= version:',
    "if False:",
    "results/test_saved_scores.py::test_foreign_files_are_refused",
)
_mutant(
    "any-kind-of-file-is-read",
    "core/container.py",
    'if described["kind"] != kind:',
    "if False:",
    "results/test_saved_scores.py::test_foreign_files_are_refused",
)
_mutant(
    "prepared-images-in-one-group", "core/container.py",
    "yield from (texts[a - bounds[0] : b - bounds[0]] for a, b in itertools.pairwise(bounds))",
    "yield from (texts[: b - a] for a, b in itertools.pairwise(bounds))",
    "results/test_references.py::test_the_captions_themselves_come_back",
)  # fmt: skip
_mutant(
    "products-of-another-owner", "io/reading.py",
    'memos[row["of"]][tuple(row["key"])]', 'memos["captions"][tuple(row["key"])]', "results/test_references.py::test_products_in_the_file_are_not_computed_again",
)  # fmt: skip
_mutant(
    "prepared-with-another-tokenizer", "results/references.py",
    "if tokenizer is not None and tokenizer != references.captions.tokenizer:", "if False:", "results/test_references.py::test_another_tokenizer_is_refused",
)  # fmt: skip
_mutant(
    "parts-against-their-own-references", "results/references.py",
    "        if part:\n", "        if False:\n", "results/test_saved_scores.py::test_parts_equal_the_whole_bit_for_bit_in_any_order",
)  # fmt: skip

# Language ------------------------------------------------------------------------------------------------------------

_GRAPHS = "parser/test_demo_gold.py::test_graphs_from_the_reference_trees"

_mutant("no-on-top-of", "parser/graph_codes.py", "on top of, ", "", _GRAPHS)
_mutant("no-next-to", "parser/graph_codes.py", "next to, ", "", _GRAPHS)
_mutant(
    "no-agent",
    "parser/dependency_graph.py",
    "or (own & BY and space[VOICE, head])",
    "",
    "parser/test_plain_graph.py::test_plain_forms_collapse_like_plain_code",
)
_mutant(
    "adjectives-share-no-subject",
    "parser/graph_codes.py",
    'name.startswith(("VB", "JJ"))',
    'name.startswith("VB")',
    _GRAPHS,
)
_mutant(
    "plurals-in-ies",
    "parser/parsed_sentences.py",
    'else word[:-3] + "y"',
    "else word[:-1]",
    "parser/test_lemmas.py",
)
_mutant(
    "no-silent-e",
    "parser/parsed_sentences.py",
    'return stem + "e"  # rid-, tak-',
    "return stem  # rid-, tak-",
    "parser/test_lemmas.py",
)
_mutant(
    "trees-without-distance",
    "parser/network_kernels.py",
    "scores[s, d, h + 1] + distance[away + far]",
    "scores[s, d, h + 1]",
    "parser/test_decode.py::test_distance_counts",
)
_mutant(
    "the-last-root-wins",
    "parser/network_kernels.py",
    "complete0[0, r] + complete1[r, n - 1] + scores[r, 0]",
    "scores[r, 0]",
    "parser/test_decode.py",
)
_mutant(
    "sentences-begin-with-anothers-state",
    "parser/network_model.py",
    "            gates[going:count] = 0\n",
    "",
    "parser/test_parser.py::test_states_do_not_depend_on_other_lengths",
)
_mutant(
    "upper-states-of-the-pass-before",
    "parser/network_model.py",
    " : start + count, place:] = 0",
    " : start, place:] = 0",
    "parser/test_parser.py::test_states_do_not_depend_on_other_lengths",
)
_mutant(
    "a-step-writes-on",
    "parser/network_kernels.py",
    "        if i < copied:\n",
    "        if True:\n",
    "parser/test_decode.py::test_cells_agree_to_the_last_bit",
)
_mutant(
    "heads-without-bias",
    "parser/network_kernels.py",
    "(governor[j] + others[j])",
    "governor[j]",
    "parser/test_decode.py",
)
_mutant(
    "brackets-begin-a-sentence",
    "parser/parsed_sentences.py",
    "while end < len(tokens) and _AFTER_END.fullmatch(tokens[end]):",
    "while False:",
    "parser/test_parser.py::test_sentence_splitting",
)
_mutant(
    "test-captions-to-train-on",
    "training/parser/labels.py",
    'part_of(line) == part_of(text) == "train"',
    "True",
    "parser/test_train.py::test_captions_to_label_are_new_and_of_the_training_part",
)

# Vectors -------------------------------------------------------------------------------------------------------------

_mutant(
    "the-last-of-equal-words",
    "vectors/vector_table.py",
    "self._row.setdefault(word, row)",
    "self._row[word] = row",
    "vectors/test_table.py",
)
_mutant(
    "codes-without-scales",
    "vectors/vector_table.py",
    "        taken *= self._scales[rows][:, None]\n",
    "",
    "vectors/test_table.py",
)
_mutant(
    "half-known-compounds",
    "vectors/vector_table.py",
    "if (rows < 0).any():",
    "if (rows < 0).all():",
    "vectors/test_table.py",
)
_mutant(
    "vectors-signed-by-name",
    "vectors/vector_table.py",
    "content.together(content.of_lines(listed), *blocks)",
    "content.of_lines(listed)",
    "results/test_signature.py::test_word_vectors",
)
_mutant(
    "vectors-signed-by-where-they-are",
    "vectors/vector_table.py",
    'return f"{len(self)}x{self.dimension}"',
    'return f"{self.name}({len(self)}x{self.dimension})"',
    "vectors/test_files.py::test_a_table_has_one_signature_in_all_formats",
)
_mutant(
    "transport-without-amounts",
    "vectors/transport.py",
    "total += amounts[k] * cost",
    "total += cost",
    "vectors/test_transport.py",
)
_mutant(
    "first-edge-that-gains-nothing",
    "vectors/transport.py",
    "if reduced < gain:",
    "if reduced < 1e-3 * gain - 1e-3:",
    "vectors/test_transport.py",
)
_mutant(
    "a-tree-that-is-not-measured-again",
    "vectors/transport.py",
    "    measure(below, cost, n, parent, child, following, depth, potential)\n",
    "",
    "vectors/test_transport.py",
)
_mutant(
    "rows-out-of-order",
    "vectors/transport.py",
    "while k > 0 and places[k - 1] > place:",
    "while False:",
    "vectors/test_transport.py",
)
_mutant(
    "unsigned-bytes-in-subwords",
    "vectors/fasttext.py",
    "byte if byte < 128 else byte | 0xFFFFFF00",
    "byte",
    "vectors/test_files.py::test_hashes_of_other_characters_are_those_of_gensim",
)
_mutant(
    "tuples-without-the-map",
    "metrics/captions/soft_spice.py",
    "if own_map is not None:",
    "if False:",
    "vectors/test_sentence_map.py::test_tuples_and_tokens_are_mapped",
)
_mutant(
    "a-map-for-any-encoder",
    "vectors/sentence_map.py",
    "return shipped if shipped.encoder == fingerprint(encoder) else None",
    "return shipped",
    "vectors/test_sentence_map.py::test_another_encoder_has_no_map",
)
_mutant(
    "batches-out-of-order",
    "vectors/sentence_vectors.py",
    "result[batch], states = self.bert.encode_tokens",
    "result[np.sort(batch)], states = self.bert.encode_tokens",
    "vectors/test_sentences.py",
)

# Scenes and METEOR ----------------------------------------------------------------------------------------------------

_SCENES = "scene/test_demo_gold.py"

_mutant("no-blue", "scene/tuple_match.py", '"beige black blue brown', '"beige black brown', _SCENES)
_mutant("no-ten", "scene/tuple_match.py", 'eight nine ten"', 'eight nine"', _SCENES)
_mutant(
    "a-beam-for-all-sentences-together", "parser/exact/search.py",
    "keep_row(row_scores, row_used, base, state, prior[state], limit)", "copy_row(row_scores, row_used, base, state)",
    "parser/exact/test_search.py::test_a_beam_drops_what_is_far_behind",
)  # fmt: skip
_mutant(
    "scores-without-chains-of-unary-rules", "parser/exact/derivation_scores.py",
    "if state != highest:", "if False:",
    "parser/grammar/test_fit.py::test_the_score_of_a_derivation_is_that_of_the_search",
)  # fmt: skip
_mutant(
    "temporal-nouns-in-plain-phrases", "training/grammar/annotation.py",
    """    if label == "NP":
        if is_temporal:""", """    if label == "NP":
        if False:""",
    "parser/grammar/test_fit.py::test_adverbial_and_temporal_phrases_are_marked_down_to_their_nouns",
)  # fmt: skip
_mutant(
    "trees-without-a-score-are-equations", "training/grammar/fit_grammar.py",
    "is_chosen=False, is_bound=True)", "is_chosen=False, is_bound=False)",
    "parser/grammar/test_fit.py::test_a_tree_that_the_tool_lacks_is_a_bound",
)  # fmt: skip
_mutant(
    "a-lost-sentence-stays-lost", "parser/grammar/grammar_parser.py",
    "if failed and self.beam < np.inf:", "if False:",
    "parser/grammar/test_grammar_parser.py",
)  # fmt: skip
_mutant(
    "priors-in-the-order-of-the-file", "parser/grammar/grammar_model.py",
    '.astype(np.float32)[own] * SCALE', '.astype(np.float32) * SCALE',
    "parser/grammar/test_grammar_parser.py",
)  # fmt: skip
_mutant(
    "late-passes-with-large-steps", "training/grammar/train_grammar.py",
    "* SETTLING**late", "",
    "parser/grammar/test_training.py::test_late_passes_have_much_smaller_steps",
)  # fmt: skip
_mutant("no-couple", "parser/graph_codes.py", "number couple bunch", "number bunch", _SCENES)
_mutant(
    "pronouns-stand-for-nothing",
    "scene/repairs.py",
    "if personal:",
    "if False:",
    "scene/test_enhance.py",
)
_mutant(
    "it-stands-for-plurals",
    "scene/repairs.py",
    "ONE if bits[space[WORD, word]] & SINGLE else NOUN",
    "NOUN",
    "scene/test_enhance.py",
)
_mutant(
    "be-is-said",
    "scene/sentence_tuples.py",
    'return name.removeprefix("be ")',
    "return name",
    "scene/test_rules.py",
    _SCENES,
)
_mutant(
    "numbers-after-nouns",
    "scene/tuple_rules.py",
    "space[KIND, arc] == NUMMOD and child < noun",
    "space[KIND, arc] == NUMMOD",
    "scene/test_rules.py",
)
_mutant(
    "the-first-of-two-equally-near",
    "scene/merging.py",
    "if similarity >= best:",
    "if similarity > best:",
    "scene/test_graph.py",
)
_mutant(
    "colours-match-sizes",
    "scene/tuple_match.py",
    "if category and _category(theirs, other, categories) == category:",
    "if category:",
    "scene/test_graph_arrays.py::test_a_colour_is_no_hit_among_words_that_were_joined",
)
_mutant(
    "phrases-without-synonyms",
    "scene/merging.py",
    '[text.replace(" ", "_") for text in texts]',
    "list(texts)",
    "scene/test_graph.py",
)
_mutant(
    "scenes-of-another-parser",
    "scene/graphs.py",
    "parameters = (parser.label, parser.digest, synonyms.digest)",
    "parameters = (parser.label, synonyms.digest)",
    "results/test_references.py::test_scenes_of_another_parser_are_not_taken",
)
_mutant(
    "packed-attributes-change-owners",
    "scene/graphs.py",
    "by_object[owner].append(concept)",
    "by_object[0].append(concept)",
    "scene/test_graph_arrays.py::test_graphs_and_counts",
)
_PLAIN = "scene/test_sentence_tuples.py::test_plain_forms_read_what_the_plain_rules_read"
#: Names and order of arcs, which tuples do not show.
_COLLAPSED = "parser/test_plain_graph.py"
_BUILT = "scene/test_graph_arrays.py::test_graphs_and_counts_of_plain_kernels"
_mutant(
    "copies-share-no-preposition",
    "parser/dependency_graph.py",
    "kind = _modifier(space, bits, governor, role, d)",
    "kind = _modifier(space, bits, governor, role, first)",
    _PLAIN,
)
_mutant(
    "conjuncts-keep-their-passive-subjects",
    "parser/dependency_graph.py",
    "if relation == NSUBJPASS and tag & FINITE:",
    "if False:",
    _COLLAPSED,
)
_mutant("arcs-in-order-of-governors", "parser/dependency_graph.py", "        _sort(space)\n", "", _COLLAPSED)
_mutant(
    "quantifier-keeps-the-last-governor",
    "scene/repairs.py",
    "(heir < 0 or governor & 15 < heir & 15)",
    "True",
    _PLAIN,
)
_mutant(
    "particle-after-be",
    "scene/tuple_rules.py",
    "if particle >= 0 and bits[name] & BE:",
    "if False:",
    _PLAIN,
)
_mutant(
    "as-well-as-is-no-and",
    "scene/sentence_tuples.py",
    'return "and" if name == "as_well_as" else name.replace',
    "return name.replace",
    _PLAIN,
)
_mutant(
    "phrases-of-blocks-mixed-up",
    "scene/sentence_tuples.py",
    "named[numbers[before[chosen] - 2 - rows[chosen, 1]]]",
    "named[numbers[-2 - rows[chosen, 1]]]",
    "scene/test_sentence_tuples.py::test_threads_and_blocks_change_nothing",
)
_mutant(
    "synsets-do-not-grow",
    "scene/merging.py",
    "space.synsets[concept] += meanings",
    "space.synsets[concept] += 0 * meanings",
    _BUILT,
)
_UNUSUAL = "scene/test_uniqueness.py"
_mutant(
    "tuples-counted-twice-in-an-image",
    "scene/uniqueness.py",
    "once = _distinct(image * len(self._keys) + key_of)",
    "once = (image * len(self._keys) + key_of)",
    _UNUSUAL,
)
_mutant(
    "unknown-names-are-no-place",
    "scene/uniqueness.py",
    "< 0, -2, numbers)",
    "< 0, -1, numbers)",
    _UNUSUAL,
)
_mutant(
    "tuples-of-both-count-twice",
    "scene/uniqueness.py",
    "if a == last or ours[a] != theirs[b]:",
    "if True:",
    _UNUSUAL,
)
_mutant("most-unusual-of-all", "scene/uniqueness.py", "if k >= total - number:", "if True:", _UNUSUAL)
_mutant(
    "relations-of-the-first-graph",
    "scene/graphs.py",
    "numbers[starts[graphs[2]] + self.arrays.ends[:, 1]]",
    "numbers[self.arrays.ends[:, 1]]",
    _UNUSUAL,
)
_mutant(
    "concepts-counted-by-mention",
    "scene/uniqueness.py",
    "counts.update(set(tuples))",
    "counts.update(tuples)",
    "scene/test_concept_table.py",
)

_mutant("another-gamma", "meteor/align.py", "0.85, 0.20, 0.60, 0.75", "0.85, 0.20, 0.50, 0.75", _METEOR)
_mutant("another-alpha", "meteor/align.py", "0.85, 0.20, 0.60, 0.75", "0.9, 0.20, 0.60, 0.75", _METEOR)
_mutant("paraphrases-weigh-less", "meteor/align.py", "(1.0, 0.6, 0.8, 0.6)", "(1.0, 0.6, 0.8, 0.5)", _METEOR)
_mutant(
    "no-chunk-is-complete",
    "meteor/align.py",
    "(s[..., 22] == s[..., 1]) & (s[..., 20] == 1)",
    "(s[..., 22] == s[..., 1])",
    _METEOR,
)
_mutant(
    "abbreviations-before-capitals",
    "meteor/meteor_tables.py",
    'if word in self._always or "a" <= following[:1] <= "z":',
    "if word in self._always:",
    _METEOR,
)
_mutant(
    "stems-of-equal-words",
    "meteor/relations.py",
    "new = kind == EXACT or keys[other] != keys[word]",
    "new = kind != SYNONYM or keys[other] != keys[word]",
    "metrics/captions/test_meteor_parts.py",
    _METEOR,
)
_mutant(
    "a-beam-that-drops-nothing",
    "meteor/alignment_search.py",
    "if not are_safe(paths, new, size):",
    "if before * size > 1 and not are_safe(paths, new, size):",
    "metrics/captions/test_meteor_parts.py",
)
_mutant(
    "distances-do-not-count",
    "meteor/alignment_search.py",
    "            distance += abs(j - start)\n            if certain:\n                reached",
    "            if certain:\n                reached",
    "metrics/captions/test_meteor_links.py",
)
_mutant(
    "paraphrases-of-one-direction",
    "meteor/relations.py",
    "        for side in range(2):\n",
    "        for side in range(1):\n",
    "metrics/captions/test_meteor_parts.py",
)
_mutant(
    "words-of-other-lists",
    "meteor/meteor_tables.py",
    "digest.together(self.synonyms.digest, ",
    "digest.together(",
    "metrics/captions/test_meteor_parts.py::test_what_is_known_of_words_belongs_to_its_tables",
)
_mutant(
    "touched-containers-are-trusted",
    "core/container.py",
    "if remembered(opened.path) != opened.check:",
    "if False:",
    "results/test_references.py::test_a_sound_file_is_checked_again_after_it_was_touched",
)
_mutant(
    "buckets-of-one-row",
    "text/synonyms.py",
    "range(np.int64(table.buckets[bucket]), np.int64(table.buckets[bucket + 1]))",
    "range(np.int64(table.buckets[bucket]), min(np.int64(table.buckets[bucket]) + 1, len(table.key_ends) - 1))",
    "text/test_synonyms.py",
)
_mutant(
    "numbers-beyond-their-limits",
    "cli/command.py",
    "NumberType(kind, declared.min, declared.max)",
    "NumberType(kind, None, None)",
    "cli/test_command.py",
)
_mutant(
    "targets-not-checked-before-work",
    "cli/command.py",
    "        _check_targets([p for _, parameters in sections for p in parameters], values)\n",
    "",
    "cli/test_output_option.py",
)
_mutant(
    "folders-of-files-created",
    "core/writing.py",
    "    if not parent.exists():\n",
    "    parent.mkdir(parents=True, exist_ok=True)\n    if not parent.exists():\n",
    "cli/test_output_option.py",
)
_mutant(
    "old-names-without-a-warning",
    "cli/command.py",
    "                warn_of_old_name(old, new)\n",
    "                pass\n",
    "cli/test_help_and_errors.py",
)
_mutant(
    "swapped-letters-count-twice",
    "core/errors.py",
    "if i > 1 and j > 1 and letter == b[j - 2]",
    "if i > 99 and j > 1 and letter == b[j - 2]",
    "cli/test_help_and_errors.py",
)
_mutant(
    "standard-output-cut-at-a-partial-write",
    "core/writing.py",
    "block = block[target.write(block) :]",
    "block = block[target.write(block) or 0 :][:0]",
    "cli/test_help_and_errors.py",
)
_mutant(
    "references-as-predictions",
    "results/references.py",
    "if same is not None and not _has_both_sides(same):",
    "if False:",
    "results/test_references.py",
)
_mutant(
    "people-not-a-judged-set",
    "diversity_analysis/sets/diversity_study.py",
    "_correlations([people, *systems], judged)",
    "_correlations(systems, judged)",
    "diversity_analysis/sets/test_cli.py",
)
_mutant(
    "paraphrases-not-signed",
    "meteor/meteor_tables.py",
    ", *map(str, checksum_of(data.paraphrases)))",
    ")",
    "results/test_signature.py::test_meteor_paraphrases",
)

# Measures in general, signatures, tests of significance ------------------------------------------------------------------

_mutant(
    "undefined-counts-as-zero",
    "metrics/base.py",
    "defined.astype(np.float64)], axis=1)",
    "np.ones(len(values))], axis=1)",
    "metrics/test_base.py",
)
_mutant(
    "measures-run-without-references",
    "metrics/base.py",
    'if "references" in measure.needs and not corpus.has_references:',
    "if False:",
    "corpus/test_corpus.py::test_without_references_what_needs_none_is_measured_and_the_rest_refused",
)
_mutant(
    "resources-by-label",
    "metrics/base.py",
    'return f"{resource.label}@{resource.digest}"',
    "return resource.label",
    "results/test_signature.py::test_chair",
)
_mutant(
    "options-are-dropped",
    "metrics/registry.py",
    "if value is not None:\n            # Values",
    "if value is None:\n            # Values",
    "corpus/test_frequencies.py::test_a_table_of_the_same_references_changes_nothing_but_the_signature",
)
_mutant(
    "files-name-any-option",
    "metrics/recipes.py",
    'for key, value in recipe["settings"].items() if key in settings}',
    'for key, value in recipe["settings"].items()}',
    "results/test_saved_scores.py::test_a_file_does_not_say_which_files_to_open",
)
_mutant(
    "resources-not-signed",
    "results/signatures.py",
    "**{name: in_signature(resource) for name, resource in measure.resources().items()}",
    "**{}",
    "metrics/captions/test_chair.py::test_signatures_name_objects_and_table",
)
_mutant(
    "references-signed-by-number",
    "results/signatures.py",
    '(f"@{references.digest}" if digests else "")',
    '""',
    "results/test_signature.py::test_every_reference_matters",
)
_mutant(
    "tokenizer-not-signed",
    "results/signatures.py",
    '    fields["tok"] = corpus.tokenizer\n',
    "",
    "results/test_signature.py::test_tokenizers",
)
_mutant(
    "subset-not-signed",
    "results/signatures.py",
    "    if corpus.left_out:\n",
    "    if False:\n",
    "results/test_scores.py::test_subset_is_in_the_signature",
)
_mutant(
    "bootstrap-p-halved",
    "results/significance.py",
    "p = min(1.0, 2 * (against + 1) / (len(differences) + 1))",
    "p = min(1.0, (against + 1) / (len(differences) + 1))",
    "results/test_significance.py",
)
_mutant(
    "bootstrap-counts-one-side",
    "results/significance.py",
    "if observed > 0 else int(np.sum(differences >= 0))",
    "if observed > 0 else int(np.sum(differences <= 0))",
    "results/test_significance.py",
)
_mutant(
    "intervals-too-narrow",
    "results/significance.py",
    "tail = 100 * (1 - level) / 2",
    "tail = 100 * (1 - level)",
    "results/test_significance.py",
)
_mutant(
    "randomisation-p-halved",
    "results/significance.py",
    "return (extreme + 1) / (defined + 1)",
    "return (extreme + 1) / (defined + 1) / 2",
    "results/test_significance.py",
)
_mutant(
    "randomisation-one-sided",
    "results/significance.py",
    "np.sum(np.abs(apart) >= observed - 1e-12)",
    "np.sum(apart >= observed - 1e-12)",
    "results/test_significance.py",
)
_mutant(
    "holm-is-bonferroni",
    "results/significance.py",
    "np.arange(len(order), 0, -1)",
    "len(order)",
    "results/test_comparison.py::test_holm_by_hand",
)
_mutant(
    "holm-may-fall",
    "results/significance.py",
    "np.maximum.accumulate(p[order] * np.arange(len(order), 0, -1))",
    "p[order] * np.arange(len(order), 0, -1)",
    "results/test_comparison.py::test_holm_by_hand",
)
_mutant(
    "resampled-texts-stay-biased",
    "results/significance.py",
    "values - np.nanmedian(values) + observed",
    "values",
    "metrics/test_statistics.py",
)
_mutant(
    "differences-of-texts-stay-biased",
    "results/significance.py",
    "    if biased:\n",
    "    if False:\n",
    "metrics/test_statistics.py",
)
_mutant(
    "swapped-texts-stay",
    "results/significance.py",
    "value(both.read(own + n - moved)) - value(both.read(own + moved))",
    "value(both.read(own + n)) - value(both.read(own + moved))",
    "metrics/test_statistics.py",
)

# Scores in files, merged, compared ---------------------------------------------------------------------------------------

_mutant(
    "rows-that-do-not-fit",
    "results/saved_scores.py",
    "if len(tables[number]) != offsets[-1]:",
    "if False:",
    "results/test_saved_scores.py::test_a_description_that_makes_no_sense_is_one_message",
)
_mutant(
    "undefined-is-zero-in-files",
    "results/saved_scores.py",
    'math.nan if row["value"] is None',
    '0.0 if row["value"] is None',
    "results/test_saved_scores.py::test_undefined_values_stay_undefined",
)
_mutant(
    "parts-may-overlap",
    "results/score_merging.py",
    "        if repeated:\n",
    "        if False:\n",
    "results/test_saved_scores.py::test_unrelated_parts_are_refused",
)
_mutant(
    "parts-in-the-order-given",
    "results/score_merging.py",
    "        return placed\n",
    "        return {image: k for k, image in enumerate(ids)}\n",
    "results/test_saved_scores.py::test_parts_equal_the_whole_bit_for_bit_in_any_order",
)
_mutant(
    "ids-as-text",
    "results/score_merging.py",
    '(0, int(piece), "")',
    "(0, 0, piece)",
    "results/test_saved_scores.py::test_without_references_images_are_sorted_by_id_or_by_the_order",
)
_mutant(
    "unlike-parts-merge",
    "results/score_merging.py",
    "            if fields:\n",
    "            if False:\n",
    "results/test_saved_scores.py::test_unrelated_parts_are_refused",
)
_mutant(
    "formulas-may-change",
    "results/scores.py",
    "if not np.isclose(score.value, record.value, rtol=1e-9, atol=1e-12, equal_nan=True):",
    "if False:",
    "results/test_saved_scores.py::test_a_formula_that_has_changed_since_is_noticed",
)
_mutant(
    "captions-weigh-alike",
    "results/scores.py",
    "axis=0) / counts[:, None]",
    "axis=0)",
    "results/test_scores.py",
)
_mutant(
    "the-worst-is-the-oracle",
    "results/scores.py",
    "sign = -1.0 if self.measure.higher_is_better else 1.0",
    "sign = 1.0",
    "results/test_scores.py",
)
_mutant(
    "significant-without-correction",
    "results/comparison_result.py",
    "return self.p_corrected <= self.alpha",
    "return self.p_randomisation <= self.alpha",
    "results/test_comparison.py::test_significant_alone_is_not_ahead_among_many",
)
_mutant(
    "ahead-without-significance",
    "results/comparison_result.py",
    "        if not self.significant:\n",
    "        if False:\n",
    "results/test_comparison.py::test_ahead_only_where_it_is_significant",
)
_mutant(
    "unlike-numbers-are-compared",
    "results/comparison.py",
    "if a.signature != b.signature:",
    "if False:",
    "results/test_comparison.py::test_unlike_numbers_are_refused_field_by_field",
)
_mutant(
    "more-is-always-better",
    "results/comparison_result.py",
    '"B" if (self.difference > 0) == self.higher_is_better else "A"',
    '"B" if self.difference > 0 else "A"',
    "results/test_comparison.py::test_less_may_be_better",
)
_mutant(
    "images-in-another-order",
    "results/significance.py",
    "return score.image_statistics[self._orders[key]]",
    "return score.image_statistics",
    "results/test_comparison.py::test_the_order_of_images_does_not_matter_but_the_images_do",
)
_mutant(
    "paired-p-can-be-zero",
    "results/significance.py",
    "float((extreme + 1) / (defined + 1))",
    "float(extreme / defined)",
    "results/test_comparison.py::test_p_is_never_smaller_than_the_trials_allow",
)

_mutant(
    "counts-are-percent",
    "results/result_rows.py",
    'if self.percent and (form.lstrip("+") == FRACTION or form.endswith("%")):',
    "if self.percent:",
    "cli/test_machine_output.py::test_number_style",
)
_mutant(
    "any-best-leads",
    "results/comparison.py",
    "if all(p <= alpha for (name, _), p in corrected.items() if name == metric)",
    "if True",
    "cli/test_compare.py::test_a_small_lead_is_marked_only_without_intervals",
)
_mutant(
    "differences-turned-around",
    "results/comparison_result.py",
    "return (row.difference if row.system_b == a else -row.difference), row.significant",
    "return row.difference, row.significant",
    "cli/test_compare.py::test_many_systems_are_a_matrix_per_metric",
)
_mutant(
    "control-characters-in-csv",
    "cli/output.py",
    "    text = printable(cell)\n    return",
    "    text = cell\n    return",
    "cli/test_safe_output.py",
)
_mutant(
    "correlations-of-few-systems",
    "figures/corpus_plots.py",
    "LEAST_SYSTEMS = 8",
    "LEAST_SYSTEMS = 3",
    "figures/test_figures.py::test_correlations_need_eight_systems",
)

# Metrics -------------------------------------------------------------------------------------------------------------

_COCO = (
    "metrics/captions/test_live_coco.py::test_odd_captions",
    "metrics/captions/test_live_coco.py::test_random_captions_of_demo_words",
)

_mutant(
    "the-longer-of-two-references",
    "metrics/captions/bleu.py",
    "distance * scale + lengths, corpus",
    "distance * scale + scale - 1 - lengths, corpus",
    "metrics/captions/test_lexical.py",
)
_mutant(
    "bleu-of-nothing",
    "metrics/captions/bleu.py",
    "_TINY, _SMALL = 1e-15, 1e-9",
    "_TINY, _SMALL = 1e-9, 1e-9",
    *_COCO,
)
_mutant(
    "bleu-unclipped",
    "metrics/captions/bleu.py",
    "matched += min(most, int(c_count[j]))",
    "matched += int(c_count[j]) if most else 0",
    *_COCO,
)
_mutant("another-sigma", "metrics/captions/cider.py", "SIGMA = 6.0", "SIGMA = 5.0", *_COCO)
_mutant(
    "new-ngrams-in-the-order-of-the-file",
    "metrics/captions/cider.py",
    "        sort_run(new, 0, n_new)\n",
    "",
    "metrics/captions/test_cider_shards.py",
)
_mutant(
    "df-floor",
    "corpus/frequencies.py",
    "return float(np.log(float(self.images)))",
    "return float(np.log(2 * float(self.images)))",
    *_COCO,
)
_mutant("cider-unclipped", "metrics/captions/cider.py", "if clip and theirs < ours:", "if False:", *_COCO)
_mutant(
    "length-in-words",
    "metrics/captions/cider.py",
    "np.maximum(corpus.candidates.lengths[candidate] - 1, 0)",
    "corpus.candidates.lengths[candidate]",
    *_COCO,
)
_mutant(
    "carry-stays-in-its-word",
    "metrics/captions/rouge.py",
    "carry = total >> _BITS",
    "carry = 0",
    "metrics/captions/test_long_captions.py::test_rows_of_several_words_of_bits",
)
_mutant(
    "places-of-the-last-reference",
    "metrics/captions/rouge.py",
    "        rows[row + w] = 0\n",
    "        pass\n",
    "metrics/captions/test_long_captions.py::test_rows_of_several_words_of_bits",
)
_mutant(
    "the-first-of-many-matches",
    "meteor/matches.py",
    "low, high = low + below(index, key, centre - near), low + below(index, key, centre + near + 1)",
    "high = min(high, low + MOST_TRIED // lists)",
    "metrics/captions/test_long_captions.py::test_meteor_tries_the_nearest_of_many_matches",
)
_mutant("another-beta", "metrics/captions/rouge.py", "BETA = 1.2", "BETA = 1.0", *_COCO)
_mutant(
    "two-empty-captions-differ",
    "metrics/captions/rouge.py",
    "common[(c_length == 0) & (r_length == 0)] = 1",
    "pass",
    *_COCO,
)
_mutant(
    "meteor-of-the-last-reference",
    "metrics/captions/meteor.py",
    "np.maximum.at(best, candidate, scores)",
    "best[candidate] = scores",
    "metrics/captions/test_meteor.py::test_the_best_reference_counts_and_their_order_does_not",
)
_mutant(
    "empty-categories-count",
    "metrics/captions/spice.py",
    "(reference > 0).astype(np.float64)",
    "np.ones_like(f)",
    "metrics/captions/test_spice.py",
)
_mutant(
    "spice-u-is-a-mean",
    "metrics/captions/spice_u.py",
    "ratio(2 * f * unique, f + unique)",
    "(f + unique) / 2",
    "metrics/captions/test_spice_u.py",
)
_mutant(
    "spider-is-a-sum",
    "metrics/captions/spider.py",
    "(spice[:, 0] + cider[:, 0]) / 2",
    "spice[:, 0] + cider[:, 0]",
    "metrics/captions/test_spice.py",
)
_mutant(
    "chair-without-references",
    "metrics/captions/chair.py",
    "there |= contained(",
    "contained(",
    "metrics/captions/test_chair.py",
    "metrics/captions/test_chair_words.py",
)
_mutant(
    "references-of-other-images",
    "metrics/captions/chair.py",
    "contained(corpus.images[image] * self._classes",
    "contained(image * self._classes",
    "metrics/captions/test_chair_matching.py",
)
_mutant(
    "the-shortest-phrase",
    "metrics/captions/chair_matching.py",
    "stop, named = at, kinds[node]",
    "stop, named = (at, kinds[node]) if named < 0 else (stop, named)",
    "metrics/captions/test_chair_matching.py",
)
_mutant(
    "phrases-across-captions",
    "metrics/captions/chair_matching.py",
    "if at < high:",
    "if at < tokens.shape[0]:",
    "metrics/captions/test_chair_matching.py",
)
_mutant(
    "modifiers-count",
    "metrics/captions/chair_matching.py",
    "if not (single and",
    "if not (False and",
    "metrics/captions/test_chair.py",
)
_mutant(
    "beside-other-captions",
    "metrics/captions/chair_matching.py",
    "if present[others[e]] == c + 1:",
    "if present[others[e]] > 0:",
    "metrics/captions/test_chair_matching.py",
)
_mutant(
    "knives-are-no-knife",
    "metrics/captions/chair_table.py",
    '("ves", "fe"), ',
    "",
    "metrics/captions/test_chair_words.py",
)
_mutant(
    "toilet-seats-are-chairs",
    "metrics/captions/chair_matching.py",
    "if present[others[e]] == c + 1:",
    "if False:",
    "metrics/captions/test_chair.py",
)
_mutant(
    "recall-unclipped",
    "metrics/captions/ngram_overlap.py",
    "common += int(min(c_count[i], r_count[j]))",
    "common += int(c_count[i])",
    "metrics/captions/test_lexical.py",
)
_mutant(
    "long-precision",
    "metrics/captions/ngram_overlap.py",
    "matches, totals = ngram_matches(corpus, self.n)",
    "matches, totals = ngram_matches(corpus, 1)",
    "metrics/captions/test_lexical.py",
)
_mutant(
    "wmd-of-the-farthest",
    "metrics/captions/wmd.py",
    "            best = min(best, d)\n",
    "            best = d\n",
    "metrics/captions/test_vector_metrics.py::test_wmd_is_the_transport_distance_to_the_nearest_reference",
)
_mutant(
    "captions-match-themselves",
    "metrics/captions/alignment_kernels.py",
    "if r != c:",
    "if True:",
    "metrics/captions/test_alignment.py",
)
_mutant(
    "matches-of-the-last-piece",
    "metrics/captions/alignment_kernels.py",
    "back[row + j] = max(back[row + j], value)",
    "back[row + j] = value",
    "metrics/captions/test_alignment.py",
)
_mutant(
    "weights-of-the-first-caption",
    "metrics/captions/alignment_kernels.py",
    "room[t - low] = near[row + t] * weights_a[t]",
    "room[t - low] = near[row + t] * weights_a[t - low]",
    "metrics/captions/test_alignment.py",
)
_mutant(
    "references-added-once",
    "metrics/captions/over_references.py",
    "sums[has] += rows[chosen[offsets[has] + k]]",
    "sums[has] += rows[chosen[offsets[has]]]",
    "metrics/captions/test_alignment.py",
)
_mutant(
    "distances-of-other-words",
    "metrics/captions/wmd.py",
    "if keys[slot] != key:",
    "if keys[slot] < 0:",
    "metrics/captions/test_vector_metrics.py::test_wmd_of_long_captions",
)
_mutant(
    "wmd-of-another-mass",
    "metrics/captions/wmd.py",
    "mass = 1.0 * total_a * total_b",
    "mass = 1.0 * total_a * total_a",
    "metrics/captions/test_vector_metrics.py::test_wmd_is_the_transport_distance_to_the_nearest_reference",
)
_mutant(
    "stop-words-stay",
    "metrics/captions/wembsim.py",
    "use = has_vector & content_words(captions.encoding) if stop_words else has_vector",
    "use = has_vector",
    "metrics/captions/test_vector_metrics.py::test_wembsim_is_the_cosine_of_means",
)
_mutant(
    "chains-unclipped",
    "metrics/captions/hwcm.py",
    "                    a += 1\n                    b += 1\n",
    "                    a += 1\n",
    "metrics/captions/test_hwcm.py",
)
_mutant(
    "short-chains-count",
    "metrics/captions/hwcm.py",
    "whole = places[-1] >= 0",
    "whole = places[-1] >= -1",
    "metrics/captions/test_hwcm.py",
)
_mutant(
    "chains-go-on-after-the-root",
    "metrics/captions/hwcm.py",
    "np.where(last < 0, -1, up[last])",
    "up[last]",
    "metrics/captions/test_hwcm.py",
)
_mutant(
    "no-chains-no-value",
    "metrics/captions/hwcm.py",
    "if last > first else 0.0",
    "if last > first else np.nan",
    "metrics/captions/test_hwcm.py",
)
_mutant(
    "sentence-sim-is-a-sum",
    "metrics/captions/over_references.py",
    "means /= np.maximum(counts, 1)[:, None]",
    "means += 0.0",
    "metrics/captions/test_vector_metrics.py::test_sentence_sim_is_the_mean_cosine",
)

# Variety -------------------------------------------------------------------------------------------------------------

_SETS = "diversity_analysis/test_demo_plain.py::test_every_measure_of_the_sampled_sets"

_mutant(
    "the-smallest-share",
    "metrics/sets/lsa.py",
    "singular.max(axis=-1, initial=0.0), total",
    "singular.min(axis=-1), total",
    _SETS,
)
_mutant(
    "squares-for-values",
    "metrics/sets/lsa.py",
    "singular = np.sqrt(np.maximum(squares, 0.0))",
    "singular = np.maximum(squares, 0.0)",
    _SETS,
)
_mutant(
    "lsa-without-counts",
    "metrics/sets/lsa.py",
    "counts = table.count.astype(np.float64)",
    "counts = (table.count > 0).astype(np.float64)",
    _SETS,
)
_mutant(
    "the-longer-of-two-others",
    "metrics/sets/mbleu.py",
    "(distance == nearest and lengths[other] < best)",
    "(distance == nearest and lengths[other] > best)",
    _SETS,
)
_mutant("mbleu-unclipped", "metrics/sets/mbleu.py", "np.minimum(most, table.count)", "most", _SETS)
_mutant(
    "self-cider-without-norms",
    "metrics/sets/similarity_kernels.py",
    "            products *= scale[:, None, :]\n",
    "",
    _SETS,
)
_mutant(
    "asymmetric-kernels",
    "metrics/sets/similarity_kernels.py",
    "(matrices + np.swapaxes(matrices, -1, -2)) / 2",
    "matrices",
    "diversity_analysis/sets/test_measures.py",
)
_mutant(
    "div-over-different-words",
    "metrics/sets/distinct.py",
    "share = ratio(distinct_ngrams(captions, self.n), words)",
    "share = ratio(distinct_ngrams(captions, self.n), distinct_ngrams(captions, 1), 0.0)",
    _SETS,
)
_mutant(
    "old-captions-are-new",
    "metrics/sets/distinct.py",
    "sentences[i] not in state for",
    "sentences[i] in state for",
    "diversity_analysis/test_demo_plain.py::test_the_share_of_sampled_captions_that_are_new",
)
_mutant(
    "beta-for-beta-squared",
    "diversity_analysis/sets/accuracy_diversity.py",
    "BETA_SQUARED = 5.0",
    "BETA_SQUARED = 25.0",
    "diversity_analysis/sets/test_accuracy.py",
)
_mutant(
    "the-worst-m",
    "diversity_analysis/sets/best_of_m.py",
    "(-1.0 if metric.higher_is_better else 1.0)",
    "1.0",
    "diversity_analysis/sets/test_accuracy.py",
)
_mutant(
    "shorter-segments",
    "metrics/corpus/vocabulary_measures.py",
    "SEGMENT = 1000",
    "SEGMENT = 500",
    "diversity_analysis/test_demo_plain.py::test_the_vocabulary_of_a_system",
)
_mutant(
    "another-mtld-threshold",
    "metrics/corpus/vocabulary_measures.py",
    "MTLD_THRESHOLD = 0.72",
    "MTLD_THRESHOLD = 0.7",
    "diversity_analysis/test_demo_plain.py::test_the_vocabulary_of_a_system",
)
_mutant(
    "mtld-one-way",
    "metrics/corpus/vocabulary_measures.py",
    "items[end - 1 - j] if backwards else items[start + j]",
    "items[start + j]",
    "diversity_analysis/corpus/test_vocabulary.py",
)
_mutant(
    "twice-is-once",
    "metrics/corpus/vocabulary_measures.py",
    "ratio((counts == 1).sum(axis=-1)",
    "ratio(((counts > 0) & (counts <= 2)).sum(axis=-1)",
    "diversity_analysis/test_demo_plain.py::test_the_vocabulary_of_a_system",
)
_mutant(
    "sdsl-of-a-sample",
    "metrics/corpus/vocabulary_measures.py",
    "ratio(spread, count, np.nan)",
    "ratio(spread, count - 1, np.nan)",
    "diversity_analysis/corpus/test_vocabulary.py::test_numbers_of_a_small_corpus",
)
_mutant(
    "everything-is-learnable",
    "metrics/corpus/global_recall.py",
    "            mask &= self.training > 0\n",
    "            pass\n",
    "diversity_analysis/corpus/test_words.py",
)
_mutant(
    "coverage-of-used-words",
    "metrics/corpus/global_recall.py",
    "ratio(used, np.full(np.shape(used), len(sums.table.keys)), np.nan)",
    "ratio(used, used, np.nan)",
    "diversity_analysis/test_demo_plain.py::test_novelty_coverage_and_negations_of_systems",
)
_mutant(
    "recall-of-the-lowest-class",
    "metrics/corpus/local_recall.py",
    "self.counted(rows.recalled[:, state.top - 1], rows.total[:, state.top - 1])",
    "self.counted(rows.recalled[:, 0], rows.total[:, 0])",
    "diversity_analysis/corpus/test_analysis.py::test_every_measure_of_every_row",
)
_mutant(
    "importance-by-image",
    "metrics/corpus/local_recall.py",
    "hit = contained(key, said)",
    "hit = contained(key & _LOW, said & _LOW)",
    "diversity_analysis/corpus/test_trees.py::test_local_recall_by_hand",
)
_mutant(
    "known-captions-are-novel",
    "metrics/corpus/novel_captions.py",
    "~contained(caption_hashes",
    "contained(caption_hashes",
    "diversity_analysis/test_demo_plain.py::test_novelty_coverage_and_negations_of_systems",
)
_mutant(
    "punctuation-is-novel",
    "metrics/corpus/corpus_measure.py",
    "            if counted[j]:\n",
    "            if True:\n",
    "diversity_analysis/corpus/test_vocabulary.py",
)
_mutant(
    "overuse-without-sign",
    "metrics/corpus/global_recall.py",
    "sign = np.sign(a / total_a - b / total_b)",
    "sign = np.ones_like(a)",
    "diversity_analysis/corpus/test_words.py",
)
_mutant(
    "compounds-cross-sentences",
    "metrics/corpus/composition.py",
    "    starts[at] = noun[at]\n",
    "",
    "diversity_analysis/corpus/test_trees.py",
)
_mutant(
    "clauses-are-phrases",
    "metrics/corpus/complexity.py",
    "frazier[opens[i]] += 0.5",
    "pass",
    "diversity_analysis/corpus/test_trees.py",
)
_mutant(
    "divergence-for-distance",
    "metrics/corpus/pos_counts.py",
    "np.sqrt(np.maximum(0.0, (_divergence(p, middle) + _divergence(q, middle)) / 2))",
    "np.maximum(0.0, (_divergence(p, middle) + _divergence(q, middle)) / 2)",
    "diversity_analysis/corpus/test_words.py",
)
_mutant(
    "running-is-a-thing",
    "metrics/corpus/tag_repair.py",
    "    repaired[ing[words] & singular[tags] & _after(noun[tags], inside)] = participle\n",
    "",
    "diversity_analysis/corpus/test_trees.py",
)
_mutant(
    "without-is-no-negation",
    "metrics/corpus/corpus_word_lists.py",
    "nor without ",
    "nor ",
    "diversity_analysis/corpus/test_words.py",
)
_mutant(
    "training-by-file-order",
    "metrics/corpus/novel_captions.py",
    "digest.of_lines(sorted(set(self.texts)))",
    "digest.of_lines(self.texts)",
    "results/test_signature.py::test_training_captions",
)

# People, generated captions, figures, commands ----------------------------------------------------------------------------

_mutant(
    "scores-keep-their-sign",
    "agreement/study.py",
    "sign * score.per_caption",
    "score.per_caption",
    "agreement/test_study.py",
)
_mutant(
    "own-captions-are-judged",
    "agreement/study.py",
    'if is_own[k] and protocol.own == "drop":',
    "if False:",
    "agreement/test_study.py",
)
_mutant(
    "own-references-stay",
    "agreement/study.py",
    "without = {own_key(caption)} if is_own[k] else set()",
    "without = set()",
    "agreement/test_study.py",
)
_mutant(
    "one-word-is-enough",
    "robustness/transformations.py",
    "max(2, math.floor(gamma * words / 100 + 0.5))",
    "math.floor(gamma * words / 100 + 0.5)",
    "robustness/test_transformations.py::test_how_many_words",
)
_mutant(
    "names-are-not-told-apart",
    "results/references.py",
    "while unique in seen:",
    "while False:",
    "cli/test_tables.py",
)
_mutant(
    "notebooks-run-captions",
    "core/notebook_html.py",
    'return "<br>".join(escape(line) for line in text.split("\\n"))',
    'return "<br>".join(text.split("\\n"))',
    "test_notebooks.py",
)
_mutant(
    "frames-lose-the-ids",
    "results/result_rows.py",
    'frame.index.name = "image_id"',
    "pass",
    "test_notebooks.py::test_frames",
)
_mutant("no-limit-counts", "core/limits.py", "if value > self.value():", "if False:", "io/test_limits.py")
_mutant(
    "words-at-no-break-spaces",
    "compat/scoring.py",
    'return " ".join(text.split())',
    "return text",
    "compat/test_compat.py",
)
_mutant(
    "nothing-is-reset",
    "compat/torchmetrics.py",
    "        self._predictions.clear()\n        self._references.clear()",
    "        pass",
    "test_api.py",
)
_mutant(
    "touched-files-are-trusted",
    "core/cache.py",
    'if content["stamp"] == stamp(path) and content["path"]',
    'if content["path"]',
    "vectors/test_files.py",
    "core/test_written_files.py",
)
_mutant(
    "links-are-followed",
    "core/cache.py",
    "if name and place.is_symlink():",
    "if False:",
    "core/test_cache_files.py",
)
_mutant(
    "any-name-is-ours",
    "core/cache.py",
    "return OLD if _OLD[folder].fullmatch(name) else None",
    "return OLD",
    "core/test_cache_files.py",
)
_mutant(
    "what-is-used-goes-first",
    "core/cache.py",
    "key=lambda entry: entry.used",
    "key=lambda entry: -entry.used",
    "core/test_cache_files.py",
)
_mutant(
    "swapped-files-are-trusted",
    "core/container.py",
    'if opened.meta.get("name") != path.name:',
    "if False:",
    "core/test_cache_files.py",
)
_mutant(
    "indexes-may-lead-anywhere",
    "meteor/meteor_tables.py",
    "and values.max(initial=0) < max(rows, 1)",
    "",
    "core/test_cache_files.py",
)
_mutant(
    "phrases-by-their-first-half",
    "meteor/paraphrase_index.py",
    "(phrases[number, 0] != high or phrases[number, 1] != low)",
    "phrases[number, 0] != high",
    "metrics/captions/test_meteor_parts.py",
)
_mutant(
    "long-words-by-their-keys",
    "meteor/paraphrase_index.py",
    "and equal_bytes(data, start, text, ends[number - 1], letters)",
    "",
    "metrics/captions/test_meteor_parts.py",
)
_mutant(
    "sources-by-their-length",
    "meteor/paraphrase_index.py",
    "data[at + length] == 10 and equal_bytes(data, at, data, source, length)",
    "data[at + length] == 10",
    "metrics/captions/test_meteor_parts.py",
)
_mutant(
    "all-neighbours-alike",
    "generate/synonym_switch.py",
    "np.cumsum(chances / chances.sum())",
    "np.cumsum(np.ones_like(chances) / len(chances))",
    "generate/test_synonyms.py",
)
_mutant(
    "always-switched",
    "generate/synonym_switch.py",
    "table.of(token) if switch < probability else None",
    "table.of(token)",
    "generate/test_synonyms.py",
)
_mutant(
    "colours-return-unchanged",
    "figures/style.py",
    "marker = MARKERS[(i + turn) % len(MARKERS)]",
    "marker = MARKERS[i % len(MARKERS)]",
    "figures/test_style.py",
)
_mutant(
    "threads-lose-their-settings",
    "core/threads.py",
    "pool.submit(copy_context().run, alone, item)",
    "pool.submit(alone, item)",
    "core/test_threads.py",
)
_mutant(
    "pieces-divide-again",
    "core/threads.py",
    "        with working(1):\n            return function(item)",
    "        return function(item)",
    "core/test_threads.py",
)
_mutant(
    "formulas-in-labels",
    "figures/style.py",
    'return line.replace("$", r"\\$")',
    "return line",
    "figures/test_style.py",
)
_mutant(
    "clip-without-weight",
    "metrics/captions/clip_score.py",
    "scores: FloatArray = W * np.clip(cosines, 0.0, 1.0)",
    "scores: FloatArray = np.clip(cosines, 0.0, 1.0)",
    "metrics/captions/test_clip_score.py::test_the_formula",
)
_mutant(
    "clip-of-any-reference",
    "metrics/captions/clip_score.py",
    'combined(corpus, pair_cosines(corpus, ours, theirs), "max")',
    'combined(corpus, pair_cosines(corpus, ours, theirs), "mean")',
    "metrics/captions/test_clip_score.py::test_the_formula",
)
_mutant(
    "vectors-of-nothing",
    "vectors/keyed_vectors.py",
    "wrong = np.flatnonzero(lengths < _NOTHING)",
    "wrong = np.flatnonzero(lengths < 0)",
    "metrics/captions/test_clip_score.py::test_wrong_vectors_are_refused",
)
_mutant(
    "own-captions-with-apostrophes-stay",
    "io/judgements/judged_sets.py",
    'return "".join(plain_words(caption))',
    'return " ".join(plain_words(caption))',
    "io/test_judgements.py::test_keys",
)
_mutant(
    "gaps-are-not-the-mean",
    "metrics/learned/composite_network.py",
    "return np.where(np.isfinite(values), values, 0.0)",
    "return np.where(np.isfinite(values), values, 9.0)",
    "metrics/learned/test_training.py::test_gaps_count_as_the_mean",
)
_mutant(
    "features-beyond-their-bounds",
    "metrics/learned/composite_network.py",
    "np.clip(table, *self.bounds.astype(np.float64))",
    "table",
    "metrics/learned/test_training.py::test_a_given_sum_counts_within_its_bounds_and_is_a_probability",
)
_mutant(
    "files-without-bounds",
    "metrics/learned/composite_network.py",
    'arrays["bounds"] = network.bounds',
    "pass",
    "metrics/learned/test_training.py::test_files_come_back_and_damage_is_refused",
)
_mutant(
    "bounds-the-wrong-way-round",
    "metrics/learned/composite_network.py",
    " or not (network.bounds[0] <= network.bounds[1]).all()",
    "",
    "metrics/learned/test_training.py::test_files_come_back_and_damage_is_refused",
)
_mutant(
    "a-network-without-relu",
    "metrics/learned/composite_network.py",
    "values = np.maximum(values, 0.0)",
    "pass",
    "metrics/learned/test_training.py::test_scoring_agrees_with_torch",
)
_mutant(
    "rewards-without-weights",
    "rewards/reward.py",
    "total += (weight * per_caption).astype(np.float32)",
    "total += per_caption.astype(np.float32)",
    "rewards/test_rewards.py",
)
_mutant(
    "rewards-beyond-the-end",
    "rewards/reward.py",
    "np.where(stop.any(axis=1), stop.argmax(axis=1), ids.shape[1])",
    "np.full(len(ids), ids.shape[1])",
    "rewards/test_rewards.py",
)
_mutant(
    "no-signs-in-sketches",
    "critic/critic_network.py",
    "index_add(1, self.place, vectors * self.sign)",
    "index_add(1, self.place, vectors)",
    "critic/test_sketch.py",
)
_mutant(
    "forms-without-turning",
    "critic/critic_network.py",
    "(self.first.place[:, None] + self.second.place[None, :]) % self.size",
    "(self.first.place[:, None] + self.second.place[None, :]).clamp(max=self.size - 1)",
    "critic/test_sketch.py",
)
_mutant(
    "its-own-context",
    "critic/critic_examples.py",
    "        others += others >= rows\n",
    "",
    "critic/test_lessons.py",
)
_mutant(
    "its-own-context-when-scored",
    "critic/critic_scoring.py",
    "is_other = contexts != owner",
    "is_other = contexts == contexts",
    "critic/test_learning.py::test_no_caption_is_its_own_context",
)
_mutant(
    "one-reference-is-enough",
    "critic/critic_scoring.py",
    "means: FloatArray = sums / counts",
    "means: FloatArray = values[np.cumsum(counts) - 1]",
    "critic/test_learning.py::test_scores_are_what_the_network_says_of_each_pair",
)
_mutant(
    "critics-judge-what-they-learned",
    "critic/protocol.py",
    "if other != fold])",
    "if other == fold])",
    "critic/test_protocol.py::test_no_critic_learns_from_what_it_judges",
)
_mutant(
    "folds-by-file-order",
    "critic/protocol.py",
    "key=lambda i: ids[i])",
    "key=lambda i: i)",
    "critic/test_protocol.py::test_folds_are_two_halves_whatever_the_order",
)
_mutant(
    "resumed-without-memory",
    "critic/critic_training.py",
    "        restore_optimizer(optimizer, state)\n",
    "        pass\n",
    "critic/test_learning.py::test_a_training_that_was_stopped_ends_with_the_same_weights",
)
_mutant(
    "rates-fall-at-every-step",
    "critic/critic_training.py",
    "settings.decay ** (step // steps_per_epoch)",
    "settings.decay ** step",
    "critic/test_learning.py::test_the_rate_falls_after_each_epoch",
)
_mutant(
    "empty-captions-end-before-they-begin",
    "critic/critic_vocabulary.py",
    "lengths = np.ones(len(sentences), np.int64)",
    "lengths = np.zeros(len(sentences), np.int64)",
    "critic/test_lessons.py::test_words_are_the_commonest_and_captions_are_cut",
)
_mutant(
    "classes-for-features",
    "generate/captioner/image_source.py",
    "str((maps or pooled or outputs)[-1])",
    "str((maps or outputs)[-1])",
    "generate/test_backbone.py",
)
_mutant(
    "captions-end-their-block",
    "reporting/document.py",
    r'text.replace("<", "\\u003c")',
    "text",
    "reporting/test_page.py::test_no_text_ends_its_block",
)
_mutant(
    "any-script-may-run",
    "reporting/document.py",
    "f\"script-src '{_hash(script)}'\"",
    "\"script-src 'unsafe-inline'\"",
    "reporting/test_page.py::test_a_policy_allows_the_script_of_the_page_and_nothing_else",
)
_mutant(
    "mistakes-exit-with-1",
    "core/errors.py",
    "sys.exit(2)",
    "sys.exit(1)",
    "cli/test_cli.py::test_mistakes_get_one_message_and_exit_code_2",
)
_mutant(
    "nan-in-json",
    "results/scores.py",
    "return value if math.isfinite(value) else None",
    "return value",
    "results/test_scores.py::test_undefined_comparisons_are_neither_significant_nor_broken_json",
)
_mutant(
    "one-file-for-many-systems",
    "results/saved_scores.py",
    "if is_saved(target) and systems > 1:",
    "if False:",
    "cli/test_show.py::test_mistakes",
)
_mutant(
    "options-of-other-measures-pass",
    "metrics/registry.py",
    "        if name in own or name in spare:\n",
    "        if True:\n",
    "metrics/test_registry.py",
)
_mutant(
    "ngrams-explained-unclipped",
    "metrics/captions/cider.py",
    "mine = min(own[ngram][0], weight) if self.clip else own[ngram][0]",
    "mine = own[ngram][0]",
    "results/test_caption_explanations.py",
)
_mutant(
    "colours-explained-as-attributes",
    "metrics/captions/spice.py",
    "(len(item) == 2 and category_of(item[1]) == place > 0)",
    "(len(item) == 2 and place > 2)",
    "results/test_caption_explanations.py",
)
_mutant(
    "empty-captions-raise-uniq-in-silence",
    "metrics/captions/spice_u.py",
    "if has_tuples.all() or",
    "if True or",
    "metrics/captions/test_spice_u.py",
)
_mutant(
    "macro-means-by-size",
    "results/score_groups.py",
    "np.mean([score.value for score in self.scores])",
    "np.average([score.value for score in self.scores], weights=[len(score.ids) for score in self.scores])",
    "results/test_score_groups.py",
)
_mutant(
    "images-without-value-count",
    "results/scores.py",
    "np.count_nonzero(~np.isnan(self.measure.per_row(self.image_statistics)))",
    "len(self.ids)",
    "results/test_score_groups.py",
)
_mutant(
    "all-splits-at-once",
    "io/image_columns.py",
    "if wanted.intersection(values.get(image, ()))",
    "if values.get(image, ())",
    "io/test_image_columns.py",
)
_mutant(
    "single-captions-are-sets",
    "diversity_analysis/sets/set_diversity.py",
    "(corpus.candidates.per_image > 1).any()",
    "(corpus.candidates.per_image > 0).any()",
    "diversity_analysis/sets/test_cli.py",
)

# The page ------------------------------------------------------------------------------------------------------------

_mutant(
    "a-caption-ends-the-data",
    "reporting/document.py",
    r'.replace("<", "\\u003c")',
    "",
    "reporting/test_page.py::test_no_text_ends_its_block",
)
_mutant(
    "policy-of-another-script",
    "reporting/document.py",
    "script-src '{_hash(script)}'",
    "script-src '{_hash(style)}'",
    "reporting/test_page.py::test_a_policy_allows_the_script_of_the_page_and_nothing_else",
)
_mutant(
    "letters-whatever-the-test-says",
    "reporting/leaderboard.py",
    "if row.metric == name and row.significant:",
    "if row.metric == name:",
    "reporting/test_page.py::test_systems_that_do_not_differ_share_a_letter",
)
_mutant(
    "unlike-numbers-are-ranked",
    "reporting/leaderboard.py",
    "if scores[name].signature != first.signature",
    "if False",
    "reporting/test_page.py::test_incomparable_values_are_reported",
)
_mutant(
    "explained-by-other-references",
    "reporting/explanations.py",
    "isinstance(measure, kind) and sign(measure, entry.corpus) == score.signature",
    "isinstance(measure, kind)",
    "reporting/test_page.py::test_scores_of_other_references_are_not_explained",
)
_mutant(
    "pictures-from-any-host",
    "reporting/image_links.py",
    '"{" in parts.netloc',
    "False",
    "reporting/test_page.py::test_pictures",
)
_mutant(
    "ids-as-they-are-in-addresses",
    "reporting/image_links.py",
    'quote(filled.encode("utf-8", "replace"), safe="")',
    "filled",
    "reporting/test_page.py::test_pictures",
)
_mutant(
    "words-of-other-alphabets-guessed",
    "reporting/report_data.py",
    "if text.isascii() else None",
    "if True else None",
    "reporting/test_page.py::test_the_page_tells_plain_words_from_others",
)
_mutant(
    "a-set-is-its-first-caption",
    "reporting/report_data.py",
    "values[a] if b == a + 1 else list(values[a:b])",
    "values[a]",
    "reporting/test_page.py::test_several_captions_per_image",
)
_mutant(
    "a-reference-at-the-wrong-place",
    "metrics/captions/meteor.py",
    "reference[pair][chosen], part[chosen]",
    "reference[pair][at_best[: len(chosen)]], part[chosen]",
    "metrics/captions/test_meteor_links.py::test_an_exact_match_joins_equal_words",
)
_mutant(
    "one-match-for-all",
    "meteor/align.py",
    "links[at, 2] = matches[m, 0]",
    "links[at, 2] = matches[0, 0]",
    "metrics/captions/test_meteor_links.py::test_an_exact_match_joins_equal_words",
)

# Re-ranking ----------------------------------------------------------------------------------------------------------

_mutant(
    "counts-where-continuations-belong",
    "rerank/language_models/ngram.py",
    "np.where(grams.first == BEGIN, grams.counts, different)",
    "grams.counts.copy()",
    "rerank/test_models.py::test_kneser_ney_by_hand",
)
_mutant(
    "contexts-over-the-beginning",
    "rerank/language_models/ngram.py",
    "context[flat == BEGIN] = -1",
    "pass",
    "rerank/test_models.py::test_a_caption_knows_nothing_of_the_one_before",
)
_mutant(
    "no-weight-for-shorter-contexts",
    "rerank/language_models/ngram.py",
    "total + weight)",
    "total)",
    "rerank/test_models.py::test_kneser_ney_by_hand",
)
_mutant(
    "log10-is-log",
    "rerank/language_models/arpa.py",
    "log * _LN10 if log > _NEVER",
    "log if log > _NEVER",
    "rerank/test_models.py::test_arpa_is_read_as_it_says",
)
_mutant(
    "captions-without-their-end",
    "rerank/language_models/language_model.py",
    "flat.append(END)",
    "flat.append(UNKNOWN)",
    "rerank/test_models.py::test_unigrams_are_shares_of_tokens",
)
_mutant(
    "a-caption-can-spell-the-end",
    "rerank/language_models/language_model.py",
    "number if (number := get(token, UNKNOWN)) > UNKNOWN else UNKNOWN",
    "get(token, UNKNOWN)",
    "rerank/test_models.py::test_a_caption_that_spells_a_sign_does_not_end",
)
_mutant(
    "lstm-gates-in-another-order",
    "rerank/language_models/lstm_model.py",
    "enter, forget, new, out =",
    "forget, enter, new, out =",
    "rerank/test_models.py::test_lstm_in_numpy_is_pytorchs",
)
_mutant(
    "lstm-may-write-the-beginning",
    "rerank/language_models/lstm_model.py",
    "scores[:, BEGIN] = -np.inf",
    "pass",
    "rerank/test_models.py::test_probabilities_sum_to_one",
)
_mutant(
    "captions-that-occur-once-are-generic",
    "rerank/likelihood.py",
    "for text, count in frequent if count > 1]",
    "for text, count in frequent if count > 0]",
    "rerank/test_likelihood.py::test_a_caption_that_occurs_once_is_no_distractor",
)
_mutant(
    "greedy-many-times",
    "generate/captioner/caption_sets.py",
    'if self.how == "greedy" and self.m != 1:',
    "if False:",
    "generate/test_commands.py::test_what_cannot_work_is_said_before_training",
)
_mutant(
    "switched-words-ignore-the-vocabulary",
    "generate/captioner/caption_sets.py",
    "vocabulary = plan.vocabulary",
    "vocabulary = None",
    "generate/test_captioner.py::test_synonyms_vary_the_best_caption",
)
_mutant(
    "critics-of-the-paper-train-for-ten-epochs",
    "critic/critic_training.py",
    "epochs: int = 30",
    "epochs: int = 10",
    "critic/test_learning.py::test_presets",
)
_mutant(
    "losses-before-a-kill-are-forgotten",
    "training/captioner_trainer.py",
    "started, losses = time.monotonic(), _restore_losses(state)",
    "started, losses = time.monotonic(), _restore_losses({})",
    "generate/test_captioner.py::test_a_training_that_was_killed_goes_on_to_the_same_result",
)
_mutant(
    "weights-of-alpha-swapped",
    "rerank/criteria.py",
    "alpha * first + (1 - alpha) * second",
    "(1 - alpha) * first + alpha * second",
    "rerank/test_choosing.py::test_two_models_are_interpolated",
)
_mutant(
    "the-generic-is-rewarded",
    "rerank/criteria.py",
    "log_p - weights.lam * prior.mixed",
    "log_p + weights.lam * prior.mixed",
    "rerank/test_choosing.py::test_rare_words_win_with_weight",
)
_mutant(
    "unknown-words-are-welcome",
    "rerank/criteria.py",
    "    if unknown_share > REFUSED:\n",
    "    if False:\n",
    "rerank/test_choosing.py::test_a_model_with_another_vocabulary",
)
_mutant(
    "empty-cells-can-win",
    "rerank/selection_rules.py",
    "np.where(self.empty, -np.inf, values[self.place])",
    "values[self.place] + self.empty",
    "rerank/test_choosing.py::test_the_first_of_equals_is_chosen_and_lists_may_differ_in_length",
)
_mutant(
    "a-candidate-agrees-with-itself",
    "rerank/criteria.py",
    "pairs[:, pairs[0] != pairs[1]]",
    "pairs",
    "rerank/test_choosing.py::test_consensus_is_the_mean_similarity_with_the_others",
)
_mutant(
    "less-is-better-is-forgotten",
    "rerank/external_scores.py",
    "return -values if self.lower else values",
    "return values",
    "rerank/test_choosing.py::test_saved_scores",
)
_mutant(
    "infinite-log-p",
    "rerank/nbest.py",
    "if not is_number(value):",
    "if not isinstance(value, int | float):",
    "rerank/test_choosing.py::test_bad_rows",
)
_mutant(
    "chair-is-not-inverted",
    "rerank/tuning.py",
    "logs.append(-np.log(100 * np.maximum(value, 0.5 / images)))",
    "logs.append(np.log(100 * np.maximum(value, 0.5 / images)))",
    "rerank/test_tuning.py::test_the_geometric_mean_is_that_of_the_paper",
)
_mutant(
    "tuned-on-other-rows",
    "rerank/tuning.py",
    "rows = judged.row[chosen]\n        for score",
    "rows = chosen\n        for score",
    "rerank/test_tuning.py::test_equal_candidates_share_a_row",
)
_mutant(
    "tested-on-what-was-tuned",
    "rerank/tuning.py",
    "np.sort(order[:tuned]), np.sort(order[tuned:])",
    "np.sort(order[:tuned]), np.sort(order[:tuned])",
    "rerank/test_tuning.py::test_systems_are_compared_on_the_other_images",
)
_mutant(
    "right-captions-are-distractors",
    "rerank/likelihood.py",
    "if row.hallucinated]",
    "if row.mentioned]",
    "rerank/test_likelihood.py::test_a_distractor_names_what_is_not_there",
)
_mutant(
    "fooled-by-a-tie",
    "rerank/likelihood.py",
    "np.array([w.max() > h.min() for",
    "np.array([w.max() >= h.min() for",
    "rerank/test_likelihood.py::test_shares",
)
_mutant(
    "words-run-in-pictures",
    "figures/word_colours.py",
    'text-anchor="middle">{escape(word)}</text>',
    'text-anchor="middle">{word}</text>',
    "rerank/test_likelihood.py::test_text_of_others_is_escaped_everywhere",
)
_mutant(
    "any-object-is-named",
    "rerank/templates.py",
    "if name in rank and score >= threshold",
    "if name in rank",
    "rerank/test_templates.py::test_vocabulary_threshold_and_number",
)
_mutant(
    "systems-of-one-name-replace-each-other",
    "rerank/templates.py",
    "tell_apart([file.system_name for file in files], [file.path for file in files])",
    "[file.system_name for file in files]",
    "rerank/test_templates.py::test_curves_are_scores_of_the_captions",
)
_mutant(
    "classes-are-synonyms",
    "metrics/captions/named_classes.py",
    "return Synonyms.of({}, {})",
    "return Synonyms.load()",
    "scene/test_concept_truth.py::test_classes_that_share_a_synset_stay_apart",
)

# Scale ---------------------------------------------------------------------------------------------------------------

_mutant(
    "scores-are-shards-too",
    "scale/shards.py",
    "return [file for file in files if not file.endswith(SCORES) and not",
    "return [file for file in files if not",
    "scale/test_shards.py::test_names_and_folders",
)
_mutant(
    "digest-without-the-columns",
    "scale/shards.py",
    "spans.append((start, column.total_compressed_size))",
    "pass",
    "scale/test_shards.py::test_digests_name_what_is_scored",
)
_mutant(
    "bad-rows-shift-the-column",
    "scale/shard_task.py",
    "column[good.rows] =",
    "column[: len(good.rows)] =",
    "scale/test_faults.py::test_bad_rows_are_counted_and_listed",
)
_mutant(
    "old-columns-are-trusted",
    "scale/shard_task.py",
    'if job.metrics and job.columns_saved and _file_digest(task.scores) != meta["scores"]:',
    "if False:",
    "scale/test_faults.py::test_only_what_is_missing_or_changed_is_done_again",
)
_mutant(
    "old-shards-are-trusted",
    "scale/shard_task.py",
    'if meta["job"] != job.key or meta["shard"] != content:',
    'if meta["job"] != job.key:',
    "scale/test_faults.py::test_only_what_is_missing_or_changed_is_done_again",
)
_mutant(
    "sums-of-the-last-batch",
    "scale/shard_task.py",
    "table[:, column] += np.bincount(groups",
    "table[:, column] = np.bincount(groups",
    "scale/test_scoring.py::test_neither_shards_nor_batches_change_a_score",
)
_mutant(
    "merging-forgets-a-step",
    "scale/shard_merging.py",
    "total.sums[number][groups] += table",
    "total.sums[number][groups] = table",
    "scale/test_whole.py::test_shards_merge_exactly",
)
_mutant(
    "segments-begin-anew-with-each-batch",
    "scale/whole_corpus.py",
    "self._rest = stream[complete * SEGMENT :].copy()",
    "self._rest = stream[:0]",
    "scale/test_whole.py::test_one_shard_is_measured_as_one_file",
)
_mutant(
    "frequent-without-the-error",
    "scale/sketches.py",
    "self.error += pay",
    "pass",
    "scale/test_counting.py::test_frequent_items_are_within_the_bound",
)
_mutant(
    "filters-probe-once",
    "scale/sketches.py",
    "at = (at + second[k]) & 0x3FFFFFFFFFFFFFFF\n        out[k] = there",
    "break\n        out[k] = there",
    "scale/test_counting.py::test_a_filter_finds_what_was_put_in_and_little_else",
)
_mutant(
    "half-a-run-is-a-run",
    "scale/counting.py",
    "if count.strip().decode() != state.hexdigest():",
    "if False:",
    "scale/test_counting.py::test_half_a_run_is_refused",
)
_mutant(
    "a-killer-gets-no-strikes",
    "scale/engines.py",
    "                    if strikes[number] < STRIKES:\n                        continue",
    "                    if False:\n                        continue",
    "scale/test_faults.py::test_what_kills_every_worker_is_given_up_and_the_rest_is_done",
)

_mutant(
    "missing-images-pass",
    "scale/run_shards.py",
    "if not len(missing) or settings.part:",
    "if True:",
    "scale/test_scoring.py::test_missing_images_are_refused_or_stated",
)
_mutant(
    "merged-coverage-of-the-last-part",
    "scale/shard_merging.py",
    'covered=arrays["covered"] | total.covered if',
    'covered=arrays["covered"] if',
    "scale/test_scoring.py::test_missing_images_are_refused_or_stated",
)
_mutant(
    "children-keep-locks",
    "core/memo.py",
    "    for lock in list(_all_locks):\n        lock._renew()",
    "    pass",
    "core/test_forks.py",
)
_mutant(
    "children-keep-half-modules",
    "core/memo.py",
    "            del sys.modules[name]",
    "            pass",
    "core/test_forks.py",
)

# Kernels --------------------------------------------------------------------------------------------------------------

_DECLARE, _LIBRARY = "kernels/test_declare.py", "kernels/test_library.py"
_mutant(
    "kernel-digest-without-constants",
    "kernels/library.py",
    "elif isinstance(value, bool | int | float | str | tuple | np.generic):",
    "elif False:",
    _DECLARE,
)
_mutant(
    "kernel-digest-without-helpers",
    "kernels/library.py",
    'yield f"{name}={value.code_digest}"',
    "pass",
    _DECLARE,
)
_mutant(
    "kernel-digest-without-arrays",
    "kernels/library.py",
    "{value.shape}{value.tobytes().hex()}",
    "{value.shape}",
    _DECLARE,
)
_mutant(
    "kernel-digest-without-options",
    "kernels/library.py",
    "repr(sorted(self.options.items())).encode()",
    'b""',
    _DECLARE,
)
_mutant(
    "kernel-digest-without-types",
    "kernels/library.py",
    'f"{self.code_digest} {declared}".encode()',
    "self.code_digest.encode()",
    _DECLARE,
)
_mutant("kernel-digest-with-documentation", "kernels/library.py", "elif constant != doc:", "else:", _DECLARE)
_mutant(
    "plain-forms-never-end", "kernels/library.py", "        _plain_depth -= 1\n", "        pass\n", _DECLARE
)
_mutant(
    "plain-forms-end-early",
    "kernels/library.py",
    "        _plain_depth -= 1\n",
    "        _plain_depth = 0\n",
    _DECLARE,
)
_mutant(
    "kernels-always-run-plain",
    "kernels/library.py",
    "if _plain_depth or self.built is None:",
    "if True:",
    _DECLARE,
)
_mutant(
    "kernels-always-run-built",
    "kernels/library.py",
    "if _plain_depth or self.built is None:",
    "if self.built is None:",
    _DECLARE,
)
_mutant(
    "parts-of-groups-are-only-read",
    "kernels/types.py",
    "return replace(spec, parts=tuple(map(_written, spec.parts)))",
    "return spec",
    _DECLARE,
)
_mutant(
    "kernels-return-arrays",
    "kernels/types.py",
    "if not isinstance(specified, Scalar | None):",
    "if False:",
    _DECLARE,
)
_mutant("kernels-without-types", "kernels/types.py", "    if missing:\n", "    if False:\n", _DECLARE)
_mutant(
    "read-only-arrays-are-written",
    "kernels/library.py",
    "if spec.written and not flags.writeable:",
    "if False:",
    _LIBRARY,
)
_mutant(
    "read-only-arrays-are-refused",
    "kernels/library.py",
    "if spec.written and not flags.writeable:",
    "if not flags.writeable:",
    _LIBRARY,
)
_mutant(
    "any-order-of-items",
    "kernels/library.py",
    "if not is_fit or not flags.c_contiguous or",
    "if not is_fit or",
    _LIBRARY,
)
_mutant("unaligned-arrays-pass", "kernels/library.py", " or not flags.aligned:", ":", _LIBRARY)
_mutant(
    "any-type-of-items",
    "kernels/library.py",
    "argument.dtype == _DTYPES[spec.dtype] and argument.ndim",
    "argument.ndim",
    _LIBRARY,
)
_mutant(
    "any-number-of-axes",
    "kernels/library.py",
    "_DTYPES[spec.dtype] and argument.ndim == spec.ndim",
    "_DTYPES[spec.dtype]",
    _LIBRARY,
)
_mutant(
    "any-number-of-arguments",
    "kernels/library.py",
    "if len(arguments) != len(specs):",
    "if False:",
    _LIBRARY,
)
_mutant(
    "groups-of-any-size",
    "kernels/library.py",
    "if not isinstance(argument, tuple) or len(argument) != len(spec.parts):",
    "if not isinstance(argument, tuple):",
    _LIBRARY,
)
_mutant(
    "any-number-for-any-other",
    "kernels/library.py",
    "if not isinstance(argument, accepted):",
    "if False:",
    _LIBRARY,
)
_mutant(
    "arrays-of-files-are-refused",
    "kernels/library.py",
    "if not isinstance(argument, np.ndarray):\n                raise",
    "if True:\n                raise",
    _LIBRARY,
)
_mutant(
    "failures-of-kernels-are-lost",
    "kernels/library.py",
    "        if status not in _DONE:\n",
    "        if False:\n",
    _LIBRARY,
)
_mutant(
    "kernels-hold-the-lock",
    "kernels/library.py",
    "functions = ctypes.CDLL(str(path))",
    "functions = ctypes.PyDLL(str(path))",
    _LIBRARY,
)
_mutant(
    "changed-kernels-run-as-built",
    "kernels/library.py",
    "if library.development and digest != kernel.digest:",
    "if False:",
    _LIBRARY,
)
_mutant(
    "releases-are-compared-with-sources",
    "kernels/library.py",
    "development is not None,\n        )",
    "True,\n        )",
    _LIBRARY,
)
_mutant(
    "libraries-of-any-format", "kernels/library.py", 'if manifest["format"] != FORMAT:', "if False:", _LIBRARY
)
_mutant(
    "libraries-of-any-python",
    "kernels/library.py",
    "if development not in (None, _python()):",
    "if False:",
    _LIBRARY,
)
_mutant(
    "part-of-a-library-is-loaded",
    "kernels/library.py",
    "if path.stat().st_size != size:",
    "if False:",
    _LIBRARY,
)
_mutant(
    "missing-kernels-are-called",
    "kernels/library.py",
    "if digest is None or function is None:",
    "if function is None:",
    _LIBRARY,
)
_mutant(
    "listed-kernels-are-called",
    "kernels/library.py",
    "if digest is None or function is None:",
    "if digest is None:",
    _LIBRARY,
)
_mutant("a-warning-for-every-kernel", "kernels/library.py", "@cache\ndef _load()", "def _load()", _LIBRARY)

# Trackers ------------------------------------------------------------------------------------------------------------

_mutant(
    "steps-are-not-logged",
    "track.py",
    "writer.add_scalar(name, value, global_step=step)",
    "writer.add_scalar(name, value)",
    "compat/test_loops.py::test_tensorboard",
)
_mutant(
    "fractions-are-percent",
    "tasks/diagnosis.py",
    "float(number) * (100 if _is_fraction(metric, number) else 1)",
    "float(number)",
    "tasks/test_diagnosis.py::test_published_scores",
)
_mutant(
    "a-matching-variant-last",
    "tasks/diagnosis.py",
    "return not variant.matches,",
    "return variant.matches,",
    "tasks/test_diagnosis.py::test_the_cause_is_the_first_that_is_listed",
)

# Dense captions ------------------------------------------------------------------------------------------------------

_mutant(
    "union-is-the-sum-of-lengths",
    "dense/matching.py",
    "union = np.minimum(hull, (other_end - other_start) + end - start)",
    "union = (other_end - other_start) + end - start",
    "dense/test_dense.py::test_overlap_is_intersection_over_the_smaller_union",
)
_mutant(
    "assignment-in-any-order",
    "dense/matching.py",
    "best[i, j] + scores[i, j])\n    pairs = []\n    i, j = rows, columns",
    "best[i, j + 1] + scores[i, j])\n    pairs = []\n    i, j = rows, columns",
    "dense/test_dense.py::test_assignment_is_the_best_of_all_that_keep_the_order",
)
_mutant(
    "headers-of-captions-are-captions",
    "io/line_files.py",
    "    if any(len(cell.split()) != 1 for cell in cells):\n        return False\n    return any(",
    "    if any(len(cell.split()) != 1 for cell in cells):\n        return False\n    return False and any(",
    "io/test_harness_files.py::test_a_header_is_no_caption",
)
_mutant(
    "captions-with-names-of-columns-are-headers",
    "io/line_files.py",
    "if any(len(cell.split()) != 1 for cell in cells):",
    "if False:",
    "io/test_harness_files.py::test_a_header_is_no_caption",
)
_DENSE = "dense/test_dense.py"
_mutant(
    "pairs-only-above-the-threshold",
    "dense/densevid.py",
    "ratio[:, column] >= threshold",
    "ratio[:, column] > threshold",
    f"{_DENSE}::test_an_overlap_equal_to_the_threshold_pairs_captions_but_detects_nothing",
)
_mutant(
    "detected-at-the-threshold",
    "dense/densevid.py",
    "covered = ratio > threshold",
    "covered = ratio >= threshold",
    f"{_DENSE}::test_an_overlap_equal_to_the_threshold_pairs_captions_but_detects_nothing",
)
_mutant(
    "predictions-without-overlap-are-left-out",
    "dense/densevid.py",
    "matched or [(prediction.sentence, UNKNOWN)]",
    "matched",
    f"{_DENSE}::test_densevid_on_our_own_videos",
)
_mutant(
    "precision-of-the-last-annotator",
    "dense/densevid.py",
    "max(precision[row, column], covered.any(axis=0).mean())",
    "covered.any(axis=0).mean()",
    f"{_DENSE}::test_several_annotators",
)
_mutant(
    "recall-of-predictions",
    "dense/densevid.py",
    "covered.any(axis=1).mean()",
    "covered.any(axis=0).mean()",
    f"{_DENSE}::test_densevid_on_our_own_videos",
)
_mutant(
    "pairs-with-the-first-annotator",
    "dense/densevid.py",
    "for events, ratio in zip(video.annotators, ratios)",
    "for events, ratio in zip(video.annotators[:1], ratios)",
    f"{_DENSE}::test_densevid_on_our_own_videos",
)
_mutant(
    "references-are-candidates",
    "dense/soda.py",
    "for a, b in pairs] if swapped else pairs",
    "for a, b in pairs] if not swapped else pairs",
    f"{_DENSE}::test_soda_gives_the_metric_the_prediction_as_candidate",
)
_mutant(
    "published-events-are-sorted",
    "dense/soda.py",
    "    if not as_published:\n",
    "    if True:\n",
    f"{_DENSE}::test_the_program_of_soda_sorts_references_only_if_merged",
)
_mutant(
    "first-annotator-counts",
    "dense/soda.py",
    "means.append(max(by_annotator, key=lambda values: values[2]))",
    "means.append(by_annotator[0])",
    f"{_DENSE}::test_several_annotators",
)
_mutant(
    "merged-events-in-file-order",
    "dense/soda.py",
    "return sorted((event for events in annotators for event in events), key=lambda event: event.start)",
    "return [event for events in annotators for event in events]",
    f"{_DENSE}::test_the_program_of_soda_sorts_references_only_if_merged",
)
_mutant(
    "precision-by-events",
    "dense/soda.py",
    "total / len(video.predictions), total / len(events)",
    "total / len(events), total / len(video.predictions)",
    f"{_DENSE}::test_several_annotators",
)
_mutant(
    "soda-without-thresholds",
    "dense/soda.py",
    "ratio[ratio < threshold] = 0.0",
    "ratio[ratio < 0] = 0.0",
    f"{_DENSE}::test_soda_on_our_own_videos_by_hand",
)
_mutant(
    "soda-c-without-overlap",
    "dense/soda.py",
    "find(ratio * matrix).total",
    "find(matrix).total",
    f"{_DENSE}::test_soda_on_our_own_videos_by_hand",
)
_mutant(
    "published-keeps-empty-videos",
    "dense/dense_scores.py",
    "for video, one in videos.items() if video in predictions.videos}",
    "for video, one in videos.items()}",
    f"{_DENSE}::test_published_order_swaps_the_sentences_and_drops_videos",
)
_mutant(
    "all-predictions-are-read",
    "dense/dense_scores.py",
    "one.predictions[:MOST_PREDICTIONS]",
    "one.predictions",
    f"{_DENSE}::test_densevid_reads_a_thousand_predictions",
)
_mutant(
    "letters-outside-ascii-stay",
    "dense/dense_scores.py",
    'c if c < "\\x80" else " "',
    "c",
    f"{_DENSE}::test_letters_outside_ascii_are_removed_as_published",
)
_mutant(
    "pairs-share-one-corpus",
    "dense/pair_scores.py",
    'any(option.name == "df" for option in measure.options) and',
    "False and",
    f"{_DENSE}::test_densevid_counts_document_frequencies_inside_a_video",
)
_mutant(
    "reversed-times-pass",
    "io/event_files.py",
    "if not self.allow_reversed:",
    "if False:",
    f"{_DENSE}::test_bad_events_are_refused",
)
_mutant(
    "events-before-the-video-pass",
    "io/event_files.py",
    "if start < 0:",
    "if False:",
    f"{_DENSE}::test_bad_events_are_refused",
)
_mutant(
    "durations-are-exact",
    "io/event_files.py",
    "durations[video] + SLACK",
    "durations[video]",
    f"{_DENSE}::test_durations_are_checked",
)
_mutant(
    "durations-of-0-pass",
    "io/event_files.py",
    " or duration <= 0",
    "",
    f"{_DENSE}::test_durations_are_checked",
)
_mutant(
    "missing-sentences-pass",
    "io/event_files.py",
    "if len(times) != len(sentences):",
    "if False:",
    f"{_DENSE}::test_bad_files_are_refused",
)
_mutant(
    "videos-without-events-pass",
    "io/event_files.py",
    "        if not times:\n",
    "        if False:\n",
    f"{_DENSE}::test_empty_event_lists",
)
_mutant(
    "swapped-sides-pass",
    "dense/dense_scores.py",
    "if not events.is_prediction and all(",
    "if False and all(",
    f"{_DENSE}::test_swapped_arguments_are_refused",
)
_mutant(
    "any-vote-passes",
    "io/judgements/audio_video_sets.py",
    " and vote in (1, -1, 0)",
    "",
    "io/test_judgements.py::test_audio_pairs",
)
_mutant(
    "categories-with-numbers",
    "io/judgements/audio_video_sets.py",
    "yield match[1], value[0]",
    "yield key, value[0]",
    "io/test_judgements.py::test_audio_pairs",
)
_mutant(
    "pairs-of-any-length",
    "io/judgements/audio_video_sets.py",
    "or len(value) not in (5, 6)",
    "or len(value) < 3",
    "io/test_judgements.py::test_audio_pairs",
)
_mutant(
    "missing-pairs-are-errors",
    "io/judgements/audio_video_sets.py",
    "if match is None or value is None:",
    "if match is None:",
    "io/test_judgements.py::test_audio_pairs",
)
_mutant(
    "first-aspect-is-the-rating",
    "io/judgements/audio_video_sets.py",
    "[float(one[-1]) for one in raters]",
    "[float(one[0]) for one in raters]",
    "io/test_judgements.py::test_msvd_eval",
)

# Fluency -------------------------------------------------------------------------------------------------------------

_mutant(
    "events-overlap-only-the-event-before",
    "io/event_files.py",
    "            if ordered[place].end > ordered[latest].end:\n                latest = place\n",
    "            latest = place\n",
    f"{_DENSE}::test_overlapping_events_are_counted",
)
_mutant(
    "events-that-touch-overlap",
    "io/event_files.py",
    "ordered[place].start < ordered[latest].end and",
    "ordered[place].start <= ordered[latest].end and",
    f"{_DENSE}::test_overlapping_events_are_counted",
)
_FLUENCY = "metrics/captions/test_fluency.py"
_mutant(
    "empty-captions-are-fluent",
    "text/fluency.py",
    "            return 1.0\n",
    "            return 0.0\n",
    f"{_FLUENCY}::test_errors_are_found_and_clean_captions_are_not",
)
_mutant(
    "many-sentences-many-alarms",
    "text/fluency.py",
    "len(sentences) ** 2 * (1.0 - worst)",
    "(1.0 - worst)",
    f"{_FLUENCY}::test_descriptions_are_judged_by_their_worst_sentence",
)
_mutant(
    "descriptions-are-one-sentence",
    "text/fluency.py",
    "return sentences if len(sentences) > 1 else [caption]",
    "return [caption]",
    f"{_FLUENCY}::test_descriptions_are_judged_by_their_worst_sentence",
)
_mutant(
    "penalty-for-fluent-captions",
    "metrics/captions/fluency_penalty.py",
    "THRESHOLD, PENALTY, 1.0)",
    "THRESHOLD, 1.0, PENALTY)",
    f"{_FLUENCY}::test_penalised_scores_are_a_tenth_where_the_detector_fires",
)
_mutant(
    "no-warning-of-captions-that-are-not-fluent",
    "reporting/make_report.py",
    "fires.mean() > FLUENCY_SHARE",
    "fires.mean() < 0",
    "reporting/test_page.py::test_warning_of_captions_that_are_not_fluent",
)

_mutant(
    "critic-reads-the-fluency-of-the-wrong-caption",
    "critic/critic_scoring.py",
    "errors[candidate_rows] = error_probabilities(candidates)",
    "errors[: len(candidates)] = error_probabilities(candidates)[: len(errors)]",
    "critic/test_learning.py::test_a_critic_that_reads_fluency",
)
_mutant(
    "critic-pairs-ignore-fluency",
    "critic/critic_scoring.py",
    ".sum(1) + bias + of_errors[candidate]",
    ".sum(1) + bias",
    "critic/test_learning.py::test_scores_are_what_the_network_says_of_each_pair",
)
_mutant(
    "wrong-captions-are-fluent",
    "critic/critic_examples.py",
    'errors[selected] = self._errors([" ".join(words) for words in wrong])',
    "pass",
    "critic/test_lessons.py::test_errors_are_those_of_each_candidate",
)
_mutant(
    "errors-of-other-samples",
    "critic/critic_examples.py",
    "errors[selected] = pool.errors[rows]",
    "errors[selected] = pool.errors[: len(rows)]",
    "critic/test_lessons.py::test_errors_are_those_of_each_candidate",
)

# Descriptions --------------------------------------------------------------------------------------------------------

_DESCRIPTIONS = "metrics/captions/test_descriptions.py"
_PARAGRAPHS = "metrics/captions/test_paragraphs.py"
_mutant(
    "without-a-hat-is-a-hat",
    "metrics/captions/negated_nouns.py",
    'forms[k] == "without"',
    'forms[k] == "outwith"',
    f"{_DESCRIPTIONS}::test_negated_objects_are_not_present",
)
_mutant(
    "object-of-a-negated-verb-is-present",
    "metrics/captions/negated_nouns.py",
    'relations[i] == "dobj" or',
    'relations[i] == "iobj" or',
    f"{_DESCRIPTIONS}::test_negated_objects_are_not_present",
)
_mutant(
    "tree-beside-no-cars-is-absent",
    "metrics/captions/negated_nouns.py",
    "all(relations[k] not in _OWN for k in children[i])",
    "True",
    f"{_DESCRIPTIONS}::test_negated_objects_are_not_present",
)
_mutant(
    "references-support-what-they-deny",
    "metrics/captions/named_objects.py",
    "present = [i for i in range(len(sentence.forms)) if i not in absent]",
    "present = list(range(len(sentence.forms)))",
    f"{_DESCRIPTIONS}::test_references_that_deny_an_object_do_not_support_it",
)
_mutant(
    "negated-object-beside-a-present-one",
    "metrics/captions/paragraph_scenes.py",
    "frozenset(absent - present)",
    "frozenset(absent)",
    f"{_DESCRIPTIONS}::test_negated_objects_are_not_present",
)
_mutant(
    "pronouns-stay",
    "metrics/captions/paragraph_scenes.py",
    'texts[i] = f"the {noun}{texts[i][pronoun.end() :]}"',
    'texts[i] = f"it{texts[i][pronoun.end() :]}"',
    f"{_DESCRIPTIONS}::test_pronouns_stand_for_the_noun_before_them",
)
_mutant(
    "para-spice-precision-is-recall",
    "metrics/captions/para_spice.py",
    '"P": (2,',
    '"P": (3,',
    f"{_PARAGRAPHS}::test_precision_and_recall_of_tuples",
)
_mutant(
    "para-score-of-the-farthest-sentence",
    "metrics/learned/para_score.py",
    ".argmax(axis=1)",
    ".argmin(axis=1)",
    f"{_PARAGRAPHS}::test_recall_is_of_the_nearest_sentence",
)
_mutant(
    "empty-description-without-value",
    "metrics/learned/para_score.py",
    "out=np.zeros(len(is_defined)), where",
    "out=np.full(len(is_defined), np.nan), where",
    f"{_PARAGRAPHS}::test_empty_descriptions_get_zero",
)
_mutant(
    "capture-counts-absent-kinds",
    "metrics/captions/capture.py",
    "if own or other:",
    "if True:",
    f"{_DESCRIPTIONS}::test_kinds_that_neither_side_has_do_not_count",
)
_mutant(
    "facts-by-their-best-word",
    "metrics/captions/fact_coverage.py",
    "worst = min(rows",
    "worst = max(rows",
    f"{_DESCRIPTIONS}::test_a_fact_is_covered_as_well_as_its_worst_word",
)
_mutant(
    "aloha-blames-ambiguous-objects",
    "metrics/captions/aloha.py",
    "row._replace(is_ambiguous=True)",
    "row._replace(is_ambiguous=False)",
    "metrics/captions/test_aloha.py::test_hedged_objects_and_alternatives_do_not_count",
)
_mutant(
    "aloha-ignores-how-many-references-agree",
    "metrics/captions/aloha.py",
    "return bits.bit_count() / max(image.references, 1)",
    "return float(bits > 0)",
    "metrics/captions/test_aloha.py::test_more_references_that_name_an_object_support_it_more",
)

_AMBER = "metrics/captions/test_amber.py"
_TEXTS = "metrics/captions/test_text_measures.py"
_mutant(
    "amber-blames-safe-words",
    "metrics/captions/amber.py",
    "if word in safe:",
    "if False:",
    f"{_AMBER}::test_nouns_stand_for_objects",
)
_mutant(
    "amber-inventions-are-near-true-objects",
    "metrics/captions/amber.py",
    "if own := named(word, invented):",
    "if False:",
    f"{_AMBER}::test_synonyms_are_near_enough",
)
_mutant(
    "cog-over-the-objects-of-the-image",
    "metrics/captions/amber.py",
    "[:, [5, 4]]",
    "[:, [5, 2]]",
    f"{_AMBER}::test_the_formulas",
)
_mutant(
    "amber-counts-objects-twice",
    "io/amber_files.py",
    "tuple(dict.fromkeys(map(str.lower, side or ())))",
    "tuple(map(str.lower, side or ()))",
    f"{_AMBER}::test_compressed_folders_and_single_files",
)
_mutant(
    "chair-cover-counts-mentions",
    "metrics/captions/chair.py",
    "len({mention.object for mention in row.mentioned} & own)",
    "len([mention for mention in row.mentioned if mention.object in own])",
    f"{_AMBER}::test_coverage_of_chair_s_own_objects",
)
_mutant(
    "capture-attributes-need-their-object",
    "metrics/captions/capture.py",
    "item.items[1:] if len(item.items) == 2 else item.items",
    "item.items",
    f"{_DESCRIPTIONS}::test_capture_matches_one_to_one",
)
_mutant(
    "capture-uses-a-phrase-twice",
    "metrics/captions/capture.py",
    "            del free[match]\n",
    "            pass\n",
    f"{_DESCRIPTIONS}::test_capture_matches_exactly_before_synonyms",
)
_mutant(
    "cider-r-keeps-words-whole",
    "metrics/captions/cider_r.py",
    'r"\\w+"',
    'r"\\S+"',
    f"{_DESCRIPTIONS}::test_cider_r_counts_parts_of_words_and_equals_a_plain_computation",
)
_mutant(
    "assignment-without-prices",
    "core/assignment.py",
    "column_price[is_done] += distance[is_done] - shortest",
    "pass",
    "core/test_assignment.py::test_the_sum_is_that_of_the_best_permutation",
)
_mutant(
    "aloha-matching-shares-objects",
    "metrics/captions/aloha.py",
    "assign(cells).tolist()",
    "cells.argmax(axis=1).tolist()",
    "metrics/captions/test_aloha.py::test_objects_are_assigned_one_to_one",
)
_mutant(
    "lists-are-cut-off",
    "text/endings.py",
    " and not _ITEM.match(last_line)",
    "",
    f"{_TEXTS}::test_texts_that_end",
)
_mutant(
    "quotients-of-nothing-are-numbers",
    "metrics/base.py",
    "out = np.full(np.broadcast_shapes(np.shape(part), whole.shape), otherwise)",
    "out = np.zeros(np.broadcast_shapes(np.shape(part), whole.shape))",
    "metrics/test_base.py",
)
_mutant(
    "places-count-from-the-first-run",
    "core/ragged.py",
    "return positions_of(np.zeros(len(lengths), np.int64), lengths)[0]",
    "return np.arange(int(np.sum(lengths)))",
    "core/test_ragged.py",
)
_mutant(
    "repetition-per-distinct-ngram",
    "metrics/captions/text_measures.py",
    "ratio(totals - distinct, totals)",
    "ratio(totals - distinct, distinct)",
    f"{_TEXTS}::test_repeated_ngrams",
)
_mutant(
    "any-sentence-is-an-opening",
    "metrics/captions/text_measures.py",
    "bool(sentences) and is_boilerplate(sentences[0])",
    "any(map(is_boilerplate, sentences))",
    f"{_TEXTS}::test_only_the_opening_counts",
)
_mutant(
    "reading-ease-without-syllables",
    "metrics/captions/text_measures.py",
    "84.6 * per_word",
    "84.6",
    f"{_TEXTS}::test_reading_ease",
)
_mutant(
    "cider-r-is-recommended-at-any-length",
    "results/caption_lengths.py",
    "if relative < CIDER_FACTOR and",
    "if False and",
    "results/test_length_control.py::test_very_long_captions_are_not_for_cider_r",
)
_mutant(
    "files-alone-need-references",
    "cli/score.py",
    '    if all("references" not in one.needs',
    '    if not all("references" not in one.needs',
    "cli/test_no_references.py::test_one_file_is_scored_alone",
)
