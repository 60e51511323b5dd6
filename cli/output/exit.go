package output

import (
	"errors"

	"waybill/schema"
)

// The exit codes of the terminal commands. `waybill serve --help` lists the codes of serve.
const (
	ExitOK       = 0
	ExitFailed   = 1
	ExitUsage    = 2
	exitNotFound = 3
	ExitConflict = 4
	ExitStore    = 5
	ExitBusy     = 75
)

// usageError is a mistake in how a command was typed.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// UsageError marks an error as a mistake in how a command was typed.
func UsageError(err error) error { return usageError{err} }

func ExitCode(err error) int {
	if _, ok := errors.AsType[usageError](err); ok {
		return ExitUsage
	}
	fault, ok := errors.AsType[*schema.Error](err)
	if !ok {
		return ExitFailed
	}
	switch {
	case fault.Data.Code == schema.StoreBusy, fault.Data.Code == schema.Overloaded:
		return ExitBusy
	case fault.Code == schema.ErrorNumber(schema.InvalidParams), fault.Data.Code == schema.TooLarge, fault.Data.Code == schema.MethodNotFound:
		return ExitUsage
	case fault.Code == schema.ErrorNumber(schema.RunGone), fault.Data.Code == schema.ItemGone, fault.Data.Code == schema.LedgerMissing:
		return exitNotFound
	case fault.Code == schema.ErrorNumber(schema.InvalidState), fault.Code == schema.ErrorNumber(schema.IdempotencyClash), fault.Data.Code == schema.ItemFixed:
		return ExitConflict
	case fault.Code == schema.ErrorNumber(schema.StoreFull), fault.Code == schema.ErrorNumber(schema.StoreIO):
		return ExitStore
	}
	return ExitFailed
}
