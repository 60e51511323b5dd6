package sqlstore

import (
	"waybill/store"
)

func (t noticeRecords) PutNotice(n store.Notice) error {
	return t.put(func() error {
		if n.Position < 1 {
			return refuse("put notice %s: position %d is below 1", n.ID, n.Position)
		}
		text, args := noticeRows.replace(n, "id")
		err := t.run(text, args)
		if t.c.Refused(err) {
			return refuse("put notice %s: position %d is taken: %v", n.ID, n.Position, err)
		}
		if err == nil {
			t.writes++
		}
		return err
	})
}

func (t noticeRecords) Notice(id string) (n store.Notice, ok bool, err error) {
	err = t.get(func() error {
		n, ok, err = one(t.c, &noticeRows, " AND id = ?", id)
		return err
	})
	return n, ok, err
}

func (t noticeRecords) Notices(session string, after int64, limit int) (page []store.Notice, err error) {
	where, args := " AND position > ?", []any{after}
	if session != "" {
		where, args = where+" AND session = ?", append(args, session)
	}
	err = t.get(func() error {
		page, err = every(t.c, &noticeRows, where+" ORDER BY position"+limited, append(args, int64(max(limit, 0)))...)
		return err
	})
	return page, err
}

func (t noticeRecords) NoticesAbout(subject string) (found []store.Notice, err error) {
	err = t.get(func() error {
		found, err = sound(t.Tx, &noticeRows, " AND subject = ? ORDER BY position", subject)
		return err
	})
	return found, err
}

func (t noticeRecords) CountNotices() (n int, err error) {
	err = t.get(func() error {
		count, err := Number(t.c, "SELECT count(*) FROM notices WHERE notices.workspace = :w")
		n = int(count)
		return err
	})
	return n, err
}

func (t noticeRecords) ConsumeNotice(id string) (ok bool, err error) {
	err = t.put(func() error {
		n, err := t.c.Exec("DELETE FROM notices WHERE notices.workspace = :w AND id = ?", id)
		if ok = n > 0; ok {
			t.writes++
		}
		return err
	})
	return ok, err
}

func (t answerRecords) Answered(key string) (a store.Answer, ok bool, err error) {
	err = t.get(func() error {
		a, ok, err = one(t.c, &answerRows, " AND key = ?", key)
		return err
	})
	return a, ok, err
}

func (t answerRecords) PutAnswer(a store.Answer) error {
	return t.put(func() error {
		text, args := answerRows.insert(a)
		n, err := t.c.Exec(text+" ON CONFLICT DO NOTHING", args...)
		t.writes += int(n)
		return err
	})
}

func (t answerRecords) Answers(after string, limit int) (page []store.Answer, err error) {
	err = t.get(func() error {
		page, err = every(t.c, &answerRows, " AND key > ? ORDER BY key"+limited, after, int64(max(limit, 0)))
		return err
	})
	return page, err
}
