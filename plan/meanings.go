package plan

// Meanings returns the meaning of the marks "-" and "~", which differ between tools, and of the marks in a legend. It
// returns nil for a plan whose tasks are not checkboxes.
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
