package mcp

// SetMaxMessageBytes bounds one message by less than a host may rely on, because tests would need much memory to reach
// that.
func (o *Options) SetMaxMessageBytes(n int) { o.maxMessageBytes = n }
