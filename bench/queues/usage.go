package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// A used is the processor time used so far, in ticks. It is zero without /proc.
type used struct{ waybill, server, client, all float64 }

// ticks is the number of ticks of /proc in a second, which Linux reports as 100 everywhere.
const ticks = 100

// usage returns the processor time of waybill processes, a server and this process.
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

// since returns the use since then, in cores.
func (u used) since(before used, took time.Duration) share {
	all := took.Seconds() * ticks
	return share{(u.waybill - before.waybill) / all, (u.server - before.server) / all, (u.client - before.client) / all, (u.all - before.all) / all}
}

// stat returns the fields of a process from its state on, which is field 3 of proc(5), or nil.
func stat(pid string) []string {
	text, err := os.ReadFile(filepath.Join("/proc", pid, "stat"))
	if err != nil {
		return nil
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	return strings.Fields(rest)
}

// processTicks returns the user and system time of a process.
func processTicks(pid string) float64 {
	const user, system = 14 - 3, 15 - 3
	fields := stat(pid)
	if len(fields) <= system {
		return 0
	}
	return number(fields[user]) + number(fields[system])
}

// childTicks returns the time of a process's running children.
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

// machineTicks returns the busy time of all processors.
func machineTicks() (sum float64) {
	const idle, iowait = 3, 4
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0
	}
	first, _, _ := strings.Cut(string(text), "\n")
	fields := strings.Fields(first)
	for i, field := range fields[min(1, len(fields)):] {
		if i < 8 && i != idle && i != iowait { // the time of guests is part of the user time
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
