// Package plan parses plan files, computes which items are ready, and changes the mark of one item.
//
// Read parses the text of a tasks.md or a similar file and returns a Reading: items, diagnostics and totals. Every
// checkbox of the text is an item or has a diagnostic with its line. The package opens no file, reads no clock and
// keeps no state between calls.
package plan
