package workspace

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// identityPath undoes bind mounts: it returns the same name for a folder whichever of its mounted names root is. If
// that name is unknown or unreachable, it returns root.
func identityPath(root string) string {
	text, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return root
	}
	info, err := os.Stat(root)
	if err != nil {
		return root
	}
	for _, name := range mountedNames(parseMounts(string(text)), root) {
		same, err := os.Stat(name)
		if err == nil && os.SameFile(same, info) {
			return name
		}
	}
	return root
}

// mount is one line of mountinfo: the folder root of the file system on device is mounted at point.
type mount struct{ device, root, point string }

func parseMounts(text string) []mount {
	var mounts []mount
	for line := range strings.Lines(text) {
		if f := strings.Fields(line); len(f) > 4 {
			mounts = append(mounts, mount{f[2], unescapeMount(f[3]), unescapeMount(f[4])})
		}
	}
	return mounts
}

// unescapeMount decodes the octal escapes of the kernel.
func unescapeMount(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+3 < len(text) {
			if c, err := strconv.ParseUint(text[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(c))
				i += 3
				continue
			}
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// mountedNames returns the names under which the folder at path is visible. The order is the same for every name of
// the folder.
func mountedNames(mounts []mount, path string) []string {
	var home mount
	for _, m := range mounts { // the last mount at a point hides the others
		if _, ok := below(m.point, path); ok && len(m.point) >= len(home.point) {
			home = m
		}
	}
	rest, ok := below(home.point, path)
	if !ok {
		return nil
	}
	inside := filepath.Join(home.root, rest) // the folder's path in its file system
	var best []mount
	for _, m := range mounts {
		if _, ok := below(m.root, inside); ok && m.device == home.device {
			best = append(best, m)
		}
	}
	sortMounts(best)
	names := make([]string, len(best))
	for i, m := range best {
		rest, _ := below(m.root, inside)
		names[i] = filepath.Join(m.point, rest)
	}
	return names
}

func sortMounts(mounts []mount) {
	slices.SortFunc(mounts, func(a, b mount) int {
		return cmp.Or(
			cmp.Compare(len(a.root), len(b.root)),
			cmp.Compare(len(a.point), len(b.point)),
			strings.Compare(a.point, b.point),
		)
	})
}

// below returns the path from dir to path if path is dir or inside it.
func below(dir, path string) (string, bool) {
	if dir == path || dir == "/" {
		return strings.TrimPrefix(path, dir), dir != ""
	}
	rest, ok := strings.CutPrefix(path, dir+"/")
	return rest, ok && dir != ""
}
