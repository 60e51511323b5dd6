package sqlite

import (
	"errors"

	"waybill/store"
	"waybill/store/sqlstore"
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

// verified records the findings of a check of the contents.
func (e *examination) verified(check string, found []store.Damage) {
	if len(found) == 0 {
		e.find(check, LevelOK, "", "everything is what was written")
		return
	}
	for _, d := range found[:min(len(found), maxDamaged)] {
		e.find(check, LevelFail, salvageFix, "%s: %s", d.What, d.Detail)
	}
	if more := len(found) - maxDamaged; more > 0 {
		e.find(check, LevelFail, salvageFix, "and %d more", more)
	}
}

// compareRecord reports events that are missing although another process saw them.
func (e *examination) compareRecord(c *conn) error {
	known := e.record().newest // before the head, which runs ahead of it
	h, err := sqlstore.ReadHead(c)
	if _, damaged := errors.AsType[sqlstore.Damaged](err); damaged {
		return nil // the check of the event log reports it
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
