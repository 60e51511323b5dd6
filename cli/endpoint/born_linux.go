package endpoint

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"time"
)

// ticks is how many parts of a second the system counts the age of processes in; it is the same on all machines.
const ticks = 100

// Born returns the time at which a process began, as well as it can be known.
func Born(pid int) (time.Time, bool) {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return time.Time{}, false
	}
	// The name may contain any character. The third field and later ones follow it.
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) < 20 {
		return time.Time{}, false
	}
	since, err := strconv.ParseInt(fields[19], 10, 64)
	up, known := uptime()
	if err != nil || !known {
		return time.Time{}, false
	}
	return time.Now().Add(time.Duration(since)*time.Second/ticks - up), true
}

// uptime returns how long the system has been running.
func uptime() (time.Duration, bool) {
	text, err := os.ReadFile("/proc/uptime")
	if err != nil {
		return 0, false
	}
	first, _, _ := strings.Cut(string(text), " ")
	seconds, err := strconv.ParseFloat(first, 64)
	return time.Duration(seconds * float64(time.Second)), err == nil
}
