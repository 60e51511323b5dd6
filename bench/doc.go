// Package bench measures the whole product against the speed of the machine. Every benchmark alternates between its raw
// probe and the measured operation in the same run, and reports ratios. Figures of different machines, or of different
// minutes on a shared machine, cannot be compared.
//
// It refuses to judge: no benchmark fails because something took long. docs/performance.md has the
// targets, and what was measured.
package bench
