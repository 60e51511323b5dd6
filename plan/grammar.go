package plan

import (
	"strconv"
	"strings"

	"waybill/internal/nearest"
)

// grammar holds the differences of a dialect or a few dialects. All grammars share one pass over the lines:
// checkboxes, hidden text and the lines of an item are the same everywhere.
type grammar struct {
	dialects []string
	// label parses the text after a checkbox and records its tags. nil means a star, a number and a title.
	label func(n *numbered, ln *line, b *box) (id, title string)
	// decide returns the dialect, for a grammar with several.
	decide func(n *numbered) string
	// heading processes a heading. The item above has already ended.
	heading func(n *numbered, ln *line, level int, text string)
	// text processes a line of text, and reports whether the line needs no further processing.
	text func(n *numbered, ln *line, m marker) bool
	// remark checks the item of a checkbox and reports diagnostics.
	remark func(n *numbered, ln *line, b box)
	// settle runs over all items before they form a tree.
	settle func(n *numbered)
	// records reads a plan that is not a list of checkboxes, and describe describes one item of it. A grammar with
	// records has none of the functions above.
	records  func(x *records)
	describe func(r *Reading, e *entry, it *Item)
	marks    []meaning
	usable   string // the valid marks, for a message
	// unnumbered means that a checkbox without id is an item with a derived id.
	unnumbered bool
	// tracked means that headings have checkboxes, and are the parents of the lines below them.
	tracked bool
	// named returns a heading without text that is added to it during the work, so that derived ids below it do not
	// change.
	named func(heading string) string
	// begins is the kind of section before the first heading.
	begins section
	// anywhere means that items alone are enough evidence for the dialect.
	anywhere bool
	// zero means that 1.0 is the parent of 1.1.
	zero bool
	// headed means that headings are tasks; head parses the text of a heading.
	headed bool
	head   func(text string) (head, bool)
	// missing explains why a file with checkboxes has no item. wanted says how to make a checkbox without id a task.
	missing, wanted string
}

// meaning is the status for a mark other than space and x. Status 0 is resolved at the end of the file.
type meaning struct {
	mark    string
	status  Status
	warning string
}

// numberedGrammar is the grammar of spec-context, spec-workflow and kiro.
var numberedGrammar = grammar{
	dialects: []string{specContext, specWorkflow, kiro},
	decide:   func(n *numbered) string { return n.evidence.decide() },
	marks:    []meaning{{"-", InProgress, ""}, {mark: "~"}},
	usable:   "a space, x or -",
	anywhere: true,
	missing:  "no checkbox outside fences and comments has a number after it",
	wanted:   "put a number such as 1.2 and a space after the box to make it a task",
}

// grammars are tried in this order if there is no other evidence.
var grammars = [...]*grammar{
	&numberedGrammar, &specKitGrammar, &openSpecGrammar, &ccSDDGrammar, &aiDevGrammar,
	&conductorGrammar, &bmadGrammar, &ccpmGrammar, &headingGrammar,
	&looseGrammar, &tableGrammar,
	&backlogGrammar, &taskMasterGrammar, &epicGrammar, &gsdGrammar,
}

// Dialects returns the names of all dialects that a comment in a file can set.
func Dialects() []string {
	var names []string
	for _, g := range grammars {
		names = append(names, g.dialects...)
	}
	return names
}

// UnknownDialect says that a name is no dialect, and which one it may mean or where they are listed.
func UnknownDialect(name string) string {
	fault := "there is no dialect " + strconv.Quote(clip(name))
	if near := nearest.Names(name, Dialects()); len(near) > 0 {
		return fault + "; perhaps: " + strings.Join(near, ", ")
	}
	return fault + ": `waybill plan --help` lists them"
}

// grammarOf returns the grammar of a dialect, or nil for an unknown one.
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

// stop returns the separator between an id and a title.
func (g *grammar) stop() string {
	switch g {
	case &numberedGrammar, &groupedGrammar:
		return ". "
	case &ccpmGrammar:
		return ".md - "
	}
	return " "
}

// none returns the reason why a text has no item.
func (n *numbered) none() string {
	if n.r.Checkboxes == 0 && n.g != &tableGrammar {
		return "no checkbox"
	}
	return n.g.missing
}

// choose returns the grammar that best fits the evidence of a first pass.
func (n *numbered) choose() *grammar {
	if g := n.configured(); g != nil {
		if g == n.g && n.kiroHeaded() {
			return &kiroHeadGrammar
		}
		return g
	}
	s := &n.evidence
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
	case n.explicit() && n.grouped():
		return &groupedGrammar
	case n.explicit():
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

// outnumbered reports whether most checkboxes are tasks without a number. A leading number may then be a count: "2
// reviewers asked". In the folder of a tool, the dialect of the tool takes precedence.
func (n *numbered) outnumbered() bool {
	hint, _ := n.evidence.hints.folderDialect()
	return n.r.Len() > 0 && n.beside > n.r.Len() && hint == "" && !n.adopted && !n.explicit()
}

// explicit reports whether the text has evidence that only numbered plans have, or a heading of such plans.
func (n *numbered) explicit() bool {
	return n.exclusive() || n.evidence.first[signalHeading] > 0
}

// exclusive reports whether the text has fields or signals that only tools of numbered plans write.
func (n *numbered) exclusive() bool {
	for sig := range signalHeading {
		if n.evidence.first[sig] > 0 {
			return true
		}
	}
	return n.fielded
}
