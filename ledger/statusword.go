package ledger

import "strings"

// recordWords are what tools write for a status, in lower case and with spaces
// for hyphens and underscores.
var recordWords = map[string]Status{
	"to do": Pending, "todo": Pending, "open": Pending, "pending": Pending, "backlog": Pending, "draft": Pending,
	"new": Pending, "ready": Pending, "planned": Pending, "queued": Pending, "not started": Pending,
	"in progress": InProgress, "doing": InProgress, "started": InProgress, "review": InProgress, "in review": InProgress,
	"done": Completed, "completed": Completed, "complete": Completed, "closed": Completed, "finished": Completed,
	"blocked": Blocked, "on hold": Blocked, "waiting": Blocked,
	"deferred": Skipped, "cancelled": Skipped, "canceled": Skipped, "skipped": Skipped, "superseded": Skipped,
	"obsolete": Skipped, "withdrawn": Skipped,
}

var wordSpaces = strings.NewReplacer("-", " ", "_", " ")

// readStatusWord reads a status as tools write it: "In Progress", "in-progress".
func readStatusWord(word string) (Status, bool) {
	const longest = 32
	if len(word) > longest {
		return 0, false
	}
	status, ok := recordWords[wordSpaces.Replace(strings.ToLower(trim(word)))]
	return status, ok
}
