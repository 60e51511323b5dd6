package inbox

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"waybill/engine/inbox"
	"waybill/internal/safetext"
)

// A mode says which keys have a meaning.
type mode int

const (
	listing mode = iota
	answering
	confirming
	helping
)

// A model is the state of the screen. It does no input or output.
type model struct {
	all    inbox.Inbox
	names  map[string]string
	mode   mode
	chosen int // index of the chosen entry
	scroll int // lines of its text that are scrolled away
	about  inbox.Entry
	action inbox.Action // that is to be confirmed
	drafts map[string]*draft
	busy   bool // a change is being made
	said   string
	hint   func(e inbox.Entry) string // the command that moves an entry on
}

// A request is what a key asks for. The zero request asks for nothing.
type request struct {
	quit   bool
	redraw bool
	action inbox.Action // "" for none
	entry  inbox.Entry
	text   string
	option string // the label that is the answer, or ""
}

// take shows another inbox. The chosen entry stays chosen, also if others come before it.
func (m *model) take(all inbox.Inbox) {
	before := m.chosenKey()
	m.all, m.names = all, namesOf(all.Entries)
	at := slices.IndexFunc(all.Entries, func(e inbox.Entry) bool { return e.Key() == before })
	if at < 0 {
		at, m.scroll = max(0, min(m.chosen, len(all.Entries)-1)), 0
	}
	m.chosen = at
}

func (m *model) chosenKey() string {
	if e, ok := m.entry(); ok {
		return e.Key()
	}
	return ""
}

// entry returns the chosen entry.
func (m *model) entry() (e inbox.Entry, ok bool) {
	if m.chosen < len(m.all.Entries) {
		return m.all.Entries[m.chosen], true
	}
	return e, false
}

// press handles one key.
func (m *model) press(k key) request {
	if k.name == keyInterrupt {
		return request{quit: true}
	}
	if k.name == keyRedraw {
		return request{redraw: true}
	}
	if m.busy {
		return request{}
	}
	switch m.mode {
	case answering:
		return m.pressAnswering(k)
	case confirming:
		m.mode, m.said = listing, ""
		if k.text == "y" || k.text == "Y" {
			return m.ask(m.action, "")
		}
		return request{}
	case helping:
		m.mode = listing
		return request{}
	case listing:
	}
	return m.pressListing(k)
}

func (m *model) pressListing(k key) request {
	m.said = ""
	switch cmp.Or(k.name, k.text) {
	case "q", keyEscape:
		return request{quit: true}
	case "?", "h":
		m.mode = helping
	case keyDown, "j":
		m.move(1)
	case keyUp, "k":
		m.move(-1)
	case keyPageDown:
		m.move(10)
	case keyPageUp:
		m.move(-10)
	case keyHome, "g":
		m.move(-len(m.all.Entries))
	case keyEnd, "G":
		m.move(len(m.all.Entries))
	case " ", keyRight:
		m.scroll++
	case "b", keyLeft:
		m.scroll = max(0, m.scroll-1)
	case keyEnter:
		m.usual()
	case "1", "2", "3", "4", "5", "6", "7", "8", "9":
		if e, ok := m.entry(); ok && len(e.Options) > 0 {
			m.begin(inbox.Answer)
			if d := m.written(); len(d.text) == 0 {
				d.insert(k.text)
			}
		}
	default:
		for action, of := range keysOfActions {
			if k.text == of {
				m.begin(action)
			}
		}
	}
	return request{}
}

// keysOfActions are the keys that begin an action.
var keysOfActions = map[inbox.Action]string{
	inbox.Answer: "a", inbox.Retry: "r", inbox.Unblock: "u", inbox.Cancel: "x", inbox.Dismiss: "d",
}

func (m *model) move(by int) {
	m.chosen = max(0, min(m.chosen+by, len(m.all.Entries)-1))
	m.scroll = 0
}

// usual begins the action that moves the chosen entry on, or shows the command that does.
func (m *model) usual() {
	e, ok := m.entry()
	switch {
	case !ok:
	case len(e.Actions) > 0 && (len(e.Next) == 0 || e.Next[0] != "check"):
		m.begin(e.Actions[0])
	case len(e.Next) > 0:
		m.said = "run at a terminal: " + m.hint(e)
	}
}

// begin begins an action about the chosen entry.
func (m *model) begin(action inbox.Action) {
	e, ok := m.entry()
	if !ok {
		return
	}
	if !slices.Contains(e.Actions, action) {
		m.said = fmt.Sprintf("%s is not possible here", action)
		return
	}
	m.about, m.action = e, action
	if action == inbox.Answer {
		m.mode = answering
		return
	}
	m.mode = confirming
	m.said = fmt.Sprintf("%s %s? y/n", action, safetext.Printable(e.Title))
}

// ask returns the request for an action about the entry that it was begun for.
func (m *model) ask(action inbox.Action, text string) request {
	m.busy, m.said = true, "…"
	return request{action: action, entry: m.about, text: text}
}

// written returns the draft of the answer to the entry that is answered.
func (m *model) written() *draft {
	d, ok := m.drafts[m.about.Key()]
	if !ok {
		d = &draft{}
		m.drafts[m.about.Key()] = d
	}
	return d
}

func (m *model) pressAnswering(k key) request {
	d := m.written()
	switch k.name {
	case keyEscape:
		m.mode, m.said = listing, ""
		if len(d.text) > 0 {
			m.said = "your text is kept until you quit"
		}
	case keyEnter:
		if text := strings.TrimSpace(string(d.text)); text != "" {
			r := m.ask(inbox.Answer, text)
			if n, err := strconv.Atoi(text); err == nil && n >= 1 && n <= len(m.about.Options) {
				r.text, r.option = "", m.about.Options[n-1].Label
			}
			return r
		}
		m.said = "write an answer first, or press Escape"
	case keyCut:
		m.said = fmt.Sprintf("the pasted text was cut after %d MiB", maxPaste>>20)
	default:
		d.press(k)
	}
	return request{}
}

// done takes the outcome of a request. After an error the text of an answer stays.
func (m *model) done(r request, said string, err error) {
	m.busy = false
	if err != nil {
		m.said = "not done: " + safetext.Printable(err.Error())
		if r.action == inbox.Answer {
			m.said = "not sent, your text is kept: " + safetext.Printable(err.Error())
		}
		return
	}
	m.said = said
	if r.action == inbox.Answer {
		delete(m.drafts, r.entry.Key())
		m.mode = listing
	}
}
