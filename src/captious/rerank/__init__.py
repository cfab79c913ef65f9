"""Choosing among the captions of an n-best list: by mutual information, by consensus, by any scores (Wang et al. 2020)."""
