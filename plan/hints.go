package plan

// Hints are facts about a plan besides its text. The zero value holds none.
type Hints struct {
	// Dialect, if not empty, is the dialect of the plan, one of Dialects. Pattern is the configured pattern that set
	// it.
	Dialect, Pattern string
	// Path is the plan's path in its workspace, with slashes, or the result of HintPath. A tool's folder decides the
	// dialect only if the text does not.
	Path string
}
