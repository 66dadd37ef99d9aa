-- Entries are indexed again, as passages: nothing of the first index is used.
DROP TABLE search_words;
DROP TABLE search_entries;
DROP TABLE search_progress;

CREATE TABLE search_passages (
    document INTEGER PRIMARY KEY,
    task_id TEXT NOT NULL REFERENCES tasks (id),
    entry_id INTEGER NOT NULL,
    weight REAL NOT NULL
);

-- Words only; the texts stay in `entries`. `task` limits a search to the passages of one task.
CREATE VIRTUAL TABLE search_words USING fts5 (
    words,
    facts,
    task,
    content = '',
    tokenize = 'porter unicode61 remove_diacritics 2'
);

-- The newest entry of each task that is in the index.
CREATE TABLE search_progress (
    task_id TEXT PRIMARY KEY REFERENCES tasks (id),
    newest INTEGER NOT NULL
);
