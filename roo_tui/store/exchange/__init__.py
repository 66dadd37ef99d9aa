"""Import and export: read other programs' formats as entry bodies, and write tasks as text."""
