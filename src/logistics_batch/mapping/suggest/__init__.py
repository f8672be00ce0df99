"""Proposals for a file that has no mapping yet, or no longer fits the one it has; nothing is written or applied."""

from logistics_batch.mapping.suggest.draft import Draft, draft_of
from logistics_batch.mapping.suggest.drift import Drift, drift_of, successor_of
from logistics_batch.mapping.suggest.text import draft_json, draft_text

__all__ = ["Draft", "Drift", "draft_json", "draft_of", "draft_text", "drift_of", "successor_of"]
