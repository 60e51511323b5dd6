-- Runs are listed by what they are of and how they stand, in the order of their first put.

CREATE INDEX runs_state ON runs (state, number);
CREATE INDEX runs_plan ON runs (plan, state, number);
