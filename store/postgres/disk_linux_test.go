package postgres_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"waybill/core/instruction"
	"waybill/store"
	"waybill/store/postgres"
	"waybill/store/postgres/pgtest"
)

// TestFaultS1_DiskOfTheServerIsFull: nothing is half applied, what exists is read, and all goes on when there is space
// again.
func TestFaultS1_DiskOfTheServerIsFull(t *testing.T) {
	t.Parallel()
	server := pgtest.Own(t)
	dir, err := os.MkdirTemp("", "full") // not below folders that only we may enter
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.Remove(dir) })
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=24m,mode=0700,uid=65534,gid=65534"); err != nil {
		t.Skipf("mounting tmpfs takes root: %v", err)
	}
	t.Cleanup(func() { require.NoError(t, unix.Unmount(dir, unix.MNT_DETACH)) })
	server.Run(t, server.Admin(), "CREATE TABLESPACE small LOCATION '"+dir+"'")
	t.Cleanup(func() { server.Run(t, server.Admin(), "DROP TABLESPACE small") })
	o := postgres.Options{URL: server.Database(t, "TABLESPACE small"), Workspace: pgtest.Name(t)}
	s, other := open(t, o), open(t, o)

	server.Run(t, server.Admin(), "CHECKPOINT") // the files of a new database have holes, which take space later

	queued := int64(0)
	queue := func(tx store.Tx) error {
		for n := queued + 1; n <= queued+20; n++ {
			in := instruction.Instruction{
				ID: fmt.Sprintf("ins_%d", n), Session: "s", Content: scrap(n), Position: n, CreatedAt: 1, Phase: instruction.Queued{},
			}
			if err := tx.PutInstruction(in); err != nil {
				return err
			}
		}
		return appendOne(tx)
	}
	for err = nil; err == nil; {
		if err = s.Update(t.Context(), queue); err == nil {
			queued += 20
		}
	}
	requireKind(t, err, store.Full)
	requireNotApplied(t, err)
	require.Positive(t, queued)
	requireKind(t, other.Update(t.Context(), queue), store.Full)
	require.EqualValues(t, queued/20, newest(t, other))
	require.NoError(t, other.View(t.Context(), func(tx store.Tx) error {
		n, err := tx.CountInstructions(store.InstructionQuery{})
		require.NoError(t, err)
		require.EqualValues(t, queued, n)
		return nil
	}))

	require.NoError(t, unix.Mount("tmpfs", dir, "tmpfs", unix.MS_REMOUNT, "size=64m"))
	require.NoError(t, s.Update(t.Context(), queue))
	queued += 20
	require.NoError(t, other.Update(t.Context(), queue))
	requireSound(t, s)
}

// scrap returns text that no server can make much shorter.
func scrap(seed int64) string {
	text := make([]byte, 48_000)
	chance := rand.New(rand.NewPCG(uint64(seed), 0))
	for i := range text {
		text[i] = 'A' + byte(chance.IntN(58))
	}
	return string(text)
}
