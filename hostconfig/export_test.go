package hostconfig

// Edit returns what becomes of a text, or of no file. gone says that there is no file any more.
func (c Change) Edit(text *string) (rest string, action Action, gone bool, err error) {
	e, err := c.edit(text)
	if e.action == Unchanged && text != nil {
		e.text = *text
	}
	return e.text, e.action, e.whole, err
}

// BeforeSwap makes every try call f when all is written but the name.
func (c Change) BeforeSwap(f func()) Change {
	c.beforeSwap = f
	return c
}

// ProgramAt is Program for a program that lies at a path.
func ProgramAt(path string, look func(string) (string, error)) (string, error) {
	return program(path, look)
}

const (
	LockSuffix   = lockSuffix
	BackupSuffix = backupSuffix
)

// Spoiled returns the host with an edit that goes wrong.
func (h Host) Spoiled(spoil func(string) string) Host {
	h.notation = spoiled{h.notation, spoil}
	return h
}

type spoiled struct {
	notation
	spoil func(string) string
}

func (s spoiled) put(text string, at spot, fields []field) (string, error) {
	after, err := s.notation.put(text, at, fields)
	return s.spoil(after), err
}
