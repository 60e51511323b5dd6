package shellcmd

import "strings"

// A set is names with spaces between them. The tables below are constants, so that a program start costs nothing for them.
type set string

func (s set) has(name string) bool {
	for one := range strings.FieldsSeq(string(s)) {
		if one == name {
			return true
		}
	}
	return false
}

// shells run the script behind their option -c.
const shells set = "bash sh zsh dash ksh ash"

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
	"env":     {values: "-u --unset -C --chdir", runsNone: "-S --split-string", settings: true},
	"time":    {values: "-o --output -f --format"},
	"nice":    {values: "-n --adjustment"},
	"timeout": {values: "-k --kill-after -s --signal", operands: 1},
	"sudo": {
		values:   "-u --user -g --group -h --host -p --prompt -C -D --chdir -R --chroot -r -t -T -U",
		runsNone: "-l --list -v --validate -V --version -e --edit -K", settings: true,
	},
	"doas":    {values: "-u -a -C", runsNone: "-L"},
	"nohup":   {},
	"command": {runsNone: "-v -V"},
	"exec":    {values: "-a"},
	"setsid":  {},
	"stdbuf":  {values: "-i --input -o --output -e --error"},
	"ionice":  {values: "-c --class -n --classdata", runsNone: "-p --pid -P -u"},

	"gtimeout":   {values: "-k --kill-after -s --signal", operands: 1}, // timeout on macOS
	"flock":      {values: "-w --wait --timeout -E --conflict-exit-code", operands: 1},
	"taskset":    {runsNone: "-p --pid", operands: 1},
	"unbuffer":   {},
	"chronic":    {},
	"caffeinate": {values: "-t -w"},
	"xvfb-run":   {values: "-e --error-file -f --auth-file -n --server-num -p --xauth-protocol -s --server-args -w --wait"},
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
	"git": "-C -c --git-dir --work-tree --namespace -m --message -F --file -b -B --author --date -t --template",
	"go": "-C -run -bench -benchtime -count -timeout -tags -cpu -coverprofile -covermode -coverpkg -cpuprofile " +
		"-memprofile -o -p -exec -ldflags -gcflags -mod -modfile -fuzz -fuzztime -parallel -skip -vet",
	"make":          "-C --directory -f --file --makefile -I -o -W",
	"gmake":         "-C --directory -f --file --makefile -I -o -W",
	"npm":           "--prefix -C -w --workspace --loglevel",
	"pnpm":          "-C --dir -F --filter --loglevel --reporter",
	"yarn":          "--cwd",
	"bun":           "--cwd -c --config --filter -r --preload",
	"deno":          "-c --config",
	"node":          "-r --require --import --loader -C --conditions --env-file",
	"jest":          "-c --config -t --testNamePattern --testPathPattern --rootDir -w --maxWorkers",
	"vitest":        "-c --config -t --testNamePattern -r --root --project --reporter",
	"eslint":        "-c --config --ext -f --format -o --rule",
	"prettier":      "--config --ignore-path --parser",
	"tsc":           "-p --project --outDir",
	"python":        "-c -W -X",
	"python3":       "-c -W -X",
	"pytest":        "-k -m -n -p -c -o -W --rootdir --maxfail --tb --junitxml --ignore --deselect --durations --timeout",
	"uv":            "--directory --project -p --python --with --extra --group --package",
	"poetry":        "-C --directory -P --project",
	"tox":           "-e -c --workdir",
	"nox":           "-s --sessions -f -e",
	"ruff":          "--config --select --ignore",
	"mypy":          "-p --package -m --module -c --config-file --python-version",
	"cargo":         "-p --package --manifest-path --features -F --target --profile --bin --test --bench --example --color --config -Z -j --jobs --target-dir --exclude",
	"docker":        "-H --host -c --context -f --file -p --project-name --profile --env-file --project-directory",
	"kubectl":       "-n --namespace -f --filename --context --kubeconfig -l --selector -o --output -c --container",
	"helm":          "-n --namespace -f --values --set --kube-context --version",
	"mvn":           "-f --file -pl --projects -P -s --settings -T -rf",
	"gradle":        "-p --project-dir -b --build-file -x --exclude-task -c -I --init-script",
	"gradlew":       "-p --project-dir -b --build-file -x --exclude-task -c -I --init-script",
	"dotnet":        "-c --configuration -f --framework -o --output --filter -v --verbosity -l --logger -r --runtime -p",
	"rake":          "-f --rakefile -I -r",
	"bundle":        "--gemfile",
	"rspec":         "-e --example -f --format -t --tag -r --require -I -o --out",
	"php":           "-d -c",
	"phpunit":       "-c --configuration --filter --testsuite --group",
	"composer":      "-d --working-dir",
	"swift":         "--package-path --filter --skip -c --configuration",
	"flutter":       "--name -d --device-id -t --target",
	"gh":            "-R --repo -t --title -b --body -B --base -H --head -F --body-file -l --label",
	"golangci-lint": "-c --config -E --enable -D --disable --color",
	"pre-commit":    "-c --config --hook-stage",
}
