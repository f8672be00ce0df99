"""Shipping labels (API §2.2, §4.4): what is printed, the page, the signed link to it, and labels that go wrong."""

from logistics_batch.sandbox.labels.layout import LabelPage, label_pdf

__all__ = ["LabelPage", "label_pdf"]
