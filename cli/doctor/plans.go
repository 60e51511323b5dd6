package doctor

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"waybill/cli/backend"
	"waybill/cli/planfiles"
	"waybill/doctor"
	"waybill/plan"
	planfile "waybill/plan/file"
	"waybill/watcher"
)

// planFacts reads the plans of the workspace, and those of running runs.
func (a commands) planFacts(running []string) doctor.Plans {
	p, err := planfiles.Open(a.App)
	if err != nil {
		return doctor.Plans{Looked: true, Err: err}
	}
	defer p.Close()
	paths, err := p.List()
	facts := doctor.Plans{Looked: true, Err: err}
	paths = append(paths, running...)
	slices.Sort(paths)
	paths = slices.Compact(paths)
	for _, path := range paths {
		facts.Plans = append(facts.Plans, planFact(p, path))
	}
	facts.Saved = savedTexts(p.Workspace.Root, paths)
	return facts
}

// savedTexts returns the paths of the files next to plans with texts that were saved while waybill wrote.
func savedTexts(root string, plans []string) (saved []string) {
	if real, err := filepath.EvalSymlinks(root); err == nil {
		root = real
	}
	dirs := map[string]bool{root: true} // even if the plan itself was removed
	for _, name := range plans {
		real, err := filepath.EvalSymlinks(filepath.Join(root, filepath.FromSlash(name)))
		if err != nil {
			continue
		}
		if info, err := os.Stat(real); err != nil || !info.IsDir() {
			real = filepath.Dir(real)
		}
		dirs[real] = true
	}
	for _, dir := range slices.Sorted(maps.Keys(dirs)) {
		saved = append(saved, planfile.SavedBeside(dir)...)
	}
	return saved
}

func planFact(p planfiles.Plans, path string) doctor.Plan {
	found, err := p.Read(path)
	if err != nil {
		return doctor.Plan{Path: path, Err: err}
	}
	fact := doctor.Plan{Path: path, Items: found.Reading.Len(), Err: found.Fault}
	for _, d := range found.Reading.Diagnostics {
		switch d.Severity {
		case plan.SeverityError:
			fact.Errors++
		case plan.SeverityWarning:
			fact.Warnings++
		case plan.SeverityInfo:
			continue
		}
		if fact.First == "" {
			fact.First = "line " + strconv.Itoa(d.Line) + ": " + d.Message
		}
	}
	return fact
}

// watchingFacts tries the notifications of the system in the workspace for a moment.
func (a commands) watchingFacts(ctx context.Context, root string) doctor.Watching {
	poll := a.Settings.Plans != nil && a.Settings.Plans.Poll != nil && *a.Settings.Plans.Poll
	w := watcher.New(watcher.Options{ForcePolling: poll, Root: root, Logger: a.Logger(a.Err)})
	facts := doctor.Watching{Looked: true, Native: nativeWatch(), Mode: doctor.Known(watcher.Polling)}
	facts.Watches, facts.Limits = systemLimit("max_user_watches")
	facts.Instances, _ = systemLimit("max_user_instances")
	if err := w.Add(root); err != nil {
		facts.Reason = err.Error()
		return facts
	}
	ctx, cancel := context.WithTimeout(ctx, backend.ConnectPeriod)
	defer cancel()
	var running sync.WaitGroup
	running.Go(func() { _ = w.Run(ctx) }) // ends with ctx
	select {
	case <-w.Connected():
		st := w.Status()
		facts.Mode, facts.Reason = doctor.Known(st.Mode), st.Reason
	case <-ctx.Done():
		facts.Reason = "the watcher did not come up within " + backend.ConnectPeriod.Round(time.Second).String()
	}
	cancel()
	running.Wait()
	if poll {
		facts.Reason = ""
	}
	return facts
}

// nativeWatch returns the kind of file notification that the system offers.
func nativeWatch() doctor.Known {
	switch runtime.GOOS {
	case "linux", "android":
		return doctor.Known(watcher.Inotify)
	case "windows":
		return doctor.Known(watcher.Windows)
	}
	return doctor.Known(watcher.Kqueue)
}

// systemLimit returns a limit of inotify, where there is one.
func systemLimit(name string) (n int, there bool) {
	text, err := os.ReadFile("/proc/sys/fs/inotify/" + name)
	if err != nil {
		return 0, false
	}
	n, err = strconv.Atoi(strings.TrimSpace(string(text)))
	return n, err == nil
}
