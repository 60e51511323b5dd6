package postgres_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/store/postgres"
)

// TestMistakesInURLsTellNoPassword: each mistake is refused with a reason, and no part of the password is in it.
func TestMistakesInURLsTellNoPassword(t *testing.T) {
	for _, url := range []string{
		"postgres://u:hun%ter2@h/d", "postgres://u:hun/ter2@h/d", "postgres://u:hun@ter2@h:x/d", "postgres://u:hunter2@h:port/d",
		"postgres://u:hunter2@h/d?sslmode=hunt", "postgres://u:hunter2@h/d?pooler=maybe", "postgres://u:hunter2@h/d?connect_timeout=x",
		"postgres://u@h/d?password=hunter2&sslmode=x", "postgres://u:hunter2@h/d?sslrootcert=/no/such/file", "postgres://u:hun ter2@h /d",
		"postgres://u:hun/ter2@h:5432/d?sslmode=disable", "postgres://u:12#hunter2@h/d", "postgres://u:12?hunter2@h/d",
		"postgres://u:hun#ter2@h/d", "postgres://u:hun?ter2@h/d", "postgres://u:#hunter2@h/d", "postgres://u:12/hunter2@h/d",
	} {
		err := postgres.Check(url)
		require.Error(t, err, url)
		require.NotContains(t, err.Error(), "hun", url)
		require.NotContains(t, err.Error(), "ter2", url)
	}
	require.NoError(t, postgres.Check("postgres://u:hunter2@h:5432/d?sslmode=disable&pooler=yes"))
}

// TestShownURLsTellNoPassword: what is printed of a URL can be given again, and the password is found elsewhere.
func TestShownURLsTellNoPassword(t *testing.T) {
	for url, want := range map[string]string{
		"postgres://u:hunter2@h/d":                     "postgres://u@h/d",
		"postgres://u@h/d?password=hunter2&sslmode=no": "postgres://u@h/d?sslmode=no",
		"postgres://u:hunt/er2@h/d":                    "postgres://…",
		"postgres://u:hunter%2@h/d":                    "postgres://…",
		"postgres://u:2024#Winter@h/d":                 "postgres://…",
		"postgres://u:2024?Winter@h/d":                 "postgres://…",
		"postgres://u:#Winter@h/d":                     "postgres://…",
		"postgres://u:hunter2@h:1,i:2/d":               "postgres://u@h:1,i:2/d",
		"/home/me/store.db":                            "/home/me/store.db",
	} {
		require.Equal(t, want, postgres.Shown(url))
	}
	require.Equal(t, postgres.Digest("postgres://u:a@h/d"), postgres.Digest("postgres://v:b@h/d"))
	require.Equal(t, postgres.Digest("postgres://u:a@h/d?sslmode=disable"), postgres.Digest("postgres://h/d?sslmode=prefer"))
	require.NotEqual(t, postgres.Digest("postgres://u:a@h/d"), postgres.Digest("postgres://u:a@h/e"))
}

// TestNamesOfWorkspaces: a name goes into statements, so it is made of nothing that could end one.
func TestNamesOfWorkspaces(t *testing.T) {
	for _, name := range []string{"a", "team/app-1.2:x_y"} {
		require.NoError(t, postgres.CheckName(name))
	}
	for _, name := range []string{"", "a b", "a'b", "a\x00", "ä", "a\n", string(make([]byte, 129))} {
		require.Error(t, postgres.CheckName(name), "%q", name)
	}
}
