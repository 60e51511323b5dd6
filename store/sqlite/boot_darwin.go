package sqlite

import "golang.org/x/sys/unix"

// bootID gives what the kernel calls the time since it was started.
func bootID() string {
	text, err := unix.Sysctl("kern.bootsessionuuid")
	if err != nil {
		return ""
	}
	return text
}
