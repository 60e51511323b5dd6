package storetest_test

import (
	"slices"

	"waybill/core"
	"waybill/store"
)

func moveSaboteurs() map[string]sabotage {
	return map[string]sabotage{
		"the root of a log is what was pruned from it": txs(func(tx store.Tx) store.Tx { return rootless{tx} }),
		"a log goes on behind a root":                  txs(func(tx store.Tx) store.Tx { return timelessRoots{tx} }),
		"a log that has had a record takes no root":    txs(func(tx store.Tx) store.Tx { return lenientRoots{tx} }),
		"answers are paged by key":                     txs(func(tx store.Tx) store.Tx { return repeatsAnswers{tx} }),
		"breakers are paged by key, opened or not":     txs(func(tx store.Tx) store.Tx { return openedOnly{tx} }),
	}
}

// rootless forgets the hash of what was pruned.
type rootless struct{ store.Tx }

func (r rootless) Root() (store.Root, error) {
	root, err := r.Tx.Root()
	root.Hash = store.Hash{}
	return root, err
}

type timelessRoots struct{ store.Tx }

func (r timelessRoots) PutRoot(root store.Root) error {
	root.At = 0
	return r.Tx.PutRoot(root)
}

type lenientRoots struct{ store.Tx }

func (r lenientRoots) PutRoot(root store.Root) error {
	_ = r.Tx.PutRoot(root)
	return nil
}

// repeatsAnswers begins a page with the last of the page before.
type repeatsAnswers struct{ store.Tx }

func (r repeatsAnswers) Answers(after string, limit int) ([]store.Answer, error) {
	page, err := r.Tx.Answers(after, limit)
	if last, ok, _ := r.Answered(after); ok {
		page = append([]store.Answer{last}, page...)
	}
	return page[:min(len(page), max(limit, 0))], err
}

type openedOnly struct{ store.Tx }

func (o openedOnly) Breakers(after string, limit int) ([]core.Breaker, error) {
	page, err := o.Tx.Breakers(after, limit)
	return slices.DeleteFunc(page, func(b core.Breaker) bool { return b.Opened == 0 }), err
}
