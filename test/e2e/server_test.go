package e2e_test

import (
	"bytes"
	"encoding/json"
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// A listing is server.json as the schema of the MCP registry of 2025-12-11 has it, without the parts that are about
// packages and remote servers, of which waybill has none.
type listing struct {
	Schema      string `json:"$schema"`
	Name        string `json:"name"`
	Title       string `json:"title"`
	Description string `json:"description"`
	Version     string `json:"version"`
}

func TestServerJSONIsAsTheRegistryWantsIt(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("server.json")
	require.NoError(t, err)
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields() // a package has rules of its own, which belong here with the first one
	var l listing
	require.NoError(t, decoder.Decode(&l))
	require.Empty(t, faults(l))
}

// faults returns what the registry would refuse: the rules of its schema, and those of its requirements.
func faults(l listing) (all []string) {
	within := func(name, text string, least, most int) {
		if n := utf8.RuneCountInString(text); n < least || n > most {
			all = append(all, name)
		}
	}
	within("name", l.Name, 3, 200)
	within("title", l.Title, 1, 100)
	within("description", l.Description, 1, 100)
	within("version", l.Version, 1, 255)
	if !regexp.MustCompile(`^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$`).MatchString(l.Name) {
		all = append(all, "name")
	}
	namespace, server, _ := strings.Cut(l.Name, "/")
	if len(strings.Split(namespace, ".")) < 2 || strings.Trim(server, "._-") != server {
		all = append(all, "name")
	}
	if !regexp.MustCompile(`^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$`).MatchString(l.Version) { // a range, or latest, is refused
		all = append(all, "version")
	}
	if u, err := url.Parse(l.Schema); err != nil || u.Scheme != "https" || !strings.HasSuffix(u.Path, "/2025-12-11/server.schema.json") {
		all = append(all, "$schema")
	}
	return all
}
