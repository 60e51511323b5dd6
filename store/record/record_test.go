package record

import (
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/core/instruction"
	"waybill/core/task"
	"waybill/store"
)

// The test is inside, because a field that no description names is not stored, and no other package could see that.
func TestEveryFieldIsDescribed(t *testing.T) {
	everyField(t, &Instructions, instruction.Instruction{Phase: instruction.Queued{}})
	everyField(t, &Runs, Run{})
	everyField(t, &Facts, Fact{})
	everyField(t, &Tallies, Tally{})
	everyField(t, &Prompts, store.Prompt{Role: core.Worker})
	everyField(t, &Events, store.Event{})
	everyField(t, &Notices, store.Notice{})
	everyField(t, &Answers, store.Answer{})
	everyField(t, &Tasks, task.Task{Phase: task.Queued{}})
	everyField(t, &Attempts, Attempt{Attempt: task.Attempt{Phase: task.PendingAttempt{}}})
	everyField(t, &Replies, Reply{})
	everyField(t, &Dependencies, Dependency{})
	everyField(t, &Breakers, task.Breaker{})
}

// elsewhere are the fields that a line of an export says in another way, or not.
const elsewhere = " Run.Number Attempt.Position Reply.Position Run.Policy.RequireChecks Task.Current "

func everyField[R any](t *testing.T, k *Kind[R], plain R) {
	t.Helper()
	before := string(k.Export(&plain))
	name := reflect.TypeFor[R]().Name()
	eachLeaf(t, reflect.ValueOf(&plain).Elem(), name, func(path string) {
		require.NotEqual(t, before, string(k.Export(&plain)), "%s is not described", path)
	})
	require.Equal(t, before, string(k.Export(&plain)))
}

// eachLeaf changes each field of a record for the time of a call.
func eachLeaf(t *testing.T, v reflect.Value, path string, changed func(path string)) {
	if strings.Contains(elsewhere, " "+path+" ") {
		return
	}
	old := reflect.ValueOf(v.Interface())
	switch v.Kind() {
	case reflect.String:
		v.SetString("x")
	case reflect.Int, reflect.Int64:
		v.SetInt(7)
	case reflect.Uint8:
		v.SetUint(3)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Array:
		eachLeaf(t, v.Index(v.Len()-1), path, changed)
		return
	case reflect.Struct:
		switch whole := v.Addr().Interface().(type) {
		case *task.Chain:
			var err error
			*whole, err = task.NewChain([]task.Model{{Provider: "p", ID: "m"}})
			require.NoError(t, err)
		case *task.Offer:
			var err error
			*whole, err = task.ParseOffer(`{"options":[{"label":"a"},{"label":"b"}]}`)
			require.NoError(t, err)
		default:
			for i := range v.NumField() {
				f := v.Type().Field(i)
				sub := path + "." + f.Name
				if f.Anonymous {
					sub = path
				}
				eachLeaf(t, v.Field(i), sub, changed)
			}
			return
		}
	default:
		return // a phase: the laws of the store write and read each of them
	}
	changed(path)
	v.Set(old)
}

// A stored number with more bits than its field is no record, even if its checksum is right.
func TestANumberThatDoesNotFitIsRefused(t *testing.T) {
	r := Run{Number: 1}
	row := Runs.Values(&r)
	for i, name := range Runs.Columns() {
		if name == "standing_spec" {
			row[i] = int64(256)
		}
	}
	var got Run
	_, sound := Runs.Take(append(row, Runs.Sum(row)), &got)
	require.False(t, sound)
}
