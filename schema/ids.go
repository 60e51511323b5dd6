package schema

// IDPattern is the form of an id as a regular expression.
const IDPattern = `^[A-Za-z0-9._:-]{1,128}$`

const maxID = 128

// IsID reports whether a text matches IDPattern.
func IsID(s string) bool {
	if s == "" || len(s) > maxID {
		return false
	}
	for i := range len(s) {
		if !isIDByte(s[i]) {
			return false
		}
	}
	return true
}

func isIDByte(c byte) bool {
	switch {
	case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		return true
	}
	return c == '.' || c == '_' || c == ':' || c == '-'
}
