package sqlstore

import (
	"waybill/core/run"
)

// WrittenFindings returns what findings are stored as. A row whose sum is right cannot be damaged from the front, so that
// this and the next are inside.
func WrittenFindings(f run.Findings) string { return writtenFindings(f) }

// ReadFindings reads what findings are stored as.
func ReadFindings(stored string) (run.Findings, error) {
	r := Row{values: []any{stored}}
	return r.findings(), r.err
}
