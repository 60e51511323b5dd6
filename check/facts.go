package check

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"waybill/core/audit"
	"waybill/core/proof"
	"waybill/schema"
)

// CanLook returns nil if git shows the facts of results in a folder. Otherwise the error says why not; it is ErrNoRepository
// for a folder that belongs to no repository.
func CanLook(ctx context.Context, dir string) error {
	ctx, stop := context.WithTimeout(ctx, treeTimeout)
	defer stop()
	r, err := openRepository(ctx, dir)
	switch {
	case err == nil:
		_, err = r.commits(ctx, "HEAD")
	case !errors.Is(err, ErrNoRepository) || !inRepository(dir):
	case git() == "":
		err = errors.New("git is not installed")
	default:
		err = errors.New("git does not recognise the repository, so that it may be damaged")
	}
	return err
}

// inRepository reports whether a folder looks like one of a repository.
func inRepository(dir string) bool {
	for dir, _ = filepath.Abs(dir); ; dir = filepath.Dir(dir) {
		if exists(filepath.Join(dir, ".git")) {
			return true
		}
		if filepath.Dir(dir) == dir {
			return false
		}
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// Begin returns the state of a folder, as far as it is known.
func Begin(ctx context.Context, dir string) audit.Start {
	ctx, stop := context.WithTimeout(ctx, treeTimeout)
	defer stop()
	var s audit.Start
	if r, err := openRepository(ctx, dir); err == nil {
		if found, err := r.commits(ctx, "HEAD"); err == nil {
			s.Commit = found[0]
		}
	}
	s.Tree, _ = Tree(ctx, dir)
	return s
}

// Facts looks at the facts of a result in a folder and returns the receipt of the built-in check, still without a run. told
// reports whether a worker was told before that nothing has changed on a tree. An error means that ctx ended first.
func Facts(ctx context.Context, dir string, said audit.Said, start audit.Start, told func(tree string) bool) (schema.CheckRun, error) {
	began := time.Now()
	r := schema.CheckRun{Check: proof.Facts, Command: "git: " + aboutOf(said)}
	r.TreeBefore, _ = Tree(ctx, dir)
	seen, err := Look(ctx, dir, said, start)
	if r.TreeBefore != "" {
		r.TreeAfter, _ = Tree(ctx, dir)
	}
	if start.Tree != "" && r.TreeAfter != "" {
		seen.Same = start.Tree == r.TreeAfter
	}
	seen.Told = r.TreeAfter != "" && told(r.TreeAfter)
	outcome, wrong := audit.Facts(said, seen)
	r.Output = audit.FormatFalse(wrong)
	switch outcome {
	case proof.Red:
		r.Reason = "not as the result says"
	case proof.Protected:
		r.Reason = "nothing has changed"
	case proof.Green:
		r.Output = fmt.Sprintf("files in the range: %d; files that have changed since the work began: %d\n", len(seen.Range), len(seen.Changed))
	case proof.NotRun:
	}
	if err != nil {
		outcome, r.Output, r.Reason = proof.NotRun, "", err.Error()
	}
	r.Outcome, r.DurationMS = outcome.String(), time.Since(began).Milliseconds()
	return r, ctx.Err()
}

func aboutOf(said audit.Said) string {
	if !said.NamesCommits() {
		return "changes that are not committed"
	}
	return said.GitRange
}

// Look returns what git shows about a result.
func Look(ctx context.Context, dir string, said audit.Said, start audit.Start) (seen audit.Seen, err error) {
	ctx, stop := context.WithTimeout(ctx, treeTimeout)
	defer stop()
	r, err := openRepository(ctx, dir)
	if err != nil {
		return seen, err
	}
	if err := r.place(ctx, &seen); err != nil {
		return seen, err
	}
	began, err := r.lookAtRange(ctx, &seen, said.GitRange, start.Commit)
	if err != nil {
		return seen, err
	}
	if start.Commit == "" && start.Tree != "" && seen.Present != "" {
		began = audit.EmptyTree[len(seen.Present)/64] // it began without a commit
	}
	if seen.Changed, err = r.uncommitted(ctx, seen.Prefix); err != nil {
		return seen, err
	}
	seen.Same = len(seen.Changed) == 0 && (start.Commit == "" || began == seen.Present)
	if began != "" && began != seen.Present {
		since, err := r.between(ctx, began, seen.Present)
		if err != nil {
			return seen, err
		}
		seen.Changed = append(seen.Changed, since...)
	}
	r.markFolders(seen.Range)
	r.markFolders(seen.Changed)
	seen.Ignored, err = r.ignored(ctx, said.Files)
	return seen, err
}

// markFolders puts a slash behind the names of folders. To git, they are repositories of their own.
func (r repository) markFolders(names []string) {
	for i, name := range names {
		info, err := os.Lstat(filepath.Join(r.dir, name))
		if err == nil && info.IsDir() && !strings.HasSuffix(name, "/") {
			names[i] += "/"
		}
	}
}

// place finds where the folder is in its repository.
func (r repository) place(ctx context.Context, seen *audit.Seen) error {
	out, err := r.run(ctx, nil, "rev-parse", "--is-shallow-repository", "--show-prefix")
	if err != nil {
		return err
	}
	shallow, prefix, _ := strings.Cut(string(out), "\n")
	seen.Shallow, seen.Prefix = shallow == "true", strings.TrimSuffix(prefix, "\n")
	root, err := filepath.Abs(r.dir)
	seen.Root = filepath.ToSlash(root)
	return err
}

// lookAtRange looks at a range of commits, and returns the commit at which the work began, or "" for none.
func (r repository) lookAtRange(ctx context.Context, seen *audit.Seen, gitRange, start string) (began string, err error) {
	base, head, _ := strings.Cut(gitRange, "..")
	found, err := r.commits(ctx, "HEAD", base, head, start)
	if err != nil {
		return "", err
	}
	seen.Present, seen.Base, seen.Head, began = found[0], found[1], found[2], found[3]
	if slices.Contains(audit.EmptyTree, base) {
		seen.Base, seen.Ordered = base, true
	}
	if seen.Base == "" || seen.Head == "" {
		return began, nil
	}
	for _, ask := range []struct {
		old, young string
		answer     *bool
	}{{seen.Head, seen.Present, &seen.Reached}, {seen.Base, seen.Head, &seen.Ordered}, {seen.Head, began, &seen.Old}} {
		if ask.young == "" || *ask.answer {
			continue
		}
		if *ask.answer, err = r.isAncestor(ctx, ask.old, ask.young); err != nil {
			return began, err
		}
	}
	seen.Range, err = r.between(ctx, seen.Base, seen.Head)
	return began, err
}

// commits returns the hashes of commits, or "" for a name that no commit has.
func (r repository) commits(ctx context.Context, names ...string) ([]string, error) {
	var ask strings.Builder
	for _, name := range names {
		ask.WriteString(name + "^{commit}\n") // without a name, a name that no commit has
	}
	out, err := r.runWith(ctx, strings.NewReader(ask.String()), nil, "cat-file", "--batch-check=%(objecttype) %(objectname)")
	lines := strings.Split(strings.TrimRight(string(out), "\n"), "\n")
	if err == nil && len(lines) != len(names) {
		err = fmt.Errorf("git cat-file: answered %d lines for %d names", len(lines), len(names))
	}
	if err != nil {
		return nil, err
	}
	for i, line := range lines {
		hash, found := strings.CutPrefix(line, "commit ")
		if lines[i] = hash; !found {
			lines[i] = ""
		}
	}
	return lines, nil
}

func (r repository) isAncestor(ctx context.Context, old, young string) (bool, error) {
	_, err := r.run(ctx, nil, "merge-base", "--is-ancestor", old, young)
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() == 1 {
		return false, nil
	}
	return err == nil, err
}

// between returns the files of the folder that differ between two commits.
func (r repository) between(ctx context.Context, base, head string) ([]string, error) {
	out, err := r.run(ctx, nil, "diff-tree", "-r", "-z", "--name-only", "--no-renames", "--relative", base, head)
	return namesIn(out), err
}

// uncommitted returns the files of the folder that differ from HEAD, also those that git does not know yet.
func (r repository) uncommitted(ctx context.Context, prefix string) (names []string, err error) {
	out, err := r.run(ctx, nil, "status", "--porcelain", "-z", "--untracked-files=all", "--ignore-submodules=none", "--", ".")
	for _, entry := range namesIn(out) {
		if len(entry) > len("XY ") {
			names = append(names, strings.TrimPrefix(entry[len("XY "):], prefix))
		}
	}
	return names, err
}

// ignored returns those of the files that git ignores: it cannot show whether they have changed.
func (r repository) ignored(ctx context.Context, files []string) ([]string, error) {
	args := []string{"ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--"}
	for _, name := range files {
		if filepath.IsLocal(name) && !strings.ContainsRune(name, 0) && exists(filepath.Join(r.dir, name)) {
			args = append(args, name)
		}
	}
	if args[len(args)-1] == "--" {
		return nil, nil
	}
	out, err := r.run(ctx, []string{"GIT_LITERAL_PATHSPECS=1"}, args...)
	return namesIn(out), err
}

// namesIn returns the names in an output with a NUL behind each.
func namesIn(out []byte) (names []string) {
	for name := range bytes.SplitSeq(out, []byte{0}) {
		if len(name) > 0 {
			names = append(names, string(name))
		}
	}
	return names
}
