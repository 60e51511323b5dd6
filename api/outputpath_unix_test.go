//go:build unix

package api_test

import (
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/schema"
)

// A pipe must neither be opened nor block.
func TestResultFromAPipeIsRefused(t *testing.T) {
	h, run, _ := hostWithOutputDir(t)
	for _, dir := range []string{h.dir, h.outputs} {
		path := filepath.Join(dir, "pipe")
		require.NoError(t, syscall.Mkfifo(path, 0o644))
		h.refused(schema.OutputGone, "ingest_output", "%s", fromFile(run, path)).has("not_regular", "data.details.reason")
	}
}
