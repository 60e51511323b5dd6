package doctor

import (
	"bytes"
	"encoding/json"
	"slices"
	"time"

	"waybill/core"
	"waybill/core/instruction"
	"waybill/core/run"
	"waybill/core/task"
	"waybill/internal/lazyregexp"
)

// A File is one file of the bundle.
type File struct {
	Name string
	Text []byte
}

// Extract returns the facts that may leave this machine, field by field: numbers, times, ids of waybill, and
// waybill's own words. No field can have a path, the name of a user, machine, plan or session, a text, a token, or
// the value of a variable.
func Extract(f *Facts, found []Finding) []File {
	return []File{
		{"README.txt", []byte(extractNote)},
		document("report.json", reportOf(found)),
		document("program.json", programOf(f)),
		document("store.json", storeOf(f)),
		document("settings.json", settingsOf(f)),
		{"events.jsonl", eventLines(f.Store.Tables.Recent)},
	}
}

const extractNote = `This is what ` + "`waybill doctor --bundle`" + ` has found. A dot (…) stands for everything that is not waybill's own.

report.json    what each check has found
program.json   versions, and which variables are set, without their values
store.json     how the store is set, its sizes, and how many of everything are in it
settings.json  the settings that are not as they are built in; of a text only that it is set
events.jsonl   the newest events: number, time, type, and the id of what each is about; never what is in it
`

func document(name string, v any) File {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		panic(err) // numbers and words have no encoding error
	}
	return File{name, append(text, '\n')}
}

type reported struct {
	Check string `json:"check"`
	Level Level  `json:"level"`
	Text  string `json:"text"`
}

func reportOf(found []Finding) []reported {
	rows := make([]reported, 0, len(found))
	for _, f := range found {
		rows = append(rows, reported{f.Check, f.Level, f.Bare()})
	}
	return rows
}

func programOf(f *Facts) map[string]any {
	variables := []string{}
	for _, v := range f.Program.Variables {
		if v.Known {
			variables = append(variables, v.Name)
		}
	}
	return map[string]any{
		"version": f.Program.Version, "go": f.Program.Go, "os": f.Program.OS, "arch": f.Program.Arch,
		"engine": f.Store.Engine.Version, "variables": variables, "at": f.Now.UTC().Format(time.RFC3339),
	}
}

func storeOf(f *Facts) map[string]any {
	s, t := f.Store, f.Store.Tables
	return map[string]any{
		"kind": s.Kind, "there": s.There, "read": t.Read, "tables_version": t.Version,
		"bytes": s.Files.Bytes, "wal_bytes": s.Files.WALBytes, "reserve_bytes": s.Files.Reserve,
		"journal": s.Engine.Journal, "sync": s.Engine.Sync, "processes": len(s.Peers), "copies": len(s.Files.Copies),
		"instructions": counted(t.Instructions, instruction.States()), "tasks": counted(t.Tasks, task.Statuses()),
		"runs": counted(t.Runs, run.States()), "events": t.Events, "notices": t.Notices, "overdue": t.Overdue,
	}
}

// counted returns the counts with a known name.
func counted[W ~string](counts map[string]int64, words []W) map[string]int64 {
	taken := map[string]int64{}
	for _, word := range words {
		taken[string(word)] = counts[string(word)]
	}
	return taken
}

type extractedSetting struct {
	Name  string          `json:"name"`
	From  string          `json:"from"`
	Value json.RawMessage `json:"value,omitempty"`
}

func settingsOf(f *Facts) []extractedSetting {
	rows := []extractedSetting{}
	for _, s := range f.Settings.Given {
		row := extractedSetting{Name: s.Name, From: s.From}
		if plainValue.Compiled().Match(s.Value) {
			row.Value = s.Value
		}
		rows = append(rows, row)
	}
	return rows
}

var (
	plainValue = lazyregexp.New(`^(true|false|[0-9]{1,18})$`)
	madeID     = lazyregexp.New(`^(ins|tsk|att|run|ntc)_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)
)

type eventLine struct {
	Seq     int64  `json:"seq"`
	At      string `json:"at"`
	Type    string `json:"type"`
	Subject string `json:"subject,omitempty"`
}

func eventLines(events []Event) []byte {
	var b bytes.Buffer
	lines := json.NewEncoder(&b)
	for _, ev := range events {
		line := eventLine{Seq: ev.Seq, At: ev.At.UTC().Format(time.RFC3339Nano), Type: "…"}
		if slices.Contains(core.EventTypes(), core.EventType(ev.Type)) {
			line.Type = ev.Type
		}
		if madeID.Compiled().MatchString(ev.Subject) {
			line.Subject = ev.Subject
		}
		if err := lines.Encode(line); err != nil {
			panic(err) // numbers and words have no encoding error
		}
	}
	return b.Bytes()
}
