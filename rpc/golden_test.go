package rpc_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"waybill/test/golden"

	"github.com/stretchr/testify/require"
)

// The conversations in testdata are lines: "# " is a remark, "> " is what the host sends, "< " is what
// it hears before it sends the next one. They are the same in every framing.
func TestGoldenConversations(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			conversation, err := os.ReadFile(file)
			require.NoError(t, err)
			for _, framing := range bothFramings {
				synctest.Test(t, func(t *testing.T) {
					h := connect(t, newFixture())
					h.framing = framing
					got := replay(h, string(conversation))
					_ = h.end()
					golden.File(t, file, got)
				})
			}
		})
	}
}

// replay holds the conversation again.
func replay(h *host, golden string) string {
	var got strings.Builder
	for line := range strings.Lines(golden) {
		if strings.HasPrefix(line, "< ") {
			continue
		}
		got.WriteString(line)
		if message, ok := strings.CutPrefix(line, "> "); ok {
			h.send(strings.TrimSuffix(message, "\n"))
			for _, answer := range h.received() {
				got.WriteString("< " + answer + "\n")
			}
		}
	}
	return got.String()
}
