package postgres_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/store/postgres"
)

// TestClockGoesByTheServer: what cannot be right is corrected by as little as makes it right, and what can be stays.
func TestClockGoesByTheServer(t *testing.T) {
	var c postgres.Clock
	ahead := func() time.Duration { return time.Until(c.Now()).Round(time.Second) }
	require.Zero(t, ahead())
	asked := time.Now()
	c.Heard(asked.Add(time.Hour).UnixMicro(), asked, asked)
	require.Equal(t, time.Hour, ahead())
	c.Heard(asked.Add(time.Hour).UnixMicro(), asked.Add(-10*time.Second), asked.Add(10*time.Second))
	require.Equal(t, time.Hour, ahead(), "an answer that took long is no reason to change it")
	c.Heard(asked.Add(time.Hour).UnixMicro(), asked.Add(-20*time.Second), asked.Add(-10*time.Second))
	require.Equal(t, time.Hour+10*time.Second, ahead())
}
