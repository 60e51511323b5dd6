package output

import (
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"

	"golang.org/x/term"
)

// Page prints a text. If it is longer than the terminal, the person's pager shows it.
func (p *Printer) Page(text string) error {
	words := p.pager(strings.Count(text, "\n"))
	if len(words) > 0 {
		cmd := exec.Command(words[0], words[1:]...)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(text), p.Out, p.Err
		cmd.Env = os.Environ()
		if p.Env("LESS") == "" {
			cmd.Env = append(cmd.Env, "LESS=FRX") // end if it fits after all, show colours, and leave the text on the screen
		}
		if cmd.Start() == nil {
			_ = cmd.Wait() // a person may leave the pager early, and in any way
			return nil
		}
	}
	_, err := io.WriteString(p.Out, text)
	return IgnoreClosed(err)
}

// pager returns the command that shows a text of that many lines, or nothing if no pager is to show it.
func (p *Printer) pager(lines int) []string {
	if p.NoPager || p.JSON || !p.Terminal() || p.Env("TERM") == "dumb" || !term.IsTerminal(int(p.In.Fd())) {
		return nil
	}
	if _, height, err := term.GetSize(int(p.Out.Fd())); err != nil || height == 0 || lines < height {
		return nil
	}
	if given := strings.Fields(p.Env("PAGER")); len(given) > 0 {
		return given
	}
	if runtime.GOOS == "windows" {
		return nil
	}
	return []string{"less"}
}
