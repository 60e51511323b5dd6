package mcp

// SetMaxMessageBytes bounds one message by less than a host may rely on, because tests would need much memory to reach
// that.
func (o *Options) SetMaxMessageBytes(n int) { o.maxMessageBytes = n }

// Advice returns what a model is told to do for a next action.
func Advice(action string) string { return advice[action] }
