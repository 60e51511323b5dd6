package shellcmd

import "strings"

// A set is a list of names.
type set map[string]bool

func (s set) has(name string) bool { return s[name] }

func names(list string) set {
	s := set{}
	for _, name := range strings.Fields(list) {
		s[name] = true
	}
	return s
}

// shells run the script behind their option -c.
var shells = names("bash sh zsh dash ksh ash")

// scriptOf returns the script that a shell with these arguments runs. A variable in it stands for no command.
func scriptOf(args []word) (string, bool) {
	hasScript := false
	for i := 0; i < len(args); i++ {
		option := args[i].text
		switch {
		case !args[i].isOption():
			return option, hasScript
		case option == "--rcfile" || option == "--init-file":
			i++
		case strings.HasPrefix(option, "--"):
		default:
			hasScript = hasScript || strings.Contains(option, "c") && option[0] == '-'
			if strings.HasSuffix(option, "o") || strings.HasSuffix(option, "O") { // as in -euo pipefail
				i++
			}
		}
	}
	return "", false
}

// A wrapper is a program that runs the command behind its own arguments.
type wrapper struct {
	values   set  // options whose value is the next argument
	runsNone set  // options with which it does not run the command
	settings bool // whether NAME=value may stand before the command
	operands int  // operands before the command
}

// wrappers are the programs whose manual pages say that they run a command. xargs is none of them: it adds words.
var wrappers = map[string]wrapper{
	"env":     {values: names("-u --unset -C --chdir"), runsNone: names("-S --split-string"), settings: true},
	"time":    {values: names("-o --output -f --format")},
	"nice":    {values: names("-n --adjustment")},
	"timeout": {values: names("-k --kill-after -s --signal"), operands: 1},
	"sudo": {
		values:   names("-u --user -g --group -h --host -p --prompt -C -D --chdir -R --chroot -r -t -T -U"),
		runsNone: names("-l --list -v --validate -V --version -e --edit -K"), settings: true,
	},
	"doas":    {values: names("-u -a -C"), runsNone: names("-L")},
	"nohup":   {},
	"command": {runsNone: names("-v -V")},
	"exec":    {values: names("-a")},
	"setsid":  {},
	"stdbuf":  {values: names("-i --input -o --output -e --error")},
	"ionice":  {values: names("-c --class -n --classdata"), runsNone: names("-p --pid -P -u")},

	"gtimeout":   {values: names("-k --kill-after -s --signal"), operands: 1}, // timeout on macOS
	"flock":      {values: names("-w --wait --timeout -E --conflict-exit-code"), operands: 1},
	"taskset":    {runsNone: names("-p --pid"), operands: 1},
	"unbuffer":   {},
	"chronic":    {},
	"caffeinate": {values: names("-t -w")},
	"xvfb-run":   {values: names("-e --error-file -f --auth-file -n --server-num -p --xauth-protocol -s --server-args -w --wait")},
	"cross-env":  {settings: true},
}

// unwrap returns the command in the arguments of a wrapper, or nothing.
func (w wrapper) unwrap(args []word) []word {
	operands := w.operands
	for i := 0; i < len(args); i++ {
		arg := args[i]
		switch {
		case arg.text == "--" && operands == w.operands:
		case arg.isOption() && operands == w.operands:
			if w.runsNone.has(arg.text) || arg.text == "--help" || arg.text == "--version" {
				return nil
			}
			if w.values.has(arg.text) {
				i++
			}
		case w.settings && arg.isSetting():
		case operands > 0:
			operands--
		default:
			return args[i:]
		}
	}
	return nil
}

// valueOptions are the options of a program whose value is the next argument, from the programs' own help texts. An option
// in no list may have a value as well; the list keeps a value from being taken for a wanted word.
var valueOptions = map[string]set{
	"git": names("-C -c --git-dir --work-tree --namespace -m --message -F --file -b -B --author --date -t --template"),
	"go": names("-C -run -bench -benchtime -count -timeout -tags -cpu -coverprofile -covermode -coverpkg -cpuprofile " +
		"-memprofile -o -p -exec -ldflags -gcflags -mod -modfile -fuzz -fuzztime -parallel -skip -vet"),
	"make":          names("-C --directory -f --file --makefile -I -o -W"),
	"gmake":         names("-C --directory -f --file --makefile -I -o -W"),
	"npm":           names("--prefix -C -w --workspace --loglevel"),
	"pnpm":          names("-C --dir -F --filter --loglevel --reporter"),
	"yarn":          names("--cwd"),
	"bun":           names("--cwd -c --config --filter -r --preload"),
	"deno":          names("-c --config"),
	"node":          names("-r --require --import --loader -C --conditions --env-file"),
	"jest":          names("-c --config -t --testNamePattern --testPathPattern --rootDir -w --maxWorkers"),
	"vitest":        names("-c --config -t --testNamePattern -r --root --project --reporter"),
	"eslint":        names("-c --config --ext -f --format -o --rule"),
	"prettier":      names("--config --ignore-path --parser"),
	"tsc":           names("-p --project --outDir"),
	"python":        names("-c -W -X"),
	"python3":       names("-c -W -X"),
	"pytest":        names("-k -m -n -p -c -o -W --rootdir --maxfail --tb --junitxml --ignore --deselect --durations --timeout"),
	"uv":            names("--directory --project -p --python --with --extra --group --package"),
	"poetry":        names("-C --directory -P --project"),
	"tox":           names("-e -c --workdir"),
	"nox":           names("-s --sessions -f -e"),
	"ruff":          names("--config --select --ignore"),
	"mypy":          names("-p --package -m --module -c --config-file --python-version"),
	"cargo":         names("-p --package --manifest-path --features -F --target --profile --bin --test --bench --example --color --config -Z -j --jobs --target-dir --exclude"),
	"docker":        names("-H --host -c --context -f --file -p --project-name --profile --env-file --project-directory"),
	"kubectl":       names("-n --namespace -f --filename --context --kubeconfig -l --selector -o --output -c --container"),
	"helm":          names("-n --namespace -f --values --set --kube-context --version"),
	"mvn":           names("-f --file -pl --projects -P -s --settings -T -rf"),
	"gradle":        names("-p --project-dir -b --build-file -x --exclude-task -c -I --init-script"),
	"gradlew":       names("-p --project-dir -b --build-file -x --exclude-task -c -I --init-script"),
	"dotnet":        names("-c --configuration -f --framework -o --output --filter -v --verbosity -l --logger -r --runtime -p"),
	"rake":          names("-f --rakefile -I -r"),
	"bundle":        names("--gemfile"),
	"rspec":         names("-e --example -f --format -t --tag -r --require -I -o --out"),
	"php":           names("-d -c"),
	"phpunit":       names("-c --configuration --filter --testsuite --group"),
	"composer":      names("-d --working-dir"),
	"swift":         names("--package-path --filter --skip -c --configuration"),
	"flutter":       names("--name -d --device-id -t --target"),
	"gh":            names("-R --repo -t --title -b --body -B --base -H --head -F --body-file -l --label"),
	"golangci-lint": names("-c --config -E --enable -D --disable --color"),
	"pre-commit":    names("-c --config --hook-stage"),
}
