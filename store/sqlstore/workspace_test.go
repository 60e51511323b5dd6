package sqlstore_test

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/core/task"
	"waybill/store"
	"waybill/store/law"
	"waybill/store/sqlstore"
)

// TestEveryStatementNamesItsWorkspace: a statement that forgets it would read what belongs to others. The law book, the
// verbs of a salvage and the checks of a store run all that there are.
func TestEveryStatementNamesItsWorkspace(t *testing.T) {
	h, file := newHeard(t), empty(t)
	for _, streams := range []bool{true, false} {
		for _, l := range law.All() {
			if l.Reopens || l.Shares || slices.Contains(besides, l.Name) || !streams && !slices.Contains(lists, l.Name) {
				continue
			}
			t.Run(l.Name, func(t *testing.T) {
				s := overhear(t, h, file, streams)
				l.Holds(t, func() store.Store { return s })
			})
		}
		salvage(t, overhear(t, h, file, streams))
	}
	found := readSource(t)
	for _, part := range found.parts {
		if !h.has(part) {
			t.Errorf("nothing here runs the statement with %q", part)
		}
	}
	for _, name := range found.exported {
		if runs, silent := h.functions[name], slices.Contains(silent, name); runs == silent {
			t.Errorf("%s is in the list of what runs no statement: %t; it has run one: %t", name, silent, runs)
		}
	}
}

// salvage runs what the engine never does. Of two tasks, one waits for the other and then says no more what it said.
func salvage(t *testing.T, s *overheard) {
	one, other := waiting("tsk_1", 1), waiting("tsk_2", 2)
	require.NoError(t, s.Update(t.Context(), func(tx store.Tx) error {
		_, err := tx.Append(store.Event{Type: core.TaskCreated, Subject: one.ID, At: 1, Data: "{}"})
		said := one
		said.Output, said.Question, said.Reply, said.Replies = "Done.", "Is it?", "It is.", 1
		return errors.Join(err, tx.PutTask(said), tx.PutAttempt(of(said)), tx.PutTask(one), tx.PutTask(other), tx.PutAttempt(of(other)))
	}))
	require.NoError(t, s.write(t.Context(), func(c *conn, tx *sqlstore.Tx) error {
		kept, ok, err := sqlstore.Contracts(tx).Task(one.ID)
		require.NoError(t, err)
		require.True(t, ok)
		require.Equal(t, [...]string{"", "", ""}, [...]string{kept.Output, kept.Question, kept.Reply})
		added, err := tx.RestoreDependency(one.ID, other.ID)
		require.NoError(t, err)
		require.True(t, added)
		require.NoError(t, tx.SetWaits(kept, 1))
		status, err := sqlstore.TaskStatus(c, one.ID)
		require.NoError(t, err)
		require.Equal(t, task.StatusQueued, status)
		last, _, err := sqlstore.Contracts(tx).Task(other.ID)
		require.NoError(t, err)
		removed, err := tx.RemoveTask(last)
		require.NoError(t, err)
		require.Equal(t, [...]int{1, 1, 1}, [...]int{removed["tasks"], removed["attempts"], removed["dependencies"]})
		return nil
	}))
	require.NoError(t, s.write(t.Context(), func(c *conn, _ *sqlstore.Tx) error {
		h, err := sqlstore.ReadHead(c)
		require.NoError(t, err)
		require.NoError(t, sqlstore.CheckTail(c, h))
		n := 0
		require.NoError(t, sqlstore.EventsBackwards(c, func(_ store.Event, damage error) error {
			n++
			return damage
		}))
		require.Equal(t, 1, n)
		for _, tb := range sqlstore.Tables() {
			require.NoError(t, tb.Scan(t.Context(), c, true, func(_ []any, _ any, damage error) error { return damage }))
		}
		v := sqlstore.Verifier{Conn: c, Ctx: t.Context(), Moment: func(fn func() error) error { return fn() }}
		damage, err := v.Alone(v.Checks()[0])
		require.NoError(t, err)
		require.Empty(t, damage)
		require.True(t, c.Refused(sqlstore.Found(c)), "there is one")
		return nil
	}))
	damage, err := s.Verify(t.Context())
	require.NoError(t, err)
	require.Empty(t, damage)
}

// waiting returns a queued task.
func waiting(id string, position int64) task.Task {
	chain, err := task.NewChain([]task.Model{{Provider: "p", ID: "m"}})
	if err != nil {
		panic(err) // it is one model
	}
	return task.Task{
		ID: id, Position: position, CreatedAt: 1, UpdatedAt: 1,
		Spec: task.Spec{Prompt: "x", Chain: chain, MaxAttempts: 1}, Phase: task.Queued{},
	}
}

// of returns the first attempt of a task.
func of(t task.Task) task.Attempt {
	return task.Attempt{
		ID: "att_" + t.ID, TaskID: t.ID, Number: 1, Cause: task.CauseFirst,
		Model: task.Model{Provider: "p", ID: "m"}, CreatedAt: 1, Phase: task.PendingAttempt{},
	}
}

// besides are laws of what is no matter of rows.
var besides = []string{"status counts the commits", "the signal of changes stays open", "a page of tasks is as long as its limit"}

// lists are the laws that suffice for what is asked otherwise of a connection that does not stream.
var lists = []string{"queries of tasks select by every field"}

// has reports whether a statement with this part was heard.
func (h *heard) has(part string) bool {
	for text := range h.texts {
		if strings.Contains(text, part) {
			return true
		}
	}
	return false
}

// silent are the exported functions that run no statement.
var silent = []string{
	"Begin", "Contracts", "(*Tx).End", "(*Tx).Ended", "(*Tx).Lost", "(*Tx).Incoherent", "(*Tx).Newest", "(*Tx).Pruned", "(*Tx).Expire", "whole.Writes",
	"GaveUp", "(*Recent).Forget", "refusal.Error", "Damaged.Error", "Tables", "TasksTable", "Table.As", "Table.Former",
	"NewRow", "(*Row).Refill", "(*Row).Err", "(*Row).Integer", "(*Row).Text", "(*Verifier).Checks", "(*Verifier).Add",
}

// A source is what this package consists of.
type source struct {
	parts    []string // of statements
	exported []string // functions and methods, as the runtime names them
}

// inStatements finds what only stands in statements.
var inStatements = regexp.MustCompile(`\b(SELECT|INSERT|UPDATE|DELETE|FROM|WHERE|AND|OR|JOIN|ON|ORDER BY|SET|LIMIT|INDEXED|IN)\b`)

func readSource(t *testing.T) (s source) {
	names, err := os.ReadDir(".")
	require.NoError(t, err)
	for _, entry := range names {
		name := entry.Name()
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || name == "statements.go" {
			continue // there, spellings are replaced
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		require.NoError(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				if n.Name.IsExported() {
					s.exported = append(s.exported, nameOf(n))
				}
			case *ast.BasicLit:
				if text, err := strconv.Unquote(n.Value); err == nil && n.Kind == token.STRING && inStatements.MatchString(text) {
					s.parts = append(s.parts, text)
				}
			}
			return true
		})
	}
	return s
}

// nameOf returns the name that the runtime has for a function.
func nameOf(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return f.Name.Name
	}
	switch of := f.Recv.List[0].Type.(type) {
	case *ast.StarExpr:
		return "(*" + of.X.(*ast.Ident).Name + ")." + f.Name.Name
	case *ast.Ident:
		return of.Name + "." + f.Name.Name
	}
	panic("a receiver that is not named")
}
