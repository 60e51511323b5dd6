package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/engine"
	"waybill/plan"
	planfile "waybill/plan/file"
	"waybill/store"
)

// Each row is a story of processes that read one plan while it changes.
func TestPlanObservation(t *testing.T) {
	stories := map[string]string{
		// The readings.
		"a plan appears later":                    "a reads !missing; write 12 0s; a reads 12",
		"a plan is empty from the start":          "write empty 0s; a reads -; write 12 0s; a reads 12",
		"an emptied plan is stale until refilled": "write 12; a reads 12; write blank 1s; a reads 12 empty; write 12 1s; a reads 12",
		"a missing plan keeps its last reading":   "write 12; a reads 12; remove; a reads 12 missing; write 12; a reads 12",
		"a file wins when it has settled":         "write 12; a reads 12; write 2 0s; a reads 12 settling; wait 149ms; a reads 12 settling; wait 1ms; a reads 2",

		// The records of changes.
		"the first reading is no change":            "write 12; begin 1; a reads; log",
		"each change is recorded once":              "write 12; abab reads; log; write 12x3; abab reads; write 12; abab reads; write note; abab reads; log [2,3] [3,2] []",
		"a change back that one process missed":     "write 12; a reads; write 123; a reads; write 12; b reads; write 123; b reads; log [3] unseen [3]",
		"a change while the store fails":            "store io; write 12; a reads 12; write 123; a reads 123; log; store on; a reads; log [3]",
		"an edit while no process runs":             "write 12; a reads; write 123; a reads; write 12; bcbc reads; log [3] unseen; write 123; b reads; log [3] unseen [3]",
		"an edit of a plan that only a run knows":   "write 12; begin 2; b reads; log; write 123; cc reads; log unseen",
		"an edit seen by a look at the run":         "write 12; begin 2; b looks 2/2@1; log; write 123; c looks 2/3@2 rebuilt; c looks 2/3@2; log unseen",
		"an edit after the item of the run is gone": "write 12; begin 2; write 9; b looks -/1@2 rebuilt gone; write 123; c looks 2/3@3 rebuilt; log unseen unseen",
		"a plan vanishes and comes back":            "write 12; ab reads; remove; ab reads; log; wait 150ms; ab reads; log gone; write 12; ab reads; remove; ab reads; wait 150ms; ab reads; write 123; ab reads; log gone [] gone [3]",
		"a plan is away for a moment":               "write 12; a reads; remove; a reads; write 123; a reads; wait 1s; a reads; log [3]",
		"a plan is removed while no process runs":   "write 12; begin 1; remove; b looks 1/2@1 rebuild_failed; wait 1s; bb looks 1/2@1 rebuild_failed; log gone; write 123; b looks 1/3@2 rebuilt; log gone unseen",
		"an unreadable plan is recorded once":       "write 12; ab reads; folder; ab reads; log; wait 150ms; ab reads; log not_regular; wait 1h; abc reads; log not_regular; write 12; abc reads; log not_regular []",
		"a plan is unreadable again":                "write 12; ab reads; folder; ab settle; write 12; ab reads; folder; ab settle; write 123; ab reads; log not_regular [] not_regular [3]",
		"each problem has a name":                   "write 12; a reads; remove; a settle; folder; a settle; write title; a settle; write empty; a settle; write blank; a settle; remove; a settle; write 123; a settle; log gone not_regular no_items empty gone [3]",
		"a link that leads nowhere is no plan":      "write 12; a reads; link nowhere.md; a reads 12 symlink_dangling; a settle; log gone; write 123; a reads; log gone [3]",
		"an edit that one process missed":           "write 12; ab reads; write 123; a reads; folder; b reads; wait 150ms; ba reads; write 1234; ba reads; log [3] not_regular [3,4]",
		"a plan that only a run knows is emptied":   "write 12; begin 1; write empty; b reads !empty; bb looks 1/2@1 empty; log empty; write 124; b looks 1/3@2 rebuilt; log empty unseen",
		"a plan known by the log is emptied":        "write 12; begin 1; write 123; a looks 1/3@2 rebuilt; write empty; b reads !empty; bb looks 1/3@2 empty; log [3] empty; write 124; b looks 1/3@3 rebuilt; log [3] empty unseen",

		"a slow process undoes no newer record": "write 12; ab reads; folder; ab reads; wait 150ms; meanwhile b reads, write 123, b reads; a reads; log not_regular [3]; write 1234; ab reads; log not_regular [3] [4]",

		// The facts of a run.
		"two processes renew the facts once":                  "write 12; begin 1; a reads; write 123; a reads; meanwhile b looks 1/3@2 rebuilt; a looks 1/3@2 rebuilt; log [3]",
		"the item and then the file go while that is stored":  "write 12 1m; begin 1; write 123 1m; a looks 1/3@2 rebuilt; b looks 1/3@2; write 2; meanwhile remove, b reads, wait 1s, b reads; a looks -/1@3 rebuilt gone; bcabc looks -/1@3 gone rebuild_failed; log [3] gone gone",
		"the facts are renewed once after a change":           "write 12; begin 1; a looks 1/2@1; write 12 1m; a looks 1/2@1; write 123; a looks 1/3@2 rebuilt; a looks 1/3@2",
		"stored facts replace a missing plan":                 "write 12; begin 1; remove; ab looks 1/2@1 rebuild_failed",
		"a last good reading is not stored":                   "write 12; begin 1; write 123; b looks 1/3@2 rebuilt; write empty; ababab looks 1/3@2 empty",
		"a read-only store does not stop a look":              "write 12; begin 1; store read_only; write 123; a looks 1/3@1 rebuilt; log",
		"an item that is gone stays gone":                     "write 12; begin 1; write 2; a looks -/1@2 rebuilt gone; aa looks -/1@2 gone; remove; b looks -/1@2 gone rebuild_failed",
		"an item comes back while a process is away":          "write 12; begin 1; write 2; a looks -/1@2 rebuilt gone; b looks -/1@2 gone; write 123 2h; b looks 1/3@3 rebuilt; remove; abcabc looks 1/3@3 rebuild_failed",
		"a plan without the item is read for another call":    "write 12; begin 1; b looks 1/2@1; write 2; b reads; remove; bacbac looks -/1@2 gone rebuild_failed",
		"a fresh plan with all known items is used":           "write 12; a reads; write 1 0s; b reads 1; write 12; begin 1; write 23 0s; c looks -/2@2 rebuilt gone; c looks -/2@2 gone",
		"a half-written plan is read first, known by its run": "write 12; begin 1; write 2 0s; ba looks 1/2@1 settling; remove; ca looks 1/2@1 rebuild_failed; write 2 0s; d looks 1/2@1 settling; wait 150ms; d looks -/1@2 rebuilt gone; a looks -/1@2 gone; log unseen",
		"a half-written plan is read first, known by the log": "write 12; begin 1; write 123; a looks 1/3@2 rebuilt; write 2 0s; ba looks 1/3@2 settling; remove; ca looks 1/3@2 rebuild_failed; write 2 0s; d looks 1/3@2 settling; wait 150ms; d looks -/1@3 rebuilt gone; a looks -/1@3 gone; log [3] unseen",
		"a half-written plan is read after a removed one":     "write 12; begin 1; remove; b looks 1/2@1 rebuild_failed; write half 0s; b looks 1/2@1 settling",
		"a half-written plan is read after an emptied one":    "write 12; begin 1; write empty; b looks 1/2@1 empty; write half 0s; b looks 1/2@1 settling",
	}
	for half, record := range map[string]string{"empty": "empty", "title": "no_items", "1": "[2]"} {
		stories["the rest of a half-written plan follows: "+half] = "write 12; a reads; write " + half +
			" 0s; a reads 12 settling; wait 100ms; a reads; write 123 0s; a reads 123; wait 1s; a reads; log [3]"
		stories["a half-written plan stays so: "+half] = "write 12; a reads; write " + half + " 0s; a reads; wait 150ms; a reads; log " + record
	}
	for damage, reason := range map[string]string{
		"link " + os.DevNull: "outside_workspace", "link tasks.md": "symlink_loop", "folder": "not_regular", "write huge": "too_large", "write binary": "not_text", "write title": "no_items",
	} {
		stories["a plan that is no plan: "+reason] = damage + "; a reads !" + reason + "; write 12; a reads 12; " + damage + "; a reads 12 " + reason
	}
	// A process that missed an edit must not prefer its older reading because the new file has an older time.
	for _, age := range []string{"1h", "1m", "1s"} {
		stories["the item is gone in a file of age "+age] = "write 12 1m; begin 1; ab looks 1/2@1; write 23 " + age +
			"; b looks -/2@2 rebuilt gone; remove; abcabc looks -/2@2 gone rebuild_failed"
	}
	for name, story := range stories {
		t.Run(name, func(t *testing.T) { newObservers(t, newPlanFixture(t)).play(story) })
	}
}

// observers are processes with one store and one workspace.
type observers struct {
	t     *testing.T
	st    *hookedStore
	plans *planFixture
	named map[rune]*runFixture
	run   string
	fault error                 // of the store
	wake  func(paths ...string) // by which the first process follows the plan in fake time, if it does
}

func newObservers(t *testing.T, plans *planFixture) *observers {
	o := &observers{t: t, st: newHookedStore(t), plans: plans, named: make(map[rune]*runFixture)}
	o.st.before = func(int) error { return o.fault }
	o.named['a'] = newRunFixture(t, o.st, o.plans)
	return o
}

// process returns the process with that letter, and starts it if it is new.
func (o *observers) process(letter rune) *runFixture {
	if o.named[letter] == nil {
		o.named[letter] = newRunFixture(o.t, o.st, o.plans.secondReader(o.t))
	}
	return o.named[letter]
}

// play runs a story. The processes have one letter each, and a is the first one.
//
//	write TEXT [AGE]  replaces tasks.md; TEXT is a list of items with one digit, x for completed, or a name of planText
//	remove, folder    removes tasks.md, or puts a folder in its place
//	link TARGET       puts a link in its place
//	wait DURATION     advances the clock of the plans
//	wake              tells a that tasks.md has changed
//	store on|KIND     lets all updates succeed, or fail with that kind
//	begin ITEM        starts a run of an item
//	ab reads [WANT]   lets a and b read the plan; WANT is the items and the problem, or ! and the reason of an error
//	ab settle         lets a and b read the plan before and after a second
//	ab looks WANT     lets a and b look at the run; WANT is item/total@revision and what else the view says
//	meanwhile STEP, STEP  runs steps before the next update of the store
//	log WANT...       asserts the records of changes
func (o *observers) play(story string) {
	o.t.Helper()
	for step := range strings.SplitSeq(story, "; ") {
		words := strings.Fields(step)
		switch words[0] {
		case "write":
			age := time.Hour
			if len(words) > 2 {
				age, _ = time.ParseDuration(words[2])
			}
			o.plans.repairPlan(planText(words[1]), age)
		case "remove":
			require.NoError(o.t, os.RemoveAll(filepath.Join(o.plans.dir, "tasks.md")))
		case "folder":
			o.plans.breakPlan()
		case "link":
			require.NoError(o.t, os.RemoveAll(filepath.Join(o.plans.dir, "tasks.md")))
			if err := os.Symlink(words[1], filepath.Join(o.plans.dir, "tasks.md")); err != nil {
				o.t.Skipf("this system makes no link here: %v", err)
			}
		case "wait":
			by, err := time.ParseDuration(words[1])
			require.NoError(o.t, err)
			if o.wake != nil {
				time.Sleep(by)
				synctest.Wait()
			} else {
				o.plans.advance(by)
			}
		case "wake":
			o.wake("tasks.md", "tasks.md", "gone.md")
		case "store":
			o.fault = map[string]error{"io": &store.Error{Kind: store.IO}, "read_only": &store.Error{Kind: store.ReadOnly}}[words[1]]
		case "begin":
			o.run = o.named['a'].begin(words[1]).ID
		case "meanwhile":
			next, then := o.st.number()+1, strings.ReplaceAll(strings.Join(words[1:], " "), ", ", "; ")
			o.st.before = func(n int) error {
				if n == next {
					o.play(then)
				}
				return o.fault
			}
		case "log":
			require.Equal(o.t, strings.Join(words[1:], " "), strings.Join(o.named['a'].records(), " "), story)
		default:
			o.observe(words[0], words[1], strings.Join(words[2:], " "), step)
		}
	}
}

// observe lets processes read the plan or look at the run.
func (o *observers) observe(letters, verb, want, step string) {
	o.t.Helper()
	look := func() {
		for _, letter := range letters {
			switch f := o.process(letter); verb {
			case "reads", "settle":
				if got := f.reading(); want != "" {
					require.Equal(o.t, want, got, step)
				}
			case "looks":
				require.Equal(o.t, want, f.view(o.run), step)
			default:
				require.Fail(o.t, "no such step", step)
			}
		}
	}
	look()
	if verb == "settle" {
		o.plans.advance(time.Second)
		look()
	}
}

// repairPlan writes tasks.md in place of anything.
func (plans *planFixture) repairPlan(text string, ago time.Duration) {
	plans.t.Helper()
	require.NoError(plans.t, os.RemoveAll(filepath.Join(plans.dir, "tasks.md")))
	plans.write("tasks.md", text, ago)
}

// planText returns the text of a plan with a name, or with items of one digit.
func planText(name string) string {
	named := map[string]string{
		"empty": "", "blank": " \n", "title": "# Plan\n", "half": "- [ ] 1.", "note": "A remark.\n\n" + twoItems,
		"binary": "a\x00\x01\x02b", "huge": strings.Repeat("x", 2<<10),
	}
	if text, ok := named[name]; ok {
		return text
	}
	text := "# Plan\n\n"
	for n, digit := range name {
		if digit != 'x' {
			box := map[bool]string{true: "[x]", false: "[ ]"}[strings.HasPrefix(name[n+1:], "x")]
			text += fmt.Sprintf("- %s %c. %s\n", box, digit, strings.Fields("Zeroth First Second Third Fourth Fifth Sixth Seventh Eighth Ninth")[digit-'0'])
		}
	}
	return text
}

// reading returns the items of tasks.md and the problem of the file, or the reason why it cannot be read.
func (f *runFixture) reading() string {
	p, err := f.Plan(f.t.Context(), "tasks.md")
	if err != nil {
		return "!" + reasonOf(f.t, err)
	}
	require.Equal(f.t, p.Stale != "", p.Fault != nil, "stale %q, fault %v", p.Stale, p.Fault)
	text := ""
	for _, it := range p.Reading.Items() {
		text += it.ID
	}
	if text == "" {
		text = "-"
	}
	if p.Fault != nil {
		text += " " + reasonOf(f.t, p.Fault)
	}
	return text
}

func reasonOf(t *testing.T, err error) string {
	t.Helper()
	var parse *plan.ParseError
	var stale *engine.StaleError
	var file *planfile.Error
	switch {
	case errors.As(err, &parse):
		return parse.Reason
	case errors.As(err, &stale):
		return stale.Reason
	}
	require.ErrorAs(t, err, &file)
	return string(file.Reason)
}

// view returns a look at a run as item/total@revision, followed by what else the view says.
func (f *runFixture) view(id string) string {
	f.t.Helper()
	v := f.look(id)
	item := "-"
	if v.Progress.CurrentItem != nil {
		item = v.Progress.CurrentItem.ID
	}
	text := fmt.Sprintf("%s/%d@%d", item, v.Progress.Totals.Total, v.Run.Revision)
	if v.Rebuilt {
		text += " rebuilt"
	}
	if v.Gone != nil {
		require.Equal(f.t, &plan.ItemError{Plan: "tasks.md", ItemID: v.Run.ItemID}, v.Gone)
		text += " gone"
	}
	require.Equal(f.t, v.Fallback != "", v.Fault != nil)
	return strings.TrimSpace(text + " " + v.Fallback)
}

// records returns the ledger.changed events of tasks.md: the changed items, or "unseen", "gone" or the problem.
func (f *runFixture) records() []string {
	f.t.Helper()
	list := []string{}
	for _, ev := range events(f.t, f.Engine) {
		if ev.Type != core.LedgerChanged {
			continue
		}
		var data engine.LedgerEvent
		require.NoError(f.t, json.Unmarshal([]byte(ev.Data), &data))
		require.NotNil(f.t, data.Changed)
		require.True(f.t, len(data.Changed) == 0 || !data.Gone && data.Stale == "" && !data.Unseen, ev.Data)
		switch {
		case data.Gone:
			list = append(list, "gone")
		case data.Stale != "":
			require.Equal(f.t, map[bool]string{true: engine.StaleEmpty, false: engine.StaleRebuild}[data.StaleReason == "empty"], data.Stale)
			list = append(list, data.StaleReason)
		case data.Unseen:
			list = append(list, "unseen")
		default:
			list = append(list, "["+strings.Join(data.Changed, ",")+"]")
		}
	}
	return list
}

// startFollow runs Follow in fake time and returns a function that reports changed paths to it.
func startFollow(t *testing.T, f *runFixture) (wake func(paths ...string)) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	signal, taken, ended := make(chan struct{}, 1), []string(nil), make(chan struct{})
	go func() { // ends with ctx
		defer close(ended)
		f.Follow(ctx, signal, func() []string { return taken })
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
	})
	synctest.Wait() // it has looked at everything once
	return func(paths ...string) {
		taken = paths
		signal <- struct{}{}
		synctest.Wait()
	}
}

// Follow records what becomes of a file without a call, and looks again when the file has settled.
func TestFollow(t *testing.T) {
	for name, story := range map[string]string{
		"a change":                    "write 123 0s; wake; log [3]",
		"a file that is half-written": "write 2 0s; wake; log; wait 1s; log [1]",
		"a file that cannot be read":  "folder; wake; log; wait 1s; log not_regular; write 123; wake; log not_regular [3]",
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := newObservers(t, planFixtureAt(t, t.TempDir()))
				o.play("write 12")
				o.wake = startFollow(t, o.named['a'])
				o.play(story)
			})
		})
	}
}

// breakPlan replaces tasks.md by a folder.
func (plans *planFixture) breakPlan() {
	plans.t.Helper()
	path := filepath.Join(plans.dir, "tasks.md")
	require.NoError(plans.t, os.RemoveAll(path))
	require.NoError(plans.t, os.Mkdir(path, 0o755))
}

// A stale plan says since when it is unreadable and when its last good reading was written.
func TestStalePlanHasAnAge(t *testing.T) {
	plans := newPlanFixture(t)
	f := newRunFixture(t, newHookedStore(t), plans)
	plans.write("tasks.md", twoItems, time.Hour)
	written := plans.clock().Add(-time.Hour).UnixMilli()
	id := f.begin("1").ID
	p, err := plans.Read("tasks.md")
	require.NoError(t, err)
	require.Zero(t, p.Since)
	plans.advance(time.Minute)
	began := plans.clock()
	for _, reason := range []planfile.Reason{planfile.NotRegular, planfile.Missing} {
		require.NoError(t, os.RemoveAll(filepath.Join(plans.dir, "tasks.md")))
		if reason == planfile.NotRegular {
			plans.breakPlan()
		}
		p, err := plans.Read("tasks.md")
		require.NoError(t, err)
		require.Equal(t, string(reason), p.Reason)
		require.Equal(t, began, p.Since)
		require.Equal(t, written, p.Reading.MtimeMs)
		v := f.look(id)
		require.Equal(t, began, v.Since)
		require.Equal(t, written, v.Progress.Fingerprint.MtimeMs)
		plans.advance(time.Minute)
	}
	plans.repairPlan(twoItems, time.Hour)
	require.Zero(t, f.look(id).Since)
	plans.breakPlan()
	require.Equal(t, began.Add(2*time.Minute), f.look(id).Since)
}

// list returns the listed paths and why each is unreadable.
func (plans *planFixture) list() (reasons map[string]string) {
	plans.t.Helper()
	paths, err := plans.List()
	require.NoError(plans.t, err)
	reasons = map[string]string{}
	for _, path := range paths {
		p, _ := plans.Read(path)
		reasons[path] = p.Reason
	}
	return reasons
}

func TestListKeepsAPlanWhateverIsInItsPlace(t *testing.T) {
	plans := folders(t)
	for _, path := range []string{"tasks.md", "specs/a/tasks.md", "docs/plans/a.md"} {
		plans.write(path, twoItems, time.Hour)
	}
	plans.writeCard("BACK-1", "To Do", time.Hour)
	require.Equal(t, map[string]string{"tasks.md": "", "specs/a/tasks.md": "", "docs/plans/a.md": "", backlog: ""}, plans.list())
	plans.breakPlan()
	plans.removeCard("BACK-1", time.Hour)
	plans.write("docs/plans/a.md", "# Emptied\n", time.Minute)
	require.Equal(t, map[string]string{
		"tasks.md": "not_regular", "specs/a/tasks.md": "", "docs/plans/a.md": "no_items", backlog: "missing",
	}, plans.list())
	_, others := plans.survey()
	require.Empty(t, others)
	require.NoError(t, os.RemoveAll(filepath.Join(plans.dir, "specs", "a")))
	plans.repairPlan("no plan\n", time.Hour)
	require.Equal(t, map[string]string{"tasks.md": "no_items", "docs/plans/a.md": "no_items", backlog: "missing"}, plans.list())
	path, err := plans.Resolve("tasks")
	require.NoError(t, err)
	require.Equal(t, backlog, path, "it keeps its short name")
}
