// Command wine prepares a folder in which Wine runs programs that Go built for Windows:
//
//	wine FOLDER
//
// Set WINEPREFIX to the same folder afterwards. Since Go 1.22, programs take their random numbers from ProcessPrng in
// bcryptprimitives.dll, which Wine has only since version 9. Debian 12 has Wine 8, so the command writes a library of that
// name. It contains no code: its only export refers to SystemFunction036 of advapi32.dll, which Wine has, and which takes
// the same arguments.
package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: wine FOLDER")
		os.Exit(2)
	}
	if err := prepare(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "wine:", err)
		os.Exit(1)
	}
}

// prepare makes folder a prefix of Wine, unless it is one already.
func prepare(folder string) error {
	library := filepath.Join(folder, "drive_c", "windows", "system32", "bcryptprimitives.dll")
	if _, err := os.Stat(library); err == nil {
		return nil
	}
	folder, err := filepath.Abs(folder)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	cmd := exec.Command("wine", "wineboot", "--init")
	// Without mscoree and mshtml Wine does not offer to download its replacements for .NET and the browser.
	cmd.Env = append(os.Environ(), "WINEPREFIX="+folder, "WINEDEBUG=-all", "WINEDLLOVERRIDES=mscoree,mshtml=")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("wineboot: %w\n%s", err, out)
	}
	return os.WriteFile(library, forwarder("bcryptprimitives.dll", "ProcessPrng", "advapi32.SystemFunction036"), 0o644)
}

const (
	headerSize  = 0x200  // of the file; the section follows
	sectionAt   = 0x1000 // address of the section relative to the image
	sectionSize = 0x200
)

// forwarder returns a library for 64-bit Windows whose only export stands for a function of another library.
func forwarder(library, export, target string) []byte {
	// The section has the export directory, then three tables of one entry each, then the names.
	const functions, names, ordinals, texts = 40, 44, 48, 50
	var text bytes.Buffer
	address := func(s string) uint32 {
		at := sectionAt + texts + text.Len()
		text.WriteString(s + "\x00")
		return uint32(at)
	}
	exportName, targetName, libraryName := address(export), address(target), address(library)
	section := encode(
		uint32(0), uint32(0), uint32(0), libraryName,
		uint32(1), uint32(1), uint32(1), // first ordinal, functions, names
		uint32(sectionAt+functions), uint32(sectionAt+names), uint32(sectionAt+ordinals),
		targetName, // an address within the directory is that of a name to look for
		exportName, uint16(0), text.Bytes(),
	)
	directories := make([]byte, 16*8)
	copy(directories, encode(uint32(sectionAt), uint32(len(section))))
	optional := encode(
		uint16(0x20b), uint16(0), uint32(0), uint32(sectionSize), uint32(0), // 64 bit; sizes of code and data
		uint32(0), uint32(sectionAt), // no entry point
		uint64(0x180000000), uint32(0x1000), uint32(0x200), // address of the image, alignments
		uint16(6), uint16(0), uint16(0), uint16(0), uint16(6), uint16(0), uint32(0), // versions of the system
		uint32(sectionAt+0x1000), uint32(headerSize), uint32(0), // size of the image
		uint16(3), uint16(0x100), // a console program, data is not executed
		uint64(0x100000), uint64(0x1000), uint64(0x100000), uint64(0x1000), // stack and heap
		uint32(0), uint32(16), directories,
	)
	dos := make([]byte, 0x40)
	copy(dos, "MZ")
	dos[0x3c] = 0x40 // where the header of the image is
	file := encode(
		dos, []byte("PE\x00\x00"),
		uint16(0x8664), uint16(1), uint32(0), uint32(0), uint32(0), uint16(len(optional)), uint16(0x2022), // x86-64, one section, a library
		optional,
		[]byte(".rdata\x00\x00"), uint32(len(section)), uint32(sectionAt), uint32(sectionSize), uint32(headerSize),
		uint32(0), uint32(0), uint32(0), uint32(0x40000040), // data that is only read
	)
	file = append(file, make([]byte, headerSize-len(file))...)
	return append(file, append(section, make([]byte, sectionSize-len(section))...)...)
}

// encode writes values one after the other, low bytes first.
func encode(values ...any) (out []byte) {
	for _, v := range values {
		out, _ = binary.Append(out, binary.LittleEndian, v) // fails only for types without a fixed size
	}
	return out
}
