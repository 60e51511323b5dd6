package doctor

// An Act is a way to mend something. Each can be undone or takes away only what waybill has written and nobody needs.
type Act string

// The acts.
const (
	PrivateFolder Act = "private folder" // take all rights to it from other users
	PrivateFile   Act = "private file"
	RemoveDoor    Act = "remove door"
	RemoveLitter  Act = "remove leftover"
	MakeReserve   Act = "make reserve"
)

// A Repair is something that can be mended without anybody being asked.
type Repair struct {
	Check string
	Act   Act
	Path  string
	// Wait, if not empty, says why it has to wait.
	Wait string
}

// Repairs gives what can be mended safely, and what would be if nobody had the store open. Nothing is in it that
// belongs to others, or that anything speaks for being in use.
func Repairs(f *Facts) []Repair {
	var all []Repair
	if f.State.wide() {
		all = append(all, Repair{Check: "state folder", Act: PrivateFolder, Path: f.State.Path})
	}
	if f.Store.Files.Private {
		for _, path := range f.Store.Files.Open {
			all = append(all, Repair{Check: "modes", Act: PrivateFile, Path: path})
		}
	}
	for _, d := range f.Doors {
		if Gone(d) {
			all = append(all, Repair{Check: "doors", Act: RemoveDoor, Path: d.Path})
		}
	}
	for _, left := range f.Litter {
		all = append(all, Repair{Check: "leftovers", Act: RemoveLitter, Path: left.Path})
	}
	if files := f.Store.Files; f.Store.There && files.Reserve < 0 && files.WantReserve > 0 && !files.Spent {
		all = append(all, Repair{Check: "reserve", Act: MakeReserve, Path: f.Store.Path, Wait: waitFor(f.Store.Peers)})
	}
	return all
}

func waitFor(peers []Peer) string {
	if len(peers) == 0 {
		return ""
	}
	return "other processes have the store open: end them and try again"
}
