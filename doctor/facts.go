package doctor

import (
	"io/fs"
	"time"

	"waybill/core"
)

// Facts are the input of all checks. A fact that was not collected is zero.
type Facts struct {
	Now       time.Time
	Program   Program
	Workspace Workspace
	State     Folder
	Settings  Settings
	Place     Place
	Store     Store
	Doors     []Door
	Litter    []Leftover // next to the endpoint files and the store
	Checks    Checks
	Plans     Plans
	Watching  Watching
}

// Program describes this program and its environment.
type Program struct {
	Version, Go, OS, Arch string
	OnPath                []Installed
	Variables             []Variable // those that begin with waybill's prefix
}

// Installed is a waybill on the search path, in the order of the search.
type Installed struct {
	Path string
	Same bool // identical to this program
}

// A Variable of the environment.
type Variable struct {
	Name  string
	Known bool   // waybill uses it
	Wrong string // why its value is invalid; "" if it is valid
	Near  string // a known one with a similar name
}

// Workspace describes the workspace folder.
type Workspace struct {
	Root, ResolvedBy string
	Err              error  // why no workspace was found
	Former           string // the folder that the state belongs to, if another one was at this path
}

// Folder describes the state folder.
type Folder struct {
	Path   string // "" if the store is elsewhere
	Err    error  // why it is unreadable
	There  bool
	Folder bool // it is a folder and not a link
	Mine   bool // this user owns it
	Modes  bool // its mode tells who may use it
	Mode   fs.FileMode
}

// Place is the place of the store, which may not exist yet.
type Place struct {
	Looked bool
	Err    error // why the store could not be created there
}

// Settings describes the configuration.
type Settings struct {
	File  string // "" for none
	Err   error
	Given []Setting
	// KeepFor is how long finished records are kept; 0 if Err says why it is unknown.
	KeepFor time.Duration
}

// Setting is a setting with a value other than its default.
type Setting struct {
	Name, From string // From is flag, variable or file
	Value      []byte // JSON
}

// Store describes a store. The kind of store fills it in.
type Store struct {
	Kind     Known // "" if there was none to check
	Path     string
	There    bool
	Findings []Finding // findings that only the store itself can make
	Server   *Server   // the database server; nil for a file

	Engine Engine
	Files  Files
	Lock   Lock
	Gate   Lock
	Peers  []Peer
	Tables Tables
}

// Server describes the database server of a store. For a server that was not reached, only Reached is set.
type Server struct {
	Reached         bool
	Version, Oldest int64 // in the server's numbers: present and oldest supported
	Encoding        string
	Standby         bool
	Fsync           bool // the server waits for the disk
	WholePages      bool // the log has full pages, which repair half-written ones
	Commit          string
	Free, Most      int64 // connections of this user
	Each            int64 // connections of one process
	Pooled          bool  // a pooler assigns connections per transaction
	Insisted        *bool // value in the URL; nil if absent
	Ahead           time.Duration
}

// Engine describes the database of a store and its settings.
type Engine struct {
	Version string
	Err     error // why this version must not be used
	// Journal and Sync are the settings for durability, and WantJournal and WantSync the required ones.
	Journal, WantJournal Known
	Sync, WantSync       int64
}

// Files describes the files of a store.
type Files struct {
	Bytes, WALBytes, WALLimit int64
	Open                      []string // files that other users may read
	Reserve, WantReserve      int64    // size of the reserve file, -1 if missing
	Spent                     bool     // it was used up on a full disk
	Changed                   time.Time
	Copies                    []Copy
	Private                   bool // file modes tell who may read a file
}

// A Copy is a file that a rescue, a salvage or a restore left next to a store on purpose.
type Copy struct {
	Path  string
	Kind  Known // version, rescued, corrupt or replaced
	Bytes int64
}

// Lock describes a lock between processes.
type Lock struct {
	There  bool
	Odd    bool // the file in its place is not waybill's
	Held   bool // it stayed locked during the check
	For    time.Duration
	PID    int // present or last holder, if known
	Host   string
	Broken bool // its last holder died
}

// A Peer is another process with the store open.
type Peer struct {
	PID     int
	Version string
	Host    string // its machine, or "" for this one
}

// Tables counts the content of a store.
type Tables struct {
	Read               bool // the following fields were read
	Version            int64
	OldestAt, NewestAt time.Time // of the event log; zero without events
	Events             int64
	Instructions       map[string]int64 // by state
	Tasks              map[string]int64 // by status
	Runs               map[string]int64 // by state
	Notices            int64            // open ones
	Overdue            int64            // running attempts with an expired lease
	Work               core.Workload    // records that need attention
	Recent             []Event          // the newest, oldest first
}

// An Event is a record of the event log without its content.
type Event struct {
	Seq     int64
	At      time.Time
	Type    string
	Subject string
}

// A Door is a file with the address of a front door.
type Door struct {
	Path    string
	PID     int
	Shared  bool // the file of all doors, not of one process
	Opaque  bool // unreadable, or not a file of waybill
	Running bool // a process with that id exists
	Reborn  bool // that process started after the file was written, so it is another one
	Answers bool // a front door answers at the address
	Holds   bool // a process of that id has the store open
}

// living reports whether anything indicates a live process. A process in another container shows only by its answer
// or its lock.
func (d Door) living() bool { return d.Answers || d.Holds || d.Running && !d.Reborn }

// Gone reports whether the file is waybill's and its process is dead.
func Gone(d Door) bool { return !d.Opaque && !d.living() }

// A Leftover is a temporary file that is no longer needed.
type Leftover struct {
	Path  string
	Bytes int64
}

// Checks describes the file that declares the checks of the workspace.
type Checks struct {
	Looked    bool
	Path      string // "" if there is no file
	Number    int
	TrustedAt time.Time
	Why, Mend string // why none of them runs, and the step that solves it; "" if they may run
}

// Plans describes the plans of the workspace.
type Plans struct {
	Looked bool
	Err    error // why the search failed
	Plans  []Plan
	Saved  []string // files next to plans with texts that were saved while waybill wrote
}

// A Plan describes the reading of a plan.
type Plan struct {
	Path             string
	Err              error
	Items            int
	Errors, Warnings int
	First            string // the first problem
}

// Watching describes how changes of plans are noticed.
type Watching struct {
	Looked             bool
	Mode, Native       Known
	Reason             string
	Limits             bool // the following limits are known
	Watches, Instances int
}
