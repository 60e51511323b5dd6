package api_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/schema/codec"
)

// Each call of the example in docs/prompts.md is made, and its answer compared.
func TestTheWorkedExampleOfPromptsIsTrue(t *testing.T) {
	text, err := os.ReadFile("../docs/prompts.md")
	require.NoError(t, err)
	_, example, ok := strings.Cut(string(text), "\n## A worked example\n")
	require.True(t, ok)
	example, _, ok = strings.Cut(example, "\n## ")
	require.True(t, ok)
	e := &playing{host: newHost(t, setup{newID: counted()}), cursors: map[string]string{}}
	for _, part := range strings.Split(example, "\n```")[1:] {
		language, body, _ := strings.Cut(part, "\n")
		switch body += "\n"; language {
		case "markdown":
			e.write("tasks.md", body, time.Hour)
		case "json":
			for _, call := range strings.Split("\n"+body, "\n> ")[1:] {
				e.call(call)
			}
		case "text":
			require.Equal(t, body, strings.TrimPrefix(strings.TrimPrefix(e.last.str("prompt"), e.last.str("stable_prefix")), "\n"))
		case "":
		default:
			require.Fail(t, "a block of "+language)
		}
	}
	require.Equal(t, 5, e.calls)
}

// A playing example holds its answers so far.
type playing struct {
	*host
	calls   int
	cursors map[string]string // by the names that the example has for them
	last    object            // the newest prompt
}

// call makes a call and compares its answer with the example.
func (e *playing) call(text string) {
	request, answer, ok := strings.Cut(text, "\n< ")
	require.True(e.t, ok, text)
	method, params, ok := strings.Cut(request, " ")
	require.True(e.t, ok, text)
	for name, cursor := range e.cursors {
		params = strings.ReplaceAll(params, name, cursor)
	}
	e.calls++
	var want, got any
	require.NoError(e.t, json.Unmarshal([]byte(answer), &want), answer)
	if a := <-e.begin(e.t.Context(), method, "%s", params); a.Err != nil {
		fault, err := codec.Encode(a.Err.Data)
		require.NoError(e.t, err)
		got = newObject(e.t, fault).value
	} else {
		o := e.result(a)
		got = o.value
		if method == "compile_prompt" {
			e.last = o
		}
	}
	e.same(request, want, got)
}

// same compares the named members of an answer. Facts are compared completely.
func (e *playing) same(where string, want, got any) {
	members, object := want.(map[string]any)
	name, text := want.(string)
	switch {
	case object:
		has, ok := got.(map[string]any)
		require.True(e.t, ok, where)
		for key, value := range members {
			require.Contains(e.t, has, key, where)
			e.same(where+"/"+key, value, has[key])
		}
		if strings.HasSuffix(where, "/facts") {
			require.Len(e.t, has, len(members), where)
		}
	case text && strings.HasPrefix(name, "p3_"):
		if e.cursors[name] == "" {
			for other, cursor := range e.cursors {
				require.NotEqual(e.t, cursor, got, fmt.Sprintf("%s: the cursor is that of %s", where, other))
			}
			e.cursors[name] = got.(string)
		}
		require.Equal(e.t, e.cursors[name], got, where)
	default:
		require.Equal(e.t, want, got, where)
	}
}
