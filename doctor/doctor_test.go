package doctor_test

import (
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/doctor"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// judgedByTheStore are the checks that only the store itself can make.
var judgedByTheStore = []string{
	"rights", "database", "file", "modes", "file system", "space", "schema", "structure", "rows", "event log", "counts", "task counts", "lock file", "inode",
}

// sound returns the facts of a workspace where all is well.
func sound() *doctor.Facts {
	f := &doctor.Facts{
		Now:       noon,
		Program:   doctor.Program{Version: "1.0", Go: "go1", OS: "plan9", Arch: "arm", OnPath: []doctor.Installed{{Path: "/bin/waybill", Same: true}}},
		Workspace: doctor.Workspace{Root: "/work", ResolvedBy: "cwd"},
		State:     doctor.Folder{Path: "/state", There: true, Folder: true, Mine: true, Modes: true, Mode: fs.ModeDir | 0o700},
		Checks:    doctor.Checks{Looked: true, Path: "/work/.waybill.toml", Number: 2, TrustedAt: noon},
		Place:     doctor.Place{Looked: true},
		Settings:  doctor.Settings{File: "/config.json", KeepFor: 30 * 24 * time.Hour},
		Plans:     doctor.Plans{Looked: true, Plans: []doctor.Plan{{Path: "tasks.md", Items: 3}}},
		Watching:  doctor.Watching{Looked: true, Mode: "inotify", Native: "inotify", Limits: true, Watches: 100_000, Instances: 512},
		Doors:     []doctor.Door{{Path: "/state/http-7.json", PID: 7, Running: true, Answers: true}},
	}
	f.Store = doctor.Store{
		Kind: "SQLite", Path: "/state/store.db", There: true,
		Engine: doctor.Engine{Version: "3.60.0", Journal: "wal", WantJournal: "wal", Sync: 2, WantSync: 2},
		Files:  doctor.Files{WALLimit: 64 << 20, Reserve: 1 << 20, WantReserve: 1 << 20, Changed: noon, Private: true},
		Lock:   doctor.Lock{There: true, PID: 7},
		Gate:   doctor.Lock{There: true},
		Peers:  []doctor.Peer{{PID: 7, Version: "1.0"}},
		Tables: doctor.Tables{Read: true, Version: 6, OldestAt: noon.Add(-time.Hour), NewestAt: noon, Events: 2},
	}
	for _, check := range judgedByTheStore {
		f.Store.Findings = append(f.Store.Findings, doctor.Find(check, doctor.OK, "", "it is well"))
	}
	return f
}

// onServer returns the facts of a workspace whose store is in a database, where all is well.
func onServer() *doctor.Facts {
	f := sound()
	f.Store = doctor.Store{
		Kind: "PostgreSQL", Path: "the database", There: true, Findings: f.Store.Findings, Tables: f.Store.Tables,
		Server: &doctor.Server{
			Reached: true, Version: 160_004, Oldest: 130_000, Encoding: "UTF8", Fsync: true, WholePages: true, Commit: "on",
			Free: 90, Most: 97, Each: 4, Ahead: time.Second,
		},
	}
	return f
}

// about returns facts of a workspace where all is well, with a store of a kind that the check looks at.
func about(check string) *doctor.Facts {
	if f := sound(); len(of(doctor.Examine(f), check)) > 0 {
		return f
	}
	return onServer()
}

// server makes something of the facts about a server.
func server(change func(s *doctor.Server)) func(f *doctor.Facts) {
	return func(f *doctor.Facts) {
		*f = *onServer()
		change(f.Store.Server)
	}
}

// A fault makes a check end at a level, with a text that has a part.
type fault struct {
	level doctor.Level
	part  string
	make  func(f *doctor.Facts)
}

var errDisk = errors.New("the disk hums")

// faults has at least one for each check that does not only count, by its name.
var faults = map[string][]fault{
	"engine": {{doctor.Fail, "hums", func(f *doctor.Facts) { f.Store.Engine.Err = errDisk }}},
	"path": {
		{doctor.Warn, "no folder of PATH", func(f *doctor.Facts) { f.Program.OnPath = nil }},
		{doctor.Warn, "1 of 2 programs named waybill in PATH are different ones: /old/waybill", func(f *doctor.Facts) {
			f.Program.OnPath = append(f.Program.OnPath, doctor.Installed{Path: "/old/waybill"})
		}},
	},
	"environment": {
		{doctor.Warn, "waybill does not know WAYBILL_CONFG; did you mean WAYBILL_CONFIG", func(f *doctor.Facts) {
			f.Program.Variables = []doctor.Variable{{Name: "WAYBILL_CONFG", Near: "WAYBILL_CONFIG"}}
		}},
		{doctor.Warn, "waybill does not know WAYBILL_X", func(f *doctor.Facts) { f.Program.Variables = []doctor.Variable{{Name: "WAYBILL_X"}} }},
		{doctor.Warn, "WAYBILL_LOG is no level", func(f *doctor.Facts) {
			f.Program.Variables = []doctor.Variable{{Name: "WAYBILL_LOG", Known: true, Wrong: "is no level"}}
		}},
	},
	"config":    {{doctor.Fail, "hums", func(f *doctor.Facts) { f.Settings.Err = errDisk }}},
	"workspace": {{doctor.Fail, "hums", func(f *doctor.Facts) { f.Workspace.Err = errDisk }}},
	"identity":  {{doctor.Warn, "another folder", func(f *doctor.Facts) { f.Workspace.Former = "/work" }}},
	"checks":    {{doctor.Warn, "it has changed", func(f *doctor.Facts) { f.Checks.Why, f.Checks.Mend = "it has changed", "waybill check trust" }}},
	"state folder": {
		{doctor.Warn, "open to other users (-rwxr-xr-x)", func(f *doctor.Facts) { f.State.Mode = fs.ModeDir | 0o755 }},
		{doctor.Fail, "belongs to another user", func(f *doctor.Facts) { f.State.Mine = false }},
		{doctor.Fail, "is a link", func(f *doctor.Facts) { f.State.Folder = false }},
		{doctor.Fail, "hums", func(f *doctor.Facts) { f.State.Err = errDisk }},
	},
	"server":      {{doctor.Fail, "it is PostgreSQL 12, and 13 is the oldest", server(func(s *doctor.Server) { s.Version = 120_017 })}},
	"encoding":    {{doctor.Fail, "is encoded in LATIN1", server(func(s *doctor.Server) { s.Encoding = "LATIN1" })}},
	"primary":     {{doctor.Fail, "it is a standby", server(func(s *doctor.Server) { s.Standby = true })}},
	"fsync":       {{doctor.Fail, "fsync is off", server(func(s *doctor.Server) { s.Fsync = false })}},
	"whole pages": {{doctor.Warn, "full_page_writes is off", server(func(s *doctor.Server) { s.WholePages = false })}},
	"commits": {
		{doctor.Warn, "synchronous_commit is off", server(func(s *doctor.Server) { s.Commit = "off" })},
		{doctor.Warn, "synchronous_commit is maybe", server(func(s *doctor.Server) { s.Commit = "maybe" })},
	},
	"connections": {
		{doctor.Warn, "3 of 97 connections are free, and one more process may take 4", server(func(s *doctor.Server) { s.Free = 3 })},
		{doctor.Warn, "0 of 97 connections are free", server(func(s *doctor.Server) { s.Free = -2 })},
		{doctor.Warn, "9 of 97 connections are free, which is less than a tenth", server(func(s *doctor.Server) { s.Free = 9 })},
	},
	"pooler": {{doctor.Fail, "and the URL denies it", server(func(s *doctor.Server) { s.Pooled, s.Insisted = true, new(bool) })}},
	"reserve": {
		{doctor.Warn, "no space is reserved", func(f *doctor.Facts) { f.Store.Files.Reserve = -1 }},
		{doctor.Warn, "the reserve has 5 bytes and needs 1048576", func(f *doctor.Facts) { f.Store.Files.Reserve = 5 }},
		{doctor.Warn, "was used when the disk was full", func(f *doctor.Facts) { f.Store.Files.Reserve, f.Store.Files.Spent = -1, true }},
	},
	"processes": {
		{doctor.Warn, "process 7 has the store open with waybill 0.9, and this one is 1.0", func(f *doctor.Facts) { f.Store.Peers[0].Version = "0.9" }},
		{doctor.Warn, "process 7 on desk has the store open with waybill 0.9", func(f *doctor.Facts) { f.Store.Peers[0] = doctor.Peer{PID: 7, Version: "0.9", Host: "desk"} }},
	},
	"lock": {
		{doctor.Warn, "process 7 on desk has held it for over 5s", func(f *doctor.Facts) {
			f.Store.Lock = doctor.Lock{There: true, Held: true, For: 5 * time.Second, PID: 7, Host: "desk"}
		}},
		{doctor.Fail, "another kind of file", func(f *doctor.Facts) { f.Store.Lock = doctor.Lock{There: true, Odd: true} }},
	},
	"gate": {
		{doctor.Warn, "it has been held for over 5s; processes go around it, but not in turn", func(f *doctor.Facts) { f.Store.Gate = doctor.Lock{There: true, Held: true, For: 5 * time.Second} }},
		{doctor.Warn, "another kind of file", func(f *doctor.Facts) { f.Store.Gate = doctor.Lock{There: true, Odd: true} }},
	},
	"place": {
		{doctor.Fail, "cannot be created: the disk hums", func(f *doctor.Facts) { f.Place.Err = errDisk }},
		{doctor.Skipped, "what it looks at is not there yet", func(f *doctor.Facts) { f.Place.Looked = false }},
	},
	"journal": {{doctor.Warn, `is "delete" and must be "wal"`, func(f *doctor.Facts) { f.Store.Engine.Journal = "delete" }}},
	"sync":    {{doctor.Fail, "synchronous is at level 1 and must be at 2", func(f *doctor.Facts) { f.Store.Engine.Sync = 1 }}},
	"wal":     {{doctor.Warn, "the log has 65 MiB and stays below 64 unless a read takes ve", func(f *doctor.Facts) { f.Store.Files.WALBytes = 65 << 20 }}},
	"clock": {
		{doctor.Warn, "the clock of this machine is 1h0m0s behind the server's", server(func(s *doctor.Server) { s.Ahead = time.Hour })},
		{doctor.Warn, "the clock of this machine is 1h0m0s ahead of the server's", server(func(s *doctor.Server) { s.Ahead = -time.Hour })},
		{doctor.Warn, "newest event is 1h0m0s in the future", func(f *doctor.Facts) { f.Store.Tables.NewestAt = noon.Add(time.Hour) }},
		{doctor.Warn, "changed 2m0s in the future", func(f *doctor.Facts) { f.Store.Files.Changed = noon.Add(2 * time.Minute) }},
	},
	"retention": {
		{doctor.Warn, "the oldest of 2 events is 45 days old, and the limit is 30", func(f *doctor.Facts) { f.Store.Tables.OldestAt = noon.AddDate(0, 0, -45) }},
		{doctor.Warn, "the oldest of 2 events is 20 days old, and the limit is 7", func(f *doctor.Facts) {
			f.Store.Tables.OldestAt, f.Settings.KeepFor = noon.AddDate(0, 0, -20), 7*24*time.Hour
		}},
	},
	"copies": {
		{doctor.Warn, "1 file of 300 MiB: store.db.corrupt-5", func(f *doctor.Facts) {
			f.Store.Files.Copies = []doctor.Copy{{Path: "/state/store.db.corrupt-5", Kind: "corrupt", Bytes: 300 << 20}}
		}},
		{doctor.Warn, "was recovered", func(f *doctor.Facts) { f.Store.Files.Copies = []doctor.Copy{{Path: "/state/r", Kind: "rescued"}} }},
	},
	"doors": {
		{doctor.Warn, "names process 7, which is gone", func(f *doctor.Facts) { f.Doors[0].Running, f.Doors[0].Answers = false, false }},
		{doctor.Warn, "names process 7, which is gone", func(f *doctor.Facts) { f.Doors[0].Reborn, f.Doors[0].Answers = true, false }},
		{doctor.Warn, "does not answer", func(f *doctor.Facts) { f.Doors[0].Answers = false }},
		{doctor.Warn, "is not what waybill writes", func(f *doctor.Facts) { f.Doors[0].Opaque = true }},
	},
	"leftovers": {
		{doctor.Warn, "1 file with 9 bytes, such as /state/x", func(f *doctor.Facts) { f.Litter = []doctor.Leftover{{Path: "/state/x", Bytes: 9}} }},
		{doctor.Warn, "/ws/.waybill-A.saved has a text that was saved while waybill changed an item", func(f *doctor.Facts) { f.Plans.Saved = []string{"/ws/.waybill-A.saved"} }},
	},
	"plans": {
		{doctor.Warn, "a.md cannot be read: the disk hums", func(f *doctor.Facts) { f.Plans.Plans = []doctor.Plan{{Path: "a.md", Err: errDisk}} }},
		{doctor.Warn, "a.md has 1 error and 2 warnings, such as: line 4: odd", func(f *doctor.Facts) {
			f.Plans.Plans = []doctor.Plan{{Path: "a.md", Errors: 1, Warnings: 2, First: "line 4: odd"}}
		}},
		{doctor.Warn, "some folders could not be searched: the disk hums", func(f *doctor.Facts) { f.Plans.Err = errDisk }},
	},
	"watcher": {{doctor.Warn, "the mode is polling: too many", func(f *doctor.Facts) { f.Watching.Mode, f.Watching.Reason = "polling", "too many" }}},
	"limits": {
		{doctor.Warn, "may watch 100 files", func(f *doctor.Facts) { f.Watching.Watches = 100 }},
		{doctor.Warn, "may have 10 watchers", func(f *doctor.Facts) { f.Watching.Instances = 10 }},
		{doctor.Skipped, "no such limit", func(f *doctor.Facts) { f.Watching.Limits = false }},
	},
	"questions": {{doctor.Warn, "1 task waits for an answer: tsk_1", func(f *doctor.Facts) { f.Store.Tables.Work.Questions.Add("tsk_1") }}},
	"runs":      {{doctor.Warn, "1 run is blocked: run_1", func(f *doctor.Facts) { f.Store.Tables.Work.BlockedRuns.Add("run_1") }}},
	"tasks":     {{doctor.Warn, "1 task failed: tsk_1", func(f *doctor.Facts) { f.Store.Tables.Work.FailedTasks.Add("tsk_1") }}},
	"instructions": {{doctor.Warn, "1 instruction was never acknowledged: ins_1", func(f *doctor.Facts) {
		f.Store.Tables.Work.FailedInstructions.Add("ins_1")
	}}},
	"leases":  {{doctor.OK, "the lease of 3 attempts is over", func(f *doctor.Facts) { f.Store.Tables.Overdue = 3 }}},
	"notices": {{doctor.OK, "4 notices not consumed", func(f *doctor.Facts) { f.Store.Tables.Notices = 4 }}},
}

// of returns what one check has found.
func of(found []doctor.Finding, check string) (of []doctor.Finding) {
	for _, f := range found {
		if f.Check == check {
			of = append(of, f)
		}
	}
	return of
}

// The defect: before the first call, the doctor blamed an earlier failure for each check that had nothing to look at.
func TestFailureIsBlamedOnlyWhereOneWas(t *testing.T) {
	f := sound()
	f.Place.Looked = false
	require.Contains(t, of(doctor.Examine(f), "place")[0].Text, "not there yet")
	f.Workspace.Err = errDisk
	require.Contains(t, of(doctor.Examine(f), "place")[0].Text, "an earlier one failed")
}

// TestAllIsWell: each check is made for the kinds of stores that it is about, and for no other.
func TestAllIsWell(t *testing.T) {
	told := map[string]bool{}
	for kind, facts := range map[string]*doctor.Facts{"file": sound(), "database": onServer()} {
		found := doctor.Examine(facts)
		for _, f := range found {
			require.Equal(t, doctor.OK, f.Level, "%+v", f)
			require.Empty(t, f.Fix, "%+v", f)
			told[f.Check] = true
		}
		require.GreaterOrEqual(t, len(found), 25, kind)
		require.Less(t, len(found), len(doctor.Table()), kind)
		require.Empty(t, doctor.Repairs(facts))
		for _, part := range doctor.Parts() {
			require.False(t, doctor.Failed(found, part))
		}
	}
	require.Len(t, told, len(doctor.Table()))
}

// TestPoolersAreNoFault: what is known of them is told.
func TestPoolersAreNoFault(t *testing.T) {
	yes := true
	for part, change := range map[string]func(s *doctor.Server){
		"without a transaction pooler":           func(*doctor.Server) {},
		"is in use, and waybill found it":        func(s *doctor.Server) { s.Pooled = true },
		"the URL says that a transaction pooler": func(s *doctor.Server) { s.Insisted = &yes },
	} {
		f := onServer()
		change(f.Store.Server)
		found := of(doctor.Examine(f), "pooler")
		require.Len(t, found, 1)
		require.Equal(t, doctor.OK, found[0].Level)
		require.Contains(t, found[0].Text, part)
	}
}

// TestTimesInADatabaseAreTheServers: an event is not of the future because this machine is behind.
func TestTimesInADatabaseAreTheServers(t *testing.T) {
	f := onServer()
	f.Store.Server.Ahead, f.Store.Tables.NewestAt = time.Hour, noon.Add(time.Hour)
	found := of(doctor.Examine(f), "clock")
	require.Len(t, found, 1, "%+v", found)
	f.Store.Tables.NewestAt = noon.Add(3 * time.Hour)
	require.Len(t, of(doctor.Examine(f), "clock"), 2)
}

// TestEveryCheckFindsItsFault: and the others go on saying what they said.
func TestEveryCheckFindsItsFault(t *testing.T) {
	for _, check := range doctor.Table() {
		if check.Name == "version" || slices.Contains(judgedByTheStore, check.Name) {
			continue
		}
		require.NotEmpty(t, faults[check.Name], "no fault is known of the check %q", check.Name)
		for _, fault := range faults[check.Name] {
			f := about(check.Name)
			fault.make(f)
			all := doctor.Examine(f)
			found := of(all, check.Name)
			require.NotEmpty(t, found)
			require.Equal(t, fault.level, found[0].Level, "%+v", found[0])
			require.Contains(t, found[0].Text, fault.part)
			require.Equal(t, fault.level == doctor.Skipped, found[0].Fix == "", "what to do about %+v", found[0])
			require.Equal(t, fault.level == doctor.Fail, doctor.Failed(all, check.Part), check.Name)
		}
	}
	names := []string{}
	for _, check := range doctor.Table() {
		names = append(names, check.Name)
	}
	require.Subset(t, names, slices.Collect(maps.Keys(faults)), "faults of checks that there are not")
}

// TestTheStoreJudgesItself: what a store has found is told under the name of its check, each thing that it found.
func TestTheStoreJudgesItself(t *testing.T) {
	for _, check := range judgedByTheStore {
		f := about(check)
		f.Store.Findings = slices.DeleteFunc(f.Store.Findings, func(f doctor.Finding) bool { return f.Check == check })
		found := of(doctor.Examine(f), check)
		require.Len(t, found, 1)
		require.Equal(t, doctor.Skipped, found[0].Level, check)
		for n := range 2 {
			f.Store.Findings = append(f.Store.Findings, doctor.Find(check, doctor.Fail, "mend it", "fault %d", n))
		}
		all := doctor.Examine(f)
		require.Len(t, of(all, check), 2, check)
		require.True(t, doctor.Failed(all, doctor.TheStore), check)
	}
}

// TestNothingWasLookedAt: without facts, nothing is said to be well that was not looked at.
func TestNothingWasLookedAt(t *testing.T) {
	parts := map[string]doctor.Part{}
	for _, check := range doctor.Table() {
		parts[check.Name] = check.Part
	}
	for _, nothing := range []doctor.Store{{}, {Kind: "PostgreSQL", Server: &doctor.Server{}}} {
		found := doctor.Examine(&doctor.Facts{Now: noon, Store: nothing, Workspace: doctor.Workspace{Err: errDisk}})
		require.Greater(t, len(found), 25)
		for _, f := range found {
			if part := parts[f.Check]; part == doctor.TheStore || part == doctor.TheWork {
				require.Equal(t, doctor.Skipped, f.Level, f.Check)
			}
		}
	}
}

// TestNamesAreShortAndDifferent: they are the first column of a table.
func TestNamesAreShortAndDifferent(t *testing.T) {
	seen := map[string]bool{}
	for _, check := range doctor.Table() {
		require.LessOrEqual(t, len(check.Name), 12, check.Name)
		require.False(t, seen[check.Name], check.Name)
		require.False(t, strings.HasSuffix(check.Looks, "."), check.Looks)
		seen[check.Name] = true
	}
	require.GreaterOrEqual(t, len(seen), 25)
}

type shy int

func (shy) Error() string { return "sekrit" }

// TestBareSentences: everything is hidden but numbers and what is known, whatever the format asks for.
func TestBareSentences(t *testing.T) {
	type name string
	f := doctor.Find("x", doctor.OK, "", "%s %v %q %+v %d %v %v %s %#v %6s %s", "a", errDisk, "b", []string{"c"}, 7,
		time.Minute, fs.FileMode(0o755), doctor.Known("wal"), name("d"), "e", shy(3))
	require.Equal(t, "… … … … 7 1m0s -rwxr-xr-x wal … … …", f.Bare())
	require.Equal(t, "a", f.Text[:1])
}
