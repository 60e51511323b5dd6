package engine

import (
	"waybill/engine/planfile"
	"waybill/ledger"
)

// A StatusChange is another status for an item, to be written into its plan.
type StatusChange struct {
	ledger.Marking // Plan is a path
	// Hash, if not empty, is that of the file that the caller has read.
	Hash string
	done *StatusSet // what became of the file; nil while it is as it was
}

// A StatusSet is what became of a StatusChange.
type StatusSet struct {
	Item        ledger.Item
	Fingerprint ledger.Fingerprint
	// ChangedBytes is 0 if the item had the status already.
	ChangedBytes int
	Seq          int64
}

// Applied reports whether the file has the status, whatever became of the transaction. It is called after
// the change is over.
func (c *StatusChange) Applied() bool { return c.done != nil }

// SetItemStatus writes the status into the file of the plan, and records that the plan reads differently.
// The file and the store do not change in one step: should the transaction be run again, or be lost, the
// file is not written once more. An error is a *ledger.ItemError, a *ledger.MarkError, a
// *ledger.ParseError, or one of planfile's.
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
	// Whoever looks at the plan later finds what is recorded here, and does not record it again.
	if _, err := plans.Read(c.Plan); err == nil {
		if change, ok := plans.pending(c.Plan); ok {
			if _, err := tx.announce(change); err != nil {
				return StatusSet{}, err
			}
		}
	}
	var err error
	set.Seq, err = tx.Seq()
	return set, err
}

// SetStatus writes the status into the file and records nothing, as for a workspace that has no store. The
// errors are those of Tx.SetItemStatus.
func (p *Plans) SetStatus(c *StatusChange) (StatusSet, error) {
	var set StatusSet
	last := p.lastGood(c.Plan)
	file, err := p.root.Rewrite(c.Plan, c.Hash, func(file planfile.File) (string, error) {
		reading, err := ledger.ReadPlaced(file.Text, p.Placing(file.Path))
		if c.Hash == "" && last != nil && (err != nil || reading.Len() < last.Len()) && p.settling(file) {
			// An editor that has saved a part would write the rest into a file that has lost its name.
			return "", &planfile.ConflictError{Path: c.Plan, Expected: last.Hash}
		}
		if err != nil {
			return "", err
		}
		marked, err := reading.Marked(c.Marking)
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
	set.Fingerprint = ledger.Fingerprint{MtimeMs: file.Stat.MtimeMs(), Size: file.Stat.Size, Hash: file.Hash()()}
	return set, nil
}
