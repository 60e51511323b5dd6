package output

// Enduring returns the streams as they are: Windows has no signal for a closed pipe.
func Enduring(s Streams) Streams { return s }
