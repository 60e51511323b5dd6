package play

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
)

// A call holds the command line.
type call struct {
	script, memory string
	role, task     string
	try            int
}

const noScript = "-"

func parseArgs(args []string, help io.Writer) (call, error) {
	var c call
	fs := flag.NewFlagSet("fakeagent", flag.ContinueOnError)
	fs.SetOutput(io.Discard) // Play reports mistakes
	fs.StringVar(&c.script, "script", noScript, "`FILE` that says what to do, or - for none: everything is good")
	fs.StringVar(&c.memory, "memory", "", "`DIR` in which it is counted how often a role was asked about an item")
	fs.IntVar(&c.try, "try", 0, "how often it was asked, `N` from 1, where there is no memory")
	fs.StringVar(&c.role, "role", "", "the `ROLE` to play, whatever the prompt says")
	fs.StringVar(&c.task, "task", "", "the `ITEM` to answer about, whatever the prompt says")
	fs.Usage = func() {} // flag would also print it after a mistake
	if err := fs.Parse(args); errors.Is(err, flag.ErrHelp) {
		usage(fs, help)
		return call{}, err
	} else if err != nil {
		return call{}, mistake{fmt.Errorf("%w; fakeagent -h says what there is", err)}
	}
	if fs.NArg() > 0 {
		return call{}, mistake{fmt.Errorf("found the argument %q; allowed: flags only, the prompt comes from standard input", fs.Arg(0))}
	}
	return c, c.check()
}

func (c call) check() error {
	switch {
	case c.role != "" && !slices.Contains(roles, c.role):
		return mistake{fmt.Errorf("found --role %q; allowed: %s", c.role, strings.Join(roles, ", "))}
	case strings.ContainsAny(c.task, "\r\n"):
		return mistake{fmt.Errorf("found --task %q; allowed: one line", c.task)}
	case c.try < 0:
		return mistake{fmt.Errorf("found --try %d; allowed: a number from 1", c.try)}
	case c.try > 0 && c.memory != "":
		return mistake{fmt.Errorf("found --try %d and --memory %q; allowed: one of them, because both say how often it was asked", c.try, c.memory)}
	}
	return nil
}

// usage prints the help. Whether that succeeds does not matter.
func usage(fs *flag.FlagSet, help io.Writer) {
	var b strings.Builder
	b.WriteString("fakeagent reads a prompt from standard input and answers it as a script says.\n\n")
	fs.SetOutput(&b)
	fs.PrintDefaults()
	fs.SetOutput(io.Discard)
	fmt.Fprintf(&b, "\nA line of a script is: %s\nThe first one that fits counts. The behaviours:\n\n", lineForm)
	for _, one := range behaviours {
		fmt.Fprintf(&b, "  %-28s %s\n", strings.TrimSpace(one.Name+" "+one.Argument), one.About)
	}
	_, _ = io.WriteString(help, b.String())
}
