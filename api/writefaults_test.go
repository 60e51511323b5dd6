package api_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/api"
	planfile "waybill/plan/file"
	"waybill/schema"
)

// The error says whether the plan was written, and names the file with the saved text.
func TestErrorOfAPlanSaysWhatBecameOfIt(t *testing.T) {
	failed := errors.New("the disk hums")
	for name, row := range map[string]struct {
		err     error
		code    schema.Code
		outcome string
		kept    any
	}{
		"not written":            {&planfile.WriteError{Err: failed}, schema.PlanUnwritable, schema.OutcomeNotApplied, nil},
		"not confirmed":          {&planfile.WriteError{Swapped: true, Err: failed}, schema.PlanUnwritable, schema.OutcomeUnknown, nil},
		"not confirmed and kept": {&planfile.WriteError{Swapped: true, Kept: "a/b.saved", Err: failed}, schema.PlanUnwritable, schema.OutcomeUnknown, "a/b.saved"},
		"leftover":               {&planfile.WriteError{Swapped: true, Left: "b.tmp", Err: failed}, schema.PlanUnwritable, schema.OutcomeApplied, nil},
		"saved before":           {&planfile.ConflictError{}, schema.Conflict, schema.OutcomeNotApplied, nil},
		"saved before and kept":  {&planfile.ConflictError{Kept: "a/b.saved"}, schema.Conflict, schema.OutcomeNotApplied, "a/b.saved"},
		"saved afterwards":       {&planfile.ConflictError{Swapped: true}, schema.Conflict, schema.OutcomeUnknown, nil},
	} {
		t.Run(name, func(t *testing.T) {
			fault := api.Fault(row.err)
			require.Equal(t, row.code, fault.Data.Code)
			require.Equal(t, row.outcome, fault.Data.Outcome)
			require.Equal(t, row.kept, fault.Data.Details["kept"])
			if row.kept != nil {
				require.Contains(t, fault.Message, `kept in "a/b.saved"`)
				require.NotEmpty(t, fault.Data.Hint)
			}
		})
	}
}
