package schema

import (
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// A Time is an RFC 3339 instant in UTC.
type Time string

// TimeOf returns an instant as text, to the microsecond.
func TimeOf(t time.Time) Time { return Time(t.UTC().Format("2006-01-02T15:04:05.000000Z")) }

// Instruction is an instruction as the host sees it.
type Instruction struct {
	InstructionID  string   `json:"instruction_id" schema:"id"`
	SessionID      string   `json:"session_id" schema:"id"`
	Content        string   `json:"content"`
	State          string   `json:"state" schema:"enum=armed|queued|sent|delivered|acknowledged|failed|cancelled"`
	Tracked        bool     `json:"tracked" doc:"whether an acknowledgement is expected"`
	Priority       bool     `json:"priority"`
	Sends          int      `json:"sends" doc:"how often it was handed out"`
	SendsMax       int      `json:"sends_max" doc:"1 + max_retries"`
	AckOn          *AckRule `json:"ack_on,omitzero"`
	Standing       bool     `json:"standing,omitzero" doc:"armed again after each acknowledgement and each failure; sends counts those since it was last due"`
	Trigger        *Trigger `json:"trigger,omitzero"`
	CreatedAt      Time     `json:"created_at"`
	LastSentAt     Time     `json:"last_sent_at,omitzero"`
	AcknowledgedAt Time     `json:"acknowledged_at,omitzero"`
	AcknowledgedBy string   `json:"acknowledged_by,omitzero" schema:"enum=call|event"`
	FailedAt       Time     `json:"failed_at,omitzero"`
	LateAckAt      Time     `json:"late_ack_at,omitzero" doc:"when it was acknowledged after it had failed"`
	CancelledAt    Time     `json:"cancelled_at,omitzero"`
	Reason         string   `json:"reason,omitzero" doc:"why it was cancelled"`
}

// AckRule selects the reported events that acknowledge an instruction.
type AckRule struct {
	EventType string                    `json:"event_type" schema:"required" doc:"the exact type"`
	Match     map[string]jsontext.Value `json:"match,omitzero" doc:"path to value: dotted, list positions as numbers, or a JSON Pointer. Every value must be equal, or meet its operator: {\"$contains\": text}, {\"$glob\": pattern}, {\"$any\": [values]} or {\"$command\": \"go test ./...\"}"`
}

// Trigger selects the reported events that make a standing instruction due. An event that acknowledges it does not.
type Trigger struct {
	EventType string                    `json:"event_type" schema:"required" doc:"the exact type"`
	Match     map[string]jsontext.Value `json:"match,omitzero" doc:"as in an acknowledgement rule"`
	Path      string                    `json:"path,omitzero" doc:"a pattern for the file that the event names, as in tool_input.file_path: *.go, docs/*.md. Without a slash at its beginning it also fits the end of a path, from any folder on"`
}

// Send is one send of an instruction.
type Send struct {
	InstructionID string `json:"instruction_id" schema:"id"`
	Content       string `json:"content"`
	Send          int    `json:"send" doc:"which send this is, from 1"`
	SendsMax      int    `json:"sends_max"`
	Tracked       bool   `json:"tracked"`
	Text          string `json:"text" doc:"the text for the agent"`
}

// Fingerprint distinguishes versions of a file.
type Fingerprint struct {
	MtimeMS int64  `json:"mtime_ms"`
	Size    int64  `json:"size"`
	Hash    string `json:"hash" doc:"SHA-256 of the bytes, in hex; this decides"`
}

// Totals counts the work that a plan file shows: items without children, and open boxes that are no items.
type Totals struct {
	Total      int `json:"total"`
	Completed  int `json:"completed"`
	InProgress int `json:"in_progress"`
	Pending    int `json:"pending"`
	Blocked    int `json:"blocked"`
	Skipped    int `json:"skipped"`
	Groups     int `json:"groups" doc:"parents with children; not in total"`
	Unread     int `json:"unread,omitzero" doc:"open boxes and signs that are no items; they are in total and pending"`
}

// PlanRuns counts the items without children by the state of their latest runs.
type PlanRuns struct {
	Approved   int `json:"approved" doc:"items whose latest run was approved, whether or not the file says that they are completed"`
	Proven     int `json:"proven" doc:"those of approved whose required checks are green on their files"`
	Unapproved int `json:"unapproved" doc:"items that the file says are completed while their latest run is running or blocked"`
}

// Item is one task line of a plan.
type Item struct {
	ItemID        string   `json:"item_id"`
	Title         string   `json:"title"`
	Status        string   `json:"status" schema:"enum=pending|in_progress|completed|blocked|skipped"`
	Optional      bool     `json:"optional"`
	Source        string   `json:"source,omitzero" doc:"the file below the folder that the plan is, in which the line counts"`
	Line          int      `json:"line"`
	Level         int      `json:"level"`
	ParentID      string   `json:"parent_id,omitzero"`
	DependsOn     []string `json:"depends_on"`
	Parallel      bool     `json:"parallel"`
	Prompt        string   `json:"prompt,omitzero"`
	Requirements  []string `json:"requirements"`
	Files         []string `json:"files"`
	Details       []string `json:"details" doc:"further text of the item in the plan; an entry may have several lines"`
	Leverage      string   `json:"leverage,omitzero"`
	Purpose       string   `json:"purpose,omitzero"`
	BlockedReason string   `json:"blocked_reason,omitzero"`
	DerivedStatus string   `json:"derived_status,omitzero" schema:"enum=pending|in_progress|completed|blocked|skipped" doc:"of a parent, from its children"`
}

// Diagnostic describes a part of a plan that was not read as written.
type Diagnostic struct {
	Source   string `json:"source,omitzero" doc:"the file below the folder that the plan is, in which the line counts"`
	Line     int    `json:"line"`
	Column   int    `json:"column,omitzero"`
	Severity string `json:"severity" schema:"enum=info|warning|error"`
	Code     string `json:"code"`
	Message  string `json:"message"`
	Open     bool   `json:"open,omitzero" doc:"it is open work and no item; totals.unread counts these"`
}

// Run is the work on one item of one plan.
type Run struct {
	RunID       string            `json:"run_id" schema:"id"`
	Plan        string            `json:"plan"`
	ItemID      string            `json:"item_id"`
	State       string            `json:"state" schema:"enum=running|blocked|done|failed"`
	Reason      string            `json:"reason,omitzero" doc:"why it is blocked"`
	Counters    Counters          `json:"counters"`
	Policy      Policy            `json:"policy"`
	Proof       Proof             `json:"proof"`
	Standing    map[string]string `json:"standing" doc:"how each role stands: awaited, submitted, approved, rejected, unusable, replaced, stuck or broken"`
	PlanVersion int               `json:"plan_version"`
	CreatedAt   Time              `json:"created_at"`
	UpdatedAt   Time              `json:"updated_at"`
}

// Counters count the failures of a run, each independently.
type Counters struct {
	InvalidResults   map[string]int `json:"invalid_results" doc:"by role"`
	WorkerFailures   int            `json:"worker_failures"`
	ReviewRejections int            `json:"review_rejections"`
	Stalled          int            `json:"stalled"`
	ReviewLoop       int            `json:"review_loop"`
	CheckFailures    int            `json:"check_failures" doc:"submissions with a red check"`
}

// Policy holds the limits of a run.
type Policy struct {
	InvalidRetries      *int     `json:"invalid_retries,omitzero" schema:"min=0,max=100,default=1,setting=policy.invalid_retries" doc:"how often a result that cannot be read is asked for once more"`
	ReviewerFreshRuns   *int     `json:"reviewer_fresh_runs,omitzero" schema:"min=0,max=100,default=1,setting=policy.reviewer_fresh_runs" doc:"how many other reviewers are asked after that"`
	WorkerFailures      *int     `json:"worker_failures,omitzero" schema:"min=0,max=100,default=1,setting=policy.worker_failures" doc:"how many failures of workers another worker makes up for"`
	ReviewRejections    *int     `json:"review_rejections,omitzero" schema:"min=1,max=100,default=3,setting=policy.review_rejections" doc:"the rejection at which the run is blocked"`
	StalledThreshold    *int     `json:"stalled_threshold,omitzero" schema:"min=1,max=100,default=2,setting=policy.stalled_threshold" doc:"the outcomes in a row without progress at which it is blocked"`
	ReviewLoopThreshold *int     `json:"review_loop_threshold,omitzero" schema:"min=1,max=100,default=2,setting=policy.review_loop_threshold" doc:"the reviews in a row that find the same at which it is blocked"`
	Reviewers           []string `json:"reviewers,omitzero" schema:"enum=spec-reviewer|code-quality-reviewer,setting=policy.reviewers" doc:"reviewers that must approve; an empty list means none; by default both, or the one reviewer of a host that says reviewer in its first review"`
	ResultForm          string   `json:"result_form,omitzero" schema:"enum=headers|json,default=headers,setting=policy.result_form" doc:"the form of results that prompts and retry prompts ask for; both are read"`
	RequireKey          *bool    `json:"require_key,omitzero" schema:"default=false,setting=policy.require_key" doc:"true: a result without the key of its prompt is invalid; false: it only has a warning"`
	RequireChecks       []string `json:"require_checks,omitzero" schema:"id,setting=policy.require_checks" doc:"names of the checks that must be green on the present files before the run is done, besides those of the settings; facts is the built-in check of facts"`
	Facts               string   `json:"facts,omitzero" schema:"enum=require|warn|off,setting=policy.facts" doc:"require adds facts to require_checks; with warn, waybill work only records whether they hold; without it, waybill work requires them in a repository of git"`
	CheckFailures       *int     `json:"check_failures,omitzero" schema:"min=1,max=100,default=3,setting=policy.check_failures" doc:"the submission with a red check at which the run is blocked"`
}

// ReviewIssue is one finding of a reviewer.
type ReviewIssue struct {
	Severity string `json:"severity"`
	File     string `json:"file,omitzero"`
	Message  string `json:"message"`
	Fix      string `json:"fix,omitzero"`
}

// Stalled reports for how long a run has made no progress.
type Stalled struct {
	ConsecutiveNonProgress int  `json:"consecutive_non_progress"`
	Threshold              int  `json:"threshold"`
	Flagged                bool `json:"flagged"`
}

// ReviewLoop reports how often the same issues came back.
type ReviewLoop struct {
	Count       int  `json:"count"`
	Threshold   int  `json:"threshold"`
	Alternating bool `json:"alternating,omitzero" doc:"two sets of issues take turns"`
	Flagged     bool `json:"flagged"`
}

// TaskLedger holds the facts of a run about its item.
type TaskLedger struct {
	RunID              string        `json:"run_id" schema:"id"`
	ItemID             string        `json:"item_id"`
	PlanVersion        int           `json:"plan_version"`
	Summary            string        `json:"summary,omitzero"`
	ReviewerAssessment string        `json:"reviewer_assessment,omitzero"`
	ReviewerIssues     []ReviewIssue `json:"reviewer_issues"`
	Blockers           []string      `json:"blockers"`
	RequiredFixes      []string      `json:"required_fixes"`
	Stalled            Stalled       `json:"stalled"`
	ReviewLoop         ReviewLoop    `json:"review_loop"`
	Rejections         int           `json:"rejections"`
	ReplanHint         string        `json:"replan_hint,omitzero"`
	PlanSummary        string        `json:"plan_summary,omitzero"`
	PlanItems          []string      `json:"plan_items"`
	FilesChanged       []string      `json:"files_changed"`
	Attempts           int           `json:"attempts" doc:"how often a worker was at it"`
	GitRange           string        `json:"git_range,omitzero" doc:"the commits of the work, as a worker named them last"`
	ReviewAttempts     ReviewCounts  `json:"review_attempts" doc:"how often each reviewer was at it"`
}

// ReviewCounts counts something for each reviewer.
type ReviewCounts struct {
	Spec    int `json:"spec"`
	Quality int `json:"quality"`
}

// ProgressLedger holds the facts of a run about its plan.
type ProgressLedger struct {
	Plan              string      `json:"plan"`
	ItemID            string      `json:"item_id"`
	SourcePath        string      `json:"source_path"`
	SourceFingerprint Fingerprint `json:"source_fingerprint"`
	Totals            Totals      `json:"totals"`
	ActiveItemID      string      `json:"active_item_id,omitzero"`
	CurrentItem       *Item       `json:"current_item,omitzero"`
}

// Fact is one fact of a run.
type Fact struct {
	K string `json:"k"`
	V string `json:"v"`
}

// Notice is a durable message to the host.
type Notice struct {
	NoticeID   string         `json:"notice_id" schema:"id"`
	Kind       string         `json:"kind"`
	SessionID  string         `json:"session_id,omitzero"`
	SubjectID  string         `json:"subject_id"`
	Text       string         `json:"text"`
	Data       jsontext.Value `json:"data" schema:"object"`
	CreatedAt  Time           `json:"created_at"`
	Deliveries int            `json:"deliveries" doc:"how often it was handed to a host"`
}

// Event is one record of the event log.
type Event struct {
	Seq       int64          `json:"seq"`
	At        Time           `json:"at"`
	Type      string         `json:"type"`
	SubjectID string         `json:"subject_id"`
	Data      jsontext.Value `json:"data" schema:"object"`
}

// Workspace is the directory that waybill works for.
type Workspace struct {
	ID         string `json:"id"`
	Root       string `json:"root"`
	StateDir   string `json:"state_dir"`
	ResolvedBy string `json:"resolved_by" doc:"which rule found it"`
}
