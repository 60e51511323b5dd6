-- Every row carries sum, the first 8 bytes of a SHA-256 over its values: SQLite itself does not notice
-- a bit that flips on the disk. The CHECK constraints repeat the laws of package core; they decide
-- nothing, they only refuse what core can never have said.

CREATE TABLE instructions (
	position    INTEGER PRIMARY KEY CHECK (position >= 1),
	id          TEXT NOT NULL UNIQUE,
	session     TEXT NOT NULL,
	content     TEXT NOT NULL,
	tracked     INTEGER NOT NULL CHECK (tracked IN (0, 1)),
	priority    INTEGER NOT NULL CHECK (priority IN (0, 1)),
	max_retries INTEGER NOT NULL CHECK (max_retries >= 0),
	ack_event   TEXT,    -- NULL: no rule
	ack_match   TEXT,
	created_at  INTEGER NOT NULL,
	state       TEXT NOT NULL CHECK (state IN ('queued', 'sent', 'acknowledged', 'failed', 'cancelled')),
	sends       INTEGER NOT NULL CHECK (sends BETWEEN 0 AND 1 + tracked * max_retries),
	sent_at     INTEGER, -- of the last send
	ended_at    INTEGER, -- acknowledged, failed or cancelled
	ack_by      TEXT CHECK (ack_by IN ('call', 'event')),
	reason      TEXT,    -- of a cancellation
	late_ack_at INTEGER, -- acknowledged after it had failed
	sum         BLOB NOT NULL CHECK (length(sum) = 8),
	CHECK ((ack_event IS NULL) = (ack_match IS NULL)),
	CHECK ((sends = 0) = (sent_at IS NULL)),
	CHECK (state <> 'queued' OR sends = 0),
	CHECK (state NOT IN ('sent', 'failed') OR sends > 0),
	CHECK (state NOT IN ('acknowledged', 'failed') OR tracked = 1),
	CHECK ((state IN ('queued', 'sent')) = (ended_at IS NULL)),
	CHECK ((state = 'acknowledged') = (ack_by IS NOT NULL)),
	CHECK ((state = 'cancelled') = (reason IS NOT NULL)),
	CHECK (late_ack_at IS NULL OR state = 'failed')
) STRICT;

-- Each index holds only what one question asks for, so that most changes touch one or two of them.
CREATE INDEX instructions_queued ON instructions (session, priority DESC, position) WHERE state = 'queued';
CREATE INDEX instructions_sent ON instructions (session, sent_at, position) WHERE state = 'sent' AND tracked = 1;
CREATE INDEX instructions_rule ON instructions (ack_event, position) WHERE ack_event IS NOT NULL AND state IN ('queued', 'sent');
CREATE INDEX instructions_failed ON instructions (position) WHERE state = 'failed';
CREATE INDEX instructions_over ON instructions (coalesce(ended_at, sent_at), position)
	WHERE state IN ('acknowledged', 'cancelled') OR (state = 'sent' AND tracked = 0);

CREATE TABLE runs (
	number                INTEGER PRIMARY KEY, -- in the order of their first put
	id                    TEXT NOT NULL UNIQUE,
	plan                  TEXT NOT NULL,
	item_id               TEXT NOT NULL,
	state                 TEXT NOT NULL CHECK (state IN ('running', 'blocked', 'done', 'failed')),
	invalid_retries       INTEGER NOT NULL,
	reviewer_fresh_runs   INTEGER NOT NULL,
	worker_failures_max   INTEGER NOT NULL,
	review_rejections_max INTEGER NOT NULL,
	stalled_threshold     INTEGER NOT NULL,
	review_loop_threshold INTEGER NOT NULL,
	invalid_worker        INTEGER NOT NULL CHECK (invalid_worker >= 0),
	invalid_spec          INTEGER NOT NULL CHECK (invalid_spec >= 0),
	invalid_quality       INTEGER NOT NULL CHECK (invalid_quality >= 0),
	worker_failures       INTEGER NOT NULL CHECK (worker_failures >= 0),
	review_rejections     INTEGER NOT NULL CHECK (review_rejections >= 0),
	stalled               INTEGER NOT NULL CHECK (stalled >= 0),
	review_loop           INTEGER NOT NULL CHECK (review_loop >= 0),
	plan_version          INTEGER NOT NULL CHECK (plan_version >= 1),
	revision              INTEGER NOT NULL CHECK (revision >= 1),
	created_at            INTEGER NOT NULL,
	updated_at            INTEGER NOT NULL,
	sum                   BLOB NOT NULL CHECK (length(sum) = 8)
) STRICT;

CREATE INDEX runs_item ON runs (plan, item_id, number);

CREATE TABLE facts (
	run_id TEXT NOT NULL REFERENCES runs (id),
	key    TEXT NOT NULL,
	value  TEXT NOT NULL,
	sum    BLOB NOT NULL CHECK (length(sum) = 8),
	PRIMARY KEY (run_id, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE events (
	seq     INTEGER PRIMARY KEY CHECK (seq >= 1),
	at      INTEGER NOT NULL,
	type    TEXT NOT NULL,
	subject TEXT NOT NULL,
	data    TEXT NOT NULL,
	hash    BLOB NOT NULL CHECK (length(hash) = 32), -- over this record and the hash of the one before
	sum     BLOB NOT NULL CHECK (length(sum) = 8)
) STRICT;

CREATE INDEX events_subject ON events (subject, seq);

CREATE TABLE notices (
	position   INTEGER PRIMARY KEY CHECK (position >= 1),
	id         TEXT NOT NULL UNIQUE,
	kind       TEXT NOT NULL,
	session    TEXT NOT NULL,
	subject    TEXT NOT NULL,
	text       TEXT NOT NULL,
	data       TEXT NOT NULL,
	created_at INTEGER NOT NULL,
	deliveries INTEGER NOT NULL CHECK (deliveries >= 0),
	sum        BLOB NOT NULL CHECK (length(sum) = 8)
) STRICT;

CREATE TABLE answers (
	key         TEXT PRIMARY KEY,
	fingerprint TEXT NOT NULL,
	result      TEXT NOT NULL,
	at          INTEGER NOT NULL,
	sum         BLOB NOT NULL CHECK (length(sum) = 8)
) STRICT, WITHOUT ROWID;

CREATE INDEX answers_at ON answers (at);

-- The one row of head sums up the event log and counts the instructions. It makes the loss of the
-- newest records noticeable, which a chain of hashes alone cannot do.
CREATE TABLE head (
	one          INTEGER PRIMARY KEY CHECK (one = 1),
	oldest       INTEGER NOT NULL CHECK (oldest >= 1),
	newest       INTEGER NOT NULL CHECK (newest >= oldest - 1),
	at           INTEGER NOT NULL, -- of the newest record
	base         BLOB NOT NULL CHECK (length(base) = 32), -- hash of the record before the oldest
	hash         BLOB NOT NULL CHECK (length(hash) = 32), -- hash of the newest record
	queued       INTEGER NOT NULL CHECK (queued >= 0),
	sent         INTEGER NOT NULL CHECK (sent >= 0),
	acknowledged INTEGER NOT NULL CHECK (acknowledged >= 0),
	failed       INTEGER NOT NULL CHECK (failed >= 0),
	cancelled    INTEGER NOT NULL CHECK (cancelled >= 0),
	sum          BLOB NOT NULL CHECK (length(sum) = 8)
) STRICT;
