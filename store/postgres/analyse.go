package postgres

import (
	"context"
	"fmt"
	"math/bits"
	"time"
)

// The server plans with its statistics of the tables. PostgreSQL knows nothing of new tables until autovacuum analyses
// them, which takes minutes. Until then it may choose an index with the workspace alone, and read all rows of the
// workspace for each claim. Each time the event log of a workspace has doubled, waybill analyses the tables if the server
// takes them to be far smaller than that. Many changes share a commit, so commits would be no measure of rows.
const (
	firstAnalysis = 1 << 7
	lastAnalysis  = 1 << 18 // the server has looked by itself by then
	// analysisLimit is how long one may take. A thousand rows take milliseconds, and the server reads a sample of more.
	analysisLimit = 30 * time.Second

	// small asks whether the server's estimate for a table that claims read is below the given number of rows. The
	// estimate of a table that was never analysed is -1 or 0.
	small = "SELECT count(*) FROM pg_catalog.pg_class WHERE oid IN (to_regclass('waybill.tasks'), to_regclass('waybill.attempts')) AND reltuples < %d"

	analysis = "BEGIN; SET LOCAL lock_timeout = 1000; ANALYZE waybill.tasks, waybill.attempts, waybill.task_specs, waybill.replies, " +
		"waybill.dependencies, waybill.instructions, waybill.runs, waybill.facts, waybill.events, waybill.notices, waybill.answers; COMMIT"
)

// grown notes that the event log ended at a number before a commit, and ends at another one now. It does not wait.
func (s *Store) grown(before, now int64) {
	if now < firstAnalysis || now > lastAnalysis || bits.Len64(uint64(before)) == bits.Len64(uint64(now)) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.working.Go(func() { s.analyse(now / 16) }) // ends with Close, or by its limit
	}
}

// analyse runs ANALYZE on the tables. For a user who does not own them, the server only sends a notice.
func (s *Store) analyse(fewer int64) {
	within, cancel := context.WithTimeout(context.Background(), analysisLimit)
	defer cancel()
	stop := make(chan struct{})
	defer close(stop)
	go func() { // ends with the analysis
		select {
		case <-s.ended:
			cancel()
		case <-stop:
		}
	}()
	c, err := s.take(within)
	if err != nil {
		return
	}
	defer s.give(c)
	found, err := c.script(within, fmt.Sprintf(small, fewer))
	if err == nil && found[0] > 0 {
		_, err = c.script(within, analysis)
	}
	if err != nil {
		c.Rollback()
		s.o.Logger.Debug("the tables were not analysed", "place", s.place, "err", s.fault(err))
	}
}
