package hostconfig

import (
	"waybill/hostconfig/notation"
)

// Edit returns what becomes of a text, or of no file. gone says that there is no file any more.
func (c Change) Edit(text *string) (rest string, action notation.Action, gone bool, err error) {
	e, err := c.edit(text)
	if e.Action == notation.Unchanged && text != nil {
		e.Text = *text
	}
	return e.Text, e.Action, e.Whole, err
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

// Spoiled returns the host with an edit that goes wrong.
func (h Host) Spoiled(spoil func(string) string) Host {
	h.notation = spoiled{h.notation, spoil}
	return h
}

type spoiled struct {
	notation.Notation
	spoil func(string) string
}

func (s spoiled) Put(text string, at notation.Spot, fields []notation.Field) (string, error) {
	after, err := s.Notation.Put(text, at, fields)
	return s.spoil(after), err
}

// EditHooks returns what becomes of a text when waybill's hooks are put into it or removed.
func (h Host) EditHooks(text string, events []notation.Event, remove bool) (string, notation.Action, error) {
	hook := Hook{Command: "/usr/local/bin/waybill", Args: []string{"hook", h.Name}}
	e, err := h.hooks.list(hook, "linux", events).Edit(&text, remove)
	return e.Text, e.Action, err
}
