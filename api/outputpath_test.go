package api_test

import (
	"os"
	"path/filepath"
	"runtime"
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

func TestResultFromAFile(t *testing.T) {
	h, run, _ := hostWithOutputDir(t)
	put(t, filepath.Join(h.dir, "out", "1.txt"), worked())
	put(t, filepath.Join(h.outputs, "deep", "1.txt"), worked())
	for _, path := range []string{
		"out/1.txt", "./out//1.txt", filepath.Join(h.dir, "out", "1.txt"), filepath.Join(h.outputs, "deep", "1.txt"),
		filepath.Join(h.outputs, "x") + "/../deep/1.txt", filepath.Join(h.outputs, "x") + "/../../" + filepath.Base(h.outputs) + "/deep/1.txt",
	} {
		last := h.call("ingest_output", "%s", fromFile(run, path))
		last.has("pass", "verdict")
		require.NotContains(t, last.text, "deep")
	}
	put(t, filepath.Join(h.dir, "out", "empty"), "")
	h.call("ingest_output", "%s", fromFile(run, "out/empty")).has("invalid", "verdict")
}

// A file is the same result as its text, with byte order mark and invalid bytes.
func TestResultFromAFileIsItsText(t *testing.T) {
	h, _, _ := hostWithOutputDir(t)
	for i, text := range []string{worked(), "\ufeff" + worked(), strings.ReplaceAll(worked(), "\n", "\r\n"), "no result", ""} {
		put(t, filepath.Join(h.dir, "out"), text)
		run := h.start("1", `"resume": "new"`).str("run.run_id")
		read := h.call("ingest_output", "%s", fromFile(run, "out"))
		run = h.start("1", `"resume": "new"`).str("run.run_id")
		said := h.ingest(run, "worker", text)
		for _, same := range []string{"verdict", "grammar", "errors", "warnings", "counters", "output_tokens", "next"} {
			require.Equal(t, said.at(same), read.at(same), "%d: %s", i, same)
		}
	}
}

func TestResultOutsideOfItsFoldersIsRefused(t *testing.T) {
	h, run, elsewhere := hostWithOutputDir(t)
	secret := put(t, filepath.Join(elsewhere, "secret"), worked())
	up, err := filepath.Rel(h.dir, secret)
	require.NoError(t, err)
	for _, path := range []string{
		secret, up, "../secret", "out/../tasks.md", "out/../../secret", h.dir + "/../secret", filepath.Join(h.outputs, "..", "secret"),
		h.outputs + "x/secret", "/", "/etc/passwd", "/proc/self/environ",
	} {
		fault := h.refused(schema.PathOutside, "ingest_output", "%s", fromFile(run, path))
		fault.has("/output_path", "data.details.pointer")
		require.Contains(t, fault.str("message"), "--output-dir")
	}
	require.Equal(t, 1.0, h.snapshot(run).at("revision"))
}

func TestLinkOutOfTheFolderIsNotFollowed(t *testing.T) {
	h, run, elsewhere := hostWithOutputDir(t)
	secret := put(t, filepath.Join(elsewhere, "secret"), worked())
	for _, dir := range []string{h.dir, h.outputs} {
		link := func(target, name string) string {
			path := filepath.Join(dir, name)
			if err := os.Symlink(target, path); err != nil {
				t.Skipf("links cannot be made here: %v", err)
			}
			return path
		}
		for _, path := range []string{link(secret, "link"), filepath.Join(link(elsewhere, "folder"), "secret"), link(filepath.Join(dir, "link"), "twice")} {
			h.refused(schema.PathOutside, "ingest_output", "%s", fromFile(run, path))
		}
		inside := link(put(t, filepath.Join(dir, "own"), worked()), "within")
		h.call("ingest_output", "%s", fromFile(run, inside)).has("pass", "verdict")
		fault := h.refused(schema.OutputGone, "ingest_output", "%s", fromFile(run, link(filepath.Join(dir, "nothing"), "dangling")))
		fault.has("/output_path", "data.details.pointer")
		h.refused(schema.OutputGone, "ingest_output", "%s", fromFile(run, link(filepath.Join(dir, "loop"), "loop")))
	}
}

func TestOutputThatCannotBeRead(t *testing.T) {
	h, run, _ := hostWithOutputDir(t)
	require.NoError(t, os.Mkdir(filepath.Join(h.dir, "folder"), 0o755))
	for path, reason := range map[string]string{
		"missing": "missing", filepath.Join(h.outputs, "missing"): "missing", "folder": "not_regular", "tasks.md/x": "missing",
	} {
		fault := h.refused(schema.OutputGone, "ingest_output", "%s", fromFile(run, path))
		fault.has(reason, "data.details.reason")
		fault.has("/output_path", "data.details.pointer")
	}
	for _, path := range []string{"a\x00b", strings.Repeat("x", 5000)} {
		a := <-h.begin(t.Context(), "ingest_output", "%s", fromFile(run, path))
		require.NotNil(t, a.Err)
		require.Less(t, len(a.Err.Message), 300, "it repeats all of the path")
	}
}

func TestOutputDirThatIsGone(t *testing.T) {
	h, run, _ := hostWithOutputDir(t)
	require.NoError(t, os.Remove(h.outputs))
	h.refused(schema.OutputGone, "ingest_output", "%s", fromFile(run, filepath.Join(h.outputs, "1.txt")))
	put(t, filepath.Join(h.outputs, "1.txt"), worked())
	h.call("ingest_output", "%s", fromFile(run, filepath.Join(h.outputs, "1.txt"))).has("pass", "verdict")
}

func TestResultIsGivenOnce(t *testing.T) {
	h, run, _ := hostWithOutputDir(t)
	put(t, filepath.Join(h.dir, "out"), worked())
	h.badRun("/output_path", "ingest_output", `{"run_id": %q, "role": "worker", "output": "x", "output_path": "out"}`, run)
	h.badRun("/output", "ingest_output", `{"run_id": %q, "role": "worker"}`, run)          // a host that forgot something
	none := h.call("ingest_output", `{"run_id": %q, "role": "worker", "output": ""}`, run) // an agent that printed nothing
	none.has("invalid", "verdict")
	none.has("retry_with_preamble", "next_action")
}

func TestHugeResultIsRefusedInConstantMemory(t *testing.T) {
	h, run, _ := hostWithOutputDir(t)
	path := filepath.Join(h.dir, "huge")
	file, err := os.Create(path)
	require.NoError(t, err)
	require.NoError(t, file.Truncate(64<<20))
	require.NoError(t, file.Close())
	refuse := func() {
		a := <-h.begin(t.Context(), "ingest_output", "%s", fromFile(run, path))
		require.NotNil(t, a.Err)
		require.Equal(t, schema.TooLarge, a.Err.Data.Code)
		require.Equal(t, 64<<20, a.Err.Data.Details["size"])
		require.Equal(t, resultfile.MaxBytes, a.Err.Data.Details["limit"])
		require.Equal(t, "/output_path", a.Err.Data.Details["pointer"])
	}
	refuse()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range 16 {
		refuse()
	}
	runtime.ReadMemStats(&after)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(8<<20), "all of 16 refusals together")

	require.NoError(t, os.Truncate(path, resultfile.MaxBytes+1))
	refused := h.refused(schema.TooLarge, "ingest_output", "%s", fromFile(run, path))
	refused.has(resultfile.MaxBytes+1, "data.details.size")
	put(t, path, worked()+"\n"+strings.Repeat("x", resultfile.MaxBytes-len(worked())-1))
	h.call("ingest_output", "%s", fromFile(run, path)).has("pass", "verdict")
	fault := h.refused(schema.TooLarge, "ingest_output", "%s", ingestParams(run, "worker", strings.Repeat("x", resultfile.MaxBytes+1)))
	fault.has("/output", "data.details.pointer")
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
