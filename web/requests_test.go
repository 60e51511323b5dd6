package web_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"waybill/schema"
	"waybill/test/golden"
)

// Each part of testdata/requests.txt is a server and the requests that it gets, with a body behind the path and headers
// behind bars; one without a value takes the header away. raw is sent as it is. Below each stands what it was answered.
func TestRequestsAreAnsweredAsTheFileSays(t *testing.T) {
	text, err := os.ReadFile("testdata/requests.txt")
	require.NoError(t, err)
	var parts []string
	for part := range strings.SplitSeq(strings.TrimSuffix(string(text), "\n"), "\n\n") {
		synctest.Test(t, func(t *testing.T) { parts = append(parts, answeredPart(t, part)) })
	}
	golden.Equal(t, "requests.txt", strings.Join(parts, "\n\n")+"\n")
}

// answeredPart returns a part of the file with the answers of today.
func answeredPart(t *testing.T, part string) string {
	title, _, _ := strings.Cut(part, "\n")
	p, task := setup{}, "no task"
	if strings.HasSuffix(title, "(page)") {
		p.page = somePage()
	}
	h := newHarness(t, p)
	if strings.HasSuffix(title, "(task)") {
		task = h.taskThatAsks()
	}
	fill := strings.NewReplacer("$host", testAddress, "$task", task, "$token", testToken, "$TOKEN", strings.ToUpper(testToken), "$half", testToken[:63],
		"$fits", strings.Repeat("z", 15<<10), "$long", strings.Repeat("z", 17<<10), "$deep", strings.Repeat(`{"_meta":`, 129),
		"$chunks", strings.Repeat("4000\r\n"+strings.Repeat(" ", 0x4000)+"\r\n", 9), "$reply", strings.Repeat("x", 1+schema.MaxReplyBytes))
	got, with, a := title, "", answer{}
	for line := range strings.SplitSeq(part, "\n") {
		if strings.HasPrefix(line, "  ") || line == title {
			continue
		}
		got += "\n" + line
		verb, rest, _ := strings.Cut(line, " ")
		before := a
		switch verb {
		case "with":
			with = " | " + rest
			continue
		case "raw":
			bytes, err := strconv.Unquote(rest)
			require.NoError(t, err, line)
			a = h.sendRaw(fill.Replace(bytes))
		case "same": // as the request before, and so is the answer
			verb, rest, _ = strings.Cut(rest, " ")
			fallthrough
		default:
			headers := strings.Split(fill.Replace(strings.TrimSuffix(rest+with, " | ")), " | ")
			path, body, _ := strings.Cut(headers[0], " ")
			a = h.ask(verb, path, body, headers[1:]...)
		}
		got += "\n  " + a.told()
		if strings.HasPrefix(line, "same") {
			require.Equal(t, string(before.body), string(a.body), line)
		}
	}
	return strings.ReplaceAll(got, task, "$task")
}

// told says an answer in a line.
func (a answer) told() string {
	a.t.Helper()
	text := fmt.Sprint(a.status)
	if kind := a.header.Get("Content-Type"); a.status == 200 && strings.HasPrefix(kind, "text/html") {
		return text + " " + kind // whose headers TestPageNeedsNoToken compares
	}
	a.requireSecurityHeaders()
	for _, name := range []string{"Allow", "Upgrade", "WWW-Authenticate"} {
		if value := a.header.Get(name); value != "" {
			text += " " + name + "=" + value
		}
	}
	switch {
	case len(a.body) == 0:
		return text
	case a.status != 200:
		o := a.object()
		says, _, _ := strings.Cut(o.str("error.message"), "be read: ") // what follows is said by the library
		return text + " " + o.str("error.data.code") + ": " + says
	}
	if items, ok := a.object().v.(map[string]any)["items"]; ok {
		text += fmt.Sprintf(", %d items", len(items.([]any)))
	}
	return text
}
