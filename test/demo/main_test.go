package main

import (
	"bytes"
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"

	"waybill/cli"
	"waybill/store/postgres/pgtest"
	"waybill/test/fakeagent/play"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"demo": main,
		"waybill": func() {
			os.Exit(cli.Main(os.Args[1:], cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}, "dev"))
		},
		"fakeagent": func() { os.Exit(play.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) },
	})
}

func TestDemo(t *testing.T) {
	testscript.Run(t, testscript.Params{Dir: "testdata/script", RequireExplicitExec: true})
}

// The demo passes unchanged on a database, and is really played there.
func TestDemoOnADatabase(t *testing.T) {
	server := pgtest.Own(t)
	flag := "--store=" + server.Database(t)
	var out, log bytes.Buffer
	require.Zero(t, run([]string{"waybill", "fakeagent", flag}, &out, &log), "%s%s", &out, &log)
	require.Contains(t, out.String(), "Everything went as promised")
	require.NoError(t, server.End("fast"))
	require.Equal(t, 1, run([]string{"waybill", "fakeagent", flag}, &out, &log), "%s", &log)
}
