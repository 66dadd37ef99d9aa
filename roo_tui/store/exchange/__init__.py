"""Other programs' formats: what comes in as entries' bodies, what goes out as text."""
