package postgres

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"waybill/store"
	"waybill/store/sqlstore"
	"waybill/store/sqlstore/spelling"
)

// conn is one connection to the database, used by one goroutine at a time.
type conn struct {
	s        *Store
	pg       *pgconn.PgConn
	ctx      context.Context    // of the transaction at work, which has a deadline
	used     bool               // a call before has had it
	pooled   bool               // something between us and the server deals out its connections by transactions
	settings string             // the statements before every transaction
	names    map[string]*prompt // statements by their text
	broken   error              // the first trouble of the transaction at work that may be gone at the next try
}

// A prompt is a statement as the server knows it.
type prompt struct {
	text string
	name string // "" where it was not prepared
}

// closeLimit is the time for a server to end a connection. The connection ends afterwards in any case.
const closeLimit = time.Second

// close ends the connection and waits until the server has ended it too. A connection whose call was cancelled is
// already being closed, which may take longer: see over.
func (c *conn) close() {
	if c.pg.IsClosed() {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeLimit)
	defer cancel()
	if at, ok := ctx.Deadline(); ok && c.pg.Conn().SetDeadline(at) == nil {
		c.pg.Frontend().Send(&pgproto3.Terminate{})
		if c.pg.Frontend().Flush() == nil {
			_, _ = io.Copy(io.Discard, c.pg.Conn()) // ends when the server does, or in time
		}
	}
	_ = c.pg.Close(ctx)
}

// over returns a channel that is closed when a closed connection has no resources left.
func (c *conn) over() <-chan struct{} { return c.pg.CleanupDone() }

// beginView begins a transaction that reads one moment.
func (c *conn) beginView(within context.Context) error {
	found, err := c.script(within, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; "+c.settings+
		"; SELECT (SELECT count(*) FROM "+c.s.row()+"), pg_is_in_recovery()::int")
	switch {
	case err != nil:
		return err
	case found[0] > 0:
		return nil
	case found[1] == 1:
		return &trouble{again: true, cause: fault(store.IO, nil, "%s is that of a standby, which has not got the workspace %s yet: try again",
			c.s.place, c.s.o.Workspace)}
	}
	return c.s.gone()
}

// script runs statements in one round trip and returns the integers of the last rows. The context within bounds them.
func (c *conn) script(within context.Context, text string) (answer []int64, err error) {
	c.ctx, c.broken = within, nil
	results, err := c.pg.Exec(within, text).ReadAll()
	if err != nil {
		return nil, c.told(err)
	}
	for _, result := range results {
		for _, row := range result.Rows {
			if answer, err = integers(row); err != nil {
				return nil, err
			}
		}
	}
	return answer, nil
}

// texts runs a statement and returns the first column of its rows.
func (c *conn) texts(within context.Context, text string) (all []string, err error) {
	results, err := c.pg.Exec(within, text).ReadAll()
	if err != nil {
		return nil, c.told(err)
	}
	for _, result := range results {
		for _, row := range result.Rows {
			all = append(all, string(row[0]))
		}
	}
	return all, nil
}

func integers(row [][]byte) (all []int64, err error) {
	for _, text := range row {
		n, err := strconv.ParseInt(string(text), 10, 64)
		if err != nil {
			return nil, fmt.Errorf("read what the server answered: %w", err)
		}
		all = append(all, n)
	}
	return all, nil
}

// told notes trouble with the connection or the server.
func (c *conn) told(err error) error {
	t := &trouble{cause: err, again: worthAnother(c.pg, err)}
	if t.again && c.broken == nil {
		c.broken = t
	}
	return t
}

// statement returns the prepared form of text. On a direct connection the statement stays prepared, because planning
// costs more than executing. Behind a transaction pooler another client would get the prepared statement.
func (c *conn) statement(text string) (*prompt, error) {
	if p, ok := c.names[text]; ok {
		return p, nil
	}
	p := &prompt{text: spelling.Shared(text)}
	if !c.pooled {
		name := "w" + strconv.Itoa(len(c.names))
		if _, err := c.pg.Prepare(c.ctx, name, p.text, nil); err != nil {
			return nil, c.told(err)
		}
		p.name = name
	}
	c.names[text] = p
	return p, nil
}

// Exec runs a statement that returns no rows.
func (c *conn) Exec(text string, args ...any) (changed int64, err error) {
	p, err := c.statement(text)
	if err != nil {
		return 0, err
	}
	result := c.send(p, args).Read()
	if result.Err != nil {
		return 0, c.told(result.Err)
	}
	return result.CommandTag.RowsAffected(), nil
}

// Try runs a statement that the schema may refuse. An insertion yields to an existing row at no cost; callers have checked
// the other constraints before. Other statements run within a savepoint in the same round trip, because a refused statement
// would otherwise end the transaction.
func (c *conn) Try(text string, args ...any) (changed int64, err error) {
	if strings.HasPrefix(text, "INSERT") && !strings.Contains(text, "ON CONFLICT") {
		changed, err = c.Exec(text+" ON CONFLICT DO NOTHING", args...)
		if err == nil && changed == 0 {
			err = refused{errors.New("there is such a row")}
		}
		return changed, err
	}
	return c.saved(text, args)
}

// A refused is the error of a statement that broke a rule of the tables, and changed nothing.
type refused struct{ error }

// saved runs a statement within a savepoint.
func (c *conn) saved(text string, args []any) (changed int64, err error) {
	p, err := c.statement(text)
	if err != nil {
		return 0, err
	}
	var batch pgconn.Batch
	values, formats := c.encoded(args)
	batch.ExecParams("SAVEPOINT try", nil, nil, nil, nil)
	if p.name != "" {
		batch.ExecPrepared(p.name, values, formats, binaryFormat)
	} else {
		batch.ExecParams(p.text, values, nil, formats, binaryFormat)
	}
	batch.ExecParams("RELEASE try", nil, nil, nil, nil)
	results, err := c.pg.ExecBatch(c.ctx, &batch).ReadAll()
	if err == nil {
		return results[1].CommandTag.RowsAffected(), nil
	}
	if !breaksRule(err) {
		return 0, c.told(err)
	}
	if _, undone := c.pg.Exec(c.ctx, "ROLLBACK TO try; RELEASE try").ReadAll(); undone != nil {
		return 0, c.told(undone)
	}
	return 0, refused{err}
}

// Query runs a statement and returns its rows when all of them have come, so that each may use the connection.
func (c *conn) Query(each func(r *sqlstore.Row) error, text string, args ...any) error {
	p, err := c.statement(text)
	if err != nil {
		return err
	}
	result := c.send(p, args).Read()
	if result.Err != nil {
		return c.told(result.Err)
	}
	r := sqlstore.NewRow(len(result.FieldDescriptions))
	for _, values := range result.Rows {
		into := r.Refill()
		for i, value := range values {
			if into[i], err = decoded(result.FieldDescriptions[i], value); err != nil {
				return err
			}
		}
		if err := each(r); err != nil {
			return err
		}
	}
	return nil
}

func (c *conn) send(p *prompt, args []any) *pgconn.ResultReader {
	values, formats := c.encoded(args)
	if p.name != "" {
		return c.pg.ExecPrepared(c.ctx, p.name, values, formats, binaryFormat)
	}
	return c.pg.ExecParams(c.ctx, p.text, values, nil, formats, binaryFormat)
}

// binaryFormat requests results and sends arguments in the binary format of the server.
var binaryFormat = []int16{pgconnBinary}

const pgconnBinary = 1

// encoded writes the number of the workspace and the arguments behind it.
func (c *conn) encoded(args []any) (values [][]byte, formats []int16) {
	values = append(make([][]byte, 0, len(args)+1), bigint(c.s.number))
	for _, arg := range args {
		switch v := arg.(type) {
		case int64:
			values = append(values, bigint(v))
		case string:
			values = append(values, []byte(v))
		case []byte:
			values = append(values, v)
		default:
			values = append(values, nil)
		}
	}
	return values, binaryFormat
}

func bigint(n int64) []byte { return binary.BigEndian.AppendUint64(nil, uint64(n)) }

// The types of our columns.
const (
	oidBytea  = 17
	oidBigint = 20
)

// decoded returns a value as package sqlstore stores it. Texts from outside are stored as bytea, so only checksums and
// hashes stay bytes.
func decoded(field pgconn.FieldDescription, value []byte) (any, error) {
	switch {
	case value == nil:
		return nil, nil
	case field.DataTypeOID == oidBigint && len(value) == 8:
		return int64(binary.BigEndian.Uint64(value)), nil
	case field.DataTypeOID == oidBigint:
		return nil, fmt.Errorf("the column %s has %d bytes for an integer", field.Name, len(value))
	case field.DataTypeOID == oidBytea && (field.Name == "sum" || field.Name == "hash" || field.Name == "base"):
		return append([]byte(nil), value...), nil
	}
	return string(value), nil
}

// Refused reports whether Try said so.
func (c *conn) Refused(err error) bool {
	_, ok := errors.AsType[refused](err)
	return ok
}

// breaksRule reports whether a statement broke a constraint, or named with a text what no text can be.
func breaksRule(err error) bool {
	answer, ok := errors.AsType[*pgconn.PgError](err)
	return ok && (answer.Code[:2] == "23" || answer.Code == "22021" || answer.Code == "54000")
}

// Fault turns an error into a *store.Error.
func (c *conn) Fault(err error) *store.Error { return c.s.fault(err) }

// Rollback rolls the transaction back. If that fails, the connection is not used again.
func (c *conn) Rollback() {
	if c.pg.IsClosed() || c.pg.TxStatus() == 'I' {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), c.s.o.lockWait)
	defer cancel()
	if _, err := c.pg.Exec(ctx, "ROLLBACK").ReadAll(); err != nil {
		c.close()
	}
}

// Streams is false: all rows of a query come before the first is given.
func (c *conn) Streams() bool { return false }
