package api_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"waybill/store"
)

// The feed may look between the commit of a change and its answer, since something else woke it. Then it
// keeps what is new to itself until the answer has left, and is woken once more. So it does when nobody knows
// whether a commit took place that failed, such as one on a connection that broke.
func TestNotificationDoesNotOvertakeTheAnswerOfItsCall(t *testing.T) {
	for name, fault := range map[string]error{"committed": nil, "nobody knows": errors.New("the connection broke")} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				st := watched{newLasting(), make(chan func() error, 1)}
				h := newHost(t, setup{store: st})
				h.call("queue_instruction", `{"content":"before"}`)
				listening := make(chan *ear, 1)
				st.next <- func() error {
					ear := h.listen() // looks at all that is committed
					require.Equal(t, []string{"1 instruction/available"}, methods(ear.heard()))
					listening <- ear
					return fault
				}
				answer := <-h.begin(t.Context(), "queue_instruction", `{"content":"x"}`)
				require.Equal(t, fault == nil, answer.Err == nil)
				require.Equal(t, []string{"2 instruction/available"}, methods((<-listening).heard()))
			})
		})
	}
}

// A watched store calls a function between the next commit and its answer. An error of it is the update's.
type watched struct {
	*lasting
	next chan func() error // holds one; nobody closes it
}

func (s watched) Update(ctx context.Context, fn func(store.Tx) error) error {
	if err := s.lasting.Update(ctx, fn); err != nil {
		return err
	}
	select {
	case committed := <-s.next:
		return committed()
	default:
		return nil
	}
}
