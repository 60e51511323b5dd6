//go:build unix

package e2e_test

import (
	"context"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/test/conformance"
	"waybill/test/conformance/player"
)

var record = flag.Bool("record", false, "take conversations down anew")

// doors says how the program is started for the front doors of the conversations, and how these are spoken to.
var doors = map[string]struct {
	args        []string
	translation player.Translation
}{
	"rpc": {[]string{"serve", "--retry-delay", "0"}, nil},
	"mcp": {[]string{"mcp", "--retry-delay", "0"}, player.Tools{}},
}

// Every conversation is held with the real program, on a store on disk.
func TestConversationsWithTheProgram(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/conformance/*.txtar")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		c, err := conformance.Parse(strings.TrimSuffix(filepath.Base(file), ".txtar"), data)
		require.NoError(t, err)
		for _, door := range c.Doors {
			for _, framing := range c.Framings {
				t.Run(c.Name+"/"+door+"/"+framing, func(t *testing.T) {
					t.Parallel()
					converse(t, c, door, framing)
				})
			}
		}
	}
}

func converse(t *testing.T, c *conformance.Conversation, door, framing string) conformance.Recording {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	w := world{workspace: t.TempDir(), state: t.TempDir()}
	var recording conformance.Recording
	o := player.Options{Dir: w.workspace, Framing: framing, Translation: doors[door].translation}
	// The folders of a test mean nothing to a reader.
	places := strings.NewReplacer(w.workspace, "/home/mary/clock", w.state, "/home/mary/.local/state")
	o.Record = func(s conformance.Step) {
		s.Text = places.Replace(s.Text)
		recording = append(recording, s)
	}
	o.Open = func(context.Context) (*player.Peer, error) {
		args := slices.Clone(doors[door].args)
		if c.Workspace {
			args = append(args, "--workspace", w.workspace)
		}
		cmd := w.command(t, args...)
		if !c.Workspace {
			cmd.Dir = "/" // which is never taken for a workspace
		}
		return spawned(cmd)
	}
	require.NoError(t, player.Play(ctx, c, o))
	return recording
}

// The exchanges in the documents are recordings: what the program said, once, when these conversations were held with
// it. They are made anew where it says something else today.
func TestRecordingsAreTrue(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/conformance/recorded/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txt")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile(filepath.Join("testdata/conformance", name+".txtar"))
			require.NoError(t, err)
			c, err := conformance.Parse(name, data)
			require.NoError(t, err)
			heard := converse(t, c, "rpc", "line")
			data, err = os.ReadFile(file)
			require.NoError(t, err)
			recorded, err := conformance.ParseRecording(file, string(data))
			require.NoError(t, err)
			if err = c.Differs(recorded, heard); err != nil && *record {
				require.NoError(t, os.WriteFile(file, []byte(heard.String()), 0o644))
				return
			}
			require.NoError(t, err, "go test ./test/e2e -run TestRecordingsAreTrue -record takes it down anew")
		})
	}
}

// spawned starts a program and returns its ends of the pipes.
func spawned(cmd *exec.Cmd) (*player.Peer, error) {
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return &player.Peer{In: in, Out: out, Wait: func() (int, error) {
		err := cmd.Wait()
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			return exit.ExitCode(), nil
		}
		return 0, err
	}}, nil
}
