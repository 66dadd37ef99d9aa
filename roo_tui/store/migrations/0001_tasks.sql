CREATE TABLE tasks (
    id TEXT PRIMARY KEY,
    title TEXT NOT NULL,
    workspace TEXT NOT NULL,
    created_ms INTEGER NOT NULL,
    updated_ms INTEGER NOT NULL,
    head INTEGER,
    entries INTEGER NOT NULL DEFAULT 0,
    cost_usd REAL NOT NULL DEFAULT 0,
    parent_task_id TEXT NOT NULL DEFAULT '',
    parent_call_id TEXT NOT NULL DEFAULT ''
);

CREATE INDEX tasks_by_update ON tasks (updated_ms);

CREATE TABLE entries (
    task_id TEXT NOT NULL REFERENCES tasks (id),
    id INTEGER NOT NULL,
    parent_id INTEGER,
    at_ms INTEGER NOT NULL,
    version INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (task_id, id),
    FOREIGN KEY (task_id, parent_id) REFERENCES entries (task_id, id)
);

CREATE TABLE moves (
    task_id TEXT NOT NULL REFERENCES tasks (id),
    id INTEGER NOT NULL,
    from_id INTEGER,
    to_id INTEGER,
    at_ms INTEGER NOT NULL,
    reason TEXT NOT NULL,
    files_before TEXT NOT NULL,
    files_after TEXT NOT NULL,
    PRIMARY KEY (task_id, id),
    FOREIGN KEY (task_id, to_id) REFERENCES entries (task_id, id)
);

-- Ids are never given twice, so that a message that was sent cannot be mistaken for a later one.
CREATE TABLE queue (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    task_id TEXT NOT NULL REFERENCES tasks (id),
    words TEXT NOT NULL
);

CREATE TABLE drafts (
    task_id TEXT PRIMARY KEY REFERENCES tasks (id),
    version INTEGER NOT NULL,
    body TEXT NOT NULL
);

CREATE TABLE blobs (
    hash TEXT PRIMARY KEY,
    compressed BLOB NOT NULL
);

CREATE TABLE key_values (
    key TEXT PRIMARY KEY,
    json TEXT NOT NULL
);
