package watcher

// PauseDrain stops the reading of notifications until resume is called, like a suspended process.
func (w *Watcher) PauseDrain() (resume func()) {
	w.mu.Lock()
	return w.mu.Unlock
}

// SetRemote replaces the detection of remote file systems, which a test cannot mount.
func (w *Watcher) SetRemote(remote func(path string) (kind string, remote bool)) { w.remote = remote }

// Periods are the times of a Watcher.
type Periods = periods

// NewWith is New with other periods.
func NewWith(o Options, every Periods) *Watcher { return newWatcher(o, every) }

// Usual are the default periods.
var Usual = defaultPeriods
