package postgres_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"waybill/core/instruction"
	"waybill/store"
	"waybill/store/postgres"
	"waybill/store/postgres/pgtest"
)

// TestFaultS1_DiskOfTheLogOfTheServerIsFull: its write-ahead log has nowhere to go, and so the server ends itself. Nobody
// is told of a success that is not there afterwards, or that nothing was applied of what is. Once there is space and the
// server was started, everything goes on, and nobody who was connected needs a restart.
func TestFaultS1_DiskOfTheLogOfTheServerIsFull(t *testing.T) {
	for when, size := range map[string]int64{
		"in a commit": 5,
		"in a change": 60, // more than the server keeps in memory
	} {
		t.Run(when, func(t *testing.T) {
			t.Parallel()
			server := pgtest.Own(t)
			grow := moveLog(t, server, "40m")
			o := options(t, server)
			l := &loads{size: size}
			all := []*postgres.Store{open(t, o), open(t, o)}
			var wg sync.WaitGroup
			for _, s := range all {
				s.LimitCalls(2 * time.Second)
				wg.Go(func() { // until the disk is full, and once more
					for l.try(t, s) == nil {
					}
					_ = l.try(t, s)
				})
			}
			wg.Wait()
			require.Positive(t, l.told.Load())

			grow("1g")
			_ = server.End("immediate") // it may have ended itself
			require.NoError(t, server.Start())
			for _, s := range all {
				require.Eventually(t, func() bool { return l.try(t, s) == nil }, soon, 10*time.Millisecond)
			}
			there := newest(t, all[0])
			require.LessOrEqual(t, l.told.Load(), there, "what was told of is there")
			require.GreaterOrEqual(t, l.told.Load()+l.unknown.Load(), there, "what is there was told of, or nobody knew")
			require.NoError(t, all[1].View(t.Context(), func(tx store.Tx) error {
				n, err := tx.CountInstructions(store.InstructionQuery{})
				require.EqualValues(t, there*size, n)
				return err
			}))
			damage, err := all[0].Verify(t.Context())
			require.NoError(t, err)
			require.Empty(t, damage)
		})
	}
}

// loads are changes that put so many large instructions each, with one event.
type loads struct {
	size          int64
	told, unknown atomic.Int64 // those that were answered with success, and those of which nobody knows
}

// put is the change behind those that are there.
func (l *loads) put(tx store.Tx) error {
	_, newest, err := tx.Bounds()
	if err != nil {
		return err
	}
	for n := newest*l.size + 1; n <= (newest+1)*l.size; n++ {
		in := instruction.Instruction{
			ID: fmt.Sprintf("ins_%d", n), Session: "s", Content: scrap(n), Position: n, CreatedAt: 1, Phase: instruction.Queued{},
		}
		if err := tx.PutInstruction(in); err != nil {
			return err
		}
	}
	return appendOne(tx)
}

// try puts once, and counts what the answer says.
func (l *loads) try(t *testing.T, s *postgres.Store) error {
	err := s.Update(t.Context(), l.put)
	if err == nil {
		l.told.Add(1)
		return nil
	}
	fault, ok := errors.AsType[*store.Error](err)
	switch {
	case !ok || fault.Kind != store.Full && fault.Kind != store.IO:
		t.Errorf("the answer is %v", err)
	case fault.Outcome == store.Unknown:
		l.unknown.Add(1)
	case !strings.Contains(err.Error(), "try again") && !strings.Contains(err.Error(), "check the log of the server"):
		t.Errorf("the answer does not say what to do: %v", err)
	}
	return err
}

// moveLog puts the write-ahead log of a server on a small disk, and returns what changes the size of that.
func moveLog(t *testing.T, server *pgtest.Server, size string) (resize func(size string)) {
	t.Helper()
	dir, err := os.MkdirTemp("", "wal") // not below folders that only we may enter
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.Remove(dir) })
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size="+size+",mode=0700,uid=65534,gid=65534"); err != nil {
		t.Skipf("mounting tmpfs takes root: %v", err)
	}
	t.Cleanup(func() { require.NoError(t, unix.Unmount(dir, unix.MNT_DETACH)) })
	log := filepath.Join(server.Ask(t, server.Admin(), "SHOW data_directory"), "pg_wal")
	require.NoError(t, server.End("fast"))
	require.NoError(t, exec.Command("cp", "-a", log+"/.", dir).Run())
	require.NoError(t, os.RemoveAll(log))
	require.NoError(t, os.Symlink(dir, log))
	require.NoError(t, server.Start())
	return func(size string) {
		t.Helper()
		require.NoError(t, unix.Mount("tmpfs", dir, "tmpfs", unix.MS_REMOUNT, "size="+size))
	}
}
