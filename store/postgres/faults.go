package postgres

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"

	"github.com/jackc/pgx/v5/pgconn"

	"waybill/store"
	"waybill/store/sqlstore"
)

// fault makes a *store.Error.
func fault(kind store.Kind, cause error, format string, args ...any) *store.Error {
	return &store.Error{Kind: kind, Message: fmt.Sprintf(format, args...), Err: cause}
}

// fault turns an error of the server or the system into a *store.Error with the outcome NotApplied. It returns a
// *store.Error unchanged.
func (s *Store) fault(err error) *store.Error {
	if already, ok := errors.AsType[*store.Error](err); ok {
		return already
	}
	if row, ok := errors.AsType[sqlstore.Damaged](err); ok {
		return fault(store.Corrupt, nil, "%v: the rest of the store in %s goes on; put a copy back, or begin a new workspace", row, s.place)
	}
	if answer, ok := errors.AsType[*pgconn.PgError](err); ok {
		return s.answered(answer)
	}
	if errors.Is(err, context.Canceled) {
		return sqlstore.GaveUp(context.Canceled)
	}
	if errors.Is(err, context.DeadlineExceeded) || pgconn.Timeout(err) {
		return fault(store.IO, nil, "%s did not answer in time: check the server and the network, and try again", s.place)
	}
	return fault(store.IO, plain(err), "%s cannot be reached: check the server and the network, and try again", s.place)
}

// plain returns the cause of an error without the connection settings that pgconn adds, and without the wrapper that
// causes a retry.
func plain(err error) error {
	if t, ok := errors.AsType[*trouble](err); ok {
		err = t.cause
	}
	if connecting, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		return distinct(errors.Unwrap(connecting))
	}
	return err
}

// distinct returns the causes that an error joins, each text once. A connection is tried with and without encryption, and
// both tries often fail alike. Of a single cause, the address is left out, because the message names it.
func distinct(err error) error {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return err
	}
	var different []error
	for _, cause := range joined.Unwrap() {
		known := func(other error) bool { return other.Error() == cause.Error() }
		if !slices.ContainsFunc(different, known) {
			different = append(different, cause)
		}
	}
	if dialling, ok := errors.AsType[*net.OpError](different[0]); ok && len(different) == 1 {
		return dialling.Err
	}
	return errors.Join(different...)
}

// answered returns the error for what the server answered.
func (s *Store) answered(answer *pgconn.PgError) *store.Error {
	said := fmt.Errorf("%s (SQLSTATE %s)", answer.Message, answer.Code)
	switch answer.Code {
	case "53100":
		return fault(store.Full, said, "no space is left on the server of %s: free some and try again", s.place)
	case readOnly:
		return s.onStandby(said)
	case "55P03":
		return fault(store.Busy, said, "another process has a lock in %s: try again", s.place)
	case "40001", "40P01":
		return fault(store.Busy, said, "others changed %s at the same moment, again and again: try again", s.place)
	case "53300":
		return fault(store.Busy, said, "the server of %s has no connection left: try again, or raise max_connections", s.place)
	case "3D000":
		return fault(store.Unsafe, said, "there is no such database: make it with createdb, or name another one")
	case "42501":
		return fault(store.Unsafe, said, "the user may not do that in %s: GRANT CREATE ON DATABASE makes a schema possible, and the schema waybill and its tables belong to who made them", s.place)
	case "42P01", "3F000":
		return fault(store.Lost, said, "the tables of the store in %s are gone: restart", s.place)
	case "57014":
		return fault(store.IO, said, "%s took too long: try again", s.place)
	case "57P03":
		return fault(store.IO, said, "the server of %s is starting, recovering or ending: try again", s.place)
	case "XX001", "XX002":
		return fault(store.Corrupt, said, "%s is damaged, and the server says so: restore it from a backup", s.place)
	}
	if answer.Code[:2] == "28" {
		return fault(store.Unsafe, said, "%s lets this user not in: check the name, the password and pg_hba.conf", s.place)
	}
	return fault(store.IO, said, "%s could not do what it was asked: check the log of the server", s.place)
}

// The errors of a standby that is asked to write.
const (
	readOnly      = "25006"
	notInRecovery = "0A000" // to BEGIN READ WRITE; to anything else it means something else
)

// begun returns the error of a script that began a transaction with beginWrite.
func (s *Store) begun(err error) error {
	if answer, ok := errors.AsType[*pgconn.PgError](err); ok && answer.Code == notInRecovery {
		return s.onStandby(answer)
	}
	return err
}

// fromStandby reports whether a standby refused to change something, as begun has it.
func fromStandby(err error) bool {
	code := codeOf(err)
	return code == readOnly || code == notInRecovery
}

// codeOf returns the SQLSTATE of what the server answered, or "".
func codeOf(err error) string {
	if answer, ok := errors.AsType[*pgconn.PgError](err); ok && len(answer.Code) == 5 {
		return answer.Code
	}
	return ""
}

func isKind(err error, kind store.Kind) bool {
	e, ok := errors.AsType[*store.Error](err)
	return ok && e.Kind == kind
}
