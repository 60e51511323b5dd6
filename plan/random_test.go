package plan_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"waybill/plan"
	"waybill/test/golden"
)

// fixtures returns the plans of a folder under testdata by their names, each folder of plans joined.
func fixtures(t testing.TB, folder string) map[string]string {
	paths, err := filepath.Glob("testdata/" + folder + "/*")
	require.NoError(t, err)
	plans := map[string]string{}
	for _, path := range paths {
		name := filepath.Base(path)
		src, err := os.ReadFile(path)
		require.NoError(t, err)
		switch filepath.Ext(name) {
		case ".golden":
		case ".txtar":
			var files []plan.PlanFile
			for _, f := range txtar.Parse(src).Files {
				files = append(files, plan.PlanFile{Name: f.Name, Text: string(f.Data)})
			}
			plans[name] = plan.JoinFiles(files)
		default:
			plans[name] = string(src)
		}
	}
	require.NotEmpty(t, plans)
	return plans
}

func TestPlansReadAsTheGoldenFilesSay(t *testing.T) {
	for _, folder := range []string{"plans", "records"} {
		for name, text := range fixtures(t, folder) {
			t.Run(name, func(t *testing.T) {
				totals := fmt.Sprintf("totals %+v\n", parse(t, text).Totals)
				golden.Equal(t, folder+"/"+name+".golden", totals+readCase(t, text, plan.Hints{}))
			})
		}
	}
}

// byDialect returns the fixtures of each dialect.
func byDialect(t testing.TB) map[string][]string {
	all := map[string][]string{}
	for _, folder := range []string{"plans", "records"} {
		plans := fixtures(t, folder)
		for _, name := range slices.Sorted(maps.Keys(plans)) {
			r := parse(t, plans[name])
			all[r.Dialect] = append(all[r.Dialect], plans[name])
		}
	}
	return all
}

// wanted is what a random plan was made of, and what has to be read from it.
type wanted struct {
	id, title string
	status    plan.Status
	waits     []string
}

// noise is what stands between the tasks of a plan and is none.
var noise = []string{
	"", "", "Some text.", "```\n- [ ] a sample\n```", "````md\n```\n- [x] deeper\n```\n````",
	"<!-- - [ ] a remark -->", "<!--\n- [x] a longer\n-->", "~~~\n# no heading\n~~~",
}

// drawShape returns random items in the shape of a dialect, and what has to be read from them.
func drawShape(t *rapid.T, dialect string) (text string, want []wanted) {
	s := shapeOf(t, dialect)
	boxes, words, _ := marksOf(dialect)
	if s.worded {
		boxes = words
	}
	var items []planned
	for n := 1; n <= rapid.IntRange(1, 9).Draw(t, "items"); n++ {
		title := rapid.SliceOfN(rapid.SampledFrom([]string{"the", "rows", "in", "blue", "(again)", "naïve", "表", "a_b", "`code`", "and"}), 0, 5).Draw(t, "title")
		p := planned{n: n, title: strings.Join(slices.Concat([]string{"Draw"}, title, []string{"it"}), " ")}
		w := wanted{id: fmt.Sprint("tasks/", n), title: p.title, status: plan.Pending}
		if s.id != "" {
			w.id = s.idOf(n)
			for range rapid.IntRange(0, 2).Draw(t, "waits") {
				if k := rapid.IntRange(0, n-1).Draw(t, "for"); k > 0 && !slices.Contains(w.waits, s.idOf(k)) {
					w.waits = append(w.waits, s.idOf(k))
				}
			}
			p.waits = strings.Join(w.waits, ", ")
		}
		status := rapid.SampledFrom(settable).Draw(t, "status")
		if marks := slices.DeleteFunc(slices.Clone(boxes[status]), func(mark string) bool { return mark == "" }); len(marks) > 0 {
			p.mark, w.status = rapid.SampledFrom(marks).Draw(t, "mark"), status
		}
		if between := rapid.SampledFrom(noise).Draw(t, "noise"); dialect != "table" && between != "" {
			p.below = "\n" + between + "\n\n"
		}
		items, want = append(items, p), append(want, w)
	}
	return s.plan(dialect, items), want
}

// drawPlanOf returns a plan of a dialect: random items in its shape, or one of these.
func drawPlanOf(t *rapid.T, dialect string, fixtures []string) string {
	if rapid.Bool().Draw(t, "fixture") && len(fixtures) > 0 {
		return rapid.SampledFrom(fixtures).Draw(t, "which")
	}
	text, _ := drawShape(t, dialect)
	return text
}

// What a plan was written from is read from it again, and nothing else, whatever its line ends.
func TestRandomPlansOfEachDialectAreReadAsTheyWereMeant(t *testing.T) {
	forEachShape(t, withoutMarks, func(t *testing.T, dialect string, s shape) {
		rapid.Check(t, func(t *rapid.T) {
			text, want := drawShape(t, dialect)
			for range 2 {
				checkRecordLaws(t, text)
				r := parse(t, text)
				require.Equal(t, dialect, r.Dialect, "%s", text)
				require.Equal(t, want, meant(r), "%s", text)
				files := filesOf(text)
				for i := range files {
					files[i].Text = strings.ReplaceAll(files[i].Text, "\n", "\r\n")
				}
				if text = files[0].Text; s.named != "" {
					text = plan.JoinFiles(files)
				}
			}
		})
	})
}

// meant returns what a reading says in the form of what it was made of.
func meant(r *plan.Reading) (all []wanted) {
	for _, it := range r.Items() {
		all = append(all, wanted{it.ID, it.Title, it.Status, it.DependsOn})
	}
	return all
}

// A file that is cut off where its front matter has not ended yet takes no other with it, and is an open item.
func TestFileThatIsCutOffIsAnOpenItem(t *testing.T) {
	for _, dialect := range []string{"backlog", "ccpm-files"} {
		rapid.Check(t, func(t *rapid.T) {
			text, want := drawShape(t, dialect)
			files := filesOf(text)
			k := rapid.IntRange(0, len(files)-1).Draw(t, "broken")
			files[k].Text = files[k].Text[:rapid.IntRange(4, strings.Index(files[k].Text, "status:")).Draw(t, "cut")]
			text = plan.JoinFiles(files)
			checkRecordLaws(t, text)
			r := parse(t, text)
			require.Len(t, r.Items(), len(files), "%s", text)
			for i, got := range meant(r) {
				if i != k {
					require.Equal(t, want[i], got)
					continue
				}
				require.True(t, want[i].id == got.id || len(files) == 1 && strings.EqualFold(want[i].id, got.id), "%s: no neighbour shows the case", got.id)
				require.Equal(t, plan.Pending, got.status)
				require.NotEmpty(t, diagnostics(r, "file_unreadable"))
			}
		})
	}
}
