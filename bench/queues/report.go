package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// A report has all measurements of a comparison with other queues.
type report struct {
	Machine   machine
	Plan      plan
	Disk      map[string]figure // synced records a second, by the number of callers
	Insert    map[string]figure // rows a second in PostgreSQL, by the number of callers
	Least     []wait            // the probe of the waits
	Standings []standing
}

// newReport measures everything.
func newReport(ctx context.Context, p plan, say func(format string, args ...any)) (r report, err error) {
	h, err := openHouse(ctx)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, h.close()) }()
	if r.Machine, err = look(ctx, h); err != nil {
		return r, err
	}
	r.Plan = p
	f := &field{h: h, plan: p, say: say}
	if f.p, err = openProbes(ctx, h); err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, f.p.close()) }()
	if err := f.flows(ctx, &r); err != nil {
		return r, err
	}
	if r.Least, err = f.leastWaits(ctx); err != nil {
		return r, err
	}
	for i := range r.Standings {
		if err := f.rest(ctx, &r.Standings[i]); err != nil {
			return r, err
		}
	}
	r.Machine.LoadAfter = load()
	return r, nil
}

// flows lists the contenders, and measures the available ones in turns.
func (f *field) flows(ctx context.Context, r *report) (err error) {
	for _, c := range contenders() {
		s := standing{Key: c.key, Name: c.name, Calls: c.calls, Kept: c.kept, Postgres: c.postgres, WakeOnly: c.wakeOnly}
		if why := c.missing(f.h); why != nil {
			s.Missing = why.Error()
		}
		r.Standings = append(r.Standings, s)
		if s.Missing != "" || c.wakeOnly {
			continue
		}
		in, err := enter(ctx, f.h, c)
		if err != nil {
			return errors.Join(err, f.leave())
		}
		f.runners = append(f.runners, in)
	}
	err = f.compare(ctx)
	f.note(r)
	return errors.Join(err, f.leave())
}

func (f *field) leave() (err error) {
	for _, r := range f.runners {
		err = errors.Join(err, r.leave())
	}
	return err
}

// note copies the samples into the report.
func (f *field) note(r *report) {
	disk, insert := map[int]series{}, map[int]series{}
	for i := range r.Standings {
		s := &r.Standings[i]
		for _, in := range f.runners {
			if in.key != s.Key {
				continue
			}
			s.Flows = map[string]flow{}
			for callers, sample := range in.samples {
				s.Flows[strconv.Itoa(callers)] = sample.flow()
				disk[callers] = append(disk[callers], sample.disk...)
				insert[callers] = append(insert[callers], sample.insert...)
			}
		}
	}
	r.Disk, r.Insert = figures(disk), figures(insert)
}

func figures(all map[int]series) map[string]figure {
	short := map[string]figure{}
	for callers, s := range all {
		short[strconv.Itoa(callers)] = s.figure()
	}
	return short
}

// rest measures what needs no turns: the syncs, and the waits in another process.
func (f *field) rest(ctx context.Context, s *standing) (err error) {
	if s.Missing != "" {
		return nil
	}
	c, err := find(s.Key)
	if err != nil {
		return err
	}
	if !s.WakeOnly {
		if s.Syncs, err = countSyncs(ctx, f.h, c, min(100, 10*f.plan.Items[1])); err != nil {
			return err
		}
	}
	s.Waits, err = f.waitsOf(ctx, c)
	f.say("%s: from one process to another", s.Name)
	return err
}

// markdown returns the part "benchmarks" of docs/performance.md.
func (r report) markdown() string {
	var b strings.Builder
	r.Machine.write(&b)
	fmt.Fprintf(&b, "Each figure is the median of %d rounds, with minimum and maximum in parentheses. The contenders take turns, each round in another order.\n", r.Plan.Rounds)
	for _, callers := range callerCounts {
		r.writeFlows(&b, callers)
	}
	r.writeSyncs(&b)
	r.writeWaits(&b)
	r.writeMissing(&b)
	return b.String()
}

func (m machine) write(b *strings.Builder) {
	fmt.Fprintf(b, "%s. %s, %d cores; %s; disk: %s; load %s before and %s after.\n\n",
		m.Date, m.Processor, m.Cores, m.System, m.Disk, m.LoadBefore, m.LoadAfter)
	var all []string
	for _, v := range m.Versions {
		all = append(all, v.Name+" "+v.Version)
	}
	b.WriteString(strings.Join(all, ", ") + ".\n\n")
}

func (r report) writeFlows(b *strings.Builder, callers int) {
	key := strconv.Itoa(callers)
	who := "One caller, one worker"
	if callers > 1 {
		who = fmt.Sprintf("%d callers, %d workers", callers, callers)
	}
	fmt.Fprintf(b, "\n### %s\n\n", who)
	b.WriteString("| contender | put/s | take + acknowledge/s | items/s, put to acknowledge | ratio to the disk probe | put, ratio to the INSERT probe |\n|---|---|---|---|---|---|\n")
	fmt.Fprintf(b, "| *probe: append of 350 bytes + fdatasync* | %s | | | | |\n", r.Disk[key])
	if insert, ok := r.Insert[key]; ok {
		fmt.Fprintf(b, "| *probe: INSERT + commit on PostgreSQL* | %s | | | | |\n", insert)
	}
	for _, s := range r.Standings {
		f, ok := s.Flows[key]
		if !ok {
			continue
		}
		insert := ""
		if f.OverInsert > 0 {
			insert = short(f.OverInsert)
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s |\n", s.Name, f.Put, f.Take, f.Journey, short(f.OverDisk), insert)
	}
}

func (r report) writeSyncs(b *strings.Builder) {
	b.WriteString("\n### Durability of an answer\n\n")
	b.WriteString("| contender | calls | syncs per put | syncs per take + acknowledge | guarantee |\n|---|---|---|---|---|\n")
	for _, s := range r.Standings {
		if s.Missing != "" || s.WakeOnly {
			continue
		}
		put, take := "not counted: no strace", "not counted"
		if s.Syncs != nil {
			put, take = fmt.Sprintf("%.2f", s.Syncs.Put), fmt.Sprintf("%.2f", s.Syncs.Take)
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s |\n", s.Name, s.Calls, put, take, s.Kept)
	}
}

func (r report) writeWaits(b *strings.Builder) {
	b.WriteString("\n### Latency between processes, p50 and p99 in ms\n\n" +
		"Parentheses show the rate that a contender reached, if it was under 95 % of the offered rate.\n\n| contender |")
	for _, perSecond := range r.Plan.Rates {
		fmt.Fprintf(b, " %d/s |", perSecond)
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(r.Plan.Rates)) + "\n")
	writeWait(b, "*probe: append + fdatasync + pipe round trip*", r.Least)
	for _, s := range r.Standings {
		if s.Missing == "" {
			writeWait(b, s.Name, s.Waits)
		}
	}
	b.WriteString("| *delay of the sender, p99* |")
	for _, w := range r.Least {
		fmt.Fprintf(b, " %s |", short(w.PacerP99))
	}
	b.WriteString("\n")
}

// keeps is the least part of a rate that counts as sustained.
const keeps = 0.95

func writeWait(b *strings.Builder, name string, all []wait) {
	fmt.Fprintf(b, "| %s |", name)
	for _, w := range all {
		fmt.Fprintf(b, " %s, %s", short(w.P50), short(w.P99))
		if w.Kept < keeps || w.Unfinished {
			fmt.Fprintf(b, " (reached %s/s)", short(w.Kept*float64(w.Rate)))
		}
		b.WriteString(" |")
	}
	b.WriteString("\n")
}

func (r report) writeMissing(b *strings.Builder) {
	for _, s := range r.Standings {
		if s.Missing != "" {
			fmt.Fprintf(b, "\nLeft out: %s (%s).\n", s.Name, s.Missing)
		}
	}
}

// String returns a figure with its significant digits.
func (f figure) String() string {
	if f.Least == f.Most {
		return short(f.Median)
	}
	return fmt.Sprintf("%s (%s–%s)", short(f.Median), short(f.Least), short(f.Most))
}

// short returns a number with three digits, and with commas.
func short(x float64) string {
	switch {
	case x >= 1000:
		digits := strconv.FormatFloat(x, 'e', 2, 64)
		rounded, err := strconv.ParseFloat(digits, 64)
		if err != nil {
			return digits
		}
		return thousands(int(rounded + 0.5))
	case x >= 100:
		return strconv.FormatFloat(x, 'f', 0, 64)
	case x >= 10:
		return strconv.FormatFloat(x, 'f', 1, 64)
	case x < 0.1 && x > 0:
		return strconv.FormatFloat(x, 'f', 4, 64)
	}
	return strconv.FormatFloat(x, 'f', 2, 64)
}

func thousands(n int) string {
	if n < 1000 {
		return strconv.Itoa(n)
	}
	return fmt.Sprintf("%s,%03d", thousands(n/1000), n%1000)
}
