package check

// SetMaxOutput changes the limit of an output and returns a function that restores it.
func SetMaxOutput(most int64) (restore func()) {
	before := maxOutput
	maxOutput = most
	return func() { maxOutput = before }
}

// WithGit sets the path of git, "" for a machine without it, and returns a function that restores it.
func WithGit(path string) (restore func()) {
	before := git
	git = func() string { return path }
	return func() { git = before }
}
