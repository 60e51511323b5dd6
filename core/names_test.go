package core_test

import (
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/core/instruction"
	"waybill/core/run"
	"waybill/core/task"
)

// declared returns the values of every string constant of a type, in the order of declaration, so that a test finds a
// constant that its list lacks. The name has the folder of the type's package in front.
func declared(t *testing.T, name string) []string {
	t.Helper()
	folder, typeName := path.Split(name)
	sources, err := filepath.Glob(filepath.Join(folder, "*.go"))
	require.NoError(t, err)
	var values []string
	for _, source := range sources {
		if strings.HasSuffix(source, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), source, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		values = append(values, constants(file, typeName)...)
	}
	require.NotEmpty(t, values, name)
	return values
}

func constants(file *ast.File, typeName string) []string {
	var values []string
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if name, ok := spec.Type.(*ast.Ident); ok && name.Name == typeName {
			for _, value := range spec.Values {
				literal := value.(*ast.BasicLit)
				values = append(values, constant.StringVal(constant.MakeFromLiteral(literal.Value, literal.Kind, 0)))
			}
		}
		return true
	})
	return values
}

func texts[T ~string](list []T) []string {
	var all []string
	for _, v := range list {
		all = append(all, string(v))
	}
	return all
}

func TestListsNameEveryConstant(t *testing.T) {
	require.Equal(t, declared(t, "EventType"), texts(core.EventTypes()))
	require.Equal(t, declared(t, "NoticeKind"), texts(core.NoticeKinds()))
	require.Equal(t, declared(t, "instruction/State"), texts(instruction.States()))
	require.Equal(t, declared(t, "run/State"), texts(run.States()))
	require.Equal(t, declared(t, "run/Halt"), texts(run.Halts()))
	require.Equal(t, declared(t, "run/NextAction"), texts(run.NextActions()))
	require.Equal(t, declared(t, "task/Status"), texts(task.Statuses()))
	require.Equal(t, declared(t, "task/ErrorReason"), texts(task.ErrorReasons()))
	require.Equal(t, declared(t, "task/AttemptStatus"), texts(task.AttemptStatuses()))
	require.Equal(t, declared(t, "task/Cause"), texts(task.Causes()))
	require.Equal(t, declared(t, "task/Class"), texts(task.Classes()))
	require.Equal(t, declared(t, "task/RetryMode"), texts(task.RetryModes()))
	require.Equal(t, declared(t, "task/SessionKind"), texts(task.SessionKinds()))
}

func TestNamesAreDistinctAndFitForTheWire(t *testing.T) {
	dotted := regexp.MustCompile(`^[a-z]+\.[a-z_]+$`)
	word := regexp.MustCompile(`^[a-z_]+$`)
	loud := regexp.MustCompile(`^[A-Z_]+$`)
	for _, list := range []struct {
		names []string
		form  *regexp.Regexp
	}{
		{texts(core.EventTypes()), dotted},
		{texts(core.NoticeKinds()), dotted},
		{texts(instruction.States()), word},
		{texts(run.States()), word},
		{texts(run.Halts()), word},
		{texts(run.NextActions()), word},
		{declared(t, "run/Rule"), word},
		{texts(task.Statuses()), loud},
		{texts(task.ErrorReasons()), word},
		{texts(task.AttemptStatuses()), word},
		{texts(task.Causes()), word},
		{texts(task.Classes()), word},
		{texts(task.RetryModes()), word},
		{texts(task.SessionKinds()), word},
		{[]string{string(instruction.ByCall), string(instruction.ByEvent)}, word},
	} {
		seen := map[string]bool{}
		for _, name := range list.names {
			require.Regexp(t, list.form, name)
			require.False(t, seen[name], "%s is there twice", name)
			seen[name] = true
		}
	}
}

// Each state belongs to one phase, and each phase names a state of the list. Sent is two states: a plain instruction that was
// sent is delivered.
func TestEveryStateIsThatOfOnePhase(t *testing.T) {
	phases := []instruction.Phase{instruction.Queued{}, instruction.Sent{}, instruction.Acknowledged{}, instruction.Failed{}, instruction.Cancelled{}}
	var states []instruction.State
	for _, phase := range phases {
		states = append(states, phase.State())
		require.Equal(t, phase.State(), instruction.Instruction{Tracked: true, Phase: phase}.State())
	}
	require.Equal(t, instruction.StateDelivered, instruction.Instruction{Phase: instruction.Sent{}}.State())
	require.Equal(t, instruction.States(), slices.Insert(states, 2, instruction.StateDelivered))
}

func TestEveryTaskStatusIsThatOfOnePhase(t *testing.T) {
	phases := []task.Phase{
		task.Queued{},
		task.Running{},
		task.Complete{},
		task.Awaiting{},
		task.Errored{},
		task.Cancelled{},
		task.Blocked{},
	}
	var statuses []task.Status
	for _, phase := range phases {
		statuses = append(statuses, phase.Status())
		require.Equal(t, phase.Status(), task.Task{Phase: phase}.Status())
	}
	require.Equal(t, task.Statuses(), statuses)
}

func TestRolesRoundTripTheirNames(t *testing.T) {
	for i := range core.Roles {
		role := core.Role(i + 1)
		read, ok := core.ParseRole(role.String())
		require.True(t, ok, role)
		require.Equal(t, role, read)
	}
	for alias, want := range map[string]core.Role{"implementer": core.Worker, "reviewer": core.SpecReviewer} {
		read, ok := core.ParseRole(alias)
		require.True(t, ok, alias)
		require.Equal(t, want, read)
	}
	for _, stranger := range []core.Role{0, core.Roles + 1} {
		_, ok := core.ParseRole(stranger.String())
		require.False(t, ok, stranger)
	}
	for _, name := range []string{"", "Worker", "worker ", "reviewers"} {
		_, ok := core.ParseRole(name)
		require.False(t, ok, name)
	}
}

func TestStandingsHaveNames(t *testing.T) {
	standings := []run.Standing{
		run.Awaited, run.Submitted, run.Approved, run.Rejected, run.Unusable, run.Replaced, run.Stuck, run.Broken,
	}
	var names []string
	for i, standing := range standings {
		require.Equal(t, run.Standing(i), standing, "%s is stored as its number", standing)
		names = append(names, standing.String())
	}
	require.Equal(t, []string{
		"awaited", "submitted", "approved", "rejected", "unusable", "replaced", "stuck", "broken",
	}, names)
	require.Equal(t, "standing(8)", (run.Broken + 1).String(), "a new standing needs a name")
}

func TestRefusalKindsHaveNames(t *testing.T) {
	require.Equal(t, "invalid_state", core.InvalidState.String())
	require.Equal(t, "not_found", core.NotFound.String())
	require.Equal(t, "queue_full", core.QueueFull.String())
	require.Equal(t, "key_reused", core.KeyReused.String())
	require.Equal(t, "refusal(0)", core.RefusalKind(0).String(), "the zero kind is none")
	require.Equal(t, "stale_attempt", core.StaleAttempt.String())
	require.Equal(t, "already_resolved", core.AlreadyResolved.String())
	require.Equal(t, "session_taken", core.SessionTaken.String())
	require.Equal(t, "attempt_finalized", core.AttemptFinalized.String())
	require.Equal(t, "retry_pending", core.RetryPending.String())
	require.Equal(t, "bad_dependency", core.BadDependency.String())
	require.Equal(t, "foreign", core.Foreign.String())
	require.Equal(t, "refusal(12)", (core.Foreign + 1).String(), "a new kind needs a name")
}

func TestMissingNamesTheThing(t *testing.T) {
	refusal := core.Missing("instruction", "ins_9")
	require.Equal(t, core.NotFound, refusal.Kind)
	require.Equal(t, "instruction", refusal.Noun)
	require.Equal(t, "ins_9", refusal.Subject)
	require.EqualError(t, refusal, `no instruction has the id "ins_9"`)
}
