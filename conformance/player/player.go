// Package player holds the conversations of package conformance with a server: it says what the client says,
// and checks that what comes back is what was expected.
//
// It refuses to know who serves. Whoever plays gives it a way to open the server and its two streams; that may be
// a process, or a front door in this one.
package player

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"waybill/conformance"
)

// A Peer is a server that was opened. The player closes In and reads Out to its end before it calls Wait.
type Peer struct {
	In   io.WriteCloser
	Out  io.Reader
	Wait func() (exitCode int, err error)
}

// A Translation turns the messages of a conversation into those of another protocol, and back. Incoming gives
// nil for a message that has no part in the conversation.
type Translation interface {
	Outgoing(message []byte) ([]byte, error)
	Incoming(message []byte) ([]byte, error)
}

// Options says with whom to play. Dir and Open are required.
type Options struct {
	// Dir is the workspace: an empty folder, into which the player writes the files of the conversation.
	Dir string
	// Open starts a server on the workspace. What it keeps, it keeps between one opening and the next. The server
	// ends with ctx.
	Open func(ctx context.Context) (*Peer, error)
	// Framing is line or header; by default line.
	Framing string
	// Translation is nil for a server that speaks as the conversations do.
	Translation Translation
	// Record, if there is one, gets every step as it is taken, and every message as it is heard.
	Record func(conformance.Step)
}

// Play holds a conversation. An error names the line on which the server said something else, or said nothing
// until ctx ended.
func Play(ctx context.Context, c *conformance.Conversation, o Options) error {
	p := &play{Conversation: c, o: o, bound: conformance.Bindings{}}
	for _, f := range c.Files {
		if err := p.write(f); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if err := p.open(ctx); err != nil {
		return err
	}
	if err := p.steps(ctx); err != nil {
		return err
	}
	if p.line == nil {
		return nil
	}
	return p.leave(ctx, 0)
}

// A play is a conversation on its way.
type play struct {
	*conformance.Conversation
	o      Options
	bound  conformance.Bindings
	line   *line // to the server; nil when it is gone
	closed bool  // whether the server was told that nothing more comes
}

func (p *play) open(ctx context.Context) error {
	peer, err := p.o.Open(ctx)
	if err != nil {
		return fmt.Errorf("%s: open the server: %w", p.Name, err)
	}
	p.line, p.closed = dial(ctx, peer, p.o.Framing), false
	return nil
}

// steps carries the steps out. Expectations that follow one another are waited for together.
func (p *play) steps(ctx context.Context) error {
	var awaited []conformance.Step
	for _, s := range p.Steps {
		switch s.Verb {
		case conformance.Remark:
		case conformance.Expect, conformance.Then:
			awaited = append(awaited, s)
		case conformance.Send, conformance.Raw, conformance.Bytes, conformance.Do:
			if err := p.hear(ctx, awaited); err != nil {
				return err
			}
			awaited = nil
			if err := p.act(ctx, s); err != nil {
				return err
			}
		}
	}
	return p.hear(ctx, awaited)
}

// act carries out what is no expectation.
func (p *play) act(ctx context.Context, s conformance.Step) error {
	if p.line == nil {
		return p.At(s.Line, "the server is gone by now")
	}
	if s.Verb == conformance.Do {
		p.record(s.Verb, s.Text)
		return p.do(ctx, s)
	}
	if err := p.say(ctx, s); err != nil {
		return p.At(s.Line, "%v", err)
	}
	return nil
}

// say sends what the client says.
func (p *play) say(ctx context.Context, s conformance.Step) error {
	if s.Verb != conformance.Send {
		p.record(s.Verb, s.Text)
		text, err := conformance.Literal(s.Text)
		if err != nil {
			return err
		}
		return p.line.send(ctx, text, s.Verb == conformance.Raw)
	}
	text, err := p.bound.Fill(s.Text)
	if err != nil {
		return err
	}
	p.record(s.Verb, text)
	message := []byte(text)
	if p.o.Translation != nil {
		if message, err = p.o.Translation.Outgoing(message); err != nil {
			return err
		}
	}
	return p.line.send(ctx, message, true)
}

// hear waits until everything has come that is expected.
func (p *play) hear(ctx context.Context, steps []conformance.Step) error {
	if len(steps) == 0 {
		return nil
	}
	if p.line == nil {
		return p.At(steps[0].Line, "the server is gone by now")
	}
	hearing, err := p.Listen(steps, p.bound)
	if err != nil {
		return err
	}
	for !hearing.Done() {
		message, err := p.receive(ctx)
		if err != nil {
			return fmt.Errorf("%w\n%w", hearing.Missing(), err)
		}
		if message == nil {
			continue
		}
		if err := hearing.Hear(message); err != nil {
			return err
		}
	}
	return nil
}

// receive gives the next message, or nil for one that has no part in the conversation.
func (p *play) receive(ctx context.Context) ([]byte, error) {
	message, err := p.line.receive(ctx)
	if err == nil && p.o.Translation != nil {
		message, err = p.o.Translation.Incoming(message)
	}
	if err == nil && message != nil {
		p.record(conformance.Expect, string(message))
	}
	return message, err
}

func (p *play) record(verb conformance.Verb, text string) {
	if p.o.Record != nil {
		p.o.Record(conformance.Step{Verb: verb, Text: text})
	}
}

// do carries out a command.
func (p *play) do(ctx context.Context, s conformance.Step) error {
	command, err := p.Command(s)
	if err != nil {
		return p.At(s.Line, "%v", err)
	}
	switch command.Name {
	case "write":
		return p.write(command.File)
	case "remove":
		return os.RemoveAll(filepath.Join(p.o.Dir, filepath.FromSlash(command.File.Name)))
	case "close":
		p.closed = true
		return p.line.close()
	case "exit":
		return p.leave(ctx, command.Code)
	case "restart":
		if err := p.leave(ctx, 0); err != nil {
			return err
		}
		return p.open(ctx)
	}
	return nil
}

// write puts a file into the workspace, at once and in full as editors do.
func (p *play) write(f conformance.File) error {
	path := filepath.Join(p.o.Dir, filepath.FromSlash(f.Name))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(path+".new", f.Data, 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// leave ends the server and checks how it ended. What it says on its way out nobody has expected, so it may be
// notifications alone.
func (p *play) leave(ctx context.Context, want int) error {
	if !p.closed && want == 0 {
		if err := p.line.close(); err != nil {
			return err
		}
	}
	last, err := p.Listen(nil, p.bound)
	if err != nil {
		return err
	}
	for {
		message, err := p.receive(ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("%s: the server does not end: %w", p.Name, err)
		}
		if message == nil {
			continue
		}
		if err := last.Hear(message); err != nil {
			return err
		}
	}
	code, err := p.line.peer.Wait()
	p.line = nil
	if err != nil {
		return fmt.Errorf("%s: the end of the server: %w", p.Name, err)
	}
	if code != want {
		return fmt.Errorf("%s: the server ended with %d, want %d", p.Name, code, want)
	}
	return nil
}
