package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/cli/output"
	"waybill/cli/settings"
	"waybill/schema/codec"
	"waybill/test/golden"
)

// TestBadConfigurations holds the exact words for files that cannot be used.
func TestBadConfigurations(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct{ text, want string }{
		{"", ": must be one JSON object, and {} for no settings"},
		{"null", ":1: must be one JSON object, and {} for no settings"},
		{"[{}]", ":1: must be one JSON object, and {} for no settings"},
		{"{}\n{}", ":2: this is not JSON"},
		{"{\n\"prompt\": {,}}", ":2: prompt: this is not JSON"},
		{"{\"x-a\": \"\xff\"}", ":1: x-a: this is not valid UTF-8"},
		{"{\"policy\": {},\n\"policy\": {}}", ":2: policy is there twice"},
		{"{\"polcy\": {}}", `:1: polcy is not known; did you mean "policy"?`},
		{"{\"policy\": {\n\"stalled_treshold\": 3}}", `:2: policy.stalled_treshold is not known; did you mean "stalled_threshold"?`},
		{"{\"worker\": 5}", `:1: worker is not known; known here: prompt, policy, tasks, results, plans, store; worker belongs into the object prompt.max_input_tokens`},
		{"{\"policy\": []}", ":1: policy must be an object, not an empty list"},
		{"{\"policy\": null}", ":1: policy must be an object or left out, not null"},
		{"{\"plans\": {\"dialects\": [\"a=b\"]}}", `:1: plans.dialects "a=b": there is no dialect "b": ` + "`waybill plan --help` lists them"},
		{"{\"results\": {\n\"output_dir\": \"out\"}}", `:2: results.output_dir must be an absolute path, not "out"`},
		{
			"{\"prompt\": {\"max_output_tokens\": 4000}}",
			":1: prompt.max_output_tokens must be smaller than prompt.max_input_tokens.reviewer (4000), and is 4000; there would be no room for a prompt",
		},
		{strings.Repeat(" ", settings.MaxConfig) + "{}", "is larger than 65536 bytes"},
	} {
		path := written(t, c.text)
		_, _, err := process(t, nil, "--config", path)
		require.Error(t, err, c.text)
		require.Equal(t, output.ExitUsage, output.ExitCode(err))
		if strings.HasPrefix(c.want, ":") {
			c.want = path + c.want
		}
		require.Contains(t, err.Error(), c.want)
	}
	_, _, err := process(t, nil, "--config", dir)
	require.EqualError(t, err, "the configuration "+dir+" is a folder, and must be a file (--config)")
	_, _, err = process(t, map[string]string{settings.ConfigVariable: filepath.Join(dir, "none")})
	require.ErrorContains(t, err, "cannot be read: ")
	require.ErrorContains(t, err, " (WAYBILL_CONFIG)")
}

// A file that nobody has named may be missing, and so may its folder; what is there is read.
func TestTheUsualConfigurationMayBeMissing(t *testing.T) {
	dir := t.TempDir()
	env := map[string]string{"XDG_CONFIG_HOME": dir}
	a, _, err := process(t, env)
	require.NoError(t, err)
	require.Empty(t, a.Settings.File)
	path := filepath.Join(dir, "waybill", "config.json")
	require.NoError(t, os.Mkdir(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, []byte("\ufeff{\"plans\": {\"poll\": true}}"), 0o600))
	a, _, err = process(t, env)
	require.NoError(t, err)
	require.Equal(t, path, a.Settings.File)
	require.True(t, *a.Settings.Plans.Poll)
	a, _, err = process(t, env, "--config", "")
	require.NoError(t, err)
	require.False(t, *a.Settings.Plans.Poll)

	require.Equal(t, filepath.Join(dir, ".config"), (&settings.Finder{Env: func(name string) string { return map[string]string{"HOME": dir}[name] }}).ConfigBase("linux"))
	_, _, err = process(t, map[string]string{"XDG_CONFIG_HOME": path}) // a file where a folder should be
	require.NoError(t, err)
}

// docs/settings.md has every setting, and says of each what holds in the program.
func TestSettingsAreInTheDocs(t *testing.T) {
	path := filepath.Join("..", "docs", "settings.md")
	var rows strings.Builder
	rows.WriteString("| setting | must be | built in | variable | flag of `serve` | meaning |\n|---|---|---|---|---|---|\n")
	for _, row := range codec.SettingRows() {
		cells := []string{row.BuiltIn, settings.SettingVariable(row.Name), ""}
		if name := settings.SettingFlags[row.Name]; name != "" {
			cells[2] = "--" + name
		}
		for i, cell := range cells {
			if cell != "" {
				cells[i] = "`" + cell + "`"
			}
		}
		fmt.Fprintf(&rows, "| `%s` | %s | %s | %s |\n", row.Name, row.Allowed, strings.Join(cells, " | "), row.Doc)
	}
	golden.Parts(t, path, map[string]string{"settings": rows.String()})
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	example := regexp.MustCompile("(?s)```json\n(.*?)```").FindSubmatch(text)
	given, fault := codec.ReadSettings(example[1])
	require.Nil(t, fault, "%v", fault)
	require.Len(t, given, 11)
}
