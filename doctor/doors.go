package doctor

import "path/filepath"

func doorChecks() []Check {
	return []Check{
		{Name: "doors", Part: TheDoors, Looks: "endpoint files (http.json) and whether their servers run", judge: doors},
		{Name: "leftovers", Part: TheDoors, Looks: "temporary files that waybill no longer needs, and texts saved while waybill changed an item", judge: leftovers},
	}
}

func doors(f *Facts, c *chart) {
	here := 0
	for _, d := range f.Doors {
		switch {
		case d.Opaque:
			c.warn("remove it, if nothing else needs it", "%s is not what waybill writes", d.Path)
		case !d.living():
			c.warn(mendIt, "%s names process %d, which is gone", filepath.Base(d.Path), d.PID)
		case !d.Answers:
			c.warn("end that process if it hangs", "process %d is there and does not answer at the address in %s", d.PID, filepath.Base(d.Path))
		case !d.Shared:
			here++
		}
	}
	switch {
	case here > 0:
		c.ok("%s answered", many(here, "server"))
	case len(c.found) == 0:
		c.ok("no server with HTTP runs")
	}
}

func leftovers(f *Facts, c *chart) {
	var bytes int64
	for _, left := range f.Litter {
		bytes += left.Bytes
	}
	if n := len(f.Litter); n > 0 {
		c.warn(mendIt, "%s with %s, such as %s", many(n, "file"), many(bytes, "byte"), f.Litter[0].Path)
	}
	for _, path := range f.Plans.Saved {
		c.warn("compare it with the plan, copy what the plan lacks, and remove it", "%s has a text that was saved while waybill changed an item", path)
	}
	if len(c.found) == 0 {
		c.ok("there is none")
	}
}
