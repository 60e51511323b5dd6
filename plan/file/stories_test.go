package file_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/plan"
	planfile "waybill/plan/file"
	"waybill/plan/places"
	"waybill/test/golden"
)

// Each story of testdata/stories.txt is a workspace in which files are made and looked at, a step a line. Below each look
// stands what it found, which -update writes. A target of a link that begins with / is below the folder of the workspace.
func TestStories(t *testing.T) {
	text, err := os.ReadFile("testdata/stories.txt")
	require.NoError(t, err)
	var all []string
	for _, want := range strings.Split(strings.TrimSuffix(string(text), "\n"), "\n\n") {
		title, _, _ := strings.Cut(want, "\n")
		all = append(all, want)
		t.Run(strings.Trim(title, "# "), func(t *testing.T) {
			s := &site{t: t, base: t.TempDir(), folders: strings.Contains(title, "(folders"), last: map[string]planfile.File{}}
			require.NoError(t, os.Mkdir(s.at("."), 0o755))
			s.open(".")
			var got strings.Builder
			for line := range strings.SplitSeq(want, "\n") {
				if strings.HasPrefix(line, "  ") {
					continue
				}
				got.WriteString(line + "\n")
				if line != title {
					got.WriteString(s.step(line))
				}
			}
			all[len(all)-1] = strings.TrimSuffix(got.String(), "\n")
			if !golden.Update() {
				require.Equal(t, portable(want), portable(all[len(all)-1]))
			}
		})
	}
	if golden.Update() {
		golden.File(t, "testdata/stories.txt", strings.Join(all, "\n\n")+"\n")
	}
}

// portable leaves out what systems say in words of their own.
func portable(story string) string {
	if runtime.GOOS == "linux" {
		return story
	}
	return regexp.MustCompile(`(?m)^  (refused [^:\n]*|error):.*$`).ReplaceAllString(story, "  $1")
}

// A site is a workspace, and what was read there last.
type site struct {
	t       *testing.T
	base    string
	folders bool
	*planfile.Root
	last map[string]planfile.File // by the path that it was read by
}

func (s *site) at(name string) string { return filepath.Join(s.base, "ws", filepath.FromSlash(name)) }

func (s *site) open(name string) {
	s.Root = open(s.t, s.at(name), planfile.Options{Folders: s.folders, Now: later})
}

// step does what a line says, and returns what was found.
func (s *site) step(line string) string {
	s.t.Helper()
	verb, rest, _ := strings.Cut(line, " ")
	words := strings.Fields(rest)
	var err error
	switch verb {
	case "open":
		s.open(rest)
	case "write":
		name, text, _ := strings.Cut(rest, " = ")
		write(s.t, s.at(name), strings.ReplaceAll(text, `\n`, "\n"))
	case "mkdir":
		err = os.MkdirAll(s.at(rest), 0o755)
	case "rm":
		err = os.RemoveAll(s.at(rest))
	case "mv":
		err = os.Rename(s.at(words[0]), s.at(words[1]))
	case "link":
		err = os.Link(s.at(words[0]), s.at(words[1]))
	case "ln":
		target := words[0]
		if strings.HasPrefix(target, "/") {
			target = filepath.Join(s.base, target)
		}
		symlink(s.t, target, s.at(words[1]))
	case "read":
		return s.read(rest, nil)
	case "again":
		last := s.last[rest]
		return s.read(rest, &last)
	case "after": // what another path said
		last := s.last[words[0]]
		return s.read(words[1], &last)
	case "set": // the text of one file of a folder, or of the whole plan
		name, text, _ := strings.Cut(strings.TrimPrefix(rest, words[0]+" "), " = ")
		return s.told(s.Rewrite(words[0], "", func(f planfile.File) (string, error) {
			if _, isJoined := plan.SplitFiles(f.Text); !isJoined {
				return text, nil
			}
			return setting(name, text)(f)
		}))
	case "show":
		return s.show(rest)
	case "find":
		if rest == "default" {
			words = places.Patterns()
		}
		found, err := s.Search(words)
		return list(found, err)
	case "known":
		found, err := s.Search(places.Patterns(), words...)
		return list(found, err)
	case "absent":
		return fmt.Sprintf("  %v\n", s.Absent(rest))
	default:
		require.Fail(s.t, "nobody knows this verb", verb)
	}
	require.NoError(s.t, err, line)
	return ""
}

// show returns the text of a file, or what lies in a folder.
func (s *site) show(name string) string {
	s.t.Helper()
	text, err := os.ReadFile(s.at(name))
	if err == nil {
		return fmt.Sprintf("  %q\n", text)
	}
	entries, err := os.ReadDir(s.at(name))
	require.NoError(s.t, err)
	all := " "
	for _, e := range entries {
		all += " " + e.Name() + map[bool]string{true: "@"}[e.Type() == fs.ModeSymlink]
	}
	return all + "\n"
}

func list(found planfile.Finding, err error) string {
	if err != nil {
		return fmt.Sprintf("  error: %v\n", err)
	}
	return "  " + strings.Join(found.Plans, "\n  ") + "\n"
}

func (s *site) read(name string, last *planfile.File) string {
	s.t.Helper()
	f, err := s.Read(name, last)
	if err == nil {
		s.last[name] = f
	}
	return s.told(f, err)
}

// told says what was read, or why it was not.
func (s *site) told(f planfile.File, err error) string {
	s.t.Helper()
	if err != nil {
		e, ok := errors.AsType[*planfile.Error](err)
		require.True(s.t, ok, "%T", err)
		require.ErrorIs(s.t, err, e.Reason)
		require.Contains(s.t, err.Error(), e.Path)
		require.NotContains(s.t, err.Error(), s.base)
		require.NotRegexp(s.t, `stat|openat|CreateFile`, err.Error())
		if e.Reason == planfile.SymlinkDangling {
			require.ErrorIs(s.t, err, fs.ErrNotExist)
		}
		return fmt.Sprintf("  refused %s %s: %v\n", e.Path, e.Reason, err)
	}
	require.EqualValues(s.t, len(f.Text), f.Stat.Size)
	require.Equal(s.t, f.Stat.MtimeNs/1e6, f.Stat.MtimeMs())
	require.Equal(s.t, path.Clean(f.Path), f.Path)
	text := fmt.Sprintf("  %s %q", f.Path, f.Text)
	if files, ok := plan.SplitFiles(f.Text); ok && f.Folder() {
		text = "  " + strings.Join(f.Folders(), "/ ") + "/"
		for _, file := range files {
			text += fmt.Sprintf(" %s %q", file.Name, file.Text)
		}
	}
	for word, is := range map[string]bool{" unchanged": f.Unchanged, " unstable": f.Unstable, " young": !f.Settled} {
		if is {
			text += word
		}
	}
	return text + "\n"
}
