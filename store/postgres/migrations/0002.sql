-- What a task depends on is found by the task, too: a task that is dropped goes with that.

CREATE INDEX dependencies_task ON dependencies (workspace, task);
