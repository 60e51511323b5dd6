package linearizability

// A Call is a call of a client with its times, in ns of one clock.
type Call struct {
	Client       int
	Began, Ended int64
	// Lost says that no answer came. The call took effect before Ended or never.
	Lost bool
	Act  Act
}

// An Act is one of the calls below, with its answer. Instructions and tasks are identified by their content, because
// a lost answer has no id.
type Act interface{ act() }

// Queue queues a tracked instruction with at most SendsMax sends.
type Queue struct {
	Name     string
	Session  string
	SendsMax int
}

// A Pass is one dispatch pass over a session.
type Pass struct {
	Session string
	Sent    map[string]int // send number, by instruction
	Failed  map[string]bool
	Whole   bool // nothing is left for another pass
}

// Ack acknowledges an instruction.
type Ack struct {
	Name    string
	State   string // after the call
	Already bool   // it was acknowledged before, or after its failure
}

// Look reads an instruction.
type Look struct {
	Name  string
	State string // "" if it does not exist
	Sends int
}

// Create creates a task with at most Tries attempts.
type Create struct {
	Name  string
	Tries int
}

// Claim claims a task.
type Claim struct {
	Name    string // "" if no task was ready
	Attempt int
	Token   string
}

// Finish ends an attempt, completed or with an error that allows a retry.
type Finish struct {
	Name      string
	Token     string
	Completed bool
	Applied   bool
	Status    string // of the task, after the call
}

// LookTask reads a task.
type LookTask struct {
	Name    string
	Status  string // "" if it does not exist
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

// An Event is one record that a reader has read.
type Event struct {
	Seq  int64
	Text string // the whole record
}

// A History holds the calls of all clients, and the records of each reader in its order.
type History struct {
	Calls   []Call
	Readers [][]Event
}
