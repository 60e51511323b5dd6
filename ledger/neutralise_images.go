package ledger

import "strings"

// An image from elsewhere is loaded by whoever shows the text, and its address can tell that place anything. So
// the bracket of its opening is blunted. A link stays: nobody follows it without being asked to. Neither does an
// image of the workspace tell anybody anything.

// appendImages appends the places of the brackets that open the images of Markdown that are not certainly local.
// It reads backwards, so that it knows at an opening whether its paragraph has the address of one behind it, or
// the name of an address.
func appendImages(at []int, s string) []int {
	if !strings.Contains(s, "![") {
		return at
	}
	defined, remote, named := definesRemote(s), false, false
	for i := len(s) - 2; i >= 0; i-- {
		switch {
		case s[i] == '\n' && blankBehind(s[i+1:]):
			remote, named = false, false
		case s[i] == ']' && s[i+1] == '(':
			remote = remote || !isLocal(s[i+2:])
		case s[i] == ']' && s[i+1] == '[':
			named = true
		case s[i] == '!' && s[i+1] == '[' && loadsImage(s, i, defined, remote, named):
			at = append(at, i+1)
		}
	}
	return at
}

// loadsImage reports whether the "![" at s[i] may load from elsewhere. defined says that the text has an address
// for images that only name one, remote that an address follows in the same paragraph, named that a name does.
func loadsImage(s string, i int, defined, remote, named bool) bool {
	label := s[i+2:]
	isCode := i > 0 && (isWordByte(s[i-1]) || s[i-1] == '#') // vec![0], #![feature]
	end := strings.IndexAny(label, "[]`\\\n<")
	if end < 0 || label[end] != ']' { // what its address is takes a reader of Markdown to say
		return defined || remote || named && !isCode
	}
	behind := label[end+1:]
	if strings.HasPrefix(behind, "(") {
		return !isLocal(behind[1:])
	}
	if isCode {
		return defined
	}
	return defined || strings.HasPrefix(behind, "[")
}

// blankBehind reports whether the line at the beginning of s has nothing in it.
func blankBehind(s string) bool {
	s = strings.TrimLeft(s, " \t>")
	return s == "" || s[0] == '\n'
}

// isLocal reports whether an address has neither a scheme nor a host, nor anything that may be read as one.
func isLocal(address string) bool {
	address = strings.TrimLeft(address, " \t\n<")
	if len(address) > 1 && (address[0] == '/' || address[0] == '\\') && strings.IndexByte(`/\&`, address[1]) >= 0 {
		return false
	}
	end := strings.IndexAny(address, ":&\\/?#() \t\n>")
	return end < 0 || strings.IndexByte(`:&\`, address[end]) < 0
}

// definesRemote reports whether a line gives an address from elsewhere to a name.
func definesRemote(s string) bool {
	for start := 0; start < len(s); {
		end := lineEnd(s, start)
		line := strings.TrimLeft(s[start:end], " \t>")
		if strings.HasPrefix(line, "[") {
			if i := strings.Index(line, "]:"); i > 0 && !isLocal(line[i+2:]) {
				return true
			}
		}
		start = end + 1
	}
	return false
}

// loading are the elements of HTML that load something as soon as they are shown.
var loading = [...]string{"<img", "<image", "<iframe", "<embed", "<object", "<video", "<audio", "<source"}

// appendLoading appends the places of those that load from elsewhere.
func appendLoading(at []int, s string) []int {
	low := lowerASCII(s)
	for _, name := range loading {
		for i := 0; ; {
			next := strings.Index(low[i:], name)
			if next < 0 {
				break
			}
			i += next
			if endsName(s[i+len(name):]) && !loadsLocal(low[i:]) {
				at = append(at, i)
			}
			i += len(name)
		}
	}
	return at
}

// loadsLocal reports whether the tag at the beginning of s has no address from elsewhere in it, as far as that is
// to be seen.
func loadsLocal(s string) bool {
	end, whole := pastTag(s)
	return whole && !hasAddress(s[:end])
}

func hasAddress(s string) bool {
	return strings.Contains(s, "http") || strings.Contains(s, "//") || strings.ContainsAny(s, `\&`)
}
