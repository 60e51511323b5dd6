package inbox

import "os"

// resizes returns a channel that never receives: the screen looks at the size at each drawing.
func resizes() <-chan os.Signal { return nil }
