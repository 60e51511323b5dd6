// Package proof decides from the receipts of checks what is proven about a run. A check is a command that the person
// owns; a receipt records one execution of it and the files that it ran on. A result that says "done" proves nothing.
//
// These rules hold:
//   - A run holds only if every required check is green on the present files, or if nothing is required.
//   - A stale receipt never counts, neither for nor against the run, and does not revive when the files change back.
//   - A red check counts at most once for each submission.
//   - A receipt for another submission counts only if it was obtained on exactly the present files.
//
// The package knows neither commands nor files: a tree is an opaque hash over the contents of the files.
package proof

import "errors"

// Facts is the name of the built-in check of facts, such as that a commit range exists. Where it is required it must be
// green, but alone it proves nothing, because an agent can make facts true.
const Facts = "facts"

// A State says how much is proven.
type State int

// The states. Their texts are those of the wire.
const (
	NoneRequired State = iota + 1 // no check is required but Facts, which holds
	Missing                       // a required check has no receipt
	Stale                         // the files changed after the last receipt of a required check
	Untrusted                     // a person must look first, because the checks or their files changed
	Refuted                       // a check is red
	Proven                        // every required check is green on the present files
)

var stateNames = map[State]string{
	NoneRequired: "none_required", Missing: "missing", Stale: "stale", Untrusted: "untrusted", Refuted: "refuted", Proven: "proven",
}

func (s State) String() string { return stateNames[s] }

// A Proof is what the receipts of a run say about its last submission. The zero Proof requires nothing. It can be
// compared with ==, and its JSON is how stores keep it.
type Proof struct {
	Required  Names  `json:"required,omitzero"`
	Green     Names  `json:"green,omitzero"`
	Red       Names  `json:"red,omitzero"`
	Stale     Names  `json:"stale,omitzero"`     // were green or red before the files changed
	Protected Names  `json:"protected,omitzero"` // green, but the work changed a file that the check protects
	Untrusted Names  `json:"untrusted,omitzero"` // not run, because no person trusts the command as it is now
	Tree      string `json:"tree,omitzero"`      // of the files of the receipts; "" if unknown
	Unbound   bool   `json:"unbound,omitzero"`   // one of the receipts has no tree, so that none outlasts a Look
	Round     int    `json:"round,omitzero"`     // the number of submissions
	Counted   bool   `json:"counted,omitzero"`   // a red check of this submission was counted
}

// An Outcome is how one execution of a check ended.
type Outcome int

// The outcomes. Their texts are those of the wire.
const (
	Red       Outcome = iota + 1 // it failed
	Green                        // it passed
	Protected                    // it passed, but the work changed a file that it protects
	NotRun                       // it was not run, because no person trusts the command as it is now
)

var outcomeNames = map[Outcome]string{Red: "red", Green: "green", Protected: "protected", NotRun: "untrusted"}

func (o Outcome) String() string { return outcomeNames[o] }

// ParseOutcome returns the outcome with the given text, or false.
func ParseOutcome(text string) (Outcome, bool) {
	for o, name := range outcomeNames {
		if name == text {
			return o, true
		}
	}
	return 0, false
}

// A Receipt is what a proof needs to know about an execution of a check.
type Receipt struct {
	Check   string
	Round   int // the submission that the check was begun for
	Outcome Outcome
	// Before and After are the trees before and after the execution. "" means that no tree could be computed.
	Before, After string
}

// An Event changes a Proof: Submit, Take, Look or Accept.
type Event interface{ event() }

// Submit begins a round: a worker said that the work is done. Receipts of earlier rounds no longer count.
type Submit struct{}

// Take takes a receipt in.
type Take struct{ Receipt Receipt }

// Look compares the present files with those of the receipts. An empty tree means that it could not be computed; then
// no receipt counts any longer.
type Look struct{ Tree string }

// Accept says that a person looked: changes of protected files are accepted, and checks that were red or not run are
// due again.
type Accept struct{}

func (Submit) event() {}
func (Take) event()   {}
func (Look) event()   {}
func (Accept) event() {}

// ErrNoCheck refuses a receipt without a valid name of a check.
var ErrNoCheck = errors.New("the receipt names no valid check")

// An Effect says what an event did beyond changing the proof.
type Effect int

// Counts says that the event counts as one failure of the checks of the present submission.
const Counts Effect = 1

// Step applies an event. An event that changes nothing returns the same proof.
func (p Proof) Step(event Event) (Proof, []Effect, error) {
	switch e := event.(type) {
	case Submit:
		return Proof{Required: p.Required, Round: p.Round + 1}, nil, nil
	case Look:
		if e.Tree != "" && e.Tree == p.Tree && !p.Unbound {
			return p, nil, nil
		}
		return p.outdated(), nil, nil
	case Accept:
		p.Green, p.Protected = p.Green.and(p.Protected), ""
		p.Red, p.Untrusted, p.Counted = "", "", false
		return p, nil, nil
	case Take:
		return p.take(e.Receipt)
	}
	panic("proof: unknown event")
}

// outdated makes all receipts stale.
func (p Proof) outdated() Proof {
	p.Stale = p.Stale.and(p.Green).and(p.Red).and(p.Protected)
	p.Green, p.Red, p.Protected, p.Tree, p.Unbound = "", "", "", "", false
	return p
}

func (p Proof) take(r Receipt) (Proof, []Effect, error) {
	if _, err := ParseNames(r.Check); err != nil || r.Check == "" {
		return p, nil, ErrNoCheck
	}
	if !p.concerns(r) {
		return p, nil, nil
	}
	if p.Tree != "" && r.After != "" && p.Tree != r.After {
		p = p.outdated()
	}
	name := Names(r.Check)
	p.Green, p.Red, p.Stale = p.Green.Without(name), p.Red.Without(name), p.Stale.Without(name)
	p.Protected, p.Untrusted = p.Protected.Without(name), p.Untrusted.Without(name)
	if r.Before != r.After {
		p.Stale = p.Stale.and(name) // the files changed while it ran, so it says nothing about either
		return p, nil, nil
	}
	if r.After == "" {
		p.Unbound = r.Outcome != NotRun || p.Unbound
	} else {
		p.Tree = r.After
	}
	switch r.Outcome {
	case Green:
		p.Green = p.Green.and(name)
	case Protected:
		p.Protected = p.Protected.and(name)
	case NotRun:
		p.Untrusted = p.Untrusted.and(name)
	case Red:
		p.Red = p.Red.and(name)
		if !p.Counted {
			p.Counted = true
			return p, []Effect{Counts}, nil
		}
	}
	return p, nil, nil
}

// concerns reports whether a receipt is about the present submission: of its round, or obtained on exactly its files.
func (p Proof) concerns(r Receipt) bool {
	exact := p.Tree != "" && r.Before == p.Tree && r.After == p.Tree
	return p.Required.Has(r.Check) && (r.Round == p.Round || exact)
}

// State returns how much is proven about the last submission.
func (p Proof) State() State {
	due := p.Due()
	switch {
	case p.Red != "":
		return Refuted
	case p.Protected != "", p.Untrusted != "":
		return Untrusted
	case due != "" && due.Without(p.Stale) == "":
		return Stale
	case due != "":
		return Missing
	case p.Required.Without(Facts) == "":
		return NoneRequired
	default:
		return Proven
	}
}

// Holds reports whether the run may be approved.
func (p Proof) Holds() bool {
	s := p.State()
	return s == Proven || s == NoneRequired
}

// Due returns the required checks that must run before the run may be approved.
func (p Proof) Due() Names { return p.Required.Without(p.Green).Without(p.Protected) }
