package watcher

// PauseDrain stops the reading of notifications until resume is called, as if the
// process got no time. No test could do that from outside without stopping itself.
func (w *Watcher) PauseDrain() (resume func()) {
	w.mu.Lock()
	return w.mu.Unlock
}

// SetRemote replaces the detection of remote file systems, which a test cannot mount.
func (w *Watcher) SetRemote(remote func(path string) (kind string, remote bool)) { w.remote = remote }

// Periods are what tests have no time for.
type Periods = periods

// NewWith is New with other periods.
func NewWith(o Options, every Periods) *Watcher { return newWatcher(o, every) }

// Usual are the periods outside of tests.
var Usual = usual
