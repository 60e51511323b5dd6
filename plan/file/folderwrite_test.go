package file_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/plan"
	planfile "waybill/plan/file"
)

// setting returns an edit that returns one file of a folder a text.
func setting(name, text string) func(planfile.File) (string, error) {
	return func(f planfile.File) (string, error) {
		files, _ := plan.SplitFiles(f.Text)
		for i := range files {
			if files[i].Name == name {
				files[i].Text = text
			}
		}
		return plan.JoinFiles(files), nil
	}
}

func TestRewriteOfAFolderReplacesOneFile(t *testing.T) {
	r, at := folder(t, map[string]string{"a.md": "a\r\n", "b.md": "\ufeffb", "c.md": "c"})
	before := statOf(t, at("a.md"))
	old := readOf(t, r, plans, nil)
	f, err := r.Rewrite(plans, hash(old.Text), setting("b.md", "\ufeffnew"))
	require.NoError(t, err)
	_, texts := parts(t, f)
	require.Equal(t, map[string]string{"a.md": "a\r\n", "b.md": "\ufeffnew", "c.md": "c"}, texts)
	has(t, at("b.md"), "\ufeffnew")
	after := statOf(t, at("a.md"))
	require.Equal(t, before, after, "another file was touched")
	only(t, at(""), "a.md", "b.md", "c.md")
}

func TestRewriteOfAFolderRefusesAnythingElse(t *testing.T) {
	r, at := folder(t, map[string]string{"a.md": "a", "b.md": "b"})
	join := func(files ...plan.PlanFile) func(planfile.File) (string, error) {
		return func(planfile.File) (string, error) { return plan.JoinFiles(files), nil }
	}
	one := func(name, text string) plan.PlanFile { return plan.PlanFile{Name: name, Text: text} }
	for why, edit := range map[string]func(planfile.File) (string, error){
		"the set of its files": join(one("a.md", "a")),
		"more than one of":     join(one("a.md", "x"), one("b.md", "x")),
		"would change":         join(one("a.md", "a"), one("c.md", "b")),
		"has changed":          func(planfile.File) (string, error) { return "a", nil },
	} {
		_, err := r.Rewrite(plans, "", edit)
		require.ErrorContains(t, err, why)
		require.ErrorContains(t, err, plans)
	}
	_, err := r.Rewrite(plans, "", setting("a.md", strings.Repeat("x", 1<<20)))
	require.Equal(t, planfile.Error{Path: plans, Reason: planfile.TooLarge, Size: 1<<20 + 1, Limit: 1 << 20, Err: planfile.TooLarge},
		refused(t, err, plans, planfile.TooLarge))
	has(t, at("a.md"), "a")
	has(t, at("b.md"), "b")
	only(t, at(""), "a.md", "b.md")
}

// A person saves the file that is being written, or another one of the folder.
func TestRewriteOfAFolderLosesNoSave(t *testing.T) {
	r, at := folder(t, map[string]string{"a.md": "a", "b.md": "b"})
	r.BeforeSwap(func() { write(t, at("b.md"), "by hand") })
	f, err := r.Rewrite(plans, "", setting("a.md", "new"))
	require.NoError(t, err)
	_, texts := parts(t, f)
	require.Equal(t, map[string]string{"a.md": "new", "b.md": "by hand"}, texts)

	r.BeforeSwap(func() { write(t, at("a.md"), "by hand") })
	_, err = r.Rewrite(plans, "", setting("a.md", "newer"))
	c, ok := errors.AsType[*planfile.ConflictError](err)
	require.True(t, ok, "%v", err)
	require.Equal(t, plans, c.Path)
	now := readOf(t, r, plans, nil)
	require.Equal(t, hash(now.Text), c.Found)
	has(t, at("a.md"), "by hand")
	only(t, at(""), "a.md", "b.md")

	_, err = r.Rewrite(plans, hash("what it said before"), setting("a.md", "x"))
	require.ErrorAs(t, err, &c)
	require.Equal(t, hash(now.Text), c.Found)
}
