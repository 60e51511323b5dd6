// Package shellcmd reports whether a shell command line runs a given simple command, such as `go test ./...`. Coding
// agents rarely run a command bare: they write `cd /repo && timeout 300 go test -race ./... 2>&1 | tail -20`.
//
// A command line runs the wanted command if it contains a simple command with the same program and with the wanted words
// in the same order. Options with their values and settings (NAME=value) may stand anywhere, other operands only behind
// the last wanted word: `npm run build test` does not run `npm run test`. The search looks into lists, pipes, groups,
// conditions, loops, command substitutions, wrappers such as env, timeout and sudo, and the script of `bash -c`. It never
// looks into quotes of another command's argument, comments, here-documents, or bodies of functions.
//
// The package does not run or expand anything, and it does not know whether a command was reached or how it ended. A line
// that it cannot read runs nothing, because a missed command is sent again and a wrong one is lost.
package shellcmd

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

const (
	maxWanted = 1 << 10 // bytes of a wanted command
	maxLine   = 1 << 15 // bytes of a command line, with the scripts in it
	maxDepth  = 8       // scripts of `bash -c` in one another
)

// A Command is a wanted simple command: a program and the words behind it. The zero Command is run by no line.
type Command struct{ words []string }

// Parse reads a wanted command. It must be one simple command of literal words; quotes are read as a shell reads them.
func Parse(text string) (Command, error) {
	if len(text) > maxWanted {
		return Command{}, fmt.Errorf("has %d bytes; at most %d are allowed", len(text), maxWanted)
	}
	file, err := parse(text)
	if err != nil {
		return Command{}, fmt.Errorf("cannot be read as a shell command: %w", err)
	}
	if len(file.Stmts) == 0 {
		return Command{}, errors.New("has no command; write a program and its words, as in `npm test`")
	}
	call, simple := file.Stmts[0].Cmd.(*syntax.CallExpr)
	if bare := file.Stmts[0]; len(file.Stmts) > 1 || !simple || bare.Negated || bare.Background || len(bare.Redirs) > 0 {
		return Command{}, errors.New("must be one simple command, without operators and redirections, as in `npm test`")
	}
	if len(call.Assigns) > 0 {
		return Command{}, errors.New("begins with an assignment; write the command alone, because assignments before it are skipped")
	}
	var c Command
	for _, w := range literals(call.Args) {
		if !w.known {
			return Command{}, errors.New("has a variable or a substitution; every word must be literal")
		}
		c.words = append(c.words, w.text)
	}
	return c, nil
}

// FindIn returns the simple command of a bash command line that runs c, as it is spelled there.
func (c Command) FindIn(line string) (spelled string, found bool) {
	if len(line) > maxLine {
		return "", false
	}
	s := search{wanted: c}
	s.script(line)
	return s.spelled, s.found
}

// FindInArgs returns the simple command that runs c in a command that was started without a shell, from its program and
// its arguments.
func (c Command) FindInArgs(args []string) (spelled string, found bool) {
	size := 0
	words := make([]word, len(args))
	for i, arg := range args {
		words[i] = word{arg, true}
		size += len(arg) + 1
	}
	if size > maxLine {
		return "", false
	}
	s := search{wanted: c}
	s.simple(words, strings.Join(args, " "))
	return s.spelled, s.found
}

// isRun reports whether a simple command is the wanted one.
func (c Command) isRun(args []word) bool {
	if len(c.words) == 0 || len(args) == 0 || !sameProgram(c.words[0], args[0].text) {
		return false
	}
	left, args := c.words[1:], args[1:]
	withValue := valueOptionsOf(base(c.words[0]))
	for afterOption := false; len(left) > 0; {
		if len(args) == 0 {
			return false
		}
		arg := args[0]
		args = args[1:]
		switch {
		case arg.known && arg.text == left[0]:
			left, afterOption = left[1:], false
		case arg.isOption():
			takes := withValue.has(arg.text)
			if takes && len(args) > 0 {
				args = args[1:]
			}
			afterOption = !takes && !strings.Contains(arg.text, "=")
		case arg.isSetting(), !arg.known && len(left) < len(c.words)-1:
			afterOption = false
		case afterOption && arg.looksLikeValue():
			afterOption = false
		default:
			return false
		}
	}
	return true
}

func sameProgram(wanted, program string) bool {
	if strings.Contains(wanted, "/") {
		return wanted == program
	}
	return wanted == base(program)
}

// base returns the name of a program without its folder, which may have a variable in it.
func base(program string) string { return strings.TrimSuffix(path.Base(program), ".exe") }

func parse(text string) (*syntax.File, error) {
	return syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
}

// A search looks for a command in scripts and stops at the first one.
type search struct {
	wanted  Command
	depth   int
	spelled string
	found   bool
}

func (s *search) script(text string) {
	if s.depth >= maxDepth {
		return
	}
	file, err := parse(text)
	if err != nil {
		return
	}
	s.depth++
	s.walk(text, file, false)
	s.depth--
}

// walk visits the simple commands below a node of a script. Substitutions inside double quotes are part of an argument
// and are skipped, unless the quotes are the value of an assignment.
func (s *search) walk(script string, root syntax.Node, intoQuotes bool) {
	syntax.Walk(root, func(node syntax.Node) bool {
		if s.found {
			return false
		}
		switch node := node.(type) {
		case *syntax.FuncDecl:
			return false
		case *syntax.Redirect:
			if node.Word != nil {
				s.walk(script, node.Word, false)
			}
			return false // without the text of a here-document
		case *syntax.DblQuoted:
			return intoQuotes
		case *syntax.Assign:
			if node.Value != nil {
				s.walk(script, node.Value, true)
			}
			return node.Value == nil
		case *syntax.CmdSubst:
			for _, statement := range node.Stmts {
				s.walk(script, statement, false)
			}
			return false
		case *syntax.CallExpr:
			if len(node.Args) > 0 {
				s.simple(literals(node.Args), script[node.Args[0].Pos().Offset():node.End().Offset()])
			}
		}
		return true
	})
}

// simple looks at a simple command and at the command that it wraps.
func (s *search) simple(args []word, spelled string) {
	for len(args) > 0 && !s.found {
		if s.wanted.isRun(args) {
			s.spelled, s.found = spelled, true
			return
		}
		program := base(args[0].text)
		if shells.has(program) {
			if script, ok := scriptOf(args[1:]); ok {
				s.script(script)
			}
			return
		}
		wrapper, ok := wrapperOf(program)
		if !ok {
			return
		}
		args = wrapper.unwrap(args[1:])
	}
}

// A word is a word of a simple command. It is known if it has no variable and no substitution.
type word struct {
	text  string
	known bool
}

func (w word) isOption() bool {
	return len(w.text) > 1 && (w.text[0] == '-' || w.text[0] == '+')
}

// looksLikeValue reports whether a word behind an option in no table is the value of the option, such as 4 or ./src, and
// not a subcommand or a target.
func (w word) looksLikeValue() bool {
	return !w.known || strings.ContainsAny(w.text, "0123456789/.")
}

// isSetting reports whether the word has the form NAME=value.
func (w word) isSetting() bool {
	name, _, ok := strings.Cut(w.text, "=")
	return ok && syntax.ValidName(name)
}

func literals(args []*syntax.Word) []word {
	words := make([]word, len(args))
	for i, arg := range args {
		words[i] = literal(arg.Parts)
	}
	return words
}

// hole stands in a word for the text of a variable or a substitution.
const hole = "\ufffd"

// literal removes the quotes of a word.
func literal(parts []syntax.WordPart) word {
	w := word{known: true}
	for _, part := range parts {
		inner := word{text: hole}
		switch part := part.(type) {
		case *syntax.Lit:
			inner = word{unescape(part.Value, ""), true}
		case *syntax.SglQuoted:
			if !part.Dollar || !strings.Contains(part.Value, `\`) {
				inner = word{part.Value, true}
			}
		case *syntax.DblQuoted:
			inner = doubleQuoted(part)
		}
		w.text += inner.text
		w.known = w.known && inner.known
	}
	return w
}

func doubleQuoted(quoted *syntax.DblQuoted) word {
	w := word{known: true}
	for _, part := range quoted.Parts {
		if lit, ok := part.(*syntax.Lit); ok {
			w.text += unescape(lit.Value, "\"\\$`\n")
		} else {
			w.text += hole
			w.known = false
		}
	}
	return w
}

// unescape removes backslashes before the characters of only, or before every character if only is empty. A backslash
// before a line break joins the lines.
func unescape(text, only string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) && (only == "" || strings.IndexByte(only, text[i+1]) >= 0) {
			i++
			if text[i] == '\n' {
				continue
			}
		}
		b.WriteByte(text[i])
	}
	return b.String()
}
