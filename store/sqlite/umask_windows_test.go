package sqlite_test

// clearUmask does nothing: there is no mask here.
func clearUmask() {}
