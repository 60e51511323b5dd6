package watcher

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"
)

// Two goroutines work while Run runs. One drains the notification service and does
// nothing that could make it wait, because a service that is not drained drops
// notifications. The other, Run itself, owns the watches and the timers.

// run is the state that only the goroutine of Run touches.
type run struct {
	w       *Watcher
	service *fsnotify.Watcher // nil while all files are polled
	drained chan struct{}     // closed by the drain when it has ended
	watched map[string]bool   // folders that the service knows; false: ask again
}

// Run watches until ctx ends, and then returns nil; nothing it started is left. It may
// be called again afterwards, and returns an error while another Run is running.
// Every file is reported once at the beginning, since nobody watched before.
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
	if w.running {
		return false
	}
	w.running = true
	w.batch.reset()
	return true
}

func (w *Watcher) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.running = false
	w.reason = notRunning
}

func (r *run) loop(ctx context.Context) {
	every := r.w.every
	safety, poll, retry := time.NewTicker(every.SafetyEvery), time.NewTicker(every.PollEvery), time.NewTicker(every.RetryNotifyEvery)
	defer safety.Stop()
	defer poll.Stop()
	defer retry.Stop()
	for {
		pollTick, retryTick := poll.C, retry.C
		if r.service != nil {
			retryTick = nil
			if !r.w.anyPolled() {
				pollTick = nil // a ticker that nobody receives from costs no wake-up
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-r.w.resync:
			r.sync()
		case <-r.w.batch.kick:
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

// connect opens the notification service, or says why all files are polled.
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

// disconnect closes the service, if there is one, and waits for the drain.
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

// switchMode records how files are watched from now on. What changed around a switch
// may have gone unnoticed, so every file is due for a report.
func (w *Watcher) switchMode(native bool, reason string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if native == w.native && reason == w.reason {
		return
	}
	if reason != notRunning {
		w.opts.Logger.Info("watching files", "notified", native, "reason", reason)
	}
	w.native, w.reason = native, reason
	w.folders = nil
	clear(w.suspect)
	for _, f := range w.files {
		f.stale, f.dirty, f.points, f.polled = true, true, nil, ""
	}
	w.batch.touch()
}

// drain hands on what the service says until the service is closed.
func (w *Watcher) drain(service *fsnotify.Watcher, drained chan<- struct{}) {
	defer close(drained)
	for {
		select {
		case event, ok := <-service.Events:
			if !ok {
				return
			}
			w.note(event)
		case err, ok := <-service.Errors:
			if !ok {
				return
			}
			w.noteError(err)
		}
	}
}

// note marks the files that an event concerns. Changes of mode and owner alone are
// not changes of a plan; backup programs and indexers make them all the time.
func (w *Watcher) note(event fsnotify.Event) {
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
		// What is written stays where it is; all else can move a name.
		f.stale = f.stale || event.Op&^(fsnotify.Write|fsnotify.Chmod) != 0
	}
	name := filepath.Clean(event.Name)
	w.folders.match(filepath.Dir(name), filepath.Base(name), mark)
	if w.folders[name] != nil { // a watched folder came, went or moved
		w.suspect[name] = true
		w.folders.all(name, mark)
	}
	if found && event.Op&^(fsnotify.Write|fsnotify.Chmod) != 0 {
		w.doubt(name)
	}
	if found {
		w.batch.touch()
	}
}

// doubt has the folders below a name watched anew: what moves takes the folders in it along, and their watches, of
// which nothing is said. The caller holds mu.
func (w *Watcher) doubt(name string) {
	for dir := range w.folders {
		if within(name, dir) {
			w.suspect[dir] = true
		}
	}
}

// noteError takes every error for lost notifications, which most are.
func (w *Watcher) noteError(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if errors.Is(err, fsnotify.ErrEventOverflow) {
		w.count.overflows++
	}
	w.count.rescans++
	w.rescan = time.Now()
	w.opts.Logger.Warn("file notifications were lost, looking at every file", "err", err)
	for dir := range w.folders {
		w.suspect[dir] = true
	}
	for _, f := range w.files {
		f.stale, f.dirty = true, true
	}
	w.batch.touch()
}
