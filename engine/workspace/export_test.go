package workspace

// FolderPath is exported for tests because the Windows forms are tested on every system.
var FolderPath = folderPath

// SyncedName is exported for tests because no build machine has such folders.
var SyncedName = syncedName
