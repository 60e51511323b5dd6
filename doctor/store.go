package doctor

import (
	"path/filepath"
	"slices"
	"strings"
	"time"
)

func storeChecks() []Check {
	return slices.Concat(
		kept(inDatabase, serverChecks()),
		kept(inFile, fileChecks()),
		[]Check{
			{Name: "processes", Part: TheStore, Looks: "who else has the store open, and with which version", judge: processes},
			{Name: "schema", Part: TheStore, Looks: "whose the tables are, their version, and that nobody has changed them", judge: own},
		},
		kept(inFile, contentChecks()),
		[]Check{
			{Name: "clock", Part: TheStore, Looks: "that no time in the store is of the future, and that machines agree on the time", judge: clock},
			{Name: "retention", Part: TheStore, Looks: "that what is older than it is kept was removed", judge: retention},
		},
		kept(inFile, []Check{
			{Name: "copies", Part: TheStore, Looks: "what migrations, rescues, salvages and restores have left beside the store, and its size", judge: copies},
		}),
	)
}

// kept says of checks how the stores are kept that they look at.
func kept(how keeping, checks []Check) []Check {
	for i := range checks {
		checks[i].of = how
	}
	return checks
}

func fileChecks() []Check {
	return []Check{
		{Name: "file", Part: TheStore, Looks: "that the store is there, is a file of this user, and has one name", judge: own},
		{Name: "modes", Part: TheStore, Looks: "that nobody else may look into the files of the store", judge: own},
		{Name: "file system", Part: TheStore, Looks: "that no other machine shares or copies the disk, and that it outlives this one", judge: own},
		{Name: "space", Part: TheStore, Looks: "that 64 MiB are free", judge: own},
		{Name: "reserve", Part: TheStore, Looks: "the space that is held back for finishing work on a full disk", judge: reserve},
		{Name: "lock", Part: TheStore, Looks: "that nobody keeps the lock of the store for seconds", judge: lock},
		{Name: "gate", Part: TheStore, Looks: "that nobody keeps the gate before the lock closed", judge: gate},
	}
}

func contentChecks() []Check {
	return []Check{
		{Name: "journal", Part: TheStore, Looks: "that changes go to a write-ahead log", judge: journal},
		{Name: "sync", Part: TheStore, Looks: "that a commit waits for the disk", judge: synced},
		{Name: "wal", Part: TheStore, Looks: "that the write-ahead log is not kept from being reused", judge: wal},
		{Name: "structure", Part: TheStore, Looks: "the structure of the file, page by page", judge: own},
		{Name: "rows", Part: TheStore, Looks: "every row against its checksum", judge: own},
		{Name: "event log", Part: TheStore, Looks: "that the event log has no gap, and its chain of hashes", judge: own},
		{Name: "counts", Part: TheStore, Looks: "the counts of the instructions against the rows", judge: own},
		{Name: "task counts", Part: TheStore, Looks: "the counts of the tasks against the rows", judge: own},
		{Name: "lock file", Part: TheStore, Looks: "that no event is missing that other processes have seen", judge: own},
		{Name: "inode", Part: TheStore, Looks: "that the file was not replaced while it was read", judge: own},
	}
}

const mendIt = "waybill doctor --fix"

func reserve(f *Facts, c *chart) {
	switch s := f.Store; {
	case !s.There || s.Files.WantReserve == 0:
	case s.Files.Spent:
		c.warn("free some space; it comes back with the next change", "it was given up when the disk was full")
	case s.Files.Reserve < 0:
		c.warn(mendIt, "there is none, so that on a full disk not even work that is there can be finished")
	case s.Files.Reserve < s.Files.WantReserve:
		c.warn("end all processes that use the store, remove "+s.Path+".reserve, and run waybill doctor --fix",
			"it has %d bytes, and should have %d", s.Files.Reserve, s.Files.WantReserve)
	default:
		c.ok("%d KiB are held back", s.Files.Reserve>>10)
	}
}

func processes(f *Facts, c *chart) {
	if !f.Store.There && len(f.Store.Peers) == 0 {
		return
	}
	for _, peer := range f.Store.Peers {
		if peer.Version != f.Program.Version {
			c.warn("restart it, if it is meant to be of the same version", "process %d%s has the store open with waybill %s, and this one is %s",
				peer.PID, on(peer.Host), peer.Version, Known(f.Program.Version))
		}
	}
	if len(c.found) > 0 {
		return
	}
	switch n := len(f.Store.Peers); n {
	case 0:
		c.ok("nobody else has the store open")
	case 1:
		c.ok("1 other has the store open, with the same version")
	default:
		c.ok("%d others have the store open, with the same version", n)
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
		c.fail("remove "+f.Store.Path+".lock, which the next process makes anew", "what lies in its place is no file, so that nothing can be changed")
	case l.Held:
		c.warn("end that process if it hangs", "process %d on %s has kept it for over %v", l.PID, l.Host, l.For)
	case l.Broken:
		c.ok("it is free; process %d ended while it had it, which hurts nothing", l.PID)
	case l.There:
		c.ok("it is free; process %d had it last", l.PID)
	default:
		c.ok("it is free")
	}
}

func gate(f *Facts, c *chart) {
	switch g := f.Store.Gate; {
	case !f.Store.There:
	case g.Odd:
		c.warn("remove "+f.Store.Path+".lock.gate, which the next process makes anew", "what lies in its place is no file, so that turns are not fair")
	case g.Held:
		c.warn("end the process that waits for the lock and hangs", "it has been closed for over %v; it is passed by, but turns are not fair", g.For)
	default:
		c.ok("it is open")
	}
}

func journal(f *Facts, c *chart) {
	switch e := f.Store.Engine; {
	case e.Journal == "":
	case e.Journal != e.WantJournal:
		c.warn("nothing: it is set when the store is opened next", "the journal is %q, and must be %q", e.Journal, e.WantJournal)
	default:
		c.ok("the journal is %q", e.Journal)
	}
}

func synced(f *Facts, c *chart) {
	switch e := f.Store.Engine; {
	case e.WantSync == 0:
	case e.Sync < e.WantSync:
		c.fail("use a waybill that was built with another SQLite", "a commit is synced at level %d, and must be at %d", e.Sync, e.WantSync)
	default:
		c.ok("a commit is answered when the disk has it (level %d)", e.Sync)
	}
}

func wal(f *Facts, c *chart) {
	switch s := f.Store; {
	case !s.There || s.Files.WALLimit == 0:
	case s.Files.WALBytes > s.Files.WALLimit:
		c.warn("end the process that reads for so long; the next that closes the store cuts it off",
			"it has %d MiB, and stays below %d unless somebody keeps reading", s.Files.WALBytes>>20, s.Files.WALLimit>>20)
	default:
		c.ok("it has %d KiB", s.Files.WALBytes>>10)
	}
}

// skew is how far clocks may be apart before it is said.
const skew = time.Minute

func clock(f *Facts, c *chart) {
	const fix = "set the clock of this machine; the order of events does not depend on it, but leases and retries do"
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
		c.ok("this machine and the server agree on the time, and nothing in the store is of the future")
	default:
		c.ok("no time in the store is of the future")
	}
}

// late is how long what is too old may lie before it is said: it is removed when a process uses the store.
const late = 5 * 24 * time.Hour

func retention(f *Facts, c *chart) {
	t := f.Store.Tables
	if !t.Read || t.OldestAt.IsZero() {
		return
	}
	age := f.Now.Sub(t.OldestAt)
	if days := int64(age / (24 * time.Hour)); f.Settings.KeepFor > 0 && age > f.Settings.KeepFor+late {
		c.warn("let a server run on the workspace: it removes what is too old", "the oldest of %s is %s old, and is kept for %d",
			many(t.Events, "event"), many(days, "day"), int64(f.Settings.KeepFor/(24*time.Hour)))
	} else {
		c.ok("%s, the oldest %s old", many(t.Events, "event"), many(days, "day"))
	}
}

// muchCopied is how many bytes of copies are worth a warning.
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
			c.warn("move it to the place of the store, or away", "%s was rescued from a store that was lost", copied.Path)
		}
	}
	switch {
	case bytes > muchCopied:
		c.warn("remove those that are not needed any more", "%s of %d MiB: %s", many(len(names), "file"), bytes>>20, strings.Join(names, ", "))
	case len(c.found) > 0:
	case len(names) > 0:
		c.ok("%s of %d KiB: %s", many(len(names), "file"), bytes>>10, strings.Join(names, ", "))
	default:
		c.ok("there is none")
	}
}
