package doctor

// A Part groups checks. It decides the exit status of the program.
type Part string

// The parts.
const (
	ThisProgram  Part = "program"
	TheWorkspace Part = "workspace"
	TheStore     Part = "store"
	TheDoors     Part = "doors"
	ThePlans     Part = "plans"
	TheWork      Part = "work"
)

// Parts returns all parts, in the order of the table.
func Parts() []Part { return []Part{ThisProgram, TheWorkspace, TheStore, TheDoors, ThePlans, TheWork} }

// A Check is one row of the table.
type Check struct {
	Name  string
	Part  Part
	Looks string // subject, as a sentence without its end
	judge func(f *Facts, c *chart)
	of    keeping
}

// A keeping is a kind of store; zero stands for checks that apply to all.
type keeping int

const (
	inFile keeping = iota + 1
	inDatabase
)

// on reports whether a check applies to the kind of store. Without a store, checks of files apply.
func (k keeping) on(s Store) bool {
	return k == 0 || (k == inDatabase) == (s.Server != nil)
}

// chart collects the findings of one check.
type chart struct {
	name  string
	found []Finding
}

func (c *chart) add(level Level, fix, format string, args ...any) {
	c.found = append(c.found, Find(c.name, level, fix, format, args...))
}

func (c *chart) ok(format string, args ...any)        { c.add(OK, "", format, args...) }
func (c *chart) warn(fix, format string, args ...any) { c.add(Warn, fix, format, args...) }
func (c *chart) fail(fix, format string, args ...any) { c.add(Fail, fix, format, args...) }
func (c *chart) skip(why string)                      { c.add(Skipped, "", "%s", Known(why)) }

// own adds the store's own findings for the check.
func own(f *Facts, c *chart) {
	for _, finding := range f.Store.Findings {
		if finding.Check == c.name {
			c.found = append(c.found, finding)
		}
	}
}
