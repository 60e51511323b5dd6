package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5"
)

// A cost is the average database work of one call of a kind.
type cost struct {
	Call, Store      string
	Callers          int
	Statements, Rows *float64 `json:",omitempty"` // nil where they are not counted
	Bytes, Syncs     float64
}

func (c cost) write(b *strings.Builder) {
	counted := func(x *float64) string {
		if x == nil {
			return "not counted"
		}
		return fmt.Sprintf("%.1f", *x)
	}
	fmt.Fprintf(b, "| `%s` | %s | %d | %s | %s | %s | %.2f |\n",
		c.Call, c.Store, c.Callers, counted(c.Statements), counted(c.Rows), short(c.Bytes), c.Syncs)
}

// storeOf returns the store of a place of waybill.
func storeOf(at *place) (string, error) {
	var d desk
	err := json.Unmarshal([]byte(at.address), &d)
	return d.Store, err
}

// A ledger has the counters of a database.
type ledger struct{ statements, rows, bytes, syncs float64 }

// An auditor reads the ledger of a database.
type auditor struct {
	watch *watch
	admin *pgx.Conn // nil of SQLite
	name  string    // of the database
}

func (a *auditor) read(ctx context.Context) (l ledger, err error) {
	syncs, wal, err := a.watch.tally()
	l.syncs, l.bytes = float64(syncs), float64(wal)
	if err != nil || a.admin == nil {
		return l, err
	}
	err = a.admin.QueryRow(ctx, `SELECT coalesce(sum(calls), 0)::float8, coalesce(sum(rows), 0)::float8, pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8
		FROM pg_stat_statements s JOIN pg_database d ON d.oid = s.dbid WHERE d.datname = $1`, a.name).Scan(&l.statements, &l.rows, &l.bytes)
	return l, err
}

func (a *auditor) close(ctx context.Context) error {
	err := endWatch(a.watch)
	if a.admin != nil {
		err = errors.Join(err, a.admin.Close(ctx))
	}
	return err
}

// costs measures the work of each call in the life of tasks and of instructions, for one caller and for many.
func (p scalePlan) costs(ctx context.Context, h *house, c contender) (all []cost, err error) {
	if _, err := exec.LookPath("strace"); err != nil {
		return nil, nil
	}
	for _, callers := range callerCounts {
		some, err := p.costsFor(ctx, h, c, callers)
		if err != nil {
			return nil, fmt.Errorf("the costs of %s: %w", c.name, err)
		}
		all = append(all, some...)
	}
	return all, nil
}

func (p scalePlan) costsFor(ctx context.Context, h *house, c contender, callers int) (all []cost, err error) {
	at, err := c.place(ctx, h)
	if err != nil {
		return nil, err
	}
	a, err := h.audit(ctx, at)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, a.close(ctx)) }()
	q, err := c.join(ctx, at.address)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, q.close()) }()
	if a.watch == nil {
		if a.watch, err = beginWatch(q.pid(), filepath.Join(h.dir, fmt.Sprint(c.key, callers, ".strace"))); err != nil {
			return nil, err
		}
	}
	return p.life(ctx, a, &customer{host: q.(taskQueue).host, callers: callers, n: p.Costs}, c)
}

// audit returns an auditor for a place. For SQLite it counts nothing until the caller sets its watch.
func (h *house) audit(ctx context.Context, at *place) (*auditor, error) {
	store, err := storeOf(at)
	if err != nil || store == "" {
		return &auditor{}, err
	}
	config, err := pgx.ParseConfig(store)
	if err != nil {
		return nil, err
	}
	a := &auditor{name: config.Database}
	if a.admin, err = pgx.Connect(ctx, h.cluster.Admin()); err != nil {
		return nil, err
	}
	for _, sql := range []string{
		"CREATE EXTENSION IF NOT EXISTS pg_stat_statements",
		"ALTER DATABASE " + a.name + " SET pg_stat_statements.track = 'all'",
	} {
		if _, err := a.admin.Exec(ctx, sql); err != nil {
			return nil, errors.Join(err, a.admin.Close(ctx))
		}
	}
	a.watch, err = beginWatch(at.pid, filepath.Join(h.dir, a.name+".strace"))
	return a, err
}

// A customer makes calls of one kind after another.
type customer struct {
	host       *host
	callers, n int
	ids        []string // of tasks or instructions
	tokens     []string
}

// life makes every call n times and returns the costs.
func (p scalePlan) life(ctx context.Context, a *auditor, by *customer, c contender) (all []cost, err error) {
	by.ids, by.tokens = make([]string, by.n), make([]string, by.n)
	for _, kind := range lives {
		before, err := a.read(ctx)
		if err != nil {
			return nil, err
		}
		if err := by.make(ctx, kind); err != nil {
			return nil, err
		}
		after, err := a.read(ctx)
		if err != nil {
			return nil, err
		}
		n := float64(by.n)
		one := cost{Call: kind.method, Store: c.name, Callers: by.callers, Bytes: (after.bytes - before.bytes) / n, Syncs: (after.syncs - before.syncs) / n}
		if a.admin != nil {
			statements, rows := (after.statements-before.statements)/n, (after.rows-before.rows)/n
			one.Statements, one.Rows = &statements, &rows
		}
		all = append(all, one)
	}
	return all, nil
}

// A kind is a method with its params.
type kind struct {
	method string
	params func(by *customer, caller, i int) string
	id     string // the member of the answer that has the id, or ""
}

// lives are the calls in the life of a task and of an instruction, in order.
var lives = []kind{
	{"create_task", func(_ *customer, _, i int) string { return `{"prompt":"` + item(i) + `"}` }, ""},
	{"claim_task", func(*customer, int, int) string { return `{"worker":"w"}` }, "task_id"},
	{"finish_attempt", func(by *customer, _, i int) string {
		return fmt.Sprintf(`{"task_id":%q,"lease_token":%q,"status":"completed","output":"done"}`, by.ids[i], by.tokens[i])
	}, ""},
	{"queue_instruction_with_ack", func(_ *customer, caller, i int) string {
		return fmt.Sprintf(`{"session_id":"s%d","content":"%s"}`, caller, item(i))
	}, ""},
	{"dispatch_instructions", func(_ *customer, caller, _ int) string {
		return fmt.Sprintf(`{"session_id":"s%d","limit":1}`, caller)
	}, "instruction_id"},
	{"acknowledge", func(by *customer, _, i int) string { return fmt.Sprintf(`{"instruction_id":%q}`, by.ids[i]) }, ""},
}

// make makes n calls of a kind.
func (by *customer) make(ctx context.Context, k kind) error {
	errs := make([]error, by.callers)
	var all sync.WaitGroup
	for caller := range by.callers {
		all.Go(func() { // ends after its share of the calls, or when one fails
			for i := caller; i < by.n && errs[caller] == nil; i += by.callers {
				errs[caller] = by.one(ctx, k, caller, i)
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

func (by *customer) one(ctx context.Context, k kind, caller, i int) error {
	answer, err := by.host.call(ctx, k.method, k.params(by, caller, i))
	if err != nil || k.id == "" {
		return err
	}
	by.ids[i], by.tokens[i] = member(answer, k.id), member(answer, "token")
	if by.ids[i] == "" {
		return fmt.Errorf("there was nothing left: %s", answer)
	}
	return nil
}
