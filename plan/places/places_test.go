package places_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/plan/places"
)

// A place with other files besides plans is told from one that has nothing else.
func TestMixedPlaces(t *testing.T) {
	for name, want := range map[string]bool{
		"docs/plans/a.md": true, ".claude/epics/a": true, ".planning/phases/01-a": true,
		"tasks.md": false, "specs/a/tasks.md": false, "backlog/tasks": false,
	} {
		require.Equal(t, want, places.Mixed(name), name)
	}
}
