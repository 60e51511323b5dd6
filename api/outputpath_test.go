package api_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/engine/resultfile"
	"waybill/schema"
)

// fromFile returns params that ingest a result file.
func fromFile(run, path string) string {
	return `{"run_id": ` + quoted(run) + `, "role": "worker", "output_path": ` + quoted(path) + `}`
}

// hostWithOutputDir returns a host with an output folder, and another folder. Their paths have no links.
func hostWithOutputDir(t *testing.T) (h *host, run, elsewhere string) {
	t.Helper()
	dir, outputs := folders(t)
	elsewhere, _ = folders(t)
	h = newHost(t, setup{dir: dir, outputDir: outputs})
	h.write("tasks.md", clockPlan, time.Hour)
	h.outputs = outputs
	return h, h.run("1"), elsewhere
}

func put(t *testing.T, path, text string) string {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	return path
}

func TestResultFromAFileIsItsText(t *testing.T) {
	h, run, _ := hostWithOutputDir(t)
	for i, text := range []string{worked(), "\ufeff" + worked(), "no result", ""} {
		put(t, filepath.Join(h.dir, "out", "1.txt"), text)
		put(t, filepath.Join(h.outputs, "1.txt"), text)
		run = h.start("1", `"resume": "new", "policy": {"invalid_retries": 9}`).str("run.run_id")
		said := h.ingest(run, "worker", text)
		for _, path := range []string{"out/1.txt", filepath.Join(h.outputs, "1.txt")} {
			run = h.start("1", `"resume": "new", "policy": {"invalid_retries": 9}`).str("run.run_id")
			read := h.call("ingest_output", "%s", fromFile(run, path))
			for _, same := range []string{"verdict", "grammar", "errors", "warnings", "counters", "output_tokens", "next"} {
				require.Equal(t, said.at(same), read.at(same), "%d: %s", i, same)
			}
		}
	}
}

func TestResultFileThatCannotBeReadIsRefused(t *testing.T) {
	h, run, elsewhere := hostWithOutputDir(t)
	secret := put(t, filepath.Join(elsewhere, "secret"), worked())
	for _, path := range []string{secret, "../secret", "out/../../secret", h.outputs + "x/secret", "/"} {
		fault := h.refused(schema.PathOutside, "ingest_output", "%s", fromFile(run, path))
		fault.has("/output_path", "data.details.pointer")
		require.Contains(t, fault.str("message"), "--output-dir")
	}
	require.NoError(t, os.Mkdir(filepath.Join(h.dir, "folder"), 0o755))
	for path, reason := range map[string]string{"missing": "missing", filepath.Join(h.outputs, "missing"): "missing", "folder": "not_regular"} {
		fault := h.refused(schema.OutputGone, "ingest_output", "%s", fromFile(run, path))
		fault.has(reason, "data.details.reason")
		fault.has("/output_path", "data.details.pointer")
	}
	for _, path := range []string{"a\x00b", strings.Repeat("x", 5000)} {
		a := <-h.begin(t.Context(), "ingest_output", "%s", fromFile(run, path))
		require.NotNil(t, a.Err)
		require.Less(t, len(a.Err.Message), 300, "it repeats all of the path")
	}
	if err := os.Symlink(secret, filepath.Join(h.dir, "link")); err != nil {
		t.Skipf("links cannot be made here: %v", err)
	}
	h.refused(schema.PathOutside, "ingest_output", "%s", fromFile(run, "link"))
}

func TestResultIsATextOrAFile(t *testing.T) {
	h, run, _ := hostWithOutputDir(t)
	put(t, filepath.Join(h.dir, "out"), worked())
	h.bad("/output_path", "ingest_output", `{"run_id": %q, "role": "worker", "output": "x", "output_path": "out"}`, run)
	h.bad("/output", "ingest_output", `{"run_id": %q, "role": "worker"}`, run)             // a host that forgot something
	none := h.call("ingest_output", `{"run_id": %q, "role": "worker", "output": ""}`, run) // an agent that printed nothing
	none.has("invalid", "verdict")
	none.has("retry_with_preamble", "next_action")
}

func TestHugeResultIsRefused(t *testing.T) {
	h, run, _ := hostWithOutputDir(t)
	path := put(t, filepath.Join(h.dir, "huge"), worked()+"\n"+strings.Repeat("x", resultfile.MaxBytes-len(worked())-1))
	h.call("ingest_output", "%s", fromFile(run, path)).has("pass", "verdict")
	put(t, path, strings.Repeat("x", resultfile.MaxBytes+1))
	for pointer, params := range map[string]string{
		"/output_path": fromFile(run, path), "/output": ingestParams(run, "worker", strings.Repeat("x", resultfile.MaxBytes+1)),
	} {
		fault := h.refused(schema.TooLarge, "ingest_output", "%s", params)
		fault.has(resultfile.MaxBytes+1, "data.details.size")
		fault.has(resultfile.MaxBytes, "data.details.limit")
		fault.has(pointer, "data.details.pointer")
	}
}

func TestLongOutputIsKeptInPart(t *testing.T) {
	h, run, _ := hostWithOutputDir(t)
	_, claim := h.leased(run, "worker")
	put(t, filepath.Join(h.dir, "long"), worked()+"\n"+strings.Repeat("ü", 2<<20)+"the end\n")
	params := strings.TrimSuffix(fromFile(run, "long"), "}") + ", " + lease(claim) + "}"
	h.call("ingest_output", "%s", params).has("COMPLETE", "task.status")
	output := h.task(claim.str("claim.task.task_id")).str("task.output")
	require.True(t, strings.HasPrefix(output, worked()))
	require.True(t, strings.HasSuffix(output, "the end\n"))
	require.Contains(t, output, "bytes of this output were not kept")
	require.LessOrEqual(t, len(output), 1<<20)
}
