// Package packages holds the plugins and extensions with which a host installs waybill without waybill setup.
//
// All of them have the same description, version, skill, server command and hooks. The folders beside it are generated from
// files_test.go: run `go test ./packages -update`. A package cannot know where the program is, so the program must be on
// the PATH of the host.
package packages

import (
	_ "embed"
	"time"

	"waybill/cli/hook/dialect"
	"waybill/hostconfig/notation"
)

// Skill is the skill that tells an agent how to work with waybill.
//
//go:embed skill.md
var Skill string

// OpenCodePlugin is the plugin for OpenCode, with the client.
//
//go:embed opencode/waybill.js
var OpenCodePlugin string

// Events returns the events of a host for which waybill has a hook.
func Events(host string) (events []notation.Event) {
	h, _ := dialect.Of(host)
	for _, e := range h.Events {
		events = append(events, notation.Event{Name: e.Name, Matcher: e.Matcher, Seconds: int(e.Timeout / time.Second)})
	}
	return events
}
