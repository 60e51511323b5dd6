package hostconfig_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/hostconfig"
)

// home is a folder that is there, with places in it.
func home(t *testing.T, goos string, env map[string]string) hostconfig.Places {
	t.Helper()
	return hostconfig.Places{GOOS: goos, Home: t.TempDir(), Env: func(name string) string { return env[name] }}
}

// docs/hosts.md has the files without these variables, and those of projects: TestHostsDocumentIsCurrent compares them.
func TestVariablesNameTheFolderOfTheFile(t *testing.T) {
	elsewhere := t.TempDir()
	for _, test := range []struct {
		host, goos, variable string
		want                 string // below the folder that the variable names
	}{
		{"claude-code", "linux", "CLAUDE_CONFIG_DIR", ".claude.json"},
		{"codex", "windows", "CODEX_HOME", "config.toml"},
		{"gemini", "linux", "GEMINI_CLI_HOME", ".gemini/settings.json"},
		{"opencode", "darwin", "XDG_CONFIG_HOME", "opencode/opencode.json"},
		{"vscode", "linux", "XDG_CONFIG_HOME", "Code/User/mcp.json"},
		{"vscode", "windows", "APPDATA", "Code/User/mcp.json"},
		{"zed", "linux", "XDG_CONFIG_HOME", "zed/settings.json"},
		{"zed", "linux", "FLATPAK_XDG_CONFIG_HOME", "zed/settings.json"},
		{"zed", "windows", "APPDATA", "Zed/settings.json"},
	} {
		t.Run(test.host+" "+test.goos+" "+test.variable, func(t *testing.T) {
			places := home(t, test.goos, map[string]string{test.variable: elsewhere})
			host, ok := hostconfig.Named(test.host)
			require.True(t, ok)
			file, err := host.File(places)
			require.NoError(t, err)
			require.Equal(t, filepath.Join(elsewhere, filepath.FromSlash(test.want)), file)
		})
	}
}

// If the host reads two names, the existing file is chosen.
func TestExistingFileIsPreferred(t *testing.T) {
	project := t.TempDir()
	there := filepath.Join(project, "opencode.jsonc")
	require.NoError(t, os.WriteFile(there, []byte("{}"), 0o600))
	host, _ := hostconfig.Named("opencode")
	file, err := host.File(hostconfig.Places{Project: project})
	require.NoError(t, err)
	require.Equal(t, there, file)
}

func TestUnknownPlacesAreRefused(t *testing.T) {
	absent := filepath.Join(t.TempDir(), "gone")
	for want, places := range map[string]hostconfig.Places{
		"set HOME, or use --project":                         {GOOS: "linux"},
		"the home folder " + absent + " does not exist":      {GOOS: "linux", Home: absent},
		`is "relative", which is not an absolute path`:       home(t, "linux", map[string]string{"CODEX_HOME": "relative"}),
		"the configuration of Codex: CODEX_HOME is \"a b\",": home(t, "linux", map[string]string{"CODEX_HOME": "a b"}),
	} {
		host, _ := hostconfig.Named("codex")
		_, err := host.File(places)
		require.ErrorContains(t, err, want)
	}
	relative := home(t, "linux", map[string]string{"XDG_CONFIG_HOME": "relative"})
	host, _ := hostconfig.Named("zed")
	file, err := host.File(relative)
	require.NoError(t, err)
	require.Equal(t, filepath.Join(relative.Home, ".config", "zed", "settings.json"), file)
	_, err = host.File(hostconfig.Places{GOOS: "windows"})
	require.ErrorContains(t, err, "HOME")
	_, known := hostconfig.Named("emacs")
	require.False(t, known)
}

// The home folder was required although the configuration folder was known.
func TestAKnownFolderNeedsNoHome(t *testing.T) {
	folder := t.TempDir()
	places := hostconfig.Places{GOOS: "linux", Env: func(name string) string { return map[string]string{"XDG_CONFIG_HOME": folder}[name] }}
	host, _ := hostconfig.Named("zed")
	file, err := host.File(places)
	require.NoError(t, err)
	require.Equal(t, filepath.Join(folder, "zed", "settings.json"), file)
}

func TestProgramIsTheNameThatAnUpdateKeeps(t *testing.T) {
	dir := t.TempDir()
	cellar, bin := filepath.Join(dir, "1.2", "waybill"), filepath.Join(dir, "waybill")
	require.NoError(t, os.MkdirAll(filepath.Dir(cellar), 0o755))
	require.NoError(t, os.WriteFile(cellar, nil, 0o755))
	finds := func(path string) func(string) (string, error) {
		return func(name string) (string, error) {
			require.Equal(t, "waybill", name)
			return path, nil
		}
	}
	other := filepath.Join(dir, "other")
	require.NoError(t, os.WriteFile(other, nil, 0o755))
	got, err := hostconfig.ProgramAt(cellar, finds(other))
	require.NoError(t, err)
	require.Equal(t, cellar, got, "another program of that name is not this one")
	got, err = hostconfig.ProgramAt(cellar, func(string) (string, error) { return "", os.ErrNotExist })
	require.NoError(t, err)
	require.Equal(t, cellar, got)
	if err := os.Link(cellar, bin); err != nil {
		t.Skip("this file system has no second names: ", err)
	}
	got, err = hostconfig.ProgramAt(cellar, finds(bin))
	require.NoError(t, err)
	require.Equal(t, bin, got)
}

func TestTemporaryProgramsAreRefused(t *testing.T) {
	nowhere := func(string) (string, error) { return "", os.ErrNotExist }
	_, err := hostconfig.ProgramAt(filepath.Join(t.TempDir(), "waybill"), nowhere)
	require.ErrorContains(t, err, "was moved or removed")
	for _, folder := range []string{"go-build123/b001/exe", "go-build/0a/0a1b-d"} {
		_, err = hostconfig.ProgramAt(programIn(t, folder), nowhere)
		require.ErrorContains(t, err, "`go run`")
	}
	_, err = hostconfig.Program() // the test is such a program itself, unless it was built with -c
	if err != nil {
		require.ErrorContains(t, err, "`go run`")
	}
}

// A program that was built in a folder such as go-builder was taken for one of `go run`.
func TestFoldersOfSimilarNamesAreNotThoseOfGoRun(t *testing.T) {
	path := programIn(t, "go-builder/bin")
	got, err := hostconfig.ProgramAt(path, func(string) (string, error) { return "", os.ErrNotExist })
	require.NoError(t, err)
	require.Equal(t, path, got)
}

// programIn makes a program in a folder below a new one.
func programIn(t *testing.T, folder string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), filepath.FromSlash(folder), "waybill")
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, nil, 0o755))
	return path
}
