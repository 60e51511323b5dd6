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
func TestFramesGiveWhatWasAppended(t *testing.T) {
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

// bodies reads frames without faults until the end.
func bodies(t *testing.T, frames *wire.Frames) (all []string) {
	t.Helper()
	for {
		f, err := frames.Next()
		if err != nil {
			require.ErrorIs(t, err, io.EOF)
			return all
		}
		require.Nil(t, f.Fault)
		all = append(all, string(f.Body))
	}
}

// The framing is told before the first message, and only once.
func TestFramesTellTheFraming(t *testing.T) {
	for stream, want := range map[string]wire.Framing{
		"{}\n{}\n":                            wire.Lines,
		" \r\n\t[]\n":                         wire.Lines,
		"\xef\xbb\xbfcontent-length: 2\n\n{}": wire.Headers,
		"nonsense\n":                          wire.Lines,
		"Content-Length: 2\r\n\r\n{}Content-Length: 1\n\n7": wire.Headers,
	} {
		var told []wire.Framing
		frames := wire.NewFrames(strings.NewReader(stream), 100, wire.Auto, func(f wire.Framing) { told = append(told, f) })
		require.NotEmpty(t, bodies(t, frames), "%q", stream)
		require.Equal(t, []wire.Framing{want}, told, "%q", stream)
	}
}

// A message over the limit costs one fault, not its memory and not the stream.
func TestFramesSkipWhatIsTooLarge(t *testing.T) {
	const size = 64 << 20
	for framing, head := range map[wire.Framing]string{wire.Lines: "", wire.Headers: "Content-Length: 67108864\r\n\r\n"} {
		next := string(framing.Append(nil, []byte(`{}`)))
		if framing == wire.Lines {
			next = "\n" + next
		}
		endless := io.LimitReader(repeated('x'), size)
		frames := wire.NewFrames(io.MultiReader(strings.NewReader(head), endless, strings.NewReader(next)), 100, framing, func(wire.Framing) {})
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		f, err := frames.Next()
		runtime.ReadMemStats(&after)
		require.NoError(t, err)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(1<<20))
		require.EqualValues(t, "MESSAGE_TOO_LARGE", f.Fault.Data.Code)
		require.Equal(t, []string{`{}`}, bodies(t, frames))
	}
}

// repeated is an endless stream of one byte.
type repeated byte

func (r repeated) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(r)
	}
	return len(p), nil
}

// A body that turns out to be none may have been measured wrongly: the next header is looked for in it.
func TestFramesFindTheNextHeaderAfterALoss(t *testing.T) {
	frames := wire.NewFrames(strings.NewReader("Content-Length: 2\r\n\r\n{\"a\":1}Content-Length: 4\r\n\r\nnull"), 100, wire.Auto, func(wire.Framing) {})
	f, err := frames.Next()
	require.NoError(t, err)
	require.Equal(t, `{"`, string(f.Body))
	frames.Lose()
	require.Equal(t, []string{"null"}, bodies(t, frames))
}
