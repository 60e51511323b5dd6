package backend

import (
	"waybill/cli/settings"
	"waybill/engine"
	"waybill/engine/workspace"
	"waybill/store/postgres"
)

// planOptions returns how plans are read, and stores the dialect rules with KeepDialects. Plans to watch go to add.
func (b *Backend) planOptions(path string, ws workspace.Workspace, add func(string)) engine.PlanOptions {
	o := b.Dialects.Options(path)
	if b.KeepDialects && b.Dialects.Given && !b.Dialects.Usual {
		if err := b.keep(path, ws); err != nil {
			b.Logger.Warn("the rules of the dialects were not kept for other processes", "err", err)
		} else {
			o = settings.Dialects{}.Options(path)
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.rulesAt = path + settings.DialectsFile
	o.Watch, o.Expect = add, add
	return o
}

// keep stores the rules of this process as the rules of the workspace.
func (b *Backend) keep(path string, ws workspace.Workspace) error {
	if b.Store == "" || postgres.Names(b.Store) {
		if err := ws.EnsureStateDir(); err != nil {
			return err
		}
	}
	return engine.WriteDialects(path+settings.DialectsFile, b.Dialects.Rules)
}
