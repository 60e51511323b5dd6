package cli

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"time"

	"waybill/doctor"
)

// doorName fits the names of port files, with the process id if they are of one process.
var doorName = regexp.MustCompile(`^http(?:-([0-9]+))?\.json$`)

// doorFacts looks at the port files in a folder. Unlike those who look for a door, it removes none.
func doorFacts(ctx context.Context, folder string, peers []doctor.Peer) (found []doctor.Door) {
	entries, _ := os.ReadDir(folder) // a folder that is not there has none
	heard := map[string]bool{}       // by address: more than one file names a door
	for _, entry := range entries {
		match := doorName.FindStringSubmatch(entry.Name())
		if match == nil {
			continue
		}
		path := filepath.Join(folder, entry.Name())
		d := doctor.Door{Path: path, Shared: match[1] == ""}
		says := readDoor(path)
		if says == nil || !d.Shared && strconv.Itoa(says.PID) != match[1] {
			d.Opaque = true
		} else {
			d.PID = says.PID
			says.witness(&d, peers)
			if _, asked := heard[says.URL]; !asked {
				heard[says.URL] = says.healthy(ctx)
			}
			d.Answers = heard[says.URL]
		}
		found = append(found, d)
	}
	return found
}

// slack is how much the time of a file and that of a process may differ although nothing is wrong.
const slack = 10 * time.Second

// witness notes what speaks for the process of a door being there, or against it.
func (k *knock) witness(d *doctor.Door, peers []doctor.Peer) {
	d.Running = alive(k.PID)
	began, known := born(k.PID)
	d.Reborn = known && began.After(k.since.Add(slack))
	d.Holds = slices.ContainsFunc(peers, func(p doctor.Peer) bool { return p.PID == k.PID })
}

// healthTries bounds how often it is asked again who has not answered in time: a machine may be that busy.
const healthTries = 3

// healthy reports whether a front door answers there. The token is not shown: another program may have got the port.
func (k *knock) healthy(ctx context.Context) bool {
	stranger := &knock{URL: k.URL}
	for range healthTries {
		var health struct {
			OK bool `json:"ok"`
		}
		err := stranger.ask(ctx, http.MethodGet, "/healthz", &health)
		if !errors.Is(err, context.DeadlineExceeded) {
			return err == nil && health.OK
		}
	}
	return false
}

// forgotten is how old a temporary file is that nobody writes any more.
const forgotten = time.Hour

// temporary fits the names of files that waybill writes to rename them, and of signposts.
var temporary = regexp.MustCompile(`^(http(-[0-9]+)?\.json\.[0-9]+|workspace\.json\.[0-9]+|.+\.db\.dialects\.new-[0-9]+|waybill-open-[0-9]+-[0-9]+\.html)$`)

// litter gives the temporary files in a folder that are ours and that nobody needs.
func litter(folder string, now time.Time) (found []doctor.Leftover) {
	entries, _ := os.ReadDir(folder) // a folder that is not there has none
	for _, entry := range entries {
		info, err := entry.Info()
		if err == nil && temporary.MatchString(entry.Name()) && stale(info, now) {
			found = append(found, doctor.Leftover{Path: filepath.Join(folder, entry.Name()), Bytes: info.Size()})
		}
	}
	return found
}

func stale(info fs.FileInfo, now time.Time) bool {
	return info.Mode().IsRegular() && mine(info) && now.Sub(info.ModTime()) > forgotten
}
