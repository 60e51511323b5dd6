package schema

import (
	"bytes"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Settings are the contents of a configuration file. A setting that it leaves out has its built-in value.
type Settings struct {
	Prompt  *PromptSettings `json:"prompt,omitzero"`
	Policy  *Policy         `json:"policy,omitzero"`
	Tasks   *TaskSettings   `json:"tasks,omitzero"`
	Results *ResultSettings `json:"results,omitzero"`
	Plans   *PlanSettings   `json:"plans,omitzero"`
	Store   *StoreSettings  `json:"store,omitzero"`
}

// PromptSettings configure compile_prompt.
type PromptSettings struct {
	MaxInputTokens  *InputSettings      `json:"max_input_tokens,omitzero"`
	MaxOutputTokens *int                `json:"max_output_tokens,omitzero" schema:"min=1,max=1000000000,default=1200" doc:"tokens reserved for the output of an agent; the rest of its input is the budget of a prompt"`
	Tokenizer       string              `json:"tokenizer,omitzero" schema:"enum=estimate|o200k,default=estimate" doc:"how tokens are counted: four characters each, or with the vocabulary o200k_base"`
	Compaction      *CompactionSettings `json:"compaction,omitzero"`
}

// InputSettings are input limits of models, by role.
type InputSettings struct {
	Worker   *int `json:"worker,omitzero" schema:"min=1,max=1000000000,default=4800" doc:"input limit of a worker's model"`
	Reviewer *int `json:"reviewer,omitzero" schema:"min=1,max=1000000000,default=4000" doc:"input limit of a reviewer's model"`
}

// CompactionSettings configure how a prompt over its budget is shortened.
type CompactionSettings struct {
	Auto  *bool `json:"auto,omitzero" schema:"default=true" doc:"false: a prompt over its budget is an error at once"`
	Prune *bool `json:"prune,omitzero" schema:"default=true" doc:"false: the stage prune_packet is left out"`
}

// TaskSettings configure the queue of tasks.
type TaskSettings struct {
	RetryDelayMS *int `json:"retry_delay_ms,omitzero" schema:"min=0,max=60000,default=1000" doc:"the first wait before a retry on the same model; it doubles up to a minute; 0 means no wait"`
}

// ResultSettings configure ingest_output.
type ResultSettings struct {
	OutputDir string `json:"output_dir,omitzero" doc:"a folder outside the workspace from which results may be read; in a configuration file its path is absolute"`
}

// PlanSettings configure the reading of plans.
type PlanSettings struct {
	Poll     *bool    `json:"poll,omitzero" schema:"default=false" doc:"look at the plans every second, for a file system that does not tell of changes"`
	Dialects []string `json:"dialects,omitzero" schema:"nonblank" doc:"GLOB=NAME: the dialect of plans whose paths match the glob; the first match counts"`
}

// StoreSettings configure how long a store keeps finished records.
type StoreSettings struct {
	KeepDays  *int `json:"keep_days,omitzero" schema:"min=1,max=36500,default=30" doc:"number of days for which finished records are kept: completed and cancelled tasks without dependents, acknowledged, cancelled and untracked sent instructions, events, answers to idempotency keys, and last prompts"`
	KeepTasks *int `json:"keep_tasks,omitzero" schema:"min=0,max=1000000000,default=100000" doc:"largest number of completed and cancelled tasks that are kept; those of the last day are always kept"`
}

// A SettingRow describes one setting.
type SettingRow struct {
	Name    string // for example prompt.max_output_tokens
	Doc     string
	Allowed string       // allowed values, for a sentence that ends "must be"
	BuiltIn string       // default value as JSON, "" for none
	Kind    reflect.Kind // of its Go value: Bool, Int, Slice or String
}

var (
	settingsDecoder = NewDecoder[Settings]()
	settingRows     = rowsOf(nil, "", settingsDecoder.shape)
)

// SettingRows returns all settings, in the order of their declaration.
func SettingRows() []SettingRow { return slices.Clone(settingRows) }

func rowsOf(rows []SettingRow, prefix string, s *shape) []SettingRow {
	for i := range s.fields {
		f := &s.fields[i]
		if f.shape.kind == object {
			rows = rowsOf(rows, prefix+f.name+".", f.shape)
			continue
		}
		row := SettingRow{Name: prefix + f.name, Doc: f.doc, Allowed: f.rules.wanted(f.shape), BuiltIn: f.rules.standard, Kind: f.shape.typ.Kind()}
		if f.shape.kind == text && row.BuiltIn != "" {
			row.BuiltIn = strconv.Quote(row.BuiltIn)
		}
		rows = append(rows, row)
	}
	return rows
}

// ReadSettings reads a configuration file, one object, by the rules of Decode. It returns its values as JSON, by the
// names of the settings.
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

// valuesIn returns the values of the settings in an object.
func valuesIn(top jsontext.Value) map[string][]byte {
	values := map[string][]byte{}
	for _, row := range settingRows {
		at := top
		for name := range strings.SplitSeq(row.Name, ".") {
			at = memberOf(at, name)
		}
		if at != nil {
			_ = at.Canonicalize() // well-formed JSON has no error
			values[row.Name] = at
		}
	}
	return values
}

// memberOf returns a member of an object, or nil.
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

// SettingsOf returns settings with exactly these values, or the error of the first wrong one.
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

// nested turns names with dots into nested objects.
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

// CompleteSettings checks the settings, each alone and all together, and fills in the defaults. Afterwards no group
// and no pointer is nil. The zero value only gets the defaults, because most programs start with it.
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

// fill sets absent values to their defaults.
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

// setStandard sets a value to its default, if there is one.
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

// roomless returns the error for limits that leave no room for a prompt.
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

// LineOf returns the line, from 1, where the name of a value ends, and 0 if the text does not have the value.
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
