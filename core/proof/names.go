package proof

import (
	"fmt"
	"slices"
	"strings"

	"waybill/internal/lazyregexp"
)

// Names is a set of names of checks, in ascending order and separated by commas, so that sets can be compared with ==.
type Names string

// NamePattern matches the names of checks. As every id, a name has no comma.
const NamePattern = `^[A-Za-z0-9._:-]{1,128}$`

var validName = lazyregexp.New(NamePattern)

// ParseNames returns the set of the given names.
func ParseNames(names ...string) (Names, error) {
	for _, name := range names {
		if !validName.Compiled().MatchString(name) {
			return "", fmt.Errorf("the name of a check must match %s: %.140q", NamePattern, name)
		}
	}
	return join(slices.Clone(names)), nil
}

func join(names []string) Names {
	slices.Sort(names)
	return Names(strings.Join(slices.Compact(names), ","))
}

// List returns the names in ascending order.
func (n Names) List() []string {
	if n == "" {
		return nil
	}
	return strings.Split(string(n), ",")
}

// Has reports whether a name is in the set.
func (n Names) Has(name string) bool { return slices.Contains(n.List(), name) }

// and returns the union of two sets.
func (n Names) and(other Names) Names { return join(append(n.List(), other.List()...)) }

// Without returns the names that are not in the other set.
func (n Names) Without(other Names) Names { return join(slices.DeleteFunc(n.List(), other.Has)) }
