package watcher

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"
)

// Two goroutines work while Run runs. One reads the notification service and never blocks, because a service that is
// not read drops notifications. The other, Run itself, owns the watches and the timers.

// run is the state that only the goroutine of Run uses.
type run struct {
	w       *Watcher
	service *fsnotify.Watcher // nil while all files are polled
	drained chan struct{}     // closed when drain has ended
	watched map[string]bool   // folders that the service watches; false: request again
}

// Run watches until ctx ends, and then returns nil after all its goroutines have ended. It may be called again
// afterwards, and returns an error while another Run is running. It reports every file once at its start, because the
// file was not watched before.
func (w *Watcher) Run(ctx context.Context) error {
	if !w.begin() {
		return errors.New("watcher: Run is running already")
	}
	defer w.end()
	r := run{w: w}
	r.connect()
	w.once.Do(func() { close(w.connected) })
	defer r.disconnect()
	r.loop(ctx)
	return nil
}

func (w *Watcher) begin() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.service.running {
		return false
	}
	w.service.running = true
	w.batch.reset()
	return true
}

func (w *Watcher) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.service.running = false
	w.service.reason = notRunning
}

func (r *run) loop(ctx context.Context) {
	p := r.w.periods
	safety, poll, retry := time.NewTicker(p.SafetyEvery), time.NewTicker(p.PollEvery), time.NewTicker(p.RetryNotifyEvery)
	defer safety.Stop()
	defer poll.Stop()
	defer retry.Stop()
	for {
		pollTick, retryTick := poll.C, retry.C
		if r.service != nil {
			retryTick = nil
			if !r.w.anyPolled() {
				pollTick = nil // a ticker without a receiver costs no wake-up
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-r.w.resync:
			r.sync()
		case <-r.w.batch.started:
			r.report()
		case <-r.w.batch.timer.C:
			r.report()
		case <-pollTick:
			r.poll()
		case <-safety.C:
			r.checkAll()
		case <-retryTick:
			r.connect()
		}
	}
}

// connect opens the notification service, or records why all files are polled.
func (r *run) connect() {
	defer r.sync()
	if r.w.opts.ForcePolling {
		r.w.switchMode(false, "polling was asked for")
		return
	}
	service, err := fsnotify.NewWatcher()
	if err != nil {
		r.w.switchMode(false, exhaustedReason(err))
		return
	}
	r.service, r.drained, r.watched = service, make(chan struct{}), map[string]bool{}
	go r.w.drain(service, r.drained) // ends when disconnect closes the service
	r.w.switchMode(true, "")
}

// disconnect closes the service, if there is one, and waits for drain.
func (r *run) disconnect() {
	if r.service == nil {
		return
	}
	if err := r.service.Close(); err != nil {
		r.w.opts.Logger.Warn("close file notifications", "err", err)
	}
	<-r.drained
	r.service = nil
	r.w.switchMode(false, notRunning)
}

// switchMode records how files are watched from now on. Changes around a switch may have gone unnoticed, so it marks
// every file as changed.
func (w *Watcher) switchMode(native bool, reason string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if native == w.service.native && reason == w.service.reason {
		return
	}
	if reason != notRunning {
		w.opts.Logger.Info("watching files", "notified", native, "reason", reason)
	}
	w.service.native, w.service.reason = native, reason
	w.folders = nil
	clear(w.suspect)
	for _, f := range w.files {
		f.stale, f.dirty, f.points, f.polled = true, true, nil, ""
	}
	w.batch.touch()
}

// drain handles the notifications of the service until it is closed.
func (w *Watcher) drain(service *fsnotify.Watcher, drained chan<- struct{}) {
	defer close(drained)
	for {
		select {
		case event, ok := <-service.Events:
			if !ok {
				return
			}
			w.handleEvent(event)
		case err, ok := <-service.Errors:
			if !ok {
				return
			}
			w.handleError(err)
		}
	}
}

// handleEvent marks the files that an event concerns. It ignores changes of mode and owner alone, which backup programs
// and indexers cause all the time.
func (w *Watcher) handleEvent(event fsnotify.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.count.events++
	if event.Op&^fsnotify.Chmod == 0 {
		return
	}
	found := false
	mark := func(path string) {
		f := w.files[path]
		found, f.dirty = true, true
		// A write leaves names in place; any other event can move a name.
		f.stale = f.stale || event.Op&^(fsnotify.Write|fsnotify.Chmod) != 0
	}
	name := filepath.Clean(event.Name)
	w.folders.match(filepath.Dir(name), filepath.Base(name), mark)
	if w.folders[name] != nil { // a watched folder was created, removed or moved
		w.suspect[name] = true
		w.folders.matchAll(name, mark)
	}
	if found && event.Op&^(fsnotify.Write|fsnotify.Chmod) != 0 {
		w.suspectBelow(name)
	}
	if found {
		w.batch.touch()
	}
}

// suspectBelow marks the folders below a name to be watched again: a moved folder takes its subfolders and their watches
// along without further notifications. The caller holds mu.
func (w *Watcher) suspectBelow(name string) {
	for dir := range w.folders {
		if within(name, dir) {
			w.suspect[dir] = true
		}
	}
}

// handleError treats every error as lost notifications.
func (w *Watcher) handleError(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if errors.Is(err, fsnotify.ErrEventOverflow) {
		w.count.overflows++
	}
	w.count.rescans++
	w.count.last = time.Now()
	w.opts.Logger.Warn("file notifications were lost; checking every file", "err", err)
	for dir := range w.folders {
		w.suspect[dir] = true
	}
	for _, f := range w.files {
		f.stale, f.dirty = true, true
	}
	w.batch.touch()
}
