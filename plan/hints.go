package plan

import (
	"slices"
	"strings"
)

// Hints are facts about a plan besides its text. The zero value holds none.
type Hints struct {
	// Dialect, if not empty, is the dialect of the plan, one of Dialects. Pattern is the configured pattern that set
	// it.
	Dialect, Pattern string
	// Path is the plan's path in its workspace, with slashes, or the result of HintPath. A tool's folder decides the
	// dialect only if the text does not.
	Path string
}

// toolFolders are the path prefixes that only one tool writes to.
var toolFolders = []toolFolder{
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

// A toolFolder says that plans under a path prefix likely have a dialect. No prefix begins with another.
type toolFolder struct{ Under, Dialect string }

// HintPath returns the part of a path that begins with the last folder of a tool. Without such a folder, it returns
// the whole path. Callers pass the absolute path, so that Hints.Path does not depend on the workspace.
func HintPath(path string) string {
	last := 0
	for _, h := range toolFolders {
		last = max(last, strings.LastIndex("/"+path, "/"+h.Under))
	}
	return path[last:]
}

// folderDialect returns the dialect of the tool folder in the path, and the folder. Both are "" without one.
func (p *Hints) folderDialect() (dialect, under string) {
	for _, h := range toolFolders {
		if strings.HasPrefix(p.Path, h.Under) {
			return h.Dialect, h.Under
		}
	}
	return "", ""
}

// signal explains why the dialect is set.
func (p *Hints) signal() string {
	if p.Pattern == "" {
		return "set by configuration"
	}
	return "set by configuration for " + p.Pattern
}

// evidence returns the evidence of the path, unless this is already the evidence said.
func (p *Hints) evidence(said Evidence) []Evidence {
	dialect, under := p.folderDialect()
	if dialect == "" {
		return nil
	}
	hint := Evidence{Dialect: dialect, Signal: "path that begins with " + under}
	if hint == said {
		return nil
	}
	return []Evidence{hint}
}

// resolve returns the dialect of a numbered plan. The dialect of the path decides if the text has no evidence, or only
// fields that both dialects have.
func (p *Hints) resolve(dialect string, explicit bool) string {
	hint, _ := p.folderDialect()
	switch {
	case hint != specContext && hint != specWorkflow && hint != kiro:
		return dialect
	case !explicit:
		return hint
	}
	return p.shared(dialect)
}

// shared returns the path's dialect if it also has the fields of spec-context, else dialect.
func (p *Hints) shared(dialect string) string {
	if hint, _ := p.folderDialect(); dialect == specContext && hint == specWorkflow {
		return hint
	}
	return dialect
}

// first returns the grammars, beginning with the grammar of the path.
func (p *Hints) first(all []*grammar) []*grammar {
	dialect, _ := p.folderDialect()
	g := grammarOf(dialect)
	if g == nil {
		return all
	}
	return append([]*grammar{g}, slices.DeleteFunc(slices.Clone(all), func(other *grammar) bool { return other == g })...)
}

// configured returns the grammar that the configuration or a comment in the file sets. It returns nil without one. The
// configuration takes precedence.
func (n *numbered) configured() *grammar {
	if g := grammarOf(n.evidence.hints.Dialect); g != nil {
		return g
	}
	return grammarOf(n.override.dialect)
}

// hintedGrammar returns the grammar of the path. It returns nil if that grammar is in use or the text has explicit
// evidence.
func (n *numbered) hintedGrammar() *grammar {
	dialect, _ := n.evidence.hints.folderDialect()
	if g := grammarOf(dialect); g != n.g && n.configured() == nil && !n.explicit() {
		return g
	}
	return nil
}

// orReadAs returns the text as another grammar reads it, if that finds at least as many items. If n has no items, the
// other grammar is compared with the loose grammar.
func (n *numbered) orReadAs(g *grammar) *numbered {
	other := readAs(n.src, g, &n.evidence)
	found := n.r.Len()
	if found == 0 {
		found = max(1, readAs(n.src, &looseGrammar, &n.evidence).r.Len())
	}
	if other.r.Len() >= found {
		return other
	}
	return n
}
