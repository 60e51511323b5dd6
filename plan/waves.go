package plan

import (
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// This file parses waves of items in JSON: {"waves": [{"id": 0, "tasks": ["1"]}]}, {"waves": [["1"], ["2"]]},
// {"waves": {"0": ["1"]}}, and a single wave or a list of waves.

// wave is a group of items that can be worked on at the same time.
type wave struct {
	name  string // "" if it has none
	tasks []mention
	after []mention // the waves that it waits for, if it states any
	given bool
	at    spot
}

// mention is a name in a drawing, with its position.
type mention struct {
	name string
	at   spot
}

// waveReader parses the JSON of one code fence.
type waveReader struct {
	*jsontext.Decoder
	s     *sketch
	waves []wave
}

// errShape means that the JSON is valid, but has another structure than expected.
type errShape string

func (e errShape) Error() string { return string(e) }

// readWaves adds all waves of a fence. After an error it adds none, because half of an order is a different order.
func (o *orders) readWaves(s *sketch) {
	text := s.text.String()
	r := waveReader{Decoder: jsontext.NewDecoder(strings.NewReader(text)), s: s}
	var err error
	for end := len(strings.TrimRight(text, " \t\n")); err == nil && int(r.InputOffset()) < end; {
		err = r.root()
	}
	if err == nil && len(r.waves) == 0 {
		err = errShape(`it has no waves such as {"waves": [{"id": 0, "tasks": ["1"]}]}`)
	}
	if err == nil {
		o.waves = append(o.waves, r.waves...)
		return
	}
	at := int(r.InputOffset()) - 1
	if syntactic, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		at, err = int(syntactic.ByteOffset), syntactic.Err
	}
	o.report(s.spot(at), SeverityError, "graph_invalid",
		fmt.Sprintf("this graph cannot be read, so it is ignored: %s", clip(err.Error())))
}

// root reads the top-level value.
func (r *waveReader) root() error {
	switch r.PeekKind() {
	case '[':
		return r.list(func() error { return r.wave("") })
	case '{':
		return r.wave("")
	}
	if _, err := r.ReadToken(); err != nil {
		return err
	}
	return errShape("a graph must be an object or a list")
}

// list calls one for each element of a list.
func (r *waveReader) list(one func() error) error {
	if _, err := r.ReadToken(); err != nil {
		return err
	}
	for r.PeekKind() != ']' {
		if err := one(); err != nil {
			return err
		}
	}
	_, err := r.ReadToken()
	return err
}

// object calls one for each member of an object.
func (r *waveReader) object(one func(key string) error) error {
	if _, err := r.ReadToken(); err != nil {
		return err
	}
	for r.PeekKind() != '}' {
		key, err := r.ReadToken()
		if err == nil {
			err = one(key.String())
		}
		if err != nil {
			return err
		}
	}
	_, err := r.ReadToken()
	return err
}

// wave reads a wave: an object, or a list of tasks. In an object with a member "waves", that member is read instead.
func (r *waveReader) wave(name string) error {
	w := wave{name: name, at: r.s.spot(int(r.InputOffset()))}
	switch r.PeekKind() {
	case '[':
		if err := r.mentions(&w.tasks); err != nil {
			return err
		}
		r.waves = append(r.waves, w)
		return nil
	case '{':
	default:
		if _, err := r.ReadToken(); err != nil {
			return err
		}
		return errShape("a wave must be an object or a list of ids")
	}
	is := name != ""
	err := r.object(func(key string) error {
		says, err := r.member(&w, key)
		is = is || says
		return err
	})
	if err == nil && is {
		r.waves = append(r.waves, w)
	}
	return err
}

// member reads a member of an object, and reports whether the member makes the object a wave.
func (r *waveReader) member(w *wave, key string) (says bool, err error) {
	switch key {
	case "waves":
		return false, r.nested()
	case "id", "wave", "number":
		var names []mention
		if err = r.mentions(&names); err == nil && len(names) == 1 {
			w.name, w.at = names[0].name, names[0].at
		}
		return true, err
	case "tasks", "task_ids", "taskIds":
		return true, r.mentions(&w.tasks)
	case "depends_on", "dependsOn", "dependencies":
		w.given = r.PeekKind() != 'n'
		return false, r.mentions(&w.after)
	}
	return false, r.SkipValue()
}

// nested reads the member "waves": a list, or an object with one member per wave.
func (r *waveReader) nested() error {
	switch {
	case r.StackDepth() > 1:
		return r.SkipValue()
	case r.PeekKind() == '[':
		return r.list(func() error { return r.wave("") })
	case r.PeekKind() == '{':
		return r.object(r.wave)
	}
	if _, err := r.ReadToken(); err != nil {
		return err
	}
	return errShape("waves are a list")
}

// mentions reads a name, a list of names, or a list of objects with ids. Numbers keep their spelling.
func (r *waveReader) mentions(to *[]mention) error {
	switch kind := r.PeekKind(); kind {
	case '[':
		return r.list(func() error { return r.mentions(to) })
	case '{':
		return r.object(func(key string) error {
			if key == "id" {
				return r.mentions(to)
			}
			return r.SkipValue()
		})
	case '"', '0':
		token, err := r.ReadToken()
		if err != nil {
			return err
		}
		name := token.String()
		width := len(name)
		if kind == '"' {
			width += len(`""`)
		}
		*to = append(*to, mention{trim(name), r.s.spot(int(r.InputOffset()) - width)})
		return nil
	case 'n':
		return r.SkipValue()
	}
	if _, err := r.ReadToken(); err != nil {
		return err
	}
	return errShape("this is no id")
}
