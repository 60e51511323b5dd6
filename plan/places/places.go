// Package places lists where the known tools store their plans. It knows only paths, and opens no file.
package places

import (
	"path"
	"slices"
	"strings"
)

// A Place is a path pattern under which a tool stores its plans.
type Place struct {
	// Tool is the name of the tool.
	Tool string
	// Pattern is a pattern of path.Match. One that ends in "/" matches folders.
	Pattern string
	// Mixed means that other files match the pattern too. A match is then a plan only if it has items.
	Mixed bool
}

// All returns the patterns of the known tools. For a tool with several, those of its older versions come last.
func All() []Place {
	return []Place{
		{"any", "tasks.md", false},
		{"any", "TASKS.md", false},
		{"any", "docs/tasks.md", false},
		{"Kiro, cc-sdd", ".kiro/specs/*/tasks.md", false},
		{"spec-workflow", ".spec-workflow/specs/*/tasks.md", false},
		{"spec-context", ".spec-context/specs/*/tasks.md", false},
		{"OpenSpec", "openspec/changes/*/tasks.md", false},
		{"OpenSpec", "openspec/changes/*/*/tasks.md", false},
		{"spec-kit", "specs/*/tasks.md", false},
		{"spec-kit", ".specify/specs/*/tasks.md", false},
		{"superpowers", "docs/superpowers/plans/*.md", true},
		{"superpowers, tina", "docs/plans/*.md", true},
		{"Claude Code", ".claude/plans/*.md", true},
		{"Agent OS", "agent-os/specs/*/tasks.md", false},
		{"Agent OS", "agent-os/specs/*/plan.md", true},
		{"Agent OS", ".agent-os/specs/*/tasks.md", false},
		{"Conductor", "conductor/tracks.md", true},
		{"Conductor", "conductor/tracks/*/plan.md", false},
		{"BMAD", "_bmad-output/implementation-artifacts/*.md", true},
		{"BMAD", "docs/stories/*.md", true},
		{"ai-dev-tasks", "tasks/tasks-*.md", false},
		{"CCPM", ".claude/epics/*/", true},
		{"Backlog.md", "backlog/tasks/", false},
		{"task-master", ".taskmaster/tasks/tasks.json", false},
		{"task-master", ".taskmaster/tasks/", false},
		{"GSD", ".planning/phases/*/", true},
		{"spec-kitty", "kitty-specs/*/tasks.md", false},
	}
}

// exceptions exclude files that match a Place but are not plans: archives, and documents about the folder.
var exceptions = []string{
	"!openspec/changes/archive",
	"!docs/plans/README.md", "!docs/superpowers/plans/README.md", "!docs/stories/README.md",
}

// Patterns returns the patterns of all places, followed by the exceptions, which begin with "!".
func Patterns() []string {
	var patterns []string
	for _, p := range All() {
		patterns = append(patterns, p.Pattern)
	}
	return append(patterns, exceptions...)
}

// Mixed reports whether every Place that matches name also holds files that are not plans. A name without a Place is
// mixed.
func Mixed(name string) bool {
	return !slices.ContainsFunc(All(), func(p Place) bool {
		ok, _ := path.Match(path.Clean(p.Pattern), name)
		return ok && !p.Mixed
	})
}

// ShortName returns a short name for a plan. It is the name of its folder, or the base name without extension where a
// folder holds several plans.
func ShortName(name string) string {
	base := path.Base(name)
	for _, p := range All() {
		if ok, _ := path.Match(path.Clean(p.Pattern), name); !ok {
			continue
		}
		if strings.HasSuffix(p.Pattern, "/") {
			return base
		}
		if strings.Contains(path.Base(p.Pattern), "*") {
			return strings.TrimSuffix(base, path.Ext(base))
		}
	}
	return path.Base(path.Dir(name))
}

// Candidates returns the paths that a plan with this short name may have.
func Candidates(short string) []string {
	var paths []string
	for _, p := range All() {
		dir, last := path.Split(path.Clean(p.Pattern))
		dir = path.Clean(dir)
		switch {
		case strings.HasSuffix(p.Pattern, "/") && last == short:
			paths = append(paths, path.Join(dir, last))
		case strings.Contains(last, "*"):
			if strings.HasSuffix(p.Pattern, "/") {
				paths = append(paths, path.Join(dir, short))
			} else if ok, _ := path.Match(last, short+path.Ext(last)); ok {
				paths = append(paths, path.Join(dir, short+path.Ext(last)))
			}
		case path.Base(dir) == "*" && strings.Count(dir, "*") == 1:
			paths = append(paths, path.Join(path.Dir(dir), short, last))
		}
	}
	return paths
}
