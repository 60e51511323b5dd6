package ledger

// Status is what a plan says about one item. The zero value is no status.
type Status uint8

const (
	// Pending is open work that nobody has begun.
	Pending Status = iota + 1
	// InProgress is work that somebody has begun.
	InProgress
	// Completed is finished work.
	Completed
	// Blocked is open work that cannot go on.
	Blocked
	// Skipped is work that was closed without being done.
	Skipped
)

var statusNames = [...]string{
	Pending:    "pending",
	InProgress: "in_progress",
	Completed:  "completed",
	Blocked:    "blocked",
	Skipped:    "skipped",
}

// String returns the word for s on the wire, and "" for a value that is no status.
func (s Status) String() string {
	if int(s) >= len(statusNames) {
		return ""
	}
	return statusNames[s]
}

// open reports whether work is left to do.
func (s Status) open() bool {
	return s == Pending || s == InProgress || s == Blocked
}

// ParseStatus returns the status that word names; it knows exactly the words of String.
func ParseStatus(word string) (Status, bool) {
	for s := Pending; s <= Skipped; s++ {
		if statusNames[s] == word {
			return s, true
		}
	}
	return 0, false
}

// Severity says how much a diagnostic should worry its reader. The zero value is no severity.
type Severity uint8

const (
	// SeverityInfo tells how something was read.
	SeverityInfo Severity = iota + 1
	// SeverityWarning tells of something that was probably meant otherwise.
	SeverityWarning
	// SeverityError tells of something that cannot be as written.
	SeverityError
)

var severityNames = [...]string{
	SeverityInfo:    "info",
	SeverityWarning: "warning",
	SeverityError:   "error",
}

// String returns the word for s on the wire, and "" for a value that is no severity.
func (s Severity) String() string {
	if int(s) >= len(severityNames) {
		return ""
	}
	return severityNames[s]
}
