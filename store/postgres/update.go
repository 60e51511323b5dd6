package postgres

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"waybill/store"
	"waybill/store/sqlstore"
)

// updating repeats an Update until its outcome is known. A failure before the commit was sent is retried; after a failure
// during the commit it finds out whether the commit happened. The turn is held.
func (s *Store) updating(ctx, within context.Context, before func(c *conn) error, fn func(tx store.Tx) error) error {
	for again := retries(within); ; {
		err := s.update(ctx, within, before, fn)
		if err == nil || !again(err) {
			return s.said(ctx, err)
		}
		s.recent.Forget()
	}
}

// update is one try.
func (s *Store) update(ctx, within context.Context, before func(c *conn) error, fn func(tx store.Tx) error) error {
	c, err := s.take(within)
	if err != nil {
		return err
	}
	defer func() { s.give(c) }()
	commits, err := s.lock(within, c, s.o.lockWait)
	if err != nil {
		return s.elsewhere(c, err)
	}
	defer c.Rollback() // of the statements before; fn's are rolled back by then
	if err := before(c); err != nil {
		return err
	}
	o := s.transaction(ctx, c)
	o.Recent = &s.recent
	t := sqlstore.Begin(o)
	defer t.End(sqlstore.ErrOver) // rolls back after an error and after a panic of fn
	err = fn(sqlstore.Contracts(t))
	switch lost := t.Lost(); {
	case c.broken != nil:
		return c.broken
	case lost != nil:
		return lost
	case err == nil:
		err = t.Incoherent()
	}
	if err != nil {
		return err
	}
	return s.commit(within, c, t, commits)
}

// elsewhere retries a change that met a standby on a new connection, because the same address may lead to the new
// primary by then.
func (s *Store) elsewhere(c *conn, err error) error {
	if !c.used || !fromStandby(err) {
		return err
	}
	c.close()
	s.closeIdle()
	return &trouble{cause: err, again: true}
}

// row names the row of the workspace. One of another name with the same number is in a database that took the place of
// this one.
func (s *Store) row() string {
	return fmt.Sprintf("workspaces WHERE number = %d AND name = '%s'", s.number, s.o.Workspace)
}

const (
	// beginWrite states what the defaults of a server or a user may change.
	beginWrite = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"
	// synced makes the transaction wait for the disk, even if a configuration reload or another client of a pooler turned
	// that off.
	synced = "SELECT length(set_config('synchronous_commit', 'on', true)) WHERE current_setting('synchronous_commit') = 'off'"
)

// A commit is identified by its number and its stamp. In a restored database, or on a server that lagged behind, the
// same number can belong to another commit.
type commit struct {
	number int64
	stamp  string
}

// lock begins a transaction that locks the row of the workspace, and returns the number of its newest commit. If the lock
// cannot be had in time, the error is Busy. Remembered records are forgotten unless that commit is the known one.
func (s *Store) lock(within context.Context, c *conn, patience time.Duration) (commits int64, err error) {
	known, began, asked := s.knownCommits(), time.Now(), s.o.Clock.here()
	answer, err := c.script(within, fmt.Sprintf(beginWrite+"; %s; %s; SET LOCAL lock_timeout = %d; "+
		"SELECT commits, %s, (SELECT max(version) FROM versions), "+
		"(SELECT count(*) FROM stamps AS s WHERE s.workspace = %d AND s.slot = commits %% %d AND s.number = commits AND s.stamp = '%s') FROM %s FOR UPDATE OF workspaces",
		c.settings, synced, patience.Milliseconds(), serverTime, s.number, keptStamps, s.known.stamp, s.row()))
	if waited := time.Since(began); waited > 50*time.Millisecond {
		s.waits.Observe(waited)
	}
	switch {
	case codeOf(err) == "55P03":
		return 0, s.heldUp(within, c, patience)
	case err != nil:
		return 0, s.begun(err)
	case len(answer) != 4:
		return 0, s.gone()
	case answer[2] > int64(s.version):
		newer := s.newerSchema(answer[2])
		s.stop(newer)
		return 0, newer
	}
	commits = answer[0]
	s.o.Clock.heard(answer[1], asked)
	if commits != s.known.number || answer[3] == 0 {
		s.recent.Forget()
	}
	s.learn(commits, known)
	return commits, nil
}

// heldUp returns the error for a wait that took too long, with the name of the process that held the lock.
func (s *Store) heldUp(within context.Context, c *conn, patience time.Duration) error {
	c.Rollback()
	who, err := c.texts(within, fmt.Sprintf(`SELECT 'the server process ' || a.pid || ' (' || concat_ws(', ', nullif(a.application_name, ''),
			host(a.client_addr), a.state) || ') has had it for ' || coalesce(extract(epoch FROM clock_timestamp() - a.xact_start)::bigint::text, 'some') || ' s'
		FROM waybill.workspaces AS w
		JOIN pg_catalog.pg_locks AS l ON l.locktype = 'transactionid' AND l.transactionid = w.xmax AND l.granted
		JOIN pg_catalog.pg_stat_activity AS a ON a.pid = l.pid
		WHERE w.number = %d LIMIT 1`, s.number))
	said := "it is not known who has it"
	if err == nil && len(who) > 0 {
		said = who[0]
	}
	return fault(store.Busy, nil, "another process changes the workspace %s in %s, and has kept us waiting for longer than %v: %s; try again, "+
		"or end it with pg_terminate_backend if it hangs", s.o.Workspace, s.place, patience, said)
}

// commit commits the transaction durably. Its stamp is stored in the same transaction, so that a process that loses the
// connection can find out the outcome. A transaction without a put stores no stamp.
func (s *Store) commit(within context.Context, c *conn, t *sqlstore.Tx, commits int64) error {
	began := time.Now()
	next, written, sent := commit{number: commits + 1, stamp: rand.Text()}, sqlstore.Contracts(t).Writes() > 0, false
	err := t.Commit(func() (err error) {
		sent = true
		if !written {
			_, err = c.script(within, "COMMIT")
			return err
		}
		return s.send(within, c, next)
	})
	switch {
	case err != nil && !sent && c.broken != nil:
		return c.broken
	case err != nil:
		return err
	}
	s.commits.Observe(time.Since(began))
	if written {
		s.known = next
		s.mine(next.number)
		s.tell()
		now, before, _ := t.Newest()
		s.grown(before, now)
	}
	return nil
}

// send sends the commit with its stamp.
func (s *Store) send(within context.Context, c *conn, next commit) error {
	sure, cancel := context.WithTimeout(context.WithoutCancel(within), s.o.callLimit)
	defer cancel()
	_, err := c.script(sure, fmt.Sprintf(`UPDATE workspaces SET commits = %d WHERE number = %d;
		INSERT INTO stamps (workspace, slot, number, stamp) VALUES (%[2]d, %[3]d, %[1]d, '%[4]s')
		ON CONFLICT (workspace, slot) DO UPDATE SET number = excluded.number, stamp = excluded.stamp; COMMIT`,
		next.number, s.number, next.number%keptStamps, next.stamp))
	if err != nil && (c.pg.IsClosed() || strings.HasPrefix(codeOf(err), "08")) { // a pooler may lose its server and keep this connection
		return s.resolve(next, err)
	}
	return err
}

// keptStamps is how many of the newest stamps of a workspace are kept.
const keptStamps = 256

// resolve finds out whether a transaction whose commit was not answered took effect. As long as it may still do so, it
// holds the row of the workspace, which is waited for.
func (s *Store) resolve(sent commit, cause error) error {
	within, cancel := context.WithTimeout(context.Background(), s.o.callLimit)
	defer cancel()
	for again := retries(within); ; {
		found, err := s.stampOf(within, sent.number)
		switch {
		case err == nil && found == sent.stamp:
			return nil
		case fromStandby(err) && again(&trouble{cause: err, again: true}): // it may be about to be promoted
		case err == nil && found == overwritten, err != nil && !again(err):
			return &store.Error{
				Kind: store.IO, Outcome: store.Unknown, Err: plain(cause),
				Message: "the connection to " + s.place + " ended in a commit, and it could not be found out whether it took effect: " +
					"when the server is back, the same idempotency key tells",
			}
		case err == nil:
			return &trouble{cause: cause, again: true}
		}
	}
}

// overwritten takes the place of a stamp that no longer exists.
const overwritten = "?"

// stampOf returns the stamp of a commit, or "" if there is none with that number.
func (s *Store) stampOf(within context.Context, number int64) (stamp string, err error) {
	c, err := s.take(within)
	if err != nil {
		return "", err
	}
	defer s.give(c)
	defer c.Rollback()
	if _, err := s.lock(within, c, s.o.callLimit); err != nil {
		return "", err
	}
	err = c.Query(func(r *sqlstore.Row) error {
		switch of := r.Integer(); {
		case of == number:
			stamp = r.Text()
		case of > number:
			stamp = overwritten
		}
		return r.Err()
	}, "SELECT number, stamp FROM stamps WHERE stamps.workspace = :w AND slot = ?", number%keptStamps)
	return stamp, err
}

// trouble is an error of the server or the connection.
type trouble struct {
	cause error
	again bool // nothing was applied, and another try may succeed
}

func (t *trouble) Error() string { return t.cause.Error() }
func (t *trouble) Unwrap() error { return t.cause }

// clashed reports whether others were in the way of a transaction, and not the server or the connection.
func (t *trouble) clashed() bool {
	code := codeOf(t.cause)
	return code == "40001" || code == "40P01"
}

const (
	maxRetries = 7
	maxClashes = 3 // of them that may be for clashes
	firstWait  = 20 * time.Millisecond
)

// retries returns a function that reports whether to try again after an error, and waits before it does.
func retries(within context.Context) func(err error) bool {
	tries, clashes := 0, 0
	return func(err error) bool {
		t, ok := errors.AsType[*trouble](err)
		if !ok || !t.again || tries >= maxRetries {
			return false
		}
		if t.clashed() {
			clashes++
		}
		if clashes > maxClashes {
			return false
		}
		wait := firstWait << tries
		tries++
		timer := time.NewTimer(wait + jitter(wait))
		defer timer.Stop()
		select {
		case <-timer.C:
			return true
		case <-within.Done():
			return false
		}
	}
}

// jitter returns less than d, so that those who failed together do not try again together.
func jitter(d time.Duration) time.Duration {
	n, err := rand.Int(rand.Reader, big.NewInt(int64(d)))
	if err != nil {
		return 0
	}
	return time.Duration(n.Int64())
}

// worthAnother reports whether a try that ended so, before its commit was sent, may go better the next time.
func worthAnother(c *pgconn.PgConn, err error) bool {
	if code := codeOf(err); code != "" {
		switch code {
		case "40001", "40P01", "57P01", "57P02", "57P03", "53300":
			return true
		}
		return code[:2] == "08"
	}
	return c == nil || c.IsClosed()
}
