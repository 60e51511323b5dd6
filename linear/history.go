package linear

// A Call is what a client did, and when. The instants are of one clock, in ns.
type Call struct {
	Client       int
	Began, Ended int64
	// Lost says that no answer came. The call took effect before Ended, when its process was gone, or never.
	Lost bool
	Act  Act
}

// An Act is one of the calls below, with what it was answered. Instructions and tasks go by what they say: each says
// something else, and who has lost the answer does not know another name.
type Act interface{ act() }

// Queue queues a tracked instruction that is sent at most SendsMax times.
type Queue struct {
	Name     string
	Session  string
	SendsMax int
}

// A Pass is one dispatch pass over a session.
type Pass struct {
	Session string
	Sent    map[string]int // which send it is, by instruction
	Failed  map[string]bool
	Whole   bool // nothing was left for another pass
}

// Ack acknowledges an instruction.
type Ack struct {
	Name    string
	State   string // afterwards
	Already bool   // it was acknowledged before, or after it had failed
}

// Look reads an instruction.
type Look struct {
	Name  string
	State string // "" if there is none
	Sends int
}

// Create creates a task that is tried at most Tries times.
type Create struct {
	Name  string
	Tries int
}

// Claim claims a task.
type Claim struct {
	Name    string // "" if none was ready
	Attempt int
	Token   string
}

// Finish ends an attempt, as completed or with an error that the next attempt may mend.
type Finish struct {
	Name      string
	Token     string
	Completed bool
	Applied   bool
	Status    string // of the task, afterwards
}

// LookTask reads a task.
type LookTask struct {
	Name    string
	Status  string // "" if there is none
	Attempt int
}

func (Queue) act()    {}
func (Pass) act()     {}
func (Ack) act()      {}
func (Look) act()     {}
func (Create) act()   {}
func (Claim) act()    {}
func (Finish) act()   {}
func (LookTask) act() {}

// An Event is one record as a reader has read it.
type Event struct {
	Seq  int64
	Text string // all of it
}

// A History is what all clients know, and what each reader has read, in its order.
type History struct {
	Calls   []Call
	Readers [][]Event
}
