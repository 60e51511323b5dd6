package watcher

// PauseDrain stops the reading of notifications until resume is called, as if the
// process got no time. No test could do that from outside without stopping itself.
func (w *Watcher) PauseDrain() (resume func()) {
	w.mu.Lock()
	return w.mu.Unlock
}

// SetRemote replaces the detection of remote file systems, which a test cannot mount.
func (w *Watcher) SetRemote(remote func(path string) (kind string, remote bool)) { w.remote = remote }
