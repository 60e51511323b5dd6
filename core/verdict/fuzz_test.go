package verdict_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/core/verdict"
	"waybill/test/slow"
)

// FuzzJudge holds the laws to any text.
func FuzzJudge(f *testing.F) {
	for _, e := range examples(f) {
		f.Add(e.text, uint8(e.asked.Role), "2.1")
	}
	f.Fuzz(func(t *testing.T, text string, role uint8, item string) {
		slow.InTime(t)
		asked := verdict.Asked{Role: core.Role(role % (core.Roles + 1)), ItemID: item, TaskID: "tsk_7"}
		if asked.Role == 0 {
			require.Equal(t, verdict.Invalid, verdict.Judge(text, asked).Verdict, "no role was asked")
			return
		}
		for _, law := range laws {
			require.Empty(t, law.check(text, asked), law.name)
		}
		j := verdict.Judge(text, asked)
		require.LessOrEqual(t, len(j.Errors), 51)
		require.LessOrEqual(t, len(j.Warnings), 240)
	})
}

// FuzzJSON compares the walk over JSON with the standard library: the same texts are JSON, and they
// have the same members.
func FuzzJSON(f *testing.F) {
	for _, text := range []string{
		`{}`, `{"a":[1,-0.5e+3,true,false,null,"x"]}`, `{"a":"\u00e9\ud83d\ude00\\\""}`, `{"a":1,"a":2}`, `{"a":01}`,
		`{"a":"` + "\x01" + `"}`, `{"a":1,}`, `{"a" : [ ] , "b":{ }}`, `{"a":-}`, `{"a":1.}`, `{"a":1e}`, `{"a":tru}`, `{"a"}`,
		`{"task_id":"2.1"}`, `{"summary":"\ud800"}`, "{\"a\":\"\xff\"}", `{"a":[[[[]]]]}`, `{"a":1`, `{"a":[1}`, `{"a":[1 2]}`, `{"a":1 "b":2}`, "{}``````E",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		slow.InTime(t)
		text = strings.ToValidUTF8(text, "\uFFFD")
		if !strings.HasPrefix(text, "{") || strings.Contains(text, "DISPATCH_RESULT") || depth(text) > 128 ||
			strings.TrimRight(text, " \t\r\n`*:") != strings.TrimRight(text, " \t\r\n") {
			return
		}
		j := verdict.Judge("BEGIN_DISPATCH_RESULT\n"+text+"\nEND_DISPATCH_RESULT", asked(core.Worker))
		broken := slices.ContainsFunc(j.Errors, func(p verdict.Problem) bool { return p.Fault == verdict.BlockBroken })
		if json.Valid([]byte(text)) {
			require.False(t, broken, "%q", text)
			require.Equal(t, verdict.JSONBlock, j.Grammar)
			sameSummary(t, text, j)
			return
		}
		require.NotEqual(t, verdict.JSONBlock, grammarOf(j), "%q", text)
	})
}

// grammarOf returns the grammar of a judgement, and none for a block that was begun and is broken.
func grammarOf(j verdict.Judgement) verdict.Grammar {
	if slices.ContainsFunc(j.Errors, func(p verdict.Problem) bool { return p.Fault == verdict.BlockBroken }) {
		return verdict.None
	}
	return j.Grammar
}

// sameSummary compares one string member with what the standard library makes of it.
func sameSummary(t *testing.T, text string, j verdict.Judgement) {
	var members map[string]json.RawMessage
	require.NoError(t, json.Unmarshal([]byte(text), &members))
	raw, ok := members["summary"]
	if !ok || raw[0] != '"' {
		return
	}
	var want string
	require.NoError(t, json.Unmarshal(raw, &want))
	if want = withoutControls(want); len(want) <= 16<<10 {
		require.Equal(t, want, j.Result.Summary)
	}
}

var jsonString = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)

func depth(text string) int {
	now, most := 0, 0
	for _, b := range jsonString.ReplaceAllString(text, "") {
		switch b {
		case '{', '[':
			now++
			most = max(most, now)
		case '}', ']':
			now--
		}
	}
	return most
}
