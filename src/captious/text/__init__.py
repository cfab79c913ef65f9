"""Text to tokens: tokenizers, vocabulary, n-gram tables, stemmer, stop words."""
