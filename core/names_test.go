package core_test

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/core/coretest"
	"waybill/core/instruction"
	"waybill/core/run"
	"waybill/core/task"
)

// declared returns the values of the string constants of a type, in the order of declaration. The name begins with the
// folder of the package.
func declared(t *testing.T, name string) (values []string) {
	t.Helper()
	folder, typeName := path.Split(name)
	sources, err := filepath.Glob(filepath.Join(folder, "*.go"))
	require.NoError(t, err)
	constant := regexp.MustCompile(`(?m)^\t\w+ +` + typeName + ` += "(.+?)"`)
	for _, source := range sources {
		text, err := os.ReadFile(source)
		require.NoError(t, err)
		for _, found := range constant.FindAllStringSubmatch(string(text), -1) {
			values = append(values, found[1])
		}
	}
	require.NotEmpty(t, values, name)
	return values
}

func texts[T ~string](list []T) []string {
	var all []string
	for _, v := range list {
		all = append(all, string(v))
	}
	return all
}

// Each list has every constant of its type, and the names are distinct and fit for the wire.
func TestListsNameEveryConstant(t *testing.T) {
	dotted, word, loud := regexp.MustCompile(`^[a-z]+\.[a-z_]+$`), regexp.MustCompile(`^[a-z_]+$`), regexp.MustCompile(`^[A-Z_]+$`)
	for name, list := range map[string]struct {
		names []string // nil for a type without a list
		form  *regexp.Regexp
	}{
		"EventType":             {texts(core.EventTypes()), dotted},
		"NoticeKind":            {texts(coretest.NoticeKinds()), dotted},
		"instruction/State":     {texts(instruction.States()), word},
		"instruction/AckSource": {nil, word},
		"run/State":             {texts(run.States()), word},
		"run/Halt":              {texts(coretest.Halts()), word},
		"run/NextAction":        {texts(coretest.NextActions()), word},
		"run/Rule":              {nil, word},
		"task/Status":           {texts(task.Statuses()), loud},
		"task/ErrorReason":      {texts(coretest.ErrorReasons()), word},
		"task/AttemptStatus":    {texts(coretest.AttemptStatuses()), word},
		"task/Cause":            {nil, word},
		"task/Class":            {texts(task.Classes()), word},
		"task/RetryMode":        {texts(coretest.RetryModes()), word},
		"task/SessionKind":      {texts(coretest.SessionKinds()), word},
	} {
		values := declared(t, name)
		if list.names != nil {
			require.Equal(t, values, list.names)
		}
		require.Len(t, slices.Compact(slices.Sorted(slices.Values(values))), len(values), name)
		for _, value := range values {
			require.Regexp(t, list.form, value)
		}
	}
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

func TestRoleSetsHaveTheirRolesAndNoOthers(t *testing.T) {
	require.Equal(t, core.RoleSet(0), core.RolesOf())
	set := core.RolesOf(core.SpecReviewer, core.SpecReviewer)
	for role, want := range map[core.Role]struct{ has, reviews bool }{
		core.Worker: {false, false}, core.SpecReviewer: {true, true}, core.CodeQualityReviewer: {false, true},
	} {
		require.Equal(t, want.has, set.Has(role), role)
		require.Equal(t, want.reviews, role.Reviewer(), role)
	}
}

// A standing is stored as its number, and a new standing or refusal needs a name.
func TestNumbersHaveNames(t *testing.T) {
	for i, name := range strings.Fields("awaited submitted approved rejected unusable replaced stuck broken standing(8)") {
		require.Equal(t, name, run.Standing(i).String())
	}
	for i, name := range strings.Fields("refusal(0) invalid_state not_found queue_full key_reused stale_attempt already_resolved " +
		"session_taken attempt_finalized retry_pending bad_dependency bad_answer foreign refusal(13)") {
		require.Equal(t, name, core.RefusalKind(i).String())
	}
}
