package wire_test

import (
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"waybill/wire"
)

// What is put into a frame comes out of it, whatever its length and however the bytes arrive.
func TestFramesReturnAppendedMessages(t *testing.T) {
	for _, framing := range []wire.Framing{wire.Lines, wire.Headers} {
		var stream []byte
		var sent []string
		for _, n := range []int{2, 100, 64<<10 - 1, 64 << 10, 64<<10 + 1, 200 << 10, 2} {
			m := `"` + strings.Repeat("x", n-2) + `"`
			sent = append(sent, m)
			stream = framing.Append(stream, []byte(m))
		}
		require.Equal(t, len(stream), len(framing.Append(stream, nil)), "no message needs no frame")
		for name, in := range map[string]io.Reader{
			"at once":      strings.NewReader(string(stream)),
			"in halves":    iotest.HalfReader(strings.NewReader(string(stream))),
			"byte by byte": iotest.OneByteReader(strings.NewReader(string(stream))),
		} {
			require.Equal(t, sent, bodies(t, wire.NewFrames(in, 1<<20, framing, func(wire.Framing) {})), "%v, %s", framing, name)
		}
	}
}

// bodies returns the messages until the end, and the code for a frame with a fault.
func bodies(t *testing.T, frames *wire.Frames) (all []string) {
	t.Helper()
	for {
		f, err := frames.Next()
		switch {
		case err != nil:
			require.ErrorIs(t, err, io.EOF)
			return all
		case f.Fault != nil:
			all = append(all, string(f.Fault.Data.Code))
		default:
			all = append(all, string(f.Body))
		}
	}
}

func framesOf(stream string, limit int, framing wire.Framing) *wire.Frames {
	return wire.NewFrames(strings.NewReader(stream), limit, framing, func(wire.Framing) {})
}

// The framing is told before the first message, and only once.
func TestFramesDetectTheFraming(t *testing.T) {
	for stream, want := range map[string]wire.Framing{
		"{}\n{}\n":                            wire.Lines,
		" \r\n\t[]\n":                         wire.Lines,
		"\xef\xbb\xbfcontent-length: 2\n\n{}": wire.Headers,
		"nonsense\n":                          wire.Lines,
		"{}":                                  wire.Lines,
		"Content-Length: 2\r\n\r\n{}Content-Length: 1\n\n7": wire.Headers,
	} {
		var told []wire.Framing
		frames := wire.NewFrames(strings.NewReader(stream), 100, wire.Auto, func(f wire.Framing) { told = append(told, f) })
		require.NotEmpty(t, bodies(t, frames), "%q", stream)
		require.Equal(t, []wire.Framing{want}, told, "%q", stream)
	}
}

// A frame over the limit costs one fault, not its memory and not the stream.
func TestFramesSkipLargeMessages(t *testing.T) {
	const size = 64 << 20
	for _, row := range []struct {
		framing    wire.Framing
		head, tail string
		want       string
	}{
		{wire.Lines, "", "\n{}\n", "MESSAGE_TOO_LARGE"},
		{wire.Headers, "Content-Length: 67108864\r\n\r\n", "Content-Length: 2\r\n\r\n{}", "MESSAGE_TOO_LARGE"},
		{wire.Headers, "Content-Type: ", "Content-Length: 2\r\n\r\n{}", "FRAMING_ERROR"},
	} {
		endless := io.LimitReader(repeatedByte('x'), size)
		in := io.MultiReader(strings.NewReader(row.head), endless, strings.NewReader(row.tail))
		frames := wire.NewFrames(in, 100, row.framing, func(wire.Framing) {})
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		require.Equal(t, []string{row.want, `{}`}, bodies(t, frames))
		runtime.ReadMemStats(&after)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(1<<20))
	}
}

func TestFramesAcceptMessagesAtTheLimit(t *testing.T) {
	for _, framing := range []wire.Framing{wire.Lines, wire.Headers} {
		var stream []byte
		for _, n := range []int{100, 101, 100_000, 100} {
			stream = framing.Append(stream, []byte(strings.Repeat("x", n)))
		}
		at := strings.Repeat("x", 100)
		require.Equal(t, []string{at, "MESSAGE_TOO_LARGE", "MESSAGE_TOO_LARGE", at}, bodies(t, framesOf(string(stream), 100, framing)))
	}
}

// The host may claim any length. Memory is allocated as bytes arrive.
func TestContentLengthIsNotAllocated(t *testing.T) {
	frames := framesOf("Content-Length: 8388608\r\n\r\n{", 8<<20, wire.Auto)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f, err := frames.Next()
	runtime.ReadMemStats(&after)
	require.NoError(t, err)
	require.EqualValues(t, "FRAMING_ERROR", f.Fault.Data.Code)
	require.Equal(t, 1, f.Partial)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(1<<20))
}

// repeatedByte is an endless stream of one byte.
type repeatedByte byte

func (r repeatedByte) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(r)
	}
	return len(p), nil
}

// The caller refused a body, so its length may be wrong: the next header is searched for.
func TestFramesFindTheNextHeaderAfterResync(t *testing.T) {
	frames := framesOf("Content-Length: 2\r\n\r\n{\"a\":1}Content-Length: 4\r\n\r\nnull", 100, wire.Auto)
	f, err := frames.Next()
	require.NoError(t, err)
	require.Equal(t, `{"`, string(f.Body))
	frames.Resync()
	require.Equal(t, []string{"null"}, bodies(t, frames))
}

// A wrong header costs its own message. The next header is found.
func TestFramesReadHeaders(t *testing.T) {
	const next, wrong = "Content-Length: 4\r\n\r\nnext", "FRAMING_ERROR"
	for name, row := range map[string]struct{ raw, want string }{
		"lower case":               {"content-length: 2\r\n\r\n{}", "{}"},
		"upper case":               {"CONTENT-LENGTH: 2\r\n\r\n{}", "{}"},
		"no space":                 {"Content-Length:2\r\n\r\n{}", "{}"},
		"line feeds only":          {"Content-Length: 2\n\n{}", "{}"},
		"more headers":             {"Content-Type: a/b; charset=utf-8\r\nContent-Length: 2\r\nX: y\r\n\r\n{}", "{}"},
		"twice the same length":    {"Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}", "{}"},
		"lines between frames":     {"\r\n\nContent-Length: 2\r\n\r\n{}\r\n", "{}"},
		"no length":                {"Content-Type: text/plain\r\n\r\n{}", wrong},
		"length 0":                 {"Content-Length: 0\r\n\r\n", wrong},
		"length 0 before a body":   {"Content-Length: 0\r\n\r\n{}", wrong},
		"length -1":                {"Content-Length: -1\r\n\r\n{}", wrong},
		"length in words":          {"Content-Length: two\r\n\r\n{}", wrong},
		"length empty":             {"Content-Length:\r\n\r\n{}", wrong},
		"length above 2^32":        {"Content-Length: 4294967297\r\n\r\n{}", wrong},
		"length above 2^64":        {"Content-Length: 99999999999999999999\r\n\r\n{}", wrong},
		"two lengths":              {"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}", wrong},
		"a line that is no header": {"Content-Length: 2\r\nhello\r\n\r\n{}", wrong},
		"too many headers":         {"Content-Type: " + strings.Repeat("x", 9<<10) + "\r\n{}", wrong},
		"a message in a line":      {`{"a":1}` + "\n", wrong},
	} {
		require.Equal(t, []string{"next", row.want, "next"}, bodies(t, framesOf(next+row.raw+next, 100, wire.Auto)), name)
	}
}

func TestFramesReadLines(t *testing.T) {
	for stream, want := range map[string][]string{
		"\xef\xbb\xbf{}\n":                        {"{}"},
		"\r\n  \n\t\n{}\r\n\r\n[]":                {"{}", "[]"},
		"{\n\"id\":1}\n":                          {"{", `"id":1}`},
		"{}\nContent-Length: 2\r\n\r\n{}\n":       {"{}", "Content-Length: 2", "{}"},
		"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n":        {"PRI * HTTP/2.0", "SM"},
		"{}\n\xef\xbb\xbf{}\n":                    {"{}", "\xef\xbb\xbf{}"},
		"{}" + strings.Repeat(" ", 90) + "\n[]\n": {"{}", "[]"},
	} {
		require.Equal(t, want, bodies(t, framesOf(stream, 100, wire.Lines)), "%q", stream)
	}
}

func TestFramingNames(t *testing.T) {
	for _, f := range []wire.Framing{wire.Auto, wire.Lines, wire.Headers} {
		got, err := wire.ParseFraming(f.String())
		require.NoError(t, err)
		require.Equal(t, f, got)
	}
	_, err := wire.ParseFraming("lines")
	require.EqualError(t, err, `framing "lines": want auto, line or header`)
	require.Equal(t, "framing(9)", wire.Framing(9).String())
}
