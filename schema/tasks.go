package schema

import "github.com/go-json-experiment/json/jsontext"

// Model names the model of an agent.
type Model struct {
	ProviderID string `json:"provider_id" schema:"required"`
	ModelID    string `json:"model_id" schema:"required"`
	Variant    string `json:"variant,omitzero"`
}

// Task is a task as the host sees it. Model, session and timing are those of its newest attempt.
type Task struct {
	TaskID           string            `json:"task_id" schema:"id"`
	Status           string            `json:"status" schema:"enum=QUEUED|RUNNING|COMPLETE|AWAITING_RESPONSE|ERROR|CANCELLED|BLOCKED"`
	Reason           string            `json:"reason,omitzero" doc:"of ERROR: failed, timeout, retries_exhausted or interrupted; of CANCELLED and BLOCKED: what was said"`
	Prompt           string            `json:"prompt" doc:"in lists, of a long one the beginning"`
	PromptBytes      int               `json:"prompt_bytes"`
	RetryContext     bool              `json:"retry_context,omitzero" doc:"whether the prompt is a retry prompt of ingest_output"`
	Description      string            `json:"description,omitzero"`
	Role             string            `json:"role,omitzero"`
	RunID            string            `json:"run_id,omitzero"`
	Proof            string            `json:"proof,omitzero" doc:"of a run with required checks: proof.state of the run"`
	ParentSessionID  string            `json:"parent_session_id,omitzero" doc:"the session that is told of its end"`
	Models           []Model           `json:"models"`
	MaxAttempts      int               `json:"max_attempts"`
	Failures         int               `json:"failures" doc:"attempts that failed or were lost since the task was created or retried, without those after which the host named the next model"`
	Labels           map[string]string `json:"labels,omitzero"`
	CurrentAttemptID string            `json:"current_attempt_id,omitzero"`
	AttemptNumber    int               `json:"attempt_number,omitzero"`
	SessionID        string            `json:"session_id,omitzero"`
	Model            *Model            `json:"model,omitzero"`
	Output           string            `json:"output,omitzero" doc:"output of the last attempt with an output; with a user_reply, the output that was replied to; lists have only the beginning of a long one"`
	Question         string            `json:"question,omitzero"`
	Offered
	UserReply         string       `json:"user_reply,omitzero" doc:"the answer that an attempt carries and none has acted on yet"`
	UserOption        string       `json:"user_option,omitzero" doc:"the option that this answer takes"`
	UserByTime        bool         `json:"user_by_time,omitzero" doc:"whether time took the default; no person answered"`
	Error             *TaskError   `json:"error,omitzero"`
	DependsOn         []string     `json:"depends_on"`
	WaitingFor        []WaitingFor `json:"waiting_for,omitzero" doc:"what holds a queued task back"`
	NotBefore         Time         `json:"not_before,omitzero" doc:"when a retry may begin"`
	CancelRequestedAt Time         `json:"cancel_requested_at,omitzero" doc:"its end was asked for; the worker has to report it"`
	CreatedAt         Time         `json:"created_at"`
	UpdatedAt         Time         `json:"updated_at"`
	StartedAt         Time         `json:"started_at,omitzero"`
	CompletedAt       Time         `json:"completed_at,omitzero"`
}

// WaitingFor is one reason why a task waits.
type WaitingFor struct {
	Kind   string `json:"kind" schema:"enum=depends_on|retry_delay|provider_cooling"`
	TaskID string `json:"task_id,omitzero"`
	Status string `json:"status,omitzero" doc:"of that task"`
	Until  Time   `json:"until,omitzero"`
}

// TaskError is the error of an attempt.
type TaskError struct {
	Message    string `json:"message"`
	Class      string `json:"class,omitzero" schema:"enum=transient|provider|terminal|user" doc:"what may help"`
	HTTPStatus int    `json:"http_status,omitzero"`
	Name       string `json:"name,omitzero"`
}

// Attempt is one execution of a task.
type Attempt struct {
	AttemptID     string `json:"attempt_id" schema:"id"`
	TaskID        string `json:"task_id" schema:"id"`
	AttemptNumber int    `json:"attempt_number" doc:"from 1"`
	Cause         string `json:"cause" schema:"enum=first|retry|reply|request" doc:"why it was made"`
	Status        string `json:"status" schema:"enum=pending|running|completed|error|cancelled|interrupted|lost|awaiting_response"`
	Worker        string `json:"worker,omitzero"`
	SessionID     string `json:"session_id,omitzero"`
	Model         *Model `json:"model,omitzero"`
	Error         string `json:"error,omitzero" doc:"in a timeline, of a long one the beginning"`
	ErrorClass    string `json:"error_class,omitzero" schema:"enum=transient|provider|terminal|user"`
	CreatedAt     Time   `json:"created_at"`
	StartedAt     Time   `json:"started_at,omitzero"`
	CompletedAt   Time   `json:"completed_at,omitzero"`
	DurationMS    *int64 `json:"duration_ms,omitzero" doc:"of one that began and is over"`
	ClockSkew     bool   `json:"clock_skew,omitzero" doc:"the clock was set back to before it began; duration_ms is then 0"`
	StaleEvents   int    `json:"stale_events" doc:"reports that came when it was not theirs to make any more"`
}

// Lease is the right to report about an attempt.
type Lease struct {
	Token     string `json:"token"`
	Epoch     int    `json:"epoch" doc:"grows with each claim of the task"`
	ExpiresAt Time   `json:"expires_at"`
}

// Option is one answer that a question offers.
type Option struct {
	Label  string `json:"label" schema:"required" doc:"one line of at most 200 characters; labels that differ only in case are refused"`
	Detail string `json:"detail,omitzero" doc:"at most 4 KiB"`
}

// Offering is the answers that a question offers.
type Offering struct {
	Options        []Option `json:"options,omitzero" doc:"at most 20"`
	AllowText      *bool    `json:"allow_text,omitzero" schema:"default=true" doc:"false: only an option is an answer"`
	Default        string   `json:"default,omitzero" doc:"the label of the option that forms suggest"`
	DefaultAfterMS *int64   `json:"default_after_ms,omitzero" schema:"min=1000,max=2592000000" doc:"milliseconds until the default is taken automatically; absent: never"`
}

// Offered is the answers that a present question offers.
type Offered struct {
	Options   []Option `json:"options,omitzero"`
	AllowText *bool    `json:"allow_text,omitzero" doc:"with options: whether own words are an answer, too"`
	Default   string   `json:"default,omitzero" doc:"the label of an option"`
	DefaultAt Time     `json:"default_at,omitzero" doc:"when time takes the default unless a person answers before"`
}

// Reply is an answer to a task.
type Reply struct {
	Number    int    `json:"number" doc:"from 1"`
	Reply     string `json:"reply"`
	Option    string `json:"option,omitzero" doc:"the label of the option that it takes"`
	ByTime    bool   `json:"by_time,omitzero" doc:"whether time took the default; no person answered"`
	Question  string `json:"question,omitzero"`
	By        string `json:"by,omitzero"`
	At        Time   `json:"at"`
	AttemptID string `json:"attempt_id" schema:"id" doc:"the attempt that had asked"`
}

// CreateTaskParams are the params of create_task.
type CreateTaskParams struct {
	Prompt          string            `json:"prompt" schema:"required,nonblank" doc:"at most 1 MiB"`
	Description     string            `json:"description,omitzero"`
	RunID           string            `json:"run_id,omitzero" schema:"id"`
	Role            string            `json:"role,omitzero" schema:"enum=worker|implementer|spec-reviewer|code-quality-reviewer|reviewer"`
	ParentSessionID string            `json:"parent_session_id,omitzero" schema:"id"`
	Models          []Model           `json:"models,omitzero" doc:"in the order in which they are tried; none leaves it to the host"`
	DependsOn       []string          `json:"depends_on,omitzero" schema:"id" doc:"tasks that must complete first"`
	MaxAttempts     *int              `json:"max_attempts,omitzero" schema:"min=1,max=10000" doc:"attempts that may fail or be lost; by default the number of models, at least 1"`
	Labels          map[string]string `json:"labels,omitzero"`
	Keyed
}

// ClaimTaskParams are the params of claim_task.
type ClaimTaskParams struct {
	Worker  string `json:"worker" schema:"required,id"`
	RunID   string `json:"run_id,omitzero" schema:"id"`
	Role    string `json:"role,omitzero" schema:"enum=worker|implementer|spec-reviewer|code-quality-reviewer|reviewer"`
	WaitMS  int    `json:"wait_ms,omitzero" schema:"min=0,max=25000,default=0" doc:"how long to wait for a task"`
	LeaseMS *int   `json:"lease_ms,omitzero" schema:"min=1000,max=3600000,default=60000"`
	Keyed
}

// BindSessionParams are the params of bind_session.
type BindSessionParams struct {
	TaskID     string `json:"task_id" schema:"required,id"`
	AttemptID  string `json:"attempt_id" schema:"required,id"`
	LeaseToken string `json:"lease_token" schema:"required,id"`
	SessionID  string `json:"session_id" schema:"required,id"`
	Model      *Model `json:"model,omitzero" doc:"what it really runs on"`
	Keyed
}

// HeartbeatParams are the params of heartbeat.
type HeartbeatParams struct {
	TaskID     string    `json:"task_id" schema:"required,id"`
	LeaseToken string    `json:"lease_token" schema:"required,id"`
	LeaseMS    *int      `json:"lease_ms,omitzero" schema:"min=1000,max=3600000" doc:"its length from now on"`
	Progress   *Progress `json:"progress,omitzero"`
	Keyed
}

// Progress is the progress of a worker.
type Progress struct {
	Message string `json:"message" schema:"required"`
	Percent *int   `json:"percent,omitzero" schema:"min=0,max=100"`
}

// FinishAttemptParams are the params of finish_attempt.
type FinishAttemptParams struct {
	TaskID     string `json:"task_id" schema:"required,id"`
	LeaseToken string `json:"lease_token" schema:"required,id"`
	Status     string `json:"status" schema:"required,enum=completed|error|cancelled|interrupted|awaiting_response"`
	Output     string `json:"output,omitzero" doc:"at most 1 MiB"`
	Question   string `json:"question,omitzero" doc:"what the person is asked, with awaiting_response; without it the output is the question"`
	Offering
	Error     *ErrorSaid `json:"error,omitzero" doc:"what went wrong"`
	Retry     string     `json:"retry,omitzero" schema:"enum=auto|never|same_model,default=auto"`
	NextModel *Model     `json:"next_model,omitzero" schema:"alias=nextModel" doc:"with error, from a host with its own schedule: the next model, for every class; the failure is not counted, and the task continues"`
	Keyed
}

// ErrorSaid is an error in the words of a worker.
type ErrorSaid struct {
	Message    string `json:"message" schema:"required"`
	Class      string `json:"class,omitzero" schema:"enum=transient|provider|terminal|user" doc:"without it, a published table tells"`
	HTTPStatus int    `json:"http_status,omitzero" schema:"min=0,max=999"`
	Name       string `json:"name,omitzero"`
}

// SessionEventParams are the params of report_session_event. For type error, data may have class, http_status and
// name. For message.updated, session.error and session.status, data is the data of the host's event.
type SessionEventParams struct {
	SessionID string         `json:"session_id" schema:"required,id"`
	Type      string         `json:"type" schema:"required,enum=started|progress|idle|error|deleted|message.updated|session.error|session.status"`
	Data      jsontext.Value `json:"data,omitzero" schema:"object"`
	Message   string         `json:"message,omitzero"`
	Keyed
}

// RetryTaskParams are the params of retry_task.
type RetryTaskParams struct {
	TaskID string `json:"task_id" schema:"required,id"`
	Model  *Model `json:"model,omitzero" doc:"without it, the chain begins anew"`
	Keyed
}

// CancelTaskParams are the params of cancel_task.
type CancelTaskParams struct {
	TaskID string `json:"task_id" schema:"required,id"`
	Reason string `json:"reason,omitzero"`
	Keyed
}

// TaskParams are the params of get_task.
type TaskParams struct {
	TaskID       string `json:"task_id" schema:"required,id"`
	RepliesAfter *int   `json:"replies_after,omitzero" schema:"min=0,max=1000000000" doc:"the number of a reply: those behind it are given, in order"`
}

// ListTasksParams are the params of list_tasks.
type ListTasksParams struct {
	Status          string `json:"status,omitzero" schema:"enum=QUEUED|RUNNING|COMPLETE|AWAITING_RESPONSE|ERROR|CANCELLED|BLOCKED"`
	RunID           string `json:"run_id,omitzero" schema:"id"`
	ParentSessionID string `json:"parent_session_id,omitzero" schema:"id"`
	Order           string `json:"order,omitzero" schema:"enum=oldest|newest,default=oldest" doc:"order by time of creation; a cursor belongs to the order of its page"`
	Page
}

// TimelineParams are the params of get_timeline.
type TimelineParams struct {
	TaskID   string `json:"task_id" schema:"required,id"`
	MaxLines *int   `json:"max_lines,omitzero" schema:"min=1,max=500,default=14" doc:"of more attempts, the first and the last few; with 1, the newest"`
}

// ListAwaitingParams are the params of list_awaiting.
type ListAwaitingParams struct {
	Page
}

// ReplyParams are the params of reply.
type ReplyParams struct {
	TaskID string `json:"task_id" schema:"required,id"`
	Reply  string `json:"reply,omitzero" schema:"nonblank" doc:"at most 64 KiB; a text that is a label takes that option; needed without option"`
	Option string `json:"option,omitzero" doc:"the label of an option of the question"`
	By     string `json:"by,omitzero"`
	// SessionID says that a session needs no instruction with the answer.
	SessionID string `json:"session_id,omitzero" schema:"id" doc:"the session that has this answer already, such as from a dialog of its host"`
	// AttemptID ties the answer to one question.
	AttemptID string `json:"attempt_id,omitzero" schema:"id" doc:"the attempt whose question is answered, from list_awaiting; if the task has gone on since, ALREADY_RESOLVED"`
	Keyed
}

// AskUserParams are the params of ask_user.
type AskUserParams struct {
	SessionID   string `json:"session_id" schema:"required,id" doc:"the session that asks; it gets the answer as an instruction"`
	Question    string `json:"question" schema:"required,nonblank" doc:"at most 64 KiB"`
	Description string `json:"description,omitzero" doc:"where the question comes from"`
	Offering
	Keyed
}

// TaskResult is one task after a change.
type TaskResult struct {
	Task Task  `json:"task"`
	Seq  int64 `json:"seq"`
}

// ClaimTaskResult is the result of claim_task.
type ClaimTaskResult struct {
	Claim *Claim `json:"claim" doc:"null if no task is ready"`
	Seq   int64  `json:"seq"`
}

// Claim is a claimed task.
type Claim struct {
	Task         Task    `json:"task"`
	Attempt      Attempt `json:"attempt"`
	Lease        Lease   `json:"lease"`
	Prompt       string  `json:"prompt" doc:"what to run"`
	Continuation bool    `json:"continuation" doc:"whether prompt carries a person's answer"`
}

// AttemptReport is the answer to a report about an attempt.
type AttemptReport struct {
	Applied bool     `json:"applied"`
	Reason  string   `json:"reason,omitzero" schema:"enum=stale_attempt|unknown_session" doc:"why it was not applied"`
	Attempt *Attempt `json:"attempt,omitzero"`
	Seq     int64    `json:"seq"`
}

// HeartbeatResult is the result of heartbeat.
type HeartbeatResult struct {
	Applied         bool   `json:"applied"`
	Reason          string `json:"reason,omitzero" schema:"enum=stale_attempt"`
	Lease           *Lease `json:"lease,omitzero"`
	CancelRequested bool   `json:"cancel_requested" doc:"the worker is to stop and report cancelled"`
	Seq             int64  `json:"seq"`
}

// FinishAttemptResult is the result of finish_attempt.
type FinishAttemptResult struct {
	Applied bool     `json:"applied"`
	Reason  string   `json:"reason,omitzero" schema:"enum=stale_attempt"`
	Task    Task     `json:"task"`
	Attempt *Attempt `json:"attempt,omitzero"`
	Retry   *Retry   `json:"retry,omitzero" doc:"the attempt that takes over"`
	Seq     int64    `json:"seq"`
}

// Retry is the attempt that follows a failed one.
type Retry struct {
	Attempt Attempt `json:"attempt"`
	Model   *Model  `json:"model,omitzero"`
	Class   string  `json:"class" schema:"enum=transient|provider|terminal|user" doc:"of the failure"`
}

// SessionEventResult is the result of report_session_event.
type SessionEventResult struct {
	Applied   bool   `json:"applied"`
	Reason    string `json:"reason,omitzero" schema:"enum=stale_attempt|unknown_session"`
	TaskID    string `json:"task_id,omitzero" schema:"id"`
	AttemptID string `json:"attempt_id,omitzero" schema:"id"`
	Seq       int64  `json:"seq"`
}

// RetryTaskResult is the result of retry_task.
type RetryTaskResult struct {
	Task    Task    `json:"task"`
	Attempt Attempt `json:"attempt"`
	Seq     int64   `json:"seq"`
}

// TaskDetail is the result of get_task.
type TaskDetail struct {
	Task          Task      `json:"task"`
	Attempts      []Attempt `json:"attempts" doc:"of very many, the first and the last few; get_timeline gives more"`
	AttemptsTotal int       `json:"attempts_total"`
	Replies       []Reply   `json:"replies" doc:"of very many, the last 50; replies_after gives the others"`
	RepliesTotal  int       `json:"replies_total"`

	ReplyHistory []ReplyText `json:"reply_history" doc:"the texts and times of replies, under the names that other hosts read"`
}

// ReplyText is the text and the time of a reply.
type ReplyText struct {
	Content   string `json:"content"`
	Timestamp Time   `json:"timestamp"`
}

// TaskList is a page of tasks.
type TaskList struct {
	Items      []Task `json:"items"`
	NextCursor string `json:"next_cursor,omitzero"`
}

// Timeline is the result of get_timeline.
type Timeline struct {
	Attempts []Attempt `json:"attempts"`
	Total    int       `json:"total" doc:"how many attempts there are"`
	Text     string    `json:"text"`
}

// Awaiting is a task that waits for a person.
type Awaiting struct {
	TaskID      string `json:"task_id" schema:"id"`
	AttemptID   string `json:"attempt_id" schema:"id" doc:"the attempt that asked; give it to reply"`
	Description string `json:"description,omitzero"`
	Question    string `json:"question"`
	Offered
	OutputExcerpt string `json:"output_excerpt" doc:"the end of the output"`
	Since         Time   `json:"since"`
	WaitingMS     int64  `json:"waiting_ms"`
	ClockSkew     bool   `json:"clock_skew,omitzero" doc:"the clock was set back since it began to wait"`
	URL           string `json:"url,omitzero"`
}

// AwaitingList is a page of tasks that wait for a person.
type AwaitingList struct {
	Items      []Awaiting `json:"items"`
	NextCursor string     `json:"next_cursor,omitzero"`
}

// ReplyResult is the result of reply.
type ReplyResult struct {
	Success   bool   `json:"success"`
	TaskID    string `json:"task_id" schema:"id"`
	OldStatus string `json:"old_status" schema:"enum=AWAITING_RESPONSE|ERROR|CANCELLED|BLOCKED"`
	NewStatus string `json:"new_status" schema:"enum=QUEUED|COMPLETE" doc:"COMPLETE for a question of ask_user"`
	Seq       int64  `json:"seq"`
}

// TaskNote is the params of task/updated and task/awaiting_response.
type TaskNote struct {
	Seq             int64  `json:"seq"`
	SubjectID       string `json:"subject_id" schema:"id"`
	Event           string `json:"event" doc:"the type of the event"`
	TaskID          string `json:"task_id" schema:"id"`
	Status          string `json:"status" schema:"enum=QUEUED|RUNNING|COMPLETE|AWAITING_RESPONSE|ERROR|CANCELLED|BLOCKED"`
	Reason          string `json:"reason,omitzero"`
	AttemptID       string `json:"attempt_id" schema:"id"`
	AttemptNumber   int    `json:"attempt_number"`
	SessionID       string `json:"session_id,omitzero"`
	ParentSessionID string `json:"parent_session_id,omitzero"`
	RunID           string `json:"run_id,omitzero"`
	Question        string `json:"question,omitzero" doc:"of task/awaiting_response; one of more than 4 KiB is left out"`
	Offered
}

// AttemptNote is the params of attempt/updated.
type AttemptNote struct {
	Seq           int64  `json:"seq"`
	SubjectID     string `json:"subject_id" schema:"id"`
	Event         string `json:"event" doc:"the type of the event"`
	AttemptID     string `json:"attempt_id" schema:"id"`
	TaskID        string `json:"task_id" schema:"id"`
	AttemptNumber int    `json:"attempt_number"`
	Status        string `json:"status" schema:"enum=pending|running|completed|error|cancelled|interrupted|lost|awaiting_response"`
	Worker        string `json:"worker,omitzero"`
	SessionID     string `json:"session_id,omitzero"`
	Model         string `json:"model,omitzero"`
	ErrorClass    string `json:"error_class,omitzero"`
	Message       string `json:"message,omitzero" doc:"of a progress"`
	Call          string `json:"call,omitzero" doc:"of a report that came too late: which"`
}
