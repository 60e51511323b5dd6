package supervise

import (
	"bytes"
	"errors"
	"os"
	"time"
)

// A ConfirmedWriter is the output of a worker. A line counts as written only when the supervisor has confirmed that the
// host was given it, so that a worker still knows which answers never arrived.
type ConfirmedWriter struct {
	out, confirmations *os.File
	ahead              int   // bytes that were written and are not reported as written
	ends               []int // of the unconfirmed lines in ahead, as counts of bytes
}

// NewConfirmedWriter returns a writer to out. A byte of confirmations confirms a line.
func NewConfirmedWriter(out, confirmations *os.File) *ConfirmedWriter {
	return &ConfirmedWriter{out: out, confirmations: confirmations}
}

// Write writes p and waits until all its whole lines are confirmed. After an error, the caller continues with the bytes
// behind the returned count. One goroutine calls it at a time.
func (w *ConfirmedWriter) Write(p []byte) (n int, err error) {
	for w.ahead < len(p) && err == nil {
		var wrote int
		wrote, err = w.out.Write(p[w.ahead:])
		for i, from := 0, w.ahead; i < wrote; {
			end := bytes.IndexByte(p[from+i:from+wrote], '\n')
			if end < 0 {
				break
			}
			i += end + 1
			w.ends = append(w.ends, from+i)
		}
		w.ahead += wrote
	}
	confirmed := make([]byte, 64)
	for len(w.ends) > 0 && err == nil {
		var got int
		got, err = w.confirmations.Read(confirmed[:min(len(confirmed), len(w.ends))])
		if got > 0 {
			n, w.ends = w.ends[got-1], w.ends[got:]
		}
	}
	if err == nil {
		n = len(p)
	}
	w.ahead -= n
	for i := range w.ends {
		w.ends[i] -= n
	}
	return n, err
}

// WriteSoon is Write, but a deadline that passes is no error.
func (w *ConfirmedWriter) WriteSoon(p []byte) (n int, err error) {
	if n, err = w.Write(p); errors.Is(err, os.ErrDeadlineExceeded) {
		err = nil
	}
	return n, err
}

// SetWriteDeadline limits the next writes, also their confirmation.
func (w *ConfirmedWriter) SetWriteDeadline(t time.Time) error {
	if err := w.out.SetWriteDeadline(t); err != nil {
		return err
	}
	return w.confirmations.SetReadDeadline(t)
}

// Close closes both files.
func (w *ConfirmedWriter) Close() error {
	_ = w.confirmations.Close()
	return w.out.Close()
}
