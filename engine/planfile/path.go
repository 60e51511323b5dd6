package planfile

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// A path of a plan is relative to the workspace and written with "/". The verdict
// below is the same on every system, so that a plan which one member of a team can
// name can be named by all, and a check passed here is not undone by Windows rules.

const (
	maxPath  = 4096 // bytes
	maxDepth = 64   // names; a hostile tree must not make the walk over its links dear
)

// cleanPath returns the one spelling of rel, or an *Error that says what is wrong.
func cleanPath(rel string) (string, error) {
	refuse := func(reason Reason, why string) (string, error) {
		return "", &Error{Path: rel, Reason: reason, Err: errors.New(why)}
	}
	if why := badText(rel); why != "" {
		return refuse(BadPath, why)
	}
	if rooted(rel) {
		return refuse(OutsideWorkspace, "it is absolute; give it relative to the workspace, such as docs/tasks.md")
	}
	if strings.Contains(rel, `\`) {
		return refuse(BadPath, `it contains "\"; put "/" between folder and file`)
	}
	for segment := range strings.SplitSeq(rel, "/") {
		if reason, why := badSegment(segment); why != "" {
			return refuse(reason, why)
		}
	}
	cleaned := path.Clean(rel)
	if cleaned == "." {
		return refuse(BadPath, "it names the workspace itself; name a file in it")
	}
	if !filepath.IsLocal(filepath.FromSlash(cleaned)) {
		return refuse(OutsideWorkspace, "it does not stay inside the workspace")
	}
	return cleaned, nil
}

func badText(rel string) string {
	switch {
	case rel == "":
		return "it is empty"
	case len(rel) > maxPath:
		return fmt.Sprintf("it is %d bytes long; the limit is %d", len(rel), maxPath)
	case strings.Count(rel, "/") >= maxDepth:
		return fmt.Sprintf("it has more than %d names", maxDepth)
	case !utf8.ValidString(rel):
		return "it is not valid UTF-8"
	case strings.ContainsFunc(rel, func(c rune) bool { return c < ' ' || c == 0x7f }):
		return "it contains a control character"
	}
	return ""
}

// rooted covers "/x", "\x", "\\server\share", "\\?\C:\x", "C:x" and "C:\x".
func rooted(rel string) bool {
	return rel[0] == '/' || rel[0] == '\\' || len(rel) > 1 && rel[1] == ':' && isLetter(rel[0])
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// badSegment judges one name of the path. Empty names and "." are harmless: they
// vanish when the path is cleaned.
func badSegment(name string) (Reason, string) {
	switch {
	case name == "" || name == ".":
		return "", ""
	case name == "..":
		return OutsideWorkspace, `it contains ".."`
	case strings.Contains(name, ":"):
		return BadPath, `it contains ":", which Windows reads as a drive or a stream`
	case strings.HasSuffix(name, ".") || strings.HasSuffix(name, " "):
		return BadPath, fmt.Sprintf("%q ends in a dot or a blank, which Windows drops", name)
	case reserved(name):
		return BadPath, fmt.Sprintf("%q is a device on Windows", name)
	}
	return "", ""
}

// reserved reports whether name is a DOS device, with or without an extension.
func reserved(name string) bool {
	stem, _, _ := strings.Cut(name, ".")
	stem = strings.ToUpper(strings.TrimRight(stem, " "))
	switch stem {
	case "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$":
		return true
	}
	port, ok := strings.CutPrefix(stem, "COM")
	if !ok {
		port, ok = strings.CutPrefix(stem, "LPT")
	}
	return ok && utf8.RuneCountInString(port) == 1 && strings.Contains("0123456789¹²³", port)
}
