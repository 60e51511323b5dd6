package instruction_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/core/instruction"
)

const toolEvent = `{
	"tool": "bash", "exit": 0, "path": "src/api/store.go",
	"command": "cd /repo && go test -race ./... 2>&1 | tail -20",
	"argv": ["bash", "-lc", "npm test -- --silent"],
	"output": "ok  \twaybill/core\t0.2s\nPASS\n", "schema": {"$ref": "x", "depth": {"$contains": 1}}
}`

func TestOperatorsMatch(t *testing.T) {
	for _, row := range []struct {
		match string
		want  string // what matched, or "" if nothing did
	}{
		{`{"output": {"$contains": "PASS"}}`, "output $contains ok  \twaybill/core\t0.2s\nPASS\n"},
		{`{"output": {"$contains": "pass"}}`, ""},
		{`{"exit": {"$contains": "0"}}`, ""},
		{`{"argv": {"$contains": "bash"}}`, ""},
		{`{"path": {"$glob": "src/**/*.go"}}`, "path $glob src/api/store.go"},
		{`{"path": {"$glob": "src/api/**/*.go"}}`, "path $glob src/api/store.go"},
		{`{"path": {"$glob": "**/store.go"}}`, "path $glob src/api/store.go"},
		{`{"path": {"$glob": "**"}}`, "path $glob src/api/store.go"},
		{`{"path": {"$glob": "src/???/[r-t]*.go"}}`, "path $glob src/api/store.go"},
		{`{"path": {"$glob": "src/api/[!a-c]tore.go"}}`, "path $glob src/api/store.go"},
		{`{"path": {"$glob": "src\\/api/store.go"}}`, "path $glob src/api/store.go"},
		{`{"path": {"$glob": "src/*.go"}}`, ""},
		{`{"path": {"$glob": "src?api/store.go"}}`, ""},
		{`{"path": {"$glob": "src[!a]api/store.go"}}`, ""},
		{`{"path": {"$glob": "api/*.go"}}`, ""},
		{`{"path": {"$glob": "src/api/store\\.g\\*"}}`, ""},
		{`{"exit": {"$any": [1, 0.0]}}`, "exit $any 0"},
		{`{"exit": {"$any": ["0", null, false]}}`, ""},
		{`{"command": {"$any": [{"$contains": "npm"}, {"$command": "go test ./..."}]}}`, "command $command go test -race ./..."},
		{`{"command": {"$command": "go test ./..."}}`, "command $command go test -race ./..."},
		{`{"command": {"$command": "go vet ./..."}}`, ""},
		{`{"exit": {"$command": "0"}}`, ""},
		{`{"argv": {"$command": "npm test"}}`, "argv $command npm test -- --silent"},
		{`{"argv": {"$command": "bash"}}`, "argv $command bash -lc npm test -- --silent"},
		{`{"/argv/2": {"$command": "npm test"}}`, "/argv/2 $command npm test -- --silent"},
		{
			`{"tool": "bash", "exit": {"$any": [0]}, "command": {"$command": "go test"}}`,
			"command $command go test -race ./...; exit $any 0",
		},
		{`{"tool": "zsh", "command": {"$command": "go test"}}`, ""},
		{`{"missing": {"$any": [null]}}`, ""},
		{`{"/schema/$ref": {"$any": ["x"]}}`, "/schema/$ref $any \"x\""},
	} {
		matches, ok := rule(t, row.match).Matches("command.finished", toolEvent)
		require.Equal(t, row.want != "", ok, row.match)
		texts := []string{}
		for _, m := range matches {
			texts = append(texts, m.Path+" "+m.Operator+" "+m.Text)
		}
		require.Equal(t, row.want, strings.Join(texts, "; "), row.match)
	}
}

func TestARuleThatCannotMatchIsRefused(t *testing.T) {
	_, err := instruction.NewAckRule("", "")
	require.EqualError(t, err, "event_type is empty")
	const noObject = "match is not an object from path to value"
	long := strings.Repeat("a", 2000)
	for match, want := range map[string]string{
		`[]`:                               noObject,
		`"command"`:                        noObject,
		`{"command": }`:                    noObject,
		`{"a": 1} {}`:                      noObject,
		`{"": 1}`:                          `match path "": is empty`,
		`{"result.": 1}`:                   `match path "result.": has a member without a name`,
		`{"a..b": 1}`:                      `match path "a..b": has a member without a name`,
		`{".": 1}`:                         `match path ".": has a member without a name`,
		`{"/a~b": 1}`:                      `match path "/a~b": in a JSON Pointer, ~ is written ~0`,
		`{"/a~2b": 1}`:                     `match path "/a~2b": in a JSON Pointer`,
		`{"ok": 1, "/~": 1}`:               `match path "/~": in a JSON Pointer`,
		`{"a": {"$contains": ""}}`:         `the value of match path "a": $contains takes a text that is not empty`,
		`{"a": {"$contains": 1}}`:          `$contains takes a text`,
		`{"a": {"$glob": "x["}}`:           `$glob a [ has no ] or nothing before it in "x["`,
		`{"a": {"$glob": "x[]"}}`:          `a [ has no ]`,
		`{"a": {"$glob": "x[z-a]"}}`:       `a class has a range that runs backwards in "x[z-a]"`,
		`{"a": {"$glob": "x\\"}}`:          `a \ is the last character`,
		`{"a": {"$glob": "` + long + `"}}`: `$glob has 2000 bytes; at most 512 are allowed`,
		`{"a": {"$any": []}}`:              `$any takes a list of values, at least one`,
		`{"a": {"$any": "x"}}`:             `$any takes a list of values`,
		`{"a": {"$any": [` + strings.Repeat("1,", 64) + `1]}}`: `$any has 65 values; at most 64 are allowed`,
		`{"a": {"$any": [{"$any": [1]}]}}`:                     `$any value 1 is $any again; write its values into the one list`,
		`{"a": {"$any": [0, {"$glob": "["}]}}`:                 `$any value 2 $glob a [ has no ]`,
		`{"a": {"$command": "go test | tail"}}`:                `$command must be one simple command, without operators and redirections`,
		`{"a": {"$command": "X=1 go test"}}`:                   `$command begins with an assignment`,
		`{"a": {"$command": "go test $PKG"}}`:                  `$command has a variable or a substitution`,
		`{"a": {"$command": "echo 'x"}}`:                       `$command cannot be read as a shell command`,
		`{"a": {"$command": "# x"}}`:                           `$command has no command`,
		`{"a": {"$command": "` + long + `"}}`:                  `$command has 2000 bytes; at most 1024 are allowed`,
		`{"a": {"$regex": "x"}}`:                               `$regex is no operator; there are $contains, $glob, $any and $command`,
		`{"a": {"$contains": "x", "$glob": "y"}}`:              `$contains with $glob is no operator`,
		`{"a": {"b": {"$contains": "x"}}}`:                     `has $contains inside a plain value; name the whole path`,
		`{"a": [{"$command": "x"}]}`:                           `has $command inside a plain value`,
		`{"a": 1, "/a": 2}`:                                    `match paths "a" and "/a" exclude each other`,
		`{"a": 1, "a.b": 2}`:                                   `match paths "a" and "a.b" exclude each other`,
		`{"a": {"b": 1}, "a.c": 2}`:                            `match paths "a" and "a.c" exclude each other`,
		`{"a": {"b": 1}, "a.b": {"$any": [2, 3]}}`:             `match paths "a" and "a.b" exclude each other`,
		`{"a` + strings.Repeat(".a", 128) + `": 1}`:            `has 129 members; events have at most 128 levels`,
	} {
		_, err := instruction.NewAckRule("command.finished", match)
		require.ErrorContains(t, err, want, "%.80s", match)
	}
}

func TestARuleThatCanMatchIsTaken(t *testing.T) {
	for _, match := range []string{
		`{"a": {"b": 1}, "a.b": 1.0}`,
		`{"a": {"b": "xyz"}, "/a/b": {"$contains": "y"}}`,
		`{"a": {"$any": [1, 2]}, "/a": {"$any": [2, 3]}}`,
		`{"a": {"$contains": "x"}, "/a": {"$glob": "*y*"}}`,
		`{"a": {"b": {"$ref": "x"}}, "c": {"$any": [{"b": {"$ref": "x"}}]}}`,
	} {
		rule(t, match)
	}
}

// A text that takes long to look at must not hold up the events of others.
func TestLargeEventsAreLookedAtQuickly(t *testing.T) {
	glob := rule(t, `{"a": {"$glob": "`+strings.Repeat("**/", 170)+`"}}`)
	require.True(t, matches(glob, "command.finished", `{"a": "`+strings.Repeat("a/", 2048)+`"}`))
	require.False(t, matches(glob, "command.finished", `{"a": "`+strings.Repeat("a/", 2049)+`"}`), "beyond its limit")
	wide := []string{}
	for i := range 4000 {
		wide = append(wide, fmt.Sprintf("%q: 1", fmt.Sprint("a", i)))
	}
	rule(t, "{"+strings.Join(wide, ",")+"}")
}
