"""Database migrations: `NNNN_what.sql`, applied in order, each in one transaction. A released one never changes.

A statement ends with a semicolon at the end of a line; no other line ends with a semicolon.
"""
