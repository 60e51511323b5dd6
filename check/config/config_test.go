package config_test

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/pelletier/go-toml/v2"
	"github.com/stretchr/testify/require"

	"waybill/check/config"
	"waybill/core/proof"
	"waybill/test/golden"
)

const sound = `[[check]]
name = "test"
run = "make test"            # sh -c
timeout = "90s"
protect = ["Makefile", "**/*_test.go"]

[[check]]
name = "e2e"
argv = ["go", "test", "./test e2e"]
when = "plan"
`

func TestChecksAreReadAsDeclared(t *testing.T) {
	want := []config.Check{
		{Name: "test", Command: "make test", Timeout: 90 * time.Second, When: config.PerItem, Protect: []string{"Makefile", "**/*_test.go"}, Line: 1},
		{Name: "e2e", Argv: []string{"go", "test", "./test e2e"}, When: config.PerPlan, Line: 7},
	}
	for name, text := range map[string]string{
		"headers": sound, "a byte order mark": "\ufeff" + sound, "line ends of Windows": strings.ReplaceAll(sound, "\n", "\r\n"),
	} {
		checks, mistakes := config.Parse([]byte(text))
		require.Empty(t, mistakes, name)
		for i := range checks {
			checks[i].Line = want[i].Line
		}
		require.Equal(t, want, checks, name)
	}
	require.Equal(t, "go test './test e2e'", want[1].CommandLine())
	checks, mistakes := config.Parse([]byte("check = [{name = \"a\", run = \"x\"}, {name = \"b\", run = '''\ny\n'''}]\n"))
	require.Empty(t, mistakes)
	require.Equal(t, "y\n", checks[1].Command)
	checks, mistakes = config.Parse(nil)
	require.Empty(t, mistakes)
	require.Empty(t, checks)
}

// said returns the mistakes of a file, one a line.
func said(text string) string {
	_, mistakes := config.Parse([]byte(text))
	lines := make([]string, len(mistakes))
	for i, m := range mistakes {
		lines[i] = m.String()
	}
	return strings.Join(lines, "\n")
}

// with returns a file with one sound check, and one that has the lines besides a name.
func with(lines string) string {
	return "[[check]]\nname = \"first\"\nrun = \"true\"\n\n[[check]]\n" + lines
}

func TestErrorsOfSyntaxHaveLineAndColumn(t *testing.T) {
	for text, want := range map[string]string{
		"[[check]\n":                   `1:8: expected ']]' to close array table name: write [[check]]`,
		"[[check]]\nrun = make test\n": `2:7: unexpected character U+006D 'm' at start of value: write run = "make test"`,
		"[[check]]\nname = \"a\"\ntimeout = 10m # long\n": `3:13: strings must be quoted: write timeout = "10m"`,
		"[[check]]\nname = \"a\nrun = 1":                  `2:10: basic strings cannot have new lines`,
		"[[check]]\nname = \"a\"\nname = \"b\"\n":         `3:1: key name is already defined`,
		"[[check]]\nname = \"ä\" x\n":                     `2:12: expected newline but got U+0078 'x'`,
		"[[check]]\nname = \"a\xff\"\n":                   `2:10: the file is not UTF-8 here: save it as UTF-8`,
		"[[check]]\nrun = \"a\\qb\"\n":                    `2:9: invalid escape character U+0071 'q'`,
		"[check]\nname = \"a\"\n[[check]]\n":              `3:3: key check already exists as a table, but should be an array table: write [[check]]`,
	} {
		require.Equal(t, want, said(text), text)
	}
}

func TestUnknownKeysHaveASuggestion(t *testing.T) {
	for text, want := range map[string]string{
		with("name = \"a\"\nrun = \"x\"\ntiemout = \"1m\"\n"):   `8:1: "tiemout" is not known in [[check]]; did you mean timeout?`,
		with("name = \"a\"\nrun = \"x\"\ncommand = \"1m\"\n"):   `8:1: "command" is not known in [[check]]; did you mean run?`,
		with("name = \"a\"\nrun = \"x\"\ncolour = \"red\"\n"):   `8:1: "colour" is not known in [[check]]; known here: name, run, argv, timeout, when, protect`,
		with("name = \"a\"\nrun = \"x\"\n[check.env]\nA = 1\n"): `8:8: "env" is not known in [[check]]; known here: name, run, argv, timeout, when, protect`,
		with("name = \"a\"\nrun.with = \"x\"\n"):                "7:1: run must be a text in quotes, not a table: write run = \"make test\"",
		"[[checks]]\nname = \"a\"\n":                            `1:3: "checks" is not known: checks begin with a line [[check]]`,
		"name = \"a\"\nrun = \"x\"\n":                           "1:1: name stands outside of a check: write it below a line [[check]]\n2:1: run stands outside of a check: write it below a line [[check]]",
		"[check]\nname = \"a\"\nrun = \"x\"\n":                  "1:2: check must be a list of tables: write [[check]], with two brackets on each side",
		"check = [1]\n":                                         "1:10: check must be a list of tables: write [[check]] and the keys of the check below it",
	} {
		require.Equal(t, want, said(text), text)
	}
}

func TestWrongTypesSayWhatToWrite(t *testing.T) {
	for lines, want := range map[string]string{
		"name = 7\nrun = \"x\"\n":                             `6:8: name must be a text in quotes, not a number: write name = "7"`,
		"name = \"a\"\nrun = true\n":                          `7:7: run must be a text in quotes, not true or false: write run = "true"`,
		"name = \"a\"\nrun = [\"make\"]\n":                    `7:1: run must be a text in quotes, not a list: write argv = ["go", "test", "./..."] for a program with arguments, or run = "make test"`,
		"name = \"a\"\nargv = \"go test\"\n":                  `7:8: argv must be a list of texts, not a text: write run = "go test"`,
		"name = \"a\"\nargv = [\"go\", 1]\n":                  `7:15: argv must be a list of texts, and has a number: write argv = ["go", "test", "./..."]`,
		"name = \"a\"\nrun = \"x\"\ntimeout = 600\n":          `8:11: timeout must be a text in quotes, not a number: write timeout = "600s"`,
		"name = \"a\"\nrun = \"x\"\nwhen = 2024-01-01\n":      `8:8: when must be a text in quotes, not a date: write when = "2024-01-01"`,
		"name = \"a\"\nrun = \"x\"\nprotect = \"Makefile\"\n": `8:11: protect must be a list of texts, not a text: write protect = ["Makefile"]`,
		"name = \"a\"\nrun = \"x\"\nprotect = {a = 1}\n":      `8:11: protect must be a list of texts, not a table: write protect = ["Makefile", "**/*_test.go"]`,
		"name = \"a\"\nrun = \"x\"\nprotect = [[\"a\"]]\n":    `8:1: protect must be a list of texts, and has a list: write protect = ["Makefile", "**/*_test.go"]`,
	} {
		require.Equal(t, want, said(with(lines)), lines)
	}
}

func TestCommandIsEitherRunOrArgv(t *testing.T) {
	for lines, want := range map[string]string{
		"name = \"a\"\nargv = [\"x\"]\nrun = \"x\"\n": `8:7: the check has both run and argv: keep run for a line of shell, or argv for a program with arguments`,
		"name = \"a\"\n":                                              `5:3: the check has no command: write run = "make test" or argv = ["make", "test"]`,
		"name = \"a\"\nrun = \" \"\n":                                 `7:7: run is blank: write run = "make test"`,
		"name = \"a\"\nargv = []\n":                                   `7:1: argv has no program: write argv = ["go", "test", "./..."]`,
		"name = \"a\"\nargv = [\"\", \"x\"]\n":                        `7:1: argv has no program: write argv = ["go", "test", "./..."]`,
		"name = \"a\"\nrun = \"a\\u0000b\"\n":                         `7:7: the command has the character U+0000, which no command can have: remove it`,
		"name = \"a\"\nrun = \"" + strings.Repeat("x", 4097) + "\"\n": `7:7: the command has 4097 bytes, and at most 4096 are allowed: put it into a script and run that`,
	} {
		require.Equal(t, want, said(with(lines)), lines)
	}
}

func TestNamesAreUniqueAndValid(t *testing.T) {
	for lines, want := range map[string]string{
		"run = \"x\"\n":                        `5:3: the check has no name: write name = "test"`,
		"name = \"first\"\nrun = \"x\"\n":      `6:8: "first" is already the name of the check in line 1: choose another one`,
		"name = \"facts\"\nrun = \"x\"\n":      `6:8: "facts" is the name of the built-in check: choose another one, such as "facts-of-mine"`,
		"name = \"my test, 2\"\nrun = \"x\"\n": `6:8: the name "my test, 2" must be 1 to 128 of A-Z a-z 0-9 . _ : and -: write name = "my-test-2"`,
		"name = \"\"\nrun = \"x\"\n":           `6:8: the name "" must be 1 to 128 of A-Z a-z 0-9 . _ : and -: write name = "test"`,
	} {
		require.Equal(t, want, said(with(lines)), lines)
	}
	var b strings.Builder
	for i := range config.MaxChecks + 1 {
		fmt.Fprintf(&b, "[[check]]\nname = \"c%d\"\nrun = \"x\"\n", i)
	}
	require.Equal(t, "97:1: there are 33 checks, and at most 32 are allowed: combine some", said(b.String()))
}

func TestBadDurationsAndMoments(t *testing.T) {
	for lines, want := range map[string]string{
		`timeout = "10 minutes"`: `8:11: timeout "10 minutes" is no duration: write a number with a unit, such as "90s", "10m" or "1h30m"`,
		`timeout = "10"`:         `8:11: timeout "10" is no duration: write a number with a unit, such as "90s", "10m" or "1h30m"`,
		`timeout = "0s"`:         `8:11: timeout "0s" must be more than 0 and at most 24h: write timeout = "10m"`,
		`timeout = "-1m"`:        `8:11: timeout "-1m" must be more than 0 and at most 24h: write timeout = "10m"`,
		`timeout = "25h"`:        `8:11: timeout "25h" must be more than 0 and at most 24h: write timeout = "10m"`,
		`when = "plans"`:         `8:8: when must be "item" (before an item is approved) or "plan" (before a plan is completed), not "plans": write when = "plan"`,
		`when = "always"`:        `8:8: when must be "item" (before an item is approved) or "plan" (before a plan is completed), not "always": write when = "item"`,
	} {
		require.Equal(t, want, said(with("name = \"a\"\nrun = \"x\"\n"+lines+"\n")), lines)
	}
}

func TestBadPatterns(t *testing.T) {
	for pattern, want := range map[string]string{
		``:            `is blank: write a path such as "Makefile", or a pattern such as "**/*_test.go"`,
		`!a`:          `begins with !, and patterns only add files: remove it`,
		`/etc/passwd`: `is absolute: write it relative to the workspace`,
		`C:\\x`:       `is absolute: write it relative to the workspace`,
		`./Makefile`:  `begins with ./: write "Makefile"`,
		`a/../../b`:   `leaves the workspace with ..: write a pattern inside of it`,
		`test/`:       `names a folder: write "test/**" for all files in it`,
		`*.{js,ts}`:   `has braces, which have no meaning here: write one pattern for each alternative`,
		`[a`:          `is not valid, because a [ has no ] or nothing before it`,
		`[z-a]`:       `is not valid, because a class has a range that runs backwards`,
	} {
		require.Contains(t, said(with("name = \"a\"\nrun = \"x\"\nprotect = [\"ok\", \""+pattern+"\"]\n")), "8:18: the pattern ", pattern)
		require.Contains(t, said(with("name = \"a\"\nrun = \"x\"\nprotect = [\"ok\", \""+pattern+"\"]\n")), want, pattern)
	}
	require.Contains(t, said(with("name = \"a\"\nrun = \"x\"\nwhen = \"plan\"\nprotect = [\"a\"]\n")), "9:1: protect needs a run that can wait for a person")
}

func TestSeveralMistakesAreAllReported(t *testing.T) {
	require.Equal(t, `1:3: the check has no name: write name = "test"
2:1: "nmae" is not known in [[check]]; did you mean name?
3:11: timeout "soon" is no duration: write a number with a unit, such as "90s", "10m" or "1h30m"
4:17: the pattern "/b" is absolute: write it relative to the workspace
6:3: the check has no command: write run = "make test" or argv = ["make", "test"]
7:8: "facts" is the name of the built-in check: choose another one, such as "facts-of-mine"`, said(`[[check]]
nmae = "a"
timeout = "soon"
protect = ["a", "/b"]
run = "x"
[[check]]
name = "facts"
`))
}

func TestSchemaForEditors(t *testing.T) {
	golden.File(t, "waybill.schema.json", string(config.JSONSchema()))
	golden.Parts(t, "../../docs/checks.md", map[string]string{"keys": config.Markdown()})
	var declared struct {
		Properties struct {
			Check struct {
				Items jsonschema.Schema `json:"items"`
			} `json:"check"`
		} `json:"properties"`
	}
	require.NoError(t, json.Unmarshal(config.JSONSchema(), &declared))
	schema, err := declared.Properties.Check.Items.Resolve(nil)
	require.NoError(t, err)
	for _, lines := range []string{
		"name = \"a\"\nrun = \"x\"\n", "name = \"a\"\nargv = [\"x\"]\nwhen = \"plan\"\ntimeout = \"1h30m\"\n",
		"name = \"a\"\nrun = \"x\"\nprotect = [\"a\", \"b/**\"]\n",
		"run = \"x\"\n", "name = \"a\"\n", "name = \"facts\"\nrun = \"x\"\n", "name = \"a b\"\nrun = \"x\"\n", "name = \"a\"\nrun = \"\"\n",
		"name = \"a\"\nrun = \"x\"\nargv = [\"x\"]\n", "name = \"a\"\nargv = []\n", "name = \"a\"\nrun = 1\n", "name = \"a\"\nrun = \"x\"\nwith = 1\n",
		"name = \"a\"\nrun = \"x\"\ntimeout = \"soon\"\n", "name = \"a\"\nrun = \"x\"\nwhen = \"never\"\n", "name = \"a\"\nrun = \"x\"\nprotect = [1]\n",
	} {
		var check map[string]any
		require.NoError(t, toml.Unmarshal([]byte(lines), &check))
		require.Equal(t, said("[[check]]\n"+lines) == "", schema.Validate(check) == nil, "reader and schema agree about\n%s", lines)
	}
}

// The examples of the documentation are files that can be used.
func TestExamplesInTheDocsAreSound(t *testing.T) {
	page, err := os.ReadFile("../../docs/checks.md")
	require.NoError(t, err)
	blocks := regexp.MustCompile("(?s)```toml\n(.*?)```").FindAllSubmatch(page, -1)
	require.NotEmpty(t, blocks)
	for _, block := range blocks {
		checks, mistakes := config.Parse(block[1])
		require.Empty(t, mistakes)
		require.NotEmpty(t, checks)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(sound))
	f.Add([]byte("check = [{name = 'a', x.y = 1, argv = [[1], 'b']}]\n[a.b]\n[[check.c]]\n"))
	f.Add([]byte("[[check]]\nname = \"\u00e4\xff"))
	f.Fuzz(func(t *testing.T, text []byte) {
		checks, mistakes := config.Parse(text)
		lines := strings.Count(string(text), "\n") + 1
		for _, m := range mistakes {
			require.True(t, m.Line >= 1 && m.Line <= lines && m.Column >= 1, "%v is a place in %q", m, text)
			require.NotEmpty(t, m.Text)
		}
		require.False(t, len(checks) > 0 && len(mistakes) > 0)
		for _, c := range checks {
			_, err := proof.ParseNames(c.Name)
			require.NoError(t, err)
			require.NotEqual(t, proof.Facts, c.Name)
			require.NotEmpty(t, strings.TrimSpace(c.CommandLine()))
			require.LessOrEqual(t, len(c.CommandLine()), config.MaxCommand)
		}
	})
}
