package cli

import (
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/cli/output"
	"waybill/cli/program"
	"waybill/web"
)

// Without a page to show there is no ui command.
func TestNoPageNoCommand(t *testing.T) {
	for _, page := range [][]web.File{nil, {{Path: "/"}}} {
		a := &program.App{Printer: output.Printer{Env: func(string) string { return "" }}, Page: page}
		found, _, err := newRoot(a, nil).Find([]string{"ui"})
		require.Equal(t, page != nil, err == nil && found.Name() == "ui")
	}
}
