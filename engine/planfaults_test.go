package engine_test

import (
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/engine"
)

func TestDeletedWorkspaceKeepsTheLastGoodReading(t *testing.T) {
	plans := newPlanFixture(t)
	plans.write("tasks.md", twoItems, time.Hour)
	plans.requireItems([]string{"1", "2"}, "")
	if err := os.RemoveAll(plans.dir); err != nil {
		t.Skipf("this system does not remove a folder that is open: %v", err)
	}
	plans.requireItems([]string{"1", "2"}, engine.StaleRebuild)
	_, err := plans.List()
	var search *engine.SearchError
	require.ErrorAs(t, err, &search)
	require.True(t, search.Gone())
	require.NoError(t, os.Mkdir(plans.dir, 0o755))
	plans.write("tasks.md", twoItems, time.Hour)
	plans.requireItems([]string{"1", "2"}, "")
}
