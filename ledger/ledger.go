// Package ledger reads plan files, tells two readings of one apart, and
// compiles the prompts that agents get from what is true now.
//
// It refuses to open a file, to read a clock, to remember anything between two
// calls, to guess that work is finished, and to drop a checkbox in silence:
// each one is an item or carries a diagnostic that says why not.
package ledger
