package plan

import "strings"

// This file reads arrows: "1 --> 2", "A --> B --> C" and "T1[1. Dig] -->|then| T2[2. Plant]" in a drawing.

// readArrows reads a drawing line by line. It reports arrows that span several lines, because it cannot read them.
func (o *orders) readArrows(s *sketch) {
	at, met, lost := 0, false, -1
	for line := range strings.Lines(s.text.String()) {
		found, whole := o.arrows(trim(strings.TrimRight(line, "\n")), func() spot { return s.spot(at) }, true)
		met = met || found
		if !whole && lost < 0 {
			lost = at
		}
		at += len(line)
	}
	switch {
	case lost >= 0:
		o.report(s.spot(lost), SeverityWarning, "graph_unread",
			"this arrow has only one end, so it is ignored: write both ends on one line, such as 1 --> 2")
	case !met && at > len(s.column): // and is not blank
		o.report(s.spot(0), SeverityInfo, "graph_unread", "this drawing has no order that can be read: write one such as 1 --> 2")
	}
}

// readLine reads a line of text in a drawing section. The line counts only if all its nodes are items.
func (o *orders) readLine(s sentence) {
	o.arrows(s.text, func() spot { return spot{s.line, s.column} }, false)
}

// arrows reads one line: each node waits for the nodes before its arrow. It reports whether the line has an arrow, and
// whether every arrow has two ends.
func (o *orders) arrows(line string, at func() spot, strict bool) (met, whole bool) {
	whole = true
	if strings.HasPrefix(line, "%%") { // a remark
		return false, whole
	}
	node, rest, found := cutArrow(line)
	met = found
	var row [][]int32
	for {
		row = append(row, o.nodes(node, at, strict && met))
		whole = whole && (node != "" || !met)
		if !strict && row[len(row)-1] == nil {
			return met, whole
		}
		if !found {
			break
		}
		node, rest, found = cutArrow(rest)
	}
	for k := 1; k < len(row); k++ {
		o.cross(row[k-1], row[k], at())
	}
	return met, whole
}

// cross records that every item in before precedes every item in after.
func (o *orders) cross(before, after []int32, at spot) {
	for _, b := range before {
		for _, a := range after {
			if o.pair(b, a, at); o.full {
				return
			}
		}
	}
}

// cutArrow splits a line at its first arrow, and removes the label of that arrow.
func cutArrow(s string) (node, rest string, found bool) {
	for i := 0; i < len(s); i++ {
		width := 0
		switch {
		case s[i] == '>' && i > 0 && (s[i-1] == '-' || s[i-1] == '='):
			width = 1
		case strings.HasPrefix(s[i:], "→"):
			width = len("→")
		case strings.HasPrefix(s[i:], "⟶"), strings.HasPrefix(s[i:], "►"), strings.HasPrefix(s[i:], "▶"):
			width = len("►")
		}
		if width == 0 {
			continue
		}
		node, rest = strings.Trim(s[:i], "-=. ─│├└┌┬┼"), trim(s[i+width:])
		if cut := strings.Index(node, " -- "); cut >= 0 { // A -- label --> B
			node = trim(node[:cut])
		}
		if label, labelled := strings.CutPrefix(rest, "|"); labelled {
			if _, after, closed := strings.Cut(label, "|"); closed {
				rest = trim(after)
			}
		}
		return node, rest, true
	}
	return trim(s), "", false
}

// nodes returns the items on one side of an arrow, such as "1 & 2", and records their labels.
func (o *orders) nodes(side string, at func() spot, strict bool) (items []int32) {
	for side = strings.TrimRight(side, "; "); side != ""; {
		var one string
		one, side = cutNode(side)
		if one = trim(one); one == "" {
			continue
		}
		name, label := nodeLabel(one)
		if label == "" {
			label = o.labels[name]
		} else {
			if o.labels == nil {
				o.labels = map[string]string{}
			}
			o.labels[name] = label
		}
		i := int32(-1)
		if label != "" {
			i = o.find(label)
		}
		if i < 0 {
			i = o.find(name)
		}
		switch {
		case i >= 0:
			items = append(items, i)
		case strict:
			o.reportUnknown(name, at())
		}
	}
	return items
}

// cutNode splits a text at the first "&" or comma outside a label.
func cutNode(s string) (node, rest string) {
	depth := 0
	for i := range len(s) {
		switch s[i] {
		case '[', '(', '{':
			depth++
		case ']', ')', '}':
			depth = max(0, depth-1)
		case '&', ',':
			if depth == 0 {
				return s[:i], s[i+1:]
			}
		}
	}
	return s, ""
}

// nodeLabel parses "A", "A[Dig]", "A(Dig)" and `A["1. Dig"]`. Without a name, the label is also the name.
func nodeLabel(s string) (name, label string) {
	at := strings.IndexAny(s, "[({")
	if at < 0 {
		return strings.Trim(s, `"`), ""
	}
	name, label = trim(s[:at]), strings.Trim(s[at:], "[](){}\"' ")
	if name == "" {
		return label, ""
	}
	return name, label
}
