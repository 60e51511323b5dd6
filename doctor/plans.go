package doctor

func planChecks() []Check {
	return []Check{
		{Name: "plans", Part: ThePlans, Looks: "whether every plan is readable, its size and its diagnostics", judge: plans},
		{Name: "watcher", Part: ThePlans, Looks: "how waybill notices changed plans", judge: watcher},
		{Name: "limits", Part: ThePlans, Looks: "how many files the system allows you to watch", judge: limits},
	}
}

func plans(f *Facts, c *chart) {
	p := f.Plans
	if !p.Looked {
		return
	}
	if p.Err != nil {
		c.warn("make the folder readable, or name plans by their path", "some folders could not be searched: %v", p.Err)
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
		c.ok("%s with %s: readable, without diagnostics", many(sound, "plan"), many(items, "item"))
	case len(c.found) == 0:
		c.ok("there is no plan in the workspace")
	}
}

func watcher(f *Facts, c *chart) {
	switch w := f.Watching; {
	case !w.Looked:
	case w.Mode == w.Native:
		c.ok("the system reports changes (%s)", w.Mode)
	case w.Reason != "":
		c.warn("raise the limit that the message names; until then waybill reads plans every second", "the mode is %s: %s", w.Mode, w.Reason)
	default:
		c.ok("the mode is %s, from the settings", w.Mode)
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
		c.warn("sysctl fs.inotify.max_user_watches=1048576", "a user may watch %d files, and editors share that limit", w.Watches)
	}
	if w.Instances < fewInstances {
		c.warn("sysctl fs.inotify.max_user_instances=8192", "a user may have %d watchers, and editors share that limit", w.Instances)
	}
	if len(c.found) == 0 {
		c.ok("a user may watch %d files with %d watchers", w.Watches, w.Instances)
	}
}
