package plan

// before returns the ids that a wait names, then those of its prerequisite, each once. Items that name no ids usually
// share one list.
func (g *Groups) before(w *Wait) []string {
	if w.Prerequisite == 0 || g.Wide {
		return w.IDs
	}
	groups := g.Prerequisites[w.Prerequisite-1].Groups
	if len(w.IDs) == 0 && len(groups) == 1 {
		shared := g.IDs[groups[0]]
		return shared[:len(shared):len(shared)]
	}
	all := w.IDs[:len(w.IDs):len(w.IDs)]
	seen := make(map[string]bool, len(w.IDs))
	for _, id := range w.IDs {
		seen[id] = true
	}
	for _, k := range groups {
		for _, id := range g.IDs[k] {
			if !seen[id] {
				seen[id] = true
				all = append(all, id)
			}
		}
	}
	return all
}

// behind returns the lists of a prerequisite that is too wide for before.
func (g *Groups) behind(w *Wait) [][]string {
	if w.Prerequisite == 0 || !g.Wide {
		return nil
	}
	groups := g.Prerequisites[w.Prerequisite-1].Groups
	lists := make([][]string, len(groups))
	for i, k := range groups {
		lists[i] = g.IDs[k]
	}
	return lists
}

// DependsOn returns the ids that an item waits for, without those of Behind.
func (r *Rows) DependsOn(item int32) []string {
	if w := r.WaitOf(item); w != nil {
		return r.Groups.before(w)
	}
	return nil
}

// Behind returns lists of further ids that an item waits for. See Item.Behind.
func (r *Rows) Behind(item int32) [][]string {
	if w := r.WaitOf(item); w != nil {
		return r.Groups.behind(w)
	}
	return nil
}
