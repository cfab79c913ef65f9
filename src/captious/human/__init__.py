"""Agreement of metrics with people."""

from __future__ import annotations

from captious.human.agreement import Agreement, agreement, tau_b, tau_c
from captious.human.flickr8k import Judgements, load_flickr8k

__all__ = ["Agreement", "Judgements", "agreement", "load_flickr8k", "tau_b", "tau_c"]
