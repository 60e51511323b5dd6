package planfile

// BetweenStats makes every later Read call f after the bytes of a file are read and
// before they are checked for a concurrent change: the moment that no test could hit
// from outside.
func (r *Root) BetweenStats(f func()) { r.betweenStats = f }
