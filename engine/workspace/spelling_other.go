//go:build !darwin

package workspace

// systemSpelling returns nothing: EvalSymlinks already returns the spelling on Windows, and elsewhere few file
// systems ignore case.
func systemSpelling(string) (string, bool) { return "", false }
