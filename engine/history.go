package engine

import (
	"encoding/json"
	"fmt"

	"waybill/engine/planfile"
	"waybill/store"
)

// lastLedger gives the newest ledger.changed of a plan behind after, and its number; if there is
// none, the number is after. A plan that is edited for years has a long history, so that its end is
// looked for by halves.
func lastLedger(tx store.Tx, path string, after int64) (last LedgerEvent, seq int64, err error) {
	_, newest, err := tx.Bounds()
	if err != nil {
		return last, after, err
	}
	var ev store.Event // the newest that is known
	ev.Seq = after
	for from := after; from < newest; from = ev.Seq + (newest-ev.Seq)/2 {
		page, err := tx.EventsOf(path, from, 1)
		switch {
		case err != nil:
			return last, after, err
		case len(page) > 0:
			ev = page[0]
		default:
			newest = from // nothing lies behind it
		}
	}
	if ev.Seq == after {
		return last, after, nil
	}
	if err := json.Unmarshal([]byte(ev.Data), &last); err != nil {
		return last, 0, fmt.Errorf("read event %d: %w", ev.Seq, err)
	}
	if last.Gone && last.Stale == "" { // it was written by a version that said no more
		last.Stale, last.StaleReason = StaleRebuild, string(planfile.Missing)
	}
	return last, ev.Seq, nil
}
