package schema

import (
	_ "embed" // for the comments of the declarations, and prose
	"regexp"
	"strings"
)

// The generators say about a type what its comment says. So the comment is written once, where the
// type is, and there is no second text that could differ from it.
var (
	//go:embed errors.go
	errorsSource string
	//go:embed notes.go
	notesSource string
	//go:embed objects.go
	objectsSource string
	//go:embed params.go
	paramsSource string
	//go:embed prompts.go
	promptsSource string
	//go:embed tasks.go
	tasksSource string
	//go:embed results.go
	resultsSource string
	//go:embed runs.go
	runsSource string
	// protocolProse is the beginning of the document about the protocol: what no declaration says.
	//go:embed protocol.md
	protocolProse string
)

// generatedBy is said by everything that is generated.
const generatedBy = "Generated from the declarations in schema/ by `go test ./schema -run TestGenerated -update`. Do not edit."

// typeComments gives the comment of every type on the wire, as one line, by the type's name.
func typeComments() map[string]string {
	comments := map[string]string{}
	declaration := regexp.MustCompile(`(?m)^((?:// .*\n)+)type (\w+) `)
	for _, source := range []string{
		errorsSource, notesSource, objectsSource, paramsSource, promptsSource, resultsSource, runsSource, tasksSource,
	} {
		for _, found := range declaration.FindAllStringSubmatch(source, -1) {
			lines := strings.Split(strings.TrimSpace(found[1]), "\n")
			for i, line := range lines {
				lines[i] = strings.TrimPrefix(line, "// ")
			}
			comments[found[2]] = strings.Join(lines, " ")
		}
	}
	return comments
}
