package watcher_test

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"waybill/watcher"
)

// The time from the return of a write to the news of it: read raw from inotify by a
// blocking thread, and as a Wake of a watcher without a quiet period.
func BenchmarkWriteToWake(b *testing.B) {
	b.Run("probe-inotify", func(b *testing.B) {
		file, news := rawInotify(b)
		latencies(b, file, func() time.Time { return <-news })
	})
	b.Run("watcher", func(b *testing.B) {
		o := fast()
		o.Quiet, o.MaxWait = 1, 1
		r := start(b, o)
		file := r.path("tasks.md")
		write(b, file, "")
		r.watch(file)
		r.settle()
		latencies(b, file, func() time.Time {
			<-r.Wake()
			at := time.Now()
			r.Take()
			return at
		})
	})
	b.Run("watcher-default", func(b *testing.B) {
		r := start(b, tuned{Periods: watcher.Usual})
		file := r.path("tasks.md")
		write(b, file, "")
		r.watch(file)
		r.settle()
		latencies(b, file, func() time.Time {
			<-r.Wake()
			at := time.Now()
			r.Take()
			return at
		})
	})
}

// rawInotify sends the time at which each write of file was read from the kernel. The
// thread that reads ends when the file is removed at the end of the benchmark.
func rawInotify(b *testing.B) (file string, news <-chan time.Time) {
	file = filepath.Join(b.TempDir(), "tasks.md")
	write(b, file, "")
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC)
	require.NoError(b, err)
	_, err = unix.InotifyAddWatch(fd, file, unix.IN_MODIFY|unix.IN_DELETE_SELF)
	require.NoError(b, err)
	read := make(chan time.Time, 16)
	ended := make(chan struct{}) // closed by the reader
	go func() {
		defer close(ended)
		var buf [4096]byte
		for {
			n, err := unix.Read(fd, buf[:])
			at := time.Now()
			if err != nil || n < unix.SizeofInotifyEvent {
				return
			}
			if mask := binary.NativeEndian.Uint32(buf[4:]); mask&unix.IN_MODIFY == 0 {
				return
			}
			read <- at
		}
	}()
	b.Cleanup(func() {
		require.NoError(b, os.Remove(file))
		<-ended
		require.NoError(b, unix.Close(fd))
	})
	return file, read
}

func latencies(b *testing.B, file string, next func() time.Time) {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_APPEND, 0)
	require.NoError(b, err)
	defer func() { _ = f.Close() }()
	var all []time.Duration
	for b.Loop() {
		_, err := f.WriteString("x")
		written := time.Now()
		require.NoError(b, err)
		all = append(all, next().Sub(written))
	}
	slices.Sort(all)
	b.ReportMetric(float64(all[len(all)/2].Nanoseconds())/1e3, "p50-µs")
	b.ReportMetric(float64(all[len(all)*99/100].Nanoseconds())/1e3, "p99-µs")
}
