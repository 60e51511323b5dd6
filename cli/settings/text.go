package settings

import (
	"reflect"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"waybill/schema"
	"waybill/schema/codec"
)

// valueOf returns the value of a setting from the text of an environment variable or a command line. Commas separate
// the parts of a list. The error names the allowed values.
func valueOf(row codec.SettingRow, given string) ([]byte, *schema.Error) {
	value := literal(row.Kind, strings.ToValidUTF8(given, "\ufffd"))
	_, fault := codec.SettingsOf(map[string][]byte{row.Name: value})
	return value, fault
}

// literal returns the JSON that a text most likely means, or a JSON string.
func literal(kind reflect.Kind, given string) []byte {
	bare := jsontext.Value(given)
	switch {
	case kind == reflect.Int && bare.IsValid() && bare.Kind() == '0', kind == reflect.Bool && (given == "true" || given == "false"):
		return bare
	case kind == reflect.Slice:
		parts := []string{}
		if given != "" {
			parts = strings.Split(given, ",")
		}
		for i, part := range parts {
			parts[i] = strings.TrimSpace(part)
		}
		value, _ := codec.Encode(parts)
		return value
	}
	value, _ := codec.Encode(given) // valid UTF-8 has no encoding error
	return value
}
