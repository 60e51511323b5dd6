//go:build linux || darwin

package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// People set the items of one plan from several terminals at the same time, each their own: with a store, in which
// they take turns, and without one. What a command said is in the file, and what met a conflict was not written.
func TestTerminalsThatSetItemsAtOnceLoseNone(t *testing.T) {
	for name, served := range map[string]bool{"with a store": true, "without a store": false} {
		t.Run(name, func(t *testing.T) {
			const terminals, each = 4, 4
			w := newWorld(t)
			path, text := w.board(t, terminals*each)
			if served {
				w.pipe(t, `{"jsonrpc":"2.0","id":1,"method":"queue_instruction","params":{"content":"x"}}`+"\n")
			}
			var wg sync.WaitGroup
			for i := range terminals {
				wg.Go(func() { // ends when the items are set
					for item := i*each + 1; item <= (i+1)*each; item++ {
						if err := w.insist(t, item); err != nil {
							t.Error(err)
						}
					}
				})
			}
			wg.Wait()
			is, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Equal(t, strings.ReplaceAll(text, "- [ ] ", "- [x] "), string(is))
			w.clean(t)
		})
	}
}

// insist sets an item of the board at the terminal, however often somebody else is faster.
func (w world) insist(t *testing.T, item int) error {
	for {
		cmd := w.command(t, "plan", "set", strconv.Itoa(item), "done", "--plan", "board.md")
		var said bytes.Buffer
		cmd.Stderr = &said
		err := cmd.Run()
		ended, failed := errors.AsType[*exec.ExitError](err)
		switch {
		case !failed:
			return err
		case ended.ExitCode() != 4 || !strings.Contains(said.String(), "(CONFLICT)"):
			return errors.Join(err, errors.New(said.String()))
		}
	}
}
