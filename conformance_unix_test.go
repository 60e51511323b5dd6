//go:build unix

package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/conformance"
	"waybill/conformance/player"
)

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

func converse(t *testing.T, c *conformance.Conversation, door, framing string) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	w := world{workspace: t.TempDir(), state: t.TempDir()}
	o := player.Options{Dir: w.workspace, Framing: framing, Translation: doors[door].translation}
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
}

// spawned starts a program and gives its ends of the pipes.
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
