package record

import (
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/core/run"
)

// TestFindingsThatNobodyWroteAreNotRead: what is stored of findings has one form, and anything else is damage.
func TestFindingsThatNobodyWroteAreNotRead(t *testing.T) {
	for _, stored := range []string{
		" ", "x", "1", `1 2 "a"`, `1 2 "a" "b" `, ` 1 2 "a" "b"`, `1 2 "a" "b"3`, `1 2 a b`, "1 2 `a` `b`", `1  2 "a" "b"`, `01 2 "a" "b"`,
		`+1 2 "a" "b"`, `-1 2 "a" "b"`, `1 -2 "a" "b"`, `0 0 "" ""`, `1 2 "\x61" "b"`, `99999999999999999999 2 "a" "b"`,
	} {
		_, err := readFindings(stored)
		require.Error(t, err, "%q", stored)
	}
	f, err := readFindings("")
	require.NoError(t, err)
	require.Zero(t, f)
}

// FuzzFindings: what is read is what was written, to the byte.
func FuzzFindings(f *testing.F) {
	f.Add(1, 2, "a", `b "c"`, `1 2 "a" "b"`)
	f.Add(0, 0, "", "", "")
	f.Add(3, 0, "\x00\xff\n", "é", "0 0 \"\" \"\"")
	f.Fuzz(func(t *testing.T, same, swaps int, last, before, stored string) {
		want := run.Findings{Last: last, Before: before, Same: max(same, 0), Swaps: max(swaps, 0)}
		got, err := readFindings(writtenFindings(want))
		require.NoError(t, err)
		require.Equal(t, want, got)
		if got, err = readFindings(stored); err == nil {
			require.Equal(t, stored, writtenFindings(got))
		}
	})
}
