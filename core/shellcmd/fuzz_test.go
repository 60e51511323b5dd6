package shellcmd_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/core/shellcmd"
)

// FuzzFindIn checks that a whole line in the quotes of another command's argument runs nothing.
func FuzzFindIn(f *testing.F) {
	for _, line := range []string{
		"cd a && go test ./... | tail", `bash -c 'go test'`, "f() { go test; }", `a="$(go test)"`, "cat <<E\ngo test\nE", "$(", "go test # x",
	} {
		f.Add(line)
	}
	wanted, err := shellcmd.Parse("go test")
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, line string) {
		spelled, found := wanted.FindIn(line)
		if !found {
			require.Empty(t, spelled)
			return
		}
		require.NotEmpty(t, spelled)
		quoted := "echo '" + strings.ReplaceAll(line, "'", `'\''`) + "'"
		_, found = wanted.FindIn(quoted)
		require.False(t, found, "%q is an argument", quoted)
	})
}
