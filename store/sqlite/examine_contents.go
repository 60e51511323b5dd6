package sqlite

import (
	"errors"

	"waybill/store"
	"waybill/store/rows"
)

// contents reads everything.
func (e *examination) contents() bool {
	before, err := idOf(e.path)
	if err != nil {
		return e.broken("inode", err)
	}
	at := "structure" // the check at work
	err = e.reader(func(c *conn) error {
		v := verifier(e.ctx, c)
		for _, check := range checks(v, c) {
			at = check.Name
			found, err := v.Alone(check)
			if err != nil {
				return err
			}
			e.verified(check.Name, found)
		}
		at = "lock file"
		return e.compareRecord(c)
	})
	if err != nil {
		return e.broken(at, err)
	}
	if after, err := idOf(e.path); err != nil || after != before {
		return e.find("inode", LevelFail, "restart every process that uses the store", "%s was removed or replaced while it was read", e.path)
	}
	return e.find("inode", LevelOK, "", "the file that was read is the one at that path")
}

// verified notes what a check of the contents has found.
func (e *examination) verified(check string, found []store.Damage) {
	if len(found) == 0 {
		e.find(check, LevelOK, "", "everything is what was written")
		return
	}
	for _, d := range found[:min(len(found), maxSpoilt)] {
		e.find(check, LevelFail, salvageFix, "%s: %s", d.What, d.Detail)
	}
	if more := len(found) - maxSpoilt; more > 0 {
		e.find(check, LevelFail, salvageFix, "and %d more", more)
	}
}

// compareRecord tells whether events are gone that others have seen.
func (e *examination) compareRecord(c *conn) error {
	known := e.record().newest // before the head, which runs ahead of it
	h, err := rows.ReadHead(c)
	if _, spoilt := errors.AsType[rows.Damaged](err); spoilt {
		return nil // the check of the event log has said so
	}
	if err != nil {
		return err
	}
	if known > h.Newest {
		e.find("lock file", LevelWarn, "look for the -wal file, or for a newer copy",
			"the newest %d events are lost: the -wal file was removed, or an older copy was put back", known-h.Newest)
		return nil
	}
	e.find("lock file", LevelOK, "", "no event is missing that it knows of")
	return nil
}
