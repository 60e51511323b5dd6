package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// A used is the processor time, in ticks, that was used so far. Where there is no /proc it is zero.
type used struct{ waybill, server, client, all float64 }

// ticks is how many ticks of /proc a second has. Linux has told every program the same for decades.
const ticks = 100

// usage gives what some waybill processes have used, and those of a server, and this one.
func usage(waybill []int, server int) (u used) {
	for _, pid := range waybill {
		u.waybill += processTicks(strconv.Itoa(pid))
	}
	if server != 0 {
		u.server = childTicks(strconv.Itoa(server))
	}
	u.client = processTicks("self")
	u.all = machineTicks()
	return u
}

// since gives what was used since then, in cores.
func (u used) since(before used, took time.Duration) share {
	all := took.Seconds() * ticks
	return share{(u.waybill - before.waybill) / all, (u.server - before.server) / all, (u.client - before.client) / all, (u.all - before.all) / all}
}

// stat gives the fields of a process from its state on, which is field 3 of proc(5), or nil.
func stat(pid string) []string {
	text, err := os.ReadFile(filepath.Join("/proc", pid, "stat"))
	if err != nil {
		return nil
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	return strings.Fields(rest)
}

// processTicks adds what a process used in its own name and in the kernel's.
func processTicks(pid string) float64 {
	const user, system = 14 - 3, 15 - 3
	fields := stat(pid)
	if len(fields) <= system {
		return 0
	}
	return number(fields[user]) + number(fields[system])
}

// childTicks adds what the children of a process have used that are still there.
func childTicks(pid string) (sum float64) {
	const parent = 4 - 3
	all, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return 0
	}
	for _, path := range all {
		child := filepath.Base(path)
		if fields := stat(child); len(fields) > parent && fields[parent] == pid {
			sum += processTicks(child)
		}
	}
	return sum
}

// machineTicks adds what all processors have spent on anything but waiting.
func machineTicks() (sum float64) {
	const idle, iowait = 3, 4
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0
	}
	first, _, _ := strings.Cut(string(text), "\n")
	fields := strings.Fields(first)
	for i, field := range fields[min(1, len(fields)):] {
		if i < 8 && i != idle && i != iowait { // those of guests are in those of users already
			sum += number(field)
		}
	}
	return sum
}

func number(text string) float64 {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0
	}
	return n
}
