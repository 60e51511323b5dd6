package doctor

import (
	"strings"
)

func programChecks() []Check {
	return []Check{
		{Name: "version", Part: ThisProgram, Looks: "the version of this waybill and of its Go compiler", judge: version},
		{Name: "engine", Part: ThisProgram, Looks: "the version of the database that is built in", judge: engine, of: inFile},
		{Name: "path", Part: ThisProgram, Looks: "which waybill the shell finds, and whether it is this one", judge: onPath},
		{Name: "environment", Part: ThisProgram, Looks: "environment variables that begin with WAYBILL_", judge: environment},
		{Name: "config", Part: ThisProgram, Looks: "whether a server would start with the settings", judge: config},
	}
}

func version(f *Facts, c *chart) {
	p := f.Program
	c.ok("waybill %s, built with %s for %s/%s", Known(p.Version), Known(p.Go), Known(p.OS), Known(p.Arch))
}

func engine(f *Facts, c *chart) {
	e := f.Store.Engine
	switch {
	case e.Err != nil:
		c.fail("use a waybill that was built with a newer SQLite", "%v", e.Err)
	case e.Version != "":
		c.ok("%s %s", f.Store.Kind, Known(e.Version))
	}
}

func onPath(f *Facts, c *chart) {
	var others []string
	for _, found := range f.Program.OnPath {
		if !found.Same {
			others = append(others, found.Path)
		}
	}
	switch {
	case len(f.Program.OnPath) == 0:
		c.warn("put the folder of waybill into PATH, so that hosts find it by its name", "no folder of PATH has a waybill")
	case len(others) > 0:
		c.warn("remove the others, or put the folder of this one first into PATH",
			"%d of %d programs named waybill in PATH are different ones: %s", len(others), len(f.Program.OnPath), strings.Join(others, ", "))
	default:
		c.ok("%s is this program", f.Program.OnPath[0].Path)
	}
}

func environment(f *Facts, c *chart) {
	var names []string
	for _, v := range f.Program.Variables {
		switch {
		case !v.Known && v.Near != "":
			c.warn("rename it, or unset it", "waybill does not know %s; did you mean %s", v.Name, Known(v.Near))
		case !v.Known:
			c.warn("unset it if nothing else needs it", "waybill does not know %s", v.Name)
		case v.Wrong != "":
			c.warn("correct it, or unset it", "%s %s", Known(v.Name), Known(v.Wrong))
		default:
			names = append(names, v.Name)
		}
	}
	switch {
	case len(names) > 0:
		c.ok("set are %s", Known(strings.Join(names, ", ")))
	case len(c.found) == 0:
		c.ok("none is set")
	}
}

func config(f *Facts, c *chart) {
	switch s := f.Settings; {
	case s.Err != nil:
		c.fail("correct it, or start without a file: --config ''", "%v", s.Err)
	case s.File == "":
		c.ok("there is no file of settings")
	default:
		c.ok("%s", s.File)
	}
}
