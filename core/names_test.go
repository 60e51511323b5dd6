package core_test

import (
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/core"
)

// declared gives the values of every string constant of the named type, in the order of declaration,
// so that a constant which its list forgets is found without anybody remembering it.
func declared(t *testing.T, typeName string) []string {
	t.Helper()
	sources, err := filepath.Glob("*.go")
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
	require.NotEmpty(t, values, typeName)
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
	require.Equal(t, declared(t, "State"), texts(core.States()))
	require.Equal(t, declared(t, "RunState"), texts(core.RunStates()))
	require.Equal(t, declared(t, "Halt"), texts(core.Halts()))
	require.Equal(t, declared(t, "NextAction"), texts(core.NextActions()))
	require.Equal(t, declared(t, "TaskStatus"), texts(core.TaskStatuses()))
	require.Equal(t, declared(t, "ErrorReason"), texts(core.ErrorReasons()))
	require.Equal(t, declared(t, "AttemptStatus"), texts(core.AttemptStatuses()))
	require.Equal(t, declared(t, "Cause"), texts(core.Causes()))
	require.Equal(t, declared(t, "Class"), texts(core.Classes()))
	require.Equal(t, declared(t, "RetryMode"), texts(core.RetryModes()))
	require.Equal(t, declared(t, "SessionKind"), texts(core.SessionKinds()))
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
		{texts(core.States()), word},
		{texts(core.RunStates()), word},
		{texts(core.Halts()), word},
		{texts(core.NextActions()), word},
		{declared(t, "Rule"), word},
		{texts(core.TaskStatuses()), loud},
		{texts(core.ErrorReasons()), word},
		{texts(core.AttemptStatuses()), word},
		{texts(core.Causes()), word},
		{texts(core.Classes()), word},
		{texts(core.RetryModes()), word},
		{texts(core.SessionKinds()), word},
		{[]string{string(core.ByCall), string(core.ByEvent)}, word},
	} {
		seen := map[string]bool{}
		for _, name := range list.names {
			require.Regexp(t, list.form, name)
			require.False(t, seen[name], "%s is there twice", name)
			seen[name] = true
		}
	}
}

// Each state belongs to one phase, and each phase names a state of the list.
func TestEveryStateIsThatOfOnePhase(t *testing.T) {
	phases := []core.Phase{core.Queued{}, core.Sent{}, core.Acknowledged{}, core.Failed{}, core.Cancelled{}}
	var states []core.State
	for _, phase := range phases {
		states = append(states, phase.State())
		require.Equal(t, phase.State(), core.Instruction{Phase: phase}.State())
	}
	require.Equal(t, core.States(), states)
}

func TestEveryTaskStatusIsThatOfOnePhase(t *testing.T) {
	phases := []core.TaskPhase{
		core.TaskQueued{},
		core.TaskRunning{},
		core.TaskComplete{},
		core.TaskAwaiting{},
		core.TaskErrored{},
		core.TaskCancelled{},
		core.TaskBlocked{},
	}
	var statuses []core.TaskStatus
	for _, phase := range phases {
		statuses = append(statuses, phase.Status())
		require.Equal(t, phase.Status(), core.Task{Phase: phase}.Status())
	}
	require.Equal(t, core.TaskStatuses(), statuses)
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
	standings := []core.Standing{
		core.Awaited, core.Submitted, core.Approved, core.Rejected, core.Unusable, core.Replaced, core.Stuck, core.Broken,
	}
	var names []string
	for i, standing := range standings {
		require.Equal(t, core.Standing(i), standing, "%s is stored as its number", standing)
		names = append(names, standing.String())
	}
	require.Equal(t, []string{
		"awaited", "submitted", "approved", "rejected", "unusable", "replaced", "stuck", "broken",
	}, names)
	require.Equal(t, "standing(8)", (core.Broken + 1).String(), "a new standing needs a name")
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
