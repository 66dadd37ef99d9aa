"""The documentation's pages, and the generator of the tables in them: `python -m docs.generate`."""
