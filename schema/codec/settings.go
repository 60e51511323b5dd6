package codec

import (
	"bytes"
	"reflect"
	"strconv"
	"strings"

	"waybill/internal/lazy"
	"waybill/schema"
	"waybill/schema/shape"

	"github.com/go-json-experiment/json/jsontext"
)

// A SettingRow describes one setting.
type SettingRow struct {
	Name    string // for example prompt.max_output_tokens
	Doc     string
	Allowed string       // allowed values, for a sentence that ends "must be"
	BuiltIn string       // default value as JSON, "" for none
	Kind    reflect.Kind // of its Go value: Bool, Int, Slice or String
}

var settingsDecoder = lazy.Value[Decoder]{Of: NewDecoder[schema.Settings]}

// SettingRows returns all settings, in the order of their declaration.
func SettingRows() []SettingRow { return rowsOf(nil, "", settingsDecoder.Get().shape) }

func rowsOf(rows []SettingRow, prefix string, s *shape.Shape) []SettingRow {
	for i := range s.Fields {
		f := &s.Fields[i]
		if f.Shape.Kind == shape.Object {
			rows = rowsOf(rows, prefix+f.Name+".", f.Shape)
			continue
		}
		row := SettingRow{Name: prefix + f.Name, Doc: f.Doc, Allowed: f.Rules.Wanted(f.Shape), BuiltIn: f.Rules.Default, Kind: f.Shape.Type.Kind()}
		if f.Shape.Kind == shape.Text && row.BuiltIn != "" {
			row.BuiltIn = strconv.Quote(row.BuiltIn)
		}
		rows = append(rows, row)
	}
	return rows
}

// ReadSettings reads a configuration file, one object, by the rules of Decode. It returns its values as JSON, by the
// names of the settings.
func ReadSettings(raw []byte) (map[string][]byte, *schema.Error) {
	if fault := syntax(raw); fault != nil {
		return nil, fault
	}
	top := jsontext.Value(trim(raw))
	if top.Kind() != '{' {
		return nil, schema.NewError(schema.InvalidParams, "must be one JSON object, and {} for no settings")
	}
	if fault := settingsDecoder.Get().Decode(top, new(schema.Settings)); fault != nil {
		return nil, fault
	}
	return valuesIn(top), nil
}

// valuesIn returns the values of the settings in an object.
func valuesIn(top jsontext.Value) map[string][]byte {
	values := map[string][]byte{}
	for _, row := range SettingRows() {
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
func SettingsOf(values map[string][]byte) (s schema.Settings, fault *schema.Error) {
	if len(values) == 0 {
		return s, nil
	}
	raw, err := Encode(nested(values))
	if err != nil {
		return s, schema.NewError(schema.InvalidParams, err.Error())
	}
	fault = settingsDecoder.Get().Decode(raw, &s)
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
func CompleteSettings(s schema.Settings) (full schema.Settings, fault *schema.Error) {
	if s != full {
		raw, err := Encode(s)
		if err != nil {
			return full, schema.NewError(schema.InvalidParams, err.Error())
		}
		if fault := settingsDecoder.Get().Decode(raw, &full); fault != nil {
			return full, fault
		}
	}
	settingsDecoder.Get().shape.SetDefaults(reflect.ValueOf(&full).Elem())
	return full, roomless(full.Prompt)
}

// roomless returns the error for limits that leave no room for a prompt.
func roomless(p *schema.PromptSettings) *schema.Error {
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
		problem := schema.Problem{Pointer: "/prompt/max_output_tokens", Expected: "a whole number " + wanted, Found: strconv.Itoa(output)}
		problem.Message = problem.Pointer + " must be " + wanted + ", and is " + problem.Found + "; there would be no room for a prompt"
		return schema.NewError(schema.InvalidParams, problem.Message).With("other", other).With("errors", []schema.Problem{problem})
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
