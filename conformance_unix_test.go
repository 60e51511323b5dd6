//go:build unix

package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/conformance"
	"waybill/conformance/player"
)

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
		if !c.For("rpc") {
			continue
		}
		for _, framing := range c.Framings {
			t.Run(c.Name+"/"+framing, func(t *testing.T) {
				t.Parallel()
				converse(t, c, framing)
			})
		}
	}
}

func converse(t *testing.T, c *conformance.Conversation, framing string) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	w := world{workspace: t.TempDir(), state: t.TempDir()}
	require.NoError(t, player.Play(ctx, c, player.Options{Dir: w.workspace, Framing: framing, Open: func(context.Context) (*player.Peer, error) {
		args := []string{"serve", "--retry-delay", "0"}
		if c.Workspace {
			args = append(args, "--workspace", w.workspace)
		}
		cmd := w.command(t, args...)
		if !c.Workspace {
			cmd.Dir = "/" // which is never taken for a workspace
		}
		return spawned(cmd)
	}}))
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
