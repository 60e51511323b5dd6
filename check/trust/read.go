package trust

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"

	"waybill/check/config"
	"waybill/internal/ownfile"
)

// read returns the text of a file, or nil if it is not there. It refuses every file that someone but its owner, who is the
// user of this process, may have written.
func read(path string) ([]byte, error) {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		err = refuse(path, info) // first, because opening a device can have effects
	}
	if err != nil {
		return nil, err
	}
	f, err := ownfile.OpenUnfollowed(path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	if info, err = f.Stat(); err == nil {
		err = refuse(path, info)
	}
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(f, config.MaxSize+1))
	if err == nil && len(text) > config.MaxSize {
		err = tooLarge(path)
	}
	return text, err
}

// refuse returns the reason why a file must not be used, with the command that mends it.
func refuse(path string, info fs.FileInfo) error {
	because := func(mend, format string, args ...any) error {
		return &ownfile.Refusal{What: path + " " + fmt.Sprintf(format, args...), Mend: mend}
	}
	own := "make a copy of your own: " + command("cp", path, path+".new") + " && " + command("mv", path+".new", path)
	switch uid := ownfile.Owner(info); {
	case info.Mode()&fs.ModeSymlink != 0:
		return because(own, "is a symbolic link, and its target may change unseen")
	case info.IsDir():
		return because(command("mv", path, path+".old"), "is a folder, and must be a file")
	case !info.Mode().IsRegular():
		return because(remove(path), "is a pipe, a socket or a device, and must be a file")
	case uid >= 0 && uid != os.Geteuid():
		return because(own, "belongs to user %d, and you are user %d", uid, os.Geteuid())
	case info.Mode().Perm()&0o002 != 0 && runtime.GOOS != "windows": // there the bits say nothing
		return because(command("chmod", "o-w", path), "can be written by every user (mode %04o)", info.Mode().Perm())
	case info.Size() > config.MaxSize:
		return tooLarge(path)
	}
	return nil
}

func tooLarge(path string) error {
	return &ownfile.Refusal{
		What: fmt.Sprintf("%s is larger than %d bytes", path, config.MaxSize), Mend: "move its commands into scripts",
	}
}

func remove(path string) string { return command("rm", path) }

// command returns a command line for a shell.
func command(argv ...string) string { return config.Check{Argv: argv}.CommandLine() }
