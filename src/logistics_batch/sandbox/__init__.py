"""A sealed toy warehouse: the whole service of the API document on one machine, with an SFTP server beside it.

It shares no code with the connector (own contract, own state, own labels), so that one wrong field name cannot satisfy
both sides: it is the judge of the connector. Start it with ``python -m logistics_batch.sandbox`` or
:func:`logistics_batch.sandbox.serve.serve`.
"""
