package schema

// Settings are the contents of a configuration file. A setting that it leaves out has its built-in value.
type Settings struct {
	Prompt  *PromptSettings `json:"prompt,omitzero"`
	Policy  *Policy         `json:"policy,omitzero"`
	Tasks   *TaskSettings   `json:"tasks,omitzero"`
	Results *ResultSettings `json:"results,omitzero"`
	Plans   *PlanSettings   `json:"plans,omitzero"`
	Store   *StoreSettings  `json:"store,omitzero"`
}

// PromptSettings configure compile_prompt.
type PromptSettings struct {
	MaxInputTokens  *InputSettings      `json:"max_input_tokens,omitzero"`
	MaxOutputTokens *int                `json:"max_output_tokens,omitzero" schema:"min=1,max=1000000000,default=1200" doc:"tokens reserved for the output of an agent; the rest of its input is the budget of a prompt"`
	Tokenizer       string              `json:"tokenizer,omitzero" schema:"enum=estimate|o200k,default=estimate" doc:"how tokens are counted: four characters each, or with the vocabulary o200k_base"`
	Compaction      *CompactionSettings `json:"compaction,omitzero"`
}

// InputSettings are input limits of models, by role.
type InputSettings struct {
	Worker   *int `json:"worker,omitzero" schema:"min=1,max=1000000000,default=4800" doc:"input limit of a worker's model"`
	Reviewer *int `json:"reviewer,omitzero" schema:"min=1,max=1000000000,default=4000" doc:"input limit of a reviewer's model"`
}

// CompactionSettings configure how a prompt over its budget is shortened.
type CompactionSettings struct {
	Auto  *bool `json:"auto,omitzero" schema:"default=true" doc:"false: a prompt over its budget is an error at once"`
	Prune *bool `json:"prune,omitzero" schema:"default=true" doc:"false: the stage prune_packet is left out"`
}

// TaskSettings configure the queue of tasks.
type TaskSettings struct {
	RetryDelayMS *int `json:"retry_delay_ms,omitzero" schema:"min=0,max=60000,default=1000" doc:"the first wait before a retry on the same model; it doubles up to a minute; 0 means no wait"`
}

// ResultSettings configure ingest_output.
type ResultSettings struct {
	OutputDir string `json:"output_dir,omitzero" doc:"a folder outside the workspace from which results may be read; in a configuration file its path is absolute"`
}

// PlanSettings configure the reading of plans.
type PlanSettings struct {
	Poll     *bool    `json:"poll,omitzero" schema:"default=false" doc:"look at the plans every second, for a file system that does not tell of changes"`
	Dialects []string `json:"dialects,omitzero" schema:"nonblank" doc:"GLOB=NAME: the dialect of plans whose paths match the glob; the first match counts"`
}

// StoreSettings configure how long a store keeps finished records.
type StoreSettings struct {
	KeepDays  *int `json:"keep_days,omitzero" schema:"min=1,max=36500,default=30" doc:"number of days for which finished records are kept: completed and cancelled tasks without dependents, acknowledged, cancelled and untracked sent instructions, events, answers to idempotency keys, and last prompts"`
	KeepTasks *int `json:"keep_tasks,omitzero" schema:"min=0,max=1000000000,default=100000" doc:"largest number of completed and cancelled tasks that are kept; those of the last day are always kept"`
}
