package hostconfig_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/hostconfig"
	"waybill/test/golden"
)

var document = filepath.Join("..", "docs", "hosts.md")

// The document has the files and the notes of each host as the setup writes and says them.
func TestHostsDocumentIsCurrent(t *testing.T) {
	golden.Parts(t, document, map[string]string{"places": placesTable(t), "notes": notesList()})
}

func notesList() string {
	var b strings.Builder
	for _, host := range hostconfig.Hosts() {
		if notes := host.Notes(); len(notes) > 0 {
			fmt.Fprintf(&b, "- **%s:** %s\n", host.Title, strings.Join(notes, " "))
		}
	}
	return b.String()
}

// placesTable has a row for each host.
func placesTable(t *testing.T) string {
	var b strings.Builder
	b.WriteString("| host | server | hooks | skill | with `--project` |\n|---|---|---|---|---|\n")
	for _, host := range hostconfig.Hosts() {
		var yours []string
		for _, system := range []struct{ goos, title string }{{"linux", ""}, {"darwin", "macOS"}, {"windows", "Windows"}} {
			file := fileIn(t, host, system.goos)
			switch {
			case system.goos == "linux":
				yours = append(yours, "`"+file+"`")
			case "`"+file+"`" != yours[0]:
				yours = append(yours, "on "+system.title+" `"+file+"`")
			}
		}
		s := newSetup(t, nil)
		hooks, skill := partsOf(t, s, host, s.Home, "~")
		s.Project = t.TempDir()
		projectHooks, projectSkill := partsOf(t, s, host, s.Project+"/", "")
		var shared []string
		for _, file := range []string{"`" + projectFile(t, host) + "`", projectHooks, projectSkill} {
			if file != "none" && !slices.Contains(shared, file) {
				shared = append(shared, file)
			}
		}
		fmt.Fprintf(&b, "| %s (`%s`) | %s | %s | %s | %s |\n", host.Title, host.Name, strings.Join(yours, ", "), hooks, skill, strings.Join(shared, ", "))
	}
	return b.String()
}

// partsOf returns the files of hooks and skill.
func partsOf(t *testing.T, s *hostconfig.Setup, host hostconfig.Host, folder, instead string) (hooks, skill string) {
	files, err := s.Files(host)
	require.NoError(t, err)
	hooks, skill = "none", "none"
	for _, f := range files {
		for _, p := range f.Parts {
			path := "`" + instead + filepath.ToSlash(strings.TrimPrefix(f.Path, folder)) + "`"
			switch p.Kind {
			case hostconfig.Hooks:
				hooks = path
			case hostconfig.Plugin:
				hooks = path + " (a plugin)"
			case hostconfig.Skill:
				skill = path
			case hostconfig.Server:
			}
		}
	}
	return hooks, skill
}

func fileIn(t *testing.T, host hostconfig.Host, goos string) string {
	places := home(t, goos, nil)
	file, err := host.File(places)
	require.NoError(t, err)
	return "~" + filepath.ToSlash(strings.TrimPrefix(file, places.Home))
}

func projectFile(t *testing.T, host hostconfig.Host) string {
	project := t.TempDir()
	file, err := host.File(hostconfig.Places{Project: project})
	require.NoError(t, err)
	return strings.TrimPrefix(filepath.ToSlash(strings.TrimPrefix(file, project)), "/")
}
