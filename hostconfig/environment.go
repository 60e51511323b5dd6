package hostconfig

import (
	"net/url"
	"slices"
	"strings"

	"waybill/internal/lazyregexp"
)

// variables are those by which waybill finds its workspace, its store and its settings. A host that drops one of them
// would make it use another store than the terminal, without a word.
var variables = []string{
	"WAYBILL_STORE", "WAYBILL_WORKSPACE", "WAYBILL_CONFIG", "WAYBILL_DIALECT", "XDG_STATE_HOME", "XDG_CONFIG_HOME",
	"PGPASSFILE", "PGPASSWORD",
}

// allowList is the field of an entry for Codex with the names of variables that it passes on.
const allowList = "env_vars"

// An environment says which variables a host passes to a server.
type environment struct {
	only       []string // the names that it passes, beside those that the entry lists; nil for all
	secretless bool     // none that looks like a secret
	desktop    bool     // it is usually started without a shell, and so without the person's variables
}

// secret matches names that Gemini CLI drops. Source: NEVER_ALLOWED_NAME_PATTERNS of its version 0.61.
var secret = lazyregexp.New(`(?i)TOKEN|SECRET|PASSWORD|PASSWD|KEY|AUTH|CREDENTIAL|CREDS|PRIVATE|CERT`)

// Pins returns the variables that the host does not pass on and that are set, as NAME=VALUE for an entry. Secrets are not
// written into files: left has the names of those that had to be left out.
func (h Host) Pins(env func(string) string) (pins, left []string) {
	if h.env.desktop {
		return Pins(env)
	}
	for _, name := range variables {
		if h.env.secretless && secret.Compiled().MatchString(name) && env(name) != "" {
			pins = append(pins, name+"=$"+name) // Gemini replaces the name by the value
		}
	}
	return pins, nil
}

// Pins returns the variables that a host that was started without a shell does not have.
func Pins(env func(string) string) (pins, left []string) {
	for _, name := range variables {
		switch value := env(name); {
		case value == "":
		case name == "PGPASSWORD" || HasPassword(value):
			left = append(left, name)
		default:
			pins = append(pins, name+"="+value)
		}
	}
	return pins, left
}

// HasPassword reports whether a value for a file has a password, or may have one: an address that cannot be read is no proof of
// the contrary.
func HasPassword(value string) bool {
	if strings.Contains(strings.ToLower(value), "password=") { // in a query, or in the words of another notation
		return true
	}
	if !strings.Contains(value, "://") {
		return false
	}
	address, err := url.Parse(value)
	if err != nil || strings.Contains(value, "#") || strings.Contains(address.Path, "@") || address.User == nil && strings.Contains(value, "@") {
		return true // a part of a password may look like another part of the address
	}
	_, password := address.User.Password()
	query := address.Query()
	return password || query.Has("password") || query.Has("sslpassword")
}

// pinned reports whether a field of an entry has only variables that waybill pins.
func pinned(name string, value any) bool {
	names, _ := value.(map[string]any)
	for key := range names {
		if !slices.Contains(variables, key) {
			return false
		}
	}
	return name == "env" && len(names) > 0
}

// bare are the variables that a program has that was started from a desktop.
var bare = []string{"HOME", "PATH", "USER", "LOGNAME", "SHELL", "LANG", "TMPDIR", "APPDATA", "LOCALAPPDATA", "SYSTEMROOT", "TEMP", "USERPROFILE"}

// Environment returns the part of the environment that the host passes to the server of an entry, with the variables of
// the entry.
func (h Host) Environment(all []string, e Entry) (passed []string) {
	value := map[string]string{}
	for _, pair := range all {
		name, text, _ := strings.Cut(pair, "=")
		value[name] = text
		upper := strings.ToUpper(name) // Windows has other spellings
		drop := h.env.only != nil && !slices.Contains(h.env.only, upper) && !slices.Contains(e.Pass, name) ||
			h.env.secretless && secret.Compiled().MatchString(name) || h.env.desktop && !slices.Contains(bare, upper)
		if !drop {
			passed = append(passed, pair)
		}
	}
	for _, pair := range e.Env {
		name, text, _ := strings.Cut(pair, "=")
		if text == "$"+name {
			text = value[name]
		}
		passed = append(passed, name+"="+text)
	}
	return passed
}

// HookEnvironment returns the part of the environment that a hook of the host has at least.
func (h Host) HookEnvironment(all []string) []string {
	if h.hooks == nil || !h.hooks.desktop {
		return all
	}
	return Host{env: environment{desktop: true}}.Environment(all, Entry{})
}
