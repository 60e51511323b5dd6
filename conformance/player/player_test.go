package player_test

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/conformance"
	"waybill/conformance/player"
)

// In every conversation an answer that is expected to be another one is found, with its line.
func TestSaboteursOfConversationsOverRPC(t *testing.T) {
	for _, c := range conversations(t) {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			for i, s := range c.Steps {
				if (s.Verb == conformance.Expect || s.Verb == conformance.Then) && strings.Contains(s.Text, `"id":`) {
					c.Steps[i].Text = `{"sabotage":true,` + strings.TrimLeft(s.Text, "[{")
					c.Steps[i].Text = strings.TrimSuffix(c.Steps[i].Text, "]")
					require.ErrorContains(t, play(t, c, c.Framings[0]), c.At(s.Line, "/sabotage is missing").Error())
					return
				}
			}
			t.Fatal("it expects no answer")
		})
	}
}

// The exit code is looked at, and so is what comes after the last step.
func TestSaboteursOfTheEnd(t *testing.T) {
	for _, row := range []struct{ name, script, why string }{
		{"another exit code", "> {\"jsonrpc\":\"2.0\",\"method\":\"exit\"}\n@ exit 0\n", "x: the server ended with 1, want 0"},
		{"no exit", "@ close\n@ exit 1\n", "x: the server ended with 0, want 1"},
		{"an answer that nobody expected", "> {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n", `heard an answer that nothing expects here: {"id":1`},
		{"a step after the end", "@ close\n@ exit 0\n> {}\n", "x:5: the server is gone by now"},
		{"an expectation after the end", "@ close\n@ exit 0\n< {}\n", "x:5: the server is gone by now"},
		{"an expectation that the end leaves", "@ close\n< {\"id\":1}\n", "x:4: this did not come"},
	} {
		t.Run(row.name, func(t *testing.T) {
			require.ErrorContains(t, play(t, parsed(t, row.script), "line"), row.why)
		})
	}
}

func parsed(t *testing.T, script string) *conformance.Conversation {
	t.Helper()
	c, err := conformance.Parse("x", []byte("# T\n-- conversation --\n"+script))
	require.NoError(t, err)
	return c
}

// dead is a server that takes everything and has said all that it ever says.
func dead(t *testing.T, framing, says string) player.Options {
	return player.Options{Dir: t.TempDir(), Framing: framing, Open: func(context.Context) (*player.Peer, error) {
		return &player.Peer{
			In:   discarded{},
			Out:  strings.NewReader(says),
			Wait: func() (int, error) { return 0, nil },
		}, nil
	}}
}

type discarded struct{}

func (discarded) Write(p []byte) (int, error) { return len(p), nil }

func (discarded) Close() error { return nil }

func TestWhatAServerSaysIsReadStrictly(t *testing.T) {
	ping := "> {\"id\":1}\n< {\"id\":1}\n"
	for _, row := range []struct{ name, framing, says, why string }{
		{"a line", "line", "{\"id\":1}\n", ""},
		{"a line without an end", "line", "{\"id\":1}", `the last line has no end`},
		{"text between", "line", "listening…\n{\"id\":1}\n", `x:4: heard "listening…": not JSON`},
		{"a frame", "header", "Content-Length: 8\r\n\r\n{\"id\":1}", ""},
		{"a frame without a length", "header", "Content-Type: x\r\n\r\n{\"id\":1}", "the header of an answer"},
		{"a frame of less than nothing", "header", "Content-Length: -1\r\n\r\n{\"id\":1}", "the header of an answer: its length is -1"},
		{"a frame that is cut off", "header", "Content-Length: 9\r\n\r\n{\"id\":1}", "unexpected EOF"},
		{"nothing", "line", "", "x:4: this did not come"},
	} {
		t.Run(row.name, func(t *testing.T) {
			err := player.Play(t.Context(), parsed(t, ping), dead(t, row.framing, row.says))
			if row.why == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, row.why)
		})
	}
}

// A server that says nothing is given up with the context, and the line is named.
func TestSilentServerIsGivenUp(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	never, end := io.Pipe()
	defer func() { _ = end.Close() }()
	o := dead(t, "line", "")
	open := o.Open
	o.Open = func(ctx context.Context) (*player.Peer, error) {
		p, err := open(ctx)
		p.Out = never
		return p, err
	}
	err := player.Play(ctx, parsed(t, "< {\"id\":1}\n"), o)
	require.ErrorContains(t, err, "x:3: this did not come")
	require.ErrorIs(t, err, context.Canceled)
}
