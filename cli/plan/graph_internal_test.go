package plan

// These tests are inside because they look at what single texts become in the languages of graphs.

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/test/golden"
)

const hostilePlan = "- [x] 1. Say \"hello\"\n" +
	"- [ ] 2. %%{init: {\"theme\":\"dark\"}}%% `md` <b>&amp;</b> #35; end ]:::done\n  - _Depends: 1, 3, no\"]thing_\n" +
	"- [ ] 3. C:\\new\\N \\\" -> n1; style a:#b;\n  - _Depends: 2, 2_\n" +
	"- [-] 4. Group\n  - [ ] 4.1 漢字 \u202e\x1b[31m\n    - _Depends: 4.1_\n  - [~] 4.2 Waits\n    - _Blocked: x_\n"

func TestGraphs(t *testing.T) {
	_, items := understood(t, hostilePlan, nil)
	g := newGraph(items)
	golden.Equal(t, "plan.mermaid.golden", g.mermaid())
	golden.Equal(t, "plan.dot.golden", g.dot())
}

// However an author writes, each line of the graph is one of the few that there are.
func TestGraphsHaveNoLineOfTheAuthor(t *testing.T) {
	_, items := understood(t, hostilePlan, nil)
	g := newGraph(items)
	node := regexp.MustCompile(`^  [nu]\d+\["(?:[\p{L}\p{M}\p{Nd} .,\-()/]|#\d+;)*"\]:::[a-z_]+$`)
	edge := regexp.MustCompile(`^  [nu]\d+ (?:-->|-\.-) n\d+$`)
	class := regexp.MustCompile(`^  classDef [a-z_]+ fill:#[0-9a-f]{6},stroke:#[0-9a-f]{6},color:#212529$`)
	for line := range strings.Lines(strings.TrimPrefix(g.mermaid(), "flowchart TD\n")) {
		line = strings.TrimSuffix(line, "\n")
		require.True(t, node.MatchString(line) || edge.MatchString(line) || class.MatchString(line), "%q", line)
	}
	label := regexp.MustCompile(`^  [nu]\d+ \[label="(?:[^"\\&<>]|\\\\|\\"|&(?:amp|lt|gt);)*" class="[a-z_]+" fillcolor="#[0-9a-f]{6}" color="#[0-9a-f]{6}"\]$`)
	arrow := regexp.MustCompile(`^  [nu]\d+ -> n\d+(?: \[style=dotted arrowhead=none\])?$`)
	lines := strings.Split(strings.TrimSuffix(g.dot(), "\n"), "\n")
	require.Equal(t, "}", lines[len(lines)-1])
	for _, line := range lines[3 : len(lines)-1] {
		require.True(t, label.MatchString(line) || arrow.MatchString(line), "%q", line)
	}
}

// A circle has all of its arrows, each once.
func TestGraphOfACircle(t *testing.T) {
	_, items := understood(t, "- [ ] 1. a\n  - _Depends: 3_\n- [ ] 2. b\n  - _Depends: 1_\n- [ ] 3. c\n  - _Depends: 2, 2_\n", nil)
	for _, text := range []string{newGraph(items).mermaid(), strings.ReplaceAll(newGraph(items).dot(), " -> ", " --> ")} {
		for _, arrow := range []string{"n2 --> n0", "n0 --> n1", "n1 --> n2"} {
			require.Equal(t, 1, strings.Count(text, arrow), "%s in\n%s", arrow, text)
		}
	}
}
