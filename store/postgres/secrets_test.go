package postgres_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/store"
	"waybill/store/postgres"
)

const password = "hunter2/öl"

// TestFaultS19_WrongAddress: what is wrong is said, and what to do, without the password.
func TestFaultS19_WrongAddress(t *testing.T) {
	dir, err := os.MkdirTemp("", "public") // not below folders that only we may enter
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	require.NoError(t, os.Chmod(dir, 0o755))
	rules := filepath.Join(dir, "rules")
	require.NoError(t, os.WriteFile(rules, []byte("host all ann 127.0.0.1/32 scram-sha-256\nhost all all 127.0.0.1/32 trust\n"), 0o644))
	server, o := own(t, "hba_file = '"+rules+"'")
	server.Run(t, o.URL, "CREATE ROLE ann LOGIN PASSWORD 'another'")
	nobody, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, nobody.Close())
	for name, c := range map[string]struct {
		change func(u *url.URL)
		kind   store.Kind
		says   string
	}{
		"no such server":      {func(u *url.URL) { u.Host = nobody.Addr().String() }, store.IO, "cannot be reached"},
		"no such machine":     {func(u *url.URL) { u.Host = "no-such-machine.invalid" }, store.IO, "cannot be reached"},
		"wrong password":      {func(*url.URL) {}, store.Unsafe, "pg_hba.conf"},
		"no such user":        {func(u *url.URL) { u.User = url.UserPassword("bob", password) }, store.Unsafe, "pg_hba.conf"},
		"no such database":    {func(u *url.URL) { u.Path, u.User = "/nothing", url.UserPassword("waybill", password) }, store.Unsafe, "createdb"},
		"no encryption there": {func(u *url.URL) { u.RawQuery = "sslmode=require" }, store.IO, "cannot be reached"},
		"password as a parameter": {func(u *url.URL) {
			u.User = url.User("ann")
			u.RawQuery += "&password=" + url.QueryEscape(password)
		}, store.Unsafe, "pg_hba.conf"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u, err := url.Parse(o.URL)
			require.NoError(t, err)
			u.User = url.UserPassword("ann", password)
			c.change(u)
			var log bytes.Buffer
			logger := slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
			_, err = postgres.Open(t.Context(), postgres.Options{URL: u.String(), Workspace: "a", Logger: logger})
			requireKind(t, err, c.kind)
			requireNotApplied(t, err)
			require.ErrorContains(t, err, c.says)
			for _, said := range []string{err.Error(), fmt.Sprintf("%+v %#v", err, err), log.String(), postgres.Shown(u.String())} {
				require.NotContains(t, said, "hunter2")
			}
		})
	}
}

// TestFaultS3_RightsAreTakenAway: from who has the store open. He is told what is missing, and goes on when he has it.
func TestFaultS3_RightsAreTakenAway(t *testing.T) {
	server, o := shared(t)
	require.NoError(t, open(t, o).Update(t.Context(), appendOne))
	u, err := url.Parse(o.URL)
	require.NoError(t, err)
	u.User = url.UserPassword("clerk", password)
	server.Run(t, o.URL, `DROP ROLE IF EXISTS clerk; CREATE ROLE clerk LOGIN; GRANT USAGE ON SCHEMA waybill TO clerk;
		GRANT ALL ON ALL TABLES IN SCHEMA waybill TO clerk`)
	s := open(t, postgres.Options{URL: u.String(), Workspace: o.Workspace})
	require.NoError(t, s.Update(t.Context(), appendOne))
	server.Run(t, o.URL, "REVOKE INSERT ON waybill.events FROM clerk")
	err = s.Update(t.Context(), appendOne)
	requireKind(t, err, store.Unsafe)
	requireNotApplied(t, err)
	require.ErrorContains(t, err, "events")
	require.NotContains(t, err.Error(), "hunter2")
	require.EqualValues(t, 2, newest(t, s))
	server.Run(t, o.URL, "GRANT INSERT ON waybill.events TO clerk")
	require.NoError(t, s.Update(t.Context(), appendOne))
	require.EqualValues(t, 3, newest(t, s))
}
