-- The tables of all workspaces of a database; each row has the number of its workspace. What they hold, and why, is
-- what the tables of a file hold. Words and ids are text that is ordered by its bytes; what anybody may write freely is
-- bytea, because text can hold neither a zero byte nor what is not UTF-8. Every row carries sum, the first 8 bytes of a
-- SHA-256 over its values. What is looked up and may be long is indexed by its SHA-256, because an index holds nothing
-- that is long. The CHECK constraints repeat the laws of package core; they decide nothing.

-- A workspace's row is locked by whoever changes the workspace, so that changes happen one after the other.
CREATE TABLE workspaces (
	number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	name text COLLATE "C" NOT NULL UNIQUE,
	commits bigint NOT NULL DEFAULT 0 CHECK (commits >= 0)
);

-- The newest commits of each workspace, so that who lost the connection in a commit can tell what became of it.
CREATE TABLE stamps (
	workspace bigint NOT NULL REFERENCES workspaces (number),
	slot      bigint NOT NULL, -- number modulo how many are kept
	number    bigint NOT NULL,
	stamp     bytea NOT NULL,
	PRIMARY KEY (workspace, slot)
);

CREATE TABLE instructions (
	workspace bigint NOT NULL,
	position bigint NOT NULL CHECK (position >= 1),
	id text COLLATE "C" NOT NULL,
	session text COLLATE "C" NOT NULL,
	content bytea NOT NULL,
	tracked bigint NOT NULL CHECK (tracked IN (0, 1)),
	priority bigint NOT NULL CHECK (priority IN (0, 1)),
	max_retries bigint NOT NULL CHECK (max_retries >= 0),
	ack_event bytea, -- NULL: no rule
	ack_match bytea,
	trigger_event bytea, -- of a standing instruction; NULL: it has no trigger
	trigger_match bytea,
	trigger_path bytea,
	created_at bigint NOT NULL,
	state text COLLATE "C" NOT NULL CHECK (state IN ('armed', 'queued', 'sent', 'acknowledged', 'failed', 'cancelled')),
	sends bigint NOT NULL CHECK (sends BETWEEN 0 AND 1 + tracked * max_retries),
	sent_at bigint, -- of the last send
	ended_at bigint, -- acknowledged, failed or cancelled
	ack_by text COLLATE "C" CHECK (ack_by IN ('call', 'event')),
	reason bytea, -- of a cancellation
	late_ack_at bigint, -- acknowledged after it had failed
	sum bytea NOT NULL CHECK (length(sum) = 8),
	PRIMARY KEY (workspace, position),
	UNIQUE (workspace, id),
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
);
CREATE INDEX instructions_queued ON instructions (workspace, session, priority DESC, position) WHERE state = 'queued';
CREATE INDEX instructions_sent ON instructions (workspace, session, sent_at NULLS FIRST, position)
	WHERE state = 'sent' AND tracked = 1;
CREATE INDEX instructions_rule ON instructions (workspace, sha256(ack_event), position)
	WHERE ack_event IS NOT NULL AND state IN ('queued', 'sent');
CREATE INDEX instructions_trigger ON instructions (workspace, sha256(trigger_event), session, position)
	WHERE trigger_event IS NOT NULL AND state IN ('armed', 'queued', 'sent');
CREATE INDEX instructions_failed ON instructions (workspace, position) WHERE state = 'failed';
CREATE INDEX instructions_over ON instructions (workspace, coalesce(ended_at, sent_at), position)
	WHERE state IN ('acknowledged', 'cancelled') OR (state = 'sent' AND tracked = 0);

CREATE TABLE runs (
	workspace bigint NOT NULL,
	number bigint NOT NULL, -- in the order of their first put
	id text COLLATE "C" NOT NULL,
	plan bytea NOT NULL,
	item_id bytea NOT NULL,
	state text COLLATE "C" NOT NULL CHECK (state IN ('running', 'blocked', 'done', 'failed')),
	invalid_retries bigint NOT NULL,
	reviewer_fresh_runs bigint NOT NULL,
	worker_failures_max bigint NOT NULL,
	review_rejections_max bigint NOT NULL,
	stalled_threshold bigint NOT NULL,
	review_loop_threshold bigint NOT NULL,
	invalid_worker bigint NOT NULL CHECK (invalid_worker >= 0),
	invalid_spec bigint NOT NULL CHECK (invalid_spec >= 0),
	invalid_quality bigint NOT NULL CHECK (invalid_quality >= 0),
	worker_failures bigint NOT NULL CHECK (worker_failures >= 0),
	review_rejections bigint NOT NULL CHECK (review_rejections >= 0),
	stalled bigint NOT NULL CHECK (stalled >= 0),
	review_loop bigint NOT NULL CHECK (review_loop >= 0),
	check_failures_max bigint NOT NULL,
	check_failures bigint NOT NULL CHECK (check_failures >= 0),
	plan_version bigint NOT NULL CHECK (plan_version >= 1),
	revision bigint NOT NULL CHECK (revision >= 1),
	created_at bigint NOT NULL,
	updated_at bigint NOT NULL,
	halt text COLLATE "C" NOT NULL CHECK (halt IN ('', 'invalid_results', 'worker_failures', 'review_rejections', 'reviewer_gave_up',
		'check_failures', 'untrusted_checks', 'stalled', 'review_loop', 'alternating_reviews'))
		CHECK ((state = 'blocked') = (halt <> '')),
	reviewers bigint NOT NULL CHECK (reviewers BETWEEN 0 AND 7),
	standing_worker bigint NOT NULL CHECK (standing_worker BETWEEN 0 AND 7),
	standing_spec bigint NOT NULL CHECK (standing_spec BETWEEN 0 AND 7),
	standing_quality bigint NOT NULL CHECK (standing_quality BETWEEN 0 AND 7),
	naming bigint NOT NULL CHECK (naming BETWEEN 0 AND 2), -- not named, one reviewer, own names
	findings_spec bytea NOT NULL,
	findings_quality bytea NOT NULL,
	frontier bytea NOT NULL,
	result_form bigint NOT NULL CHECK (result_form IN (0, 1)), -- of the policy: headers, json
	require_key bigint NOT NULL CHECK (require_key IN (0, 1)), -- of the policy
	proof bytea NOT NULL, -- the required checks and what their receipts say, as JSON; '' without any
	sum bytea NOT NULL CHECK (length(sum) = 8),
	PRIMARY KEY (workspace, number),
	UNIQUE (workspace, id)
);
CREATE INDEX runs_item ON runs (workspace, sha256(plan), sha256(item_id), number);
CREATE INDEX runs_state ON runs (workspace, state, number);
CREATE INDEX runs_plan ON runs (workspace, sha256(plan), state, number);

CREATE TABLE facts (
	workspace bigint NOT NULL,
	run_id text COLLATE "C" NOT NULL,
	key bytea NOT NULL,
	value bytea NOT NULL,
	sum bytea NOT NULL CHECK (length(sum) = 8),
	FOREIGN KEY (workspace, run_id) REFERENCES runs (workspace, id)
);
CREATE UNIQUE INDEX facts_key ON facts (workspace, run_id, sha256(key));

CREATE TABLE events (
	workspace bigint NOT NULL,
	seq bigint NOT NULL CHECK (seq >= 1),
	at bigint NOT NULL,
	type text COLLATE "C" NOT NULL,
	subject bytea NOT NULL,
	data bytea NOT NULL,
	hash bytea NOT NULL CHECK (length(hash) = 32), -- over this record and the hash of the one before
	sum bytea NOT NULL CHECK (length(sum) = 8),
	PRIMARY KEY (workspace, seq)
);
CREATE INDEX events_subject ON events (workspace, sha256(subject), seq);

CREATE TABLE notices (
	workspace bigint NOT NULL,
	position bigint NOT NULL CHECK (position >= 1),
	id text COLLATE "C" NOT NULL,
	kind text COLLATE "C" NOT NULL,
	session text COLLATE "C" NOT NULL,
	subject bytea NOT NULL,
	text bytea NOT NULL,
	data bytea NOT NULL,
	created_at bigint NOT NULL,
	deliveries bigint NOT NULL CHECK (deliveries >= 0),
	sum bytea NOT NULL CHECK (length(sum) = 8),
	PRIMARY KEY (workspace, position),
	UNIQUE (workspace, id)
);

CREATE TABLE answers (
	workspace bigint NOT NULL,
	key bytea NOT NULL,
	fingerprint bytea NOT NULL,
	result bytea NOT NULL,
	at bigint NOT NULL,
	sum bytea NOT NULL CHECK (length(sum) = 8)
);
CREATE UNIQUE INDEX answers_key ON answers (workspace, sha256(key));
CREATE INDEX answers_at ON answers (workspace, at);

CREATE TABLE head (
	workspace bigint NOT NULL REFERENCES workspaces (number),
	one bigint NOT NULL CHECK (one = 1),
	oldest bigint NOT NULL CHECK (oldest >= 1),
	newest bigint NOT NULL CHECK (newest >= oldest - 1),
	at bigint NOT NULL, -- of the newest record
	base bytea NOT NULL CHECK (length(base) = 32), -- hash of the record before the oldest
	hash bytea NOT NULL CHECK (length(hash) = 32), -- hash of the newest record
	armed bigint NOT NULL CHECK (armed >= 0),
	queued bigint NOT NULL CHECK (queued >= 0),
	sent bigint NOT NULL CHECK (sent >= 0),
	acknowledged bigint NOT NULL CHECK (acknowledged >= 0),
	failed bigint NOT NULL CHECK (failed >= 0),
	cancelled bigint NOT NULL CHECK (cancelled >= 0),
	tasks_queued bigint NOT NULL CHECK (tasks_queued >= 0),
	tasks_running bigint NOT NULL CHECK (tasks_running >= 0),
	tasks_complete bigint NOT NULL CHECK (tasks_complete >= 0),
	tasks_awaiting bigint NOT NULL CHECK (tasks_awaiting >= 0),
	tasks_error bigint NOT NULL CHECK (tasks_error >= 0),
	tasks_cancelled bigint NOT NULL CHECK (tasks_cancelled >= 0),
	tasks_blocked bigint NOT NULL CHECK (tasks_blocked >= 0),
	sum bytea NOT NULL CHECK (length(sum) = 8),
	PRIMARY KEY (workspace, one)
);

CREATE TABLE tasks (
	workspace bigint NOT NULL,
	position bigint NOT NULL CHECK (position >= 1),
	id text COLLATE "C" NOT NULL,
	run_id bytea NOT NULL,
	role bytea NOT NULL,
	parent bytea NOT NULL,
	max_attempts bigint NOT NULL CHECK (max_attempts >= 1),
	created_at bigint NOT NULL,
	updated_at bigint NOT NULL,
	waits bigint NOT NULL CHECK (waits >= 0),
	failures bigint NOT NULL CHECK (failures BETWEEN 0 AND max_attempts),
	on_model bigint NOT NULL CHECK (on_model BETWEEN 0 AND failures),
	replies bigint NOT NULL CHECK (replies >= 0),
	status text COLLATE "C" NOT NULL CHECK (status IN (
		'QUEUED', 'RUNNING', 'COMPLETE', 'AWAITING_RESPONSE', 'ERROR', 'CANCELLED', 'BLOCKED')),
	not_before bigint NOT NULL, -- of a retry or the default of a question: when time moves it on; 0 for neither
	stopped_at bigint, -- cancelled, blocked, or asked to end while it runs
	reason bytea, -- of that, or of an ERROR
	output bytea,
	question bytea,
	offer bytea NOT NULL, -- the options of the question, a JSON object, or ''
	reply bytea CHECK (reply <> ''),
	option bytea, -- of the reply: its label
	by_time bigint NOT NULL CHECK (by_time IN (0, 1)), -- of the reply: whether time took the default
	sum bytea NOT NULL CHECK (length(sum) = 8),
	PRIMARY KEY (workspace, position),
	UNIQUE (workspace, id),
	CHECK (not_before = 0 OR status IN ('QUEUED', 'AWAITING_RESPONSE')),
	CHECK (stopped_at IS NULL OR status IN ('RUNNING', 'CANCELLED', 'BLOCKED')),
	CHECK (stopped_at IS NOT NULL OR status NOT IN ('CANCELLED', 'BLOCKED')),
	CHECK ((reason IS NULL) = (stopped_at IS NULL AND status <> 'ERROR')),
	CHECK (status <> 'ERROR' OR reason IN ('failed', 'timeout', 'retries_exhausted', 'interrupted')),
	CHECK (reply IS NULL OR replies > 0),
	CHECK (reply IS NOT NULL OR (option IS NULL AND by_time = 0)),
	CHECK (by_time = 0 OR option IS NOT NULL)
);
CREATE INDEX tasks_ready ON tasks (workspace, position, not_before)
	WHERE status = 'QUEUED' AND waits = 0;
CREATE INDEX tasks_due ON tasks (workspace, not_before, status, waits) WHERE not_before > 0;
CREATE INDEX tasks_status ON tasks (workspace, status, position);
CREATE INDEX tasks_run ON tasks (workspace, sha256(run_id), position) WHERE run_id <> '';
CREATE INDEX tasks_parent ON tasks (workspace, sha256(parent), status, position) WHERE parent <> '';

CREATE TABLE task_specs (
	workspace bigint NOT NULL,
	task bigint NOT NULL,
	prompt bytea NOT NULL,
	description bytea NOT NULL,
	chain bytea NOT NULL, -- a JSON array of triples, or ''
	depends_on bytea NOT NULL,
	labels bytea NOT NULL,
	sum bytea NOT NULL CHECK (length(sum) = 8),
	PRIMARY KEY (workspace, task),
	FOREIGN KEY (workspace, task) REFERENCES tasks (workspace, position)
);

CREATE TABLE attempts (
	workspace bigint NOT NULL,
	task bigint NOT NULL,
	number bigint NOT NULL CHECK (number >= 1),
	id text COLLATE "C" NOT NULL,
	cause text COLLATE "C" NOT NULL CHECK (cause IN ('first', 'retry', 'reply', 'request')),
	link bigint NOT NULL CHECK (link >= -1),
	provider bytea NOT NULL,
	model bytea NOT NULL,
	variant bytea NOT NULL,
	model_key bytea NOT NULL, -- of provider and model, for comparison
	created_at bigint NOT NULL,
	stale bigint NOT NULL CHECK (stale >= 0),
	status text COLLATE "C" NOT NULL CHECK (status IN (
		'pending', 'running', 'completed', 'error', 'cancelled', 'interrupted', 'lost', 'awaiting_response')),
	worker bytea NOT NULL,
	session text COLLATE "C", -- NULL: none is bound
	token text COLLATE "C", -- NULL: it never began
	started_at bigint, -- NULL: it never began
	epoch bigint CHECK (epoch = number),
	expires_at bigint, -- this, the one above and the two below: of the lease of one that runs
	length bigint,
	spared bigint CHECK (spared IN (0, 1)),
	ended_at bigint, -- NULL: it is not finished
	class text COLLATE "C" NOT NULL CHECK (class IN ('', 'transient', 'provider', 'terminal', 'user')),
	name bytea NOT NULL,
	http bigint NOT NULL,
	message bytea NOT NULL,
	digest bytea NOT NULL,
	sum bytea NOT NULL CHECK (length(sum) = 8),
	FOREIGN KEY (workspace, task) REFERENCES tasks (workspace, position),
	UNIQUE (workspace, id),
	PRIMARY KEY (workspace, task, number),
	CHECK ((status IN ('pending', 'running')) = (ended_at IS NULL)),
	CHECK ((status = 'running') = (expires_at IS NOT NULL)),
	CHECK ((expires_at IS NULL) = (length IS NULL) AND (expires_at IS NULL) = (epoch IS NULL)),
	CHECK ((expires_at IS NULL) = (spared IS NULL)),
	CHECK ((token IS NULL) = (started_at IS NULL)),
	CHECK (token <> '' AND session <> ''),
	CHECK (token IS NOT NULL OR (worker = '' AND session IS NULL AND status IN ('pending', 'cancelled'))),
	CHECK (token IS NULL OR status <> 'pending'),
	CHECK (ended_at IS NOT NULL OR (class = '' AND name = '' AND http = 0 AND message = '' AND digest = ''))
);
CREATE UNIQUE INDEX attempts_open ON attempts (workspace, task) WHERE ended_at IS NULL;
CREATE UNIQUE INDEX attempts_token ON attempts (workspace, token) WHERE token IS NOT NULL;
CREATE INDEX attempts_session ON attempts (workspace, session, number, task) WHERE session IS NOT NULL;
CREATE INDEX attempts_leased ON attempts (workspace, expires_at, id) WHERE expires_at IS NOT NULL;

CREATE TABLE replies (
	workspace bigint NOT NULL,
	task bigint NOT NULL,
	number bigint NOT NULL CHECK (number >= 1),
	attempt_id bytea NOT NULL,
	question bytea NOT NULL,
	text bytea NOT NULL,
	option bytea NOT NULL, -- its label, or ''
	by_time bigint NOT NULL CHECK (by_time IN (0, 1)), -- whether time took the default
	by bytea NOT NULL,
	at bigint NOT NULL,
	sum bytea NOT NULL CHECK (length(sum) = 8),
	CHECK (by_time = 0 OR (option <> '' AND by = '')),
	FOREIGN KEY (workspace, task) REFERENCES tasks (workspace, position),
	PRIMARY KEY (workspace, task, number)
);

CREATE TABLE dependencies (
	workspace bigint NOT NULL,
	depends_on text COLLATE "C" NOT NULL,
	task text COLLATE "C" NOT NULL,
	sum bytea NOT NULL CHECK (length(sum) = 8),
	FOREIGN KEY (workspace, depends_on) REFERENCES tasks (workspace, id),
	FOREIGN KEY (workspace, task) REFERENCES tasks (workspace, id),
	PRIMARY KEY (workspace, depends_on, task)
);
CREATE INDEX dependencies_task ON dependencies (workspace, task);

CREATE TABLE breakers (
	workspace bigint NOT NULL,
	key bytea NOT NULL,
	failures bigint NOT NULL CHECK (failures >= 0),
	opened bigint NOT NULL CHECK (opened >= 0),
	until bigint NOT NULL,
	probe bytea NOT NULL,
	probed_at bigint NOT NULL,
	sum bytea NOT NULL CHECK (length(sum) = 8)
);
CREATE UNIQUE INDEX breakers_key ON breakers (workspace, sha256(key));

CREATE TABLE tallies (
	workspace bigint NOT NULL,
	run_id text COLLATE "C" NOT NULL,
	name bytea NOT NULL CHECK (encode(name, 'escape') ~ '^[a-z0-9_.:-]{1,64}$'),
	n bigint NOT NULL CHECK (n >= 0),
	sum bytea NOT NULL CHECK (length(sum) = 8),
	FOREIGN KEY (workspace, run_id) REFERENCES runs (workspace, id),
	PRIMARY KEY (workspace, run_id, name)
);

CREATE TABLE prompts (
	workspace bigint NOT NULL,
	run_id text COLLATE "C" NOT NULL,
	role text COLLATE "C" NOT NULL CHECK (role IN ('worker', 'spec-reviewer', 'code-quality-reviewer')),
	at bigint NOT NULL,
	version bytea NOT NULL CHECK (octet_length(version) <= 64),
	cursor bytea NOT NULL CHECK (octet_length(cursor) <= 1048576),
	tokens bigint NOT NULL CHECK (tokens >= 0),
	text bytea NOT NULL CHECK (octet_length(text) <= 1048576),
	sum bytea NOT NULL CHECK (length(sum) = 8),
	FOREIGN KEY (workspace, run_id) REFERENCES runs (workspace, id),
	PRIMARY KEY (workspace, run_id, role)
);
CREATE INDEX prompts_at ON prompts (workspace, at, run_id, role);
