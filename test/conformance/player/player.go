// Package player runs the conversations of package conformance with a server: it sends the messages of the client,
// and checks the answers.
//
// It does not know the server: Options.Open starts it with two streams, as a process or within this one.
package player

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"waybill/test/conformance"
)

// A Peer is a running server. The player closes In and reads Out to its end before it calls Wait.
type Peer struct {
	In   io.WriteCloser
	Out  io.Reader
	Wait func() (exitCode int, err error)
}

// A Translation converts the messages of a conversation into those of another protocol, and back. Incoming returns
// nil for a message without a counterpart.
type Translation interface {
	Outgoing(message []byte) ([]byte, error)
	Incoming(message []byte) ([]byte, error)
}

// Options describe the server. Dir and Open are required.
type Options struct {
	// Dir is the workspace: an empty folder, in which the player writes the files of the conversation.
	Dir string
	// Open starts a server on the workspace. Its state survives until the next call. The server ends with ctx.
	Open func(ctx context.Context) (*Peer, error)
	// Framing is line or header; the default is line.
	Framing string
	// Translation is nil for a server that needs none.
	Translation Translation
	// Record, if not nil, receives every step and every message.
	Record func(conformance.Step)
}

// Play runs a conversation. The error names the line that the server did not answer as expected, or not before the
// end of ctx.
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

// A play is a running conversation.
type play struct {
	*conformance.Conversation
	o      Options
	bound  conformance.Bindings
	line   *line // to the server; nil after its end
	closed bool  // the input of the server has ended
}

func (p *play) open(ctx context.Context) error {
	peer, err := p.o.Open(ctx)
	if err != nil {
		return fmt.Errorf("%s: open the server: %w", p.Name, err)
	}
	p.line, p.closed = dial(ctx, peer, p.o.Framing), false
	return nil
}

// steps carries the steps out. It waits for consecutive expectations together.
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

// act carries out a step that is no expectation.
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

// say sends a message of the client.
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

// hear waits for all expected messages.
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

// receive returns the next message, or nil for one without a counterpart.
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

// write replaces a file of the workspace as a whole, as editors do.
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

// leave ends the server and checks its exit. Only notifications may still come.
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
