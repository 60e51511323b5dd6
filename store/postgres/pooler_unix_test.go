//go:build unix

package postgres_test

import (
	"bytes"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/store/postgres"
	"waybill/store/postgres/pgtest"
)

// TestLawsBehindAPooler: everything holds where each transaction gets another connection.
func TestLawsBehindAPooler(t *testing.T) {
	t.Parallel()
	direct := pgtest.Shared(t).Database(t)
	behind := startPooler(t, direct)
	for url, want := range map[string]bool{direct: false, behind: true, direct + "&pooler=yes": true, behind + "&pooler=no": false} {
		pooled, err := open(t, postgres.Options{URL: url, Workspace: pgtest.Name(t)}).Pooled(t.Context())
		require.NoError(t, err)
		require.Equal(t, want, pooled, url)
	}
	holdLaws(t, behind)
}

// TestFaultS19_NobodyIsToldBehindAPooler: who is behind one hears nothing, and finds by looking what others commit; what
// he commits, they hear.
func TestFaultS19_NobodyIsToldBehindAPooler(t *testing.T) {
	server := pgtest.Shared(t)
	direct := options(t, server)
	behind := direct
	behind.URL = startPooler(t, direct.URL)
	stands := open(t, direct.Looking(time.Hour))
	told := stands.Changed()
	s := open(t, behind)
	changed := s.Changed()
	awaitEach(t, 10, stands, changed)
	awaitEach(t, 10, s, told)
	listening(t, server, direct, "1")
}

// startPooler starts pgbouncer before a server and returns the URL there.
func startPooler(t *testing.T, server string) string {
	t.Helper()
	program, err := exec.LookPath("pgbouncer")
	if err != nil {
		program = "/usr/sbin/pgbouncer"
	}
	if _, err := os.Stat(program); err != nil {
		if os.Getenv("WAYBILL_POSTGRES_TESTS") == "required" {
			require.NoError(t, err)
		}
		t.Skip("there is no pgbouncer to test with")
	}
	to, err := url.Parse(server)
	require.NoError(t, err)
	free, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	at := free.Addr().(*net.TCPAddr)
	require.NoError(t, free.Close())
	dir, err := os.MkdirTemp("", "bouncer") // not below folders that only we may enter
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	require.NoError(t, os.Chmod(dir, 0o755))
	users, settings := filepath.Join(dir, "users"), filepath.Join(dir, "pgbouncer.ini")
	require.NoError(t, os.WriteFile(users, []byte("\"waybill\" \"\"\n"), 0o644))
	require.NoError(t, os.WriteFile(settings, fmt.Appendf(nil, `[databases]
* = host=127.0.0.1 port=%s user=waybill
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = %d
unix_socket_dir =
auth_type = any
auth_file = %s
pool_mode = transaction
default_pool_size = 10
server_round_robin = 1
max_client_conn = 200
server_login_retry = 0
`, to.Port(), at.Port, users), 0o644))
	cmd := exec.Command(program, settings)
	if os.Geteuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	require.Eventually(t, func() bool {
		c, err := net.DialTimeout("tcp", at.String(), time.Second)
		if err == nil {
			_ = c.Close()
		}
		return err == nil
	}, soon, 10*time.Millisecond, "pgbouncer does not listen")
	to.Host = at.String()
	return to.String()
}

// TestFailoverBehindAPoolerBuiltOnWhatWasLost: its connections outlast the server, and as many commits were made on the next
// one as were known of the one before.
func TestFailoverBehindAPoolerBuiltOnWhatWasLost(t *testing.T) {
	t.Parallel()
	pair := startPair(t)
	s := open(t, postgres.Options{URL: startPooler(t, pair.url), Workspace: pair.workspace})
	for range 3 {
		require.NoError(t, s.Update(t.Context(), appendOne))
	}
	requireBuiltOn(t, s, pair.fail(t, func() {}))
}
