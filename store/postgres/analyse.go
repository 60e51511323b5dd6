package postgres

import (
	"context"
	"fmt"
	"time"
)

// A server plans by what it knows of the tables. Of new ones it knows nothing until it analyses them by itself, which takes
// it minutes; until then it takes an index that names the workspace alone for as good as the one that names the row, and
// reads all that the workspace has, for each claim. So each time that the commits of a workspace have doubled, it has the
// tables analysed if the server takes them to be far smaller than that.
const (
	firstAnalysis = 128
	lastAnalysis  = 1 << 16 // the server has looked by itself by then
	// analysisLimit is how long one may take. A thousand rows take milliseconds, and the server reads a sample of more.
	analysisLimit = 30 * time.Second

	// small tells whether the server takes a table that claims read to have fewer rows than that. It knows -1, or 0, of
	// one that was never analysed.
	small = "SELECT count(*) FROM pg_catalog.pg_class WHERE oid IN (to_regclass('waybill.tasks'), to_regclass('waybill.attempts')) AND reltuples < %d"

	analysis = "BEGIN; SET LOCAL lock_timeout = 1000; ANALYZE waybill.tasks, waybill.attempts, waybill.launches, waybill.said, waybill.carried, waybill.replies, " +
		"waybill.dependencies, waybill.instructions, waybill.runs, waybill.facts, waybill.events, waybill.notices, waybill.answers; COMMIT"
)

// grown notes that there are that many commits of the workspace, one of them new. It does not wait.
func (s *Store) grown(commits int64) {
	if commits < firstAnalysis || commits > lastAnalysis || commits&(commits-1) != 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.working.Go(func() { s.analyse(commits / 16) }) // ends with Close, or by its limit
	}
}

// analyse has the tables analysed. Whoever does not own them is told so by the server, and nothing else happens.
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
