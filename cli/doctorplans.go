package cli

import (
	"context"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"waybill/doctor"
	"waybill/ledger"
	"waybill/watcher"
)

// planFacts reads the plans of the workspace.
func (a *app) planFacts() doctor.Plans {
	p, err := a.openPlans()
	if err != nil {
		return doctor.Plans{Looked: true, Err: err}
	}
	defer p.close()
	paths, err := p.List()
	facts := doctor.Plans{Looked: true, Err: err}
	for _, path := range paths {
		facts.Plans = append(facts.Plans, p.fact(path))
	}
	return facts
}

func (p openPlans) fact(path string) doctor.Plan {
	plan, err := p.Read(path)
	if err != nil {
		return doctor.Plan{Path: path, Err: err}
	}
	fact := doctor.Plan{Path: path, Items: plan.Reading.Len(), Err: plan.Fault}
	for _, d := range plan.Reading.Diagnostics {
		switch d.Severity {
		case ledger.SeverityError:
			fact.Errors++
		case ledger.SeverityWarning:
			fact.Warnings++
		case ledger.SeverityInfo:
			continue
		}
		if fact.First == "" {
			fact.First = "line " + strconv.Itoa(d.Line) + ": " + d.Message
		}
	}
	return fact
}

// watchingFacts has the system watch the workspace for a moment.
func (a *app) watchingFacts(ctx context.Context, root string) doctor.Watching {
	poll := a.settings.Plans != nil && a.settings.Plans.Poll != nil && *a.settings.Plans.Poll
	w := watcher.New(watcher.Options{ForcePolling: poll, Root: root, Logger: a.logger(a.Err)})
	facts := doctor.Watching{Looked: true, Native: nativeWatch(), Mode: doctor.Known(watcher.Polling)}
	facts.Watches, facts.Limits = systemLimit("max_user_watches")
	facts.Instances, _ = systemLimit("max_user_instances")
	if err := w.Add(root); err != nil {
		facts.Reason = err.Error()
		return facts
	}
	ctx, cancel := context.WithTimeout(ctx, connectPeriod)
	defer cancel()
	var running sync.WaitGroup
	running.Go(func() { _ = w.Run(ctx) }) // ends with ctx
	select {
	case <-w.Connected():
		st := w.Status()
		facts.Mode, facts.Reason = doctor.Known(st.Mode), st.Reason
	case <-ctx.Done():
		facts.Reason = "the watcher did not come up within " + connectPeriod.Round(time.Second).String()
	}
	cancel()
	running.Wait()
	if poll {
		facts.Reason = ""
	}
	return facts
}

// nativeWatch is the mode in which the system tells of changes.
func nativeWatch() doctor.Known {
	switch runtime.GOOS {
	case "linux", "android":
		return doctor.Known(watcher.Inotify)
	case "windows":
		return doctor.Known(watcher.Windows)
	}
	return doctor.Known(watcher.Kqueue)
}

// systemLimit gives a limit of inotify, where there is one.
func systemLimit(name string) (n int, there bool) {
	text, err := os.ReadFile("/proc/sys/fs/inotify/" + name)
	if err != nil {
		return 0, false
	}
	n, err = strconv.Atoi(strings.TrimSpace(string(text)))
	return n, err == nil
}
