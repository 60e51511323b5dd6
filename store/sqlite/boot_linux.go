package sqlite

import "os"

// bootID gives what the kernel calls the time since it was started; containers on it share that.
func bootID() string {
	text, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return string(text)
}
