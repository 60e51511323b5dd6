package check

// SetMaxOutput changes the limit of an output and returns a function that restores it.
func SetMaxOutput(most int64) (restore func()) {
	before := maxOutput
	maxOutput = most
	return func() { maxOutput = before }
}

// WithoutGit makes the machine one without git and returns a function that restores it.
func WithoutGit() (restore func()) {
	before := git
	git = func() string { return "" }
	return func() { git = before }
}
