package codec_test

import (
	"cmp"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/schema"
	"waybill/schema/codec"
)

func settingRows() map[string]codec.SettingRow {
	rows := map[string]codec.SettingRow{}
	for _, row := range codec.SettingRows() {
		rows[row.Name] = row
	}
	return rows
}

// bounds are the rules of a tag that say which values are allowed.
var bounds = regexp.MustCompile(`(min|max|enum)=[^,]*`)

// tagsOf calls found with the path and the rules of each member in a type, and of all in it.
func tagsOf(of reflect.Type, path string, found func(path, rules string)) {
	for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice {
		of = of.Elem()
	}
	if of.Kind() != reflect.Struct || of.PkgPath() != reflect.TypeFor[schema.Settings]().PkgPath() {
		return
	}
	for i := range of.NumField() {
		f := of.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		name = strings.TrimPrefix(path+"."+name, ".")
		found(name, f.Tag.Get("schema"))
		tagsOf(f.Type, name, found)
	}
}

// A param that says it is a setting where it is absent allows what the setting allows, and is built in alike.
func TestParamsAndTheirSettingsAgree(t *testing.T) {
	rows, tags, named := settingRows(), map[string]string{}, map[string]bool{}
	tagsOf(reflect.TypeFor[schema.Settings](), "", func(path, rules string) { tags[path] = rules })
	agrees := func(path, rules string) {
		_, setting, ok := strings.Cut(rules, "setting=")
		if !ok {
			return
		}
		named[setting] = true
		if setting == "prompt.max_input_tokens" { // of which there is one for each kind of role
			require.Equal(t, bounds.FindAllString(tags[setting+".worker"], -1), bounds.FindAllString(rules, -1))
			return
		}
		require.Contains(t, rows, setting, path)
		require.Equal(t, bounds.FindAllString(tags[setting], -1), bounds.FindAllString(rules, -1), setting)
		_, standard, _ := strings.Cut(rules, "default=")
		standard, _, _ = strings.Cut(standard, ",")
		require.Equal(t, strings.Trim(rows[setting].BuiltIn, `"`), standard, setting)
	}
	for _, m := range schema.Methods {
		tagsOf(m.Params, "", agrees)
	}
	for name := range rows {
		group, _, _ := strings.Cut(name, ".")
		known := named[name] || strings.HasPrefix(name, "prompt.max_input_tokens.") && named["prompt.max_input_tokens"]
		require.Equal(t, group == "prompt" || group == "policy", known, "%s: a param of a call says that it is a setting", name)
	}
}

// What is built in is allowed, and completing settings twice is the same as once.
func TestCompleteSettings(t *testing.T) {
	full, fault := codec.CompleteSettings(schema.Settings{})
	require.Nil(t, fault)
	require.Equal(t, 4800, *full.Prompt.MaxInputTokens.Worker)
	require.Equal(t, 4000, *full.Prompt.MaxInputTokens.Reviewer)
	require.Equal(t, 1200, *full.Prompt.MaxOutputTokens)
	require.NotNil(t, full.Results)
	again, fault := codec.CompleteSettings(full)
	require.Nil(t, fault)
	require.Equal(t, full, again)
}

// A value in a file is the same however it is written.
func TestReadSettingsGivesOneFormOfAValue(t *testing.T) {
	values, fault := codec.ReadSettings([]byte("{\"prompt\" : {\"tokenizer\": \"o20\\u0030k\"}, \"plans\": {\"dialects\": [ \"a=b\" , \"c=d\"]},\n\"_meta\": 1, \"x-why\": {}}"))
	require.Nil(t, fault)
	require.Equal(t, map[string][]byte{"prompt.tokenizer": []byte(`"o200k"`), "plans.dialects": []byte(`["a=b","c=d"]`)}, values)
}

func TestLineOf(t *testing.T) {
	raw := []byte("{\n \"a\": {\n\n  \"b\": [\n 1,\n 2]},\n \"c/d\": 5}")
	for pointer, line := range map[string]int{"": 1, "/a": 2, "/a/b": 4, "/a/b/0": 5, "/a/b/1": 6, "/c~1d": 7, "/none": 0, "/a/c": 0} {
		require.Equal(t, line, codec.LineOf(raw, pointer), pointer)
	}
	require.Zero(t, codec.LineOf([]byte("{"), "/a"))
	require.Zero(t, codec.LineOf(nil, "/a"))
}

// FuzzSettings reads any file: what is taken can be completed or breaks a rule of the whole, is taken again from
// what was made of it, and what is refused names no line that the file does not have.
func FuzzSettings(f *testing.F) {
	for name, row := range settingRows() {
		inner := cmp.Or(row.BuiltIn, "[]")
		for part := name; part != ""; {
			at := strings.LastIndexByte(part, '.')
			inner = fmt.Sprintf("{%q: %s}", part[at+1:], inner)
			part = part[:max(at, 0)]
		}
		f.Add([]byte(inner))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		values, fault := codec.ReadSettings(raw)
		if fault != nil {
			problems, _ := fault.Data.Details["errors"].([]schema.Problem)
			for _, p := range problems {
				require.LessOrEqual(t, codec.LineOf(raw, p.Pointer), 1+strings.Count(string(raw), "\n"))
			}
			return
		}
		s, fault := codec.SettingsOf(values)
		require.Nil(t, fault)
		text, err := codec.Encode(s)
		require.NoError(t, err)
		again, fault := codec.ReadSettings(text)
		require.Nil(t, fault)
		for name, value := range again {
			require.Equal(t, string(values[name]), string(value), name)
		}
		full, fault := codec.CompleteSettings(s)
		require.Equal(t, fault == nil, *full.Prompt.MaxOutputTokens < min(*full.Prompt.MaxInputTokens.Worker, *full.Prompt.MaxInputTokens.Reviewer))
	})
}
