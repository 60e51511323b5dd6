package plan

// Status is the status of an item in a plan. The zero value is invalid.
type Status uint8

const (
	// Pending is open work that has not started.
	Pending Status = iota + 1
	// InProgress is work that has started.
	InProgress
	// Completed is finished work.
	Completed
	// Blocked is open work that cannot continue.
	Blocked
	// Skipped is work that was closed and not done.
	Skipped
)

var statusNames = [...]string{
	Pending:    "pending",
	InProgress: "in_progress",
	Completed:  "completed",
	Blocked:    "blocked",
	Skipped:    "skipped",
}

// String returns the wire word for s, or "" for an invalid value.
func (s Status) String() string {
	if int(s) >= len(statusNames) {
		return ""
	}
	return statusNames[s]
}

// Open reports whether work with this status is not closed.
func (s Status) Open() bool {
	return s == Pending || s == InProgress || s == Blocked
}

// ParseStatus returns the status for a word. It accepts exactly the words of String.
func ParseStatus(word string) (Status, bool) {
	for s := Pending; s <= Skipped; s++ {
		if statusNames[s] == word {
			return s, true
		}
	}
	return 0, false
}

// Severity is the importance of a diagnostic. The zero value is invalid.
type Severity uint8

const (
	// SeverityInfo explains how a text was read.
	SeverityInfo Severity = iota + 1
	// SeverityWarning reports text that probably has another intended meaning.
	SeverityWarning
	// SeverityError reports text that is invalid.
	SeverityError
)

var severityNames = [...]string{
	SeverityInfo:    "info",
	SeverityWarning: "warning",
	SeverityError:   "error",
}

// String returns the wire word for s, or "" for an invalid value.
func (s Severity) String() string {
	if int(s) >= len(severityNames) {
		return ""
	}
	return severityNames[s]
}
