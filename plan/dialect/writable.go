package dialect

// Writable reports whether the dialect has marks or words to write.
func (d *Dialect) Writable() bool {
	for s := range d.Boxes {
		if d.Boxes[s] != nil || d.Words[s] != nil {
			return true
		}
	}
	return false
}
