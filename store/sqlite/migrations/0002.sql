-- Tasks, and what belongs to them. What is long stands in tables of its own, which are written only when
-- it changes, so that what changes often is short. Nothing of an attempt is kept with its task.

CREATE TABLE tasks (
	position     INTEGER PRIMARY KEY CHECK (position >= 1),
	id           TEXT NOT NULL UNIQUE,
	run_id       TEXT NOT NULL,
	role         TEXT NOT NULL,
	parent       TEXT NOT NULL,
	max_attempts INTEGER NOT NULL CHECK (max_attempts >= 1),
	created_at   INTEGER NOT NULL,
	updated_at   INTEGER NOT NULL,
	waits        INTEGER NOT NULL CHECK (waits >= 0),
	failures     INTEGER NOT NULL CHECK (failures BETWEEN 0 AND max_attempts),
	on_model     INTEGER NOT NULL CHECK (on_model BETWEEN 0 AND failures),
	replies      INTEGER NOT NULL CHECK (replies >= 0),
	says         INTEGER NOT NULL CHECK (says IN (0, 1)),    -- whether there is a row of said
	carries      INTEGER NOT NULL CHECK (carries IN (0, 1)), -- whether there is a row of carried
	status       TEXT NOT NULL CHECK (status IN
		('QUEUED', 'RUNNING', 'COMPLETE', 'AWAITING_RESPONSE', 'ERROR', 'CANCELLED', 'BLOCKED')),
	not_before   INTEGER NOT NULL, -- of a retry that waits; 0 for at once
	stopped_at   INTEGER,          -- cancelled, blocked, or asked to end while it runs
	reason       TEXT,             -- of that, or of an ERROR
	sum          BLOB NOT NULL CHECK (length(sum) = 8),
	CHECK (not_before = 0 OR status = 'QUEUED'),
	CHECK (stopped_at IS NULL OR status IN ('RUNNING', 'CANCELLED', 'BLOCKED')),
	CHECK (stopped_at IS NOT NULL OR status NOT IN ('CANCELLED', 'BLOCKED')),
	CHECK ((reason IS NULL) = (stopped_at IS NULL AND status <> 'ERROR')),
	CHECK (status <> 'ERROR' OR reason IN ('failed', 'timeout', 'retries_exhausted', 'interrupted')),
	CHECK (carries = 0 OR replies > 0)
) STRICT;

CREATE INDEX tasks_ready ON tasks (position, not_before, role, run_id) WHERE status = 'QUEUED' AND waits = 0;
CREATE INDEX tasks_retry ON tasks (not_before) WHERE status = 'QUEUED' AND waits = 0 AND not_before > 0;
CREATE INDEX tasks_status ON tasks (status, position);
CREATE INDEX tasks_run ON tasks (run_id, position) WHERE run_id <> '';
CREATE INDEX tasks_parent ON tasks (parent, position) WHERE parent <> '';
CREATE INDEX tasks_children ON tasks (parent, position, status) WHERE parent <> '' AND status IN ('QUEUED', 'RUNNING', 'AWAITING_RESPONSE');

CREATE TABLE launches (
	task        INTEGER PRIMARY KEY REFERENCES tasks (position),
	prompt      TEXT NOT NULL,
	description TEXT NOT NULL,
	chain       TEXT NOT NULL, -- a JSON array of triples, or ''
	depends_on  TEXT NOT NULL,
	labels      TEXT NOT NULL,
	sum         BLOB NOT NULL CHECK (length(sum) = 8)
) STRICT;

CREATE TABLE said (
	task     INTEGER PRIMARY KEY REFERENCES tasks (position),
	output   TEXT NOT NULL,
	question TEXT NOT NULL,
	sum      BLOB NOT NULL CHECK (length(sum) = 8)
) STRICT;

CREATE TABLE carried (
	task  INTEGER PRIMARY KEY REFERENCES tasks (position),
	reply TEXT NOT NULL CHECK (reply <> ''),
	sum   BLOB NOT NULL CHECK (length(sum) = 8)
) STRICT;

CREATE TABLE attempts (
	task       INTEGER NOT NULL REFERENCES tasks (position),
	number     INTEGER NOT NULL CHECK (number >= 1),
	id         TEXT NOT NULL UNIQUE,
	cause      TEXT NOT NULL CHECK (cause IN ('first', 'retry', 'reply', 'request')),
	link       INTEGER NOT NULL CHECK (link >= -1),
	provider   TEXT NOT NULL,
	model      TEXT NOT NULL,
	variant    TEXT NOT NULL,
	model_key  TEXT NOT NULL, -- of provider and model, for comparison
	created_at INTEGER NOT NULL,
	stale      INTEGER NOT NULL CHECK (stale >= 0),
	status     TEXT NOT NULL CHECK (status IN ('pending', 'running', 'completed', 'error', 'cancelled',
		'interrupted', 'lost', 'awaiting_response')),
	worker     TEXT NOT NULL,
	session    TEXT,    -- NULL: none is bound
	token      TEXT,    -- NULL: it never began
	started_at INTEGER, -- NULL: it never began
	epoch      INTEGER CHECK (epoch = number),
	expires_at INTEGER, -- this, the one above and the two below: of the lease of one that runs
	length     INTEGER,
	spared     INTEGER CHECK (spared IN (0, 1)),
	ended_at   INTEGER, -- NULL: it is not finished
	class      TEXT NOT NULL CHECK (class IN ('', 'transient', 'provider', 'terminal', 'user')),
	name       TEXT NOT NULL,
	http       INTEGER NOT NULL,
	message    TEXT NOT NULL,
	digest     TEXT NOT NULL,
	sum        BLOB NOT NULL CHECK (length(sum) = 8),
	PRIMARY KEY (task, number),
	CHECK ((status IN ('pending', 'running')) = (ended_at IS NULL)),
	CHECK ((status = 'running') = (expires_at IS NOT NULL)),
	CHECK ((expires_at IS NULL) = (length IS NULL) AND (expires_at IS NULL) = (epoch IS NULL)),
	CHECK ((expires_at IS NULL) = (spared IS NULL)),
	CHECK ((token IS NULL) = (started_at IS NULL)),
	CHECK (token <> '' AND session <> ''),
	CHECK (token IS NOT NULL OR (worker = '' AND session IS NULL AND status IN ('pending', 'cancelled'))),
	CHECK (token IS NULL OR status <> 'pending'),
	CHECK (ended_at IS NOT NULL OR (class = '' AND name = '' AND http = 0 AND message = '' AND digest = ''))
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX attempts_open ON attempts (task) WHERE ended_at IS NULL;
CREATE UNIQUE INDEX attempts_token ON attempts (token) WHERE token IS NOT NULL;
CREATE INDEX attempts_session ON attempts (session, number, task) WHERE session IS NOT NULL;
CREATE INDEX attempts_leased ON attempts (expires_at, id) WHERE expires_at IS NOT NULL;

CREATE TABLE replies (
	task       INTEGER NOT NULL REFERENCES tasks (position),
	number     INTEGER NOT NULL CHECK (number >= 1),
	attempt_id TEXT NOT NULL,
	question   TEXT NOT NULL,
	text       TEXT NOT NULL,
	by         TEXT NOT NULL,
	at         INTEGER NOT NULL,
	sum        BLOB NOT NULL CHECK (length(sum) = 8),
	PRIMARY KEY (task, number)
) STRICT;

CREATE TABLE dependencies (
	depends_on TEXT NOT NULL REFERENCES tasks (id),
	task       TEXT NOT NULL REFERENCES tasks (id),
	sum        BLOB NOT NULL CHECK (length(sum) = 8),
	PRIMARY KEY (depends_on, task)
) STRICT, WITHOUT ROWID;

CREATE TABLE breakers (
	key       TEXT PRIMARY KEY,
	failures  INTEGER NOT NULL CHECK (failures >= 0),
	opened    INTEGER NOT NULL CHECK (opened >= 0),
	until     INTEGER NOT NULL,
	probe     TEXT NOT NULL,
	probed_at INTEGER NOT NULL,
	sum       BLOB NOT NULL CHECK (length(sum) = 8)
) STRICT, WITHOUT ROWID;

-- The one row of task_counts counts the tasks by status.
CREATE TABLE task_counts (
	one               INTEGER PRIMARY KEY CHECK (one = 1),
	queued            INTEGER NOT NULL CHECK (queued >= 0),
	running           INTEGER NOT NULL CHECK (running >= 0),
	complete          INTEGER NOT NULL CHECK (complete >= 0),
	awaiting_response INTEGER NOT NULL CHECK (awaiting_response >= 0),
	error             INTEGER NOT NULL CHECK (error >= 0),
	cancelled         INTEGER NOT NULL CHECK (cancelled >= 0),
	blocked           INTEGER NOT NULL CHECK (blocked >= 0),
	sum               BLOB NOT NULL CHECK (length(sum) = 8)
) STRICT;

INSERT INTO task_counts VALUES (1, 0, 0, 0, 0, 0, 0, 0, x'426d9585e5211c17');
