package notation

import (
	"maps"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// This file puts hooks into a JSON text, and removes them. A hook is an element of the list of its event, or of a list
// in a group of that list. waybill's hooks have groups of their own, so a group with nothing else goes with its hook.

// Hooks are the hooks of one host in a text of JSON.
type Hooks struct {
	Grouped bool // an event has groups, each with a matcher and a list of hooks; else it has hooks
	Version bool // a new file has a version, behind the hooks
	Events  []Event
	Fields  func(e Event, old map[string]any) []Field // one hook, in place of an old one or of nil
	Own     func(hook map[string]any) bool            // whether a hook is waybill's
	Command []string                                  // the names of the fields that have its command
}

// An Event is an event for which waybill has a hook.
type Event struct {
	Name    string
	Matcher string // or "" for every event of the name
	Seconds int    // after which the host ends the hook
}

// hook returns the hook of an event. Without groups, the matcher is one of its fields.
func (l Hooks) hook(e Event, old map[string]any) []Field {
	fields := l.Fields(e, old)
	if !l.Grouped && e.Matcher != "" {
		fields = append(fields, Field{"matcher", e.Matcher})
	}
	return fields
}

// hooksKey has the events in every host.
const hooksKey = "hooks"

// version is what is left of a new file without hooks, where the host wants a version.
const (
	versionKey = "version"
	version    = "{\n  \"version\": 1\n}\n"
)

// seek returns the path to waybill's hook of an event, and whether there is one. Without one, the path ends at the list of
// the event, or where that is missing.
func (l Hooks) seek(d *jsonDoc, event string) (levels []level, there bool, err error) {
	keys := []string{hooksKey, event}
	if levels, err = d.walk(keys); err != nil || len(levels) < len(keys) || levels[len(levels)-1].next < 0 {
		return levels, false, err
	}
	last := levels[len(levels)-1]
	value := last.items[last.next].value
	list, ok := levelOf(value, true)
	if !ok {
		return nil, false, d.at(value.StartOffset, "a list is expected here, for "+event)
	}
	for i, it := range list.items {
		list.next = i
		if !l.Grouped && l.isOwn(it.value) {
			return append(levels, list), true, nil
		}
		if inner := l.inGroup(d, it.value); inner != nil {
			return append(append(levels, list), inner...), true, nil
		}
	}
	list.next = -1
	return append(levels, list), false, nil
}

// inGroup returns the rest of the path to waybill's hook in a group, or nil.
func (l Hooks) inGroup(d *jsonDoc, value *hujson.Value) []level {
	group, ok := levelOf(value, false)
	if !l.Grouped || !ok {
		return nil
	}
	next, err := d.member(group, hooksKey)
	if err != nil || next < 0 {
		return nil
	}
	group.next = next
	list, _ := levelOf(group.items[next].value, true)
	list.next = slices.IndexFunc(list.items, func(it item) bool { return l.isOwn(it.value) })
	if list.next < 0 {
		return nil
	}
	return []level{group, list}
}

func (l Hooks) isOwn(v *hujson.Value) bool {
	content, ok := decoded(v)
	hook, object := content.(map[string]any)
	return ok && object && l.Own(hook)
}

// put adds or updates the hook of an event.
func (l Hooks) put(text string, e Event) (string, Action, error) {
	d, err := readJSON(text)
	if err != nil {
		return "", "", err
	}
	if d.root == nil {
		return d.bom + d.body + "{" + d.style.newline + d.style.unit +
			d.style.nested([]string{hooksKey, e.Name}, d.style.unit, true, l.list(d.style, e)) + d.style.newline + "}", Added, nil
	}
	levels, there, err := l.seek(d, e.Name)
	if err != nil {
		return "", "", err
	}
	last := levels[len(levels)-1]
	if there {
		content, _ := decoded(last.items[last.next].value)
		old, _ := content.(map[string]any)
		return l.update(text, e, old)
	}
	if path := []string{hooksKey, e.Name}; len(levels) <= len(path) {
		return d.bom + d.insert(last, path[len(levels)-1:], l.list(d.style, e)), Added, nil
	}
	return d.bom + d.insert(last, nil, func(string, bool) string { return l.element(d.style, e) }), Added, nil
}

// element returns a hook as an element of its event.
func (l Hooks) element(s style, e Event) string {
	hook := s.flat(l.hook(e, nil))
	if !l.Grouped {
		return hook
	}
	matcher := ""
	if e.Matcher != "" {
		matcher = quote("matcher") + ":" + s.space + quote(e.Matcher) + "," + s.space
	}
	return "{" + matcher + quote(hooksKey) + ":" + s.space + "[" + hook + "]}"
}

// list writes a new list with a hook. It is padded, by which it is recognised.
func (l Hooks) list(s style, e Event) written {
	return func(indent string, multi bool) string {
		if !multi {
			return "[ " + l.element(s, e) + " ]"
		}
		return "[" + s.newline + indent + s.unit + l.element(s, e) + s.newline + indent + "]"
	}
}

// update sets the command of an existing hook, and fields that it lacks. Changes of a person stay, such as a longer limit.
func (l Hooks) update(text string, e Event, old map[string]any) (string, Action, error) {
	action := Unchanged
	for _, f := range slices.Backward(l.hook(e, old)) {
		d, err := readJSON(text)
		if err != nil {
			return "", "", err
		}
		levels, _, err := l.seek(d, e.Name)
		if err != nil {
			return "", "", err
		}
		last := levels[len(levels)-1]
		hook, _ := levelOf(last.items[last.next].value, false)
		if hook.next, err = d.member(hook, f.Name); err != nil {
			return "", "", err
		}
		if hook.next >= 0 && !slices.Contains(l.Command, f.Name) {
			continue
		}
		if next := d.bom + d.set(hook, f); next != text {
			text, action = next, Updated
		}
	}
	return text, action, nil
}

// take removes all hooks of waybill, those of events of other versions too. whole reports that nothing is left of a file
// that was new.
func (l Hooks) take(text string) (rest string, whole bool, action Action, err error) {
	action = Unchanged
	for {
		d, err := readJSON(text)
		if err != nil || d.root == nil {
			return text, false, action, err
		}
		levels, err := l.last(d)
		if err != nil || levels == nil {
			return text, false, action, err
		}
		action = Removed
		fresh := l.Version && isFresh(d)
		if text, whole = l.takeOne(d, levels); whole {
			return "", true, action, nil
		}
		if before, ok := strings.CutSuffix(text, strings.TrimSuffix(version, "\n")); fresh && ok && isBlank(before) {
			return before, false, action, nil // the file was blank
		}
		if fresh && text == version {
			return "", true, action, nil
		}
	}
}

// last returns the path to the last hook of waybill, or nil.
func (l Hooks) last(d *jsonDoc) ([]level, error) {
	levels, err := d.walk([]string{hooksKey})
	if err != nil || len(levels) == 0 || levels[0].next < 0 {
		return nil, err
	}
	events, ok := levelOf(levels[0].items[levels[0].next].value, false)
	if !ok {
		return nil, d.at(levels[0].items[levels[0].next].value.StartOffset, "an object is expected here, for "+hooksKey)
	}
	for _, event := range slices.Backward(events.items) {
		if _, list := levelOf(event.value, true); !list {
			continue // a setting, or a mistake that is not waybill's
		}
		if Found, there, err := l.seek(d, event.name); there || err != nil {
			return Found, err
		}
	}
	return nil, nil
}

func (l Hooks) takeOne(d *jsonDoc, levels []level) (string, bool) {
	if l.Grouped {
		group, list := levels[len(levels)-2], levels[len(levels)-1]
		foreign := slices.ContainsFunc(group.items, func(it item) bool { return it.name != hooksKey && it.name != "matcher" })
		if foreign || len(list.items) > 1 {
			return d.bom + d.remove(list), false
		}
		levels = levels[:len(levels)-2]
	}
	return d.takeLast(levels)
}

// without returns the content of a text without waybill's hooks, and without lists and objects that are then empty.
func (l Hooks) without(tree map[string]any) map[string]any {
	rest := map[string]any{}
	maps.Copy(rest, tree)
	events, _ := tree[hooksKey].(map[string]any)
	kept := map[string]any{}
	for name, value := range events {
		list, ok := value.([]any)
		if list = l.foreign(list); !ok {
			kept[name] = value
		} else if len(list) > 0 {
			kept[name] = list
		}
	}
	if delete(rest, hooksKey); len(kept) > 0 {
		rest[hooksKey] = kept
	}
	if l.Version && len(rest) == 1 && rest["version"] != nil {
		return map[string]any{}
	}
	return rest
}

// foreign returns the elements of an event without waybill's hooks.
func (l Hooks) foreign(list []any) (rest []any) {
	for _, element := range list {
		hook, _ := element.(map[string]any)
		inner, grouped := hook[hooksKey].([]any)
		switch {
		case l.Grouped && grouped:
			hooks := slices.DeleteFunc(slices.Clone(inner), func(one any) bool {
				hook, ok := one.(map[string]any)
				return ok && l.Own(hook)
			})
			if hook = maps.Clone(hook); len(hooks) > 0 {
				hook[hooksKey] = hooks
				rest = append(rest, hook)
			}
		case hook == nil || l.Grouped || !l.Own(hook):
			rest = append(rest, element)
		}
	}
	return rest
}

// Edit adds or updates all hooks, or removes them, and then checks that the new text differs from the old one in
// them only.
func (l Hooks) Edit(old *string, remove bool) (e Edit, err error) {
	if e.Action = Unchanged; old == nil && remove {
		return e, nil
	}
	text, before := "", map[string]any{}
	if old != nil {
		text = *old
		if before, err = (JSON{}).Tree(text); err != nil {
			return e, err
		}
	}
	if e.Text = text; remove {
		e.Text, e.Whole, e.Action, err = l.take(text)
	} else {
		e.Text, e.Action, err = l.putAll(old)
	}
	if err != nil || e.Action == Unchanged || e.Whole {
		return e, err
	}
	after, err := JSON{}.Tree(e.Text)
	if err != nil || !Same(l.without(before), l.without(after)) {
		return Edit{}, &SyntaxError{Line: 1, Column: 1, Reason: "waybill cannot change the hooks of a file of this form: edit it by hand"}
	}
	return e, nil
}

// isBlank reports whether a text has nothing but white space.
func isBlank(text string) bool { return strings.Trim(strings.TrimPrefix(text, bom), " \t\r\n") == "" }

func (l Hooks) putAll(old *string) (text string, action Action, err error) {
	newFile := old == nil
	if action = Unchanged; !newFile {
		text = *old
	}
	fresh := isBlank(text)
	for _, e := range l.Events {
		var one Action
		if text, one, err = l.put(text, e); err != nil {
			return "", "", err
		}
		if one != Unchanged && action != Added {
			action = one
		}
	}
	if l.Version && fresh {
		if text, err = withVersion(text); err != nil {
			return "", "", err
		}
	}
	if newFile {
		text += "\n"
	}
	return text, action, nil
}

// withVersion adds a version behind the hooks. In a file of a person it comes first, and so it stays when the hooks go.
func withVersion(text string) (string, error) {
	d, err := readJSON(text)
	if err != nil {
		return "", err
	}
	levels, err := d.walk([]string{versionKey})
	if err != nil || len(levels) == 0 {
		return text, err
	}
	return d.bom + d.insert(levels[0], []string{versionKey}, func(string, bool) string { return "1" }), nil
}

// isFresh reports whether a text has nothing but hooks and then a version, as waybill writes it.
func isFresh(d *jsonDoc) bool {
	root, ok := levelOf(d.root, false)
	return ok && len(root.items) == 2 && root.items[0].name == hooksKey && root.items[1].name == versionKey
}

// Commands returns the different command lines of waybill's hooks in a text, those of other events too.
func (l Hooks) Commands(text string) (lines []string) {
	tree, err := JSON{}.Tree(text)
	if err != nil {
		return nil
	}
	events, _ := tree[hooksKey].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(events)) {
		list, _ := events[name].([]any)
		for _, element := range list {
			one, _ := element.(map[string]any)
			hooks := []any{one}
			if l.Grouped {
				hooks, _ = one[hooksKey].([]any)
			}
			lines = append(lines, l.commands(hooks)...)
		}
	}
	slices.Sort(lines)
	return slices.Compact(lines)
}

// commands returns the command lines of those hooks of a list that are waybill's.
func (l Hooks) commands(list []any) (lines []string) {
	for _, element := range list {
		hook, _ := element.(map[string]any)
		if hook == nil || !l.Own(hook) {
			continue
		}
		for _, key := range l.Command {
			if line, ok := hook[key].(string); ok {
				lines = append(lines, line)
			}
		}
	}
	return lines
}
