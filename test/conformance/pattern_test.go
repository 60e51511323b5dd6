package conformance_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/test/conformance"
)

func TestMatch(t *testing.T) {
	for _, row := range []struct{ name, pattern, message, why string }{
		{"the same", `{"a":[1,"x",true,null]}`, `{"a":[1,"x",true,null]}`, ""},
		{"members in another order", `{"a":1,"b":2}`, `{"b":2,"a":1}`, ""},
		{"a number is not its text", `{"a":1}`, `{"a":"1"}`, `/a is "1", want 1`},
		{"a number written otherwise", `1`, `1.0`, `the message is 1.0, want 1`},
		{"one member more", `{"a":1}`, `{"a":1,"b":2}`, `/b is not expected: 2`},
		{"one member less", `{"a":{"b":1}}`, `{"a":{}}`, `/a/b is missing`},
		{"whatever more", `{"a":1,"...":"..."}`, `{"a":1,"b":2}`, ""},
		{"whatever more, and one less", `{"a":1,"...":"..."}`, `{"b":2}`, `/a is missing`},
		{"one element more", `[1]`, `[1,2]`, `the message has 2 elements, want 1: [1,2]`},
		{"further elements", `[1,"..."]`, `[1,2,3]`, ""},
		{"no further elements", `[1,"..."]`, `[1]`, ""},
		{"too few elements", `[1,2,"..."]`, `[1]`, `the message has 1 elements, want 2: [1]`},
		{"a list is no object", `{"...":"..."}`, `[]`, `the message is [], want {"...":"..."}`},
		{"an object is no list", `["..."]`, `{}`, `the message is {}, want ["..."]`},
		{"anything", `"<any>"`, `{"a":[null]}`, ""},
		{"any text", `"<text>"`, `""`, ""},
		{"no text", `"<text>"`, `7`, `the message is 7, want <text>`},
		{"a whole number", `"<int>"`, `-7`, ""},
		{"no whole number", `"<int>"`, `7.5`, `the message is 7.5, want <int>`},
		{"the text of a number", `"<int>"`, `"7"`, `the message is "7", want <int>`},
		{"a time", `"<time>"`, `"2026-11-22T09:30:00.123Z"`, ""},
		{"a time of elsewhere", `"<time>"`, `"2026-11-22T09:30:00+01:00"`, `the message is "2026-11-22T09:30:00+01:00", want <time>`},
		{"an id", `"<tsk:1>"`, `"tsk_01-ab"`, ""},
		{"an id of something else", `"<tsk:1>"`, `"ins_01"`, `the message is "ins_01", want <tsk:1>`},
		{"an empty text has no name", `"<text:a>"`, `""`, `the message is "", want <text:a>`},
		{"bound, and the same", `["<tsk:1>","<tsk:1>"]`, `["tsk_1","tsk_1"]`, ""},
		{"bound, and another", `["<tsk:1>","<tsk:1>"]`, `["tsk_1","tsk_2"]`, `/1 is "tsk_2", and <tsk:1> was "tsk_1" before`},
		{"two names", `["<tsk:1>","<tsk:2>"]`, `["tsk_1","tsk_2"]`, ""},
		{"one name of two kinds", `["<tsk:1>","<text:1>"]`, `["tsk_1","other"]`, ""},
		{"numbers are bound, too", `["<int:1>","<int:1>"]`, `[7,8]`, `/1 is 8, and <int:1> was 7 before`},
		{"within a text", `"task <tsk:1> waited <int> ms since <time>."`, `"task tsk_1 waited 7 ms since 2026-11-22T09:30:00Z."`, ""},
		{"within a text that says something else", `"task <tsk:1> is over"`, `"task tsk_1 is lost"`, `the message is "task tsk_1 is lost", want "task \u003ctsk:1\u003e is over"`},
		{"within a text, bound before", `["<tsk:1>","of <tsk:1>"]`, `["tsk_1","of tsk_2"]`, `/1 is "of tsk_2", want "of \u003ctsk:1\u003e"`},
		{"twice within a text", `"<tsk:1> <tsk:1>"`, `"tsk_1 tsk_2"`, `the message is "tsk_2", and <tsk:1> was "tsk_1" before`},
		{"what is no placeholder", `"<b>"`, `"<b>"`, ""},
		{"signs of patterns are only signs", `"a.c <int>"`, `"abc 7"`, `the message is "abc 7", want "a.c \u003cint\u003e"`},
	} {
		t.Run(row.name, func(t *testing.T) {
			err := conformance.Match(value(t, row.pattern), value(t, row.message), conformance.Bindings{})
			if row.why == "" {
				require.NoError(t, err)
				return
			}
			require.EqualError(t, err, row.why)
		})
	}
}

func TestMismatchBindsNothing(t *testing.T) {
	b := conformance.Bindings{}
	require.Error(t, conformance.Match(value(t, `["<tsk:1>",2]`), value(t, `["tsk_1",3]`), b))
	require.Empty(t, b)
	require.NoError(t, conformance.Match(value(t, `["<tsk:1>",2]`), value(t, `["tsk_1",2]`), b))
	require.NotEmpty(t, b)
}

func TestFill(t *testing.T) {
	b := conformance.Bindings{}
	require.NoError(t, conformance.Match(value(t, `["<tsk:1>","<int:1>","<text:q>"]`), value(t, `["tsk_1",7,"say \"x\" <int:1>\n"]`), b))
	for _, row := range []struct{ text, want string }{
		{`{"a":"<tsk:1>"}`, `{"a":"tsk_1"}`},
		{`{"a":"of <tsk:1>, <tsk:1>"}`, `{"a":"of tsk_1, tsk_1"}`},
		{`{"a":"<int:1>"}`, `{"a":7}`},
		{`{"a":"n <int:1>"}`, `{"a":"n 7"}`},
		{`{"a":"<text:q>"}`, `{"a":"say \"x\" \u003cint:1\u003e\n"}`},
		{`{"a":"<repeat:3:xy>"}`, `{"a":"xyxyxy"}`},
		{`{"a":"<b>"}`, `{"a":"<b>"}`},
	} {
		got, err := b.Fill(row.text)
		require.NoError(t, err, row.text)
		require.Equal(t, row.want, got)
	}
	_, err := b.Fill(`{"a":"<tsk:2>"}`)
	require.EqualError(t, err, "<tsk:2> has not been heard yet")
}

// A value that ends in a quotation mark lost the mark, and the message was no JSON.
func TestFillKeepsQuotationMarksAtTheEnds(t *testing.T) {
	b := conformance.Bindings{}
	require.NoError(t, conformance.Match(value(t, `"<text:q>"`), value(t, `"\"drop it\""`), b))
	got, err := b.Fill(`{"a":"<text:q>"}`)
	require.NoError(t, err)
	require.Equal(t, `{"a":"\"drop it\""}`, got)
}

func TestLiteral(t *testing.T) {
	got, err := conformance.Literal(`a\x0d\x0a\n<repeat:2:[>\xff`)
	require.NoError(t, err)
	require.Equal(t, "a\r\n\\n[[\xff", string(got))
	_, err = conformance.Literal(`<tsk:1>`)
	require.ErrorContains(t, err, "is not filled in here")
	_, err = conformance.Literal(`<repeat:99999999999:x>`)
	require.ErrorContains(t, err, "at most")
}

// Whatever matches a pattern is bound so that the pattern, filled in, matches it again.
func FuzzMatch(f *testing.F) {
	for _, c := range []struct{ pattern, message string }{
		{`{"a":"<tsk:1>","...":"..."}`, `{"a":"tsk_1"}`},
		{`["<int:1>","of <text:a>!","..."]`, `[7,"of x!",null]`},
		{`"<any>"`, `[]`},
		{`"<text:a><text:a>"`, `"xx"`},
	} {
		f.Add(c.pattern, c.message)
	}
	f.Fuzz(func(t *testing.T, patternText, messageText string) {
		pattern, err := conformance.Pattern(patternText)
		if err != nil {
			return
		}
		message, err := conformance.Pattern(messageText)
		if err != nil {
			return
		}
		b := conformance.Bindings{}
		if conformance.Match(pattern, message, b) != nil {
			require.Empty(t, b)
			return
		}
		require.NoError(t, conformance.Match(pattern, message, b), "the second time")
	})
}
