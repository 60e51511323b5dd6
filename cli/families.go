package cli

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"waybill/cli/output"
	"waybill/cli/program"
)

// A family is a group of commands in the help, for one purpose.
type family struct{ purpose, example, commands string }

// families has every command that the help shows, in its order.
var families = []family{
	{"See what waits for you, and what goes on", "waybill inbox", "inbox status explain tail ui"},
	{"Look at plans, tasks, runs and messages, and change them", "waybill task ls --status awaiting", "plan task run instruction notice prompt"},
	{"Let agents work, and check what they say", "waybill work --plan tasks.md --check 'make test' -- ./agent.sh", "work check audit"},
	{"Connect editors and agents", "waybill setup", "setup serve mcp acp hook"},
	{"Look after the store", "waybill store backup garden.db", "store doctor where"},
	{"Write scripts", "waybill call get_status | jq .counts", "call schema completion version"},
}

// renamed maps the earlier spellings of commands, which go on working, to those of today. A word with a noun of its own in
// byID has the noun of the id behind it.
var renamed = map[string]string{
	"ls": "task ls", "show": "task show", "reply": "task reply", "retry": "task retry", "cancel": "task cancel",
	"unblock": "run unblock", "dismiss": "notice dismiss", "check list": "check ls",
	"backup": "store backup", "restore": "store restore", "salvage": "store salvage", "export": "store export", "import": "store import",
}

// byID maps the beginnings of ids to the nouns whose commands take them.
var byID = map[string]string{"run_": "run", "ins_": "instruction", "ntc_": "notice"}

// modern returns the arguments in the spelling of today, and a sentence about an earlier one, or "". The first word of
// the command is args[at].
func modern(args []string, at int) (now []string, note string) {
	if at < len(args) && (args[at] == "help" || args[at] == cobra.ShellCompRequestCmd || args[at] == cobra.ShellCompNoDescRequestCmd) {
		now, _ = modern(args, at+1) // the help and the shell have no use for the sentence
		return now, ""
	}
	for words := 1; words <= 2 && at+words <= len(args); words++ {
		old := strings.Join(args[at:at+words], " ")
		path, ok := renamed[old]
		if !ok {
			continue
		}
		rest := args[at+words:]
		if noun, verb, _ := strings.Cut(path, " "); noun == "task" && len(rest) > 0 && len(rest[0]) > 4 {
			if other, ok := byID[rest[0][:4]]; ok && (verb == "show" || verb == "cancel" && other == "instruction") {
				path = other + " " + verb
			}
		}
		return slices.Concat(args[:at], strings.Fields(path), rest), "waybill: `waybill " + old + "` is now `waybill " + path + "`"
	}
	return args, ""
}

func helpCommand(root *cobra.Command) *cobra.Command {
	cmd := &cobra.Command{
		Use: "help [COMMAND]", Short: "Show the help of a command, or of the flags of all commands",
		Example: "  waybill help task\n  waybill help flags",
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) (names []string, _ cobra.ShellCompDirective) {
			if parent, _, err := root.Find(args); err == nil {
				for _, child := range parent.Commands() {
					names = append(names, child.Name()+"\t"+child.Short)
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			cmd, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 {
				return unknownCommand(cmd, append(rest, args...)[0])
			}
			return cmd.Help()
		},
	}
	return cmd
}

// flagsTopic is the help about the flags of every command.
func flagsTopic() *cobra.Command {
	return &cobra.Command{Use: "flags", Short: "The flags of every command", Hidden: true}
}

// helpText returns the help of a command for lines of that width.
func helpText(cmd *cobra.Command, width int) string {
	var b strings.Builder
	if cmd.Name() == "flags" {
		return "Every command takes these flags:\n\n" + cmd.Root().PersistentFlags().FlagUsagesWrapped(width) + "\n"
	}
	about := cmd.Long
	if about == "" {
		about = cmd.Short + "."
	}
	b.WriteString(reflow(about, width) + "\nUsage:\n")
	if cmd.Runnable() {
		b.WriteString("  " + cmd.UseLine() + "\n")
	}
	if cmd.HasAvailableSubCommands() {
		b.WriteString("  " + cmd.CommandPath() + " COMMAND\n")
	}
	if cmd.Example != "" {
		b.WriteString("\nExamples:\n" + cmd.Example + "\n")
	}
	switch {
	case !cmd.HasAvailableSubCommands():
	case cmd.HasParent():
		b.WriteString("\nCommands:\n")
		for _, child := range cmd.Commands() {
			b.WriteString(entry(child, width))
		}
	default:
		for _, f := range families {
			b.WriteString("\n" + f.purpose + ":\n")
			for name := range strings.FieldsSeq(f.commands) {
				if child := child(cmd, name); child != nil {
					b.WriteString(entry(child, width))
				}
			}
			b.WriteString("    $ " + f.example + "\n")
		}
	}
	if flags := cmd.LocalNonPersistentFlags(); flags.HasAvailableFlags() {
		b.WriteString("\nFlags:\n" + flags.FlagUsagesWrapped(width))
	}
	more := "waybill help flags lists the flags of every command."
	if cmd.HasAvailableSubCommands() {
		more = "waybill help " + strings.TrimSpace(strings.TrimPrefix(cmd.CommandPath(), "waybill")+" COMMAND") + " shows the help of a command. " + more
	}
	return b.String() + "\n" + reflow(more, width)
}

// entry returns the lines about a command in a list, or "" if the list leaves it out.
func entry(cmd *cobra.Command, width int) string {
	if !cmd.IsAvailableCommand() {
		return ""
	}
	const names = 14
	var b strings.Builder
	indent := output.Left("  "+cmd.Name(), names)
	for line := range output.Wrap(cmd.Short, width-names) {
		b.WriteString(indent + line + "\n")
		indent = strings.Repeat(" ", names)
	}
	return b.String()
}

// child returns the command of that name below another one, or nil.
func child(parent *cobra.Command, name string) *cobra.Command {
	for _, cmd := range parent.Commands() {
		if cmd.Name() == name {
			return cmd
		}
	}
	return nil
}

// reflow wraps the paragraphs of a text at a width. It does not change a paragraph with an indented line.
func reflow(text string, width int) string {
	var b strings.Builder
	for paragraph := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		if strings.HasPrefix(paragraph, " ") || strings.Contains(paragraph, "\n ") {
			b.WriteString(paragraph + "\n\n")
			continue
		}
		for line := range output.Wrap(strings.ReplaceAll(paragraph, "\n", " "), width) {
			b.WriteString(line + "\n")
		}
		b.WriteString("\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// showHelp prints the help of a command.
func showHelp(a *program.App) func(*cobra.Command, []string) {
	return func(cmd *cobra.Command, _ []string) { _ = a.Page(helpText(cmd, a.Width())) } // a closed output needs no help
}

// unknownCommand says which commands there are that a word may mean, or where they are listed.
func unknownCommand(parent *cobra.Command, word string) error {
	var names []string
	for _, cmd := range parent.Commands() {
		if cmd.IsAvailableCommand() {
			names = append(names, cmd.Name())
		}
	}
	if !parent.HasParent() {
		names = slices.AppendSeq(names, maps.Keys(renamed)) // a word that is near one of these is understood as that
		slices.Sort(names)
	}
	return output.Unknown("command", word, names, "waybill help"+strings.TrimPrefix(parent.CommandPath(), "waybill")+" lists the commands")
}

// unknownFlag says which flags there are that a mistyped one may mean.
func unknownFlag(cmd *cobra.Command, err error) error {
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok || unknown.GetSpecifiedShortnames() != "" {
		return output.UsageError(err)
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, "--"+f.Name) })
	return output.Unknown("flag", "--"+unknown.GetSpecifiedName(), names, "waybill help"+strings.TrimPrefix(cmd.CommandPath(), "waybill")+" lists its flags")
}
