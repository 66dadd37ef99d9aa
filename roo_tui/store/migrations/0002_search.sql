CREATE TABLE search_entries (
    document INTEGER PRIMARY KEY,
    task_id TEXT NOT NULL REFERENCES tasks (id),
    entry_id INTEGER NOT NULL,
    UNIQUE (task_id, entry_id)
);

-- Words only; the texts stay in `entries`.
CREATE VIRTUAL TABLE search_words USING fts5 (
    words,
    facts,
    content = '',
    tokenize = 'porter unicode61 remove_diacritics 2'
);

-- The newest entry of each task that is in the index.
CREATE TABLE search_progress (
    task_id TEXT PRIMARY KEY REFERENCES tasks (id),
    newest INTEGER NOT NULL
);
