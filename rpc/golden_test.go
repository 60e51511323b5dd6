package rpc_test

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"waybill/test/golden"

	"github.com/stretchr/testify/require"
)

// The files in testdata hold conversations with an empty line between two. They are the same in every framing.
//
//	# TEXT                a remark
//	> JSON                the host sends a message
//	> ID METHOD PARAMS    the host sends a request, or with the id - a notification; " | " joins several in one write
//	@ many N METHOD       the host sends requests with the ids from 0 to N-1
//	@ sleep DURATION      time passes
//	@ running N           asserts how many calls of block have begun
//	@ release, answer     the calls of block, hold and hang end; those of wait are answered
//	@ close, signal       the input ends; the context of the server ends
//	@ exit                the host waits for the end of the server
//	@ log TEXT            asserts that the log has the text
//	< ANSWER              what the host hears before the next step, in brief unless the message was JSON
//	= TEXT                what the server began and took back, its exit code, and the time that a step took
func TestGoldenConversations(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, framing := range bothFramings {
			t.Run(fmt.Sprint(filepath.Base(file), " ", framing), func(t *testing.T) {
				var got []string
				for conversation := range strings.SplitSeq(strings.TrimSpace(string(text)), "\n\n") {
					synctest.Test(t, func(t *testing.T) {
						f := newFixture()
						p := &player{host: connect(t, f), f: f, release: sync.OnceFunc(func() { close(f.release) })}
						p.framing = framing
						got = append(got, p.play(conversation))
					})
				}
				golden.File(t, file, strings.Join(got, "\n"))
			})
		}
	}
}

// A player holds a conversation.
type player struct {
	*host
	f       *fixture
	release func() // of the calls that wait for it
	got     strings.Builder
	left    bool // the server has ended
}

func (p *player) play(conversation string) string {
	for line := range strings.SplitSeq(conversation, "\n") {
		kind, step, _ := strings.Cut(line, " ")
		if kind == "<" || kind == "=" {
			continue
		}
		fmt.Fprintln(&p.got, line)
		if kind != "#" {
			p.step(kind, step)
		}
	}
	if !p.left {
		p.step("@", "exit")
	}
	return p.got.String()
}

func (p *player) step(kind, step string) {
	began, brief := time.Now(), true
	word, rest, _ := strings.Cut(step, " ")
	switch {
	case kind == ">":
		brief = p.say(step)
	case word == "sleep":
		d, err := time.ParseDuration(rest)
		require.NoError(p.t, err)
		time.Sleep(d)
		began = began.Add(d)
	default:
		p.command(word, rest)
	}
	p.hear(brief)
	if took := time.Since(began); took > 0 {
		fmt.Fprintln(&p.got, "= took", took)
	}
}

var briefRequest = regexp.MustCompile(`^(\S+) ([$a-zA-Z_/]+) ?(.*)$`)

// say sends a message, or requests in brief, which it reports.
func (p *player) say(step string) (brief bool) {
	if !briefRequest.MatchString(step) {
		p.send(step)
		return false
	}
	text := ""
	for one := range strings.SplitSeq(step, " | ") {
		part := briefRequest.FindStringSubmatch(one)
		require.NotNil(p.t, part, one)
		message := request(part[1], part[2], part[3])
		if part[1] == "-" {
			message = notification(part[2], part[3])
		}
		text += framed(p.framing, message)
	}
	p.sendRaw(text)
	return true
}

func (p *player) command(word, rest string) {
	switch word {
	case "many":
		n, method, _ := strings.Cut(rest, " ")
		many, err := strconv.Atoi(n)
		require.NoError(p.t, err)
		for i := range many {
			p.sendRaw(framed(p.framing, request(i, method, "")))
		}
	case "running":
		require.Equal(p.t, rest, fmt.Sprint(len(p.f.running)))
	case "release":
		p.release()
	case "answer":
		p.f.answerAll()
	case "close":
		require.NoError(p.t, p.in.Close())
	case "signal":
		p.cancel()
		synctest.Wait()
		go func() { _, _ = io.WriteString(p.in, request(`"unread"`, "change", "")+"\n") }() // ends with the connection
	case "exit":
		p.leave()
	case "log":
		require.Contains(p.t, p.log.text(), rest)
	default:
		require.Fail(p.t, "no such command", word)
	}
}

// leave waits for the end of the server, and tells what it did.
func (p *player) leave() {
	_ = p.in.Close() // it may be closed already
	code := <-p.exit
	p.left = true
	p.hear(true)
	if began := p.f.startedSoFar(); len(began) > 0 && len(began) < 10 {
		fmt.Fprintln(&p.got, "= began", strings.Join(began, ", "))
	}
	if back := p.f.undeliveredAnswers(); len(back) > 0 {
		fmt.Fprintln(&p.got, "= undelivered", strings.Join(back, ", "))
	}
	fmt.Fprintln(&p.got, "= exit", code)
	p.release()
}

// hear writes down what the host has heard; of very many answers, how many are alike but for their ids.
func (p *player) hear(brief bool) {
	answers := p.received()
	if brief {
		answers = briefs(p.t, answers)
	}
	if len(answers) < 10 {
		for _, answer := range answers {
			fmt.Fprintln(&p.got, "<", answer)
		}
		return
	}
	alike := map[string]int{}
	for _, answer := range answers {
		_, what, _ := strings.Cut(answer, " ")
		alike[what]++
	}
	for what, n := range alike {
		fmt.Fprintln(&p.got, "<", n, "times", what)
	}
	require.Len(p.t, alike, 1)
}
