package notify

import (
	"errors"
	"strings"
	"time"
)

// Hours are quiet hours of each day, in minutes since midnight. The zero hours are none; they may pass midnight.
type hours struct{ from, to int }

// parseHours reads FROM-TO; "" means no quiet hours.
func parseHours(text string) (h hours, err error) {
	if text == "" {
		return h, nil
	}
	from, to, _ := strings.Cut(text, "-")
	if h.from, err = minutes(from); err != nil {
		return h, err
	}
	if h.to, err = minutes(to); err == nil && h.from == h.to {
		err = errors.New("they begin when they end")
	}
	return h, err
}

func minutes(text string) (int, error) {
	at, err := time.Parse("15:04", strings.TrimSpace(text))
	return at.Hour()*60 + at.Minute(), err
}

// left returns how long the quiet hours at a moment still last, or 0 outside of them.
func (h hours) left(at time.Time) time.Duration {
	const day = 24 * 60
	minute := at.Hour()*60 + at.Minute()
	if (minute-h.from+day)%day >= (h.to-h.from+day)%day {
		return 0
	}
	return time.Duration((h.to-minute+day)%day)*time.Minute - time.Duration(at.Second())*time.Second
}
