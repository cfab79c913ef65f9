"""Scores of captions by the hundred million, shard by shard, on any engine (docs/howto/shards.md)."""

from __future__ import annotations

from captious.scale.engines import Dask, Engine, Executing, Local, Ray, Spark, engine
from captious.scale.run_progress import Forecast
from captious.scale.run_settings import Result, ShardSettings
from captious.scale.run_shards import forecast, score
from captious.scale.shards import Shard, ShardError, find

__all__ = [
    "Dask",
    "Engine",
    "Executing",
    "Forecast",
    "Local",
    "Ray",
    "Result",
    "Shard",
    "ShardError",
    "ShardSettings",
    "Spark",
    "engine",
    "find",
    "forecast",
    "score",
]
