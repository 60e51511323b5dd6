//go:build !darwin

package workspace

// systemSpelling has nothing to add: EvalSymlinks has asked Windows already, and
// elsewhere file systems that ignore case are rare and cannot be asked cheaply.
func systemSpelling(string) (string, bool) { return "", false }
