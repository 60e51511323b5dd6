package postgres

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// A caller of Changed listens for notifications (see tell.go) on a connection of its own. Notifications are hints: a lost
// connection, a pooler or a dead sender loses them. So the commit count is polled too, and often until hints prove to arrive.
const (
	pollInterval = 100 * time.Millisecond
	busyInterval = 20 * time.Millisecond // plus a random part of the same length, so that many processes do not ask together
	// busyFor is how long after a commit of another process the next one is looked for so often.
	busyFor = 10 * time.Second
	// heardInterval is how often one looks while hints come.
	heardInterval = time.Second
	// awayInterval is how long a server that does not answer is left alone.
	awayInterval = time.Second
	// minLookGap is the shortest time between two queries. Notifications in between lead to one query.
	minLookGap = 10 * time.Millisecond
	// firstCall and longestCall are the first and the longest pause before listening again.
	firstCall   = 100 * time.Millisecond
	longestCall = 30 * time.Second
)

// An ear hears of the commits of other processes. One goroutine has it.
type listener struct {
	s      *Store
	c      *conn         // on which it listens; nil while it does not
	rung   bool          // a commit was told of that was not known
	heard  bool          // hints come: one has since c was made, and no commit was found since that none told of
	away   bool          // the last query failed
	found  time.Time     // when the last commit of another process was found
	again  time.Time     // when to listen again
	paused time.Duration // the last pause before listening again
}

// run listens and looks until ctx ends.
func (e *listener) run(ctx context.Context) {
	defer e.hangUp()
	for {
		rung := e.listen(ctx) || e.wait(ctx)
		if ctx.Err() != nil {
			return
		}
		e.look(ctx, rung)
		if rung && !rest(ctx, minLookGap) {
			return
		}
	}
}

// rest waits for d and reports whether ctx is still active.
func rest(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// listen starts to listen when it is due and reports whether it did, because earlier notifications were missed. It sends
// itself a notification to find out whether they arrive.
func (e *listener) listen(ctx context.Context) bool {
	if e.c != nil || time.Now().Before(e.again) {
		return false
	}
	e.paused = min(max(2*e.paused, firstCall), longestCall)
	e.again = time.Now().Add(e.paused + jitter(e.paused))
	if err := e.callUp(ctx); err != nil {
		e.s.o.Logger.Debug("the store is looked at and not listened to", "place", e.s.place, "err", e.s.fault(err))
		return false
	}
	if e.c == nil {
		return false
	}
	e.s.tell()
	return true
}

// callUp listens on a new connection, unless that is behind a transaction pooler: another client would receive the
// notifications.
func (e *listener) callUp(ctx context.Context) error {
	within, cancel := context.WithTimeout(ctx, e.s.o.lockWait)
	defer cancel()
	config := e.s.config.Copy()
	config.OnNotification = func(_ *pgconn.PgConn, n *pgconn.Notification) { e.hear(n.Payload) }
	e.s.introduce(config)
	c, err := e.s.own(within, config)
	if err != nil {
		return err
	}
	if c.pooled {
		e.s.part(c)
		e.again = time.Now().Add(longestCall)
		return nil
	}
	if _, err := c.script(within, "LISTEN "+e.s.topic()); err != nil {
		e.s.part(c)
		return err
	}
	e.c, e.rung, e.heard = c, false, false
	return nil
}

// hangUp ends the connection.
func (e *listener) hangUp() {
	if e.c != nil {
		e.s.part(e.c)
		e.c, e.heard = nil, false
	}
}

// hear handles a notification, which contains a number of commits. Any user who can connect can send one, so it only
// triggers a query.
func (e *listener) hear(told string) {
	e.heard, e.paused = true, 0
	commits, err := strconv.ParseInt(told, 10, 64)
	e.rung = e.rung || err != nil || commits > e.s.knownCommits()
}

// wait waits until something was told that was not known, which it reports, or it is time to look without.
func (e *listener) wait(ctx context.Context) (rung bool) {
	within, cancel := context.WithTimeout(ctx, e.interval())
	defer cancel()
	if e.c == nil {
		<-within.Done()
		return false
	}
	for !e.rung {
		if err := e.c.pg.WaitForNotification(within); err != nil {
			if within.Err() == nil {
				e.hangUp() // the next query finds missed commits
			}
			return false
		}
	}
	return true
}

// interval returns the longest time until the next look.
func (e *listener) interval() time.Duration {
	d := cmp.Or(e.s.o.lookEvery, e.usualInterval())
	if e.c == nil {
		d = min(d, max(time.Until(e.again), 0))
	}
	return d
}

func (e *listener) usualInterval() time.Duration {
	switch {
	case e.away:
		return awayInterval
	case e.heard:
		return heardInterval + jitter(heardInterval/4)
	case time.Since(e.found) < busyFor:
		return busyInterval + jitter(busyInterval)
	}
	return pollInterval
}

// look reads the commit count of the workspace. A change without a notification proves that notifications get lost.
func (e *listener) look(ctx context.Context, rung bool) {
	within, cancel := context.WithTimeout(ctx, e.s.o.lockWait)
	defer cancel()
	e.rung = false
	news, err := e.ask(within)
	if e.away = err != nil; e.away {
		e.hangUp()
		return
	}
	if news {
		e.found = time.Now()
		e.heard = e.heard && rung
	}
}

// ask reads the commit count and the time of the server, on the listener's connection if there is one.
func (e *listener) ask(within context.Context) (news bool, err error) {
	c := e.c
	if c == nil {
		if c, err = e.s.take(within); err != nil {
			return false, err
		}
		defer e.s.give(c)
	}
	known, asked := e.s.knownCommits(), e.s.o.Clock.here()
	answer, err := c.script(within, fmt.Sprintf("SELECT commits, %s FROM waybill.workspaces WHERE number = %d", serverTime, e.s.number))
	if err != nil || len(answer) == 0 {
		return false, err
	}
	e.s.o.Clock.heard(answer[1], asked)
	return e.s.learn(answer[0], known), nil
}
