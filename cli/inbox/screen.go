package inbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"waybill/cli/inboxes"
	"waybill/engine/inbox"
)

// The screen uses only raw mode and a handful of escape sequences that every terminal knows. A library for full screens
// would add 2.5 MB to the program and 0.3 ms to the start of every hook.

const (
	enterScreen = "\x1b[?1049h\x1b[?2004h\x1b[?25l" // another screen, marked pastes, no cursor
	leaveScreen = "\x1b[?25h\x1b[?2004l\x1b[?1049l"
	// escapePause is how long the rest of an escape sequence may take; after it, the key was Escape.
	escapePause = 50 * time.Millisecond
)

// A loader reads the inbox; see inboxes.Reader.
type loader interface {
	Load(ctx context.Context) error
	Inbox() inbox.Inbox
	Readings() map[string]time.Time
}

// A screen shows the inbox on a terminal until a key ends it.
type screen struct {
	commands
	loader loader
	model  model
	shown  map[string]time.Time // the readings that the model has
	width  int
	height int
}

// A result is the outcome of a request that was carried out.
type result struct {
	request request
	said    string
	err     error
}

// loaded is the result of a load.
type loaded struct{ err error }

// screen shows the inbox until a key or ctx ends it, and then prints how much still waits.
func (a commands) screen(ctx context.Context, l *inboxes.Reader) error {
	s := &screen{commands: a, loader: l, model: model{drafts: map[string]*draft{}, hint: func(e inbox.Entry) string { return inboxes.CommandOf(a.App, e) }}}
	s.take()
	if err := s.show(ctx); err != nil {
		return err
	}
	if err := l.Looked(s.shown); err != nil {
		a.Say("waybill: this look is not kept: " + err.Error())
	}
	_, err := fmt.Fprintln(a.Out, summary(l.Inbox()))
	return err
}

// take shows what the loader has read.
func (s *screen) take() {
	s.model.take(s.loader.Inbox())
	s.shown = s.loader.Readings()
}

// show runs the screen, and leaves the terminal as it was, after a panic, too.
func (s *screen) show(ctx context.Context) (err error) {
	fd := int(s.In.Fd())
	before, err := term.MakeRaw(fd)
	if err != nil {
		return fmt.Errorf("use the terminal: %w", err)
	}
	defer func() { err = errors.Join(err, term.Restore(fd, before)) }()
	s.write(enterScreen)
	defer s.write(leaveScreen)
	return s.run(ctx)
}

func (s *screen) write(text string) { _, _ = s.Out.WriteString(text) } // a terminal that is gone ends the input, too

func (s *screen) run(ctx context.Context) error {
	input, resized := make(chan []byte), resizes()
	go read(s.In, input) // ends with the input, or with the process
	results := make(chan result, 1)
	loads := make(chan loaded, 1)
	loading := false
	look := time.NewTicker(inboxes.LookEvery)
	defer look.Stop()
	pause := time.NewTimer(escapePause)
	defer pause.Stop()
	var typed decoder
	defer func() {
		if loading {
			<-loads
		}
	}()
	load := func() {
		if !loading {
			loading = true
			go func() { loads <- loaded{s.loader.Load(ctx)} }() // ends within inbox.Patience
		}
	}
	for {
		s.draw()
		var keys []key
		select {
		case <-ctx.Done():
			return nil
		case text, more := <-input:
			if !more {
				return nil
			}
			keys = typed.keys(text)
			pause.Reset(escapePause)
		case <-pause.C:
			keys = typed.late()
		case <-resized:
		case <-look.C:
			load()
		case l := <-loads:
			loading = false
			if l.err != nil {
				return l.err
			}
			s.take()
		case r := <-results:
			s.model.done(r.request, r.said, r.err)
			load()
		}
		for _, k := range keys {
			r := s.model.press(k)
			switch {
			case r.quit:
				return nil
			case r.redraw:
				s.write("\x1b[2J")
			case r.action != "":
				go func() { // ends with the change
					said, err := s.act(ctx, r)
					results <- result{r, said, err}
				}()
			}
		}
	}
}

// read sends the input, and closes the channel at its end.
func read(in *os.File, to chan<- []byte) {
	defer close(to)
	for {
		text := make([]byte, 4096)
		n, err := in.Read(text)
		if n > 0 {
			to <- text[:n]
		}
		if err != nil {
			return
		}
	}
}

// draw writes the picture over the one before, in one piece, so that it does not flicker.
func (s *screen) draw() {
	if width, height, err := term.GetSize(int(s.Out.Fd())); err == nil && width > 0 && height > 0 {
		s.width, s.height = width, height
	}
	f := s.model.draw(canvas{max(s.width, 20), max(s.height, 2), s.Style, time.Now()})
	var b strings.Builder
	b.WriteString("\x1b[?25l\x1b[H")
	for i, line := range f.lines {
		if i > 0 {
			b.WriteString("\r\n")
		}
		b.WriteString(line + "\x1b[K")
	}
	b.WriteString("\x1b[J")
	if f.row >= 0 {
		fmt.Fprintf(&b, "\x1b[%d;%dH\x1b[?25h", f.row+1, f.col+1)
	}
	s.write(b.String())
}
