// Package watcher reports that files may have changed. It reports neither the kind of change nor contents. Many changes
// cause one wake, and a wake without a change is possible, so a caller must read the file itself.
package watcher

import (
	"fmt"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"waybill/engine/workspace"
	planfile "waybill/plan/file"
)

// Options configures a Watcher. The zero value works.
type Options struct {
	// ForcePolling makes the Watcher poll instead of using notifications.
	ForcePolling bool
	// Root, if not empty, is the absolute path of a folder that contains the watched paths. The Watcher notices a
	// created, removed or renamed folder anywhere between Root and a path, Root included.
	Root string
	// Logger receives changes of mode and lost notifications; nil means no logger.
	Logger *slog.Logger
}

// periods are the times of a Watcher. Only tests change them.
type periods struct {
	// Quiet is how long a file must be unchanged before a report, so that an editor has finished writing.
	Quiet time.Duration
	// MaxWait is how long continuous changes may delay a report.
	MaxWait time.Duration
	// PollEvery is the time between checks of files that cannot be watched.
	PollEvery time.Duration
	// SafetyEvery is the time between checks of every file, in case the system lost a notification without an error.
	SafetyEvery time.Duration
	// RetryNotifyEvery is the time between attempts to leave polling.
	RetryNotifyEvery time.Duration
}

var defaultPeriods = periods{
	Quiet:            100 * time.Millisecond,
	MaxWait:          500 * time.Millisecond,
	PollEvery:        time.Second,
	SafetyEvery:      30 * time.Second,
	RetryNotifyEvery: time.Hour,
}

// Mode is the way in which a Watcher detects changes.
type Mode string

const (
	// Inotify is the notification service of Linux.
	Inotify Mode = "inotify"
	// Kqueue is the notification service of macOS and the BSDs.
	Kqueue Mode = "kqueue"
	// Windows is the notification service of Windows.
	Windows Mode = "windows"
	// Polling checks each file every second.
	Polling Mode = "polling"
)

// Status is the state of a Watcher.
type Status struct {
	Mode      Mode
	Reason    string // why files are polled and how to change that; "" if none is
	Files     int    // watched files
	Polled    int    // watched files that are polled
	Events    uint64 // notifications received
	Overflows uint64 // times that the system dropped notifications
	Rescans   uint64 // times that every file was reported because notifications were lost

	LastRescan time.Time // zero without one
}

// Watcher watches files. All its methods are safe for concurrent use.
type Watcher struct {
	opts    Options
	periods periods
	batch   *batch
	wake    chan struct{} // size 1; never closed
	resync  chan struct{} // size 1; wakes Run after a change of files; never closed

	connected chan struct{} // closed by the first Run, once
	once      sync.Once     // for closing connected

	// remote reports whether a path is on a remote file system. Only tests replace it.
	remote func(path string) (kind string, remote bool)

	mu      sync.Mutex // guards all below; never held during a check of a file
	service serviceState
	files   map[string]*file // by path; files are never removed
	folders index            // maps notifications to files
	suspect map[string]bool  // folders whose watches may be gone
	ready   map[string]bool  // reported and not taken
	count   counts
}

// serviceState is the connection of a Watcher to the notification service.
type serviceState struct {
	running bool   // Run is running
	native  bool   // it has a connection
	reason  string // why it has none
}

// counts are the counters of a Status.
type counts struct {
	events, overflows, rescans uint64
	last                       time.Time // time of the last rescan; zero without one
}

// file is one watched path.
type file struct {
	points []point  // sources of its notifications
	polled string   // why it is polled although others are not; "" if it is not
	seen   snapshot // at the last report
	added  bool     // added and not reported yet
	stale  bool     // points must be found again
	dirty  bool     // may have changed since the last report
}

// snapshot is the state of a path at one time.
type snapshot struct {
	stat    planfile.Stat
	entries uint64 // of a folder, see planfile.Survey
	present bool
}

func takeSnapshot(path string) snapshot {
	stat, entries, err := planfile.Survey(path)
	return snapshot{stat: stat, entries: entries, present: err == nil}
}

// New returns a Watcher without files. It starts no goroutine: call Run.
func New(o Options) *Watcher { return newWatcher(o, defaultPeriods) }

func newWatcher(o Options, p periods) *Watcher {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Root != "" {
		o.Root = filepath.Clean(o.Root)
	}
	return &Watcher{
		opts:    o,
		periods: p,
		batch:   newBatch(p.Quiet, p.MaxWait),
		wake:    make(chan struct{}, 1),
		resync:  make(chan struct{}, 1),

		connected: make(chan struct{}),
		remote:    workspace.RemoteFS,
		service:   serviceState{reason: notRunning},
		files:     map[string]*file{},
		suspect:   map[string]bool{},
		ready:     map[string]bool{},
	}
}

const notRunning = "the watcher is not running"

// Add watches the file or folder at path, which must be absolute and need not exist. A folder changes with every file
// directly in it. Once the watch is in place, the path is reported as changed, so that no earlier change is missed.
// Adding a path again has no effect.
func (w *Watcher) Add(path string) error {
	if !filepath.IsAbs(path) {
		return fmt.Errorf("watch %q: the path must be absolute", path)
	}
	path = filepath.Clean(path)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.files[path] != nil {
		return nil
	}
	w.files[path] = &file{added: true, stale: true}
	signal(w.resync)
	return nil
}

// Wake returns the channel that receives a value after paths became ready for Take.
// It holds one value and is never closed.
func (w *Watcher) Wake() <-chan struct{} { return w.wake }

// Connected returns a channel that is closed when Run has installed its first watches. Status is not meaningful before
// that.
func (w *Watcher) Connected() <-chan struct{} { return w.connected }

// Take returns, sorted, the paths that may have changed since the last Take.
func (w *Watcher) Take() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	paths := slices.Sorted(maps.Keys(w.ready))
	clear(w.ready)
	return paths
}

// Status returns the current state of the Watcher.
func (w *Watcher) Status() Status {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := Status{
		Mode:      Polling,
		Reason:    w.service.reason,
		Files:     len(w.files),
		Polled:    len(w.files),
		Events:    w.count.events,
		Overflows: w.count.overflows,
		Rescans:   w.count.rescans,

		LastRescan: w.count.last,
	}
	if !w.service.native {
		return s
	}
	s.Polled, s.Reason = w.polled()
	if s.Polled == 0 || s.Polled < s.Files {
		s.Mode = nativeMode()
	}
	return s
}

// polled returns the number of files that are polled while others are not, and the reason of the first one. The caller
// holds mu.
func (w *Watcher) polled() (n int, reason string) {
	for _, path := range slices.Sorted(maps.Keys(w.files)) {
		if why := w.files[path].polled; why != "" {
			if n++; n == 1 {
				reason = path + ": " + why
			}
		}
	}
	return n, reason
}

// signal sends to a channel of size 1 unless it is full.
func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
