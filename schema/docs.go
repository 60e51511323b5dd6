package schema

import (
	_ "embed" // for the comments of the declarations
	"regexp"
	"strings"
)

// The generators describe a type by its comment in these sources, so that there is no second text.
var (
	//go:embed checks.go
	checksSource string
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
)

// Comments returns the comment of each wire type as one line, by the name of the type.
func Comments() map[string]string {
	comments := map[string]string{}
	declaration := regexp.MustCompile(`(?m)^((?:// .*\n)+)type (\w+) `)
	for _, source := range []string{
		checksSource, errorsSource, notesSource, objectsSource, paramsSource, promptsSource, resultsSource, runsSource, tasksSource,
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
