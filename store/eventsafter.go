package store

import (
	"slices"

	"waybill/core"
)

// EventsAfter returns at most limit events behind a number, of one subject or of all for "", and of the types or of all
// for none.
func EventsAfter(log EventLog, subject string, after int64, limit int, types []core.EventType) (found []Event, err error) {
	if subject == "" {
		return log.Events(after, limit, types)
	}
	for {
		page, err := log.EventsOf(subject, after, limit)
		if err != nil || len(page) == 0 {
			return found, err
		}
		for _, ev := range page {
			if after = ev.Seq; len(types) == 0 || slices.Contains(types, ev.Type) {
				found = append(found, ev)
			}
			if len(found) == limit {
				return found, nil
			}
		}
	}
}
