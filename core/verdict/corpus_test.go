package verdict_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/core/verdict"
	"waybill/test/golden"
)

// The corpus is in testdata/*.txtar. A file "NAME ROLE.in" is a text as it stands there; in
// "NAME ROLE.esc" each line has the escapes of a Go string, for what an editor would not keep. What
// follows it, "NAME ROLE.want", is the judgement. The item is always 2.1 and the task of the queue
// tsk_7. In keyed.txtar the key is KEY2TEST, and examples that begin with "required" require it.
type example struct {
	file, name string
	asked      verdict.Asked
	text       string
}

var rolesByName = map[string]core.Role{
	"worker": core.Worker, "spec": core.SpecReviewer, "quality": core.CodeQualityReviewer,
}

func asked(role core.Role) verdict.Asked {
	return verdict.Asked{Role: role, ItemID: "2.1", TaskID: "tsk_7"}
}

func corpusFiles(t testing.TB) []string {
	files, err := filepath.Glob("testdata/*.txtar")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	return files
}

func examples(t testing.TB) []example {
	var all []example
	for _, path := range corpusFiles(t) {
		archive, err := txtar.ParseFile(path)
		require.NoError(t, err)
		for _, f := range archive.Files {
			if e, ok := readExample(t, filepath.Base(path), f); ok {
				all = append(all, e)
			}
		}
	}
	return all
}

func readExample(t testing.TB, file string, f txtar.File) (example, bool) {
	name, kind, _ := strings.Cut(f.Name, ".")
	if kind == "want" {
		return example{}, false
	}
	_, roleName, _ := strings.Cut(name, " ")
	role, ok := rolesByName[roleName]
	require.True(t, ok, "%s: %s has no role", file, f.Name)
	text := string(f.Data)
	if kind == "esc" {
		text = unescape(t, text)
	}
	question := asked(role)
	if file == "keyed.txtar" {
		question.Keys, question.RequireKey = []string{"KEY2TEST"}, strings.HasPrefix(name, "required")
	}
	return example{file, name, question, text}, true
}

func unescape(t testing.TB, text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		s, err := strconv.Unquote(`"` + strings.ReplaceAll(strings.TrimSuffix(line, "\n"), `"`, `\"`) + `"`)
		require.NoError(t, err, line)
		b.WriteString(s)
	}
	return b.String()
}

func TestCorpus(t *testing.T) {
	for _, path := range corpusFiles(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			archive, err := txtar.ParseFile(path)
			require.NoError(t, err)
			var out txtar.Archive
			out.Comment = archive.Comment
			for _, f := range archive.Files {
				e, ok := readExample(t, filepath.Base(path), f)
				if !ok {
					continue
				}
				want := txtar.File{Name: e.name + ".want", Data: []byte(written(verdict.Judge(e.text, e.asked)))}
				out.Files = append(out.Files, f, want)
			}
			got := txtar.Format(&out)
			if golden.Update() {
				require.NoError(t, os.WriteFile(path, got, 0o644))
				return
			}
			want, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Equal(t, string(want), string(got), "if the change is meant, run the test with -update and review the diff")
		})
	}
}

// written writes a judgement for a golden file.
func written(j verdict.Judgement) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s by %s\n", j.Verdict, j.Grammar)
	r := reflect.ValueOf(j.Result)
	for i := range r.NumField() {
		if field := r.Field(i); !field.IsZero() && r.Type().Field(i).Name != "Role" {
			fmt.Fprintf(&b, "  %s: %s\n", r.Type().Field(i).Name, quoted(field))
		}
	}
	if j.Key != "" {
		fmt.Fprintf(&b, "  with the key %s\n", j.Key)
	}
	for _, p := range j.Errors {
		fmt.Fprintf(&b, "error %d %s %s: %s; expected %q, found %q\n", p.Line, p.Fault, p.Field, p.Message, p.Expected, p.Found)
	}
	for _, w := range j.Warnings {
		fmt.Fprintf(&b, "warning %d %s: %s\n", w.Line, w.Remark, w.Message)
	}
	return b.String()
}

// quoted writes a field; of a long text, the beginning and the length.
func quoted(v reflect.Value) string {
	if name, ok := v.Interface().(fmt.Stringer); ok {
		return name.String()
	}
	if v.Kind() != reflect.String {
		list, err := json.Marshal(v.Interface())
		if err != nil {
			panic(err)
		}
		return string(list)
	}
	s := v.String()
	if len(s) > 120 {
		return fmt.Sprintf("%+q… (%d bytes)", s[:40], len(s))
	}
	return fmt.Sprintf("%+q", s)
}
