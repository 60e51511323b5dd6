package mcp_test

import (
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/mcp"
	"waybill/test/golden"
)

// connectRaw starts a harness with a plan and connects a rawClient, which can send any line.
func connectRaw(t testing.TB, p setup, change ...func(*mcp.Options)) (*harness, *rawClient) {
	t.Helper()
	p.asleep = true // the one that is called runs a server of its own
	h := newHarness(t, p)
	h.plan("tasks.md", "- [ ] 1 Cut the face\n")
	return h, h.connectRaw(change...)
}

// Each session of testdata/lines.txt is a host that writes lines: L and M begin requests of the legacy and the modern era,
// N a notification, ~ what has no answer besides, and any other line stands as it is. Below each is what it was answered.
// Package wire tests all that can be wrong with a message.
func TestLinesAreAnsweredAsTheFileSays(t *testing.T) {
	text, err := os.ReadFile("testdata/lines.txt")
	require.NoError(t, err)
	var got strings.Builder
	for i, session := range strings.Split(string(text), "\n\n") {
		_, c := connectRaw(t, setup{})
		stray := 0
		for line := range strings.SplitSeq(strings.TrimSpace(session), "\n") {
			if strings.HasPrefix(line, "<") {
				continue
			}
			if i > 0 && strings.HasPrefix(line, "#") {
				got.WriteString("\n")
			}
			got.WriteString(line + "\n")
			part := append(strings.SplitN(line, " ", 4), "", "", "")
			switch part[0] {
			case "#":
			case "N":
				c.send(note(part[1], strings.Join(part[2:], " ")))
			case "~":
				stray++
				c.send(line[2:])
			case "L":
				fmt.Fprintln(&got, "<", c.told(inLegacy(part[1], part[2], part[3])))
			case "M":
				fmt.Fprintln(&got, "<", c.told(inModern(part[1], part[2], part[3])))
			default:
				fmt.Fprintln(&got, "<", c.told(line))
			}
		}
		c.requireAlive()
		require.EqualValues(t, stray, c.tally.Stats().Responses)
		require.Empty(t, c.remaining())
	}
	golden.Equal(t, "lines.txt", got.String())
}

// told is ask with what an error says.
func (c *rawClient) told(line string) string {
	c.t.Helper()
	c.send(line)
	text := c.nextAnswer()
	a, short := parse(c.t, text), brief(c.t, text)
	switch {
	case a.Error != nil:
		says, _, _ := strings.Cut(a.Error.Message, " unmarshaling") // what follows names types of the SDK
		return strings.TrimSuffix(short+": "+says+"; "+a.Error.Data.Hint, "; ")
	case a.Result.IsError:
		return fmt.Sprintf("%s error %s", a.ID, a.Result.Content[0].Text)
	case a.Result.SupportedVersions != nil:
		return fmt.Sprint(short, " ", a.Result.SupportedVersions)
	}
	return short
}

// A line may be so long and no longer, and a batch of any length is refused once.
func TestLongLineIsRefused(t *testing.T) {
	_, c := connectRaw(t, setup{}, func(o *mcp.Options) { o.SetMaxMessageBytes(10_000) })
	good := readyItems("1")
	padded := func(n int) string { return good[:len(good)-1] + strings.Repeat(" ", n-len(good)) + "}" }
	require.Equal(t, "1 complete", c.ask(padded(10_000)))
	require.Equal(t, "null -32600 MESSAGE_TOO_LARGE", c.ask(padded(10_001)))
	require.Equal(t, "null -32600 INVALID_BATCH", c.ask("["+strings.Repeat(inLegacy("1", "ping", "")+",", 100)+"1]"))
	c.requireAlive()
	require.Empty(t, c.remaining())
}

// The input may end in the middle of a line: what was whole before is answered, and what is cut off is told.
func TestPartialLineIsDiscarded(t *testing.T) {
	h, c := connectRaw(t, setup{})
	_, err := fmt.Fprintf(c.in, "%s\n%s", inModern("1", "tools/list", ""), `{"jsonrpc":"2.0","id":2,"meth`)
	require.NoError(t, err)
	require.ElementsMatch(t, []string{"1 complete", "null -32700 PARSE_ERROR"}, c.remaining())
	require.Contains(t, h.log.String(), "in the middle of a message")

	_, c = connectRaw(t, setup{})
	_, err = io.WriteString(c.in, inModern("1", "tools/list", ""))
	require.NoError(t, err)
	require.Equal(t, []string{"1 complete"}, c.remaining(), "the last line may lack its end")
}
