package endpoint

import "io/fs"

// Mine reports whether a file belongs to this user. On Windows it assumes so, because the profile of the user has set
// access lists for all files in it.
func Mine(fs.FileInfo) bool { return true }
