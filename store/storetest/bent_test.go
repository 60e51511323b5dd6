package storetest_test

import (
	"context"

	"waybill/store"
)

type (
	do       = func(context.Context, func(store.Tx) error) error
	sabotage = func(store.Store) store.Store
)

// bent is a store of which some methods are replaced; those that are nil are honest.
type bent struct {
	store.Store
	update, reserved, view do
	verify                 func(context.Context) ([]store.Damage, error)
	status                 func() store.Status
	changed                chan struct{}
	close                  func() error
}

func (b *bent) Update(ctx context.Context, fn func(store.Tx) error) error {
	if b.update == nil {
		return b.Store.Update(ctx, fn)
	}
	return b.update(ctx, fn)
}

func (b *bent) UpdateReserved(ctx context.Context, fn func(store.Tx) error) error {
	if b.reserved == nil {
		return b.Update(ctx, fn)
	}
	return b.reserved(ctx, fn)
}

func (b *bent) View(ctx context.Context, fn func(store.Tx) error) error {
	if b.view == nil {
		return b.Store.View(ctx, fn)
	}
	return b.view(ctx, fn)
}

func (b *bent) Verify(ctx context.Context) ([]store.Damage, error) {
	if b.verify == nil {
		return b.Store.Verify(ctx)
	}
	return b.verify(ctx)
}

func (b *bent) Status(ctx context.Context) store.Status {
	if b.status == nil {
		return b.Store.Status(ctx)
	}
	return b.status()
}

func (b *bent) Changed() <-chan struct{} {
	if b.changed == nil {
		return b.Store.Changed()
	}
	return b.changed
}

func (b *bent) Close() error {
	if b.close == nil {
		return b.Store.Close()
	}
	return b.close()
}

// txs gives a saboteur whose transactions are wrapped.
func txs(wrap func(store.Tx) store.Tx) sabotage {
	return func(s store.Store) store.Store {
		through := func(do do) do {
			return func(ctx context.Context, fn func(store.Tx) error) error {
				return do(ctx, func(tx store.Tx) error { return fn(wrap(tx)) })
			}
		}
		return &bent{Store: s, update: through(s.Update), view: through(s.View)}
	}
}

// updates gives a saboteur that replaces Update.
func updates(update func(s store.Store) do) sabotage {
	return func(s store.Store) store.Store { return &bent{Store: s, update: update(s)} }
}

// saboteurs has, for each law, a store that breaks it.
func saboteurs() map[string]sabotage {
	all := make(map[string]sabotage)
	for _, some := range []map[string]sabotage{
		transactionSaboteurs(), lifeSaboteurs(), eventSaboteurs(), moveSaboteurs(), instructionSaboteurs(), otherSaboteurs(), runSaboteurs(),
		taskSaboteurs(), attemptSaboteurs(),
	} {
		for law, saboteur := range some {
			all[law] = saboteur
		}
	}
	return all
}
