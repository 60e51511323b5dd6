-- Tasks of a parent are listed and counted by their status, too. What lives of a parent is some of its statuses,
-- so it needs no index of its own any more.

DROP INDEX tasks_children;
CREATE INDEX tasks_parent_status ON tasks (parent, status, position) WHERE parent <> '';
