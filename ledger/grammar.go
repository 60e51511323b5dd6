package ledger

// grammar is what some dialects do their own way. All of them share one pass
// over the lines: what is a checkbox, what hides it, and which lines are about
// it is the same everywhere.
type grammar struct {
	dialects []string
	// label reads what stands behind a box and notes its tags. Without one it
	// is a star, a number and a title.
	label func(n *numbered, ln *line, b *box) (id, title string)
	// decide names the dialect where the grammar has several.
	decide func(n *numbered) string
	// heading looks at a heading, which has ended the item above.
	heading func(n *numbered, ln *line, level int, text string)
	// text looks at a line of text and says whether it has dealt with it.
	text func(n *numbered, ln *line, m marker) bool
	// remark looks at the item that a box has become.
	remark func(n *numbered, ln *line, b box)
	// settle looks at all items before they are put into a tree.
	settle func(n *numbered)
	// records reads a plan that is no list of boxes, and describe one item of
	// it. A grammar that has them has nothing of the above.
	records  func(x *records)
	describe func(r *Reading, e *entry, it *Item)
	marks    []meaning
	usable   string // marks, for a message
	// unnumbered says that a box without id is an item with a derived one.
	unnumbered bool
	// tracked says that headings have boxes, and are the parents of what stands
	// below them.
	tracked bool
	// named gives a heading without what is added to it as the work goes on, so
	// that the ids below it stay.
	named func(heading string) string
	// begins is the section above the first heading.
	begins section
	// anywhere says that nothing but an item has to speak for the dialect.
	anywhere bool
	// zero says that 1.0 is the parent of 1.1.
	zero bool
	// headed says that headings are tasks, and head reads the text of one.
	headed bool
	head   func(text string) (head, bool)
	// missing says why a file with checkboxes has no item, and wanted what to
	// do about a box without id.
	missing, wanted string
}

// meaning is what a mark besides the space and x means. A status of 0 is
// settled at the end of the file.
type meaning struct {
	mark    string
	status  Status
	warning string
}

// numberedGrammar is that of spec-context, spec-workflow and kiro.
var numberedGrammar = grammar{
	dialects: []string{specContext, specWorkflow, kiro},
	decide:   func(n *numbered) string { return n.seen.decide() },
	marks:    []meaning{{"-", InProgress, ""}, {mark: "~"}},
	usable:   "a space, x or -",
	anywhere: true,
	missing:  "no checkbox outside fences and comments has a number behind it",
	wanted:   "put a number such as 1.2 and a space behind the box to make it a task",
}

// grammars are tried in this order where nothing tells them apart.
var grammars = [...]*grammar{
	&numberedGrammar, &specKitGrammar, &openSpecGrammar, &ccSDDGrammar, &aiDevGrammar,
	&conductorGrammar, &bmadGrammar, &ccpmGrammar, &headingGrammar,
	&looseGrammar, &tableGrammar,
	&backlogGrammar, &taskMasterGrammar, &epicGrammar, &gsdGrammar,
}

// Dialects returns the names of all dialects, as a comment in a file may set one.
func Dialects() []string {
	var names []string
	for _, g := range grammars {
		names = append(names, g.dialects...)
	}
	return names
}

// grammarOf returns the grammar of a dialect, nil for none.
func grammarOf(dialect string) *grammar {
	for _, g := range grammars {
		for _, name := range g.dialects {
			if name == dialect {
				return g
			}
		}
	}
	return nil
}

// stop is what stands between an id and a title.
func (g *grammar) stop() string {
	switch g {
	case &numberedGrammar, &groupedGrammar:
		return ". "
	case &ccpmGrammar:
		return ".md - "
	}
	return " "
}

// none says why there is no item.
func (n *numbered) none() string {
	if n.r.Checkboxes == 0 && n.g != &tableGrammar {
		return "no checkbox"
	}
	return n.g.missing
}

// choose returns the grammar that the signs of a first pass speak for.
func (n *numbered) choose() *grammar {
	if g := n.dictated(); g != nil {
		if g == n.g && n.kiroHeaded() {
			return &kiroHeadGrammar
		}
		return g
	}
	s := &n.seen
	switch {
	case s.story() && n.maybeStory():
		return &bmadGrammar
	case n.headed():
		return &headingGrammar
	case s.count[signalTask] > n.r.Len():
		return &specKitGrammar
	case s.conductor(n.r.Len()):
		return &conductorGrammar
	case s.bmad(n.r.Len()) && n.maybeStory():
		return &bmadGrammar
	case s.ccpm(n.r.Len()):
		return &ccpmGrammar
	case n.table():
		return &tableGrammar
	case s.first[signalBlocked]+s.first[signalPrompt]+s.first[signalLeverage] == 0 &&
		(s.first[signalParallel] > 0 && !n.outnumbered() || s.first[signalBoundary] > 0):
		return &ccSDDGrammar
	case n.kiroHeaded():
		return &kiroHeadGrammar
	case n.told() && n.grouped():
		return &groupedGrammar
	case n.told():
		return n.g
	case s.count[signalZero] > 1, s.first[signalZero] > 0 && s.first[signalRelevant] > 0:
		return &aiDevGrammar
	case s.first[signalGroup] > 0:
		return &openSpecGrammar
	case n.outnumbered():
		return &looseGrammar
	}
	return n.g
}

// outnumbered reports whether most boxes of the plan are tasks without number, so that those with one may only
// begin with a count: "2 reviewers asked". Where a tool keeps the plan, its dialect stands.
func (n *numbered) outnumbered() bool {
	hint, _ := n.seen.placing.hint()
	return n.r.Len() > 0 && n.beside > n.r.Len() && hint == "" && !n.adopted && !n.told()
}

// told reports whether something says that the plan is one of numbers and nothing else.
func (n *numbered) told() bool {
	return n.firm() || n.seen.first[signalHeading] > 0
}

// firm reports the same of what no other tool writes.
func (n *numbered) firm() bool {
	for sig := range signalHeading {
		if n.seen.first[sig] > 0 {
			return true
		}
	}
	return n.fielded
}
