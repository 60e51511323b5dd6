package doctor_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/doctor"
)

const secret = "sekrit-4711"

// TestExtractHasNoSecrets: a secret in every text of the facts is in none of the files; what is wanted is.
func TestExtractHasNoSecrets(t *testing.T) {
	const id = "tsk_01a1fb5b-2d50-758b-bb47-8d13bc50a563"
	f := sound()
	f.Program.OnPath = []doctor.Installed{{Path: "/home/" + secret + "/waybill"}}
	f.Program.Variables = []doctor.Variable{{Name: "WAYBILL_" + secret}, {Name: "WAYBILL_CONFIG", Known: true}}
	f.Workspace = doctor.Workspace{Root: secret, ResolvedBy: "cwd", Former: secret}
	f.State.Path, f.State.Mode = secret, 0o755
	f.Settings = doctor.Settings{File: secret, Given: []doctor.Setting{
		{Name: "results.output_dir", From: "file", Value: []byte(`"` + secret + `"`)},
		{Name: "prompt.max_output_tokens", From: "flag", Value: []byte("800")},
	}}
	f.Store.Path = secret
	f.Store.Peers[0].Version = secret
	f.Store.Files.Copies = []doctor.Copy{{Path: secret, Kind: "rescued"}}
	f.Store.Files.Open = []string{secret}
	f.Store.Lock = doctor.Lock{There: true, Held: true, Host: secret}
	f.Store.Findings = []doctor.Finding{doctor.Find("rows", doctor.Fail, secret, "%s: %v", secret, errors.New(secret))}
	f.Store.Tables.Tasks = map[string]int64{"QUEUED": 3, secret: 4}
	f.Store.Tables.Recent = []doctor.Event{
		{Seq: 1, At: noon, Type: "task.created", Subject: id},
		{Seq: 2, At: noon, Type: secret, Subject: secret},
		{Seq: 3, At: noon, Type: "ledger.changed", Subject: id + secret},
	}
	f.Doors = []doctor.Door{{Path: secret, Opaque: true}}
	f.Litter = []doctor.Leftover{{Path: secret}}
	f.Plans = doctor.Plans{Looked: true, Err: errors.New(secret), Saved: []string{secret}, Plans: []doctor.Plan{
		{Path: secret, Err: errors.New(secret)}, {Path: secret, Errors: 1, First: secret},
	}}
	f.Watching.Mode, f.Watching.Reason = "polling", secret

	on := *f
	on.Store.Server = &doctor.Server{Reached: true, Encoding: secret, Commit: secret}
	for _, file := range doctor.Extract(&on, doctor.Examine(&on)) {
		require.NotContains(t, string(file.Text), secret, file.Name)
	}
	all := ""
	for _, file := range doctor.Extract(f, doctor.Examine(f)) {
		require.NotContains(t, string(file.Text), secret, file.Name)
		all += string(file.Text)
	}
	for _, wanted := range []string{
		`"check": "rows",`, `"level": "fail",`, `"text": "…: …"`, `"max_output_tokens`, `"value": 800`, `"WAYBILL_CONFIG"`, `"QUEUED": 3`,
		`{"seq":1,"at":"2026-03-01T12:00:00Z","type":"task.created","subject":"` + id + `"}`, `{"seq":2,"at":"2026-03-01T12:00:00Z","type":"…"}`,
	} {
		require.Contains(t, strings.ReplaceAll(all, "prompt.max", `"max`), wanted)
	}
}
