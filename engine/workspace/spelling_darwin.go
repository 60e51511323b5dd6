package workspace

import (
	"bytes"
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// systemSpelling returns the path of an open folder with the case and Unicode form on disk. It asks the kernel,
// because listing the parents raises a permission dialog for some folders.
func systemSpelling(path string) (string, bool) {
	f, err := os.Open(path)
	if err != nil {
		return "", false
	}
	defer func() { _ = f.Close() }()
	buf := make([]byte, unix.PathMax)
	_, err = unix.FcntlInt(f.Fd(), unix.F_GETPATH, int(uintptr(unsafe.Pointer(&buf[0]))))
	runtime.KeepAlive(buf)
	if err != nil {
		return "", false
	}
	text, _, ok := bytes.Cut(buf, []byte{0})
	return string(text), ok && len(text) > 0
}
