package doctor

import (
	"io/fs"
	"time"
)

// Facts are all that the checks look at. What was not looked at is zero.
type Facts struct {
	Now       time.Time
	Program   Program
	Workspace Workspace
	State     Folder
	Settings  Settings
	Store     Store
	Doors     []Door
	Litter    []Leftover // beside the doors and the store
	Plans     Plans
	Watching  Watching
}

// Program is this program and what surrounds it.
type Program struct {
	Version, Go, OS, Arch string
	OnPath                []Installed
	Variables             []Variable // those that are set and begin like ours
}

// Installed is a waybill that the shell would find, in the order of the search.
type Installed struct {
	Path string
	Same bool // it is this program, byte for byte
}

// A Variable of the environment.
type Variable struct {
	Name  string
	Known bool   // it means something to waybill
	Wrong string // why what it says is not understood; "" if it is
	Near  string // a known one that may be meant
}

// Workspace is the folder that was found.
type Workspace struct {
	Root, ResolvedBy string
	Err              error  // why there is none
	Former           string // the folder that the state belongs to, if it is another one at the same path
}

// Folder is the state folder.
type Folder struct {
	Path   string // "" if the store is elsewhere
	Err    error  // why it cannot be looked at
	There  bool
	Folder bool // it is a folder, and no link to one
	Mine   bool // it belongs to this user
	Modes  bool // whether modes say who may use it here
	Mode   fs.FileMode
}

// Settings are what processes go by.
type Settings struct {
	File  string // "" for none
	Err   error
	Given []Setting
	// KeepFor is how long what is over is kept; 0 where Err says why that is not known.
	KeepFor time.Duration
}

// Setting is one that is not as it is built in.
type Setting struct {
	Name, From string // From is flag, variable or file
	Value      []byte // JSON
}

// Store is what a store tells of itself. It is filled by the kind of store that it is.
type Store struct {
	Kind     Known // "" if there was none to look at
	Path     string
	There    bool
	Findings []Finding // its own judgement of what only it can judge
	Server   *Server   // of a store that is kept in a database of one; nil for a file

	Engine Engine
	Files  Files
	Lock   Lock
	Gate   Lock
	Peers  []Peer
	Tables Tables
}

// Engine is the database that a store is built on, and how it is set.
type Engine struct {
	Version string
	Err     error // why this version must not be used
	// Journal and Sync are how changes become durable, and WantJournal and WantSync how they must.
	Journal, WantJournal Known
	Sync, WantSync       int64
}

// Files are those of a store.
type Files struct {
	Bytes, WALBytes, WALLimit int64
	Open                      []string // those that other users may look into
	Reserve, WantReserve      int64    // its size, -1 if it is not there
	Spent                     bool     // it was given up on a full disk
	Changed                   time.Time
	Copies                    []Copy
	Private                   bool // whether modes say who may use a file here
}

// A Copy is what a migration, a rescue, a salvage or a restore has left beside a store on purpose.
type Copy struct {
	Path  string
	Kind  Known // version, rescued, corrupt or replaced
	Bytes int64
}

// Lock is a lock that processes take in turns.
type Lock struct {
	There  bool
	Odd    bool // what lies in its place is no file
	Held   bool // for as long as it was looked at
	For    time.Duration
	PID    int // who has it, or had it last, as far as it is known
	Host   string
	Broken bool // whoever had it last ended before it was done
}

// A Peer is another process that has the store open.
type Peer struct {
	PID     int
	Version string
	Host    string // the machine that it runs on, or "" for this one
}

// Tables are what is in a store.
type Tables struct {
	Read               bool // whether what follows was read
	Version            int64
	OldestAt, NewestAt time.Time // of the event log; zero without events
	Events             int64
	Instructions       map[string]int64 // by state
	Tasks              map[string]int64 // by status
	Runs               map[string]int64 // by state
	Notices            int64            // that wait to be consumed
	Overdue            int64            // attempts that run although their lease is over
	Recent             []Event          // the newest, the oldest of them first
}

// An Event is what is known of a record of the event log without its contents.
type Event struct {
	Seq     int64
	At      time.Time
	Type    string
	Subject string
}

// A Door is a file that says where a front door is.
type Door struct {
	Path    string
	PID     int
	Shared  bool // the file that all doors share, and not the one of a process
	Opaque  bool // it is not a file of ours that could be read
	Running bool // there is a process with that id
	Reborn  bool // which began after the file was written, so that it is another one
	Answers bool // a front door answers there
	Holds   bool // a process of that id has the store open
}

// living reports whether anything speaks for the process being there. A process of another container is seen by its
// answer or by its lock alone.
func (d Door) living() bool { return d.Answers || d.Holds || d.Running && !d.Reborn }

// Gone reports whether a door is a file of ours whose process is dead.
func Gone(d Door) bool { return !d.Opaque && !d.living() }

// A Leftover is a temporary file of ours that nobody needs any more.
type Leftover struct {
	Path  string
	Bytes int64
}

// Plans are those of the workspace.
type Plans struct {
	Looked bool
	Err    error // what could not be searched
	Plans  []Plan
}

// A Plan is how one was read.
type Plan struct {
	Path             string
	Err              error
	Items            int
	Errors, Warnings int
	First            string // the first of what is wrong
}

// Watching is how changes of plans are noticed.
type Watching struct {
	Looked             bool
	Mode, Native       Known
	Reason             string
	Limits             bool // whether the system has those that follow
	Watches, Instances int
}
