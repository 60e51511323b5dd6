package sqlite_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/core/coretest"
	"waybill/core/instruction"
	"waybill/core/proof"
	"waybill/core/run"
	"waybill/core/task"
	"waybill/store"
	"waybill/store/sqlite"
	"waybill/test/slow"
)

// fullStore makes a closed store with rows in every table.
func fullStore(t *testing.T) string {
	t.Helper()
	path := path(t)
	s := open(t, sqlite.Options{Path: path})
	for n := int64(1); n <= 300; n += 10 {
		update(t, s, func(tx store.Tx) error { return fillTen(tx, n) })
	}
	require.NoError(t, s.Close())
	return path
}

// fillTen queues ten instructions from number n on, acknowledges some, and puts one of everything else.
func fillTen(tx store.Tx, n int64) error {
	for i := n; i < n+10; i++ {
		if err := queueOne(tx, i); err != nil {
			return err
		}
		if i%3 == 0 {
			if err := acknowledgeOne(tx, i); err != nil {
				return err
			}
		}
	}
	if err := putRunsAndNotices(tx, n+9); err != nil {
		return err
	}
	return staff(tx, (n+9)/10)
}

func putRunsAndNotices(tx store.Tx, n int64) error {
	r, _ := run.Start(fmt.Sprint("run_", n), "tasks.md", fmt.Sprint(n), "", coretest.Policy(), 1)
	if n%30 == 0 {
		r = blockedRun(r)
	}
	if err := tx.PutRun(r); err != nil {
		return err
	}
	if r.State == run.Blocked {
		if err := tx.AddTallies(r.ID, []store.Tally{{Name: "prompt.tokens", N: n}, {Name: "results:worker", N: 2}}); err != nil {
			return err
		}
		if err := putPrompts(tx, r.ID, core.Worker, core.SpecReviewer); err != nil {
			return err
		}
	}
	if err := tx.PutFacts(r.ID, []store.Fact{{Key: "ledger.task.summary", Value: content}}); err != nil {
		return err
	}
	if err := tx.PutNotice(store.Notice{ID: fmt.Sprint("ntc_", n), Kind: core.NoticeInstructionFailed, Text: content, Position: n}); err != nil {
		return err
	}
	return tx.PutAnswer(store.Answer{Key: fmt.Sprint("key_", n), Result: content, At: core.Instant(n)})
}

// dump reads everything that fullStore has put, by its front, as one text.
func dump(t *testing.T, s store.Store) (text string, err error) {
	t.Helper()
	err = s.View(t.Context(), func(tx store.Tx) error {
		text = ""
		add := func(value any, err error) error {
			text += fmt.Sprintf("%+v\n", value)
			return err
		}
		one := func(value any, _ bool, err error) error { return add(value, err) }
		errs := []error{
			add(tx.Instructions(store.InstructionQuery{Limit: 10_000})),
			add(tx.Instructions(store.InstructionQuery{State: instruction.StateQueued, Session: "default", Order: store.ByUrgency, Limit: 10_000})),
			add(tx.InstructionCounts()), add(tx.Events(0, 10_000, nil)), add(tx.EventsOf(benchID(30), 0, 10)), add(tx.Notices("", 0, 10_000)),
			add(tx.RunCounts()), add(tx.LatestRuns("tasks.md")), add(tx.Runs(store.RunQuery{Plan: "tasks.md", Limit: 10_000})), add(tx.Tallies("")),
			add(tx.Tasks(store.TaskQuery{Limit: 10_000})), add(tx.Tasks(store.TaskQuery{Live: true})),
			add(tx.Tasks(store.TaskQuery{ReadyAt: 1 << 40})), add(tx.TaskCounts()), add(tx.Leased(0, 1000)),
			add(tx.Dependents(taskID(1), "", 1000)), add(tx.OpenedBreakers()), add(tx.NextReady(0)),
		}
		for n := int64(1); n <= staffedTasks; n++ {
			run := fmt.Sprint("run_", 10*n)
			errs = append(errs, one(tx.LatestRun("tasks.md", fmt.Sprint(10*n))), add(tx.Facts(run)), add(tx.Tallies(run)), add(promptsOf(tx, run)),
				one(tx.Answered(fmt.Sprint("key_", 10*n))), one(tx.Instruction(benchID(10*n))),
				add(tx.Attempts(taskID(n), 0, 100)), add(tx.Replies(taskID(n), 0, 100)), one(tx.AttemptUnder(fmt.Sprint("tok_", n))))
		}
		return errors.Join(errs...)
	})
	return text, err
}

// TestFaultS4_FlippedBits: the disk gives back another bit than it was given. Reading gives what was
// written or an error, never something else.
func TestFaultS4_FlippedBits(t *testing.T) {
	slow.Test(t)
	source := fullStore(t)
	clean := fileText(t, source)
	s := open(t, sqlite.Options{Path: source})
	want, err := dump(t, s)
	require.NoError(t, err)

	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 0))
	flips := 200
	if testing.Short() || slow.Race {
		flips = 30
	}
	path := filepath.Join(fastDir(t), "store.db")
	noticed := 0
	for range flips {
		rotten := append([]byte(nil), clean...)
		bit := random.IntN(len(clean) * 8)
		rotten[bit/8] ^= 1 << (bit % 8)
		require.NoError(t, os.WriteFile(path, rotten, 0o600))
		if readRotten(t, path, want, fmt.Sprintf("seed %d, bit %d of byte %d", seed, bit%8, bit/8)) {
			noticed++
		}
		for _, part := range []string{path, path + "-wal", path + "-shm", path + ".lock"} {
			_ = os.Remove(part)
		}
	}
	t.Logf("%d of %d flips noticed; the others changed nothing that is kept", noticed, flips)
	require.Positive(t, noticed)
}

// readRotten reports whether reading the store ends in an error, and fails t if it gives something
// else than was written without one.
func readRotten(t *testing.T, path, want, flip string) (noticed bool) {
	t.Helper()
	s, err := sqlite.Open(t.Context(), sqlite.Options{Path: path})
	if err != nil {
		return true
	}
	defer func() { require.NoError(t, s.Close()) }()
	got, err := dump(t, s)
	if err != nil {
		requireFault(t, err, store.Corrupt)
		return true
	}
	if got == want {
		return false
	}
	// An index can leave out a row that is there; that is for Verify to find.
	damage, err := s.Verify(t.Context())
	require.NoError(t, err, flip)
	require.NotEmpty(t, damage, flip)
	return true
}

// TestFaultS4_NotAStore: what is not a store, or not one any more, is refused and left as it is.
func TestFaultS4_NotAStore(t *testing.T) {
	whole := fileText(t, fullStore(t))
	another := path(t)
	change(t, another, "CREATE TABLE cats (name TEXT)")
	foreign := fileText(t, another)
	for name, contents := range map[string][]byte{
		"a text":                 []byte("this is a letter and not a database, however long it may be, so leave it alone please"),
		"half a store":           whole[:len(whole)/2],
		"a store without an end": whole[:len(whole)-4096],
		"a store without a head": append(make([]byte, 100), whole[100:]...),
		"an odd length":          whole[:len(whole)-1000],
		"another database":       foreign,
	} {
		t.Run(name, func(t *testing.T) {
			path := path(t)
			require.NoError(t, os.WriteFile(path, contents, 0o600))
			_ = notOpened(t, sqlite.Options{Path: path}, store.Corrupt)
			after := fileText(t, path)
			require.True(t, string(contents) == string(after), "the file was written to")
		})
	}
}

// TestFaultS4_EmptiedStore: a file that was a store and is empty now is not taken for a new one.
func TestFaultS4_EmptiedStore(t *testing.T) {
	path := fullStore(t)
	require.NoError(t, os.Truncate(path, 0))
	e := notOpened(t, sqlite.Options{Path: path}, store.Corrupt)
	require.Contains(t, e.Message, "400 events")
}

// TestDamageIsNamed: each row that is not what was written is found once, by its name, by the store and from outside,
// which changes nothing. A line of testdata/damage.txt is the check that finds it, its name, and the statement that does
// it: of runs, run_20 has nothing in most columns, and run_30 has something everywhere.
func TestDamageIsNamed(t *testing.T) {
	source := fullStore(t)
	for line := range strings.Lines(string(fileText(t, "testdata/damage.txt"))) {
		want := strings.SplitN(strings.TrimSpace(line), " | ", 3)
		t.Run(want[2], func(t *testing.T) {
			path := path(t)
			copyFile(t, source, path)
			change(t, path, want[2])
			before := fileText(t, path)
			var checks []string
			for _, f := range sqlite.Examine(t.Context(), sqlite.Options{Path: path}) {
				if f.Level == sqlite.LevelFail {
					checks = append(checks, f.Check)
					require.Contains(t, f.Text, want[1])
					require.NotEmpty(t, f.Fix)
				}
			}
			require.Equal(t, []string{want[0]}, checks)
			after := fileText(t, path)
			require.True(t, bytes.Equal(before, after))
			damage, err := open(t, sqlite.Options{Path: path}).Verify(t.Context())
			require.NoError(t, err)
			require.Len(t, damage, 1)
			require.Equal(t, want[1], damage[0].What)
			require.NotEmpty(t, damage[0].Detail)
		})
	}
}

// TestFaultS4_TornLog: the end of the event log is not what it was. The store is not continued.
func TestFaultS4_TornLog(t *testing.T) {
	for _, statement := range []string{
		"DELETE FROM events WHERE seq = 400",
		"DELETE FROM events WHERE seq > 390",
		"UPDATE events SET data = '{}' WHERE seq = 395",
		"UPDATE events SET hash = randomblob(32) WHERE seq = 400",
		"UPDATE head SET newest = 399",
		"DELETE FROM head",
	} {
		path := fullStore(t)
		change(t, path, statement)
		_ = notOpened(t, sqlite.Options{Path: path}, store.Corrupt)
	}
}

// TestSalvage: of a store with damaged pages every readable row is kept, and the damaged file as it is.
func TestSalvage(t *testing.T) {
	path := fullStore(t)
	whole := fileText(t, path)
	damagedRow := "UPDATE instructions SET content = 'other' WHERE position = 7"
	change(t, path, damagedRow, "UPDATE events SET data = '{}' WHERE seq = 17")
	spoilPages(t, path, "name = 'instructions' AND pagetype = 'leaf' ORDER BY path LIMIT 1 OFFSET 5")
	before := fileText(t, path)
	require.Len(t, before, len(whole))

	result := salvage(t, path)
	aside := fileText(t, result.SetAside)
	require.True(t, string(before) == string(aside), "the damaged file is set aside as it was")
	require.Equal(t, []string{"table instructions"}, result.Unreadable)
	require.Equal(t, map[string]int{"instructions": 1, "events": 18}, result.Lost)
	require.Equal(t, 30, result.Kept["runs"])
	require.Equal(t, 30, result.Kept["facts"])
	require.Equal(t, 20, result.Kept["tallies"])
	require.Equal(t, 20, result.Kept["prompts"])
	require.Equal(t, 30, result.Kept["notices"])
	require.Equal(t, 30, result.Kept["answers"])
	require.Greater(t, result.Kept["instructions"], 250)
	require.Equal(t, 400-18, result.Kept["events"], "those behind the one that follows the damaged one")

	s := open(t, sqlite.Options{Path: path})
	sound(t, s)
	requireInstructions(t, s, int64(result.Kept["instructions"]))
	require.EqualValues(t, 400, newest(t, s))
	update(t, s, appendOne)
	require.EqualValues(t, 401, newest(t, s))
}

// TestSalvageIntoANewFile: the damaged store stays where and as it is, and what is there is not replaced.
func TestSalvageIntoANewFile(t *testing.T) {
	damaged, target := fullStore(t), path(t)
	change(t, damaged, "UPDATE instructions SET content = 'other' WHERE position = 7")
	before := fileText(t, damaged)
	result, err := sqlite.SalvageTo(t.Context(), sqlite.Options{Path: damaged}, target)
	require.NoError(t, err)
	require.Equal(t, target, result.Path)
	require.Empty(t, result.SetAside)
	require.Equal(t, map[string]int{"instructions": 1}, result.Lost)
	after := fileText(t, damaged)
	require.True(t, string(before) == string(after))
	_, err = sqlite.SalvageTo(t.Context(), sqlite.Options{Path: damaged}, target)
	requireFault(t, err, store.Unsafe)
	s := open(t, sqlite.Options{Path: target})
	sound(t, s)
	requireInstructions(t, s, 299)
}

// TestExamine: what is found from outside, without touching anything.
func TestExamine(t *testing.T) {
	levels := func(path string) map[string]sqlite.Level {
		worst := map[string]sqlite.Level{}
		for _, f := range sqlite.Examine(t.Context(), sqlite.Options{Path: path}) {
			require.Equal(t, f.Level == sqlite.LevelOK, f.Fix == "", "%+v", f)
			worst[f.Check] = f.Level
		}
		return worst
	}
	source := fullStore(t)
	for name, level := range levels(source) {
		if name != "file system" { // may be in memory
			require.Equal(t, sqlite.LevelOK, level, name)
		}
	}
	extra := path(t)
	copyFile(t, source, extra)
	change(t, extra, "CREATE TABLE extras (x)")
	require.Equal(t, sqlite.LevelFail, levels(extra)["schema"])

	nowhere := filepath.Join(t.TempDir(), "none", "store.db")
	require.Equal(t, map[string]sqlite.Level{"file": sqlite.LevelWarn}, levels(nowhere))
	require.NoDirExists(t, filepath.Dir(nowhere))
	require.NoError(t, os.Remove(source))
	require.Equal(t, map[string]sqlite.Level{"file": sqlite.LevelFail}, levels(source), "it is not there any more")
}

// spoilPages overwrites those pages of a closed store that the end of a query selects.
func spoilPages(t *testing.T, path, which string) {
	t.Helper()
	db := raw(t, path, "PRAGMA wal_checkpoint(TRUNCATE)")
	found, err := db.QueryContext(t.Context(), "SELECT pageno FROM dbstat WHERE "+which)
	require.NoError(t, err)
	var pages []int64
	for found.Next() {
		var page int64
		require.NoError(t, found.Scan(&page))
		pages = append(pages, page)
	}
	require.NoError(t, errors.Join(found.Err(), found.Close(), db.Close()))
	require.NotEmpty(t, pages)
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	require.NoError(t, err)
	for _, page := range pages {
		_, err := f.WriteAt(bytes.Repeat([]byte{0xee}, 4096), (page-1)*4096)
		require.NoError(t, err)
	}
	require.NoError(t, f.Close())
}

// TestSalvageOfAText: nothing can be kept of what is no database, but it is set aside, and the numbers
// that the lock file remembers are not given again.
func TestSalvageOfAText(t *testing.T) {
	path := fullStore(t)
	require.NoError(t, os.WriteFile(path, []byte("not a database at all, but a text that is longer than a header"), 0o600))
	result := salvage(t, path)
	require.Empty(t, result.Kept)
	require.Equal(t, []string{"the file"}, result.Unreadable)
	s := open(t, sqlite.Options{Path: path})
	sound(t, s)
	update(t, s, appendOne)
	require.EqualValues(t, 401, newest(t, s))
}

// TestSalvageWithoutWAL: a log that is whole, but shorter than others have seen it, is not continued
// with numbers that were given before.
func TestSalvageWithoutWAL(t *testing.T) {
	path := withoutWAL(t)
	salvage(t, path)
	s := open(t, sqlite.Options{Path: path})
	require.Empty(t, s.Status(t.Context()).Degraded)
	update(t, s, appendOne)
	require.EqualValues(t, oldRecords+4, newest(t, s))
	sound(t, s)
}

// TestSalvageOfNothing: where there is no store, there is nothing to salvage.
func TestSalvageOfNothing(t *testing.T) {
	_, err := sqlite.Salvage(t.Context(), sqlite.Options{Path: path(t)})
	requireFault(t, err, store.Corrupt)
	_, err = sqlite.Salvage(t.Context(), sqlite.Options{})
	require.ErrorContains(t, err, "Path")
}

// blockedRun returns the run with something in everything that says how it stands.
func blockedRun(r run.Run) run.Run {
	r.State, r.Halt = run.Blocked, run.HaltAlternation
	r.Policy.Reviewers = core.RolesOf(core.SpecReviewer, core.CodeQualityReviewer)
	r.Standing = [core.Roles]run.Standing{run.Submitted, run.Approved, run.Rejected}
	r.Naming = run.OwnNames
	r.Policy.RequireChecks, r.Proof = "test", proof.Proof{Required: "test", Red: "test", Tree: "A", Round: 1, Counted: true}
	r.Findings = [...]run.Findings{
		{Last: "these", Before: "those", Same: 1, Swaps: 2},
		{Last: `some "others"`, Same: 1},
	}
	r.Counters.ReviewLoop = 1
	r.Frontier = "2, 3"
	return r
}

// TestSalvageLosesWhatIsDamaged: what belongs to a damaged row is lost with it, and everything else is kept.
func TestSalvageLosesWhatIsDamaged(t *testing.T) {
	source := fullStore(t)
	type counts = map[string]int
	for statement, lost := range map[string]counts{
		"UPDATE runs SET naming = 0 WHERE id = 'run_30'":                                     {"runs": 1, "facts": 1, "tallies": 2, "prompts": 2},
		"UPDATE prompts SET text = 'other'" + thatPrompt:                                     {"prompts": 1},
		"UPDATE tallies SET n = n + 1 WHERE run_id = 'run_30' AND n > 2":                     {"tallies": 1},
		"UPDATE breakers SET until = 9 WHERE key = 'provider/model-4'":                       {"breakers": 1},
		"UPDATE notices SET deliveries = 9 WHERE id = 'ntc_20'":                              {"notices": 1},
		"DELETE FROM events WHERE seq > 390":                                                 {"events": 400}, // a torn log is not continued
		"UPDATE task_specs SET prompt = 'other' WHERE task = 3":                              {"tasks": 1, "attempts": 1, "dependencies": 1},
		"UPDATE attempts SET worker = 'other' WHERE id = 'att_4_2'":                          {"tasks": 1, "attempts": 2, "dependencies": 1},
		"UPDATE attempts SET worker = 'other' WHERE id = 'att_7_1'":                          {"tasks": 1, "attempts": 2, "dependencies": 1},
		"UPDATE dependencies SET sum = x'0000000000000000' WHERE task = '" + taskID(6) + "'": {"dependencies": 1},
	} {
		t.Run(statement, func(t *testing.T) {
			path := path(t)
			copyFile(t, source, path)
			change(t, path, statement)
			result := salvage(t, path)
			maps.DeleteFunc(result.Lost, func(_ string, n int) bool { return n == 0 })
			require.Equal(t, lost, result.Lost)
			s := open(t, sqlite.Options{Path: path})
			sound(t, s)
			update(t, s, appendOne)
			require.EqualValues(t, 401, newest(t, s))
		})
	}
}

// thatPrompt selects one of the prompts that fullStore has.
const thatPrompt = " WHERE run_id = 'run_30' AND role = 'worker'"

func promptFor(runID string, role core.Role) store.Prompt {
	return store.Prompt{RunID: runID, Role: role, At: 7, Version: "1", Cursor: "c1.x", Tokens: 9, Text: content}
}

func putPrompts(tx store.Tx, runID string, roles ...core.Role) (err error) {
	for _, role := range roles {
		err = errors.Join(err, tx.PutPrompt(promptFor(runID, role)))
	}
	return err
}

// promptsOf returns the prompts of a run by role; those that are not there are empty.
func promptsOf(tx store.Tx, runID string) (all [core.Roles]store.Prompt, err error) {
	for role := core.Worker; role <= core.Roles; role++ {
		p, _, failed := tx.Prompt(runID, role)
		all[role-1], err = p, errors.Join(err, failed)
	}
	return all, err
}

// staffedTasks is how many tasks staffed makes.
const staffedTasks = 30

func staff(tx store.Tx, n int64) error {
	next := task.Successor{AttemptID: fmt.Sprint("att_", n, "_2")}
	failed := task.Failure{Class: task.ClassTransient, Name: "Overloaded", Message: content}
	again := task.Claim{At: 9, Worker: "w", Token: fmt.Sprint("again_", n), Length: 1000}
	events := map[int64][]task.Event{
		0: {claimOf(n), finishOf(n)},
		1: {claimOf(n), task.Finish{At: 9, Token: fmt.Sprint("tok_", n), Status: task.AttemptError, Failure: failed, Next: next}, again},
		2: {
			claimOf(n),
			task.Finish{At: 9, Token: fmt.Sprint("tok_", n), Status: task.AttemptAwaiting, Question: content},
			task.Reply{At: 9, Text: content, Next: next},
		},
	}
	if err := errors.Join(createTask(tx, n), happen(tx, n, events[n%3]...)); err != nil {
		return err
	}
	if n%3 == 2 {
		if err := tx.AddReply(store.Reply{TaskID: taskID(n), Number: 1, AttemptID: "att", Text: content}); err != nil {
			return err
		}
	}
	if n > 1 {
		if err := tx.AddDependency(taskID(n), taskID(1)); err != nil {
			return err
		}
	}
	return tx.PutBreaker(task.Breaker{Key: fmt.Sprint("provider/model-", n), Failures: 5, Opened: 1, Until: 7})
}

// TestFaultS4_NumbersThatAreTooLarge: a number is damaged in such a way that its last byte is what it was.
func TestFaultS4_NumbersThatAreTooLarge(t *testing.T) {
	source := fullStore(t)
	for _, column := range []string{"reviewers", "standing_worker", "standing_spec", "standing_quality", "naming"} { // bytes and flags in core
		path := path(t)
		copyFile(t, source, path)
		change(t, path, "PRAGMA ignore_check_constraints = ON; UPDATE runs SET "+column+" = "+column+" + 256")
		s := open(t, sqlite.Options{Path: path})
		requireFault(t, s.View(t.Context(), func(tx store.Tx) error {
			_, _, err := tx.Run("run_30")
			return err
		}), store.Corrupt)
	}
}
