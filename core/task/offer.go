package task

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"waybill/internal/safetext"
)

// An Option is one answer that a question offers.
type Option struct {
	Label  string `json:"label"`
	Detail string `json:"detail,omitempty"`
}

// Bounds of an offer. A form, a row of buttons and a numbered list must be able to show all of it.
const (
	MaxOptions     = 20
	MaxLabelRunes  = 200
	MaxDetailBytes = 4 << 10
	// MaxDefaultAfter is the longest time until a default is taken, in microseconds: 30 days.
	MaxDefaultAfter = 30 * 24 * 3_600_000_000
	minDefaultAfter = 1_000_000
)

// An Offer holds the options of a question and the rules for its answer. The zero Offer has no options: every text is an
// answer. Two offers compare with ==.
type Offer struct{ text string } // the JSON of Terms, or ""

// Terms are the content of an offer.
type Terms struct {
	Options []Option `json:"options"`
	Closed  bool     `json:"closed,omitempty"`  // only an option is an answer
	Default string   `json:"default,omitempty"` // a label
	After   int64    `json:"after,omitempty"`   // microseconds until the default is taken; 0 for never
}

// An OfferError says what is wrong with an offer. Pointer is the JSON Pointer of the field in the request. Found is the refused
// value, its size, or its milliseconds.
type OfferError struct {
	Pointer string // such as /options/2/label
	Message string
	Found   any
}

// Error returns the field and its problem.
func (e *OfferError) Error() string { return e.Pointer + " " + e.Message }

// NewOffer returns an offer of options. closed says that only an option is an answer. def is the label of the default, or "".
// after is the time in microseconds until the default is taken, or 0 for never. Every problem is an *OfferError.
func NewOffer(options []Option, closed bool, def string, after int64) (Offer, error) {
	def = strings.TrimSpace(def)
	if len(options) == 0 {
		return Offer{}, withoutOptions(closed, def, after)
	}
	if len(options) > MaxOptions {
		return Offer{}, &OfferError{"/options", fmt.Sprintf("must have at most %d options", MaxOptions), len(options)}
	}
	o := Terms{Options: make([]Option, len(options)), Closed: closed, After: after}
	seen := map[string]int{}
	for i, option := range options {
		option.Label = strings.TrimSpace(option.Label)
		if err := option.check(i, seen); err != nil {
			return Offer{}, err
		}
		o.Options[i] = option
	}
	if o.Default = o.spell(def); def != "" && o.find(def) < 0 {
		return Offer{}, &OfferError{"/default", "must be the label of one of the options: " + labels(o.Options), def}
	}
	if err := o.checkAfter(); err != nil {
		return Offer{}, err
	}
	text, err := json.Marshal(o)
	if err != nil {
		panic("task: strings do not encode: " + err.Error())
	}
	return Offer{string(text)}, nil
}

func withoutOptions(closed bool, def string, after int64) error {
	switch {
	case closed:
		return &OfferError{"/allow_text", "must not be false without options, because the question could not be answered", false}
	case def != "":
		return &OfferError{"/default", "needs options, one of which it names", def}
	case after != 0:
		return &OfferError{"/default_after_ms", "needs options and a default", after / 1000}
	}
	return nil
}

// check checks an option, and records its label in seen. Labels that look the same on a screen are the same.
func (o Option) check(i int, seen map[string]int) error {
	at := fmt.Sprintf("/options/%d/label", i)
	look := strings.ToLower(safetext.OneLine(o.Label, MaxLabelRunes+1))
	switch {
	case strings.Trim(look, " \u2800") == "": // a blank of Braille prints nothing
		return &OfferError{at, "is empty or has no visible character", o.Label}
	case len([]rune(o.Label)) > MaxLabelRunes:
		return &OfferError{at, fmt.Sprintf("must have at most %d characters; detail takes more", MaxLabelRunes), len([]rune(o.Label))}
	case strings.ContainsFunc(o.Label, func(r rune) bool { return !safetext.IsPrintable(r) }):
		return &OfferError{at, "must be one line without control or invisible characters", safetext.Verbatim(o.Label, 80)}
	case len(o.Detail) > MaxDetailBytes:
		return &OfferError{fmt.Sprintf("/options/%d/detail", i), fmt.Sprintf("must have at most %d bytes", MaxDetailBytes), len(o.Detail)}
	}
	if first, twice := seen[look]; twice {
		return &OfferError{at, fmt.Sprintf("is the same as the label of /options/%d", first), o.Label}
	}
	seen[look] = i
	return nil
}

func (o Terms) checkAfter() error {
	switch {
	case o.After == 0:
		return nil
	case o.Default == "":
		return &OfferError{"/default_after_ms", "needs a default", o.After / 1000}
	case o.After < minDefaultAfter || o.After > MaxDefaultAfter:
		return &OfferError{"/default_after_ms", fmt.Sprintf("must be between %d and %d", minDefaultAfter/1000, int64(MaxDefaultAfter)/1000), o.After / 1000}
	}
	return nil
}

// ParseOffer returns the offer whose String is the text. It applies no bounds, so that stored questions stay readable after
// the bounds change.
func ParseOffer(text string) (Offer, error) {
	if text == "" {
		return Offer{}, nil
	}
	var t Terms
	if err := json.Unmarshal([]byte(text), &t); err != nil {
		return Offer{}, fmt.Errorf("read an offer: %w", err)
	}
	if len(t.Options) == 0 {
		return Offer{}, errors.New("read an offer: it has no options")
	}
	return Offer{text}, nil
}

// String returns the offer as a text for ParseOffer.
func (o Offer) String() string { return o.text }

// Terms returns the content of the offer. It decodes a text, so a caller of several fields keeps the result.
func (o Offer) Terms() (t Terms) {
	if o.text == "" {
		return t
	}
	if err := json.Unmarshal([]byte(o.text), &t); err != nil {
		panic("task: an offer was not made by NewOffer: " + err.Error())
	}
	return t
}

// find returns the index of the option with a label, or -1. The case of letters does not count unless two labels differ in it.
func (o Terms) find(label string) int {
	if i := slices.IndexFunc(o.Options, func(option Option) bool { return option.Label == label }); i >= 0 {
		return i
	}
	return slices.IndexFunc(o.Options, func(option Option) bool { return strings.EqualFold(option.Label, label) })
}

// spell returns the label of the option that a text names in any case, or the text itself.
func (o Terms) spell(text string) string {
	if i := o.find(text); i >= 0 {
		return o.Options[i].Label
	}
	return text
}

// A Choice says which option an answer took. The zero Choice names no option: the answer has own words, or there is none.
type Choice struct {
	Option string // the label, or ""
	// ByTime reports whether the default was taken because its time had passed. No person answered then.
	ByTime bool
}

// choose returns the option and the text of a person's answer. A text that is a label takes that option. pointer and problem
// say why the answer does not suit the offer.
func (o Offer) choose(option, text string) (choice Choice, answer, pointer, problem string) {
	t := o.Terms()
	blank := option != ""
	if option = strings.TrimSpace(option); blank && option == "" {
		return choice, "", "/option", "it is blank; give the label of an option, or answer with reply"
	}
	if len(t.Options) == 0 {
		if option != "" {
			return choice, "", "/option", "its question has no options; answer with reply"
		}
		return choice, text, "", ""
	}
	option = t.spell(option)
	words := t.spell(strings.TrimSpace(text))
	if option == "" && t.find(words) >= 0 {
		option = words
	}
	if words == "" || words == option {
		text = option
	}
	switch {
	case option != "" && t.find(option) < 0:
		return choice, "", "/option", fmt.Sprintf("%s is not the label of an option; they are %s", safetext.Quote(option, 80), labels(t.Options))
	case text != option && t.Closed:
		return choice, "", "/reply", "its question takes no other words than the label of an option: " + labels(t.Options)
	}
	return Choice{Option: option}, text, "", ""
}

// labels names the labels of options in a sentence.
func labels(options []Option) string {
	quoted := make([]string, len(options))
	for i, option := range options {
		quoted[i] = safetext.Quote(option.Label, 80)
	}
	return strings.Join(quoted, ", ")
}
