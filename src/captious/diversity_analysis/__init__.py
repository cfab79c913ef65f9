"""Diversity analysis of the captions of each image (``sets``) and of whole corpora (``corpus``)."""
