package file

import (
	"path"
	"strings"
)

// addKnown adds the known names that match a pattern and still exist, whatever they are now. If the search already
// found the file by another name, plans removes the duplicate.
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

// fits reports whether the name matches a pattern and no exception.
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

// leadsTo reports whether the path name matches a pattern, name by name.
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

// matches reports whether one name matches one element of a pattern. A wildcard skips hidden names, node_modules and
// vendor.
func matches(pattern, name string) bool {
	if !strings.ContainsAny(pattern, "*?[") {
		return pattern == name
	}
	hidden := strings.HasPrefix(name, ".") && !strings.HasPrefix(pattern, ".")
	ok, _ := path.Match(pattern, name)
	return ok && !hidden && name != "node_modules" && name != "vendor"
}
