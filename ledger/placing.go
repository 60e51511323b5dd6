package ledger

import (
	"slices"
	"strings"
)

// A Placing is what is known about a plan besides its text. The zero value is nothing.
type Placing struct {
	// Dialect, if not empty, is the name of the dialect that the plan is read in, whatever it says: one of
	// Dialects. Pattern is what the configuration has set it for.
	Dialect, Pattern string
	// Path is where the plan lies in its workspace, with slashes, or what Placed gives. The folders of a tool speak
	// for its dialect, but only where the text leaves it open.
	Path string
}

// hints are the folders that only one tool writes to. A path is one of them if it begins so.
var hints = []pathHint{
	{".kiro/", kiro},
	{".spec-context/", specContext},
	{".spec-workflow/", specWorkflow},
	{"openspec/", openSpec},
	{".specify/", specKit},
	{"tasks/tasks-", aiDev},
	{"docs/superpowers/plans/", superpowers},
	{"agent-os/specs/", agentOS},
	{".agent-os/specs/", agentOS},
	{"conductor/", conductor},
	{"_bmad-output/", bmad},
	{"docs/stories/", bmad},
}

// A pathHint says that plans whose paths begin so are likely those of a dialect. None begins as another one does.
type pathHint struct{ Under, Dialect string }

// Placed gives the part of a path, with slashes, that begins with the last folder in it which only one tool
// writes to, and the path itself if there is none. Whoever knows all folders above a plan gives that as the Path
// of its Placing, so that it is the same from wherever the plan is named.
func Placed(path string) string {
	last := 0
	for _, h := range hints {
		last = max(last, strings.LastIndex("/"+path, "/"+h.Under))
	}
	return path[last:]
}

// hint names the dialect that the path speaks for, "" for none, and how the path begins.
func (p *Placing) hint() (dialect, under string) {
	for _, h := range hints {
		if strings.HasPrefix(p.Path, h.Under) {
			return h.Dialect, h.Under
		}
	}
	return "", ""
}

// signal says why the dialect is set.
func (p *Placing) signal() string {
	if p.Pattern == "" {
		return "set by configuration"
	}
	return "set by configuration for " + p.Pattern
}

// evidence gives what the path speaks for, in no line of the file, unless it was said already.
func (p *Placing) evidence(said Evidence) []Evidence {
	dialect, under := p.hint()
	if dialect == "" {
		return nil
	}
	hint := Evidence{Dialect: dialect, Signal: "path that begins with " + under}
	if hint == said {
		return nil
	}
	return []Evidence{hint}
}

// among settles which dialect a numbered plan follows, of those that are read in the same way: the one of
// the path if nothing told, or if all that told are fields which the dialect of the path has, too.
func (p *Placing) among(dialect string, told bool) string {
	hint, _ := p.hint()
	switch {
	case hint != specContext && hint != specWorkflow && hint != kiro:
		return dialect
	case !told:
		return hint
	}
	return p.shared(dialect)
}

// shared names the dialect that a field of spec-context speaks for: the one of the path, if that has it as well.
func (p *Placing) shared(dialect string) string {
	if hint, _ := p.hint(); dialect == specContext && hint == specWorkflow {
		return hint
	}
	return dialect
}

// first gives the grammars with that of the path in front.
func (p *Placing) first(all []*grammar) []*grammar {
	dialect, _ := p.hint()
	g := grammarOf(dialect)
	if g == nil {
		return all
	}
	return append([]*grammar{g}, slices.DeleteFunc(slices.Clone(all), func(other *grammar) bool { return other == g })...)
}

// dictated gives the grammar that somebody has set, who is not to be argued with: the configuration, or
// else a comment in the file. It is nil if nobody has.
func (n *numbered) dictated() *grammar {
	if g := grammarOf(n.seen.placing.Dialect); g != nil {
		return g
	}
	return grammarOf(n.override.dialect)
}

// hinted gives the grammar that the path speaks for, nil if it is this one, or if the text speaks.
func (n *numbered) hinted() *grammar {
	dialect, _ := n.seen.placing.hint()
	if g := grammarOf(dialect); g != n.g && n.dictated() == nil && !n.told() {
		return g
	}
	return nil
}

// orAs gives the text as another grammar reads it, if that finds no less in it than this one, or, where this
// one finds nothing, than the one that takes every box.
func (n *numbered) orAs(g *grammar) *numbered {
	other := readAs(n.src, g, &n.seen)
	found := n.r.Len()
	if found == 0 {
		found = max(1, readAs(n.src, &looseGrammar, &n.seen).r.Len())
	}
	if other.r.Len() >= found {
		return other
	}
	return n
}
