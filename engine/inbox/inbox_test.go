package inbox_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"waybill/engine/inbox"
	"waybill/store"
	"waybill/test/teststore"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A damaged store or a disk that hangs is one entry, and hides no other workspace.
func TestOneDamagedWorkspaceHidesNoOther(t *testing.T) {
	sound := teststore.New(t)
	sources := make([]inbox.Source, 100)
	for i := range sources {
		sources[i] = inbox.Source{Place: inbox.Place{ID: fmt.Sprint(i), Root: fmt.Sprint("/w", i)}, View: sound.View}
	}
	sources[41].View = func(context.Context, func(store.Tx) error) error { return errors.New("it is no database") }
	sources[42].Gone = "it was moved"
	found := inbox.Read(t.Context(), sources)
	require.Len(t, found, 100)
	all := inbox.Merge(found)
	require.Len(t, all.Entries, 1)
	require.Equal(t, inbox.Unreadable, all.Entries[0].Kind)
	require.Equal(t, "/w41", all.Entries[0].Title)
	require.Contains(t, all.Entries[0].Text, "it is no database")
	require.Equal(t, 1, all.Waiting())
	require.Equal(t, []inbox.Place{{ID: "42", Root: "/w42"}}, all.Gone)
}

func TestDiskThatHangsIsNotWaitedForForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answers := make(chan struct{})
		defer close(answers)
		hangs := inbox.Source{Place: inbox.Place{ID: "a"}, View: func(context.Context, func(store.Tx) error) error {
			<-answers
			return nil
		}}
		began := time.Now()
		all := inbox.Merge(inbox.Read(t.Context(), []inbox.Source{hangs}))
		require.Equal(t, inbox.Patience, time.Since(began))
		require.Equal(t, inbox.Unreadable, all.Entries[0].Kind)
		require.Contains(t, all.Entries[0].Text, "its disk did not answer for 3s")
	})
}
