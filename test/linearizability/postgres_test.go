//go:build unix

package linearizability_test

import (
	"errors"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/store/postgres/pgtest"
	"waybill/test/slow"
)

// serverProcess finds one that one of ours has a transaction on, if there is one.
const serverProcess = "SELECT pid FROM pg_stat_activity WHERE application_name LIKE 'waybill%' ORDER BY state <> 'idle' DESC, random() LIMIT 1"

// TestServerThatCrashesIsLinearizable: the store is in a database. Besides the processes, server processes are killed
// with kill -9, which has the server end all others, too, and the server ends as if it were killed, and is started again.
func TestServerThatCrashesIsLinearizable(t *testing.T) {
	slow.Test(t)
	server := pgtest.Own(t)
	url := server.Database(t)
	kill := func() error {
		require.Eventually(t, func() bool { // it may be coming back
			text, err := server.Query(server.Admin(), serverProcess)
			if err != nil {
				return false
			}
			pid, err := strconv.Atoi(text)
			return err == nil && syscall.Kill(pid, syscall.SIGKILL) == nil
		}, time.Minute, time.Millisecond)
		return nil
	}
	restart := func() error { return errors.Join(server.End("immediate"), server.Start()) }
	newHarness(t, url).run(t, []func() error{kill, kill, kill, restart, restart})
}
