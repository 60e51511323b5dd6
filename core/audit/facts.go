package audit

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"waybill/core/proof"
	"waybill/internal/lazyregexp"
)

// Seen is what git shows about a result in the workspace.
type Seen struct {
	// Root is the path of the workspace, and Prefix its path in the repository with a slash behind, or "".
	Root, Prefix string
	// Base and Head are the commits that the ends of the range name, or "" for none. EmptyTree stands for the base of all
	// files. Present is the commit of HEAD, "" in a repository without commits.
	Base, Head, Present string
	// Ordered says that Base is an ancestor of Head, and Reached that Head is Present or an ancestor of it. Old says that
	// Head was there when the work began.
	Ordered, Reached, Old bool
	Shallow               bool // the repository lacks old commits
	// Range has the files of the workspace that differ between Base and Head. Changed has those that are not committed, and
	// those that were committed since the work began. Ignored has the files among those of the result that git ignores. A
	// repository inside the workspace has a slash behind; git does not look at its files.
	Range, Changed, Ignored []string
	// Same says that no file differs from the start of the work; without a known start, that every change is committed.
	Same bool
	// Told says that a worker was told before that the files are the same.
	Told bool
}

// EmptyTree is the name under which git knows the state without files, in both of its formats.
var EmptyTree = []string{
	"4b825dc642cb6eb9a060e54bf8d69288fbee4904", "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
}

// A Fact is a part of a result that can be true or false.
type Fact string

// The facts.
const (
	FactRange  Fact = "git_range"
	FactFiles  Fact = "files_changed"
	FactChange Fact = "changes" // something has changed since the work began
)

// A FalseFact is a false fact, with a text for the agent: how git contradicts it, and how to mend it.
type FalseFact struct {
	Fact Fact
	Text string
}

// Facts judges what a result says. Red means that at least one fact is false. Protected means that nothing is false but that
// nothing was changed, although a worker was told: a person decides whether that is right.
func Facts(said Said, seen Seen) (proof.Outcome, []FalseFact) {
	var all []FalseFact
	if f := seen.falseRange(said.GitRange); f != "" {
		all = append(all, FalseFact{FactRange, f})
	} else if seen.Same && !seen.names(said.GitRange) {
		all = append(all, FalseFact{FactChange, "no file differs from the state in which the work began. Do the task; if it needs no change, " +
			"answer pass once more and change nothing, and a person will decide."})
	}
	if f := seen.falseFiles(said.Files); f != "" {
		all = append(all, FalseFact{FactFiles, f})
	}
	switch {
	case len(all) == 0:
		return proof.Green, nil
	case len(all) == 1 && all[0].Fact == FactChange && seen.Told:
		return proof.Protected, all
	}
	return proof.Red, all
}

// ends returns the names of both ends of a range.
func ends(gitRange string) (base, head string) {
	base, head, _ = strings.Cut(gitRange, "..")
	return base, head
}

// names reports whether a range names commits. HEAD..HEAD, or any commit twice, says that there are none.
func (s Seen) names(gitRange string) bool {
	base, head := ends(gitRange)
	return base != head && s.Base != s.Head
}

const (
	howToName = "Name the commits of your work as git log shows them, or HEAD..HEAD if it is not committed."
	longest   = 100 // bytes of a name in a sentence
)

// falseRange returns why a range of commits is false, or "".
func (s Seen) falseRange(gitRange string) string {
	base, head := ends(gitRange)
	lacks := ""
	if s.Shallow {
		lacks = " It is a shallow one, and lacks old commits."
	}
	switch {
	case gitRange == "", base == head && base == "HEAD" && s.Present == "":
		return ""
	case s.Head == "":
		return fmt.Sprintf("this repository has no commit %s.%s %s", quoted(head), lacks, howToName)
	case s.Base == "":
		return fmt.Sprintf("this repository has no commit %s.%s %s", quoted(base), lacks, howToName)
	case !s.Reached:
		return fmt.Sprintf("%s is not in the history of HEAD, and the work on another branch is not this work. Bring it to the present branch. %s",
			quoted(head), howToName)
	case s.Base == s.Head:
		return ""
	case !s.Ordered:
		return fmt.Sprintf("%s is no ancestor of %s.%s Name the state before your work first, and your last commit behind it.", quoted(base), quoted(head), lacks)
	case s.Old:
		return fmt.Sprintf("%s was there before the work on this item began. %s", quoted(head), howToName)
	case len(s.Range) == 0:
		return fmt.Sprintf("%s changes no file of the workspace. Do the task, and commit what you change.", quoted(gitRange))
	}
	return ""
}

// falseFiles returns why a list of changed files is false, or "".
func (s Seen) falseFiles(files []string) string {
	var outside, unchanged []string
	for _, entry := range files {
		switch forms := s.forms(entry); {
		case len(forms) == 0: // the workspace itself
		case slices.ContainsFunc(forms, s.changed):
		case leaves(forms[len(forms)-1]):
			outside = append(outside, entry)
		default:
			unchanged = append(unchanged, entry)
		}
	}
	var why []string
	if len(outside) > 0 {
		why = append(why, named(outside)+": outside the workspace. Name paths inside it.")
	}
	if len(unchanged) > 0 {
		why = append(why, fmt.Sprintf("git shows no change of %s, neither in the range nor among what is not committed. "+
			"Name the files that you changed, and no others.", named(unchanged)))
	}
	return strings.Join(why, " ")
}

// Entries as agents write them have a line behind, a remark, a status or quotes.
var (
	decoration = "`'\"*"
	lineBehind = lazyregexp.New(`:[0-9]+([-:,][0-9]+)*$`)
	remark     = lazyregexp.New(`\s+([(\[]|-\s|–|—|#).*$|:\s.*$`)
	word       = lazyregexp.New(`(?i)^(new|added|modified|changed|updated|deleted|removed|created|renamed|moved|[amdr])(:\s*|\s+)`)
	arrow      = lazyregexp.New(`\s+(->|→|=>|to)\s+`)
)

// forms returns the paths that an entry of files_changed can mean, relative to the workspace, the most literal one first.
func (s Seen) forms(entry string) (forms []string) {
	add := func(name string) {
		name = strings.TrimSuffix(strings.TrimSpace(strings.ReplaceAll(name, "\\", "/")), "/**")
		if rest, ok := strings.CutPrefix(name, strings.TrimSuffix(s.Root, "/")+"/"); ok && s.Root != "" {
			name = rest
		}
		if name = path.Clean(name); name != "." {
			forms = append(forms, name)
		}
		if rest, ok := strings.CutPrefix(name, s.Prefix); ok && s.Prefix != "" {
			forms = append(forms, rest)
		}
	}
	entry = strings.TrimSpace(entry)
	add(entry)
	parts := arrow.Compiled().Split(entry, 2)
	bare := strings.Trim(parts[len(parts)-1], decoration)
	for _, strip := range []func(string) string{
		func(name string) string { return word.Compiled().ReplaceAllString(name, "") },
		func(name string) string { return remark.Compiled().ReplaceAllString(name, "") },
		func(name string) string {
			return lineBehind.Compiled().ReplaceAllString(strings.Trim(name, decoration), "")
		},
	} {
		add(bare)
		bare = strings.Trim(strip(bare), decoration)
	}
	add(bare)
	return forms
}

// changed reports whether a path is one of a changed file, a folder or a pattern of some, or is in a changed submodule.
func (s Seen) changed(name string) bool {
	return slices.ContainsFunc([][]string{s.Range, s.Changed, s.Ignored}, func(files []string) bool {
		return slices.ContainsFunc(files, func(file string) bool {
			fits, _ := path.Match(name, file)
			return fits || name == strings.TrimSuffix(file, "/") || strings.HasPrefix(file, name+"/") ||
				strings.HasSuffix(file, "/") && strings.HasPrefix(name, file)
		})
	})
}

func leaves(name string) bool {
	return path.IsAbs(name) || name == ".." || strings.HasPrefix(name, "../") || len(name) > 1 && name[1] == ':'
}

// most bounds the names in a sentence.
const most = 8

// named returns names as text.
func named(names []string) string {
	var b strings.Builder
	for i, name := range names {
		if i == most {
			fmt.Fprintf(&b, " and %d more", len(names)-most)
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(quoted(name))
	}
	return b.String()
}

func quoted(name string) string {
	if len(name) > longest {
		name = strings.ToValidUTF8(name[:longest], "") + "…"
	}
	return fmt.Sprintf("%q", name)
}
