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

// Options tunes a Watcher. The zero value works; a negative duration is refused.
type Options struct {
	// Quiet is how long a file must rest before a change is reported, so that an
	// editor has finished writing; 0 means 100 ms.
	Quiet time.Duration
	// MaxWait is how long files that never rest may delay a report; 0 means 500 ms.
	MaxWait time.Duration
	// PollEvery is the pause between looks at files that cannot be watched; 0 means 1 s.
	PollEvery time.Duration
	// SafetyEvery is the pause between looks at every file, in case the system lost a
	// notification without saying so; 0 means 30 s.
	SafetyEvery time.Duration
	// RetryNotifyEvery is the pause between attempts to leave polling; 0 means 1 h.
	RetryNotifyEvery time.Duration
	// ForcePolling never asks the system for notifications.
	ForcePolling bool
	// Logger hears of changes of mode and of lost notifications; nil means nobody.
	Logger *slog.Logger
}

func (o Options) filled() (Options, error) {
	for _, d := range []struct {
		name  string
		value *time.Duration
		zero  time.Duration
	}{
		{"Quiet", &o.Quiet, 100 * time.Millisecond},
		{"MaxWait", &o.MaxWait, 500 * time.Millisecond},
		{"PollEvery", &o.PollEvery, time.Second},
		{"SafetyEvery", &o.SafetyEvery, 30 * time.Second},
		{"RetryNotifyEvery", &o.RetryNotifyEvery, time.Hour},
	} {
		if *d.value < 0 {
			return o, fmt.Errorf("watcher: %s is %v; it must not be negative", d.name, *d.value)
		}
		if *d.value == 0 {
			*d.value = d.zero
		}
	}
	if o.MaxWait < o.Quiet {
		return o, fmt.Errorf("watcher: MaxWait is %v; it must not be shorter than Quiet, %v", o.MaxWait, o.Quiet)
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o, nil
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
	// Polling is looking at each file every PollEvery.
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
}

// Watcher watches files. All its methods are safe for concurrent use.
type Watcher struct {
	opts   Options
	batch  *batch
	wake   chan struct{} // size 1; nobody closes it
	resync chan struct{} // size 1, tells Run that files has changed; nobody closes it

	// remote tells remote file systems. Only tests replace it.
	remote func(path string) (kind string, remote bool)

	mu      sync.Mutex // guards all below; never held while a file is looked at
	running bool
	native  bool             // Run has a connection to the notification service
	reason  string           // why it has none
	files   map[string]*file // by path
	folders index            // what a notification concerns
	suspect map[string]bool  // folders whose notifications may have ended
	ready   map[string]bool  // reported, waiting for Take
	count   struct{ events, overflows, rescans uint64 }
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
	present bool
}

func look(path string) sight {
	stat, err := planfile.StatPath(path)
	return sight{stat: stat, present: err == nil}
}

// New returns a Watcher of no files. It starts nothing: call Run.
func New(o Options) (*Watcher, error) {
	o, err := o.filled()
	if err != nil {
		return nil, err
	}
	return &Watcher{
		opts:    o,
		batch:   newBatch(o.Quiet, o.MaxWait),
		wake:    make(chan struct{}, 1),
		resync:  make(chan struct{}, 1),
		remote:  workspace.RemoteFS,
		reason:  notRunning,
		files:   map[string]*file{},
		suspect: map[string]bool{},
		ready:   map[string]bool{},
	}, nil
}

const notRunning = "the watcher is not running"

// Add watches the file at path, which must be absolute and need not exist. Once the
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

// Remove ends the watch on path. It is not reported any more, not even by the next
// Take.
func (w *Watcher) Remove(path string) {
	path = filepath.Clean(path)
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.files, path)
	delete(w.ready, path)
	signal(w.resync)
}

// Wake returns the channel that receives a value after paths became ready for Take.
// It holds one value and is never closed.
func (w *Watcher) Wake() <-chan struct{} { return w.wake }

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
