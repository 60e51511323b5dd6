// Package bench measures the whole product against what the machine gives. Every benchmark runs its
// raw probe in turns with what it measures, in the same run, and reports ratios: figures of different
// machines, or of different minutes on a shared one, say little.
//
// It refuses to judge: no benchmark fails because something took long. docs/performance.md has the
// targets, and what was measured.
package bench
