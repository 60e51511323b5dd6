package bench

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// planSizes are the numbers of items of the plans that are measured.
var planSizes = []int{50, 2000}

// A planFile is a plan that can be changed without changing its length.
type planFile struct {
	path    string
	text    []byte
	changes int
}

// newPlan writes a plan of n items, the usual lines below each, about 150 bytes an item.
func newPlan(b *testing.B, root, name string, n int) *planFile {
	var text strings.Builder
	text.WriteString("# Implementation plan\n\n")
	for i := range n {
		group, item := i/10+1, i%10
		if item == 0 {
			fmt.Fprintf(&text, "- [ ] %d. Group of stations %d, version %08d\n", group, group, 0)
			continue
		}
		fmt.Fprintf(&text, "- [%c] %d.%d Calibrate the rain gauge of station %d\n", "x -"[i%3], group, item, i)
		text.WriteString("  - keep the old readings as they are, add the new\n")
		if i%2 == 0 {
			text.WriteString("  - Files: gauge/station.go, gauge/station_test.go\n")
		}
		fmt.Fprintf(&text, "  - _Requirements: %d.1, %d.2_\n", group, group)
	}
	p := &planFile{path: filepath.Join(root, filepath.FromSlash(name)), text: []byte(text.String())}
	require.NoError(b, os.MkdirAll(filepath.Dir(p.path), 0o700))
	require.NoError(b, os.WriteFile(p.path, p.text, 0o600))
	return p
}

// currentItem is the item that prompts are compiled for: one in the middle, not done.
func currentItem(n int) string { return fmt.Sprintf("%d.1", n/20+1) }

// change writes another version of the plan, in place.
func (p *planFile) change() error {
	p.changes++
	const mark = ", version "
	at := strings.Index(string(p.text[:200]), mark) + len(mark)
	copy(p.text[at:], fmt.Sprintf("%08d", p.changes))
	f, err := os.OpenFile(p.path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(p.text, 0)
	return errors.Join(err, f.Close())
}

// tick sets or clears the box of the item in the middle: one byte, in place.
func (p *planFile) tick(n int) error {
	at := bytes.Index(p.text, []byte("] "+currentItem(n)+" ")) - 1
	p.text[at] ^= ' ' ^ 'x'
	f, err := os.OpenFile(p.path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(p.text[at:at+1], int64(at))
	return errors.Join(err, f.Close())
}

// settle waits until the plan is old enough for its times to prove that it has not changed: two changes
// of a young file can have the same. There is nothing but the clock to wait for.
func (p *planFile) settle(b *testing.B) {
	info, err := os.Stat(p.path)
	require.NoError(b, err)
	<-time.After(time.Until(info.ModTime().Add(2100 * time.Millisecond)))
}

// stat is the probe of a plan that has not changed: one stat, and the answer carried. It returns the time of one
// of n in µs.
func (p *planFile) stat(b *testing.B, n int, carry func() error) float64 {
	return each(n, func() {
		_, err := os.Stat(p.path)
		if err = errors.Join(err, carry()); err != nil {
			b.Fatal(err)
		}
	})
}

// copied carries the answer to other memory.
func copied(answer []byte) func() error {
	to := make([]byte, 0, len(answer))
	return func() error {
		to = append(to[:0], answer...)
		return nil
	}
}

// piped carries the answer through a pipe of the system, which has room for it.
func piped(b *testing.B, answer []byte) func() error {
	r, w, err := os.Pipe()
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, errors.Join(r.Close(), w.Close())) })
	to := make([]byte, len(answer))
	return func() error {
		_, werr := w.Write(answer)
		_, rerr := io.ReadFull(r, to)
		return errors.Join(werr, rerr)
	}
}

// readAndHash is the probe of a plan that has changed.
func (p *planFile) readAndHash(b *testing.B) float64 {
	start := time.Now()
	text, err := os.ReadFile(p.path)
	if err != nil {
		b.Fatal(err)
	}
	sum := sha256.Sum256(text)
	took := micros(time.Since(start))
	require.NotZero(b, sum)
	return took
}
