package doctor

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"waybill/cli/endpoint"
	"waybill/doctor"
	"waybill/internal/lazyregexp"
)

// doorName fits the names of port files, with the process id if they are of one process.
var doorName = lazyregexp.New(`^http(?:-([0-9]+))?\.json$`)

// doorFacts examines the port files in a folder. Unlike callers that look for a front door, it removes no file.
func doorFacts(ctx context.Context, folder string, peers []doctor.Peer) (found []doctor.Door) {
	entries, _ := os.ReadDir(folder) // a folder that is not there has none
	heard := map[string]bool{}       // by address, because several files can name one door
	for _, entry := range entries {
		match := doorName.Compiled().FindStringSubmatch(entry.Name())
		if match == nil {
			continue
		}
		path := filepath.Join(folder, entry.Name())
		d := doctor.Door{Path: path, Shared: match[1] == ""}
		says := endpoint.Read(path)
		if says == nil || !d.Shared && strconv.Itoa(says.PID) != match[1] {
			d.Opaque = true
		} else {
			d.PID = says.PID
			witness(says, &d, peers)
			if _, asked := heard[says.URL]; !asked {
				heard[says.URL] = isHealthy(ctx, says)
			}
			d.Answers = heard[says.URL]
		}
		found = append(found, d)
	}
	return found
}

// slack is the largest difference between the time of a file and the start of its process that is no fault.
const slack = 10 * time.Second

// witness records whether the process that a port file names still runs and uses the store.
func witness(k *endpoint.Endpoint, d *doctor.Door, peers []doctor.Peer) {
	d.Running = endpoint.Alive(k.PID)
	began, known := endpoint.Born(k.PID)
	d.Reborn = known && began.After(k.Since.Add(slack))
	d.Holds = slices.ContainsFunc(peers, func(p doctor.Peer) bool { return p.PID == k.PID })
}

// healthTries limits the health requests to a front door that times out, because the machine may be busy.
const healthTries = 3

// isHealthy reports whether a front door answers there. The token is not shown: another program may have got the port.
func isHealthy(ctx context.Context, k *endpoint.Endpoint) bool {
	stranger := &endpoint.Endpoint{URL: k.URL}
	for range healthTries {
		var health struct {
			OK bool `json:"ok"`
		}
		err := stranger.Ask(ctx, http.MethodGet, "/healthz", &health)
		if !errors.Is(err, context.DeadlineExceeded) {
			return err == nil && health.OK
		}
	}
	return false
}

// forgotten is how old a temporary file is that is certainly no longer written.
const forgotten = time.Hour

// temporary fits the names of files that waybill writes to rename them, and of signposts.
var temporary = lazyregexp.New(`^(http(-[0-9]+)?\.json\.new-[0-9]+|workspace\.json\.new-[0-9]+|.+\.db\.dialects\.new-[0-9]+|waybill-open-[0-9]+-[0-9]+\.html)$`)

// litter returns the temporary files in a folder that are ours and no longer needed.
func litter(folder string, now time.Time) (found []doctor.Leftover) {
	entries, _ := os.ReadDir(folder) // a folder that is not there has none
	for _, entry := range entries {
		info, err := entry.Info()
		if err == nil && temporary.Compiled().MatchString(entry.Name()) && stale(info, now) {
			found = append(found, doctor.Leftover{Path: filepath.Join(folder, entry.Name()), Bytes: info.Size()})
		}
	}
	return found
}

func stale(info fs.FileInfo, now time.Time) bool {
	return info.Mode().IsRegular() && endpoint.Mine(info) && now.Sub(info.ModTime()) > forgotten
}
