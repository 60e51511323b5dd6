package hook

import (
	"context"
	"errors"
	"fmt"
	"time"

	"waybill/cli/gate"
	"waybill/cli/hook/dialect"
)

// A runner acts on one event, within the time of the host.
type runner struct {
	*hook
	agent *gate.Handler
	times times
}

// answer acts on the event within the time of ctx, and writes the answer. It takes back the sends of an answer that the host
// does not take, also if the work ends only after the answer had to be written.
func (r *runner) answer(ctx context.Context, act func(context.Context) (dialect.Answer, error)) error {
	type result struct {
		answer dialect.Answer
		err    error
	}
	acted := make(chan result, 1)
	go func() { // ends after what ctx bounds, or with the process
		var got result
		got.err = gate.Guard(func() (err error) {
			got.answer, err = act(ctx)
			return err
		})
		if got.err != nil {
			got.err = errors.Join(got.err, gate.Guard(func() error {
				_ = r.agent.Report(ctx, got.err)
				return nil
			}))
		}
		acted <- got
	}()
	var got result
	select {
	case got = <-acted:
	case <-time.After(time.Until(r.times.answer)):
		_, err := r.write(r.agent.In.Event, dialect.Answer{})
		select {
		case <-acted:
			r.finish(false)
		case <-time.After(time.Until(r.times.undo)): // the work goes on, so nothing here may be read
		}
		return errors.Join(fmt.Errorf("gave up on %s: %w", r.agent.In.Name, gate.ErrLate), err)
	}
	if got.err != nil {
		got.answer = dialect.Answer{}
	}
	handedOver, err := r.write(r.agent.In.Event, got.answer)
	r.finish(handedOver && got.err == nil)
	return errors.Join(got.err, err)
}

// finish takes back the sends of an answer that was not handed over, and closes the store so that all of it is written.
func (r *runner) finish(handedOver bool) {
	if !handedOver {
		r.agent.Undo()
	}
	r.agent.Store.Close(time.Until(r.times.end))
}

// write writes the answer to an event.
func (h *hook) write(ev dialect.Event, a dialect.Answer) (handedOver bool, err error) {
	var text []byte
	err = gate.Guard(func() (err error) {
		text, err = h.host.Write(ev, a)
		return err
	})
	if err == nil && len(text) > 0 {
		if _, err = h.Out.Write(text); err != nil {
			err = fmt.Errorf("the host did not take the answer, so nothing counts as sent: %w", err)
		}
	}
	return err == nil, err
}
