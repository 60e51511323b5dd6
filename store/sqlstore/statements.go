package sqlstore

import (
	"strconv"
	"strings"

	"waybill/internal/lazyregexp"
)

// The statements of this package are written for tables that many workspaces share. Each row has the number of its
// workspace, for which :w stands. They name indexes where SQLite, which has no row counts, would choose another one.

// limited ends a statement whose last argument bounds its rows. With a bare ?, SQLite would prepare the statement again
// for each new number, because it plans for the number.
const limited = " LIMIT ?+0"

var (
	sameWorkspace = lazyregexp.New(` AND \w+\.workspace = \w+\.workspace`)
	leadingTerm   = lazyregexp.New(`\b(\w+\.)?workspace = :w AND\s+`)
	onlyTerm      = lazyregexp.New(` WHERE (\w+\.)?workspace = :w`)
	indexHint     = lazyregexp.New(` INDEXED BY \w+`)
	aloneValues   = strings.NewReplacer("(workspace, ", "(", "(:w, ", "(")
	// PostgreSQL looks these columns up by SHA-256, because its indexes do not hold long texts.
	lookedUp       = lazyregexp.New(`\b(tasks\.run_id|tasks\.parent|key|subject|ack_event|trigger_event|plan|item_id) = \?`)
	sharedSpelling = strings.NewReplacer("?+0", "?", "CROSS JOIN", "JOIN", "(workspace, key)", "(workspace, sha256(key))", ":w", "$1")
)

// Alone returns a statement for the tables of an SQLite database, which has one workspace and no column for it.
func Alone(text string) string {
	text = sameWorkspace().ReplaceAllString(text, "")
	text = leadingTerm().ReplaceAllString(text, "")
	return aloneValues.Replace(onlyTerm().ReplaceAllString(text, ""))
}

// Shared returns a statement for the tables of a PostgreSQL database. Its first argument is the number of the workspace,
// and the others follow.
func Shared(text string) string {
	text = lookedUp().ReplaceAllString(text, "sha256($1) = sha256(?)")
	text = sharedSpelling.Replace(indexHint().ReplaceAllString(text, ""))
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
