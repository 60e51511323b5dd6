package postgres

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"waybill/store"
	"waybill/store/rows"
)

// heldBy lists the tables that hold what a workspace has, each behind those that it refers to. The stamps of its commits
// are not among them: they stay with the workspace, whatever it holds.
var heldBy = []string{
	"instructions", "runs", "facts", "events", "notices", "answers", "head", "tasks", "launches", "said", "carried",
	"attempts", "replies", "dependencies", "breakers", "task_counts", "tallies", "prompts",
}

// Replace makes the store what fill puts into an empty one, in one transaction: for every process that uses it, there is
// no moment at which it is something else than what it was or what it is to be, and all of them go on with that. What it
// held is in another workspace of the database from then on, whole, and aside is the name of that; it is "" if there was
// nothing. fill is called as the function of an Update is, and an error of it is returned as it is.
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

// setAside moves all that the workspace holds to a new one, whose name it gives, and leaves an empty store.
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
	if err := rows.Found(c); err != nil {
		return "", err
	}
	return name, rows.FoundTaskCounts(c)
}

// columns gives the columns of each table but that of the workspace, as they are listed in a statement.
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
		if table == "head" || table == "task_counts" {
			continue
		}
		found, err := c.script(c.ctx, fmt.Sprintf("SELECT count(*) FROM (SELECT FROM %s WHERE workspace = %d LIMIT 1) AS one", table, c.s.number))
		if err != nil || found[0] > 0 {
			return found != nil, err
		}
	}
	return false, nil
}

// copyAside copies all that the workspace holds to a new one, and gives the name of that.
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

// longestKept is how much of the name of a workspace is kept in that of what was set aside.
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
