package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/api"
	"waybill/schema"
	"waybill/test/golden"
)

// Each session of testdata/lines.txt is a host that writes lines, in fake time:
//
//	L, M ID METHOD MEMBERS    a request of the legacy or the modern era
//	l, m ID TOOL ARGUMENTS    a tools/call of the legacy or the modern era
//	N METHOD MEMBERS          a notification
//	@ hold, block, stick TOOL the tool waits until release or its cancellation; or holds up the changes behind it;
//	                          or minds no cancellation
//	@ slow, panic, fault TOOL the tool takes 900 ms; panics; answers with an error that is our own
//	@ release, sleep DURATION the tools go on; time passes
//	@ many N                  N calls of ready_items, with the ids from 0 on
//	@ asks, status            a task asks a person, and is TASK in later lines; its status
//	@ began                   the names of the tools that began, in order
//	@ close, signal, deaf     the input ends; the context of the server ends; the host closes its output
//	@ part TEXT, pad N LINE   the host writes a text without an end of line; a line that is filled up to N bytes
//	@ log TEXT                asserts that the log has the text
//
// Any other line stands as it is. Below each is what the host hears, in alphabetical order; FORM is the id of a form that it
// was shown. Package wire tests all that can be wrong with a message.
func TestLinesAreAnsweredAsTheFileSays(t *testing.T) {
	text, err := os.ReadFile("testdata/lines.txt")
	require.NoError(t, err)
	var got []string
	for session := range strings.SplitSeq(strings.TrimSpace(string(text)), "\n\n") {
		synctest.Test(t, func(t *testing.T) {
			s := &lineSession{t: t, gates: map[string]string{}, release: make(chan struct{}), names: map[string]string{}}
			got = append(got, s.play(session))
		})
	}
	golden.Equal(t, "lines.txt", strings.Join(got, "\n"))
}

// A lineSession is a session of testdata/lines.txt.
type lineSession struct {
	t *testing.T
	h *harness
	*rawClient
	heard   logBuffer
	seen    int               // bytes of heard
	gates   map[string]string // what tools do, by their names
	release chan struct{}
	mu      sync.Mutex // guards began
	began   []string
	names   map[string]string // TASK and FORM
	got     strings.Builder
	left    bool // the session has ended what it says, or hears
}

func (s *lineSession) play(session string) string {
	methods := map[string]func(startFunc) startFunc{}
	for _, m := range schema.Methods {
		methods[m.Name] = s.gate(m.Name)
	}
	s.h, s.rawClient = connectRaw(s.t, setup{methods: methods})
	go func() { _, _ = io.Copy(&s.heard, s.out) }() // ends with the server
	for line := range strings.SplitSeq(session, "\n") {
		if strings.HasPrefix(line, "<") || strings.HasPrefix(line, "=") {
			continue
		}
		fmt.Fprintln(&s.got, line)
		s.step(line)
		s.hear()
	}
	if !s.left {
		s.send(inModern(`"alive"`, "tools/list", ""))
		synctest.Wait()
		require.Contains(s.t, s.heard.String()[s.seen:], `"alive"`)
		s.seen = len(s.heard.String())
	}
	s.leave()
	if n := s.tally.Stats().Responses; n > 0 {
		fmt.Fprintln(&s.got, "= responses", n)
	}
	return s.got.String()
}

// gate has a tool do what the session says.
func (s *lineSession) gate(name string) func(startFunc) startFunc {
	return func(start startFunc) startFunc {
		return func(ctx context.Context, params []byte, done func(api.Answer)) {
			s.mu.Lock()
			s.began = append(s.began, name)
			s.mu.Unlock()
			switch gate := s.gates[name]; gate {
			case "":
				start(ctx, params, done)
			case "block":
				<-s.release
				start(ctx, params, done)
			case "slow":
				time.Sleep(900 * time.Millisecond)
				start(ctx, params, done)
			case "panic":
				panic(name + " broke")
			case "fault":
				done(api.Answer{Err: schema.NewError(schema.Internal, "something broke"), Cause: errGone})
			default:
				params = bytes.Clone(params)
				go func() { // ends with the tool
					ended := ctx.Done()
					if gate == "stick" {
						ended = nil
					}
					select {
					case <-s.release:
						start(context.WithoutCancel(ctx), params, done)
					case <-ended:
						if errors.Is(context.Cause(ctx), api.ErrHurry) {
							start(context.WithoutCancel(ctx), params, done)
							return
						}
						done(api.Answer{Err: schema.NewError(schema.Cancelled, "the request was cancelled")})
					}
				}()
			}
		}
	}
}

func (s *lineSession) step(line string) {
	for name, value := range s.names {
		line = strings.ReplaceAll(line, name, value)
	}
	part := append(strings.SplitN(line, " ", 4), "", "", "")
	switch part[0] {
	case "#":
	case "N":
		s.send(note(part[1], strings.Join(part[2:], " ")))
	case "L":
		s.send(inLegacy(part[1], part[2], part[3]))
	case "M":
		s.send(inModern(part[1], part[2], part[3]))
	case "l":
		s.send(inLegacy(part[1], "tools/call", tool(part[2], part[3])))
	case "m":
		s.send(inModern(part[1], "tools/call", tool(part[2], part[3])))
	case "@":
		word, rest, _ := strings.Cut(line[2:], " ")
		s.command(word, rest)
	default:
		s.send(line)
	}
	synctest.Wait()
}

func (s *lineSession) command(word, rest string) {
	switch word {
	case "hold", "block", "stick", "slow", "panic", "fault":
		s.gates[rest] = word
	case "release":
		close(s.release)
	case "sleep":
		d, err := time.ParseDuration(rest)
		require.NoError(s.t, err)
		time.Sleep(d)
	case "asks":
		s.names["TASK"] = s.h.taskThatAsks("oak or elm?")
	case "status":
		fmt.Fprintln(&s.got, "=", s.h.status(s.names["TASK"]))
	case "began":
		fmt.Fprintln(&s.got, "=", strings.Join(s.began, ", "))
	case "many":
		for i := range number(s.t, rest) {
			s.send(readyItems(fmt.Sprint(i)))
		}
	case "close":
		s.left = true
		require.NoError(s.t, s.in.Close())
	case "signal":
		s.left = true
		s.stop()
	case "deaf":
		s.left = true
		require.NoError(s.t, s.out.Close())
	case "part":
		_, err := io.WriteString(s.in, rest)
		require.NoError(s.t, err)
	case "pad":
		line := inModern("1", "tools/list", "")
		s.send(line[:len(line)-1] + strings.Repeat(" ", number(s.t, rest)-len(line)) + "}")
	case "log":
		require.Contains(s.t, s.h.log.String(), rest)
	default:
		require.Fail(s.t, "no such command", word)
	}
}

func number(t *testing.T, text string) (n int) {
	t.Helper()
	_, err := fmt.Sscan(text, &n)
	require.NoError(t, err)
	return n
}

// leave waits for the end of the server, and lets the tools end that were left behind.
func (s *lineSession) leave() {
	began := time.Now()
	_ = s.in.Close() // it may be closed already
	require.Zero(s.t, <-s.exit)
	s.hear()
	if took := time.Since(began); took > 0 {
		fmt.Fprintln(&s.got, "= exit, which took", took)
	}
	select {
	case <-s.release:
	default:
		close(s.release)
	}
	synctest.Wait()
}

// hear writes down what the host has heard since the last step.
func (s *lineSession) hear() {
	synctest.Wait()
	all := s.heard.String()
	var lines []string
	for line := range strings.Lines(all[s.seen:]) {
		if a := parse(s.t, line); a.Method == "elicitation/create" {
			s.names["FORM"] = string(a.ID)
		}
		lines = append(lines, s.told(line))
	}
	s.seen = len(all)
	if len(lines) > 10 {
		alike := map[string]int{}
		for _, line := range lines {
			_, what, _ := strings.Cut(line, " ")
			alike[what]++
		}
		lines = nil
		for what, n := range alike {
			lines = append(lines, fmt.Sprint(n, " times ", what))
		}
	}
	slices.Sort(lines)
	for _, line := range lines {
		fmt.Fprintln(&s.got, "<", line)
	}
}

// told is brief with what an error or a notification says.
func (s *lineSession) told(line string) string {
	a, short := parse(s.t, line), brief(s.t, line)
	switch {
	case a.Method != "":
		var p struct {
			RequestID json.RawMessage `json:"requestId"`
			Meta      struct {
				ID json.RawMessage `json:"io.modelcontextprotocol/subscriptionId"`
			} `json:"_meta"`
		}
		require.NoError(s.t, json.Unmarshal(a.Params, &p))
		if form := string(p.RequestID); form != "" {
			require.Equal(s.t, s.names["FORM"], form)
		}
		return strings.TrimSpace(a.Method + " " + string(p.Meta.ID))
	case a.Error != nil:
		require.Contains(s.t, s.h.log.String(), a.Error.Data.Incident)
		require.Equal(s.t, a.Error.Data.Code == "INTERNAL", a.Error.Data.Incident != "")
		return strings.TrimSuffix(short+": "+a.Error.Message+"; "+a.Error.Data.Hint, "; ")
	case a.Result.IsError:
		return fmt.Sprintf("%s error %s", a.ID, a.Result.Content[0].Text)
	case a.Result.SupportedVersions != nil:
		return fmt.Sprint(short, " ", a.Result.SupportedVersions)
	}
	return short
}
