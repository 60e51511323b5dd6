package law

import (
	"github.com/stretchr/testify/require"

	"waybill/store"
)

func idsAreFound(t T, s store.Store) {
	ids := func(tx store.Tx, q store.IDQuery) []string {
		q.Limit = 10
		found, err := tx.IDs(q)
		require.NoError(t, err)
		return append([]string{}, found...)
	}
	update(t, s, func(tx store.Tx) {
		for i, id := range []string{"tsk_b%1", "tsk_ab_1", "tsk_aé2", "tsk_b\uD7FF1"} {
			one := newTask(id, int64(i+1))
			one.Spec.Parent = []string{"ses", "ses", "other", ""}[i]
			putTasks(t, tx, one)
		}
		require.NoError(t, tx.PutRun(newRun("run_1", "1")))
		require.NoError(t, tx.PutNotice(notice("ntc_1", 1)))
		require.NoError(t, tx.PutInstruction(plain("ins_1", 1)))
	})
	view(t, s, func(tx store.Tx) {
		task := store.IDQuery{Kind: store.TaskID}
		require.Equal(t, []string{"tsk_ab_1", "tsk_aé2", "tsk_b%1", "tsk_b\uD7FF1"}, ids(tx, task))
		for prefix, want := range map[string][]string{
			"tsk_a": {"tsk_ab_1", "tsk_aé2"}, "tsk_aé": {"tsk_aé2"}, "tsk_b%": {"tsk_b%1"}, "tsk_b\uD7FF": {"tsk_b\uD7FF1"},
			"tsk_B": {}, "tsk__": {}, "tsk_c": {}, "\U0010FFFF": {}, "tsk_ab_1": {"tsk_ab_1"}, "tsk_ab_10": {},
		} {
			require.Equal(t, want, ids(tx, store.IDQuery{Kind: store.TaskID, Prefix: prefix}), prefix)
		}
		for suffix, want := range map[string][]string{
			"_1": {"tsk_ab_1"}, "%1": {"tsk_b%1"}, "é2": {"tsk_aé2"}, "B%1": {}, "longer than any of them": {}, "tsk_aé2": {"tsk_aé2"},
		} {
			require.Equal(t, want, ids(tx, store.IDQuery{Kind: store.TaskID, Suffix: suffix}), suffix)
		}
		require.Equal(t, []string{"tsk_b%1"}, ids(tx, store.IDQuery{Kind: store.TaskID, Prefix: "tsk_b", Suffix: "%1"}))
		require.Equal(t, []string{"other", "ses"}, ids(tx, store.IDQuery{Kind: store.SessionID}))
		require.Equal(t, []string{"run_1"}, ids(tx, store.IDQuery{Kind: store.RunID}))
		require.Equal(t, []string{"ntc_1"}, ids(tx, store.IDQuery{Kind: store.NoticeID}))
		require.Equal(t, []string{"ins_1"}, ids(tx, store.IDQuery{Kind: store.InstructionID}))
		require.Equal(t, []string{"att_tsk_aé2_1"}, ids(tx, store.IDQuery{Kind: store.AttemptID, Suffix: "é2_1"}))
		for limit, want := range map[int]int{0: 0, 1: 1, 3: 3} {
			task.Limit = limit
			found, err := tx.IDs(task)
			require.NoError(t, err)
			require.Len(t, found, want)
		}
		_, err := tx.IDs(store.IDQuery{Limit: 1})
		require.Error(t, err)
	})
}
