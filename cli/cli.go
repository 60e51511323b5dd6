// Package cli is the table of commands that a person or a script types: usage, dispatch and exit codes.
//
// The commands are in the folders below, one per subject. No folder imports another; all import cli/program and cli/output.
// The package refuses to know a rule of the domain, and to exit the process.
package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"waybill/cli/acp"
	"waybill/cli/audit"
	"waybill/cli/check"
	"waybill/cli/doctor"
	"waybill/cli/hook"
	"waybill/cli/inbox"
	"waybill/cli/output"
	"waybill/cli/plan"
	"waybill/cli/program"
	"waybill/cli/prompt"
	"waybill/cli/serve"
	"waybill/cli/setup"
	"waybill/cli/store"
	"waybill/cli/task"
	"waybill/cli/work"
	"waybill/schema"
)

// Streams are the standard streams of the process.
type Streams = output.Streams

// Main runs the command line and returns the exit code.
func Main(args []string, given Streams, version string) int {
	a := &program.App{Printer: output.Printer{Streams: given, Env: os.Getenv}, Version: version}
	root, args := newRoot(a, args)
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(context.Background())
	if err == nil {
		return a.Code
	}
	if hook.Survives(a, cmd, args, err) {
		return output.ExitOK
	}
	err = asTyped(cmd, err)
	a.Complain(err)
	return output.ExitCode(err)
}

// wordAt returns the index of the first argument that is neither a flag of the root nor the value of one, or len(args).
func wordAt(root *cobra.Command, args []string) int {
	for i := 0; i < len(args); i++ {
		name, long := strings.CutPrefix(args[i], "--")
		switch {
		case !long:
			return i
		case name == "":
			return len(args) // cobra takes what follows for arguments
		}
		if flag := root.PersistentFlags().Lookup(name); flag != nil && flag.NoOptDefVal == "" {
			i++
		}
	}
	return len(args)
}

// newRoot returns the command line, and the arguments in the spelling of today. A host that spawns serve, mcp or hook waits
// for its construction, and scripts expect version at once, so the other commands are then left out.
func newRoot(a *program.App, args []string) (*cobra.Command, []string) {
	root := &cobra.Command{
		Use:   "waybill",
		Short: "Hand work to coding agents without losing any of it",
		Long: `waybill is a sidecar for agent hosts. Instructions are acknowledged or fail loudly; tasks survive failures; a
person answers questions; prompts are compiled from the current state of the plan. With a pipe on standard input,
waybill serves JSON-RPC; on a terminal it prints this help.

An id may be shortened to four or more characters of its beginning or end if that is unambiguous. With --json, a list is
one object a line, anything else one object, and an error with a code an object with the member error.

Exit codes: 0 success; 1 failure; 2 a wrong argument, such as a value over its limit; 3 something named does not
exist; 4 its state does not allow the command; 5 the store cannot be used; 75 try again later. serve, mcp, acp, doctor,
setup, work, check and audit list their own.`,
		Args:              cobra.NoArgs,
		SilenceErrors:     true,
		SilenceUsage:      true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error { return a.CheckFlags(cmd) },
		RunE: func(cmd *cobra.Command, _ []string) error {
			if term.IsTerminal(int(a.In.Fd())) {
				return cmd.Help()
			}
			return serve.Stdio(cmd.Context(), a)
		},
	}
	root.SetOut(a.Out)
	root.SetErr(a.Err)
	root.SetFlagErrorFunc(unknownFlag)
	root.SetHelpFunc(showHelp(a))
	root.Version = strings.TrimPrefix(version(a.Version), "waybill ")
	a.AddFlags(root)
	at, first := wordAt(root, args), ""
	if at < len(args) {
		first = args[at]
	}
	if first == "hook" || first == "version" {
		root.AddCommand(hook.Command(a), versionCommand(a))
		root.CompletionOptions.DisableDefaultCmd = true
		strict(root)
		return root, args
	}
	mcp := serve.MCPCommand(a)
	mcp.AddCommand(setup.MCPInstall(a))
	root.AddCommand(serve.Command(a), mcp)
	if first == "serve" || first == "mcp" {
		strict(root)
		return root, args
	}
	args, note := modern(args, at)
	if note != "" {
		a.Say(note)
	}
	root.AddCommand(inbox.Command(a), plan.Command(a), prompt.Command(a), work.Command(a), acp.Command(a), check.Command(a), audit.Command(a), doctor.Command(a), hook.Command(a), setup.Command(a), serve.PageCommand(a), whereCommand(a), versionCommand(a), schemaCommand(a), store.Command(a), flagsTopic())
	root.AddCommand(task.Commands(a)...)
	root.InitDefaultCompletionCmd()
	root.SetHelpCommand(helpCommand(root))
	strict(root)
	return root, args
}

// strict turns a wrong number of arguments into a usage error in every command.
func strict(cmd *cobra.Command) {
	if cmd.HasSubCommands() && !cmd.Runnable() { // cobra checks the arguments of commands that run, and helps with the others
		cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	}
	if check := cmd.Args; check != nil {
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			err := check(cmd, args)
			if err != nil && cmd.HasAvailableSubCommands() {
				return unknownCommand(cmd, args[0])
			}
			if _, wanted, some := strings.Cut(cmd.Use, " "); err != nil && some {
				err = fmt.Errorf("%s takes %s, and was given %s", cmd.CommandPath(), wanted, output.Count(len(args), "argument"))
			}
			if err != nil {
				return output.UsageError(err)
			}
			return nil
		}
	}
	for _, child := range cmd.Commands() {
		strict(child)
	}
}

// asTyped returns an error about a parameter with the flag or the argument that the person typed, instead of the
// parameter's wire name. The params of waybill call have wire names already.
func asTyped(cmd *cobra.Command, err error) error {
	fault, ok := errors.AsType[*schema.Error](err)
	if !ok || cmd.Name() == "call" || output.ExitCode(err) != output.ExitUsage {
		return err
	}
	name, rest, _ := strings.Cut(strings.TrimPrefix(fault.Message, "/"), " ")
	if !strings.HasPrefix(fault.Message, "/") {
		return err
	}
	if list, _, element := strings.Cut(name, "/"); element {
		name = strings.TrimSuffix(list, "s") // a flag that is given once for each element
	}
	typed := *fault
	bare, isID := strings.CutSuffix(name, "_id")
	for _, flag := range []string{strings.ReplaceAll(name, "_", "-"), bare, flagOf[name]} {
		if f := cmd.Flags().Lookup(flag); f != nil && f.Changed {
			typed.Message = "--" + flag + " " + rest
			return &typed
		}
	}
	other := argumentOf[name]
	if isID {
		other = "ID"
	}
	for _, argument := range []string{strings.ToUpper(bare), other} {
		if slices.Contains(strings.Fields(cmd.Use), argument) {
			typed.Message = argument + " " + rest
			return &typed
		}
	}
	return err
}

// flagOf maps parameters to the flags that set them under another name.
var flagOf = map[string]string{"parent_session_id": "session", "reply": "message", "cursor": "since"}

// argumentOf maps parameters to the arguments that set them under another name.
var argumentOf = map[string]string{"reply": "TEXT"}
