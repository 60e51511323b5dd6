package postgres

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"waybill/store"
	"waybill/store/sqlstore"
)

// heldBy lists the tables with the records of a workspace, each after those that it refers to. The stamps of commits
// are missing, because they stay with the workspace.
var heldBy = []string{
	"instructions", "runs", "facts", "events", "notices", "answers", "head", "tasks", "task_specs",
	"attempts", "replies", "dependencies", "breakers", "tallies", "prompts",
}

// Replace replaces the contents of the store with the records that fill puts into an empty one, in one transaction. Other
// processes see the old or the new contents and continue with them. The old contents move to another workspace of the
// database; aside is its name, or "" if the store was empty. Replace returns errors of fill unchanged.
func (s *Store) Replace(ctx context.Context, fill func(tx store.Tx) error) (aside string, err error) {
	err = s.change(ctx, func(c *conn) (err error) {
		s.recent.Forget()
		aside, err = c.setAside()
		return err
	}, fill)
	if err != nil {
		return "", err
	}
	return aside, nil
}

// setAside moves all records of the workspace to a new workspace, returns its name, and leaves an empty store.
func (c *conn) setAside() (name string, err error) {
	columns, err := c.columns()
	if err != nil {
		return "", err
	}
	holds, err := c.holds()
	if err != nil {
		return "", err
	}
	if holds {
		if name, err = c.copyAside(columns); err != nil {
			return "", err
		}
	}
	for _, table := range slices.Backward(heldBy) {
		if _, err := c.script(c.ctx, fmt.Sprintf("DELETE FROM %s WHERE workspace = %d", table, c.s.number)); err != nil {
			return "", err
		}
	}
	return name, sqlstore.Found(c)
}

// columns returns the columns of each table but that of the workspace, as they are listed in a statement.
func (c *conn) columns() (of map[string]string, err error) {
	of = make(map[string]string, len(heldBy))
	for _, table := range heldBy {
		names, err := c.texts(c.ctx, "SELECT quote_ident(column_name) FROM information_schema.columns "+
			"WHERE table_schema = 'waybill' AND table_name = '"+table+"' AND column_name <> 'workspace' ORDER BY ordinal_position")
		if err != nil {
			return nil, err
		}
		of[table] = strings.Join(names, ", ")
	}
	return of, nil
}

// holds reports whether the workspace has anything but the counts of an empty one.
func (c *conn) holds() (bool, error) {
	for _, table := range heldBy {
		if table == "head" {
			continue
		}
		found, err := c.script(c.ctx, fmt.Sprintf("SELECT count(*) FROM (SELECT FROM %s WHERE workspace = %d LIMIT 1) AS one", table, c.s.number))
		if err != nil || found[0] > 0 {
			return found != nil, err
		}
	}
	return false, nil
}

// copyAside copies all that the workspace holds to a new one, and returns the name of that.
func (c *conn) copyAside(columns map[string]string) (name string, err error) {
	name, number, err := c.newAside()
	if err != nil {
		return "", err
	}
	for _, table := range heldBy {
		if _, err := c.script(c.ctx, fmt.Sprintf("INSERT INTO %s (workspace, %s) SELECT %d, %[2]s FROM %[1]s WHERE workspace = %[4]d",
			table, columns[table], number, c.s.number)); err != nil {
			return "", err
		}
	}
	return name, nil
}

// asideNames bounds the names that are tried.
const asideNames = 100

// longestKept is the length of a workspace's name that remains in the name of its old contents.
const longestKept = 90

// newAside makes a workspace under a name that no other has.
func (c *conn) newAside() (name string, number int64, err error) {
	base := c.s.o.Workspace
	base = base[:min(len(base), longestKept)] + ".replaced-" + time.Now().UTC().Format("20060102T150405Z")
	name = base
	for n := 2; n <= asideNames; n++ {
		made, err := c.script(c.ctx, fmt.Sprintf("INSERT INTO workspaces (name, commits) SELECT '%s', commits FROM workspaces WHERE number = %d "+
			"ON CONFLICT DO NOTHING RETURNING number", name, c.s.number))
		switch {
		case err != nil:
			return "", 0, err
		case made != nil:
			return name, made[0], nil
		}
		name = fmt.Sprintf("%s-%d", base, n)
	}
	return "", 0, fault(store.Busy, nil, "there are %d workspaces named as %s in %s: try again", asideNames, base, c.s.place)
}
