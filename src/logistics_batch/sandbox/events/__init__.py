"""Webhooks and their events (API §4.11, §4.12, §6): subscriptions, deliveries, and events that are odd on order."""
