"""Import and export: reads other programs' formats as entry bodies, and writes tasks as text."""
