package sqlite_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"waybill/store"
	"waybill/store/sqlite"
	"waybill/test/slow"
)

// TestFaultS1_FullDisk: no space is left. Nothing is half applied, what exists is read and finished,
// and all goes on when there is space again.
func TestFaultS1_FullDisk(t *testing.T) {
	dir := mount(t, "tmpfs", "tmpfs", 0, "size=4m,mode=0700")
	s := open(t, sqlite.Options{Path: filepath.Join(dir, "store.db")})
	require.True(t, noteWith(s, t, "tmpfs"), "it says that the store ends with the machine")

	queued := int64(0)
	queue := func(tx store.Tx) error {
		in := newInstruction(queued + 1)
		in.Content = strings.Repeat("x", 20_000)
		return tx.PutInstruction(in)
	}
	err := s.Update(t.Context(), func(tx store.Tx) error {
		for n := range int64(1000) { // 20 MB, and no heed to any error
			in := newInstruction(n + 1)
			in.Content = strings.Repeat("x", 20_000)
			_ = tx.PutInstruction(in)
			_ = appendOne(tx)
		}
		return nil
	})
	requireFault(t, err, store.Full)
	requireInstructions(t, s, 0)
	require.Zero(t, newest(t, s), "what came after the fault is not applied either")

	for err = nil; err == nil; {
		if err = s.Update(t.Context(), queue); err == nil {
			queued++
		}
	}
	_ = notApplied(t, err, store.Full)
	require.Positive(t, queued)

	for n := int64(1); n <= min(queued, 20); n++ { // far more than one transaction that fits by chance
		require.NoError(t, s.UpdateReserved(t.Context(), func(tx store.Tx) error { return acknowledge(tx, n) }))
		requireFault(t, s.Update(t.Context(), queue), store.Full)
	}
	for range 10 { // more than what the last one that did not fit has left
		require.NoError(t, s.UpdateReserved(t.Context(), queue))
		queued++
	}
	requireFault(t, s.Update(t.Context(), queue), store.Full)
	requireInstructions(t, s, queued)
	require.True(t, noteWith(s, t, "the disk is full"))

	require.NoError(t, unix.Mount("tmpfs", dir, "tmpfs", unix.MS_REMOUNT, "size=16m"))
	update(t, s, queue)
	require.FileExists(t, filepath.Join(dir, "store.db.reserve"), "the reserve is taken back first")
	queued++
	requireInstructions(t, s, queued)
	sound(t, s)
}

// TestReserveOfAFullDiskDidNotServeOrdinaryContents: 200 acknowledgements are served on disks of several sizes and
// kinds that are full of contents of several sizes, or of the file of another program, also by a process that opens
// the store on the full disk. Under the race detector, one size of the disk and of the contents is enough.
func TestReserveOfAFullDiskDidNotServeOrdinaryContents(t *testing.T) {
	slow.Test(t)
	for _, kind := range []string{"tmpfs", "ext4"} {
		for _, disk := range []int{8, 24, 64} {
			for _, content := range []int{500, 20_000, 900_000} {
				for _, by := range []string{"waybill", "another program", "another program before the start", "another program after a crash"} {
					if slow.Race && (disk != 8 || content != 20_000) {
						continue
					}
					t.Run(fmt.Sprintf("%s of %d MB, contents of %d bytes, filled by %s", kind, disk, content, by), func(t *testing.T) {
						dir, _ := smallDisk(t, kind, disk)
						serveOnFullDisk(t, dir, content, by)
					})
				}
			}
		}
	}
}

// smallDisk mounts a file system of that many megabytes.
func smallDisk(t *testing.T, kind string, megabytes int) (dir, image string) {
	t.Helper()
	if kind == "tmpfs" {
		return mount(t, "tmpfs", "tmpfs", 0, fmt.Sprintf("size=%dm,mode=0700", megabytes)), ""
	}
	image = filepath.Join(fastDir(t), "disk.img")
	require.NoError(t, os.WriteFile(image, nil, 0o600))
	require.NoError(t, os.Truncate(image, int64(megabytes)<<20))
	if out, err := exec.CommandContext(t.Context(), "mkfs.ext4", "-q", image).CombinedOutput(); err != nil {
		t.Skipf("mkfs.ext4: %v %s", err, out)
	}
	dir = t.TempDir()
	if out, err := exec.CommandContext(t.Context(), "mount", "-o", "loop", image, dir).CombinedOutput(); err != nil {
		t.Skipf("mounting a loop device: %v %s", err, out)
	}
	t.Cleanup(func() { require.NoError(t, exec.Command("umount", dir).Run()) })
	require.NoError(t, os.Chmod(dir, 0o700))
	return dir, image
}

// serveOnFullDisk queues 200 instructions, of which up to a third of the disk has contents of that size, fills the
// disk, and acknowledges all.
func serveOnFullDisk(t *testing.T, dir string, content int, by string) {
	const acks = 200
	path := filepath.Join(dir, "store.db")
	s, err := sqlite.Open(t.Context(), sqlite.Options{Path: path})
	require.NoError(t, err)
	defer func() {
		if s != nil {
			require.NoError(t, s.Close())
		}
	}()
	var disk unix.Statfs_t
	require.NoError(t, unix.Statfs(dir, &disk))
	large, n := max(1, int64(disk.Blocks)*disk.Bsize/6/int64(content)), int64(0)
	queue := func(size, count int) error {
		err := s.Update(t.Context(), func(tx store.Tx) error {
			for i := range int64(count) {
				in := newInstruction(n + 1 + i)
				in.Content = strings.Repeat("x", size)
				if err := tx.PutInstruction(in); err != nil {
					return err
				}
			}
			return nil
		})
		if err == nil {
			n += int64(count)
		}
		return err
	}
	for i := range int64(acks) {
		size := 500
		if i < large {
			size = content
		}
		require.NoError(t, queue(size, 1))
	}
	switch by {
	case "waybill":
		for err = queue(content, max(1, 50_000/content)); err == nil; {
			err = queue(content, max(1, 50_000/content))
		}
		for err = queue(500, 1); err == nil; {
			err = queue(500, 1)
		}
		requireFault(t, err, store.Full)
	case "another program before the start", "another program after a crash":
		require.NoError(t, s.Close())
		if strings.HasSuffix(by, "crash") {
			crash(t, path)
		}
		fillDisk(t, dir)
		s = open(t, sqlite.Options{Path: path})
	default:
		fillDisk(t, dir)
	}
	if by == "another program before the start" {
		requireFault(t, queue(content, max(1, 50_000/content)), store.Full)
	}
	served := 0
	for i := range int64(acks) {
		if err = s.UpdateReserved(t.Context(), func(tx store.Tx) error {
			if err := tx.PutAnswer(store.Answer{Key: fmt.Sprint("ack-", i), Fingerprint: "f", Result: strings.Repeat("r", 600), At: 1}); err != nil {
				return err
			}
			if err := appendOne(tx); err != nil {
				return err
			}
			return acknowledge(tx, i+1)
		}); err != nil {
			break
		}
		served++
	}
	require.Equal(t, acks, served, "%v", err)
	require.NoError(t, os.RemoveAll(filepath.Join(dir, "filler")))
	sound(t, s)
}

// crash has another process write to a store and kills it. It leaves its log and the index of that.
func crash(t *testing.T, path string) {
	t.Helper()
	c := stepper(t, path)
	_ = numbers(t, []string{c.ask(t, "update")})
	c.kill(t)
	require.FileExists(t, path+"-wal")
}

// TestFullDiskHidWhatOnlyTheLogHas: where the index of the log could not be made, a store was read without the log, and an
// older state was taken for the present one.
func TestFullDiskHidWhatOnlyTheLogHas(t *testing.T) {
	dir := mount(t, "tmpfs", "tmpfs", 0, "size=8m,mode=0700")
	path := filepath.Join(dir, "store.db")
	require.NoError(t, withEvents(t, path, 3).Close())
	crash(t, path)
	require.NoError(t, os.Remove(path+"-shm")) // as after a power cut
	fillDisk(t, dir)
	_ = notOpened(t, sqlite.Options{Path: path, ReadOnly: true}, store.Full)
	found := sqlite.Examine(t.Context(), sqlite.Options{Path: path})
	require.Contains(t, found[len(found)-1].Text, "no space is left")
	require.NoError(t, os.Remove(filepath.Join(dir, "filler")))
	require.EqualValues(t, 4, newest(t, open(t, sqlite.Options{Path: path, ReadOnly: true})))
}

// fillDisk writes a file until there is no space left, as another program would.
func fillDisk(t *testing.T, dir string) {
	t.Helper()
	f, err := os.Create(filepath.Join(dir, "filler"))
	require.NoError(t, err)
	defer func() { _ = f.Close() }()
	for size := 1 << 16; size >= 512; size /= 2 {
		for err = nil; err == nil; {
			_, err = f.Write(make([]byte, size))
		}
		require.ErrorIs(t, err, syscall.ENOSPC)
	}
	_ = f.Sync()
}

// TestFullDiskOfACopyWasSaidOfTheStore: it is the disk of the copy that has no space left, and no copy is left there.
func TestFullDiskOfACopyWasSaidOfTheStore(t *testing.T) {
	dir := mount(t, "tmpfs", "tmpfs", 0, "size=64k,mode=0700")
	s := open(t, sqlite.Options{Path: path(t)})
	update(t, s, appendOne)
	_, err := s.Backup(t.Context(), filepath.Join(dir, "copy.db"))
	require.ErrorContains(t, fault(t, err, store.Full), "no space is left for the copy "+filepath.Join(dir, "copy.db"))
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left)
	update(t, s, appendOne)
}

// TestFaultS1_FullWhileRestoring: there is no room for the old store and the new one, wherever it ends. Nothing has changed
// for those who have the store open, and nothing is left of the new one.
func TestFaultS1_FullWhileRestoring(t *testing.T) {
	dir := mount(t, "tmpfs", "tmpfs", 0, "size=16m,mode=0700")
	path, copied := filepath.Join(dir, "store.db"), path(t)
	big := withEvents(t, copied, 3)
	update(t, big, func(tx store.Tx) error {
		in := newInstruction(9)
		in.Content = strings.Repeat("x", 1<<20)
		return tx.PutInstruction(in)
	})
	require.NoError(t, big.Close())
	s := withEvents(t, path, 5)
	filler, err := os.Create(filepath.Join(dir, "filler"))
	require.NoError(t, err)
	refused := 0
	for room := int64(256 << 10); ; room += 96 << 10 {
		require.NoError(t, filler.Truncate(0))
		leaveRoom(t, filler, dir, room)
		_, err := sqlite.RestoreCopy(t.Context(), sqlite.Options{Path: path}, copied)
		if err == nil {
			break
		}
		refused++
		require.Equal(t, store.NotApplied, fault(t, err, store.Full).Outcome, "with %d bytes left", room)
		require.EqualValues(t, 5, newest(t, s))
		left, err := filepath.Glob(path + ".re[ps]*-*")
		require.NoError(t, err)
		require.Empty(t, left)
	}
	require.Greater(t, refused, 10)
	require.EqualValues(t, 3, newest(t, s))
	require.NoError(t, filler.Truncate(0))
	update(t, s, appendOne)
	sound(t, s)
	require.NoError(t, filler.Close())
}

// leaveRoom writes to the file until its disk has so many bytes left.
func leaveRoom(t *testing.T, f *os.File, dir string, room int64) {
	t.Helper()
	var disk unix.Statfs_t
	require.NoError(t, unix.Statfs(dir, &disk))
	free := int64(disk.Bavail) * disk.Bsize
	require.Greater(t, free, room)
	_, err := f.WriteAt(make([]byte, free-room), 0)
	require.NoError(t, err)
}

// TestFaultS2_WriteOrSyncFails: in the middle of an Update the disk reports an error, once. The Update
// ends in doubt or was not applied, the store opens itself anew and goes on, and nothing that was
// confirmed is missing.
func TestFaultS2_WriteOrSyncFails(t *testing.T) {
	faults := []string{"fsync:error=EIO:when=1"}
	step := 1
	if testing.Short() || slow.Race {
		step = 4
	}
	for n := 1; n <= 10; n += step { // more writes than an Update makes
		faults = append(faults, fmt.Sprintf("pwrite64:error=EIO:when=%d", n))
	}
	for _, inject := range faults {
		t.Run(inject, func(t *testing.T) {
			path := path(t)
			c := stepper(t, path)
			require.Equal(t, "1", c.ask(t, "update"))
			attach(t, c, inject)
			said := []string{c.ask(t, "update"), c.ask(t, "update"), c.ask(t, "update")}
			if strings.HasPrefix(inject, "fsync") {
				require.Equal(t, "io unknown", said[0])
			}
			confirmed := slices.DeleteFunc(slices.Clone(said), func(line string) bool {
				return line == "io unknown" || line == "io not_applied"
			})
			require.GreaterOrEqual(t, len(confirmed), 2, "it goes on by itself: %v", said)
			last := numbers(t, confirmed)[len(confirmed)-1]
			require.Equal(t, "false", c.ask(t, "read only?"))
			require.Equal(t, strconv.FormatInt(last, 10), c.ask(t, "newest"))
			c.end(t)

			s := open(t, sqlite.Options{Path: path})
			require.Equal(t, last, newest(t, s))
			sound(t, s)
		})
	}
}

// TestFaultS2_DiskFailsWhileRestoring: the disk reports an error in the middle of a restore beside an open store, once. What
// is said of the outcome is so, and the old contents are never lost.
func TestFaultS2_DiskFailsWhileRestoring(t *testing.T) {
	slow.Test(t)
	const before, after = 5, 3
	copied := path(t)
	require.NoError(t, withEvents(t, copied, after).Close())
	t.Setenv("COPY", copied)
	calls, step := map[string]int{"pwrite64": 270, "fsync": 17}, map[string]int{"pwrite64": 9, "fsync": 1}
	if testing.Short() || slow.Race {
		step = map[string]int{"pwrite64": 30, "fsync": 4}
	}
	for call, last := range calls {
		for n := 1; n <= last; n += step[call] {
			path := path(t)
			s := withEvents(t, path, before)
			inject := fmt.Sprintf("%s:error=EIO:when=%d", call, n)
			c := start(t, command(t, "restore", path, strace(t, os.DevNull, inject)...))
			switch said := c.line(t); said {
			case "restored":
				require.EqualValues(t, after, newest(t, s), inject)
				requireSetAside(t, path, before)
			case "io not_applied":
				require.EqualValues(t, before, newest(t, s), inject)
			case "io unknown":
				requireSetAside(t, path, before)
			default:
				require.Fail(t, said, inject)
			}
			require.NoError(t, c.in.Close())
			_ = c.Wait()
			update(t, s, appendOne)
			sound(t, s)
			require.NoError(t, s.Close())
		}
	}
}

// TestFaultS2_DiskFailsForGood: the disk fails once, recovers, and fails until somebody mends it. Changes are refused meanwhile, reading goes on,
// and the process writes again by itself afterwards.
func TestFaultS2_DiskFailsForGood(t *testing.T) {
	path := path(t)
	c := stepper(t, path)
	require.Equal(t, "1", c.ask(t, "update"))
	detach := attach(t, c, "fsync:error=EIO:when=1")
	require.Equal(t, "io unknown", c.ask(t, "update"))
	detach()
	before := numbers(t, []string{c.ask(t, "update")})[0]
	requireDiskNamed(t, c)
	detach = attach(t, c, "fsync:error=EIO:when=1+")
	require.Equal(t, "io unknown", c.ask(t, "update"))
	for range 3 {
		require.Equal(t, "io not_applied", c.ask(t, "update"))
	}
	require.Equal(t, "true", c.ask(t, "read only?"))
	requireDiskNamed(t, c)
	require.Contains(t, []int64{before, before + 1}, numbers(t, []string{c.ask(t, "newest")})[0], "what is in doubt may be there")
	detach()

	last := ""
	require.Eventually(t, func() bool {
		last = c.ask(t, "update")
		return !strings.HasPrefix(last, "io ")
	}, time.Minute, 50*time.Millisecond)
	require.Equal(t, "false", c.ask(t, "read only?"))
	require.NotContains(t, c.ask(t, "degraded"), "repeat the call")
	c.end(t)
	s := open(t, sqlite.Options{Path: path})
	require.Equal(t, numbers(t, []string{last})[0], newest(t, s))
	sound(t, s)
}

// requireDiskNamed fails t unless the status of the child blames the disk and calls nothing damaged.
func requireDiskNamed(t *testing.T, c *child) {
	t.Helper()
	said := c.ask(t, "degraded")
	require.Contains(t, said, "the disk of the store")
	require.NotContains(t, said, "damaged")
	require.NotContains(t, said, "move it away")
}

// TestFaultS2_PageThatCannotBeReadStoppedTheWriter: a change needs a page that the disk does not deliver, or the check
// behind a failed sync does. Nothing is damaged, and the process writes again when the disk delivers.
func TestFaultS2_PageThatCannotBeReadStoppedTheWriter(t *testing.T) {
	slow.Test(t)
	step := 8
	if testing.Short() || slow.Race {
		step = 30
	}
	for n := 1; n <= 30; n += step {
		for _, call := range []string{"fsync", "none"} {
			path := path(t)
			require.NoError(t, withEvents(t, path, 20).Close())
			c := stepper(t, path)
			require.Equal(t, "20", c.ask(t, "newest"), "it is open")
			inject := []string{fmt.Sprintf("pread64:error=EIO:when=%d+", n)}
			if call == "fsync" {
				inject = append(inject, "fsync:error=EIO:when=1")
			}
			detach := attach(t, c, inject...)
			for range 2 {
				require.NotContains(t, c.ask(t, "update"), "corrupt", "from read %d on", n)
			}
			said := c.ask(t, "degraded")
			require.NotContains(t, said, "damaged", "from read %d on", n)
			detach()
			require.Eventually(t, func() bool { return !strings.HasPrefix(c.ask(t, "update"), "io ") }, time.Minute, 50*time.Millisecond)
			require.Equal(t, "false", c.ask(t, "read only?"))
		}
	}
}

// TestFaultS2_PageThatCannotBeReadWasCalledDamage: from some moment on the disk does not deliver what is read of a
// whole store. An examination says so, whenever that is, and does not advise to salvage the store.
func TestFaultS2_PageThatCannotBeReadWasCalledDamage(t *testing.T) {
	slow.Test(t)
	path := path(t)
	require.NoError(t, withEvents(t, path, 200).Close())
	c := stepper(t, path)
	require.Equal(t, "200", c.ask(t, "newest"), "it is open")
	failed, step := 0, 1
	if testing.Short() || slow.Race {
		step = 7
	}
	for n := 1; n <= 70; n += step { // more reads than an examination makes
		detach := attach(t, c, fmt.Sprintf("pread64:error=EIO:when=%d+", n))
		said := c.ask(t, "examine")
		detach()
		if strings.Contains(said, "cannot be read") {
			failed++
		}
		require.NotContains(t, said, "salvage", "from read %d on", n)
	}
	require.Greater(t, failed, 3)
	require.Equal(t, "examined", c.ask(t, "examine"))
}

// TestFaultS2_PageThatCannotBeReadOnceWasCalledDamage: the disk delivers a page at the second attempt only.
func TestFaultS2_PageThatCannotBeReadOnceWasCalledDamage(t *testing.T) {
	slow.Test(t)
	path := path(t)
	require.NoError(t, withEvents(t, path, 200).Close())
	failed, step := 0, 1
	if testing.Short() || slow.Race {
		step = 4
	}
	for n := 1; n <= 30; n += step { // more reads than an opening and a View make
		of := append(strace(t, os.DevNull, fmt.Sprintf("pread64:error=EIO:when=%d", n)), "-P", path) // not of its libraries
		c := start(t, command(t, "steps", path, of...))
		said := c.ask(t, "newest")
		if said == "io not_applied" {
			failed++
			continue
		}
		require.Equal(t, "200", said, "from read %d on", n)
		c.end(t)
	}
	require.Greater(t, failed, 3)
}

// TestFaultS2_SecondLookAtAFailingDiskWasBelieved: a page is not delivered, and neither is one when the store is looked at
// again because of that. The store is damaged only if a page is, or if no look tells.
func TestFaultS2_SecondLookAtAFailingDiskWasBelieved(t *testing.T) {
	malformed, unread := &store.Error{Kind: store.Corrupt}, &store.Error{Kind: store.IO}
	for name, c := range map[string]struct {
		looks   []error // nil finds nothing
		damage  []string
		damaged bool
	}{
		"whole":                  {looks: []error{nil}},
		"whole at the third":     {looks: []error{malformed, malformed, nil}},
		"not delivered again":    {looks: []error{malformed, unread}},
		"malformed at all looks": {looks: []error{malformed, malformed, malformed}, damaged: true},
		"a damaged page":         {looks: []error{nil}, damage: []string{"page 7"}, damaged: true},
	} {
		t.Run(name, func(t *testing.T) {
			err := sqlite.LookAgain("store.db", func() ([]string, error) {
				look := c.looks[0]
				c.looks = c.looks[1:]
				return c.damage, look
			})
			require.Empty(t, c.looks)
			if c.damaged {
				require.NoError(t, err)
			} else {
				requireFault(t, err, store.IO)
			}
		})
	}
}

// TestFaultS2_FailingDiskWasCalledFull: the index of the log cannot grow on a disk that fails, and that has room.
func TestFaultS2_FailingDiskWasCalledFull(t *testing.T) {
	path, said := path(t), []string{}
	require.NoError(t, withEvents(t, path, 3).Close())
	for n := 1; n <= 8; n++ { // it has as many pages
		c := start(t, command(t, "steps", path, strace(t, os.DevNull, fmt.Sprintf("pwrite64:error=EIO:when=%d+", n))...))
		require.NoError(t, c.in.Close())
		said = append(said, c.rest()...)
		_ = c.Wait()
	}
	require.Contains(t, said, "io not_applied")
	require.NotContains(t, said, "full not_applied")
	require.EqualValues(t, 3, newest(t, open(t, sqlite.Options{Path: path})))
}

// TestFaultS3_ReadOnlyMount: the file system is mounted for reading only. The store opens, says so,
// reads, and refuses to write.
func TestFaultS3_ReadOnlyMount(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "store.db")
	s := open(t, sqlite.Options{Path: path})
	update(t, s, appendOne)
	require.NoError(t, s.Close())

	frozen := readOnlyMount(t, dir)
	s = open(t, sqlite.Options{Path: filepath.Join(frozen, "store.db")})
	requireReadOnly(t, s, 1)

	missing := filepath.Join(frozen, "another.db")
	_ = notOpened(t, sqlite.Options{Path: missing}, store.ReadOnly)
}

// TestFaultS3_ReadOnlyMountAfterCrash: the same with a -wal that a crash has left: its records are read.
func TestFaultS3_ReadOnlyMountAfterCrash(t *testing.T) {
	dir := t.TempDir()
	c := start(t, command(t, "steps", filepath.Join(dir, "store.db")))
	require.Equal(t, "1", c.ask(t, "update"))
	c.kill(t)

	s := open(t, sqlite.Options{Path: filepath.Join(readOnlyMount(t, dir), "store.db")})
	requireReadOnly(t, s, 1)
}

// readOnlyMount returns the directory under another name, where it cannot be written.
func readOnlyMount(t *testing.T, dir string) string {
	t.Helper()
	twin := mount(t, dir, "", unix.MS_BIND, "")
	require.NoError(t, unix.Mount("", twin, "", unix.MS_REMOUNT|unix.MS_BIND|unix.MS_RDONLY, ""))
	return twin
}

func requireReadOnly(t *testing.T, s store.Store, records int64) {
	t.Helper()
	status := s.Status(t.Context())
	require.True(t, status.ReadOnly)
	require.NotEmpty(t, status.Degraded)
	require.Equal(t, records, newest(t, s))
	_ = notApplied(t, s.Update(t.Context(), appendOne), store.ReadOnly)
	requireFault(t, s.UpdateReserved(t.Context(), appendOne), store.ReadOnly)
	sound(t, s)
}

// TestFaultS3_ReadOnlyFile: the file may not be written, or its directory may not, by a user who is
// not root, whom no mode stops.
func TestFaultS3_ReadOnlyFile(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("becoming another user takes root")
	}
	for name, modes := range map[string][2]os.FileMode{"file": {0o400, 0o700}, "directory": {0o600, 0o500}} {
		t.Run(name, func(t *testing.T) {
			const nobody = 65534
			dir, err := os.MkdirTemp("/tmp", "read-only-") // t.TempDir is closed to others
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
			path := filepath.Join(dir, "store.db")
			s := open(t, sqlite.Options{Path: path})
			update(t, s, appendOne)
			require.NoError(t, s.Close())
			for _, file := range []string{path, path + ".lock", path + ".lock.gate", path + ".reserve", dir} {
				require.NoError(t, os.Chown(file, nobody, nobody))
			}
			require.NoError(t, os.Chmod(path, modes[0]))
			require.NoError(t, os.Chmod(dir, modes[1]))

			cmd := command(t, "steps", path)
			cmd.Path = "/proc/self/exe" // of the child itself, which cannot reach it by its name
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
			c := start(t, cmd)
			require.Equal(t, "true", c.ask(t, "read only?"))
			require.Equal(t, "1", c.ask(t, "newest"))
			require.Equal(t, "read_only not_applied", c.ask(t, "update"))
		})
	}
}
