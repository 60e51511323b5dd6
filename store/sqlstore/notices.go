package sqlstore

import (
	"bytes"

	"waybill/core"
	"waybill/store"
)

const (
	noticeColumns = "position, id, kind, session, subject, text, data, created_at, deliveries, sum"
	noticeValues  = "?, ?, ?, ?, ?, ?, ?, ?, ?, ?"
	selectNotice  = "SELECT " + noticeColumns + " FROM notices WHERE notices.workspace = :w AND id = ?"
	selectNotices = "SELECT " + noticeColumns + " FROM notices WHERE notices.workspace = :w AND position > ?"
	noticesAbout  = "SELECT " + noticeColumns + " FROM notices WHERE notices.workspace = :w AND subject = ? ORDER BY position"
	insertNotice  = "INSERT INTO notices (workspace, " + noticeColumns + ") VALUES (:w, " + noticeValues + ")"
	updateNotice  = "UPDATE notices SET (" + noticeColumns + ") = (" + noticeValues + ") WHERE notices.workspace = :w AND id = ?"

	answerColumns = "key, fingerprint, result, at, sum"
	selectAnswer  = "SELECT " + answerColumns + " FROM answers WHERE answers.workspace = :w AND key = ?"
	selectAnswers = "SELECT " + answerColumns + " FROM answers WHERE answers.workspace = :w AND key > ? ORDER BY key" + limited
	insertAnswer  = "INSERT INTO answers (workspace, " + answerColumns + ") VALUES (:w, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"
)

// takeNotice takes noticeColumns and checks them against their sum.
func takeNotice(r *Row, buf *encoder) (n store.Notice, err error) {
	n.Position, n.ID, n.Kind = r.Integer(), r.Text(), core.NoticeKind(r.Text())
	n.Session, n.Subject, n.Text, n.Data = r.Text(), r.Text(), r.Text(), r.Text()
	n.CreatedAt, n.Deliveries = core.Instant(r.Integer()), int(r.Integer())
	sum := r.blob()
	*buf = buf.notice(n)
	if r.err != nil || !bytes.Equal(sum, buf.sum()) {
		return n, Damaged("notice " + n.ID)
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

func (t *Tx) PutNotice(n store.Notice) error {
	return t.put(func() error {
		if n.Position < 1 {
			return refuse("put notice %s: position %d is below 1", n.ID, n.Position)
		}
		args := noticeArgs(n, &t.buf)
		changed, err := t.c.Try(updateNotice, append(args, n.ID)...)
		if err == nil && changed == 0 {
			_, err = t.c.Try(insertNotice, args...)
		}
		if t.c.Refused(err) {
			return refuse("put notice %s: position %d is taken: %v", n.ID, n.Position, err)
		}
		if err == nil {
			t.writes++
		}
		return err
	})
}

func (t *Tx) Notice(id string) (n store.Notice, ok bool, err error) {
	err = t.get(func() error {
		return t.c.Query(func(r *Row) error {
			n, err = takeNotice(r, &t.buf)
			ok = err == nil
			return err
		}, selectNotice, id)
	})
	return n, ok, err
}

func (t *Tx) Notices(session string, after int64, limit int) (page []store.Notice, err error) {
	text, args := selectNotices, []any{after}
	if session != "" {
		text, args = text+" AND session = ?", append(args, session)
	}
	err = t.get(func() error {
		return t.c.Query(func(r *Row) error {
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

func (t *Tx) NoticesAbout(subject string) (found []store.Notice, err error) {
	err = t.get(func() error {
		return t.c.Query(func(r *Row) error {
			n, err := takeNotice(r, &t.buf)
			if err != nil {
				return t.leaveOut(err)
			}
			found = append(found, n)
			return nil
		}, noticesAbout, subject)
	})
	if err != nil {
		return nil, err
	}
	return found, nil
}

func (t *Tx) CountNotices() (n int, err error) {
	err = t.get(func() error {
		count, err := Number(t.c, "SELECT count(*) FROM notices WHERE notices.workspace = :w")
		n = int(count)
		return err
	})
	return n, err
}

func (t *Tx) ConsumeNotice(id string) (ok bool, err error) {
	err = t.put(func() error {
		n, err := t.c.Exec("DELETE FROM notices WHERE notices.workspace = :w AND id = ?", id)
		if ok = n > 0; ok {
			t.writes++
		}
		return err
	})
	return ok, err
}

// takeAnswer takes answerColumns and checks them against their sum.
func takeAnswer(r *Row, buf *encoder) (a store.Answer, err error) {
	a.Key, a.Fingerprint, a.Result, a.At = r.Text(), r.Text(), r.Text(), core.Instant(r.Integer())
	sum := r.blob()
	*buf = buf.answer(a)
	if r.err != nil || !bytes.Equal(sum, buf.sum()) {
		return a, Damaged("the answer for the key " + a.Key)
	}
	return a, nil
}

func (t *Tx) Answered(key string) (a store.Answer, ok bool, err error) {
	err = t.get(func() error {
		return t.c.Query(func(r *Row) error {
			a, err = takeAnswer(r, &t.buf)
			ok = err == nil
			return err
		}, selectAnswer, key)
	})
	return a, ok, err
}

func (t *Tx) PutAnswer(a store.Answer) error {
	return t.put(func() error {
		t.buf = t.buf.answer(a)
		n, err := t.c.Exec(insertAnswer, a.Key, a.Fingerprint, a.Result, int64(a.At), t.buf.sum())
		t.writes += int(n)
		return err
	})
}

func (t *Tx) Answers(after string, limit int) (page []store.Answer, err error) {
	err = t.get(func() error {
		return t.c.Query(func(r *Row) error {
			a, err := takeAnswer(r, &t.buf)
			page = append(page, a)
			return err
		}, selectAnswers, after, int64(max(limit, 0)))
	})
	if err != nil {
		return nil, err
	}
	return page, nil
}
