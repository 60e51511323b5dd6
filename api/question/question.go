// Package question translates questions to a person, what they offer, and the answers to them between the core and the wire.
package question

import (
	"cmp"

	"waybill/api/entity"
	"waybill/core"
	"waybill/core/task"
	"waybill/schema"
	"waybill/store"
)

// Offer returns what a question offers. Every problem is a *task.OfferError.
func Offer(o schema.Offering) (task.Offer, error) {
	options := entity.All(o.Options, func(w schema.Option) task.Option { return task.Option(w) })
	closed, after := false, int64(0)
	if o.AllowText != nil {
		closed = !*o.AllowText
	}
	if o.DefaultAfterMS != nil {
		after = *o.DefaultAfterMS * 1000
	}
	return task.NewOffer(options, closed, o.Default, after)
}

// Offered returns what the present question of a task offers.
func Offered(t task.Task) (w schema.Offered) {
	offer := t.Offer.Terms()
	if len(offer.Options) == 0 {
		return w
	}
	open := !offer.Closed
	w.Options = entity.All(offer.Options, func(o task.Option) schema.Option { return schema.Option(o) })
	w.AllowText, w.Default = &open, offer.Default
	if p, awaiting := t.Phase.(task.Awaiting); awaiting {
		w.DefaultAt = entity.Time(p.DefaultAt)
	}
	return w
}

// Bytes returns the size of what a question offers.
func Bytes(w schema.Offered) (n int) {
	for _, o := range w.Options {
		n += len(o.Label) + len(o.Detail)
	}
	return n + len(w.Default)
}

// Reply returns an answer.
func Reply(r store.Reply) schema.Reply {
	return schema.Reply{
		Number: r.Number, Reply: r.Text, Option: r.Option, ByTime: r.ByTime, Question: r.Question, By: r.By,
		At: entity.Time(r.At), AttemptID: r.AttemptID,
	}
}

// Awaiting returns a task that waits for a person. The wait is never negative, even if the clock was set back.
func Awaiting(t task.Task, now core.Instant) schema.Awaiting {
	since := t.Current.EndedAt()
	return schema.Awaiting{
		TaskID: t.ID, AttemptID: t.Current.ID, Description: entity.Beginning(t.Spec.Description),
		Question: entity.Beginning(cmp.Or(t.Question, t.Output)), Offered: Offered(t), OutputExcerpt: entity.Ending(t.Output),
		Since: entity.Time(since), WaitingMS: max(0, int64(now-since)/1000), ClockSkew: now < since,
	}
}
