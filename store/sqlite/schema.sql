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
	trigger_event TEXT,  -- of a standing instruction; NULL: it has no trigger
	trigger_match TEXT,
	trigger_path  TEXT,
	created_at  INTEGER NOT NULL,
	state       TEXT NOT NULL CHECK (state IN ('armed', 'queued', 'sent', 'acknowledged', 'failed', 'cancelled')),
	sends       INTEGER NOT NULL CHECK (sends BETWEEN 0 AND 1 + tracked * max_retries),
	sent_at     INTEGER, -- of the last send
	ended_at    INTEGER, -- acknowledged, failed or cancelled
	ack_by      TEXT CHECK (ack_by IN ('call', 'event')),
	reason      TEXT,    -- of a cancellation
	late_ack_at INTEGER, -- acknowledged after it had failed
	sum         BLOB NOT NULL CHECK (length(sum) = 8),
	CHECK ((ack_event IS NULL) = (ack_match IS NULL)),
	CHECK ((sends = 0) = (sent_at IS NULL)),
	CHECK ((trigger_event IS NULL) = (trigger_match IS NULL)),
	CHECK ((trigger_event IS NULL) = (trigger_path IS NULL)),
	CHECK (trigger_event IS NULL OR (tracked = 1 AND state NOT IN ('acknowledged', 'failed'))),
	CHECK (state <> 'armed' OR trigger_event IS NOT NULL),
	CHECK (state NOT IN ('armed', 'queued') OR sends = 0),
	CHECK (state NOT IN ('sent', 'failed') OR sends > 0),
	CHECK (state NOT IN ('acknowledged', 'failed') OR tracked = 1),
	CHECK ((state IN ('armed', 'queued', 'sent')) = (ended_at IS NULL)),
	CHECK ((state = 'acknowledged') = (ack_by IS NOT NULL)),
	CHECK ((state = 'cancelled') = (reason IS NOT NULL)),
	CHECK (late_ack_at IS NULL OR state = 'failed')
) STRICT;

-- Each index holds only what one question asks for, so that most changes touch one or two of them.
CREATE INDEX instructions_queued ON instructions (session, priority DESC, position) WHERE state = 'queued';
CREATE INDEX instructions_sent ON instructions (session, sent_at, position) WHERE state = 'sent' AND tracked = 1;
CREATE INDEX instructions_rule ON instructions (ack_event, position) WHERE ack_event IS NOT NULL AND state IN ('queued', 'sent');
CREATE INDEX instructions_trigger ON instructions (trigger_event, session, position) WHERE trigger_event IS NOT NULL AND state IN ('armed', 'queued', 'sent');
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
	check_failures_max    INTEGER NOT NULL,
	check_failures        INTEGER NOT NULL CHECK (check_failures >= 0),
	plan_version          INTEGER NOT NULL CHECK (plan_version >= 1),
	revision              INTEGER NOT NULL CHECK (revision >= 1),
	created_at            INTEGER NOT NULL,
	updated_at            INTEGER NOT NULL,
	halt                  TEXT NOT NULL CHECK (halt IN ('', 'invalid_results', 'worker_failures', 'review_rejections',
		'reviewer_gave_up', 'check_failures', 'untrusted_checks', 'stalled', 'review_loop', 'alternating_reviews')),
	reviewers             INTEGER NOT NULL CHECK (reviewers BETWEEN 0 AND 7), -- of the policy: a set of roles
	standing_worker       INTEGER NOT NULL CHECK (standing_worker BETWEEN 0 AND 7),
	standing_spec         INTEGER NOT NULL CHECK (standing_spec BETWEEN 0 AND 7),
	standing_quality      INTEGER NOT NULL CHECK (standing_quality BETWEEN 0 AND 7),
	naming                INTEGER NOT NULL CHECK (naming BETWEEN 0 AND 2), -- not named, one reviewer, own names
	findings_spec         TEXT NOT NULL, -- same, swaps, "last" and "before"
	findings_quality      TEXT NOT NULL,
	frontier              TEXT NOT NULL,
	result_form           INTEGER NOT NULL CHECK (result_form IN (0, 1)), -- of the policy: headers, json
	require_key           INTEGER NOT NULL CHECK (require_key IN (0, 1)), -- of the policy
	proof                 TEXT NOT NULL, -- the required checks and what their receipts say, as JSON; '' without any
	sum                   BLOB NOT NULL CHECK (length(sum) = 8),
	CHECK ((state = 'blocked') = (halt <> ''))
) STRICT;

CREATE INDEX runs_item ON runs (plan, item_id, number);
CREATE INDEX runs_state ON runs (state, number);
CREATE INDEX runs_plan ON runs (plan, state, number);

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

-- The one row of head sums up the event log and counts the instructions and the tasks. It makes the loss of the
-- newest records noticeable, which a chain of hashes alone cannot do.
CREATE TABLE head (
	one          INTEGER PRIMARY KEY CHECK (one = 1),
	oldest       INTEGER NOT NULL CHECK (oldest >= 1),
	newest       INTEGER NOT NULL CHECK (newest >= oldest - 1),
	at           INTEGER NOT NULL, -- of the newest record
	base         BLOB NOT NULL CHECK (length(base) = 32), -- hash of the record before the oldest
	hash         BLOB NOT NULL CHECK (length(hash) = 32), -- hash of the newest record
	armed        INTEGER NOT NULL CHECK (armed >= 0),
	queued       INTEGER NOT NULL CHECK (queued >= 0),
	sent         INTEGER NOT NULL CHECK (sent >= 0),
	acknowledged INTEGER NOT NULL CHECK (acknowledged >= 0),
	failed       INTEGER NOT NULL CHECK (failed >= 0),
	cancelled    INTEGER NOT NULL CHECK (cancelled >= 0),
	tasks_queued    INTEGER NOT NULL CHECK (tasks_queued >= 0),
	tasks_running   INTEGER NOT NULL CHECK (tasks_running >= 0),
	tasks_complete  INTEGER NOT NULL CHECK (tasks_complete >= 0),
	tasks_awaiting  INTEGER NOT NULL CHECK (tasks_awaiting >= 0),
	tasks_error     INTEGER NOT NULL CHECK (tasks_error >= 0),
	tasks_cancelled INTEGER NOT NULL CHECK (tasks_cancelled >= 0),
	tasks_blocked   INTEGER NOT NULL CHECK (tasks_blocked >= 0),
	sum          BLOB NOT NULL CHECK (length(sum) = 8)
) STRICT;

CREATE TABLE tallies (
	run_id TEXT NOT NULL REFERENCES runs (id),
	name   TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 64 AND name NOT GLOB '*[^a-z0-9_.:-]*'),
	n      INTEGER NOT NULL CHECK (n >= 0),
	sum    BLOB NOT NULL CHECK (length(sum) = 8),
	PRIMARY KEY (run_id, name)
) STRICT, WITHOUT ROWID;

-- The prompt that was given last for each role of a run. length of a BLOB, because the sqlite3 of Debian stable does not
-- know octet_length.
CREATE TABLE prompts (
	run_id  TEXT NOT NULL REFERENCES runs (id),
	role    TEXT NOT NULL CHECK (role IN ('worker', 'spec-reviewer', 'code-quality-reviewer')),
	at      INTEGER NOT NULL,
	version TEXT NOT NULL CHECK (length(CAST(version AS BLOB)) <= 64),
	cursor  TEXT NOT NULL CHECK (length(CAST(cursor AS BLOB)) <= 1048576),
	tokens  INTEGER NOT NULL CHECK (tokens >= 0),
	text    TEXT NOT NULL CHECK (length(CAST(text AS BLOB)) <= 1048576),
	sum     BLOB NOT NULL CHECK (length(sum) = 8),
	PRIMARY KEY (run_id, role)
) STRICT;

CREATE INDEX prompts_at ON prompts (at, run_id, role);

-- A task has two rows. Its spec never changes and may be long; what changes is short until the task has an output, and it
-- seldom changes afterwards. Nothing of an attempt is kept with its task.

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
	status       TEXT NOT NULL CHECK (status IN
		('QUEUED', 'RUNNING', 'COMPLETE', 'AWAITING_RESPONSE', 'ERROR', 'CANCELLED', 'BLOCKED')),
	not_before   INTEGER NOT NULL, -- of a retry or the default of a question: when time moves it on; 0 for neither
	stopped_at   INTEGER,          -- cancelled, blocked, or asked to end while it runs
	reason       TEXT,             -- of that, or of an ERROR
	output       TEXT,
	question     TEXT,
	offer        TEXT NOT NULL,    -- the options of the question, a JSON object, or ''
	reply        TEXT CHECK (reply <> ''),
	option       TEXT,             -- of the reply: its label
	by_time      INTEGER NOT NULL CHECK (by_time IN (0, 1)), -- of the reply: whether time took the default
	sum          BLOB NOT NULL CHECK (length(sum) = 8),
	CHECK (not_before = 0 OR status IN ('QUEUED', 'AWAITING_RESPONSE')),
	CHECK (stopped_at IS NULL OR status IN ('RUNNING', 'CANCELLED', 'BLOCKED')),
	CHECK (stopped_at IS NOT NULL OR status NOT IN ('CANCELLED', 'BLOCKED')),
	CHECK ((reason IS NULL) = (stopped_at IS NULL AND status <> 'ERROR')),
	CHECK (status <> 'ERROR' OR reason IN ('failed', 'timeout', 'retries_exhausted', 'interrupted')),
	CHECK (reply IS NULL OR replies > 0),
	CHECK (reply IS NOT NULL OR (option IS NULL AND by_time = 0)),
	CHECK (by_time = 0 OR option IS NOT NULL)
) STRICT;

CREATE INDEX tasks_ready ON tasks (position, not_before, role, run_id) WHERE status = 'QUEUED' AND waits = 0;
CREATE INDEX tasks_due ON tasks (not_before, status, waits) WHERE not_before > 0;
CREATE INDEX tasks_status ON tasks (status, position);
CREATE INDEX tasks_run ON tasks (run_id, position) WHERE run_id <> '';
CREATE INDEX tasks_parent ON tasks (parent, status, position) WHERE parent <> '';

CREATE TABLE task_specs (
	task        INTEGER PRIMARY KEY REFERENCES tasks (position),
	prompt      TEXT NOT NULL,
	description TEXT NOT NULL,
	chain       TEXT NOT NULL, -- a JSON array of triples, or ''
	depends_on  TEXT NOT NULL,
	labels      TEXT NOT NULL,
	sum         BLOB NOT NULL CHECK (length(sum) = 8)
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
	option     TEXT NOT NULL, -- its label, or ''
	by_time    INTEGER NOT NULL CHECK (by_time IN (0, 1)), -- whether time took the default
	by         TEXT NOT NULL,
	at         INTEGER NOT NULL,
	sum        BLOB NOT NULL CHECK (length(sum) = 8),
	PRIMARY KEY (task, number),
	CHECK (by_time = 0 OR (option <> '' AND by = ''))
) STRICT;

CREATE TABLE dependencies (
	depends_on TEXT NOT NULL REFERENCES tasks (id),
	task       TEXT NOT NULL REFERENCES tasks (id),
	sum        BLOB NOT NULL CHECK (length(sum) = 8),
	PRIMARY KEY (depends_on, task)
) STRICT, WITHOUT ROWID;

CREATE INDEX dependencies_task ON dependencies (task);

CREATE TABLE breakers (
	key       TEXT PRIMARY KEY,
	failures  INTEGER NOT NULL CHECK (failures >= 0),
	opened    INTEGER NOT NULL CHECK (opened >= 0),
	until     INTEGER NOT NULL,
	probe     TEXT NOT NULL,
	probed_at INTEGER NOT NULL,
	sum       BLOB NOT NULL CHECK (length(sum) = 8)
) STRICT, WITHOUT ROWID;
