package file_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	planfile "waybill/plan/file"
)

func TestUnchangedNeedsASettledReading(t *testing.T) {
	dir, _ := planned(t, planText)
	now := time.Now()
	r := open(t, dir, planfile.Options{Now: func() time.Time { return now }})

	young := readOf(t, r, "tasks.md", nil)
	require.False(t, young.Settled, "a file just written may change within its clock's tick")

	again := readOf(t, r, "tasks.md", &young)
	require.False(t, again.Unchanged)

	now = now.Add(10 * time.Second)
	old := readOf(t, r, "tasks.md", &young)
	require.False(t, old.Unchanged, "the first reading was too young to vouch for anything")
	require.True(t, old.Settled)

	same := readOf(t, r, "tasks.md", &old)
	require.True(t, same.Unchanged)
	require.Equal(t, old.Text, same.Text)
	require.Equal(t, old.Stat, same.Stat)
}

// Bytes change but the modification time is put back (cp -p, touch -r, git).
func TestFaultF22_PreservedMtimeDoesNotHideAChange(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "tasks.md")
	old := time.Now().Add(-time.Hour)
	write(t, path, "- [ ] 1. a\n")
	require.NoError(t, os.Chtimes(path, old, old))
	r := open(t, dir, planfile.Options{Now: later})

	for name, save := range map[string]func(){
		"in place": func() { write(t, path, "- [x] 1. a\n") },
		"by rename": func() {
			write(t, path+".tmp", "- [~] 1. a\n")
			require.NoError(t, os.Rename(path+".tmp", path))
		},
	} {
		first := readOf(t, r, "tasks.md", nil)
		require.True(t, first.Settled, name)
		for moved := false; !moved; { // the clock of the file system has ticks
			save()
			require.NoError(t, os.Chtimes(path, old, old))
			now := statOf(t, path)
			require.Equal(t, first.Stat.Size, now.Size)
			require.Equal(t, first.Stat.MtimeNs, now.MtimeNs)
			moved = now != first.Stat
		}
		second := readOf(t, r, "tasks.md", &first)
		require.False(t, second.Unchanged, name)
		require.NotEqual(t, first.Text, second.Text, name)
	}
}

// A modification time in the future, from a wrong clock, never spares a read.
func TestFaultF22_FutureMtimeIsNeverTrusted(t *testing.T) {
	dir, path := planned(t, planText)
	future := time.Now().Add(time.Hour)
	require.NoError(t, os.Chtimes(path, future, future))
	now := later()
	r := open(t, dir, planfile.Options{Now: func() time.Time { return now }})
	f := readOf(t, r, "tasks.md", nil)
	require.False(t, f.Settled)

	now = future.Add(time.Minute)
	f = readOf(t, r, "tasks.md", &f)
	require.True(t, f.Settled)
	now = future.Add(-time.Minute) // the clock is put right again
	f = readOf(t, r, "tasks.md", &f)
	require.False(t, f.Unchanged)
}

// One file reached by two spellings of the workspace, or by a hard link, has one
// identity.
func TestFaultF18_SpellingsShareOneIdentity(t *testing.T) {
	base := t.TempDir()
	real := filepath.Join(base, "real")
	write(t, filepath.Join(real, "tasks.md"), planText)
	require.NoError(t, os.Link(filepath.Join(real, "tasks.md"), filepath.Join(real, "hard.md")))
	alias := filepath.Join(base, "alias")
	symlink(t, "real", alias)

	want, err := open(t, real, planfile.Options{}).Read("tasks.md", nil)
	require.NoError(t, err)
	for _, dir := range []string{alias, real + string(filepath.Separator), filepath.Join(base, "real", "..", "alias")} {
		r := open(t, dir, planfile.Options{})
		for _, rel := range []string{"tasks.md", "hard.md"} {
			got, err := r.Read(rel, nil)
			require.NoError(t, err, dir)
			require.Equal(t, want.Stat, got.Stat, dir)
		}
	}
}
