package schema

import (
	"bytes"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Settings are what a configuration can say. What it leaves out is built in.
type Settings struct {
	Prompt  *PromptSettings `json:"prompt,omitzero"`
	Policy  *Policy         `json:"policy,omitzero"`
	Tasks   *TaskSettings   `json:"tasks,omitzero"`
	Results *ResultSettings `json:"results,omitzero"`
	Plans   *PlanSettings   `json:"plans,omitzero"`
	Store   *StoreSettings  `json:"store,omitzero"`
}

// PromptSettings are about compile_prompt.
type PromptSettings struct {
	MaxInputTokens  *InputSettings      `json:"max_input_tokens,omitzero"`
	MaxOutputTokens *int                `json:"max_output_tokens,omitzero" schema:"min=1,max=1000000000,default=1200" doc:"what an agent may write; the rest of its input is the budget of a prompt"`
	Tokenizer       string              `json:"tokenizer,omitzero" schema:"enum=estimate|o200k,default=estimate" doc:"how tokens are counted: four characters each, or with the vocabulary o200k_base"`
	Compaction      *CompactionSettings `json:"compaction,omitzero"`
}

// InputSettings are what the model of a role takes in.
type InputSettings struct {
	Worker   *int `json:"worker,omitzero" schema:"min=1,max=1000000000,default=4800" doc:"what the model of a worker takes in"`
	Reviewer *int `json:"reviewer,omitzero" schema:"min=1,max=1000000000,default=4000" doc:"what the model of a reviewer of either kind takes in"`
}

// CompactionSettings steer what is done with a prompt over its budget.
type CompactionSettings struct {
	Auto  *bool `json:"auto,omitzero" schema:"default=true" doc:"false: a prompt over its budget is an error at once"`
	Prune *bool `json:"prune,omitzero" schema:"default=true" doc:"false: the stage prune_packet is left out"`
}

// TaskSettings are about the queue of tasks.
type TaskSettings struct {
	RetryDelayMS *int `json:"retry_delay_ms,omitzero" schema:"min=0,max=60000,default=1000" doc:"the first wait before a task is tried again on the model that it failed on; it doubles up to a minute; 0 is none"`
}

// ResultSettings are about ingest_output.
type ResultSettings struct {
	OutputDir string `json:"output_dir,omitzero" doc:"a folder beside the workspace from which results may be read; in a file its path is absolute"`
}

// PlanSettings are about the files of plans.
type PlanSettings struct {
	Poll     *bool    `json:"poll,omitzero" schema:"default=false" doc:"look at the plans every second, for a file system that does not tell of changes"`
	Dialects []string `json:"dialects,omitzero" schema:"nonblank" doc:"GLOB=NAME: read the plans whose paths fit the glob in that dialect; of several the first counts"`
}

// StoreSettings say what a store keeps of what is over.
type StoreSettings struct {
	KeepDays  *int `json:"keep_days,omitzero" schema:"min=1,max=36500,default=30" doc:"for how many days that is kept which nobody waits for: completed and cancelled tasks that nothing needs, acknowledged, cancelled and untracked sent instructions, events, answers to idempotency keys, and last prompts"`
	KeepTasks *int `json:"keep_tasks,omitzero" schema:"min=0,max=1000000000,default=100000" doc:"how many completed and cancelled tasks are kept at most, but for those of the last day"`
}

// A SettingRow is what is to be known of one setting.
type SettingRow struct {
	Name    string // such as prompt.max_output_tokens
	Doc     string
	Allowed string // which values are, for the end of "must be"
	BuiltIn string // its value as JSON where nobody says otherwise, "" for none

	shape *shape
}

var (
	settingsDecoder = NewDecoder[Settings]()
	settingRows     = rowsOf(nil, "", settingsDecoder.shape)
)

// SettingRows gives all settings, in the order of their declaration.
func SettingRows() []SettingRow { return slices.Clone(settingRows) }

func rowsOf(rows []SettingRow, prefix string, s *shape) []SettingRow {
	for i := range s.fields {
		f := &s.fields[i]
		if f.shape.kind == object {
			rows = rowsOf(rows, prefix+f.name+".", f.shape)
			continue
		}
		row := SettingRow{Name: prefix + f.name, Doc: f.doc, Allowed: f.rules.wanted(f.shape), BuiltIn: f.rules.standard, shape: f.shape}
		if f.shape.kind == text && row.BuiltIn != "" {
			row.BuiltIn = strconv.Quote(row.BuiltIn)
		}
		rows = append(rows, row)
	}
	return rows
}

// Read gives the value that a text stands for in an environment variable or on a command line. The parts of a
// list have commas between them. The error says what is allowed.
func (r SettingRow) Read(given string) ([]byte, *Error) {
	value := r.literal(given)
	_, fault := SettingsOf(map[string][]byte{r.Name: value})
	return value, fault
}

// literal writes a text as the JSON that it most likely means; where it cannot be that, as a string.
func (r SettingRow) literal(given string) jsontext.Value {
	given = strings.ToValidUTF8(given, "\ufffd")
	bare := jsontext.Value(given)
	switch {
	case r.shape.kind == integer && bare.IsValid() && bare.Kind() == '0', r.shape.kind == boolean && (given == "true" || given == "false"):
		return bare
	case r.shape.kind == list:
		return listed(given)
	}
	value, _ := Encode(given) // valid UTF-8 can be written
	return value
}

// listed writes the parts of a text as a list. Nothing has no parts.
func listed(given string) jsontext.Value {
	parts := []string{}
	if given != "" {
		parts = strings.Split(given, ",")
	}
	for i, part := range parts {
		parts[i] = strings.TrimSpace(part)
	}
	value, _ := Encode(parts)
	return value
}

// ReadSettings reads the file of a configuration, which is one object and nothing else, by the rules of Decode.
// It gives the values that are in it, as JSON, by the names of the settings.
func ReadSettings(raw []byte) (map[string][]byte, *Error) {
	if fault := syntax(raw); fault != nil {
		return nil, fault
	}
	top := jsontext.Value(trim(raw))
	if top.Kind() != '{' {
		return nil, NewError(InvalidParams, "must be one JSON object, and {} for no settings")
	}
	if fault := settingsDecoder.Decode(top, new(Settings)); fault != nil {
		return nil, fault
	}
	return valuesIn(top), nil
}

// valuesIn gives the values of the settings in an object.
func valuesIn(top jsontext.Value) map[string][]byte {
	values := map[string][]byte{}
	for _, row := range settingRows {
		at := top
		for name := range strings.SplitSeq(row.Name, ".") {
			at = memberOf(at, name)
		}
		if at != nil {
			_ = at.Canonicalize() // well-formed JSON can be
			values[row.Name] = at
		}
	}
	return values
}

// memberOf gives a member of an object, and nil if there is none.
func memberOf(v jsontext.Value, name string) jsontext.Value {
	if v.Kind() != '{' {
		return nil
	}
	for key, value := range members(v) {
		if key == name {
			return value.Clone()
		}
	}
	return nil
}

// SettingsOf gives the settings that have these values, and has no others. The error says what is wrong with one.
func SettingsOf(values map[string][]byte) (s Settings, fault *Error) {
	if len(values) == 0 {
		return s, nil
	}
	raw, err := Encode(nested(values))
	if err != nil {
		return s, NewError(InvalidParams, err.Error())
	}
	fault = settingsDecoder.Decode(raw, &s)
	return s, fault
}

// nested makes objects of names with dots.
func nested(values map[string][]byte) map[string]any {
	top := map[string]any{}
	for name, value := range values {
		group := top
		for first, rest, more := strings.Cut(name, "."); more; first, rest, more = strings.Cut(name, ".") {
			inner, ok := group[first].(map[string]any)
			if !ok {
				inner = map[string]any{}
				group[first] = inner
			}
			group, name = inner, rest
		}
		group[name] = jsontext.Value(value)
	}
	return top
}

// CompleteSettings checks settings, each by itself and all together, and gives them with what is built in: then the
// groups are there, and every value that is a pointer. With the zero value it does no more than that, because most
// programs are started with it.
func CompleteSettings(s Settings) (full Settings, fault *Error) {
	if s != full {
		raw, err := Encode(s)
		if err != nil {
			return full, NewError(InvalidParams, err.Error())
		}
		if fault := settingsDecoder.Decode(raw, &full); fault != nil {
			return full, fault
		}
	}
	fill(reflect.ValueOf(&full).Elem(), settingsDecoder.shape)
	return full, roomless(full.Prompt)
}

// fill sets what is absent to what is built in.
func fill(v reflect.Value, s *shape) {
	for i := range s.fields {
		f := &s.fields[i]
		member := v.FieldByIndex(f.path)
		if member.Kind() == reflect.Pointer && member.IsNil() && (f.shape.kind == object || f.rules.standard != "") {
			member.Set(reflect.New(f.shape.typ))
		} else if f.shape.kind != object && !member.IsZero() {
			continue
		}
		if f.shape.kind == object {
			fill(member.Elem(), f.shape)
			continue
		}
		f.setStandard(reflect.Indirect(member))
	}
}

// setStandard sets a value to what an absent one means, if that is anything.
func (f *field) setStandard(v reflect.Value) {
	switch standard := f.rules.standard; {
	case standard == "":
	case f.shape.kind == integer:
		v.SetInt(mustInt(standard))
	case f.shape.kind == boolean:
		v.SetBool(standard == "true")
	case f.shape.kind == text:
		v.SetString(standard)
	default:
		panic("schema: " + f.name + " has a default of no kind")
	}
}

// roomless refuses limits that leave no room for a prompt.
func roomless(p *PromptSettings) *Error {
	output := *p.MaxOutputTokens
	for _, input := range []struct {
		role   string
		tokens int
	}{{"worker", *p.MaxInputTokens.Worker}, {"reviewer", *p.MaxInputTokens.Reviewer}} {
		if output < input.tokens {
			continue
		}
		other := "prompt.max_input_tokens." + input.role
		wanted := "smaller than " + other + " (" + strconv.Itoa(input.tokens) + ")"
		problem := Problem{Pointer: "/prompt/max_output_tokens", Expected: "a whole number " + wanted, Found: strconv.Itoa(output)}
		problem.Message = problem.Pointer + " must be " + wanted + ", and is " + problem.Found + "; there would be no room for a prompt"
		return NewError(InvalidParams, problem.Message).With("other", other).With("errors", []Problem{problem})
	}
	return nil
}

// LineOf gives the line, from 1, on which the value at a JSON Pointer ends its name, and 0 if the text has no
// such value.
func LineOf(raw []byte, pointer string) int {
	d := jsontext.NewDecoder(bytes.NewReader(raw))
	for {
		if _, err := d.ReadToken(); err != nil {
			return 0
		}
		if string(d.StackPointer()) == pointer {
			return 1 + bytes.Count(raw[:d.InputOffset()], []byte{'\n'})
		}
	}
}
