"""The database's versions: `NNNN_what.sql`, applied in order, each in one transaction, never changed once released.

Statements end with a semicolon at the end of a line; no other line ends with one.
"""
