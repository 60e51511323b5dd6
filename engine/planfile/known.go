package planfile

import (
	"path"
	"strings"
)

// addKnown takes the known names that a pattern would lead to if a plan lay there, whatever does. Of a file that
// was found by another name, it is one more, and plans drops it.
func (s *search) addKnown(names, patterns []string) {
	for _, name := range names {
		if !s.fits(name, patterns) || s.root.Canonical(name) != name {
			continue
		}
		if c, err := s.root.candidate(name); err == nil || reasonOf(err) != Missing {
			s.found = append(s.found, c)
		}
	}
}

// fits reports whether walk would come by the name.
func (s *search) fits(name string, patterns []string) bool {
	for at := name; at != "."; at = path.Dir(at) {
		if s.excepted(at) {
			return false
		}
	}
	for _, pattern := range patterns {
		if !strings.HasPrefix(pattern, "!") && leadsTo(path.Clean(pattern), name) {
			return true
		}
	}
	return false
}

// leadsTo is matches for paths.
func leadsTo(pattern, name string) bool {
	wanted, parts := strings.Split(pattern, "/"), strings.Split(name, "/")
	if len(wanted) != len(parts) {
		return false
	}
	for i := range parts {
		if !matches(wanted[i], parts[i]) {
			return false
		}
	}
	return true
}

// matches reports whether a name is one that its place in a pattern means.
func matches(pattern, name string) bool {
	if !strings.ContainsAny(pattern, "*?[") {
		return pattern == name
	}
	hidden := strings.HasPrefix(name, ".") && !strings.HasPrefix(pattern, ".")
	ok, _ := path.Match(pattern, name)
	return ok && !hidden && name != "node_modules" && name != "vendor"
}
