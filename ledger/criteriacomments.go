package ledger

import "strings"

// commentedOut knows what of a text, read line by line, is commented out. A comment that nothing ends is none, for it
// would take all that follows with it, and so is one that begins in inline code.
type commentedOut struct {
	open bool
	ends int // how many ends of comments stand from here on
}

const (
	commentBegin = "<!--"
	commentEnd   = "-->"
)

// pass reads a line whose comments do not count.
func (c *commentedOut) pass(line string) { c.ends -= strings.Count(line, commentEnd) }

// without reads a line and gives what is left of it.
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
		line = line[len("<!"):] // its dashes may be those of the end, as in "<!-->"
	}
	return kept.String()
}
