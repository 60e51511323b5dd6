package check

// SetMaxOutput changes the limit of an output and returns a function that restores it.
func SetMaxOutput(most int64) (restore func()) {
	before := maxOutput
	maxOutput = most
	return func() { maxOutput = before }
}
