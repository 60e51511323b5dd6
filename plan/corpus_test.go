package plan_test

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/plan"
	"waybill/plan/dialect"
	"waybill/plan/read"
)

// corpusFolder is the environment variable that names the folder with the files of the corpus. The files belong to other
// projects, so only facts about them are here. Each file has the name of its entry.
const corpusFolder = "WAYBILL_PLAN_CORPUS"

// corpusFloors are the least shares, in thousandths, that a reading of each half of the corpus must reach.
var corpusFloors = map[string]map[string]int{
	"dev":      {"recall": 940, "precision": 940, "id": 970, "status": 985, "parent": 995, "after": 700},
	"held-out": {"recall": 930, "precision": 980, "id": 990, "status": 990, "parent": 995, "after": 995},
}

// TestPlansOfOthersAreReadAsAPersonReadsThem compares the reading of real plan files with what a person found in them
// before any reader was asked. Both halves of the corpus have files of every family. Improve the reader by the
// misreadings of dev alone: held-out measures it on files that its authors have not looked at.
func TestPlansOfOthersAreReadAsAPersonReadsThem(t *testing.T) {
	folder := os.Getenv(corpusFolder)
	if folder == "" {
		t.Skip("needs the files of the corpus, which belong to others: " + corpusFolder + " names their folder")
	}
	for _, half := range slices.Sorted(maps.Keys(corpusFloors)) {
		t.Run(half, func(t *testing.T) {
			entries := corpusEntries(t, half)
			require.NotEmpty(t, entries)
			families, all, wrong := map[string]*corpusScore{}, &corpusScore{}, 0
			for _, e := range entries {
				text, err := e.read(folder)
				require.NoError(t, err, "get %s of %s at %s as %s", e.path, e.repo, e.commit, e.name)
				score := e.measure(text)
				if families[e.family] == nil {
					families[e.family] = &corpusScore{}
				}
				families[e.family].add(score)
				all.add(score)
				if len(score.misread) > 0 {
					wrong++
				}
				for _, misreading := range score.misread {
					t.Logf("%s: %s", e.name, misreading)
				}
			}
			var b strings.Builder
			for _, family := range slices.Sorted(maps.Keys(families)) {
				fmt.Fprintf(&b, "%-14s %s\n", family, families[family])
			}
			t.Logf("\n%-14s %s\n%s%-14s %s\n%d files with a misreading", "family", corpusHeader, &b, "all", all, wrong)
			for _, measure := range slices.Sorted(maps.Keys(corpusFloors[half])) {
				require.GreaterOrEqual(t, all.measure(measure).thousandths(), corpusFloors[half][measure], measure)
			}
		})
	}
}

// TestTheCorpusIsOfManyAuthors holds without the files: the facts are complete, and no tool outweighs the others.
func TestTheCorpusIsOfManyAuthors(t *testing.T) {
	names, repos, families := map[string]bool{}, map[string]bool{}, map[string]int{}
	for _, half := range slices.Sorted(maps.Keys(corpusFloors)) {
		for _, e := range corpusEntries(t, half) {
			require.False(t, names[e.name], "%s is there twice", e.name)
			names[e.name], repos[e.repo] = true, true
			families[e.family]++
			require.Regexp(t, "^[0-9a-f]{40} [0-9a-f]{64}$", e.commit+" "+e.sha256, e.name)
			require.NotEmpty(t, e.path+e.language, e.name)
			require.True(t, e.file != nil || len(e.tasks) > 0, "%s has no task", e.name)
			lines := map[int]bool{0: true}
			for _, task := range e.tasks {
				require.False(t, lines[task.line] || e.wrong[task.line], "%s: line %d has two facts", e.name, task.line)
				require.True(t, lines[task.parent], "%s: line %d is below a line without a task", e.name, task.line)
				lines[task.line] = true
			}
		}
	}
	require.GreaterOrEqual(t, len(names), 60)
	require.GreaterOrEqual(t, len(repos), 40)
	require.GreaterOrEqual(t, families["none"], 25)
	for family, files := range families {
		require.GreaterOrEqual(t, files, 4, family)
	}
}

// A corpusEntry holds the facts about one file.
type corpusEntry struct {
	name, repo, path, commit, sha256, family, language string
	// cut is the number of lines that are read, 0 for all.
	cut int
	// ordered plans let tasks wait for others by their order or phases. Of these only the written dependencies are judged.
	ordered bool
	tasks   []corpusTask
	// file is the task that the file itself is, or nil.
	file *corpusTask
	// unjudged lines may be tasks or not, wrong lines have a box or sign and are none.
	unjudged, wrong map[int]bool
}

type corpusTask struct {
	line     int
	id       string   // "-" for none in the file, "?" for one that is not judged
	statuses []string // any of these is right
	parent   int      // its line, 0 for none
	after    []string
}

// corpusEntries reads the facts about one half of the corpus. An entry begins with a line "= NAME". Its other lines are
//
//	repo, path, commit, sha256, family, language VALUE
//	cut N                                 only the first N lines are read, and have the SHA-256
//	order WHY                             its order or its phases let tasks wait, too
//	LINES ID STATUS [in LINE] [after ID…] tasks; the ids of several lines count up where ID ends with ".."
//	file ID STATUS [after ID…]            the file itself is a task
//	wait LINES LINES                      each task of the first lines waits for each of the others
//	maybe LINES                           not judged
//	not LINES                             a box or sign, but no task
func corpusEntries(t *testing.T, half string) (entries []*corpusEntry) {
	text, err := os.ReadFile(filepath.Join("testdata", "corpus", half+".txt"))
	require.NoError(t, err)
	var e *corpusEntry
	for line := range strings.Lines(strings.ReplaceAll(string(text), "\r\n", "\n")) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		if key == "=" {
			e = &corpusEntry{name: value, unjudged: map[int]bool{}, wrong: map[int]bool{}}
			entries = append(entries, e)
			continue
		}
		require.True(t, e != nil && e.fact(t, key, value), "%s: %s", half, line)
	}
	return entries
}

// fact adds one line to the entry and reports whether the line has a meaning.
func (e *corpusEntry) fact(t *testing.T, key, value string) bool {
	text := map[string]*string{
		"repo": &e.repo, "path": &e.path, "commit": &e.commit, "sha256": &e.sha256, "family": &e.family, "language": &e.language,
	}
	switch {
	case key == "":
	case text[key] != nil:
		*text[key] = value
	case key == "cut":
		e.cut, _ = strconv.Atoi(value)
	case key == "order":
		e.ordered = true
	case key == "maybe", key == "not":
		for _, n := range corpusLines(t, value) {
			map[string]map[int]bool{"maybe": e.unjudged, "not": e.wrong}[key][n] = true
		}
	case key == "wait":
		e.wait(t, value)
	case key == "file":
		task := corpusTaskOf(t, 0, value)
		e.file = &task
	default:
		id, rest, ok := strings.Cut(value, " ")
		first, counts := strings.CutSuffix(id, "..")
		for i, n := range corpusLines(t, key) {
			if counts {
				id = countedUp(first, i)
			}
			e.tasks = append(e.tasks, corpusTaskOf(t, n, id+" "+rest))
		}
		return ok
	}
	return true
}

// corpusTaskOf reads ID STATUS [in LINE] [after ID…].
func corpusTaskOf(t *testing.T, line int, facts string) corpusTask {
	words := strings.Fields(facts)
	require.GreaterOrEqual(t, len(words), 2, facts)
	task := corpusTask{line: line, id: words[0], statuses: strings.Split(words[1], "|")}
	words = words[2:]
	if len(words) > 1 && words[0] == "in" {
		task.parent, _ = strconv.Atoi(words[1])
		words = words[2:]
	}
	if len(words) > 1 && words[0] == "after" {
		task.after = words[1:]
		words = nil
	}
	require.Empty(t, words, facts)
	return task
}

// wait lets the tasks of some lines wait for those of others.
func (e *corpusEntry) wait(t *testing.T, value string) {
	these, those, _ := strings.Cut(value, " ")
	from, to := corpusLines(t, these), corpusLines(t, those)
	for i := range e.tasks {
		if !slices.Contains(from, e.tasks[i].line) {
			continue
		}
		for _, other := range e.tasks {
			if slices.Contains(to, other.line) {
				e.tasks[i].after = append(e.tasks[i].after, other.id)
			}
		}
	}
}

// corpusLines returns the numbers of "3-5,9".
func corpusLines(t *testing.T, text string) (lines []int) {
	for span := range strings.SplitSeq(text, ",") {
		first, last, _ := strings.Cut(span, "-")
		from, err := strconv.Atoi(first)
		require.NoError(t, err, text)
		to, err := strconv.Atoi(cmp.Or(last, first))
		require.NoError(t, err, text)
		for n := from; n <= to; n++ {
			lines = append(lines, n)
		}
	}
	return lines
}

var lastDigits = regexp.MustCompile(`[0-9]+$`)

// countedUp returns the n-th id after id: 1.9 and 1 give 1.10, T009 and 1 give T010.
func countedUp(id string, n int) string {
	return lastDigits.ReplaceAllStringFunc(id, func(digits string) string {
		number, _ := strconv.Atoi(digits)
		if digits[0] == '0' {
			return fmt.Sprintf("%0*d", len(digits), number+n)
		}
		return strconv.Itoa(number + n)
	})
}

// read returns the text of the file, if that is the file that the facts are about.
func (e *corpusEntry) read(folder string) (string, error) {
	text, err := os.ReadFile(filepath.Join(folder, e.name))
	if err != nil {
		return "", err
	}
	if lines := slices.Collect(strings.Lines(string(text))); e.cut > 0 && e.cut < len(lines) {
		text = []byte(strings.Join(lines[:e.cut], ""))
	}
	if sum := sha256.Sum256(text); hex.EncodeToString(sum[:]) != e.sha256 {
		return "", fmt.Errorf("%s is another version of %s of %s: its SHA-256 is %x", e.name, e.path, e.repo, sum)
	}
	return string(text), nil
}

// A share is how many of all are right.
type share struct{ right, all int }

func (s *share) count(right bool) {
	s.all++
	if right {
		s.right++
	}
}

func (s *share) thousandths() int {
	if s.all == 0 {
		return 1000
	}
	return s.right * 1000 / s.all
}

// A corpusScore counts what was read right.
type corpusScore struct {
	files, refused                               int
	recall, precision, id, status, parent, after share
	misread                                      []string
}

const corpusHeader = "files refused tasks  recall   precision id       status   parent   after"

func (s *corpusScore) shares() []*share {
	return []*share{&s.recall, &s.precision, &s.id, &s.status, &s.parent, &s.after}
}

func (s *corpusScore) measure(name string) *share {
	return s.shares()[slices.Index([]string{"recall", "precision", "id", "status", "parent", "after"}, name)]
}

func (s *corpusScore) add(other *corpusScore) {
	s.files += other.files
	s.refused += other.refused
	for i, share := range s.shares() {
		share.right += other.shares()[i].right
		share.all += other.shares()[i].all
	}
}

func (s *corpusScore) String() string {
	line := fmt.Sprintf("%5d %7d %5d", s.files, s.refused, s.recall.all)
	for _, share := range s.shares() {
		line += fmt.Sprintf("  %.3f  ", float64(share.thousandths())/1000)
		if share.all == 0 {
			line = line[:len(line)-7] + "  -    "
		}
	}
	return strings.TrimRight(line, " ")
}

func (s *corpusScore) say(format string, arguments ...any) {
	s.misread = append(s.misread, fmt.Sprintf(format, arguments...))
}

// measure compares the reading of a text with the facts.
func (e *corpusEntry) measure(text string) *corpusScore {
	s := &corpusScore{files: 1}
	var items []plan.Item
	if r, err := read.Read(text, plan.Hints{Path: dialect.HintPath(e.path)}); err != nil {
		s.refused++
		s.say("refused: %v", err)
	} else {
		items = r.Items()
		s.misread = nil
		defer func() {
			if len(s.misread) > 0 {
				s.say("read as %s", cmp.Or(r.Dialect, "no dialect"))
			}
		}()
	}
	tasks := e.tasks
	if e.file != nil && len(items) > 0 {
		itself := *e.file
		itself.line = items[0].Line
		tasks = append([]corpusTask{itself}, tasks...)
	} else if e.file != nil {
		s.recall.count(false)
	}
	e.compare(s, tasks, items)
	return s
}

// compare counts what the items and the tasks of the file have in common.
func (e *corpusEntry) compare(s *corpusScore, tasks []corpusTask, items []plan.Item) {
	byLine, byID := map[int]*plan.Item{}, map[string]*plan.Item{}
	for i := range items {
		byLine[items[i].Line] = cmp.Or(byLine[items[i].Line], &items[i])
		byID[items[i].ID] = cmp.Or(byID[items[i].ID], &items[i])
	}
	facts, lines := map[string][]string{}, map[int]bool{}
	for _, task := range tasks {
		lines[task.line] = true
		facts[task.id] = append(facts[task.id], task.after...)
	}
	for i := range items {
		line := items[i].Line
		if right := lines[line] && byLine[line] == &items[i]; right || !e.unjudged[line] {
			s.precision.count(right)
			if !right {
				s.say("line %d is no task: %s %q", line, items[i].ID, items[i].Title)
			}
		}
	}
	for _, task := range tasks {
		it := byLine[task.line]
		s.recall.count(it != nil)
		if it == nil {
			s.say("line %d is a task", task.line)
			continue
		}
		right := task.id == "?" || it.DerivedID == (task.id == "-") && (it.DerivedID || strings.TrimPrefix(it.ID, "#") == task.id)
		s.id.count(right)
		if !right {
			s.say("line %d has the id %s, not %s", task.line, task.id, it.ID)
		}
		status := map[plan.Status]string{
			plan.Pending: "open", plan.InProgress: "in_progress", plan.Completed: "done", plan.Blocked: "blocked", plan.Skipped: "skipped",
		}[it.Status]
		right = slices.Contains(task.statuses, status)
		s.status.count(right)
		if !right {
			s.say("line %d is %s, not %s", task.line, strings.Join(task.statuses, " or "), status)
		}
		e.compareParent(s, task, it, byID)
		e.compareAfter(s, task, it, facts, byID)
	}
}

func (e *corpusEntry) compareParent(s *corpusScore, task corpusTask, it *plan.Item, byID map[string]*plan.Item) {
	parent := 0
	if above := byID[it.ParentID]; above != nil {
		parent = above.Line
	}
	right := parent == task.parent || task.parent == 0 && e.unjudged[parent]
	s.parent.count(right)
	if !right {
		s.say("line %d is below line %d, not %d", task.line, task.parent, parent)
	}
}

// compareAfter counts a task if it waits for others, or is read as if it did.
func (e *corpusEntry) compareAfter(s *corpusScore, task corpusTask, it *plan.Item, facts map[string][]string, byID map[string]*plan.Item) {
	want := reached(task.after, func(id string) []string { return facts[id] })
	got := reached(waitsFor(it), func(id string) []string {
		if other := byID[id]; other != nil {
			return waitsFor(other)
		}
		return nil
	})
	right := maps.Equal(want, got)
	if e.ordered {
		right = !slices.ContainsFunc(task.after, func(id string) bool { return !got[id] })
		got = nil
	}
	if len(want)+len(got) == 0 {
		return
	}
	s.after.count(right)
	if !right {
		s.say("line %d waits for %v, not %v", task.line, slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(got)))
	}
}

// waitsFor returns all ids that an item waits for.
func waitsFor(it *plan.Item) []string {
	return slices.Concat(append([][]string{it.DependsOn}, it.Behind...)...)
}

// reached returns the ids, and all that these wait for.
func reached(ids []string, waits func(id string) []string) map[string]bool {
	all := map[string]bool{}
	for rest := slices.Clone(ids); len(rest) > 0; {
		id := strings.TrimPrefix(rest[len(rest)-1], "#")
		rest = rest[:len(rest)-1]
		if !all[id] {
			all[id] = true
			rest = append(rest, waits(id)...)
		}
	}
	return all
}
