package sqlite

import (
	"waybill/core"
	"waybill/store"
)

var (
	promptNames   = []string{"run_id", "role", "at", "version", "cursor", "tokens", "text"}
	promptColumns = qualified("prompts", promptNames)
	selectPrompt  = "SELECT " + promptColumns + " FROM prompts WHERE run_id = ? AND role = ?"
	putPrompt     = replacing("prompts", promptNames)
)

// takePrompt takes promptColumns and checks them against their sum.
func takePrompt(r *row, buf *encoder) (p store.Prompt, err error) {
	sound := r.sound(kindPrompt, len(promptNames), buf)
	p.RunID = r.text()
	name := r.text()
	role, known := core.ParseRole(name)
	p.Role, p.At, p.Version, p.Cursor, p.Tokens, p.Text = role, core.Instant(r.integer()), r.text(), r.text(), r.integer(), r.text()
	if !sound || !known || r.err != nil {
		return p, damaged("the prompt for " + name + " of run " + p.RunID)
	}
	return p, nil
}

func promptsTable() table {
	return table{
		name: "prompts", columns: promptColumns, keys: 2,
		take:   func(r *row, buf *encoder) (any, error) { return takePrompt(r, buf) },
		insert: func(t *tx, item any) error { return t.putPrompt(item.(store.Prompt)) },
	}
}

// putPrompt takes the place of the row that is there, and does not look whether that is what was written.
func (t *tx) putPrompt(p store.Prompt) error {
	_, err := t.c.exec(putPrompt, t.summed(kindPrompt, []any{
		p.RunID, p.Role.String(), int64(p.At), p.Version, p.Cursor, p.Tokens, p.Text,
	})...)
	return err
}

func (t *tx) PutPrompt(p store.Prompt) error {
	return t.put(func() error {
		if err := p.Check(); err != nil {
			return refuse("put prompt of run %s: %v", p.RunID, err)
		}
		n, err := t.c.number("SELECT count(*) FROM runs WHERE id = ?", p.RunID)
		switch {
		case err != nil:
			return err
		case n == 0:
			return refuse("put prompt: there is no run %q", p.RunID)
		}
		if err := t.putPrompt(p); err != nil {
			return err
		}
		t.writes++
		return nil
	})
}

func (t *tx) Prompt(runID string, role core.Role) (p store.Prompt, ok bool, err error) {
	err = t.get(func() error {
		return t.c.query(func(r *row) error {
			var err error
			p, err = takePrompt(r, &t.buf)
			ok = err == nil
			return err
		}, selectPrompt, runID, role.String())
	})
	return p, ok, err
}

func (t *tx) prunePrompts(before core.Instant, limit int64) (int64, error) {
	return t.c.exec(`DELETE FROM prompts WHERE (run_id, role) IN (
		SELECT run_id, role FROM prompts WHERE at < ? ORDER BY at, run_id, role`+limited+")", int64(before), limit)
}
