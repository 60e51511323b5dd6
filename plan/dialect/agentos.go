package dialect

// agentOS is the dialect of Agent OS: headings such as "#### Task Group 2: Catalogue" contain the tasks.
var agentOS = ofHeadings(Dialect{
	Name: "agent-os",
	Fits: func(s *Survey) int {
		if s.Has(HeadTaskGroup) || s.Hinted {
			return fitsHeads(s)
		}
		return 0
	},
	Looks:   []Look{HeadTaskGroup},
	Folders: []string{"agent-os/specs/", ".agent-os/specs/"},
})
