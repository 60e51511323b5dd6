package sqlite

import (
	"bytes"

	"waybill/core"
	"waybill/store"
)

const (
	noticeColumns = "position, id, kind, session, subject, text, data, created_at, deliveries, sum"
	noticeValues  = "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
	selectNotice  = "SELECT " + noticeColumns + " FROM notices WHERE id = ?"
	selectNotices = "SELECT " + noticeColumns + " FROM notices WHERE position > ?"
	insertNotice  = "INSERT INTO notices (" + noticeColumns + ") VALUES " + noticeValues
	updateNotice  = "UPDATE notices SET (" + noticeColumns + ") = " + noticeValues + " WHERE id = ?"

	answerColumns = "key, fingerprint, result, at, sum"
	selectAnswer  = "SELECT " + answerColumns + " FROM answers WHERE key = ?"
	insertAnswer  = "INSERT INTO answers (" + answerColumns + ") VALUES (?, ?, ?, ?, ?) ON CONFLICT (key) DO NOTHING"
)

// takeNotice takes noticeColumns and checks them against their sum.
func takeNotice(r *row, buf *encoder) (n store.Notice, err error) {
	n.Position, n.ID, n.Kind = r.integer(), r.text(), core.NoticeKind(r.text())
	n.Session, n.Subject, n.Text, n.Data = r.text(), r.text(), r.text(), r.text()
	n.CreatedAt, n.Deliveries = core.Instant(r.integer()), int(r.integer())
	sum := r.blob()
	*buf = buf.notice(n)
	if r.err != nil || !bytes.Equal(sum, buf.sum()) {
		return n, damaged("notice " + n.ID)
	}
	return n, nil
}

func noticeArgs(n store.Notice, buf *encoder) []any {
	*buf = buf.notice(n)
	return []any{
		n.Position, n.ID, string(n.Kind), n.Session, n.Subject, n.Text, n.Data,
		int64(n.CreatedAt), int64(n.Deliveries), buf.sum(),
	}
}

func (t *tx) PutNotice(n store.Notice) error {
	return t.put(func() error {
		args := noticeArgs(n, &t.buf)
		changed, err := t.c.exec(updateNotice, append(args, n.ID)...)
		if err == nil && changed == 0 {
			_, err = t.c.exec(insertNotice, args...)
		}
		if refused(err) {
			return refuse("put notice %s: position %d is taken or below 1: %v", n.ID, n.Position, err)
		}
		if err == nil {
			t.writes++
		}
		return err
	})
}

func (t *tx) Notice(id string) (n store.Notice, ok bool, err error) {
	err = t.get(func() error {
		return t.c.query(func(r *row) error {
			n, err = takeNotice(r, &t.buf)
			ok = err == nil
			return err
		}, selectNotice, id)
	})
	return n, ok, err
}

func (t *tx) Notices(session string, after int64, limit int) (page []store.Notice, err error) {
	text, args := selectNotices, []any{after}
	if session != "" {
		text, args = text+" AND session = ?", append(args, session)
	}
	err = t.get(func() error {
		return t.c.query(func(r *row) error {
			n, err := takeNotice(r, &t.buf)
			page = append(page, n)
			return err
		}, text+" ORDER BY position"+limited, append(args, int64(max(limit, 0)))...)
	})
	if err != nil {
		return nil, err
	}
	return page, nil
}

func (t *tx) CountNotices() (n int, err error) {
	err = t.get(func() error {
		count, err := t.c.number("SELECT count(*) FROM notices")
		n = int(count)
		return err
	})
	return n, err
}

func (t *tx) ConsumeNotice(id string) (ok bool, err error) {
	err = t.put(func() error {
		n, err := t.c.exec("DELETE FROM notices WHERE id = ?", id)
		if ok = n > 0; ok {
			t.writes++
		}
		return err
	})
	return ok, err
}

// takeAnswer takes answerColumns and checks them against their sum.
func takeAnswer(r *row, buf *encoder) (a store.Answer, err error) {
	a.Key, a.Fingerprint, a.Result, a.At = r.text(), r.text(), r.text(), core.Instant(r.integer())
	sum := r.blob()
	*buf = buf.answer(a)
	if r.err != nil || !bytes.Equal(sum, buf.sum()) {
		return a, damaged("the answer for the key " + a.Key)
	}
	return a, nil
}

func (t *tx) Answered(key string) (a store.Answer, ok bool, err error) {
	err = t.get(func() error {
		return t.c.query(func(r *row) error {
			a, err = takeAnswer(r, &t.buf)
			ok = err == nil
			return err
		}, selectAnswer, key)
	})
	return a, ok, err
}

func (t *tx) PutAnswer(a store.Answer) error {
	return t.put(func() error {
		t.buf = t.buf.answer(a)
		n, err := t.c.exec(insertAnswer, a.Key, a.Fingerprint, a.Result, int64(a.At), t.buf.sum())
		t.writes += int(n)
		return err
	})
}
