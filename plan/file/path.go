package file

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// A plan path is relative to the workspace and uses "/". The checks below are the same on every system. All members of
// a team can then use the same paths, and Windows cannot read an accepted path in a different way.

const (
	maxPath  = 4096 // bytes
	maxDepth = 64   // names; limits the cost of following links in a hostile tree
)

// cleanPath returns the canonical spelling of rel, or an *Error.
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

// rooted reports whether rel is absolute: "/x", "\x", "\\server\share", "\\?\C:\x", "C:x" or "C:\x".
func rooted(rel string) bool {
	return rel[0] == '/' || rel[0] == '\\' || len(rel) > 1 && rel[1] == ':' && isLetter(rel[0])
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// badSegment returns why one name of a path is refused, or "". Empty names and "." are accepted, because path.Clean
// removes them.
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

// reserved reports whether Windows reads name as a device, with or without an extension.
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
