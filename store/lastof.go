package store

// LastOf returns the newest event about a subject with a number above after. Without one, ok is false. It is a binary
// search, because a subject may have a long history.
func LastOf(log EventLog, subject string, after int64) (last Event, ok bool, err error) {
	_, newest, err := log.Bounds()
	if err != nil {
		return last, false, err
	}
	last.Seq = after
	for from := after; from < newest; from = last.Seq + (newest-last.Seq)/2 {
		page, err := log.EventsOf(subject, from, 1)
		switch {
		case err != nil:
			return last, false, err
		case len(page) > 0:
			last, ok = page[0], true
		default:
			newest = from // no event follows it
		}
	}
	return last, ok, nil
}
