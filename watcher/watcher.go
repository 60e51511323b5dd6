// Package watcher says calmly that files changed. It refuses to say what changed or to
// hand out contents: a wake means "look again", many changes make one wake, and a wake
// without a change is possible. Whoever must be right reads the file itself.
package watcher

import (
	"fmt"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"waybill/engine/planfile"
	"waybill/engine/workspace"
)

// Options tunes a Watcher. The zero value works.
type Options struct {
	// ForcePolling never asks the system for notifications.
	ForcePolling bool
	// Root, if not empty, is the absolute path of the folder that the watched paths are in: a folder that comes, goes
	// or changes its name is noticed wherever it is between the two, the root included.
	Root string
	// Logger hears of changes of mode and of lost notifications; nil means nobody.
	Logger *slog.Logger
}

// periods are the same for everyone but tests, which are in a hurry.
type periods struct {
	// Quiet is how long a file must rest before a change is reported, so that an
	// editor has finished writing.
	Quiet time.Duration
	// MaxWait is how long files that never rest may delay a report.
	MaxWait time.Duration
	// PollEvery is the pause between looks at files that cannot be watched.
	PollEvery time.Duration
	// SafetyEvery is the pause between looks at every file, in case the system lost a
	// notification without saying so.
	SafetyEvery time.Duration
	// RetryNotifyEvery is the pause between attempts to leave polling.
	RetryNotifyEvery time.Duration
}

var usual = periods{
	Quiet:            100 * time.Millisecond,
	MaxWait:          500 * time.Millisecond,
	PollEvery:        time.Second,
	SafetyEvery:      30 * time.Second,
	RetryNotifyEvery: time.Hour,
}

// Mode is how a Watcher learns of changes.
type Mode string

const (
	// Inotify is the notification service of Linux.
	Inotify Mode = "inotify"
	// Kqueue is the notification service of macOS and the BSDs.
	Kqueue Mode = "kqueue"
	// Windows is the notification service of Windows.
	Windows Mode = "windows"
	// Polling is looking at each file every second.
	Polling Mode = "polling"
)

// Status is what a Watcher is doing.
type Status struct {
	Mode      Mode
	Reason    string // why files are polled, and what would help; "" when none is
	Files     int    // that are watched
	Polled    int    // of these, how many are polled
	Events    uint64 // notifications received
	Overflows uint64 // times that the system dropped notifications
	Rescans   uint64 // times that every file was reported because notifications were lost

	LastRescan time.Time // zero when there was none
}

// Watcher watches files. All its methods are safe for concurrent use.
type Watcher struct {
	opts   Options
	every  periods
	batch  *batch
	wake   chan struct{} // size 1; nobody closes it
	resync chan struct{} // size 1, tells Run that files has changed; nobody closes it

	connected chan struct{} // closed by the first Run, once
	once      sync.Once     // for that

	// remote tells remote file systems. Only tests replace it.
	remote func(path string) (kind string, remote bool)

	mu      sync.Mutex // guards all below; never held while a file is looked at
	running bool
	native  bool             // Run has a connection to the notification service
	reason  string           // why it has none
	files   map[string]*file // by path; none is ever taken out
	folders index            // what a notification concerns
	suspect map[string]bool  // folders whose notifications may have ended
	ready   map[string]bool  // reported, waiting for Take
	count   struct{ events, overflows, rescans uint64 }
	rescan  time.Time // the last one
}

// file is one watched path.
type file struct {
	points []point // where its notifications come from
	polled string  // why it is polled although the others are not; "" when it is not
	seen   sight   // at the last report
	fresh  bool    // not reported yet since it was added
	stale  bool    // points must be found again
	dirty  bool    // may have changed since the last report
}

// sight is what one look at a path saw.
type sight struct {
	stat    planfile.Stat
	entries uint64 // of a folder, see planfile.Survey
	present bool
}

func look(path string) sight {
	stat, entries, err := planfile.Survey(path)
	return sight{stat: stat, entries: entries, present: err == nil}
}

// New returns a Watcher of no files. It starts nothing: call Run.
func New(o Options) *Watcher { return newWatcher(o, usual) }

func newWatcher(o Options, every periods) *Watcher {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Root != "" {
		o.Root = filepath.Clean(o.Root)
	}
	return &Watcher{
		opts:   o,
		every:  every,
		batch:  newBatch(every.Quiet, every.MaxWait),
		wake:   make(chan struct{}, 1),
		resync: make(chan struct{}, 1),

		connected: make(chan struct{}),
		remote:    workspace.RemoteFS,
		reason:    notRunning,
		files:     map[string]*file{},
		suspect:   map[string]bool{},
		ready:     map[string]bool{},
	}
}

const notRunning = "the watcher is not running"

// Add watches the file or folder at path, which must be absolute and need not exist.
// A folder changes with every file that is directly in it. Once the
// watch is in place the path is reported as if it had changed, so that no change made
// in the meantime is missed. Adding a path twice is adding it once.
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
	w.files[path] = &file{fresh: true, stale: true}
	signal(w.resync)
	return nil
}

// Wake returns the channel that receives a value after paths became ready for Take.
// It holds one value and is never closed.
func (w *Watcher) Wake() <-chan struct{} { return w.wake }

// Connected returns a channel that is closed when Run has first put its watches in place. What Status
// says before then is of no interest.
func (w *Watcher) Connected() <-chan struct{} { return w.connected }

// Take returns, sorted, the paths that may have changed since the last Take.
func (w *Watcher) Take() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	paths := slices.Sorted(maps.Keys(w.ready))
	clear(w.ready)
	return paths
}

// Status returns what the Watcher is doing now.
func (w *Watcher) Status() Status {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := Status{
		Mode:      Polling,
		Reason:    w.reason,
		Files:     len(w.files),
		Polled:    len(w.files),
		Events:    w.count.events,
		Overflows: w.count.overflows,
		Rescans:   w.count.rescans,

		LastRescan: w.rescan,
	}
	if !w.native {
		return s
	}
	s.Polled, s.Reason = w.polled()
	if s.Polled == 0 || s.Polled < s.Files {
		s.Mode = nativeMode()
	}
	return s
}

// polled counts the files that are polled while others are not, and says why the
// first of them is; the caller holds mu.
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

// signal fills a channel of size 1, or finds it full.
func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
