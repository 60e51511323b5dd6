package plan

import (
	"fmt"
	"strings"
	"unicode"

	"waybill/cli/output"
	"waybill/internal/safetext"
	"waybill/plan"
)

// A graph is written for programs that draw graphs. An arrow points from an item to an item that depends on it, a
// dotted line from a group to its members. The nodes have generated names, so that foreign text is only in labels.

// An edgeGraph has the items of a plan and their edges. It writes edge by edge, so circles need no special care.
type edgeGraph struct {
	items   []outlookItem
	first   map[string]int
	up      []int
	unknown []string // ids that an item depends on and that the plan does not have, each once
}

func newGraph(items []outlookItem) edgeGraph {
	plan := make([]plan.Item, len(items))
	for i := range items {
		plan[i] = items[i].Item
	}
	g := edgeGraph{items: items, first: firstByID(plan)}
	g.up = parents(plan, g.first)
	seen := map[string]bool{}
	for _, it := range items {
		for _, id := range it.DependsOn {
			if _, known := g.first[id]; !known && !seen[id] {
				seen[id] = true
				g.unknown = append(g.unknown, id)
			}
		}
	}
	return g
}

// dependencies calls fn for every dependency once, with the names of its nodes, the earlier item first.
func (g edgeGraph) dependencies(fn func(from, to string)) {
	stranger := make(map[string]string, len(g.unknown))
	for i, id := range g.unknown {
		stranger[id] = fmt.Sprintf("u%d", i)
	}
	for i, it := range g.items {
		said := make(map[string]bool, len(it.DependsOn))
		for _, id := range it.DependsOn {
			if said[id] {
				continue
			}
			said[id] = true
			from, unknown := stranger[id]
			if !unknown {
				from = nodeName(g.first[id])
			}
			fn(from, nodeName(i))
		}
	}
}

func nodeName(item int) string { return fmt.Sprintf("n%d", item) }

// labelWidth is how much of an id and a title a node shows.
const labelWidth = 60

func (it outlookItem) label() string {
	return output.Fit(strings.TrimSpace(safetext.Printable(it.ID)+" "+safetext.Printable(it.Title)), labelWidth)
}

func strangerLabel(id string) string {
	return output.Fit(safetext.Printable(id), labelWidth) + " (not in the plan)"
}

// graphStyles are the fill and border colours of the nodes in each state.
var graphStyles = []struct {
	class, fill, line string
}{
	{string(stateReady), "#d9f2f7", "#0b7285"},
	{string(stateWaiting), "#f1f3f5", "#868e96"},
	{string(stateInProgress), "#dbe4ff", "#364fc7"},
	{string(stateBlocked), "#ffe3e3", "#c92a2a"},
	{string(stateDone), "#d3f9d8", "#2b8a3e"},
	{string(stateSkipped), "#ffffff", "#adb5bd"},
	{string(stateGroup), "#fff9db", "#e67700"},
	{unknownClass, "#ffffff", "#c92a2a"},
}

const unknownClass = "unknown"

// mermaid writes the graph as a Mermaid flowchart.
func (g edgeGraph) mermaid() string {
	var b strings.Builder
	b.WriteString("flowchart TD\n")
	for i, it := range g.items {
		fmt.Fprintf(&b, "  %s[\"%s\"]:::%s\n", nodeName(i), mermaidText(it.label()), it.state)
	}
	for i, id := range g.unknown {
		fmt.Fprintf(&b, "  u%d[\"%s\"]:::%s\n", i, mermaidText(strangerLabel(id)), unknownClass)
	}
	for i, p := range g.up {
		if p >= 0 {
			fmt.Fprintf(&b, "  %s -.- %s\n", nodeName(p), nodeName(i))
		}
	}
	g.dependencies(func(from, to string) { fmt.Fprintf(&b, "  %s --> %s\n", from, to) })
	for _, s := range graphStyles {
		fmt.Fprintf(&b, "  classDef %s fill:%s,stroke:%s,color:#212529\n", s.class, s.fill, s.line)
	}
	return b.String()
}

// mermaidText writes everything as a number that could be more than text: Mermaid looks for directives,
// comments, styles, Markdown and HTML within labels too.
func mermaidText(text string) string {
	var b strings.Builder
	for _, r := range text {
		if unicode.In(r, unicode.L, unicode.M, unicode.Nd) || strings.ContainsRune(" .,-()/", r) {
			b.WriteRune(r)
			continue
		}
		fmt.Fprintf(&b, "#%d;", r)
	}
	return b.String()
}

// dot writes the graph in the language of Graphviz.
func (g edgeGraph) dot() string {
	var b strings.Builder
	b.WriteString("digraph plan {\n  rankdir=LR\n  node [shape=box style=\"rounded,filled\"]\n")
	dress := map[string]string{}
	for _, s := range graphStyles {
		dress[s.class] = fmt.Sprintf("class=\"%s\" fillcolor=\"%s\" color=\"%s\"", s.class, s.fill, s.line)
	}
	for i, it := range g.items {
		fmt.Fprintf(&b, "  %s [label=\"%s\" %s]\n", nodeName(i), dotText(it.label()), dress[string(it.state)])
	}
	for i, id := range g.unknown {
		fmt.Fprintf(&b, "  u%d [label=\"%s\" %s]\n", i, dotText(strangerLabel(id)), dress[unknownClass])
	}
	for i, p := range g.up {
		if p >= 0 {
			fmt.Fprintf(&b, "  %s -> %s [style=dotted arrowhead=none]\n", nodeName(p), nodeName(i))
		}
	}
	g.dependencies(func(from, to string) { fmt.Fprintf(&b, "  %s -> %s\n", from, to) })
	b.WriteString("}\n")
	return b.String()
}

// dotText is safe in a quoted label, in which Graphviz reads escapes and the entities of HTML.
func dotText(text string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(text)
}
