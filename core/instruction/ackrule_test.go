package instruction_test

import (
	"encoding/json"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/core/instruction"
)

const result = `{
	"command": "make test",
	"result": {"exit_code": 0, "took": 1.50, "flaky": false, "skipped": null},
	"files": ["go.mod", {"path": "main.go", "lines": [10, 20]}],
	"a.b": "dot", "c/d": "slash", "e~f": "tilde", "": "empty", "01": "not a position"
}`

func rule(t testing.TB, match string) instruction.AckRule {
	t.Helper()
	r, err := instruction.NewAckRule("command.finished", match)
	require.NoError(t, err, match)
	return r
}

func matches(r instruction.AckRule, eventType, data string) bool {
	_, ok := r.Matches(eventType, data)
	return ok
}

func TestAckRuleMatches(t *testing.T) {
	for _, row := range []struct {
		story, match string
		want         bool
	}{
		{"no match means any data", ``, true},
		{"an empty match means any data", `{}`, true},
		{"white space does not make a match", " { } ", true},
		{"null means any data", `null`, true},
		{"a member", `{"command": "make test"}`, true},
		{"another value", `{"command": "make"}`, false},
		{"case counts in values", `{"command": "Make test"}`, false},
		{"case counts in names", `{"Command": "make test"}`, false},
		{"a dotted path", `{"result.exit_code": 0}`, true},
		{"every path must hold", `{"result.exit_code": 0, "command": "make"}`, false},
		{"all paths hold", `{"result.exit_code": 0, "command": "make test"}`, true},
		{"a missing member", `{"result.signal": 9}`, false},
		{"a missing member is not null", `{"result.signal": null}`, false},
		{"null is null", `{"result.skipped": null}`, true},
		{"null is not false", `{"result.flaky": null}`, false},
		{"false is false", `{"result.flaky": false}`, true},
		{"0 is not false", `{"result.flaky": 0}`, false},
		{"a number is not its text", `{"result.exit_code": "0"}`, false},
		{"a path through a text", `{"command.exit_code": 0}`, false},
		{"a path through null", `{"result.skipped.why": "slow"}`, false},
		{"a list position", `{"files.0": "go.mod"}`, true},
		{"a path through a list", `{"files.1.lines.1": 20}`, true},
		{"a position behind the end", `{"files.2": null}`, false},
		{"a position before the start", `{"files.-1": null}`, false},
		{"a position is spelled one way", `{"files.00": "go.mod"}`, false},
		{"a position has no sign", `{"files.+0": "go.mod"}`, false},
		{"a position too large for any list", `{"files.99999999999999999999": null}`, false},
		{"digits name a member of an object", `{"01": "not a position"}`, true},
		{"a pointer", `{"/result/exit_code": 0}`, true},
		{"a pointer to a list position", `{"/files/1/path": "main.go"}`, true},
		{"a pointer to a name with a dot", `{"/a.b": "dot"}`, true},
		{"a dotted path does not find a name with a dot", `{"a.b": "dot"}`, false},
		{"a pointer to a name with a slash", `{"/c~1d": "slash"}`, true},
		{"a pointer to a name with a tilde", `{"/e~0f": "tilde"}`, true},
		{"a pointer to the empty name", `{"/": "empty"}`, true},
		{"a whole object, in any order", `{"result": {"skipped": null, "flaky": false, "took": 1.5, "exit_code": 0}}`, true},
		{"an object with a member less", `{"result": {"skipped": null, "flaky": false, "took": 1.5}}`, false},
		{"an object with another member", `{"result": {"skipped": null, "flaky": false, "took": 1.5, "code": 0}}`, false},
		{"an object with a member more", `{"result": {"skipped": null, "flaky": false, "took": 1.5, "exit_code": 0, "signal": null}}`, false},
		{"a list, in its order", `{"files.1.lines": [10, 2e1]}`, true},
		{"a list in another order", `{"files.1.lines": [20, 10]}`, false},
		{"a shorter list", `{"files.1.lines": [10]}`, false},
		{"a longer list", `{"files.1.lines": [10, 20, 30]}`, false},
		{"a list is not an object", `{"files.1.lines": {"0": 10, "1": 20}}`, false},
		{"an object is not a list", `{"result": []}`, false},
	} {
		require.Equal(t, row.want, matches(rule(t, row.match), "command.finished", result), "%s: %s", row.story, row.match)
	}
}

func TestAckRuleNeedsTheExactType(t *testing.T) {
	r := rule(t, "")
	for _, eventType := range []string{"", "command", "command.finished.", "Command.finished", "command.started"} {
		require.False(t, matches(r, eventType, result), eventType)
	}
	require.False(t, matches(instruction.AckRule{}, "", result), "the zero rule matches nothing")
	require.False(t, matches(instruction.AckRule{}, "command.finished", result))
}

func TestAckRuleTakesDataForWhatItIs(t *testing.T) {
	require.True(t, matches(rule(t, ""), "command.finished", ""), "no data and nothing asked of it")
	require.True(t, matches(rule(t, " {} "), "command.finished", ""))
	asks := rule(t, `{"0": 1}`)
	require.True(t, matches(asks, "command.finished", `[1]`), "a list has positions")
	for _, data := range []string{
		"", "null", "1", `"0"`, "{", `{"0": 1} {}`, `{"0": 1}]`, `{"0": 1}x`, "[]", "\xff",
	} {
		require.False(t, matches(asks, "command.finished", data), data)
	}
	require.True(t, matches(asks, "command.finished", "{\"0\": 1}\r\n\t "))
	require.False(t, matches(instruction.AckRule{EventType: "x", Match: "{"}, "x", `{}`), "an unchecked rule matches nothing")
	require.False(t, matches(instruction.AckRule{EventType: "x", Match: "[]"}, "x", `[]`))
	require.False(t, matches(instruction.AckRule{EventType: "x", Match: `{"":1}`}, "x", `{"":1}`))
}

// A rule is kept in one line, and every match that means any data is the same rule.
func TestAckRuleIsKeptInOneForm(t *testing.T) {
	require.Equal(t, `{"result":[1,2],"text":"a\n b"}`, rule(t, "{\n\t\"result\" : [ 1,\r\n 2 ], \"text\": \"a\\n b\" }\n").Match)
	for _, match := range []string{"", "{}", " { } ", "null"} {
		require.Equal(t, instruction.AckRule{EventType: "command.finished"}, rule(t, match), match)
	}
}

func TestNumbersAreComparedByValue(t *testing.T) {
	long := "1." + strings.Repeat("0", 500)
	for _, equal := range [][]string{
		{"1", "1.0", "1e0", "1E+0", "10e-1", "0.1e1", "0.001e+3", "1e-0", long, "1" + strings.Repeat("0", 300) + "e-300"},
		{"0", "-0", "0.0", "0e5", "-0e-99999999999999999999", "0E99999999999999999999"},
		{"-12.5", "-1.25e1", "-125e-1", "-12.50"},
		{"9007199254740993", "9007199254740993.0", "9.007199254740993e15"},
		{"1e999999999", "10e999999998", "0.1e1000000000"},
		{"1e-999999999", "0.1e-999999998"},
		{"100", "1e2", "1e0000000000000000000000002"},
	} {
		for _, other := range equal {
			require.True(t, numbersMatch(t, equal[0], other), "%.40s and %.40s", equal[0], other)
			require.True(t, numbersMatch(t, other, equal[0]), "%.40s and %.40s", other, equal[0])
		}
	}
	for _, different := range [][2]string{
		{"1", "-1"},
		{"1", "10"},
		{"1", "1.000000000000000000000000000001"},
		{"9007199254740993", "9007199254740992"}, // the same float64
		{"0.1", "0.10000000000000000555"},        // the same float64
		{"1e999999999", "1e999999998"},
		{"1e999999999", "-1e999999999"},
		{"1e99999999999999999999", "1e99999999999999999998"},
		{"1e400", "2e400"},
		{"0", "1e-999999999"},
		{"10e9223372036854775807", "1e-9223372036854775808"}, // the same if the exponent wrapped round
	} {
		require.False(t, numbersMatch(t, different[0], different[1]), "%s and %s", different[0], different[1])
	}
}

func numbersMatch(t testing.TB, want, got string) bool {
	t.Helper()
	return matches(rule(t, `{"n": `+want+`}`), "command.finished", `{"n": `+got+`}`)
}

// FuzzNumbers holds the comparison against exact rational arithmetic, wherever that can be afforded.
func FuzzNumbers(f *testing.F) {
	for _, pair := range [][2]string{{"1", "1.0"}, {"1e3", "1000"}, {"-0", "0"}, {"12.50", "1.25e1"}, {"1e300", "1e-300"}, {"0.5", "5"}} {
		f.Add(pair[0], pair[1])
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		x, okX := rational(a)
		y, okY := rational(b)
		if !okX || !okY {
			t.Skip("not two JSON numbers of a size that can be written out")
		}
		require.Equal(t, x.Cmp(y) == 0, numbersMatch(t, a, b), "%s and %s", a, b)
	})
}

func rational(text string) (*big.Rat, bool) {
	var n json.Number
	if strings.HasPrefix(text, `"`) || json.Unmarshal([]byte(text), &n) != nil || n == "" {
		return nil, false
	}
	_, exponent, _ := strings.Cut(strings.ToLower(text), "e")
	if e, err := strconv.Atoi(strings.TrimSpace(exponent)); exponent != "" && (err != nil || e > 999 || e < -999) {
		return nil, false
	}
	return new(big.Rat).SetString(n.String())
}

// FuzzAckRule checks that an event matches the rule made of its own members, and no longer once one of them differs.
func FuzzAckRule(f *testing.F) {
	f.Add(result)
	f.Add(`{"a": [1, {"b": 1e5}], "~/": {"": null}}`)
	f.Add(`{"x": "\u0041", "y": [[], {}]}`)
	f.Add(`[1]`)
	f.Fuzz(func(t *testing.T, data string) {
		if len(data) > 1<<13 {
			t.Skip("may be nested as deep as JSON is read at all, and the test adds a level")
		}
		r, err := instruction.NewAckRule("e", data)
		if err == nil {
			r.Matches("e", data)
		}
		var members map[string]json.RawMessage
		if json.Unmarshal([]byte(data), &members) != nil || len(members) == 0 || strings.Contains(data, "$") {
			return
		}
		own, err := instruction.NewAckRule("e", pointers(t, members))
		require.NoError(t, err)
		require.True(t, matches(own, "e", data), "its own members")

		name := slices.Min(slices.Collect(maps.Keys(members)))
		members[name] = json.RawMessage(`["another", ` + string(members[name]) + `]`)
		require.False(t, matches(own, "e", object(t, members)), "another value of %q", name)
		delete(members, name)
		require.False(t, matches(own, "e", object(t, members)), "without %q", name)
	})
}

// pointers returns the match that asks for every member by its JSON Pointer.
func pointers(t *testing.T, members map[string]json.RawMessage) string {
	match := map[string]json.RawMessage{}
	for name, value := range members {
		match["/"+strings.NewReplacer("~", "~0", "/", "~1").Replace(name)] = value
	}
	return object(t, match)
}

func object(t *testing.T, members map[string]json.RawMessage) string {
	text, err := json.Marshal(members)
	require.NoError(t, err)
	return string(text)
}
