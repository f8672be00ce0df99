"""The telephone: our words to HTTP and back (API §4), and what each answer proves.

Modules: `client` makes one call, `answers` says what its reply means, `pacing` keeps the rate, `links` fetches labels.
"""
