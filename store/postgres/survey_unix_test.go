//go:build unix

package postgres_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/doctor"
	"waybill/store/postgres"
	"waybill/store/postgres/pgtest"
)

// TestSurveyBehindAPooler: it is said, and a URL that denies it is wrong.
func TestSurveyBehindAPooler(t *testing.T) {
	direct := options(t, pgtest.Shared(t))
	require.NoError(t, open(t, direct).Update(t.Context(), appendOne))
	o := postgres.Options{URL: startPooler(t, direct.URL), Workspace: direct.Workspace}
	found := examined(t, o)
	requireFound(t, found, "pooler", doctor.OK, "a transaction pooler is in use")
	requireFound(t, found, "database", doctor.OK, "is what was written")
	o.URL += "&pooler=no"
	requireFound(t, examined(t, o), "pooler", doctor.Fail, "the URL denies it")
}

// TestSurveyOfAStandby: it can be read and not written.
func TestSurveyOfAStandby(t *testing.T) {
	server, o := own(t)
	require.NoError(t, open(t, o).Update(t.Context(), appendOne))
	require.NoError(t, server.BecomeStandby())
	found := examined(t, o)
	requireFound(t, found, "primary", doctor.Fail, "it is a standby")
	requireFound(t, found, "database", doctor.OK, "is what was written")
}
