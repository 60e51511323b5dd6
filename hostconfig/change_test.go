package hostconfig_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/hostconfig"
	"waybill/hostconfig/notation"
	"waybill/hostconfig/replace"
)

const someServers = "{\n  \"mcpServers\": {\n    \"notes\": {\"command\": \"notes-mcp\"}\n  }\n}\n"

// in returns a change of a file in a new folder, which has the text unless it is empty.
func in(t *testing.T, text string) hostconfig.Change {
	t.Helper()
	c := change(t, "cursor")
	c.File, c.Wait = filepath.Join(t.TempDir(), "mcp.json"), time.Minute
	if text != "" {
		require.NoError(t, os.WriteFile(c.File, []byte(text), 0o640))
	}
	return c
}

func read(t *testing.T, file string) string {
	t.Helper()
	raw, err := os.ReadFile(file)
	require.NoError(t, err)
	return string(raw)
}

// names returns what lies in the folder of a file.
func names(t *testing.T, file string) (all []string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(file))
	require.NoError(t, err)
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

func TestInstallAndRemove(t *testing.T) {
	c := in(t, someServers)
	result, err := c.Apply(t.Context())
	require.NoError(t, err)
	require.Equal(t, notation.Added, result.Action)
	require.Equal(t, c.File+replace.BackupSuffix, result.Backup)
	require.Equal(t, someServers, read(t, result.Backup))
	installed := read(t, c.File)
	require.Contains(t, installed, `"waybill"`)

	before, err := os.Stat(c.File)
	require.NoError(t, err)
	result, err = c.Apply(t.Context())
	require.NoError(t, err)
	require.Equal(t, replace.Result{Action: notation.Unchanged, File: result.File}, result)
	after, err := os.Stat(c.File)
	require.NoError(t, err)
	require.True(t, os.SameFile(before, after), "it was not even replaced by its like")

	c.Remove = true
	result, err = c.Apply(t.Context())
	require.NoError(t, err)
	require.Equal(t, notation.Removed, result.Action)
	require.Equal(t, c.File+replace.BackupSuffix+"-2", result.Backup, "the first backup is not written over")
	require.Equal(t, installed, read(t, result.Backup))
	require.Equal(t, someServers, read(t, c.File))
	result, err = c.Apply(t.Context())
	require.NoError(t, err)
	require.Equal(t, notation.Unchanged, result.Action)

	c.Remove = false
	result, err = c.Apply(t.Context())
	require.NoError(t, err)
	require.Equal(t, c.File+replace.BackupSuffix, result.Backup, "there is one with this text already")
	require.Len(t, names(t, c.File), 3)
}

func TestNewFileIsRemovedWithItsEntry(t *testing.T) {
	c := in(t, "")
	c.File = filepath.Join(filepath.Dir(c.File), "new", "folder", "mcp.json")
	c.Remove = true
	result, err := c.Apply(t.Context())
	require.NoError(t, err)
	require.Equal(t, notation.Unchanged, result.Action)
	require.NoDirExists(t, filepath.Dir(c.File), "nothing is made to find nothing")
	c.Remove = false
	result, err = c.Apply(t.Context())
	require.NoError(t, err)
	require.Equal(t, notation.Added, result.Action)
	require.Empty(t, result.Backup)
	text := read(t, c.File)
	c.Remove = true
	result, err = c.Apply(t.Context())
	require.NoError(t, err)
	require.NoFileExists(t, c.File)
	require.Equal(t, text, read(t, result.Backup))
}

// Fields that a person added to the entry do not make it differ.
func TestForeignFieldsAreLeftAlone(t *testing.T) {
	text := `{"mcpServers": {"waybill": {"command": "/usr/local/bin/waybill", "env": {"A": "b"}, "args": ["mcp"]}}}`
	c := in(t, text)
	result, err := c.Apply(t.Context())
	require.NoError(t, err)
	require.Equal(t, notation.Unchanged, result.Action)
	require.Equal(t, text, read(t, c.File))
}

func TestPathsOfOtherThingsAreLeftAlone(t *testing.T) {
	for name, test := range map[string]struct {
		make func(t *testing.T, file string)
		want string
	}{
		"folder":    {func(t *testing.T, file string) { require.NoError(t, os.Mkdir(file, 0o755)) }, "is a folder, and a file is expected"},
		"read-only": {func(t *testing.T, file string) { require.NoError(t, os.WriteFile(file, []byte("{}"), 0o444)) }, "is write-protected"},
		"too large": {func(t *testing.T, file string) {
			require.NoError(t, os.WriteFile(file, nil, 0o600))
			require.NoError(t, os.Truncate(file, 17<<20))
		}, "has more than"},
		"below a file": {func(t *testing.T, file string) {
			require.NoError(t, os.WriteFile(file, []byte("{}"), 0o600))
		}, "not a directory"},
	} {
		t.Run(name, func(t *testing.T) {
			c := in(t, "")
			test.make(t, c.File)
			if name == "below a file" {
				if runtime.GOOS == "windows" {
					t.Skip("the system says this in other words")
				}
				c.File = filepath.Join(c.File, "mcp.json")
			}
			_, err := c.Apply(t.Context())
			require.ErrorContains(t, err, test.want)
			require.NoFileExists(t, c.File+replace.LockSuffix)
		})
	}
}

func TestModesAndLinksStay(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no modes, and links only for some users")
	}
	c := in(t, someServers)
	target := c.File
	c.File = filepath.Join(t.TempDir(), "link.json")
	require.NoError(t, os.Symlink(target, c.File))
	for _, remove := range []bool{false, true} {
		c.Remove = remove
		result, err := c.Apply(t.Context())
		require.NoError(t, err)
		require.Equal(t, filepath.Dir(result.File), filepath.Dir(result.Backup), "all lies beside the file itself")
		for _, name := range []string{target, result.Backup} {
			info, err := os.Stat(name)
			require.NoError(t, err)
			require.Equal(t, fs.FileMode(0o640), info.Mode().Perm(), name)
		}
		info, err := os.Lstat(c.File)
		require.NoError(t, err)
		require.NotZero(t, info.Mode()&fs.ModeSymlink)
	}
	require.Equal(t, someServers, read(t, target))
	require.Len(t, names(t, c.File), 1)
}

func TestLinkToNothingIsRefused(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links are only for some users")
	}
	c := in(t, "")
	target := filepath.Join(filepath.Dir(c.File), "target.json")
	require.NoError(t, os.Symlink(target, c.File))
	_, err := c.Apply(t.Context())
	require.ErrorContains(t, err, "is a link to a missing file")
	require.NoError(t, os.WriteFile(target, nil, 0o600))
	_, err = c.Apply(t.Context())
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(target, []byte(read(t, target)+"\n"), 0o600)) // as if it had been made for the entry
	c.Remove = true
	_, err = c.Apply(t.Context())
	require.NoError(t, err)
	require.Equal(t, "{}\n", read(t, target))
}

func TestNewFileIsPrivateUnlessItIsOfAProject(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no modes")
	}
	for project, want := range map[bool]fs.FileMode{false: 0o600, true: 0o644} {
		c := in(t, "")
		if project {
			c.Project = filepath.Dir(c.File)
		}
		_, err := c.Apply(t.Context())
		require.NoError(t, err)
		info, err := os.Stat(c.File)
		require.NoError(t, err)
		require.Equal(t, want, info.Mode().Perm())
	}
}

// Strangers write repositories. A link in one must not lead a change elsewhere.
func TestNoLinkLeadsOutOfAProject(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links are only for some users")
	}
	elsewhere := in(t, someServers)
	for name, link := range map[string]string{"mcp.json": elsewhere.File, ".cursor": filepath.Dir(elsewhere.File)} {
		c := in(t, "")
		c.Project = filepath.Dir(c.File)
		require.NoError(t, os.Symlink(link, filepath.Join(c.Project, name)))
		for _, file := range []string{"mcp.json", "new.json"} {
			if name == ".cursor" {
				file = filepath.Join(name, file)
			} else if file == "new.json" {
				continue
			}
			c.File = filepath.Join(c.Project, file)
			_, err := c.Apply(t.Context())
			require.ErrorContains(t, err, "only inside the project", file)
		}
	}
	require.Equal(t, someServers, read(t, elsewhere.File))
	require.Len(t, names(t, elsewhere.File), 1)

	c := in(t, someServers)
	c.Project = filepath.Dir(c.File)
	target := c.File
	c.File = filepath.Join(c.Project, "link.json")
	require.NoError(t, os.Symlink(target, c.File))
	_, err := c.Apply(t.Context())
	require.NoError(t, err)
	require.Contains(t, read(t, target), `"waybill"`)
}

// An edit at the last moment is kept, and the entry is added to it.
func TestEditBetweenReadingAndWritingIsNotLost(t *testing.T) {
	for name, before := range map[string]string{"a file": someServers, "no file": ""} {
		t.Run(name, func(t *testing.T) {
			c := in(t, before)
			saves := 0
			_, err := c.BeforeSwap(func() {
				if saves++; saves < 3 {
					require.NoError(t, os.WriteFile(c.File, []byte(`{"theme": `+strconv.Itoa(saves)+`}`), 0o600))
				}
			}).Apply(t.Context())
			require.NoError(t, err)
			require.Equal(t, 3, saves)
			require.Contains(t, read(t, c.File), `"theme": 2`)
			require.Contains(t, read(t, c.File), `"waybill"`)
		})
	}
}

func TestFileThatOthersKeepWritingIsGivenUp(t *testing.T) {
	c := in(t, someServers)
	saves := 0
	_, err := c.BeforeSwap(func() {
		saves++
		require.NoError(t, os.WriteFile(c.File, []byte(`{"theme": `+strconv.Itoa(saves)+`}`), 0o600))
	}).Apply(t.Context())
	var busy *replace.BusyError
	require.ErrorAs(t, err, &busy)
	require.ErrorContains(t, err, "stop them, and try again")
	require.Equal(t, `{"theme": `+strconv.Itoa(saves)+`}`, read(t, c.File))
	require.NoFileExists(t, c.File+replace.LockSuffix)
}

func TestTwoInstallsAtOnce(t *testing.T) {
	for name, before := range map[string]string{"a file": someServers, "no file": ""} {
		t.Run(name, func(t *testing.T) {
			installAll(t, in(t, before))
		})
	}
}

// installAll makes many changes of a file at once, none of which is lost.
func installAll(t *testing.T, c hostconfig.Change) {
	t.Helper()
	const many = 8
	errs := make([]error, many)
	var all sync.WaitGroup
	for i := range many {
		all.Go(func() {
			own := c
			own.Entry.Name = fmt.Sprintf("waybill-%d", i)
			_, errs[i] = own.Apply(t.Context())
		})
	}
	all.Wait()
	text := read(t, c.File)
	for i, err := range errs {
		require.NoError(t, err)
		require.Contains(t, text, fmt.Sprintf(`"waybill-%d"`, i))
	}
	require.NoFileExists(t, c.File+replace.LockSuffix)
}

// A process that died while it wrote left its lock behind. Every later change waited for it and failed.
func TestAbandonedLockIsRemoved(t *testing.T) {
	for _, left := range []string{"", "{\"mcpServers\": {\"wayb"} {
		c := in(t, someServers)
		lock := abandonLock(t, c, left)
		c.Wait = time.Nanosecond
		result, err := c.Apply(t.Context())
		require.NoError(t, err)
		require.Equal(t, notation.Added, result.Action)
		require.Contains(t, read(t, c.File), `"waybill"`)
		require.NoFileExists(t, lock)
	}
}

// abandonLock makes a lock whose process ended a minute ago.
func abandonLock(t *testing.T, c hostconfig.Change, text string) (lock string) {
	t.Helper()
	lock = c.File + replace.LockSuffix
	require.NoError(t, os.WriteFile(lock, []byte(text), 0o600))
	long := time.Now().Add(-time.Minute)
	require.NoError(t, os.Chtimes(lock, long, long))
	return lock
}

func TestHeldLockIsNamed(t *testing.T) {
	c := in(t, someServers)
	lock := c.File + replace.LockSuffix
	_, err := c.BeforeSwap(func() {
		long := time.Now().Add(-time.Minute)
		require.NoError(t, os.Chtimes(lock, long, long))
		other := c
		other.Wait = time.Nanosecond
		_, err := other.Apply(t.Context())
		var busy *replace.BusyError
		require.ErrorAs(t, err, &busy)
		require.ErrorContains(t, err, "if none is running, remove ")
		other.Wait = time.Minute
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err = other.Apply(ctx)
		require.ErrorIs(t, err, context.Canceled)
		require.FileExists(t, lock)
	}).Apply(t.Context())
	require.NoError(t, err)
	require.Contains(t, read(t, c.File), `"waybill"`)
}

// A folder with the name of the lock is not touched.
func TestLockThatIsNoFileIsLeftAlone(t *testing.T) {
	c := in(t, someServers)
	require.NoError(t, os.Mkdir(c.File+replace.LockSuffix, 0o755))
	c.Wait = time.Nanosecond
	_, err := c.Apply(t.Context())
	require.ErrorContains(t, err, "if none is running, remove ")
	require.DirExists(t, c.File+replace.LockSuffix)
	require.Equal(t, someServers, read(t, c.File))
}

// Many processes that find an abandoned lock remove it once, and none removes the lock of another.
func TestAbandonedLockIsRemovedOnce(t *testing.T) {
	for range 20 {
		c := in(t, someServers)
		abandonLock(t, c, "")
		installAll(t, c)
	}
}

// Without a name for the backup, the file stays as it is.
func TestNothingIsWrittenWithoutABackup(t *testing.T) {
	c := in(t, someServers)
	require.NoError(t, os.Mkdir(c.File+replace.BackupSuffix, 0o755)) // a name that is taken is passed over
	result, err := c.Apply(t.Context())
	require.NoError(t, err)
	require.Equal(t, c.File+replace.BackupSuffix+"-2", filepath.Join(filepath.Dir(c.File), filepath.Base(result.Backup)))

	c = in(t, someServers)
	for i := range 1000 {
		name := c.File + replace.BackupSuffix
		if i > 0 {
			name += "-" + strconv.Itoa(i+1)
		}
		require.NoError(t, os.WriteFile(name, []byte("older"), 0o600))
	}
	_, err = c.Apply(t.Context())
	require.ErrorContains(t, err, "1000 backups already")
	require.Equal(t, someServers, read(t, c.File))
	require.NoFileExists(t, c.File+replace.LockSuffix)
}

// An edit that would lose something, or would not be found again, is not written.
func TestWrongEditIsNotWritten(t *testing.T) {
	for want, spoil := range map[string]func(string) string{
		"waybill cannot change waybill in a file of this form": func(text string) string {
			return strings.Replace(text, `"notes-mcp"`, `"other-mcp"`, 1)
		},
		"waybill cannot change waybill in": func(text string) string { return text + "}" },
		"waybill could not find waybill in it again": func(text string) string {
			return strings.Replace(text, entry.Command, "/opt/other", 1)
		},
		"could not find waybill in it again: edit it by hand": func(string) string { return someServers },
	} {
		c := in(t, someServers)
		c.Host = c.Host.Spoiled(spoil)
		_, err := c.Apply(t.Context())
		require.ErrorContains(t, err, want)
		require.Equal(t, someServers, read(t, c.File))
		require.Len(t, names(t, c.File), 1)
	}
}
