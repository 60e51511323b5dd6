package postgres

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"waybill/store"
)

// Names reports whether text is meant as the URL of a PostgreSQL database.
func Names(text string) bool {
	scheme, _, isURL := strings.Cut(text, "://")
	return isURL && (scheme == "postgres" || scheme == "postgresql")
}

// Check tells what is wrong with a URL, or nil. It asks no server.
func Check(text string) error {
	_, err := readAddress(text)
	return err
}

// Shown gives a URL without what must stay secret. What is no URL of a database is given as it is.
func Shown(text string) string {
	u, err := url.Parse(text)
	switch {
	case !Names(text):
		return text
	case err != nil || torn(u, text):
		return "postgres://…"
	}
	if u.User != nil {
		u.User = url.User(u.User.Username())
	}
	query := u.Query()
	query.Del("password")
	query.Del("sslpassword")
	u.RawQuery = query.Encode()
	return u.String()
}

// Digest gives a word that stands for the database of a URL: its server, port and name.
func Digest(text string) string {
	a, err := readAddress(text)
	if err != nil {
		return "unknown"
	}
	sum := sha256.Sum256([]byte(a.place))
	return hex.EncodeToString(sum[:6])
}

// poolerParam insists, with yes or no, on whether connections are dealt out by transactions.
const poolerParam = "pooler"

// sessionParam says which of several servers to use. Without it we use the primary server, and not the first that answers:
// a standby lacks what was committed last, and nobody would see that it does.
const sessionParam = "target_session_attrs"

// address is what a URL says.
type address struct {
	config *pgconn.Config
	place  string // for messages
	pooled *bool  // nil where the URL does not say
	chosen bool   // of several servers the primary one is used because nobody says which
}

// readAddress reads a URL. What it says of a mistake never holds the password, nor a part of what may be one.
func readAddress(text string) (a address, err error) {
	if !Names(text) {
		return a, fault(store.Unsafe, nil, "the store has to be named as postgres://user@host/database")
	}
	u, err := url.Parse(text)
	if err != nil || torn(u, text) {
		return a, fault(store.Unsafe, nil, "the URL of the store cannot be read: it is postgres://user:password@host:port/database, "+
			"and what is no letter, digit, hyphen, dot or underscore in a user or password is written with %% and its code")
	}
	query := u.Query()
	if a.pooled, err = pooler(query.Get(poolerParam)); err != nil {
		return a, err
	}
	query.Del(poolerParam)
	u.RawQuery = query.Encode()
	if a.config, err = pgconn.ParseConfig(u.String()); err != nil {
		return a, fault(store.Unsafe, nil, "the URL of the store is not right: %s", reason(err, u, query))
	}
	if len(servers(a.config)) > 1 && !query.Has(sessionParam) && os.Getenv("PGTARGETSESSIONATTRS") == "" && a.config.ValidateConnect == nil {
		a.config.ValidateConnect, a.chosen = pgconn.ValidateConnectTargetSessionAttrsPrimary, true
	}
	if a.config.ConnectTimeout == 0 {
		a.config.ConnectTimeout = 10 * time.Second
	}
	a.place = "the database " + a.config.Database + " at " + strings.Join(servers(a.config), ", ")
	return a, nil
}

// torn reports whether a password may have been torn apart: what is taken for the host, the path, the query or the fragment
// may be the rest of one, and the library that connects may take it for the password all the same.
func torn(u *url.URL, text string) bool {
	return strings.Contains(u.Path, "@") || strings.Contains(text, "#") || u.User == nil && strings.Contains(text, "@")
}

// servers gives those that a connection is tried with, each once.
func servers(config *pgconn.Config) []string {
	all := []string{fmt.Sprintf("%s:%d", config.Host, config.Port)}
	for _, f := range config.Fallbacks {
		if server := fmt.Sprintf("%s:%d", f.Host, f.Port); !slices.Contains(all, server) {
			all = append(all, server)
		}
	}
	return all
}

func pooler(text string) (*bool, error) {
	yes, no := true, false
	switch text {
	case "":
		return nil, nil
	case "yes":
		return &yes, nil
	case "no":
		return &no, nil
	}
	return nil, fault(store.Unsafe, nil, "the URL of the store says %s=%s: it may be yes or no", poolerParam, text)
}

// reason gives what is wrong without what must stay secret.
func reason(err error, u *url.URL, query url.Values) string {
	if inner := errors.Unwrap(err); inner != nil {
		err = inner
	}
	text := err.Error()
	password, _ := u.User.Password()
	for _, secret := range []string{password, url.QueryEscape(password), query.Get("password"), query.Get("sslpassword")} {
		if secret != "" {
			text = strings.ReplaceAll(text, secret, "…")
		}
	}
	return text
}

var workspaceName = regexp.MustCompile(`^[A-Za-z0-9._:/-]{1,128}$`)

// CheckName tells what is wrong with the name of a workspace, or nil.
func CheckName(name string) error {
	if !workspaceName.MatchString(name) {
		return fmt.Errorf("the name of a workspace has 1 to 128 letters, digits and . _ : / -, and %q has not", name)
	}
	return nil
}
