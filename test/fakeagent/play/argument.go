package play

import (
	"strconv"
	"strings"
	"time"
	"unicode"
)

// An argument is the value after the name of a behaviour. Each kind sets its own field.
type argument struct {
	texts  []string
	number int64
	delay  time.Duration
}

// A kind is the type of an argument. Behaviours without an argument have no read function.
type kind struct {
	allowed  string // allowed values, for the help
	required bool
	usual    argument // default
	read     func(string) (argument, bool)
}

const (
	mostNoise = 1 << 30
	usualCode = 3
)

var (
	nothing  = kind{allowed: "no argument"}
	someList = kind{allowed: `issues on one line, separated by ";", in double quotes`, required: true, read: readList}
	someText = kind{allowed: "text on one line, in double quotes", required: true, read: readText}
	someWait = kind{allowed: "a duration such as 30s or 1m30s", required: true, read: readWait}
	someSize = kind{allowed: "a number of bytes from 0 to 1073741824", required: true, read: readNumber(0, mostNoise)}
	someCode = kind{allowed: "an exit code from 1 to 255, or nothing for 3", usual: argument{number: usualCode}, read: readNumber(1, 255)}
)

// readText reads a text for one line of an answer. It refuses line breaks, because they would change the form of the
// answer.
func readText(s string) (argument, bool) {
	s = strings.TrimSpace(s)
	return argument{texts: []string{s}}, s != "" && !strings.ContainsFunc(s, unicode.IsControl)
}

func readList(s string) (argument, bool) {
	if _, ok := readText(s); !ok {
		return argument{}, false
	}
	var a argument
	for text := range strings.SplitSeq(s, ";") {
		if text = strings.TrimSpace(text); text != "" {
			a.texts = append(a.texts, text)
		}
	}
	return a, len(a.texts) > 0
}

func readWait(s string) (argument, bool) {
	d, err := time.ParseDuration(s)
	return argument{delay: d}, err == nil && d >= 0
}

func readNumber(least, most int64) func(string) (argument, bool) {
	return func(s string) (argument, bool) {
		n, err := strconv.ParseInt(s, 10, 64)
		return argument{number: n}, err == nil && least <= n && n <= most
	}
}
