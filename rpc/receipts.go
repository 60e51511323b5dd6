package rpc

// A receipt is what to do about an answer in pending, once it is written or will never be.
type receipt struct {
	end         int // of it in pending
	held        int
	undelivered []func()
}

// progress settles what is written in full, now that n more bytes are.
func (w *writer) progress(n int) {
	w.outbox.stuck.Store(false)
	w.outbox.tried.Beat()
	w.written += n
	w.outbox.trouble.tally.Out.Add(int64(n))
	w.outbox.bytes.Store(int64(len(w.pending) - w.written))
	w.outbox.gate.leave(w.settle())
	w.outbox.gate.wake()
	w.outbox.ease()
}

// compact moves what is not written to the start of pending, once the rest is the larger part: to a
// host that reads slowly there is always something left to write. The caller holds turn and mu.
func (w *writer) compact() {
	if w.written < chunkBytes || w.written < len(w.pending)/2 {
		return
	}
	for i := range w.receipts {
		w.receipts[i].end -= w.written
	}
	w.pending = w.pending[:copy(w.pending, w.pending[w.written:])]
	w.written = 0
}

// settle takes the receipts of what is written and gives the places that they held. Only answers have
// receipts, so notifications alone do not keep the process.
func (w *writer) settle() (held int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.receipts) > 0 {
		w.outbox.moved.Beat()
	}
	done := 0
	for done < len(w.receipts) && w.receipts[done].end <= w.written {
		held += w.receipts[done].held
		done++
	}
	rest := copy(w.receipts, w.receipts[done:])
	clear(w.receipts[rest:])
	w.receipts = w.receipts[:rest]
	return held
}

// forget gives up what is pending.
func (w *writer) forget() {
	w.written = len(w.pending)
	w.outbox.bytes.Store(0)
	w.recall()
}

// recall takes back what is pending and was not written in full.
func (w *writer) recall() {
	w.mu.Lock()
	receipts := w.receipts
	w.receipts = nil
	w.mu.Unlock()
	for _, r := range receipts {
		w.outbox.takeBack(r.undelivered)
		w.outbox.gate.leave(r.held)
	}
}

// discard gives up what was taken and is not encoded.
func (w *writer) discard() {
	w.mu.Lock()
	items := w.taken[w.next:]
	w.taken, w.next = nil, 0
	w.mu.Unlock()
	w.outbox.items.Add(-int64(len(items)))
	for i := range items {
		w.outbox.ahead.Add(-int64(items[i].size()))
		w.outbox.drop(&items[i])
	}
}

// abandon ends the work, whether it is done or not: what is not written by now is undelivered, and
// so is what comes later.
func (w *writer) abandon() {
	queue := w.outbox.leave()
	w.recall()
	w.discard()
	for i := range queue {
		w.outbox.drop(&queue[i])
	}
}
