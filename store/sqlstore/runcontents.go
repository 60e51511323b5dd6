package sqlstore

import (
	"waybill/core"
	"waybill/store"
	"waybill/store/record"
)

func (t runContents) Facts(runID string) (facts []store.Fact, err error) {
	err = t.get(func() error {
		found, err := every(t.c, &factRows, " AND run_id = ? ORDER BY key", runID)
		for _, f := range found {
			facts = append(facts, f.Fact)
		}
		return err
	})
	return facts, err
}

func (t runContents) PutFacts(runID string, facts []store.Fact) error {
	return t.put(func() error {
		if err := t.factsAllowed(runID, facts); err != nil {
			return err
		}
		left, err := t.makeRoom(runID, facts)
		if err != nil {
			return err
		}
		for _, f := range facts {
			if _, there := left[f.Key]; there {
				continue
			}
			if err := t.insertFact(runID, f); err != nil {
				return err
			}
		}
		t.writes++
		return nil
	})
}

// makeRoom deletes the facts of a run that differ from the given ones, and returns the values of the remaining ones.
// Few facts change at a time, and unchanged ones cost no page. If one fact is damaged, makeRoom deletes all.
func (t runContents) makeRoom(runID string, facts []store.Fact) (left map[string]string, err error) {
	wanted := make(map[string]string, len(facts))
	for _, f := range facts {
		wanted[f.Key] = f.Value
	}
	left = make(map[string]string, len(facts))
	var gone []string
	broken := false
	err = read(t.c, &factRows, func(f record.Fact, damage error) error {
		broken = broken || damage != nil
		if value, ok := wanted[f.Key]; ok && value == f.Value {
			left[f.Key] = f.Value
		} else {
			gone = append(gone, f.Key)
		}
		return nil
	}, " AND run_id = ? ORDER BY key", runID)
	if err != nil {
		return nil, err
	}
	if broken {
		_, err := t.c.Exec("DELETE FROM facts WHERE facts.workspace = :w AND run_id = ?", runID)
		return nil, err
	}
	for _, key := range gone {
		if _, err := t.c.Exec("DELETE FROM facts WHERE facts.workspace = :w AND run_id = ? AND key = ?", runID, key); err != nil {
			return nil, err
		}
	}
	return left, nil
}

func (t runContents) insertFact(runID string, f store.Fact) error {
	text, args := factRows.insert(record.Fact{RunID: runID, Fact: f})
	return t.run(text, args)
}

// factsAllowed looks before anything is deleted, so that a refusal leaves the facts as they are.
func (t runContents) factsAllowed(runID string, facts []store.Fact) error {
	keys := make(map[string]bool, len(facts))
	for _, f := range facts {
		if keys[f.Key] {
			return refuse("put facts of run %s: the key %q is given twice", runID, f.Key)
		}
		keys[f.Key] = true
	}
	n, err := Number(t.c, "SELECT count(*) FROM runs WHERE runs.workspace = :w AND id = ?", runID)
	if err == nil && n == 0 {
		return refuse("put facts: there is no run %q", runID)
	}
	return err
}

func (t runContents) putTally(of record.Tally) error {
	text, args := tallyRows.replace(of, "run_id", "name")
	return t.run(text, args)
}

func (t runContents) AddTallies(runID string, counts []store.Tally) error {
	return t.put(func() error {
		if err := t.talliesAllowed(runID, counts); err != nil {
			return err
		}
		for _, c := range store.SumTallies(counts) {
			if err := t.addTally(runID, c); err != nil {
				return err
			}
		}
		if len(counts) > 0 {
			t.writes++
		}
		return nil
	})
}

// talliesAllowed looks before anything is added, so that a refusal leaves all counters as they are.
func (t runContents) talliesAllowed(runID string, counts []store.Tally) error {
	for _, c := range counts {
		if err := c.Check(); err != nil {
			return refuse("add tallies of run %s: %v", runID, err)
		}
	}
	n, err := Number(t.c, "SELECT count(*) FROM runs WHERE runs.workspace = :w AND id = ?", runID)
	if err == nil && n == 0 {
		return refuse("add tallies: there is no run %q", runID)
	}
	return err
}

// addTally adds to one counter. A damaged counter stays as it is: its value is unknown, and a restarted counter would
// silently be too low.
func (t runContents) addTally(runID string, c store.Tally) error {
	old, _, err := one(t.c, &tallyRows, " AND run_id = ? AND name = ?", runID, c.Name)
	if err != nil {
		return t.leaveOut(err)
	}
	return t.putTally(record.Tally{RunID: runID, Tally: c.Plus(old.N)})
}

func (t runContents) Tallies(runID string) (counters []store.Tally, err error) {
	where, args := " AND run_id = ? ORDER BY name", []any{runID}
	if runID == "" {
		where, args = "", nil
	}
	err = t.get(func() error {
		found, err := sound(t.Tx, &tallyRows, where, args...)
		for _, of := range found {
			counters = append(counters, of.Tally)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return store.SumTallies(counters), nil
}

// putPrompt replaces the existing row without a check of its contents.
func (t runContents) putPrompt(p store.Prompt) error {
	text, args := promptRows.replace(p, "run_id", "role")
	return t.run(text, args)
}

func (t runContents) PutPrompt(p store.Prompt) error {
	return t.put(func() error {
		if err := p.Check(); err != nil {
			return refuse("put prompt of run %s: %v", p.RunID, err)
		}
		err := t.putPrompt(p)
		if t.c.Refused(err) {
			return refuse("put prompt: there is no run %q", p.RunID)
		}
		if err == nil {
			t.writes++
		}
		return err
	})
}

func (t runContents) Prompt(runID string, role core.Role) (p store.Prompt, ok bool, err error) {
	err = t.get(func() error {
		p, ok, err = one(t.c, &promptRows, " AND run_id = ? AND role = ?", runID, role.String())
		return err
	})
	return p, ok, err
}

func (t whole) prunePrompts(before core.Instant, limit int64) (int64, error) {
	return t.c.Exec(`DELETE FROM prompts WHERE prompts.workspace = :w AND (run_id, role) IN (
		SELECT run_id, role FROM prompts WHERE prompts.workspace = :w AND at < ? ORDER BY at, run_id, role`+limited+")", int64(before), limit)
}
