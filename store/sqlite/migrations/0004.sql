-- The prompt that was given last for each role of a run. What was written before this version stays as it is.

CREATE TABLE prompts (
	run_id  TEXT NOT NULL REFERENCES runs (id),
	role    TEXT NOT NULL CHECK (role IN ('worker', 'spec-reviewer', 'code-quality-reviewer')),
	at      INTEGER NOT NULL,
	version TEXT NOT NULL CHECK (octet_length(version) <= 64),
	cursor  TEXT NOT NULL CHECK (octet_length(cursor) <= 1048576),
	tokens  INTEGER NOT NULL CHECK (tokens >= 0),
	text    TEXT NOT NULL CHECK (octet_length(text) <= 1048576),
	sum     BLOB NOT NULL CHECK (length(sum) = 8),
	PRIMARY KEY (run_id, role)
) STRICT;

CREATE INDEX prompts_at ON prompts (at, run_id, role);
