package output

import (
	"fmt"
	"time"

	"waybill/schema"
)

// Moment parses a time of the wire; a missing or bad time becomes the zero time.
func Moment(t schema.Time) time.Time {
	at, err := time.Parse(time.RFC3339Nano, string(t))
	if err != nil {
		return time.Time{}
	}
	return at
}

// Span writes a duration in its two largest units: 250ms, 41s, 3m 20s, 2h 5m, 4d 1h. A negative one,
// after a clock was set back, is 0s.
func Span(d time.Duration) string {
	d = max(d, 0)
	switch s := int(d / time.Second); {
	case d == 0:
		return "0s"
	case d < time.Millisecond:
		return "<1ms"
	case s == 0:
		return fmt.Sprintf("%dms", d/time.Millisecond)
	case s < 60:
		return fmt.Sprintf("%ds", s)
	case s < 60*60:
		return fmt.Sprintf("%dm %ds", s/60, s%60)
	case s < 24*60*60:
		return fmt.Sprintf("%dh %dm", s/3600, s/60%60)
	default:
		return fmt.Sprintf("%dd %dh", s/86400, s/3600%24)
	}
}

// Age writes a duration in at most four characters, for a column.
func Age(d time.Duration) string {
	d = max(d, 0)
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%dm", d/time.Minute)
	case d < 100*time.Hour:
		return fmt.Sprintf("%dh", d/time.Hour)
	case d < 1000*24*time.Hour:
		return fmt.Sprintf("%dd", d/(24*time.Hour))
	default:
		return fmt.Sprintf("%dy", d/(365*24*time.Hour))
	}
}

// Ago writes when something was, for a person: the second, and how long it is since then.
func Ago(t schema.Time, now time.Time) string {
	at := Moment(t)
	return at.UTC().Format("2006-01-02 15:04:05Z") + ", " + Span(now.Sub(at)) + " ago"
}

// Count writes how many of something there are.
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Replies writes how many replies there are.
func Replies(n int) string {
	if n == 1 {
		return "1 reply"
	}
	return fmt.Sprintf("%d replies", n)
}
