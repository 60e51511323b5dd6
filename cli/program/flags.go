package program

import (
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"waybill/schema"
)

// NoFiles keeps the shell from completing the values of these flags with the names of files.
func NoFiles(cmd *cobra.Command, flags ...string) {
	for _, flag := range flags {
		_ = cmd.RegisterFlagCompletionFunc(flag, cobra.NoFileCompletions)
	}
}

// HooksVariable switches the hooks of an agent off, with the value off: something else does their work.
const HooksVariable = "WAYBILL_HOOKS"

// TaskVariables are the environment variables with which waybill work describes a task to its command.
var TaskVariables = []string{
	"WAYBILL_TASK_ID", "WAYBILL_ATTEMPT_ID", "WAYBILL_ATTEMPT_NUMBER", "WAYBILL_SESSION_ID", "WAYBILL_CONTINUATION",
	"WAYBILL_RUN_ID", "WAYBILL_ROLE", "WAYBILL_PROVIDER_ID", "WAYBILL_MODEL_ID", "WAYBILL_MODEL_VARIANT",
}

// AttemptVariable returns the name of a task variable that is set, or "". If one is, this process was started by a command of
// waybill work, and so by an agent.
func AttemptVariable(env func(string) string) string {
	for _, name := range TaskVariables {
		if env(name) != "" {
			return name
		}
	}
	return ""
}

// RefuseAgents returns an error if a command of waybill work started this process. The message ends with why.
func (a *App) RefuseAgents(why string) error {
	name := AttemptVariable(a.Env)
	if name == "" {
		return nil
	}
	return schema.NewError(schema.InvalidState, name+" is set, so an agent runs this command, and "+why)
}

// ParseModel reads provider/model[:variant]. The names of models may have slashes in them.
func ParseModel(text string) (schema.Model, error) {
	provider, rest, _ := strings.Cut(text, "/")
	model, variant := rest, ""
	if i := strings.LastIndexByte(rest, ':'); i >= 0 {
		model, variant = rest[:i], rest[i+1:]
	}
	if strings.TrimSpace(provider) == "" || strings.TrimSpace(model) == "" {
		return schema.Model{}, fmt.Errorf("%q is not provider/model or provider/model:variant", text)
	}
	return schema.Model{ProviderID: provider, ModelID: model, Variant: variant}, nil
}

// EndSignals returns the signals that end a process, except ignored ones.
func EndSignals() (heeded []os.Signal) {
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(s) { // nohup and scripts with background commands ignore signals on purpose
			heeded = append(heeded, s)
		}
	}
	return heeded
}

// ListenToSignals sends the signals that end a process to the channel. It returns these signals.
func ListenToSignals(to chan<- os.Signal) (heeded []os.Signal) {
	heeded = EndSignals()
	signal.Notify(to, heeded...)
	return heeded
}
