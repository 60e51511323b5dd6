package ledger

// Meanings says what the marks "-" and "~", of which tools mean several things, and those of the legends mean in the
// boxes of the plan. It is nil for a plan whose tasks are no boxes.
func (r *Reading) Meanings() map[string]Status {
	if r.Len() == 0 || r.grammar.records != nil || r.grammar == &tableGrammar {
		return nil
	}
	n := r.legendReader()
	found := map[string]Status{"-": 0, "~": 0}
	for mark := range n.legends().marks {
		found[mark] = 0
	}
	for mark := range found {
		if found[mark] = n.reads(mark, r.Dialect); found[mark] == 0 {
			found[mark] = Pending
		}
	}
	return found
}
