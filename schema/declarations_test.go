package schema_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/internal/nearest"
	"waybill/schema"
	"waybill/schema/shape"
)

func TestMethodsAreDeclaredWell(t *testing.T) {
	names := map[string]bool{}
	for _, m := range schema.Methods {
		for _, name := range append([]string{m.Name}, m.Aliases...) {
			require.False(t, names[name], "%s is there twice", name)
			names[name] = true
		}
		if m.Kind != schema.Connection && m.Name != "rpc.discover" {
			require.Regexp(t, `^[a-z]+(_[a-z]+)*$`, m.Name, "one spelling for JSON-RPC, tools and languages")
		}
		require.LessOrEqual(t, len(m.Name), 40, m.Name)
		require.Regexp(t, `\.$`, m.Doc, "%s: the doc is a sentence", m.Name)
		require.NotEmpty(t, m.Group, m.Name)
		require.NotContains(t, m.Kind.String(), "(", "%s: no such kind", m.Name)
		if m.Notification {
			require.Equal(t, schema.Connection, m.Kind, m.Name)
			require.Equal(t, reflect.TypeFor[schema.Null](), m.Result, m.Name)
		}
	}
	for _, n := range schema.Notifications {
		require.Regexp(t, `^([a-z]+/[a-z]+(_[a-z]+)*|log)$`, n.Name)
		require.Regexp(t, `\.$`, n.Doc, n.Name)
	}
}

// A change is done once per key, and its answer says where in the log it is.
func TestChangesAreKeyedAndNumbered(t *testing.T) {
	for _, m := range schema.Methods {
		_, keyed := m.Params.FieldByName("IdempotencyKey")
		require.Equal(t, m.Kind == schema.Change, keyed, m.Name)
		if m.Kind == schema.Change {
			seq, ok := m.Result.FieldByName("Seq")
			require.True(t, ok, m.Name)
			require.Equal(t, "seq", seq.Tag.Get("json"), m.Name)
		}
	}
}

// In params, a member is required or may be absent; there is nothing in between.
func TestMembersOfParamsAreRequiredOrOptional(t *testing.T) {
	var look func(t *testing.T, params reflect.Type)
	look = func(t *testing.T, params reflect.Type) {
		for params.Kind() == reflect.Pointer || params.Kind() == reflect.Slice {
			params = params.Elem()
		}
		if params.Kind() != reflect.Struct {
			return
		}
		for i := range params.NumField() {
			f := params.Field(i)
			if !f.IsExported() {
				continue
			}
			if !f.Anonymous {
				required := slices.Contains(strings.Split(f.Tag.Get("schema"), ","), "required")
				optional := strings.HasSuffix(f.Tag.Get("json"), ",omitzero")
				require.NotEqual(t, required, optional, "%s.%s", params.Name(), f.Name)
			}
			look(t, f.Type)
		}
	}
	for _, m := range schema.Methods {
		look(t, m.Params)
	}
}

func TestNamesOnTheWireAreSnakeCase(t *testing.T) {
	types := []reflect.Type{reflect.TypeFor[schema.Error]()}
	for _, m := range schema.Methods {
		types = append(types, m.Params, m.Result)
	}
	for _, n := range schema.Notifications {
		types = append(types, n.Params)
	}
	for _, object := range shape.Objects(types...) {
		for _, f := range object.Fields {
			require.Regexp(t, `^[a-z][a-z0-9]*(_[a-z]+)*$`, f.Name, object.Type.Name())
			if strings.Contains(f.Name, "_ms") {
				require.Equal(t, shape.Integer, f.Shape.Kind, "%s.%s", object.Type.Name(), f.Name)
			}
		}
	}
}

func TestCodesAreInTheTableOnce(t *testing.T) {
	seen := map[schema.Code]bool{}
	for _, row := range schema.ErrorTable {
		require.False(t, seen[row.Code], "%s is there twice", row.Code)
		seen[row.Code] = true
		require.Regexp(t, `\.$`, row.Doc, "%s: the doc is a sentence", row.Code)
		require.False(t, -32099 <= row.Number && row.Number <= -32000, "%s: other protocols use this number", row.Code)
		got, ok := schema.Row(row.Code)
		require.True(t, ok)
		require.Equal(t, row, got)
	}
	_, ok := schema.Row("NO_SUCH_CODE")
	require.False(t, ok)
	for _, m := range schema.Methods {
		for _, code := range m.Errors {
			require.True(t, seen[code], "%s answers %s", m.Name, code)
			require.NotContains(t, schema.Everywhere, code, "%s says what goes without saying", m.Name)
		}
	}
	for _, code := range schema.Everywhere {
		require.True(t, seen[code], code)
	}
}

func TestNewErrorTakesItsFactsFromTheTable(t *testing.T) {
	err := schema.NewError(schema.QueueFull, "the queue is full").With("limit", 1).Hint("acknowledge older ones")
	require.EqualError(t, err, "the queue is full")
	require.Equal(t, &schema.Error{
		Code: 4290, Message: "the queue is full",
		Data: schema.ErrorData{
			Code: schema.QueueFull, Retryable: true, Outcome: schema.OutcomeNotApplied,
			Hint: "acknowledge older ones", Details: map[string]any{"limit": 1},
		},
	}, err)
	require.PanicsWithValue(t, "schema: error code NO_SUCH_CODE is not in the table", func() {
		_ = schema.NewError("NO_SUCH_CODE", "")
	})
}

func TestKindsHaveNames(t *testing.T) {
	require.Equal(t, "connection control read change kind(0)", strings.Join([]string{
		schema.Connection.String(), schema.Control.String(), schema.Read.String(), schema.Change.String(), schema.Kind(0).String(),
	}, " "))
}

// The fault: a name that does not exist gets an answer that does not help.
func TestFaultR11_TheNearestMethodsAreNamed(t *testing.T) {
	var known []string
	for _, m := range schema.Methods {
		known = append(append(known, m.Name), m.Aliases...)
	}
	for name, want := range map[string][]string{
		"queue_instructions":      {"queue_instruction"},
		"Ping":                    {"ping"},
		"getStatus":               {"get_status"},
		"rpc.discovery":           {"rpc.discover"},
		"list_instruction":        {"list_instructions"},
		"queue_instruction_ack":   {"queue_instruction", "queue_instruction_with_ack"},
		"tools/call":              {},
		"":                        {},
		"\xff":                    {},
		"textDocument/completion": {},
	} {
		require.Equal(t, want, nearest.Names(name, known), name)
	}
}
