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

// wrapperOf returns the wrapper of a program whose manual page says that it runs a command. xargs is none of them: it adds
// words.
func wrapperOf(program string) (wrapper, bool) {
	switch program {
	case "env":
		return wrapper{values: "-u --unset -C --chdir", runsNone: "-S --split-string", settings: true}, true
	case "time":
		return wrapper{values: "-o --output -f --format"}, true
	case "nice":
		return wrapper{values: "-n --adjustment"}, true
	case "timeout":
		return wrapper{values: "-k --kill-after -s --signal", operands: 1}, true
	case "sudo":
		return wrapper{
			values:   "-u --user -g --group -h --host -p --prompt -C -D --chdir -R --chroot -r -t -T -U",
			runsNone: "-l --list -v --validate -V --version -e --edit -K", settings: true,
		}, true
	case "doas":
		return wrapper{values: "-u -a -C", runsNone: "-L"}, true
	case "nohup", "setsid", "unbuffer", "chronic":
		return wrapper{}, true
	case "command":
		return wrapper{runsNone: "-v -V"}, true
	case "exec":
		return wrapper{values: "-a"}, true
	case "stdbuf":
		return wrapper{values: "-i --input -o --output -e --error"}, true
	case "ionice":
		return wrapper{values: "-c --class -n --classdata", runsNone: "-p --pid -P -u"}, true
	case "gtimeout": // timeout on macOS
		return wrapper{values: "-k --kill-after -s --signal", operands: 1}, true
	case "flock":
		return wrapper{values: "-w --wait --timeout -E --conflict-exit-code", operands: 1}, true
	case "taskset":
		return wrapper{runsNone: "-p --pid", operands: 1}, true
	case "caffeinate":
		return wrapper{values: "-t -w"}, true
	case "xvfb-run":
		return wrapper{values: "-e --error-file -f --auth-file -n --server-num -p --xauth-protocol -s --server-args -w --wait"}, true
	case "cross-env":
		return wrapper{settings: true}, true
	}
	return wrapper{}, false
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

// valueOptionsOf returns the options of a program whose value is the next argument, from the program's own help text. An option
// in no list may have a value as well; the list keeps a value from being taken for a wanted word.
func valueOptionsOf(program string) set {
	switch program {
	case "git":
		return "-C -c --git-dir --work-tree --namespace -m --message -F --file -b -B --author --date -t --template"
	case "go":
		return "-C -run -bench -benchtime -count -timeout -tags -cpu -coverprofile -covermode -coverpkg -cpuprofile " +
			"-memprofile -o -p -exec -ldflags -gcflags -mod -modfile -fuzz -fuzztime -parallel -skip -vet"
	case "make", "gmake":
		return "-C --directory -f --file --makefile -I -o -W"
	case "npm":
		return "--prefix -C -w --workspace --loglevel"
	case "pnpm":
		return "-C --dir -F --filter --loglevel --reporter"
	case "yarn":
		return "--cwd"
	case "bun":
		return "--cwd -c --config --filter -r --preload"
	case "deno":
		return "-c --config"
	case "node":
		return "-r --require --import --loader -C --conditions --env-file"
	case "jest":
		return "-c --config -t --testNamePattern --testPathPattern --rootDir -w --maxWorkers"
	case "vitest":
		return "-c --config -t --testNamePattern -r --root --project --reporter"
	case "eslint":
		return "-c --config --ext -f --format -o --rule"
	case "prettier":
		return "--config --ignore-path --parser"
	case "tsc":
		return "-p --project --outDir"
	case "python", "python3":
		return "-c -W -X"
	case "pytest":
		return "-k -m -n -p -c -o -W --rootdir --maxfail --tb --junitxml --ignore --deselect --durations --timeout"
	case "uv":
		return "--directory --project -p --python --with --extra --group --package"
	case "poetry":
		return "-C --directory -P --project"
	case "tox":
		return "-e -c --workdir"
	case "nox":
		return "-s --sessions -f -e"
	case "ruff":
		return "--config --select --ignore"
	case "mypy":
		return "-p --package -m --module -c --config-file --python-version"
	case "cargo":
		return "-p --package --manifest-path --features -F --target --profile --bin --test --bench --example --color --config -Z -j --jobs --target-dir --exclude"
	case "docker":
		return "-H --host -c --context -f --file -p --project-name --profile --env-file --project-directory"
	case "kubectl":
		return "-n --namespace -f --filename --context --kubeconfig -l --selector -o --output -c --container"
	case "helm":
		return "-n --namespace -f --values --set --kube-context --version"
	case "mvn":
		return "-f --file -pl --projects -P -s --settings -T -rf"
	case "gradle", "gradlew":
		return "-p --project-dir -b --build-file -x --exclude-task -c -I --init-script"
	case "dotnet":
		return "-c --configuration -f --framework -o --output --filter -v --verbosity -l --logger -r --runtime -p"
	case "rake":
		return "-f --rakefile -I -r"
	case "bundle":
		return "--gemfile"
	case "rspec":
		return "-e --example -f --format -t --tag -r --require -I -o --out"
	case "php":
		return "-d -c"
	case "phpunit":
		return "-c --configuration --filter --testsuite --group"
	case "composer":
		return "-d --working-dir"
	case "swift":
		return "--package-path --filter --skip -c --configuration"
	case "flutter":
		return "--name -d --device-id -t --target"
	case "gh":
		return "-R --repo -t --title -b --body -B --base -H --head -F --body-file -l --label"
	case "golangci-lint":
		return "-c --config -E --enable -D --disable --color"
	case "pre-commit":
		return "-c --config --hook-stage"
	}
	return ""
}
