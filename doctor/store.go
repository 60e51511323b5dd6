package doctor

import (
	"path/filepath"
	"slices"
	"strings"
	"time"
)

func storeChecks() []Check {
	return slices.Concat(
		[]Check{
			{Name: "place", Part: TheStore, Looks: "whether waybill can create the store and the state folder", judge: place},
		},
		kept(inDatabase, serverChecks()),
		kept(inFile, fileChecks()),
		[]Check{
			{Name: "processes", Part: TheStore, Looks: "other processes with the store open, and their versions", judge: processes},
			{Name: "schema", Part: TheStore, Looks: "that the tables are waybill's and unchanged, and their version", judge: own},
		},
		kept(inFile, contentChecks()),
		[]Check{
			{Name: "clock", Part: TheStore, Looks: "times in the future, and clock differences between machines", judge: clock},
			{Name: "retention", Part: TheStore, Looks: "that expired records were removed", judge: retention},
		},
		kept(inFile, []Check{
			{Name: "copies", Part: TheStore, Looks: "copies that restores and repairs left beside the store, and their size", judge: copies},
		}),
	)
}

// kept maps each check to the kinds of store that it applies to.
func kept(how keeping, checks []Check) []Check {
	for i := range checks {
		checks[i].of = how
	}
	return checks
}

func place(f *Facts, c *chart) {
	switch p := f.Place; {
	case !p.Looked:
	case p.Err != nil:
		c.fail("let this user write there, or choose another place with XDG_STATE_HOME or --store", "the store cannot be created: %v", p.Err)
	default:
		c.ok("the store exists or can be created")
	}
}

func fileChecks() []Check {
	return []Check{
		{Name: "file", Part: TheStore, Looks: "that the store and its files belong to you, are no links, and have no second name", judge: own},
		{Name: "modes", Part: TheStore, Looks: "that other users cannot read the files of the store, or write its folder", judge: own},
		{Name: "file system", Part: TheStore, Looks: "that the disk is local, not synchronised, and persistent", judge: own},
		{Name: "space", Part: TheStore, Looks: "that 64 MiB of disk space are free", judge: own},
		{Name: "reserve", Part: TheStore, Looks: "the disk space reserved for finishing work", judge: reserve},
		{Name: "lock", Part: TheStore, Looks: "that no process holds the store lock for seconds", judge: lock},
		{Name: "gate", Part: TheStore, Looks: "that no process blocks the queue for the store lock", judge: gate},
	}
}

func contentChecks() []Check {
	return []Check{
		{Name: "journal", Part: TheStore, Looks: "that the database uses a write-ahead log", judge: journal},
		{Name: "sync", Part: TheStore, Looks: "that a commit waits for the disk", judge: synced},
		{Name: "wal", Part: TheStore, Looks: "that no reader blocks the reuse of the write-ahead log", judge: wal},
		{Name: "structure", Part: TheStore, Looks: "the structure of the database file", judge: own},
		{Name: "rows", Part: TheStore, Looks: "every row against its checksum", judge: own},
		{Name: "event log", Part: TheStore, Looks: "gaps in the event log, and its hash chain", judge: own},
		{Name: "counts", Part: TheStore, Looks: "stored counts of instructions against the rows", judge: own},
		{Name: "task counts", Part: TheStore, Looks: "stored counts of tasks against the rows", judge: own},
		{Name: "lock file", Part: TheStore, Looks: "that no event is missing that another process saw", judge: own},
		{Name: "inode", Part: TheStore, Looks: "that the file was not replaced while it was read", judge: own},
	}
}

const mendIt = "waybill doctor --fix"

func reserve(f *Facts, c *chart) {
	switch s := f.Store; {
	case !s.There || s.Files.WantReserve == 0:
	case s.Files.Spent:
		c.warn("free some space; the next change reserves it again", "the reserved space was used when the disk was full")
	case s.Files.Reserve < 0:
		c.warn(mendIt, "no space is reserved, so running work cannot be finished on a full disk")
	case s.Files.Reserve < s.Files.WantReserve:
		c.warn("end all processes that use the store, remove "+s.Path+".reserve, and run waybill doctor --fix",
			"the reserve has %d bytes and needs %d", s.Files.Reserve, s.Files.WantReserve)
	default:
		c.ok("%d KiB are reserved", s.Files.Reserve>>10)
	}
}

func processes(f *Facts, c *chart) {
	if !f.Store.There && len(f.Store.Peers) == 0 {
		return
	}
	for _, peer := range f.Store.Peers {
		if peer.Version != f.Program.Version {
			c.warn("restart that process with the same version", "process %d%s has the store open with waybill %s, and this one is %s",
				peer.PID, on(peer.Host), peer.Version, Known(f.Program.Version))
		}
	}
	if len(c.found) > 0 {
		return
	}
	switch n := len(f.Store.Peers); n {
	case 0:
		c.ok("no other process has the store open")
	case 1:
		c.ok("1 other process of the same version has the store open")
	default:
		c.ok("%d other processes of the same version have the store open", n)
	}
}

func on(host string) string {
	if host == "" {
		return ""
	}
	return " on " + host
}

func lock(f *Facts, c *chart) {
	switch l := f.Store.Lock; {
	case !f.Store.There:
	case l.Odd:
		c.fail("remove "+f.Store.Path+".lock; the next process creates it again", "another kind of file is in its place, so nothing can be changed")
	case l.Held:
		c.warn("end that process if it hangs", "process %d on %s has held it for over %v", l.PID, l.Host, l.For)
	case l.Broken:
		c.ok("it is free; process %d ended while holding it, which is harmless", l.PID)
	case l.There:
		c.ok("it is free; process %d held it last", l.PID)
	default:
		c.ok("it is free")
	}
}

func gate(f *Facts, c *chart) {
	switch g := f.Store.Gate; {
	case !f.Store.There:
	case g.Odd:
		c.warn("remove "+f.Store.Path+".lock.gate; the next process creates it again", "another kind of file is in its place, so processes do not take turns")
	case g.Held:
		c.warn("end the process that waits for the lock and hangs", "it has been held for over %v; processes go around it, but not in turn", g.For)
	default:
		c.ok("it is open")
	}
}

func journal(f *Facts, c *chart) {
	switch e := f.Store.Engine; {
	case e.Journal == "":
	case e.Journal != e.WantJournal:
		c.warn("nothing: the next process that opens the store sets it", "journal_mode is %q and must be %q", e.Journal, e.WantJournal)
	default:
		c.ok("the journal is %q", e.Journal)
	}
}

func synced(f *Facts, c *chart) {
	switch e := f.Store.Engine; {
	case e.WantSync == 0:
	case e.Sync < e.WantSync:
		c.fail("use a waybill that was built with another SQLite", "synchronous is at level %d and must be at %d", e.Sync, e.WantSync)
	default:
		c.ok("a commit is answered after the sync to the disk (level %d)", e.Sync)
	}
}

func wal(f *Facts, c *chart) {
	switch s := f.Store; {
	case !s.There || s.Files.WALLimit == 0:
	case s.Files.WALBytes > s.Files.WALLimit:
		c.warn("end the process with the long read; the next process that closes the store truncates the log",
			"the log has %d MiB and stays below %d unless a read takes very long", s.Files.WALBytes>>20, s.Files.WALLimit>>20)
	default:
		c.ok("it has %d KiB", s.Files.WALBytes>>10)
	}
}

// skew is the largest difference of clocks without a warning.
const skew = time.Minute

func clock(f *Facts, c *chart) {
	const fix = "set the clock of this machine; leases and retries depend on it, the order of events does not"
	s, now := f.Store, f.Now
	if now.IsZero() || !s.There && s.Server == nil || s.Server != nil && !s.Server.Reached {
		return
	}
	if s.Server != nil {
		now = now.Add(s.Server.Ahead)
		apart(s.Server, c)
	}
	if ahead := s.Tables.NewestAt.Sub(now); !s.Tables.NewestAt.IsZero() && ahead > skew {
		c.warn(fix, "the newest event is %v in the future", ahead.Round(time.Second))
	}
	if ahead := s.Files.Changed.Sub(now); ahead > skew {
		c.warn(fix, "the file was changed %v in the future", ahead.Round(time.Second))
	}
	switch {
	case len(c.found) > 0:
	case s.Server != nil:
		c.ok("this machine and the server agree on the time, and no time in the store is in the future")
	default:
		c.ok("no time in the store is in the future")
	}
}

// late is the age of an old record that deserves a warning. Removal waits for a week of use and then for a process.
const late = 12 * 24 * time.Hour

func retention(f *Facts, c *chart) {
	t := f.Store.Tables
	if !t.Read || t.OldestAt.IsZero() {
		return
	}
	age := f.Now.Sub(t.OldestAt)
	if days := int64(age / (24 * time.Hour)); f.Settings.KeepFor > 0 && age > f.Settings.KeepFor+late {
		c.warn("run a server on the workspace: it removes expired records", "the oldest of %s is %s old, and the limit is %d",
			many(t.Events, "event"), many(days, "day"), int64(f.Settings.KeepFor/(24*time.Hour)))
	} else {
		c.ok("%s, the oldest %s old", many(t.Events, "event"), many(days, "day"))
	}
}

// muchCopied is the number of bytes of copies that deserves a warning.
const muchCopied = 256 << 20

func copies(f *Facts, c *chart) {
	if f.Store.Kind == "" {
		return
	}
	var bytes int64
	var names []string
	for _, copied := range f.Store.Files.Copies {
		bytes += copied.Bytes
		names = append(names, filepath.Base(copied.Path))
		if copied.Kind == "rescued" {
			c.warn("move it to the path of the store, or elsewhere", "%s was recovered from a lost store", copied.Path)
		}
	}
	switch {
	case bytes > muchCopied:
		c.warn("remove the copies that you do not need", "%s of %d MiB: %s", many(len(names), "file"), bytes>>20, strings.Join(names, ", "))
	case len(c.found) > 0:
	case len(names) > 0:
		c.ok("%s of %d KiB: %s", many(len(names), "file"), bytes>>10, strings.Join(names, ", "))
	default:
		c.ok("there is none")
	}
}
