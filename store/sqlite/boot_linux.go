package sqlite

import "os"

// bootID returns the kernel's id of the current boot. Containers share it.
func bootID() string {
	text, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return string(text)
}
