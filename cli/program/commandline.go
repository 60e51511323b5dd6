package program

import (
	"slices"
	"strings"

	"waybill/internal/lazyregexp"
	"waybill/internal/safetext"
	"waybill/store/postgres"
)

// CommandLine returns a waybill command as a line for a shell, with the flags that name the workspace and the store of
// this command.
func (a *App) CommandLine(words []string) string {
	shown := make([]string, len(words))
	for i, word := range words {
		if shown[i] = safetext.Printable(word); !bareWord.Compiled().MatchString(word) {
			shown[i] = shellQuoted(word)
		}
	}
	flags := a.placeFlags()
	first := slices.IndexFunc(words, func(word string) bool { return strings.HasPrefix(word, "-") })
	if first < 0 {
		first = len(words)
	}
	return strings.Join(slices.Concat(shown[:first], flags, shown[first:]), " ")
}

// Pasteable returns a command of waybill, for the workspace and the store that this command was given.
func (a *App) Pasteable(words ...string) string {
	return a.CommandLine(append([]string{"waybill"}, words...))
}

// ReplyLine is the command that answers a task of this store, ready to be pasted.
func (a *App) ReplyLine(id string) string {
	return a.Pasteable("task", "reply", id, "-m", "…")
}

// bareWord matches text that a shell reads as one word without quotes.
var bareWord = lazyregexp.New(`^[A-Za-z0-9_./:@%+,-]+$`)

// placeFlags returns the flags that name the workspace and the store, quoted for a shell.
func (a *App) placeFlags() (flags []string) {
	if a.Workspace != "" {
		flags = append(flags, "--workspace "+shellQuoted(a.Workspace))
	}
	if a.Store != "" && !a.envStore {
		flags = append(flags, "--store "+shellQuoted(postgres.Shown(a.Store)))
	}
	if a.name != "" {
		flags = append(flags, "--workspace-name "+shellQuoted(a.name))
	}
	return flags
}

// shellQuoted quotes a text as one word for a shell.
func shellQuoted(text string) string {
	return "'" + strings.ReplaceAll(safetext.Printable(text), "'", `'\''`) + "'"
}
