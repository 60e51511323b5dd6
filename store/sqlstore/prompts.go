package sqlstore

import (
	"waybill/core"
	"waybill/store"
)

var (
	promptNames   = []string{"run_id", "role", "at", "version", "cursor", "tokens", "text"}
	promptColumns = text{Of: func() string { return qualified("prompts", promptNames) }}
	putPrompt     = text{Of: func() string { return replacing("prompts", 2, promptNames) }}
)

// takePrompt takes promptColumns and checks them against their sum.
func takePrompt(r *Row, buf *encoder) (p store.Prompt, err error) {
	sound := r.sound(kindPrompt, len(promptNames), buf)
	p.RunID = r.Text()
	name := r.Text()
	role, known := core.ParseRole(name)
	p.Role, p.At, p.Version, p.Cursor, p.Tokens, p.Text = role, core.Instant(r.Integer()), r.Text(), r.Text(), r.Integer(), r.Text()
	if !sound || !known || r.err != nil {
		return p, Damaged("the prompt for " + name + " of run " + p.RunID)
	}
	return p, nil
}

func promptsTable() Table {
	return Table{
		Name: "prompts", columns: promptColumns.Get(), keys: 2,
		take:   func(r *Row, buf *encoder) (any, error) { return takePrompt(r, buf) },
		Insert: func(t *Tx, item any) error { return t.putPrompt(item.(store.Prompt)) },
	}
}

// putPrompt replaces the existing row without a check of its contents.
func (t *Tx) putPrompt(p store.Prompt) error {
	_, err := t.c.Exec(putPrompt.Get(), t.summed(kindPrompt, []any{
		p.RunID, p.Role.String(), int64(p.At), p.Version, p.Cursor, p.Tokens, p.Text,
	})...)
	return err
}

func (t *Tx) PutPrompt(p store.Prompt) error {
	return t.put(func() error {
		if err := p.Check(); err != nil {
			return refuse("put prompt of run %s: %v", p.RunID, err)
		}
		n, err := Number(t.c, "SELECT count(*) FROM runs WHERE runs.workspace = :w AND id = ?", p.RunID)
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

func (t *Tx) Prompt(runID string, role core.Role) (p store.Prompt, ok bool, err error) {
	err = t.get(func() error {
		return t.c.Query(func(r *Row) error {
			var err error
			p, err = takePrompt(r, &t.buf)
			ok = err == nil
			return err
		}, "SELECT "+promptColumns.Get()+" FROM prompts WHERE prompts.workspace = :w AND run_id = ? AND role = ?", runID, role.String())
	})
	return p, ok, err
}

func (t *Tx) prunePrompts(before core.Instant, limit int64) (int64, error) {
	return t.c.Exec(`DELETE FROM prompts WHERE prompts.workspace = :w AND (run_id, role) IN (
		SELECT run_id, role FROM prompts WHERE prompts.workspace = :w AND at < ? ORDER BY at, run_id, role`+limited+")", int64(before), limit)
}
