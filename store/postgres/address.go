package postgres

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"waybill/internal/lazyregexp"
	"waybill/store"
)

// Names reports whether text is meant as the URL of a PostgreSQL database.
func Names(text string) bool {
	scheme, _, isURL := strings.Cut(text, "://")
	return isURL && (scheme == "postgres" || scheme == "postgresql")
}

// Check returns the fault of a URL, or nil. It does not connect to a server.
func Check(text string) error {
	_, err := readAddress(text)
	return err
}

// Shown returns a URL without its secrets. A text that is no URL of a database is returned unchanged.
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

// Digest returns a word that stands for the database of a URL: its server, port and name.
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

// sessionParam selects one of several servers. Without it waybill uses the primary: a standby may lack the newest
// commits, and that loss would go unnoticed.
const sessionParam = "target_session_attrs"

// address is a parsed URL.
type address struct {
	config *pgconn.Config
	place  string // for messages
	pooled *bool  // nil if the URL does not have the parameter
	chosen bool   // the URL does not choose a server, so the primary is used
}

// readAddress parses a URL. Its errors never contain the password or a part of the text that may be one.
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

// torn reports whether the parser may have split a password. The rest of a password can look like a host, path, query
// or fragment, although the driver reads it as part of the password.
func torn(u *url.URL, text string) bool {
	return strings.Contains(u.Path, "@") || strings.Contains(text, "#") || u.User == nil && strings.Contains(text, "@")
}

// servers returns those that a connection is tried with, each once.
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

// reason returns the reason of err without secrets.
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

var workspaceName = lazyregexp.New(`^[A-Za-z0-9._:/-]{1,128}$`)

// CheckName returns the fault of a workspace's name, or nil.
func CheckName(name string) error {
	if !workspaceName.Compiled().MatchString(name) {
		return fmt.Errorf("the name of a workspace has 1 to 128 letters, digits and . _ : / -, and %q has not", name)
	}
	return nil
}
