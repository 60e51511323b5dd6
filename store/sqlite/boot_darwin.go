package sqlite

import "golang.org/x/sys/unix"

// bootID returns the kernel's id of the current boot.
func bootID() string {
	text, err := unix.Sysctl("kern.bootsessionuuid")
	if err != nil {
		return ""
	}
	return text
}
