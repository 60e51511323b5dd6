package e2e_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"waybill/schema"
	"waybill/test/slow"
)

// A host that works on a full disk can still end all that it has begun: 200 acknowledgements and 20 attempts.
func TestFullDiskRefusedTheEndOfHeldWork(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	for _, content := range []int{500, 20_000, 900_000} {
		t.Run(fmt.Sprintf("filled with contents of %d bytes", content), func(t *testing.T) {
			t.Parallel()
			endHeldWorkOnFullDisk(t, content)
		})
	}
	t.Run("filled by another program", func(t *testing.T) {
		t.Parallel()
		endHeldWorkOnFullDisk(t, 0)
	})
}

// endHeldWorkOnFullDisk fills the disk with contents of a size, or with a file for size 0.
func endHeldWorkOnFullDisk(t *testing.T, content int) {
	t.Helper()
	const acks, attempts = 200, 20
	w := newWorld(t)
	if err := unix.Mount("tmpfs", w.state, "tmpfs", 0, "size=8m,mode=0700"); err != nil {
		t.Skipf("mounting a file system takes root: %v", err)
	}
	t.Cleanup(func() { require.NoError(t, unix.Unmount(w.state, unix.MNT_DETACH)) })
	p := w.serve(t)
	queue := func(size int) *reply {
		r, err := p.call("queue_instruction", fmt.Sprintf(`{"session_id":"s","content":%q}`, strings.Repeat("x", size)))
		require.NoError(t, err)
		return &r
	}
	instructions, leases := make([]string, acks), make([]schema.Claim, attempts)
	for i := range instructions {
		instructions[i] = p.gets("instruction_id", "queue_instruction_with_ack",
			fmt.Sprintf(`{"session_id":"s","content":"Step %d: %s"}`, i, strings.Repeat("y", 500)))
	}
	for i := range leases {
		p.must("create_task", fmt.Sprintf(`{"prompt":"Do %d. %s"}`, i, strings.Repeat("z", 500)), nil)
		leases[i] = p.claim()
	}
	p.must("dispatch_instructions", `{"session_id":"s","limit":500}`, nil)

	for _, size := range []int{content, 500} {
		for content > 0 {
			if r := queue(size); r.Error != nil {
				require.Equal(t, "STORE_FULL", r.Error.Data.Code)
				break
			}
		}
	}
	if content == 0 {
		fillDisk(t, filepath.Join(w.state, "filler"))
	}
	for _, id := range instructions {
		p.must("acknowledge", fmt.Sprintf(`{"instruction_id":%q}`, id), nil)
	}
	for _, held := range leases {
		p.finish(held, `"status":"completed","output":"`+strings.Repeat("o", 4000)+`"`)
	}
}

// fillDisk writes a file until the disk has no space left.
func fillDisk(t *testing.T, path string) {
	t.Helper()
	f, err := os.Create(path)
	require.NoError(t, err)
	for size := 1 << 16; size >= 512; size /= 2 {
		for err = nil; err == nil; {
			_, err = f.Write(make([]byte, size))
		}
		require.True(t, errors.Is(err, syscall.ENOSPC), "%v", err)
	}
	require.NoError(t, f.Close())
}
