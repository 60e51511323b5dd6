package doctor

func planChecks() []Check {
	return []Check{
		{Name: "plans", Part: ThePlans, Looks: "whether every plan can be read, its size, and what is odd in it", judge: plans},
		{Name: "watcher", Part: ThePlans, Looks: "how changes of plans are noticed", judge: watcher},
		{Name: "limits", Part: ThePlans, Looks: "how many files the system lets a user watch", judge: limits},
	}
}

func plans(f *Facts, c *chart) {
	p := f.Plans
	if !p.Looked {
		return
	}
	if p.Err != nil {
		c.warn("make what could not be read readable, or name plans by their path", "not everything was searched: %v", p.Err)
	}
	sound, items := 0, 0
	for _, plan := range p.Plans {
		switch {
		case plan.Err != nil:
			c.warn("waybill plan "+plan.Path, "%s cannot be read: %v", plan.Path, plan.Err)
		case plan.Errors+plan.Warnings > 0:
			c.warn("waybill plan "+plan.Path, "%s has %s and %s, such as: %s", plan.Path, many(plan.Errors, "error"), many(plan.Warnings, "warning"), plan.First)
		default:
			sound, items = sound+1, items+plan.Items
		}
	}
	switch {
	case sound > 0:
		c.ok("%s with %s can be read, and nothing in them is odd", many(sound, "plan"), many(items, "item"))
	case len(c.found) == 0:
		c.ok("there is no plan in the workspace")
	}
}

func watcher(f *Facts, c *chart) {
	switch w := f.Watching; {
	case !w.Looked:
	case w.Mode == w.Native:
		c.ok("the system tells of changes (%s)", w.Mode)
	case w.Reason != "":
		c.warn("free or raise what it names, or leave it: plans are looked at every second", "the mode is %s: %s", w.Mode, w.Reason)
	default:
		c.ok("the mode is %s, as it was set", w.Mode)
	}
}

const (
	fewWatches   = 8192
	fewInstances = 128
)

func limits(f *Facts, c *chart) {
	w := f.Watching
	if !w.Limits {
		c.skip("this system has no such limit")
		return
	}
	if w.Watches < fewWatches {
		c.warn("sysctl fs.inotify.max_user_watches=1048576", "a user may watch %d files, which editors use up", w.Watches)
	}
	if w.Instances < fewInstances {
		c.warn("sysctl fs.inotify.max_user_instances=8192", "a user may have %d watchers, which editors use up", w.Instances)
	}
	if len(c.found) == 0 {
		c.ok("a user may watch %d files with %d watchers", w.Watches, w.Instances)
	}
}
