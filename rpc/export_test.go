package rpc

// SetMaxMessageBytes bounds one message by less than a host may rely on, because tests would need much
// memory to reach that.
func (o *Options) SetMaxMessageBytes(n int) { o.maxMessageBytes = n }

// SetIncident replaces the names of incidents, which are random.
func (o *Options) SetIncident(name func() string) { o.incident = name }
