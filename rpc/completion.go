package rpc

// A completion records an encoded answer in pending: its end, and the callbacks for its write or loss.
type completion struct {
	end         int // offset in pending after the answer
	slots       int
	undelivered []func()
}

// progress counts n more written bytes and completes the answers that are now written in full.
func (w *writer) progress(n int) {
	w.outbox.blocked.Store(false)
	w.outbox.attempted.Beat()
	w.written += n
	w.outbox.defects.tally.Out.Add(int64(n))
	w.outbox.unwritten.Store(int64(len(w.pending) - w.written))
	w.outbox.limiter.releaseSlots(w.completeWritten())
	w.outbox.limiter.signal()
	w.outbox.signalRoom()
}

// compact moves the unwritten bytes to the start of pending once they are the smaller part. Without it, pending
// would grow forever while a slow host never lets it empty. The caller holds writing and mu.
func (w *writer) compact() {
	if w.written < chunkBytes || w.written < len(w.pending)/2 {
		return
	}
	for i := range w.completions {
		w.completions[i].end -= w.written
	}
	w.pending = w.pending[:copy(w.pending, w.pending[w.written:])]
	w.written = 0
}

// completeWritten removes the completions of written answers and returns the number of slots that they held. Only
// answers have completions, so pending notifications do not delay the exit.
func (w *writer) completeWritten() (slots int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.completions) > 0 {
		w.outbox.activity.Beat()
	}
	done := 0
	for done < len(w.completions) && w.completions[done].end <= w.written {
		slots += w.completions[done].slots
		done++
	}
	rest := copy(w.completions, w.completions[done:])
	clear(w.completions[rest:])
	w.completions = w.completions[:rest]
	return slots
}

// abandonPending drops the encoded text that is not written.
func (w *writer) abandonPending() {
	w.written = len(w.pending)
	w.outbox.unwritten.Store(0)
	w.returnPending()
}

// returnPending runs the undelivered callbacks of answers that were not written in full.
func (w *writer) returnPending() {
	w.mu.Lock()
	completions := w.completions
	w.completions = nil
	w.mu.Unlock()
	for _, r := range completions {
		w.outbox.takeBack(r.undelivered)
		w.outbox.limiter.releaseSlots(r.slots)
	}
}

// abandonTaken drops the items that were taken from the outbox and not encoded.
func (w *writer) abandonTaken() {
	w.mu.Lock()
	items := w.taken[w.next:]
	w.taken, w.next = nil, 0
	w.mu.Unlock()
	w.outbox.unencoded.Add(-int64(len(items)))
	for i := range items {
		w.outbox.encodedAhead.Add(-int64(items[i].aheadBytes()))
		w.outbox.dropItem(&items[i])
	}
}

// abandon ends the writing: answers that are not written now, and all later ones, are undelivered.
func (w *writer) abandon() {
	queue := w.outbox.abandon()
	w.returnPending()
	w.abandonTaken()
	for i := range queue {
		w.outbox.dropItem(&queue[i])
	}
}
