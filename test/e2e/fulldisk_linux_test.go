package e2e_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
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
	for _, disk := range []struct {
		kind      string
		megabytes int
		contents  []int // in bytes; 0 is a file of another program
	}{
		{"tmpfs", 8, []int{500, 20_000, 900_000, 0}},
		{"tmpfs", 24, []int{20_000, 0}},
		{"tmpfs", 64, []int{900_000, 0}},
		{"ext4", 8, []int{20_000, 0}},
		{"ext4", 24, []int{900_000}},
		{"ext4", 64, []int{20_000, 900_000}},
	} {
		for _, content := range disk.contents {
			t.Run(fmt.Sprintf("%s of %d MB filled with contents of %d bytes", disk.kind, disk.megabytes, content), func(t *testing.T) {
				t.Parallel()
				endHeldWorkOnFullDisk(t, disk.kind, disk.megabytes, content)
			})
		}
	}
}

// mountDisk mounts a file system of that many megabytes.
func mountDisk(t *testing.T, dir, kind string, megabytes int) {
	t.Helper()
	source, options := "tmpfs", fmt.Sprintf("size=%dm,mode=0700", megabytes)
	if kind == "ext4" {
		source, options = filepath.Join(t.TempDir(), "disk.img"), "loop"
		require.NoError(t, os.WriteFile(source, nil, 0o600))
		require.NoError(t, os.Truncate(source, int64(megabytes)<<20))
		if out, err := exec.CommandContext(t.Context(), "mkfs.ext4", "-q", source).CombinedOutput(); err != nil {
			t.Skipf("mkfs.ext4: %v %s", err, out)
		}
	}
	if out, err := exec.CommandContext(t.Context(), "mount", "-t", kind, "-o", options, source, dir).CombinedOutput(); err != nil {
		t.Skipf("mounting a file system takes root: %v %s", err, out)
	}
	t.Cleanup(func() { require.NoError(t, unix.Unmount(dir, unix.MNT_DETACH)) })
	require.NoError(t, os.Chmod(dir, 0o700))
}

// endHeldWorkOnFullDisk fills a disk with contents of a size, or with a file for size 0.
func endHeldWorkOnFullDisk(t *testing.T, kind string, megabytes, content int) {
	t.Helper()
	const acks, attempts = 200, 20
	w := newWorld(t)
	mountDisk(t, w.state, kind, megabytes)
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
