// Package audit compares what the results of agents say with what others saw: git, and the events of a host. It needs no
// command of the project.
//
// These rules hold:
//   - A fact is false only if git contradicts it. Git cannot show everything; the rest is neither true nor false.
//   - A flag is a sign that a person should look, with its evidence. It moves no run.
//   - The same input has the same flags. No model and no score takes part.
//
// The package runs nothing and reads no store.
package audit

import (
	"slices"
	"strings"

	"waybill/core/verdict"
	"waybill/internal/lazyregexp"
)

// Said is what a result says about its work, as far as others can see that. Its JSON is a part of the event log.
type Said struct {
	GitRange string   `json:"git_range,omitzero"` // <base>..<head>, or ""
	Files    []string `json:"files_changed,omitzero"`
	Tests    []string `json:"tests,omitzero"`  // commands that it names as tests
	Tested   string   `json:"tested,omitzero"` // words that say that tests ran
}

// Start is the state of a workspace when the work on an item began, as far as it is known.
type Start struct {
	Commit string `json:"commit,omitzero"` // of HEAD
	Tree   string `json:"tree,omitzero"`   // a hash over the contents of the files
}

// SaidIn returns what a result says.
func SaidIn(r verdict.Result) Said {
	s := Said{GitRange: r.Range(), Files: r.FilesChanged, Tested: saysTested(r.Summary + "\n" + r.Body)}
	for _, t := range r.Tests {
		if t.Command != "" {
			s.Tests = append(s.Tests, t.Command)
		}
	}
	return s
}

// Sentences about tests. A sentence says that tests ran if it matches testsRan and none of testsDidNot.
var (
	testsRan = []*lazyregexp.Regexp{
		lazyregexp.New(`(?i)\b(tests?|specs?|suite|checks)( suite| cases?)?( now| all| still)* (pass|passes|passed|passing|succeed|succeeds|succeeded)\b`),
		lazyregexp.New(`(?i)\b(tests?|specs?|suite|build)( suite| cases?)? (is|are|was|were)( now| all| still)* (green|passing|ok|successful)\b`),
		lazyregexp.New(`(?i)\b(ran|run|re-?ran|executed|passed|passes|verified (with|by)|checked (with|by))( the| all| its| full| whole| unit| integration| existing| new| running)* (tests?|specs?|suite)\b`),
		lazyregexp.New(`(?i)\b[0-9]+(/[0-9]+)? (tests?|specs?|assertions?|examples?)?,? ?(pass|passed|passing|succeeded|ok)\b`),
		lazyregexp.New(`(?i)\b(0|no|zero) (failures|failed|failing tests|test failures)\b`),
		lazyregexp.New(`(?i)\b(go|npm|pnpm|yarn|bun|deno|cargo|make|mvn|gradle|dotnet|mix|swift) (run )?test\b.*\b(pass|passes|passed|ok|green|succeeds|succeeded)\b`),
		lazyregexp.New(`(?i)\b(pytest|jest|vitest|mocha|rspec|phpunit|ctest|tox|unittest)\b.*\b(pass|passes|passed|ok|green|succeeds|succeeded)\b`),
	}
	testsDidNot = []*lazyregexp.Regexp{
		lazyregexp.New(`(?i)\b(not|never|n't|cannot|unable|without|no tests|skipped)\b`),
		lazyregexp.New(`(?i)\b(should|would|will|must|may|might|could|need to|needs to|to be|so that|until|if|once|before|make sure|ensure|please|expected?)\b`),
		lazyregexp.New(`(?i)\b(tests?|suite) (fail|fails|failed|failing)\b`),
	}
	// testCommand is a command that runs tests under whatever name.
	testCommand = lazyregexp.New(`(?i)(^|[^a-z])(tests?|specs?|check|verify|ci|pytest|jest|vitest|mocha|ava|tap|karma|cypress|playwright|rspec|minitest|phpunit|pest|ctest|gtest|tox|nox|unittest|gotestsum|nextest|mvnw?|gradlew?|bazel|behave|cucumber|bats)([^a-z]|$)`)
)

// longestWords bounds the words that are kept of a sentence, in bytes.
const longestWords = 120

// saysTested returns the first sentence that says that tests ran or passed, or "".
func saysTested(text string) string {
	for line := range strings.Lines(text) {
		for sentence := range strings.SplitAfterSeq(line, ". ") {
			if sentence = strings.TrimSpace(sentence); matches(testsRan, sentence) && !matches(testsDidNot, strings.ReplaceAll(sentence, "n't", " not")) {
				return strings.ToValidUTF8(sentence[:min(len(sentence), longestWords)], "")
			}
		}
	}
	return ""
}

func matches(list []*lazyregexp.Regexp, text string) bool {
	return slices.ContainsFunc(list, func(r *lazyregexp.Regexp) bool { return r.Compiled().MatchString(text) })
}
