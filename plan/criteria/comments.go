package criteria

import "strings"

// commentedOut removes HTML comments from a text, line by line. A comment without an end is kept as text, because it
// would hide the rest of the file. A comment that begins in inline code is kept too.
type commentedOut struct {
	open bool
	ends int // the number of comment ends in the rest of the text
}

const (
	commentBegin = "<!--"
	commentEnd   = "-->"
)

// pass skips a line whose comments are ordinary text, such as a line in a code fence.
func (c *commentedOut) pass(line string) { c.ends -= strings.Count(line, commentEnd) }

// without returns a line without its comments.
func (c *commentedOut) without(line string) string {
	var kept strings.Builder
	quoted := false
	for line != "" {
		if c.open {
			_, rest, ended := strings.Cut(line, commentEnd)
			if line = rest; ended {
				c.open = false
				c.ends--
			}
			continue
		}
		at := strings.Index(line, commentBegin)
		if at < 0 {
			at = len(line)
		}
		c.pass(line[:at])
		kept.WriteString(line[:at])
		quoted = quoted != (strings.Count(line[:at], "`")%2 == 1)
		if line = line[at:]; line == "" {
			break
		}
		if c.open = c.ends > 0 && !quoted; !c.open {
			kept.WriteString("<!")
		}
		line = line[len("<!"):] // in "<!-->", the dashes belong to the end
	}
	return kept.String()
}
