//go:build !linux

package workspace

// identityPath returns root: these systems have no bind mounts to undo.
func identityPath(root string) string { return root }
