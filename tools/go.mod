module waybill/tools

go 1.26.0

tool (
	github.com/ashanbrown/forbidigo/v2
	github.com/gordonklaus/ineffassign
	github.com/kisielk/errcheck
	github.com/nishanths/exhaustive/cmd/exhaustive
	github.com/polyfloyd/go-errorlint
	honnef.co/go/tools/cmd/staticcheck
	mvdan.cc/gofumpt
)

require (
	github.com/BurntSushi/toml v1.4.1-0.20240526193622-a339e1f7089c // indirect
	github.com/ashanbrown/forbidigo/v2 v2.3.1 // indirect
	github.com/google/go-cmp v0.7.0 // indirect
	github.com/gordonklaus/ineffassign v0.2.0 // indirect
	github.com/kisielk/errcheck v1.30.0 // indirect
	github.com/nishanths/exhaustive v0.17.1 // indirect
	github.com/polyfloyd/go-errorlint v1.8.0 // indirect
	go.yaml.in/yaml/v3 v3.0.4 // indirect
	golang.org/x/exp/typeparams v0.0.0-20231108232855-2478ac86f678 // indirect
	golang.org/x/mod v0.42.0 // indirect
	golang.org/x/sync v0.24.0 // indirect
	golang.org/x/tools v0.52.0 // indirect
	honnef.co/go/tools v0.8.2 // indirect
	mvdan.cc/gofumpt v0.12.0 // indirect
)
