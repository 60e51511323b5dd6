package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"waybill/schema"
)

const (
	// configVariable names the file of the configuration.
	configVariable = "WAYBILL_CONFIG"
	// maxConfig is the size in bytes above which no file is a configuration.
	maxConfig = 64 << 10
)

// unconfigured are the commands that go by no settings, so that one which is wrong does not stand in their way.
var unconfigured = []string{
	"version", "where", "schema", "completion", "help", "demo", "fake-agent", "doctor", "backup", "salvage", "install",
}

// configured reports whether a command goes by the settings.
func (a *app) configured(cmd *cobra.Command) bool {
	if !cmd.HasParent() && term.IsTerminal(int(a.In.Fd())) {
		return false // it prints help
	}
	for ; cmd.HasParent(); cmd = cmd.Parent() {
		if slices.Contains(unconfigured, cmd.Name()) {
			return false
		}
	}
	return true
}

// configFile gives the path of the configuration, and whether somebody has named it. An empty path is none.
func (a *app) configFile(cmd *cobra.Command) (path string, named bool) {
	if flag := cmd.Flags().Lookup("config"); flag != nil && flag.Changed {
		return whole(a.config), true
	}
	if path := a.env(configVariable); path != "" {
		return whole(path), true
	}
	base := a.configBase(runtime.GOOS)
	if base == "" {
		return "", false
	}
	return filepath.Join(base, "waybill", "config.json"), false
}

// whole gives a path that says the same to everybody who is told it.
func whole(path string) string {
	if path == "" {
		return ""
	}
	if absolute, err := filepath.Abs(path); err == nil {
		return absolute
	}
	return path // the folder that it is relative to has gone
}

// configBase gives the folder in which programs keep what their user has configured, "" if there is none.
func (a *app) configBase(goos string) string {
	if dir := a.env("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		return dir
	}
	if goos == "windows" || goos == "darwin" {
		dir, _ := os.UserConfigDir()
		return dir
	}
	if home := a.env("HOME"); filepath.IsAbs(home) {
		return filepath.Join(home, ".config")
	}
	return ""
}

// configuration reads the file of the configuration, if there is one: its path, and what it gives.
func (a *app) configuration(cmd *cobra.Command) (string, map[string]given, error) {
	values := map[string]given{}
	path, named := a.configFile(cmd)
	if path == "" {
		return "", values, nil
	}
	raw, err := readConfig(path)
	if !named && absent(err) {
		return "", values, nil
	}
	if err != nil {
		return path, nil, usageError{fmt.Errorf("the configuration %s %w%s", path, err, namedBy(cmd, named))}
	}
	found, fault := schema.ReadSettings(raw)
	if fault != nil {
		return path, nil, usageError{fmt.Errorf("%s: %s", spot(path, raw, fault), sentence(fault))}
	}
	for name, value := range found {
		values[name] = given{value, path, schema.LineOf(raw, "/"+strings.ReplaceAll(name, ".", "/"))}
	}
	return path, values, nil
}

// configThere gives the path of the configuration, whatever is in it, and whether there is one.
func (a *app) configThere(cmd *cobra.Command) (path string, used bool, err error) {
	path, named := a.configFile(cmd)
	if path == "" {
		return "", false, nil
	}
	_, err = readConfig(path)
	if named && err != nil {
		return path, false, usageError{fmt.Errorf("the configuration %s %w%s", path, err, namedBy(cmd, named))}
	}
	return path, !absent(err), nil
}

// namedBy says who has named the file, for the end of an error.
func namedBy(cmd *cobra.Command, named bool) string {
	switch {
	case !named:
		return ""
	case cmd.Flags().Changed("config"):
		return " (--config)"
	}
	return " (" + configVariable + ")"
}

// absent reports whether an error means that there is no file, or none that this user could have put there.
func absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, errUnreachable)
}

// errUnreachable is a file in a folder that must not be looked into.
var errUnreachable = errors.New("is in a folder that cannot be looked into")

// readConfig reads a file that is small and nothing but a file. A pipe is not opened: that could take forever.
func readConfig(path string) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrPermission):
		return nil, errUnreachable
	case err != nil:
		return nil, fmt.Errorf("cannot be read: %w", bare(err))
	case info.IsDir():
		return nil, errors.New("is a folder, and must be a file")
	case !info.Mode().IsRegular():
		return nil, errors.New("is a pipe, a socket or a device, and must be a file")
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("cannot be read: %w", bare(err))
	}
	defer func() { _ = file.Close() }() // it was only read
	raw, err := io.ReadAll(io.LimitReader(file, maxConfig+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("cannot be read: %w", bare(err))
	case len(raw) > maxConfig:
		return nil, fmt.Errorf("is larger than %d bytes", maxConfig)
	}
	return bytes.TrimPrefix(raw, []byte("\ufeff")), nil // as some editors put in front
}

// bare takes the path out of an error that is told with it.
func bare(err error) error {
	if fault, ok := errors.AsType[*fs.PathError](err); ok {
		return fault.Err
	}
	return err
}

// spot gives the file and the line that an error speaks of.
func spot(path string, raw []byte, fault *schema.Error) string {
	line := schema.LineOf(raw, problemOf(fault).Pointer)
	if offset, ok := fault.Data.Details["offset"].(int64); ok {
		line = 1 + bytes.Count(raw[:min(int(offset), len(raw))], []byte{'\n'})
	}
	if line == 0 {
		return path
	}
	return fmt.Sprintf("%s:%d", path, line)
}

// problemOf gives the problem that an error is mostly about.
func problemOf(fault *schema.Error) schema.Problem {
	problems, _ := fault.Data.Details["errors"].([]schema.Problem)
	for _, p := range problems {
		if p.Pointer == fault.Data.Details["pointer"] { // of an unknown name, which may be why others are wrong
			return p
		}
	}
	if len(problems) == 0 {
		return schema.Problem{Message: fault.Message}
	}
	return problems[0]
}

// malformed says of what is no object that could be read what it is.
var malformed = map[schema.Code]string{
	schema.ParseError:   ": this is not JSON",
	schema.InvalidUTF8:  ": this is not valid UTF-8",
	schema.DuplicateKey: " is there twice",
}

// sentence says what is wrong, with the names of settings for the pointers to them.
func sentence(fault *schema.Error) string {
	if text := malformed[fault.Data.Code]; text != "" {
		pointer, _ := fault.Data.Details["pointer"].(string)
		return strings.TrimPrefix(settingName(pointer)+text, ": ")
	}
	p := problemOf(fault)
	text := p.Message
	if rest, ok := strings.CutPrefix(text, p.Pointer); ok {
		text = settingName(p.Pointer) + rest
	}
	return text + elsewhere(fault, p)
}

// elsewhere says where a setting belongs that is known by its last name alone.
func elsewhere(fault *schema.Error, p schema.Problem) string {
	if fault.Data.Code != schema.UnknownField || fault.Data.Details["did_you_mean"] != nil {
		return ""
	}
	last := p.Pointer[strings.LastIndexByte(p.Pointer, '/')+1:]
	for _, row := range schema.SettingRows() {
		if row.Name == last || strings.HasSuffix(row.Name, "."+last) {
			at := strings.LastIndexByte(row.Name, '.')
			return "; " + row.Name[at+1:] + " belongs into the object " + row.Name[:at]
		}
	}
	return ""
}

// settingName gives the name of a setting for a pointer to it.
func settingName(pointer string) string {
	return strings.ReplaceAll(strings.TrimPrefix(pointer, "/"), "/", ".")
}
