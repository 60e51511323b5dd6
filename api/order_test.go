package api_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"waybill/store"
)

// The feed may be woken between a commit and its answer. It then holds new events back until the answer was sent,
// also if the result of the commit is unknown.
func TestNotificationDoesNotOvertakeTheAnswerOfItsCall(t *testing.T) {
	for name, fault := range map[string]error{"committed": nil, "nobody knows": errors.New("the connection broke")} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				st := watched{newSharedStore(t), make(chan func() error, 1)}
				h := newHost(t, setup{store: st})
				h.call("queue_instruction", `{"content":"before"}`)
				listening := make(chan *noteListener, 1)
				st.next <- func() error {
					listener := h.listen() // looks at all that is committed
					require.Equal(t, []string{"1 instruction/available"}, methods(listener.recorded()))
					listening <- listener
					return fault
				}
				answer := <-h.begin(t.Context(), "queue_instruction", `{"content":"x"}`)
				require.Equal(t, fault == nil, answer.Err == nil)
				require.Equal(t, []string{"2 instruction/available"}, methods((<-listening).recorded()))
			})
		})
	}
}

// A watched store calls a function between the next commit and its answer, and returns its error.
type watched struct {
	*sharedStore
	next chan func() error // size 1, never closed
}

func (s watched) Update(ctx context.Context, fn func(store.Tx) error) error {
	if err := s.sharedStore.Update(ctx, fn); err != nil {
		return err
	}
	select {
	case committed := <-s.next:
		return committed()
	default:
		return nil
	}
}
