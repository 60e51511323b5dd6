package play

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"
)

// A Behaviour is one way to answer.
type Behaviour struct {
	Name     string
	Argument string // form of its argument; "" if it takes none
	About    string // one sentence for the help

	reviewers bool // only reviewers can do it
	takes     kind
	act       func(*scene) (exit int)
}

// Behaviours lists all behaviours; the first is the default.
func Behaviours() []Behaviour { return slices.Clone(behaviours) }

var behaviours = []Behaviour{
	{"good", "", "headers: a worker has passed, a reviewer approves", false, nothing, says(asked.good)},
	{"good-block", "", "the same as a result block", false, nothing, says(asked.goodBlock)},
	{"fenced", "", "`good` in a code fence", false, nothing, says(asked.fenced)},
	{"crlf", "", "`good` with a byte order mark and lines that end in CR LF", false, nothing, says(asked.crlf)},
	{"preamble", "", "`good` behind some prose", false, nothing, says(asked.preamble)},
	{"garbage", "", "chatter that claims nothing", false, nothing, says(asked.garbage)},
	{"empty", "", "nothing at all", false, nothing, says(func(asked) string { return "" })},
	{"foreign", "", "`good`, but about another item: its id has a 0 more", false, nothing, says(asked.foreign)},
	{"missing-field", "", "headers without `git_range` from a worker, without `status` from a reviewer", false, nothing, says(asked.missingField)},
	{"gaps", `"issue; issue"`, "headers that say what is missing", false, someList, tells(asked.gaps)},
	{"reject", `"issue; issue"`, "a reviewer's result block that asks for changes", true, someList, tells(asked.reject)},
	{"blocked", `"reason"`, "a result block that says blocked", false, someText, tells(asked.blocked)},
	{"error", `"reason"`, "headers that say error", false, someText, tells(asked.failed)},
	{"legacy-pass", "", "a plain sentence that says it is done, or approved", false, nothing, says(asked.legacyPass)},
	{"legacy-fail", "", "a plain sentence that says it is not", false, nothing, says(asked.legacyFail)},
	{"huge", "N", "`good` behind N bytes of noise", false, someSize, (*scene).huge},
	{"crash", "[CODE]", "half a line, then exit code CODE, 3 if it is left out", false, someCode, (*scene).crash},
	{"hang", "", "waits until it is killed", false, nothing, (*scene).hang},
	{"slow", "DURATION", "waits, then `good`", false, someWait, (*scene).slow},
	{"question", `"text"`, "a line `QUESTION: text`, then exit code 10", false, someText, (*scene).question},
}

func names() (all []string) {
	for _, b := range behaviours {
		all = append(all, b.Name)
	}
	return all
}

// A scene is one performance of a behaviour.
type scene struct {
	asked
	argument
	out    *bufio.Writer // keeps its first error until the end
	stderr io.Writer
	after  func(time.Duration) <-chan time.Time
	stop   <-chan os.Signal
}

func (s *scene) say(text string) { _, _ = s.out.WriteString(text) }

func says(text func(asked) string) func(*scene) int {
	return func(s *scene) int { s.say(text(s.asked)); return exitOK }
}

func tells(text func(asked, []string) string) func(*scene) int {
	return func(s *scene) int { s.say(text(s.asked, s.texts)); return exitOK }
}

// huge writes exactly the given number of bytes before the result. The last byte ends the line.
func (s *scene) huge() int {
	if s.number > 0 {
		_, _ = io.CopyN(s.out, &noise{}, s.number-1)
		s.say("\n")
	}
	s.say(s.good())
	return exitOK
}

const noiseLine = "... still thinking about it, and about what else there is to think of ...\n"

// noise is an endless reader of one line.
type noise struct{ at int }

func (n *noise) Read(p []byte) (int, error) {
	for i := 0; i < len(p); {
		copied := copy(p[i:], noiseLine[n.at:])
		i, n.at = i+copied, (n.at+copied)%len(noiseLine)
	}
	return len(p), nil
}

// crash ends within the name of the role.
func (s *scene) crash() int {
	s.say(s.good()[:len("role: ")+len(s.role)/2])
	return int(s.number)
}

func (s *scene) question() int {
	s.say("QUESTION: " + strings.Join(s.texts, "") + "\n")
	return exitQuestion
}

func (s *scene) hang() int {
	_, exit := s.wait(nil)
	return exit
}

func (s *scene) slow() int {
	if over, exit := s.wait(s.after(s.delay)); !over {
		return exit
	}
	s.say(s.good())
	return exitOK
}

// wait waits for the duration or a signal. It writes a line to standard error when a signal would be noticed, so that
// a test can send one.
func (s *scene) wait(until <-chan time.Time) (over bool, exit int) {
	stop := s.stop
	if stop == nil {
		own := make(chan os.Signal, 1) // never closed
		signal.Notify(own, os.Interrupt, syscall.SIGTERM)
		defer signal.Stop(own)
		stop = own
	}
	_, _ = fmt.Fprintln(s.stderr, "fakeagent: waiting")
	select {
	case <-until:
		return true, exitOK
	case got := <-stop:
		return false, exitSignal + numberOf(got)
	}
}

// numberOf returns the number of a signal. A closed channel of signals counts as SIGTERM.
func numberOf(s os.Signal) int {
	if known, ok := s.(syscall.Signal); ok {
		return int(known)
	}
	return int(syscall.SIGTERM)
}
