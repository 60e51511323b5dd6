package schema

// InstructionNote is the params of instruction/available and instruction/updated. A content of more
// than 4 KiB is left out; it comes with the dispatch.
type InstructionNote struct {
	Seq           int64  `json:"seq"`
	SubjectID     string `json:"subject_id" schema:"id"`
	State         string `json:"state" schema:"enum=queued|sent|delivered|acknowledged|failed|cancelled"`
	InstructionID string `json:"instruction_id" schema:"id"`
	SessionID     string `json:"session_id" schema:"id"`
	Tracked       bool   `json:"tracked"`
	Priority      bool   `json:"priority"`
	Sends         int    `json:"sends"`
	SendsMax      int    `json:"sends_max"`
	Content       string `json:"content,omitzero"`
	ContentBytes  int    `json:"content_bytes"`
	Reason        string `json:"reason,omitzero"`
}

// LedgerNote is the params of ledger/changed.
type LedgerNote struct {
	Seq         int64       `json:"seq"`
	Plan        string      `json:"plan"`
	Fingerprint Fingerprint `json:"fingerprint"`
	ChangedIDs  []string    `json:"changed_ids" doc:"items that were added, removed or read differently"`
	Unseen      bool        `json:"unseen,omitzero" doc:"the plan changed while no process looked, so it is not known which items did"`
	Gone        bool        `json:"gone,omitzero" doc:"the file no longer exists; the fingerprint is that of its last reading"`
	Stale       string      `json:"stale,omitzero" doc:"why the file is unreadable, if it is; the fingerprint is that of its last reading"`
	StaleReason string      `json:"stale_reason,omitzero" doc:"the problem of the file, such as missing, not_regular or no_items"`
}

// NoticeNote is the params of notice/posted. Notices about the tasks of one session that are posted
// shortly after one another come in one.
type NoticeNote struct {
	Seq     int64    `json:"seq"`
	Notice  Notice   `json:"notice" doc:"the last of notices"`
	Notices []Notice `json:"notices" doc:"all that come with this, in order"`
}

// LogNote is the params of log. It is about no event, so it carries no seq.
type LogNote struct {
	Level   string `json:"level" schema:"enum=warning|error"`
	Message string `json:"message"`
	Dropped int    `json:"dropped,omitzero" doc:"number of notifications that were dropped here; events_since has their events"`
	Rewound bool   `json:"rewound,omitzero" doc:"a restore replaced the event log; what was read of the old one may no longer be true"`
	Cursor  string `json:"cursor,omitzero" doc:"then, from where events_since goes on when the lists were read anew"`
}
