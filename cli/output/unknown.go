package output

import (
	"fmt"
	"strings"

	"waybill/internal/nearest"
)

// Unknown returns a usage error about a mistyped word of some kind. It names the known words that are near, or else says where
// all of them are listed.
func Unknown(kind, word string, known []string, where string) error {
	if near := nearest.Names(word, known); len(near) > 0 {
		where = "did you mean " + strings.Join(near, " or ") + "?"
	}
	return UsageError(fmt.Errorf("unknown %s %q: %s", kind, word, where))
}
