package settings

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"waybill/cli/output"
	"waybill/schema"
	"waybill/schema/codec"
)

const (
	// ConfigVariable names the file of the configuration.
	ConfigVariable = "WAYBILL_CONFIG"
	// MaxConfig is the size in bytes above which no file is a configuration.
	MaxConfig = 64 << 10
)

// Whole returns the absolute form of a path, or the path if the working folder is gone.
func Whole(path string) string {
	if path == "" {
		return ""
	}
	if absolute, err := filepath.Abs(path); err == nil {
		return absolute
	}
	return path // the folder that it is relative to has gone
}

// namedBy returns the flag or variable that named the file, for the end of an error.
func namedBy(cmd *cobra.Command, named bool) string {
	switch {
	case !named:
		return ""
	case cmd.Flags().Changed("config"):
		return " (--config)"
	}
	return " (" + ConfigVariable + ")"
}

// Absent reports whether an error means that there is no file, or none that this user could have put there.
func Absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, errUnreachable)
}

// errUnreachable is a file in a folder that must not be looked into.
var errUnreachable = errors.New("is in a folder that cannot be looked into")

// readConfig reads a small regular file. It opens no pipe, because a pipe could block forever.
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
	raw, err := io.ReadAll(io.LimitReader(file, MaxConfig+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("cannot be read: %w", bare(err))
	case len(raw) > MaxConfig:
		return nil, fmt.Errorf("is larger than %d bytes", MaxConfig)
	}
	return bytes.TrimPrefix(raw, []byte("\ufeff")), nil // as some editors put in front
}

// bare removes the path from an error whose message has it already.
func bare(err error) error {
	if fault, ok := errors.AsType[*fs.PathError](err); ok {
		return fault.Err
	}
	return err
}

// spot returns the file and the line that an error speaks of.
func spot(path string, raw []byte, fault *schema.Error) string {
	line := codec.LineOf(raw, problemOf(fault).Pointer)
	if offset, ok := fault.Data.Details["offset"].(int64); ok {
		line = 1 + bytes.Count(raw[:min(int(offset), len(raw))], []byte{'\n'})
	}
	if line == 0 {
		return path
	}
	return fmt.Sprintf("%s:%d", path, line)
}

// problemOf returns the problem that an error is mostly about.
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

// malformed describes why a text could not be read as an object.
var malformed = map[schema.Code]string{
	schema.ParseError:   ": this is not JSON",
	schema.InvalidUTF8:  ": this is not valid UTF-8",
	schema.DuplicateKey: " is there twice",
}

// sentence returns the message of an error, with setting names instead of pointers.
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

// elsewhere returns the object to which an unknown setting with a known last name belongs, or "".
func elsewhere(fault *schema.Error, p schema.Problem) string {
	if fault.Data.Code != schema.UnknownField || fault.Data.Details["did_you_mean"] != nil {
		return ""
	}
	last := p.Pointer[strings.LastIndexByte(p.Pointer, '/')+1:]
	for _, row := range codec.SettingRows() {
		if row.Name == last || strings.HasSuffix(row.Name, "."+last) {
			at := strings.LastIndexByte(row.Name, '.')
			return "; " + row.Name[at+1:] + " belongs into the object " + row.Name[:at]
		}
	}
	return ""
}

// settingName returns the name of a setting for a pointer to it.
func settingName(pointer string) string {
	return strings.ReplaceAll(strings.TrimPrefix(pointer, "/"), "/", ".")
}

// configFile returns the path of the configuration, and whether a flag or a variable names it. "" means no file.
func (f *Finder) configFile(cmd *cobra.Command) (path string, named bool) {
	if flag := cmd.Flags().Lookup("config"); flag != nil && flag.Changed {
		return Whole(f.Config), true
	}
	if path := f.Env(ConfigVariable); path != "" {
		return Whole(path), true
	}
	base := f.ConfigBase(runtime.GOOS)
	if base == "" {
		return "", false
	}
	return filepath.Join(base, "waybill", "config.json"), false
}

// ConfigBase returns the folder of the user's configuration files, or "".
func (f *Finder) ConfigBase(goos string) string {
	if dir := f.Env("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		return dir
	}
	if goos == "windows" || goos == "darwin" {
		dir, _ := os.UserConfigDir()
		return dir
	}
	if home := f.Env("HOME"); filepath.IsAbs(home) {
		return filepath.Join(home, ".config")
	}
	return ""
}

// configuration reads the file of the configuration, if there is one: its path and its settings.
func (f *Finder) configuration(cmd *cobra.Command) (string, map[string]Given, error) {
	values := map[string]Given{}
	path, named := f.configFile(cmd)
	if path == "" {
		return "", values, nil
	}
	raw, err := readConfig(path)
	if !named && Absent(err) {
		return "", values, nil
	}
	if err != nil {
		return path, nil, output.UsageError(fmt.Errorf("the configuration %s %w%s", path, err, namedBy(cmd, named)))
	}
	found, fault := codec.ReadSettings(raw)
	if fault != nil {
		return path, nil, output.UsageError(fmt.Errorf("%s: %s", spot(path, raw, fault), sentence(fault)))
	}
	for name, value := range found {
		values[name] = Given{value, path, codec.LineOf(raw, "/"+strings.ReplaceAll(name, ".", "/"))}
	}
	return path, values, nil
}

// ConfigThere returns the path of the configuration and whether it exists. It does not parse the file.
func (f *Finder) ConfigThere(cmd *cobra.Command) (path string, used bool, err error) {
	path, named := f.configFile(cmd)
	if path == "" {
		return "", false, nil
	}
	_, err = readConfig(path)
	if named && err != nil {
		return path, false, output.UsageError(fmt.Errorf("the configuration %s %w%s", path, err, namedBy(cmd, named)))
	}
	return path, !Absent(err), nil
}
