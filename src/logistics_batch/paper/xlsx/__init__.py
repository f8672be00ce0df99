"""Workbooks written and changed in place, part by part."""
