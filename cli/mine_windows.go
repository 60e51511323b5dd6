package cli

import "io/fs"

// mine reports whether a file belongs to this user. Here that is told by access lists, which the profile of the user
// has set for all that is in it.
func mine(fs.FileInfo) bool { return true }
