-- Why a run is blocked, how its roles stand, what was found in it, and what its plan wants done next. The
-- defaults say that there is nothing of that, and the sum of a row leaves the new columns out as long as
-- they all do: the sums of the rows that are there stay as they are.

-- Nothing has ever blocked a run before this version. A row that says so is not what was written, and must
-- not hold up the others, which the first of the new CHECKs would make it do. Either this is what it was,
-- or its sum goes on telling that it is not.
UPDATE runs SET state = 'running' WHERE state = 'blocked';

ALTER TABLE runs ADD COLUMN halt TEXT NOT NULL DEFAULT ''
	CHECK (halt IN ('', 'invalid_results', 'worker_failures', 'review_rejections', 'reviewer_gave_up', 'stalled',
		'review_loop', 'alternating_reviews'))
	CHECK ((state = 'blocked') = (halt <> ''));
ALTER TABLE runs ADD COLUMN reviewers INTEGER NOT NULL DEFAULT 0 CHECK (reviewers BETWEEN 0 AND 7); -- of the policy: a set of roles
ALTER TABLE runs ADD COLUMN standing_worker INTEGER NOT NULL DEFAULT 0 CHECK (standing_worker BETWEEN 0 AND 7);
ALTER TABLE runs ADD COLUMN standing_spec INTEGER NOT NULL DEFAULT 0 CHECK (standing_spec BETWEEN 0 AND 7);
ALTER TABLE runs ADD COLUMN standing_quality INTEGER NOT NULL DEFAULT 0 CHECK (standing_quality BETWEEN 0 AND 7);
ALTER TABLE runs ADD COLUMN sole INTEGER NOT NULL DEFAULT 0 CHECK (sole IN (0, 1));
ALTER TABLE runs ADD COLUMN named INTEGER NOT NULL DEFAULT 0 CHECK (named IN (0, 1));
ALTER TABLE runs ADD COLUMN findings_spec TEXT NOT NULL DEFAULT ''; -- same, swaps, "last" and "before"
ALTER TABLE runs ADD COLUMN findings_quality TEXT NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN frontier TEXT NOT NULL DEFAULT '';

CREATE TABLE tallies (
	run_id TEXT NOT NULL REFERENCES runs (id),
	name   TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 64 AND name NOT GLOB '*[^a-z0-9_.:-]*'),
	n      INTEGER NOT NULL CHECK (n >= 0),
	sum    BLOB NOT NULL CHECK (length(sum) = 8),
	PRIMARY KEY (run_id, name)
) STRICT, WITHOUT ROWID;
