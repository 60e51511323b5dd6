//go:build unix

package notify

// This test is inside because a command that hangs would hold a test for its whole time.

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestCommandGetsTheMessageAndDoesNoHarm(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	t.Setenv("OUT", out)
	require.NoError(t, execute(t.Context(), `printf '%s|' "$WAYBILL_NOTIFY" > "$OUT"; cat >> "$OUT"; printf '\033[2J'`, "a $(b)", []byte("{}\n")))
	said, err := os.ReadFile(out)
	require.NoError(t, err)
	require.Equal(t, "a $(b)|{}\n", string(said))

	err = execute(t.Context(), `yes "$(printf '\033[2Jno display')" | head -c 100000 >&2; exit 3`, "", nil)
	require.ErrorContains(t, err, "exit status 3: [2Jno display [2Jno display")
	require.Less(t, len(err.Error()), 300)
	require.NoError(t, execute(t.Context(), "true", "", make([]byte, 1<<20)), "it need not read")
	require.Error(t, execute(t.Context(), "no-such-program-here", "", nil))

	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	began := time.Now()
	require.Error(t, execute(ctx, "trap '' TERM INT; sleep 100 & sleep 100", "", nil))
	require.Less(t, time.Since(began), patience)
}
