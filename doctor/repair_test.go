package doctor_test

import (
	"io/fs"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/doctor"
)

// TestRepairs: what is mended, and what is left alone.
func TestRepairs(t *testing.T) {
	for name, c := range map[string]struct {
		make func(f *doctor.Facts)
		want []doctor.Repair
	}{
		"a folder that is open":     {func(f *doctor.Facts) { f.State.Mode = 0o755 }, []doctor.Repair{{"state folder", doctor.PrivateFolder, "/state", ""}}},
		"where modes say nothing":   {func(f *doctor.Facts) { f.State.Mode, f.State.Modes = 0o777, false }, nil},
		"a folder of somebody else": {func(f *doctor.Facts) { f.State.Mode, f.State.Mine = 0o755, false }, nil},
		"a link to a folder":        {func(f *doctor.Facts) { f.State.Mode, f.State.Folder = fs.ModeSymlink|0o777, false }, nil},
		"a file that is open": {
			func(f *doctor.Facts) { f.Store.Files.Open = []string{"/state/store.db"} },
			[]doctor.Repair{{"modes", doctor.PrivateFile, "/state/store.db", ""}},
		},
		"a dead door": {
			func(f *doctor.Facts) { f.Doors[0].Running, f.Doors[0].Answers = false, false },
			[]doctor.Repair{{"doors", doctor.RemoveDoor, "/state/http-7.json", ""}},
		},
		"a door whose process id another has": {
			func(f *doctor.Facts) { f.Doors[0].Reborn, f.Doors[0].Answers = true, false },
			[]doctor.Repair{{"doors", doctor.RemoveDoor, "/state/http-7.json", ""}},
		},
		"a door in another container that answers":      {func(f *doctor.Facts) { f.Doors[0].Running = false }, nil},
		"a door in another container, with the store":   {func(f *doctor.Facts) { f.Doors[0] = doctor.Door{Path: "d", PID: 7, Holds: true} }, nil},
		"a door that hangs":                             {func(f *doctor.Facts) { f.Doors[0].Answers = false }, nil},
		"a file that is no door":                        {func(f *doctor.Facts) { f.Doors[0] = doctor.Door{Path: "d", Opaque: true} }, nil},
		"a leftover":                                    {func(f *doctor.Facts) { f.Litter = []doctor.Leftover{{"/state/x", 1}} }, []doctor.Repair{{"leftovers", doctor.RemoveLitter, "/state/x", ""}}},
		"a reserve that was given up":                   {func(f *doctor.Facts) { f.Store.Files.Reserve, f.Store.Files.Spent = -1, true }, nil},
		"a reserve that is not there, and nobody else":  {func(f *doctor.Facts) { f.Store.Files.Reserve, f.Store.Peers = -1, nil }, []doctor.Repair{{"reserve", doctor.MakeReserve, "/state/store.db", ""}}},
		"a store that is not there needs no reserve":    {func(f *doctor.Facts) { f.Store.Files.Reserve, f.Store.There = -1, false }, nil},
		"what is damaged is not for the doctor to mend": {func(f *doctor.Facts) { f.Store.Findings = []doctor.Finding{doctor.Find("rows", doctor.Fail, "", "x")} }, nil},
	} {
		f := sound()
		c.make(f)
		require.Equal(t, c.want, doctor.Repairs(f), name)
	}

	f := sound()
	f.Store.Files.Reserve = -1
	repairs := doctor.Repairs(f)
	require.Len(t, repairs, 1)
	require.Contains(t, repairs[0].Wait, "other processes have the store open")
}
