package doctor

import "path/filepath"

func doorChecks() []Check {
	return []Check{
		{Name: "doors", Part: TheDoors, Looks: "the files that say where servers with a page are, and whether these are there", judge: doors},
		{Name: "leftovers", Part: TheDoors, Looks: "temporary files of waybill that nobody needs any more", judge: leftovers},
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
		c.ok("at the address of %s there is an answer", many(here, "server"))
	case len(c.found) == 0:
		c.ok("no server has a page")
	}
}

func leftovers(f *Facts, c *chart) {
	var bytes int64
	for _, left := range f.Litter {
		bytes += left.Bytes
	}
	if n := len(f.Litter); n > 0 {
		c.warn(mendIt, "%s with %s, such as %s", many(n, "file"), many(bytes, "byte"), f.Litter[0].Path)
		return
	}
	c.ok("there is none")
}
