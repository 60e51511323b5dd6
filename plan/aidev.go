package plan

// aiDevGrammar is the grammar of ai-dev-tasks, in which "1.0" is the parent of "1.1".
var aiDevGrammar = grammar{
	dialects: []string{aiDev},
	label: func(n *numbered, ln *line, b *box) (id, title string) {
		id, title = b.label(ln.text)
		n.tags.waits = mentioned(title)
		return id, title
	},
	zero:    true,
	usable:  "a space or x",
	wanted:  "put a number such as 1.2 and a space after the box to make it a task",
	missing: "no parents such as 1.0",
	marks: []meaning{
		{"~", Pending, `the mark "~" has no meaning in ai-dev-tasks, so the item is open: explain it in a legend, such as "[~] = skipped"`},
		{"-", Pending, `the mark "-" has no meaning in ai-dev-tasks, so the item is open: explain it in a legend, such as "[-] = skipped"`},
	},
}

// zeroth reports whether an id is one such as 1.0.
func zeroth(id string) bool {
	return len(id) > 2 && id[len(id)-2:] == ".0"
}

// above returns the id of the parent of an item.
func (g *grammar) above(n *numbered, id string) string {
	stem := ancestor(id)
	switch {
	case !g.zero || stem == "":
	case zeroth(id):
		return "" // 1.0 is not 1, and no child of it
	case n.r.find(stem+".0") >= 0:
		return stem + ".0"
	}
	return stem
}
