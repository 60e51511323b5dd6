// Package spelling turns the statements of package sqlstore into those of a database. It refuses to decide what a statement
// does.
package spelling

import (
	"strconv"
	"strings"
	"unicode"

	"waybill/internal/lazyregexp"
)

var (
	indexHint   = lazyregexp.New(` INDEXED BY \w+`)
	aloneValues = strings.NewReplacer("(workspace, ", "(", "(:w, ", "(")
	// PostgreSQL looks these columns up by SHA-256, because its indexes do not hold long texts.
	lookedUp       = lazyregexp.New(`\b(tasks\.run_id|tasks\.parent|key|subject|ack_event|trigger_event|plan|item_id) = \?`)
	sharedSpelling = strings.NewReplacer("?+0", "?", "CROSS JOIN", "JOIN", "(workspace, key)", "(workspace, sha256(key))", ":w", "$1")
)

// Alone returns a statement for the tables of an SQLite database, which has one workspace and no column for it.
func Alone(text string) string {
	const column = "workspace = "
	var b strings.Builder
	for {
		name := strings.Index(text, column)
		if name < 0 {
			break
		}
		before, after := text[:name], text[name+len(column):]
		before = strings.TrimRightFunc(before, isNameOrDot)
		switch rest, own := strings.CutPrefix(after, ":w"); {
		case !own: // a join: AND one.workspace = other.workspace
			before = strings.TrimSuffix(before, " AND ")
			after = strings.TrimLeftFunc(after, isNameOrDot)
		case strings.HasPrefix(rest, " AND"):
			after = strings.TrimLeft(rest[len(" AND"):], " \t\n")
		default: // the only term
			before, after = strings.TrimSuffix(before, " WHERE "), rest
		}
		b.WriteString(before)
		text = after
	}
	return aloneValues.Replace(b.String() + text)
}

func isNameOrDot(r rune) bool {
	return r == '_' || r == '.' || unicode.IsLetter(r) || unicode.IsDigit(r)
}

// Shared returns a statement for the tables of a PostgreSQL database. Its first argument is the number of the workspace,
// and the others follow.
func Shared(text string) string {
	set, conditions := "", text
	if at := strings.Index(text, " WHERE "); at > 0 && strings.HasPrefix(text, "UPDATE") {
		set, conditions = text[:at], text[at:] // an update looks nothing up in what it sets
	}
	text = set + lookedUp.Compiled().ReplaceAllString(conditions, "sha256($1) = sha256(?)")
	text = sharedSpelling.Replace(indexHint.Compiled().ReplaceAllString(text, ""))
	var b strings.Builder
	parts := strings.Split(text, "?")
	for i, part := range parts {
		if i > 0 {
			b.WriteString("$" + strconv.Itoa(i+1))
		}
		b.WriteString(part)
	}
	return b.String()
}
