package check

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	// treeTimeout bounds the computation of a tree.
	treeTimeout = 2 * time.Minute
	// maxFiles and maxBytes bound the files that are hashed without git.
	maxFiles = 20_000
	maxBytes = 200 << 20
	// longestComplaint bounds the bytes that are kept from the end of an error of git, because a receipt must hold it.
	longestComplaint = 1 << 10
)

// Tree returns a hash over the names and contents of the files in a folder. In a repository of git, the ignored files are
// left out; without git, everything counts, up to 20,000 files and 200 MB. An error says why there is no tree.
func Tree(ctx context.Context, dir string) (string, error) {
	ctx, stop := context.WithTimeout(ctx, treeTimeout)
	defer stop()
	r, err := openRepository(ctx, dir)
	switch {
	case errors.Is(err, ErrNoRepository):
		return hashFiles(ctx, dir)
	case err != nil:
		return "", err
	}
	return r.tree(ctx)
}

// ErrNoRepository says that a folder belongs to no repository, or that there is no git.
var ErrNoRepository = errors.New("there is no repository")

// git is the path of git, or "".
var git = sync.OnceValue(func() string {
	path, err := exec.LookPath("git")
	if err != nil {
		return ""
	}
	path, err = filepath.Abs(path)
	if err != nil {
		return ""
	}
	return path
})

// safe are settings that keep git from running commands of the project and from changing anything but what it is asked to.
var safe = []string{
	"-c", "core.fsmonitor=false", "-c", "core.hooksPath=" + os.DevNull, "-c", "core.splitIndex=false", "-c", "core.untrackedCache=false",
	"-c", "gc.auto=0", "-c", "maintenance.auto=false", "-c", "advice.addEmbeddedRepo=false", "-c", "core.safecrlf=false",
	"-c", "filter.lfs.required=false", "-c", "filter.lfs.clean=", "-c", "filter.lfs.process=", // Git LFS keeps what it cleans in the repository
	"-c", "status.renames=false", "-c", "core.looseCompression=0", "-c", "core.fsync=none",
}

// A repository is a repository of git with a folder in its working tree.
type repository struct {
	dir   string // the folder
	index string // the path of the index
}

// openRepository finds the repository of a folder. ErrNoRepository says that there is none.
func openRepository(ctx context.Context, dir string) (repository, error) {
	r := repository{dir: dir}
	if git() == "" {
		return r, ErrNoRepository
	}
	out, err := r.run(ctx, nil, "rev-parse", "--is-inside-work-tree", "--git-path", "index")
	if err != nil {
		if strings.Contains(err.Error(), "not a git repository") {
			return r, ErrNoRepository
		}
		return r, err
	}
	lines := strings.Split(strings.TrimRight(string(out), "\n"), "\n")
	if len(lines) != 2 || lines[0] != "true" {
		return r, errors.New("the folder is not in the working tree of its repository")
	}
	if r.index = lines[1]; !filepath.IsAbs(r.index) {
		r.index = filepath.Join(dir, r.index)
	}
	return r, nil
}

// run runs git in the folder and returns its output.
func (r repository) run(ctx context.Context, env []string, args ...string) ([]byte, error) {
	return r.runWith(ctx, nil, env, args...)
}

// runWith is run with an input.
func (r repository) runWith(ctx context.Context, in io.Reader, env []string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, git(), slices.Concat(safe, args)...)
	cmd.Dir = r.dir
	cmd.Env = append(slices.DeleteFunc(cmd.Environ(), func(v string) bool { return strings.HasPrefix(v, "GIT_") }),
		"GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none", "GIT_PAGER=cat", "LC_ALL=C")
	cmd.Env = append(cmd.Env, env...)
	cmd.WaitDelay = grace
	var out, said bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, &out, &said
	err := cmd.Run()
	if err != nil {
		why := strings.TrimSpace(said.String())
		return nil, fmt.Errorf("git %s: %w: %s", args[0], err, strings.ToValidUTF8(why[max(0, len(why)-longestComplaint):], ""))
	}
	return out.Bytes(), nil
}

// tree adds the files of the folder to a copy of the index, and returns a hash over the modes, contents and names that the
// copy has then. Copy and new objects are in a temporary folder. The objects of the repository are not needed for that, and
// are not shown to git, which would renew their times.
func (r repository) tree(ctx context.Context) (string, error) {
	scratch, err := os.MkdirTemp("", "waybill-tree-")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(scratch) }()
	index, objects := filepath.Join(scratch, "index"), filepath.Join(scratch, "objects")
	if err := errors.Join(os.Mkdir(objects, 0o700), copyIndex(r.index, index)); err != nil {
		return "", err
	}
	env := []string{"GIT_INDEX_FILE=" + index, "GIT_OBJECT_DIRECTORY=" + objects}
	entries, overlooks, err := r.add(ctx, env)
	if overlooks && err == nil {
		if err := os.Remove(index); err != nil {
			return "", err
		}
		entries, _, err = r.add(ctx, env)
	}
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(entries)
	return "git:" + hex.EncodeToString(sum[:]), nil
}

// copyIndex copies an index with its time, by which git knows the entries that it cannot trust. There is none before the
// first file is added.
func copyIndex(from, to string) error {
	in, err := os.Open(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if err = errors.Join(err, out.Close()); err != nil {
		return err
	}
	return os.Chtimes(to, info.ModTime(), info.ModTime())
}

// add adds the files of the folder to an index and returns the entries of the index. overlooks reports that it tells git to
// overlook changes of some files. add refuses a repository inside the folder, because git does not look at its files.
func (r repository) add(ctx context.Context, env []string) (entries []byte, overlooks bool, err error) {
	if _, err := r.run(ctx, env, "add", "--all", "--", "."); err != nil {
		return nil, false, err
	}
	entries, err = r.run(ctx, env, "ls-files", "-v", "--stage", "-z", "--full-name")
	for entry := range bytes.SplitSeq(entries, []byte{0}) {
		switch {
		case len(entry) == 0:
		case bytes.HasPrefix(entry[1:], []byte(" 160000 ")):
			_, name, _ := bytes.Cut(entry, []byte{'\t'})
			return nil, false, fmt.Errorf("%s is a repository of its own, and git does not look at its files", name)
		case entry[0] == 'S', 'a' <= entry[0] && entry[0] <= 'z':
			overlooks = true
		}
	}
	return entries, overlooks, err
}

// errTooMuch says that the files are too many for a tree.
var errTooMuch = fmt.Errorf("more than %d files or %d MB without git", maxFiles, maxBytes>>20)

// hashFiles returns the tree of a folder without git.
func hashFiles(ctx context.Context, dir string) (string, error) {
	sum, files, size := sha256.New(), 0, int64(0)
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err = errors.Join(err, ctx.Err()); err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		files, size = files+1, size+info.Size()
		if files > maxFiles || size > maxBytes {
			return errTooMuch
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		content, err := hashFile(path, info)
		if content != nil {
			_, _ = fmt.Fprintf(sum, "%q %x\n", filepath.ToSlash(name), content)
		}
		return err
	})
	if err != nil {
		return "", err
	}
	return "sha256:" + hex.EncodeToString(sum.Sum(nil)), nil
}

// hashFile returns the hash of a file or of the target of a link, and nil for anything else, such as a socket.
func hashFile(path string, info fs.FileInfo) ([]byte, error) {
	sum := sha256.New()
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := os.Readlink(path)
		_, _ = io.WriteString(sum, "link "+target)
		return sum.Sum(nil), err
	case !info.Mode().IsRegular():
		return nil, nil
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	_, _ = fmt.Fprintf(sum, "file %t ", info.Mode()&0o111 != 0)
	_, err = io.Copy(sum, bufio.NewReader(file))
	return sum.Sum(nil), err
}
