package engine

import (
	"waybill/plan"
	"waybill/plan/edit"
	planfile "waybill/plan/file"
	"waybill/plan/read"
)

// A StatusChange is a new status of an item that is written into the plan file.
type StatusChange struct {
	plan.Marking // Plan is a path
	// Hash, if not empty, is the expected hash of the file.
	Hash string
	done *StatusSet // set once the file was written
}

// A StatusSet is the result of a StatusChange.
type StatusSet struct {
	Item        plan.Item
	Fingerprint plan.Fingerprint
	// ChangedBytes is 0 if the item already had the status.
	ChangedBytes int
	Seq          int64
}

// Applied reports whether the file was written, also if the transaction failed. It is valid once the change is
// answered.
func (c *StatusChange) Applied() bool { return c.done != nil }

// SetItemStatus writes the status into the plan file and records the change. The file is written once, even if the
// transaction runs again or fails. An error is a *plan.ItemError, a *plan.MarkError, a *plan.ParseError, or an error
// of plan/file.
func (tx *Tx) SetItemStatus(c *StatusChange) (StatusSet, error) {
	plans := tx.engine.o.Plans
	if c.done == nil {
		set, err := plans.SetStatus(c)
		if err != nil {
			return StatusSet{}, err
		}
		c.done = &set
	}
	set := *c.done
	// A later reading of the plan finds this record and does not record the change again.
	if _, err := plans.Read(c.Plan); err == nil {
		if change, ok := plans.unrecordedChange(c.Plan); ok {
			if _, err := tx.recordPlanChange(change); err != nil {
				return StatusSet{}, err
			}
		}
	}
	var err error
	set.Seq, err = tx.Seq()
	return set, err
}

// SetStatus writes the status into the plan file without recording it. It has the errors of Tx.SetItemStatus.
func (p *Plans) SetStatus(c *StatusChange) (StatusSet, error) {
	var set StatusSet
	last := p.lastGood(c.Plan)
	file, err := p.root.Rewrite(c.Plan, c.Hash, func(file planfile.File) (string, error) {
		reading, err := read.Read(file.Text, p.Placing(file.Path))
		if c.Hash == "" && last != nil && (err != nil || reading.Len() < last.Len()) && p.settling(file) {
			// An editor that is still saving would write the rest into the replaced file.
			return "", &planfile.ConflictError{Path: c.Plan, Expected: last.Hash}
		}
		if err != nil {
			return "", err
		}
		marked, err := edit.Set(reading, c.Marking)
		if err != nil {
			return "", err
		}
		set.Item = marked.Item
		if marked.Text != file.Text {
			replaced := marked.Changed.End - marked.Changed.Start
			set.ChangedBytes = max(replaced, replaced+len(marked.Text)-len(file.Text))
		}
		return marked.Text, nil
	})
	if err != nil {
		return StatusSet{}, err
	}
	set.Fingerprint = plan.Fingerprint{MtimeMs: file.Stat.MtimeMs(), Size: file.Stat.Size, Hash: file.Hash()()}
	return set, nil
}
