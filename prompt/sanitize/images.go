package sanitize

import "strings"

// A viewer loads the images of a text, and a remote image address can leak data to its server. The bracket of a remote
// image is therefore replaced. Links stay, because a viewer follows them only on request. Images in the workspace stay
// too, because they reach no server.

// appendImages appends the positions of the brackets that open possibly remote Markdown images. It reads backwards,
// because an image depends on the addresses and reference names after it in its paragraph.
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

// loadsImage reports whether the "![" at s[i] may load a remote image. defined means that the text defines a remote
// address for a reference name. remote and named mean that the paragraph has a remote address or a reference name
// later.
func loadsImage(s string, i int, defined, remote, named bool) bool {
	label := s[i+2:]
	isCode := i > 0 && (isWordByte(s[i-1]) || s[i-1] == '#') // vec![0], #![feature]
	end := strings.IndexAny(label, "[]`\\\n<")
	if end < 0 || label[end] != ']' { // only a Markdown parser could find the address
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

// blankBehind reports whether the first line of s is blank.
func blankBehind(s string) bool {
	s = strings.TrimLeft(s, " \t>")
	return s == "" || s[0] == '\n'
}

// isLocal reports whether an address certainly has no scheme and no host.
func isLocal(address string) bool {
	address = strings.TrimLeft(address, " \t\n<")
	if len(address) > 1 && (address[0] == '/' || address[0] == '\\') && strings.IndexByte(`/\&`, address[1]) >= 0 {
		return false
	}
	end := strings.IndexAny(address, ":&\\/?#() \t\n>")
	return end < 0 || strings.IndexByte(`:&\`, address[end]) < 0
}

// definesRemote reports whether some line defines a remote address for a reference name.
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

// loading are the HTML elements that load a resource when they are shown.
var loading = [...]string{"<img", "<image", "<iframe", "<embed", "<object", "<video", "<audio", "<source"}

// appendLoading appends the positions of elements that may load a remote resource.
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

// loadsLocal reports whether the tag at the beginning of s is complete and contains no remote address.
func loadsLocal(s string) bool {
	end, whole := pastTag(s)
	return whole && !hasAddress(s[:end])
}

func hasAddress(s string) bool {
	return strings.Contains(s, "http") || strings.Contains(s, "//") || strings.ContainsAny(s, `\&`)
}
