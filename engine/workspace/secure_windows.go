package workspace

// secure leaves modes and owners to the access list that the folder inherits from the
// user's profile.
func secure(dir string) error { return refuseOther(dir) }
