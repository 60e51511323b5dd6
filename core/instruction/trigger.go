package instruction

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"waybill/internal/glob"
)

// A Trigger selects the events that make a standing instruction due: events of the type whose data has the values of Match,
// as in an AckRule, and names a file that fits Path. The zero Trigger is that of no standing instruction.
type Trigger struct {
	EventType string
	Match     string // as in an AckRule
	// Path is a pattern for files, or "" for events with any file or none. A pattern without a slash at its beginning also
	// fits the end of a path, from any folder on: *.go fits /repo/cmd/main.go.
	Path string
}

// NewTrigger checks a trigger of an instruction with an acknowledgement rule. It refuses what NewAckRule refuses, a bad
// pattern, and a trigger whose every event also acknowledges.
func NewTrigger(eventType, match, path string, ack AckRule) (Trigger, error) {
	rule, err := NewAckRule(eventType, match)
	if err != nil {
		return Trigger{}, err
	}
	if path != "" {
		if _, err := glob.Compile(path); err != nil {
			return Trigger{}, fmt.Errorf("path %w", err)
		}
		if strings.HasSuffix(path, "/") {
			return Trigger{}, errors.New("path ends with a slash, so that no file could fit; end it with ** for all files of a folder")
		}
	}
	if ack.EventType == rule.EventType && (ack.Match == "" || ack.Match == rule.Match) {
		return Trigger{}, errors.New("every event that fires it also meets ack_on, so that it would never be due; make ack_on narrower")
	}
	return Trigger{EventType: rule.EventType, Match: rule.Match, Path: path}, nil
}

// FiredBy reports whether an event makes the instruction due. An event that acknowledges it does not: the formatter, say,
// also changes files. data is a JSON text or "".
func (in Instruction) FiredBy(eventType, data string) bool {
	t := in.Trigger
	if _, fits := (AckRule{EventType: t.EventType, Match: t.Match}).Matches(eventType, data); !fits {
		return false
	}
	if _, acknowledges := in.AckOn.Matches(eventType, data); acknowledges {
		return false
	}
	if t.Path == "" {
		return true
	}
	pattern, err := glob.Compile(t.Path)
	if err != nil {
		return false // it was checked when the instruction was queued
	}
	value, err := decode(data)
	return err == nil && namesFile(value, pattern, strings.HasPrefix(t.Path, "/"), 0)
}

// fileKeys are the members in which hosts name the file of a tool call.
var fileKeys = []string{"file_path", "filePath", "path", "file", "filename", "notebook_path", "absolute_path", "file_paths", "paths", "files"}

// answerKeys are the members with what a tool answered. The files in them are not those that the call was about.
var answerKeys = []string{"tool_response", "tool_output", "response", "result", "output"}

// deepestFile bounds the objects in one another that are searched for a file.
const deepestFile = 5

// namesFile reports whether a file that an object names fits.
func namesFile(v any, pattern *regexp.Regexp, whole bool, depth int) bool {
	members, ok := v.(map[string]any)
	if !ok || depth == deepestFile {
		return false
	}
	for _, key := range fileKeys {
		names, isList := members[key].([]any)
		if !isList {
			names = []any{members[key]}
		}
		for _, name := range names {
			if file, ok := name.(string); ok && fitsFile(file, pattern, whole) {
				return true
			}
		}
	}
	for key, inner := range members {
		if !slices.Contains(answerKeys, key) && namesFile(inner, pattern, whole, depth+1) {
			return true
		}
	}
	return false
}

// fitsFile reports whether a path, or its end from one of its folders on, fits. Windows paths are read with slashes.
func fitsFile(file string, pattern *regexp.Regexp, whole bool) bool {
	if len(file) > maxGlobText {
		return false
	}
	file = strings.ReplaceAll(file, `\`, "/")
	for {
		if pattern.MatchString(file) {
			return true
		}
		_, rest, more := strings.Cut(file, "/")
		if whole || !more {
			return false
		}
		file = rest
	}
}
